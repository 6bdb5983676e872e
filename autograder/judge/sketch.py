"""Gradients in short, to tell whether two answers have the same ones.

The gradients of a large module are many numbers, and those of every known mistake would be far more than all else
that a course must carry. Here each tensor becomes three numbers: how many of its entries are not finite, and the
sums of the others with weights cos(p) and sin(p), p = 0.7 i^2 + 0.3 for entry i. One entry that is off by d shows
as at least 0.7 d in one of the two; that differences cancel in both is as good as impossible.
"""

from functools import cache

import torch


def sketch(step: dict | None) -> dict | None:
    """The recorded gradients in short; anything else, a sketch included, as it is."""
    if step is None or step["kind"] != "dict":
        return step
    pairs = [_short(key, item) for key, item in zip(step["keys"], step["items"], strict=True)]
    return {"kind": "sketch", "keys": [key for key, _ in pairs], "items": [item for _, item in pairs]}


def _short(key: str, item: dict) -> tuple[str, dict]:
    if item["kind"] != "tensor":
        return key, item
    data = item["data"]
    name = f"{key} {data.dtype} {tuple(data.shape)}"
    data = torch.view_as_real(data) if data.is_complex() else data
    numbers = data.to(torch.float64).flatten()
    sums, others = _weights(len(numbers)) @ numbers, 0
    if not sums.isfinite().all():
        finite = numbers.isfinite()
        sums, others = _weights(len(numbers)) @ torch.where(finite, numbers, 0.0), int((~finite).sum())
    return name, {"kind": "tensor", "data": torch.cat((sums, sums.new_tensor([others])))}


@cache
def _weights(count: int) -> torch.Tensor:
    phase = 0.7 * torch.arange(count, dtype=torch.float64) ** 2 + 0.3
    return torch.stack((phase.cos(), phase.sin()))
