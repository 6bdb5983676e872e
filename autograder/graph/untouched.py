"""What keeps everything as it was: the code runs on copies, and what cannot be copied is put back.

Random states, modes, buffers and settings are afterwards as before; output and warnings are swallowed. Nothing is
compiled on the way: the compiler would take the tracer for a part of the model.
"""

import copy
import io
import random
import sys
import warnings
from contextlib import contextmanager, nullcontext, redirect_stderr, redirect_stdout

import torch
from torch import nn

from autograder.graph.steps import tensors_in


def copied(value, memo):
    """A copy that can be run without changing the original; what cannot be copied is used as it is."""
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
    except Exception:
        return value


@contextmanager
def undisturbed(used):
    """Random states, modes and streams are afterwards as before; so are modules used without a copy."""
    modules = [module for part in used for module in part.modules()]
    training = [module.training for module in modules]
    buffers = [(buffer, buffer.detach().clone()) for part in used for buffer in part.buffers()]
    numpy = sys.modules.get("numpy")
    states = random.getstate(), torch.get_rng_state(), numpy and numpy.random.get_state()
    grad, dtype = torch.is_grad_enabled(), torch.get_default_dtype()
    cuda = torch.cuda.get_rng_state_all() if torch.cuda.is_initialized() else None
    try:
        with _uncompiled(), warnings.catch_warnings(), redirect_stdout(io.StringIO()), redirect_stderr(io.StringIO()):
            warnings.simplefilter("ignore")
            yield
    finally:
        for module, mode in zip(modules, training):
            module.training = mode
        with torch.no_grad():
            for buffer, before in buffers:
                buffer.copy_(before)
        random.setstate(states[0])
        torch.set_rng_state(states[1])
        if numpy:
            numpy.random.set_state(states[2])
        if cuda is not None:
            torch.cuda.set_rng_state_all(cuda)
        torch.set_grad_enabled(grad)
        torch.set_default_dtype(dtype)


def _uncompiled():
    """What `torch.compile` made runs as it was written. (Nothing was compiled where its package was never loaded.)"""
    try:
        return torch.compiler.set_stance("force_eager") if "torch._dynamo" in sys.modules else nullcontext()
    except RuntimeError:  # not allowed inside of what is being compiled
        return nullcontext()


def as_written(target):
    """What `torch.compile` was given."""
    target = getattr(target, "_torchdynamo_orig_callable", target)
    return getattr(target, "_orig_mod", target) if isinstance(target, nn.Module) else target
