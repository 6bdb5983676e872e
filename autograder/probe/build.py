"""From a case's data to live objects: tensors that may be changed, modules with given weights."""

import torch
from torch import nn

from autograder.exercises.exercise import Module


class FourProjections(nn.Module):
    """A module with the four parts of `MultiheadSelfAttention`, made in any order, and nothing else, for
    `copy_weights`."""

    def __init__(self, d_model: int, order: tuple = ("q_proj", "k_proj", "v_proj", "out_proj")):
        super().__init__()
        for name in order:
            self.add_module(name, nn.Linear(d_model, d_model))


KINDS = {"Linear": nn.Linear, "MultiheadAttention": nn.MultiheadAttention, "FourProjections": FourProjections}


class WrongParts(Exception):
    """The module lacks a part the exercise pins, has it in another shape, or holds more than it may."""

    def __init__(self, expected: dict, found: dict):
        self.expected = expected
        self.found = found
        super().__init__("parts")


def live(value, dtype=None, requires_grad: bool = False):
    """A fresh copy of a case's argument. Float tensors take `dtype` where one is given."""
    if isinstance(value, Module):
        return live_module(value, dtype)
    if isinstance(value, (tuple, list)):
        return type(value)(live(item, dtype, requires_grad) for item in value)
    if not isinstance(value, torch.Tensor):
        return value
    copy = with_strides(value, value.stride())
    if copy.is_floating_point():
        copy = copy.to(dtype or copy.dtype).requires_grad_(requires_grad)
    return copy


def with_strides(numbers: torch.Tensor, strides) -> torch.Tensor:
    """A copy of `numbers` that lies in memory with these strides (a transposed input stays transposed)."""
    if 0 in strides:
        return numbers.clone()
    return torch.empty_strided(numbers.shape, strides, dtype=numbers.dtype).copy_(numbers)


def live_module(spec: Module, dtype=None) -> nn.Module:
    """The module that `spec` describes, with its weights, and of their type where no other is given."""
    module = KINDS[spec.kind](**spec.init)
    load_weights(module, spec.weights, dtype or next((w.dtype for w in spec.weights.values()), None))
    return module


def load_weights(module: nn.Module, weights, dtype=None, whole: bool = False) -> None:
    """Copies `weights` into the module's parameters by name.

    Raises WrongParts where a name is missing or has another shape. Parameters beyond those are left alone,
    unless `whole` says that the state dict may hold nothing else.
    """
    found = dict(nn.Module.named_parameters(module, remove_duplicate=False))
    if dtype is not None and any(value.dtype != dtype for value in (*found.values(), *module.buffers())):
        module.to(dtype)
        found = dict(nn.Module.named_parameters(module, remove_duplicate=False))
    shapes = {name: tuple(parameter.shape) for name, parameter in found.items()}
    expected = {name: tuple(value.shape) for name, value in weights.items()}
    if any(shapes.get(name) != shape for name, shape in expected.items()):
        raise WrongParts(expected, shapes)
    if whole:
        state = nn.Module.state_dict(module)
        held = shapes | {name: tuple(getattr(value, "shape", ())) for name, value in state.items()}
        if held.keys() != expected.keys():
            raise WrongParts(expected, held)
    with torch.no_grad():
        for name, value in weights.items():
            found[name].copy_(value)
