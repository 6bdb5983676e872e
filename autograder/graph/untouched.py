"""Leaves everything as it was: the code runs on copies, and what cannot be copied is restored afterwards.

Nothing is compiled meanwhile: the compiler would mistake the tracer for a part of the model.
"""

import copy
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any

import torch
from torch import nn

from autograder import isolation
from autograder.graph.steps import tensors_in


def copied(value: Any, memo: dict) -> Any:
    """Return a copy that can be run without changing the original; if copying fails, return the original."""
    if isinstance(value, torch.Tensor) and not isinstance(value, nn.Parameter):
        return value.detach().clone()
    # subtle: a module that keeps its last weights for inspection holds tensors that deepcopy refuses.
    holders = [vars(module) for module in value.modules()] if isinstance(value, nn.Module) else [value]
    for holder in holders:
        for kept in tensors_in(holder):
            if not kept.is_leaf:
                memo.setdefault(id(kept), kept.detach().clone())
    try:
        return copy.deepcopy(value, memo)
    except Exception:  # a student's class may raise anything when it is copied
        return value


@contextmanager
def undisturbed(used: Iterable[nn.Module]) -> Iterator[None]:
    """Run a block under `isolation.undisturbed` and `isolation.quiet`, then restore the training modes and
    the buffers of the modules in `used`, because some of these may be originals rather than copies.
    """
    modules = [module for part in used for module in part.modules()]
    training = [module.training for module in modules]
    buffers = [(buffer, buffer.detach().clone()) for part in used for buffer in part.buffers()]
    try:
        with isolation.undisturbed(), isolation.quiet():
            yield
    finally:
        for module, mode in zip(modules, training):
            module.training = mode
        with torch.no_grad():
            for buffer, before in buffers:
                buffer.copy_(before)
