"""Turns plain data into bytes for another process; never with pickle.

A message is a safetensors file: it holds the tensors under numbered names, and the rest as one JSON text in
its metadata. No matter who wrote the message, reading it never runs code: it builds only plain data, tensors,
and objects of the classes that the caller passes as `specs`.
"""

import json
from typing import Any

import torch
from safetensors.torch import load, save

from autograder.values.plain import flatten, restore

LARGEST_MESSAGE = 256 * 1024 * 1024
MOST_CONTAINERS = 1_000_000  # an empty list takes two bytes in a message and a hundred in memory


class BadMessage(Exception):
    """Raised if the bytes are not a message of this format, or are larger than allowed."""


def pack(value: Any, specs: tuple[type[Any], ...] = ()) -> bytes:
    """Return `value`, plain data that may contain tensors, as bytes. Raises TypeError if `value` is not plain
    data.
    """
    tensors: dict[str, torch.Tensor] = {}

    def place(tensor: torch.Tensor) -> str:
        tensors[str(len(tensors))] = tensor.detach().contiguous().clone()
        return str(len(tensors) - 1)

    text = json.dumps(flatten(value, place, specs))
    return save(tensors or {"none": torch.zeros(0)}, metadata={"json": text})


def unpack(data: bytes, specs: tuple[type[Any], ...] = ()) -> Any:
    """Return the value that `pack` turned into these bytes. Raises BadMessage if they are damaged or too
    large.
    """
    if len(data) > LARGEST_MESSAGE:
        raise BadMessage(f"a message of {len(data)} bytes is larger than allowed")
    try:
        text = data[8 : 8 + int.from_bytes(data[:8], "little")].decode()
        value = _from_json(_from_json(text)["__metadata__"]["json"])
        return restore(value, load(data).__getitem__, specs)
    except BadMessage:
        raise
    except RecursionError as error:
        raise BadMessage("the message is nested too deeply") from error
    except Exception as error:  # whatever damaged bytes make the parsers raise
        raise BadMessage("the message is damaged") from error


def _from_json(text: str) -> Any:
    if text.count("[") + text.count("{") > MOST_CONTAINERS:
        raise BadMessage("the message holds too many things")
    return json.loads(text)
