"""Cases and records as bytes: a data-only format between two processes.

A message is a safetensors file: the tensors under numbered names, and in its metadata one JSON text with the
rest, in which {"tensor": i} stands for tensor i. Reading it builds lists, dicts, numbers, text and tensors,
and nothing else; it never runs code, whoever wrote the bytes.
"""

import json

import torch
from safetensors.torch import load, save

from autograder.exercises.exercise import Case, Module
from autograder.probe.build import with_strides

LARGEST_MESSAGE = 256 * 1024 * 1024
MOST_CONTAINERS = 1_000_000  # a list of nothing takes two bytes to write and a hundred to hold


class BadMessage(Exception):
    """The bytes are not a message of this format, or are larger than allowed."""


def pack(value) -> bytes:
    """Plain data with tensors in it, as bytes. Raises TypeError for anything that is not plain data."""
    tensors = {}
    text = json.dumps(_without_tensors(value, tensors))
    return save(tensors or {"none": torch.zeros(0)}, metadata={"json": text})


def unpack(data: bytes):
    """The value that `pack` was given; tuples come back as lists. Raises BadMessage."""
    if len(data) > LARGEST_MESSAGE:
        raise BadMessage(f"a message of {len(data)} bytes is larger than allowed")
    try:
        text = data[8 : 8 + int.from_bytes(data[:8], "little")]
        if text.count(b"[") + text.count(b"{") > MOST_CONTAINERS:
            raise BadMessage("the message holds too many things")
        header = json.loads(text)
        value = json.loads(header["__metadata__"]["json"])
        return _with_tensors(value, load(data))
    except BadMessage:
        raise
    except RecursionError as error:
        raise BadMessage("the message is nested too deeply") from error
    except Exception as error:
        raise BadMessage("the message is damaged") from error


def _without_tensors(value, tensors):
    if isinstance(value, torch.Tensor):
        name = str(len(tensors))
        tensors[name] = value.detach().contiguous().clone()
        return {"tensor": name}
    if isinstance(value, dict):
        return {"map": {str(key): _without_tensors(item, tensors) for key, item in value.items()}}
    if isinstance(value, (tuple, list)):
        return [_without_tensors(item, tensors) for item in value]
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    raise TypeError(f"{type(value).__name__} is not plain data")


def _with_tensors(value, tensors):
    if isinstance(value, dict):
        if "tensor" in value:
            return tensors[value["tensor"]]
        return {key: _with_tensors(item, tensors) for key, item in value["map"].items()}
    if isinstance(value, list):
        return [_with_tensors(item, tensors) for item in value]
    return value


def pack_cases(cases: list[Case]) -> bytes:
    """Cases as bytes, without what only the judge needs to know."""
    return pack([_case_as_data(case) for case in cases])


def unpack_cases(data: bytes) -> list[Case]:
    """The cases that `pack_cases` was given."""
    return [Case(**{name: _revive(item) for name, item in fields.items()}) for fields in unpack(data)]


def _case_as_data(case):
    told = ("args", "kwargs", "init", "weights", "whole", "gradients", "observe", "fresh")
    return {"family": ""} | {name: _describe(getattr(case, name)) for name in told}


def _describe(value):
    if isinstance(value, Module):
        return {
            "module": value.kind,
            "init": _describe(dict(value.init)),
            "weights": _describe(dict(value.weights)),
        }
    if isinstance(value, torch.Tensor):
        return {"strides": list(value.stride()), "numbers": value.contiguous()}
    if isinstance(value, dict):
        return {"dict": {key: _describe(item) for key, item in value.items()}}
    if isinstance(value, tuple):
        return {"tuple": [_describe(item) for item in value]}
    if isinstance(value, list):
        return [_describe(item) for item in value]
    return value


def _revive(value):
    if isinstance(value, list):
        return [_revive(item) for item in value]
    if not isinstance(value, dict):
        return value
    if "module" in value:
        return Module(value["module"], _revive(value["init"]), _revive(value["weights"]))
    if "strides" in value:
        return with_strides(value["numbers"], value["strides"])
    if "dict" in value:
        return {key: _revive(item) for key, item in value["dict"].items()}
    return tuple(_revive(item) for item in value["tuple"])
