"""Sketches of gradients: a few numbers that show whether two answers have the same gradients.

The gradients of a large module are many numbers, and the gradients of all known mistakes would take up most
of a student bundle. In a sketch, each tensor becomes three numbers: the sums of its finite entries with
weights cos(p) and sin(p), where p = 0.7 i^2 + 0.3 for entry i, and the count of its other entries. If one
entry is off by d, one of the sums moves by at least 0.7 d; differences practically never cancel in both sums.
"""

from collections.abc import Collection
from functools import cache

import numpy as np
import torch

from autograder.values import Encoded


def sketch(step: Encoded | None) -> Encoded | None:
    """Return the sketch of encoded gradients; return anything else, including a sketch, unchanged."""
    if step is None or step["kind"] != "dict":
        return step
    pairs = [_sketch_tensor(key, item) for key, item in zip(step["keys"], step["items"], strict=True)]
    return {"kind": "sketch", "keys": [key for key, _ in pairs], "items": [item for _, item in pairs]}


def sketch_of(step: Encoded | None, names: Collection[str]) -> Encoded | None:
    """Return the sketch of the encoded gradients that are named in `names`; return anything but gradients
    unchanged.
    """
    found = sketch(step)
    if found is None or found["kind"] != "sketch":
        return found
    kept = [
        pair for pair in zip(found["keys"], found["items"], strict=True) if pair[0].split(" ")[0] in names
    ]
    return found | {"keys": [key for key, _ in kept], "items": [item for _, item in kept]}


def _sketch_tensor(key: str, item: Encoded) -> tuple[str, Encoded]:
    if item["kind"] != "tensor":
        return key, item
    data = item["data"]
    name = f"{key} {data.dtype} {tuple(data.shape)}"
    data = torch.view_as_real(data) if data.is_complex() else data
    # NumPy, because a layer has many small tensors, and PyTorch's overhead per call is five times as large.
    numbers = data.to(torch.float64).numpy().ravel()
    with np.errstate(invalid="ignore"):  # what is not finite is counted below
        sums, others = _weights(len(numbers)) @ numbers, 0
    if not np.isfinite(sums).all():
        finite = np.isfinite(numbers)
        sums, others = _weights(len(numbers)) @ np.where(finite, numbers, 0.0), int((~finite).sum())
    return name, {"kind": "tensor", "data": torch.from_numpy(np.append(sums, float(others)))}


@cache
def _weights(count: int) -> np.ndarray:
    phase = 0.7 * np.arange(count, dtype=np.float64) ** 2 + 0.3
    return np.stack((np.cos(phase), np.sin(phase)))
