"""Tests what `Usage` counts: nothing is lost if a later call raises, and code of the answer that PyTorch calls
back is observed as well.
"""

from contextlib import suppress

import pytest
import torch
import torch.nn.functional as F
from torch import nn

from autograder.probe.observe import LARGEST_POWER, Usage, observed


def test_a_call_that_raises_takes_back_nothing_of_those_before_it():
    usage = Usage()
    usage.calls, usage.work = 7, [5] * LARGEST_POWER
    with suppress(ValueError), observed(usage, closely=True):
        raise ValueError
    assert (usage.calls, usage.work) == (7, [5] * LARGEST_POWER)


class _Rows:
    """A sequence of one number, which computes it when it is asked."""

    def __init__(self, compute):
        self.compute = compute

    def __len__(self):
        return 1

    def __getitem__(self, number):
        return [float(self.compute())][number]


class _Runs(nn.Module):
    def __init__(self, compute):
        super().__init__()
        self.compute = compute

    def forward(self, function, types, args=(), kwargs=None):
        return self.compute()


def in_a_sequence(compute):
    torch.tensor(_Rows(compute))


def in_a_distance(compute):
    one = torch.zeros(1, 1)
    F.triplet_margin_with_distance_loss(one, one, one, distance_function=lambda a, b: compute() + a.sum(-1))


def in_an_argument(compute):
    module = nn.Module()
    module.add_module("__torch_function__", _Runs(compute))
    torch.neg(module)


def in_an_argument_of_steps(compute):
    in_an_argument(lambda: next(compute() for _ in range(2)))


@pytest.mark.parametrize(
    "call",
    [in_a_sequence, in_a_distance, in_an_argument, in_an_argument_of_steps],
    ids=lambda call: call.__name__,
)
def test_what_pytorch_calls_back_is_observed(call):
    usage = Usage()
    with observed(usage, closely=True):
        call(lambda: torch.logsumexp(torch.ones(3), 0))
        torch.exp(torch.ones(3))
    assert {"torch:logsumexp", "torch:exp"} <= usage.names
    with observed(outside := Usage()):
        torch.ones(3)
    assert not outside.names & usage.names - {"torch:ones"}


def test_what_pytorch_calls_back_may_raise():
    def fail():
        raise ValueError

    usage = Usage()
    with observed(usage, closely=True):
        with suppress(ValueError):
            in_an_argument(fail)
        torch.exp(torch.ones(3))
    assert "torch:exp" in usage.names and usage.within is None
    assert not torch._C._len_torch_function_stack()
