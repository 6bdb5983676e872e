"""The training loop of the lessons' experiments. Model, batches and loss are defined in the lesson, for
example:

generator = torch.Generator().manual_seed(0)
batches = (sentences(64, generator) for step in range(600))
losses = train(model, batches, lambda model, batch: F.cross_entropy(model(batch), batch))
"""

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from itertools import islice
from typing import Any

import torch
from torch import Tensor, nn

from autograder.notebook.experiment.track import track

Rate = float | Callable[[int], float]


def train(
    model: nn.Module,
    batches: Iterable[Any],
    loss: Callable[[nn.Module, Any], Tensor],
    lr: Rate = 0.01,
    threads: int | None = 1,
    steps: int | None = None,
) -> list[float]:
    """Take one step of Adam for each batch, and return the loss before each step. A bar shows the progress.

    batches: one batch for each step, of any form; only `loss` looks into it
    loss: loss(model, batch) -> scalar
    lr: the learning rate, or a function of the step (0, 1, ...), for a warm-up
    threads: how many threads PyTorch may use; None leaves the number as it is. On one thread, small products
        are faster, and their results are the same on every machine.
    steps: stop after this many steps; `batches` may then be endless
    """
    rate = lr if callable(lr) else lambda step: lr
    optimiser = torch.optim.Adam(model.parameters(), lr=rate(0))
    losses = []
    with limited_threads(threads):
        for step, batch in enumerate(track(islice(batches, steps), steps)):
            optimiser.param_groups[0]["lr"] = rate(step)
            value = loss(model, batch)
            optimiser.zero_grad()
            value.backward()
            optimiser.step()
            losses.append(value.item())
    return losses


@contextmanager
def limited_threads(count: int | None = 1) -> Iterator[None]:
    """Limit PyTorch to `count` threads within the block; None leaves the number as it is."""
    before = torch.get_num_threads()
    torch.set_num_threads(before if count is None else count)
    try:
        yield
    finally:
        torch.set_num_threads(before)
