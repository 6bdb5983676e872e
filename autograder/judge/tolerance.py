"""When two numbers are the same.

A right float32 answer differs from the float64 reference by rounding alone: about 1e-6 for unit-size inputs
and the short sums of the cases, and for large scores by the rounding of the scores (1e-7 of their size, which
the cases keep small by exact inputs). The smallest wrong answer to be told apart is the tanh form of GELU,
about 5e-4 off. 1e-4 lies well above the first and below the second.
"""

import torch

ABSOLUTE = 1e-4
RELATIVE = 1e-4


def excess(expected: torch.Tensor, got: torch.Tensor, scale: float = 1.0) -> torch.Tensor:
    """How far each entry is beyond the tolerance, in float64; <= 0 is close enough, inf where one is NaN or
    infinite and the other is not the same."""
    expected, got = expected.to(torch.float64), got.to(torch.float64)
    beyond = (expected - got).abs() - scale * (ABSOLUTE + RELATIVE * expected.abs())
    if bool(beyond.isfinite().all()):
        return beyond
    same = (expected == got) | (expected.isnan() & got.isnan())
    return torch.where(same, -1.0, torch.where(beyond.isfinite(), beyond, torch.inf))


def close(expected: torch.Tensor, got: torch.Tensor, scale: float = 1.0) -> bool:
    """Whether two tensors of one shape agree everywhere."""
    return expected.shape == got.shape and bool((excess(expected, got, scale) <= 0).all())


def same_value(a: dict | None, b: dict | None, scale: float = 1.0) -> bool:
    """Whether two recorded values (see autograder.probe.encode) are the same, numbers within the tolerance."""
    if a is None or b is None or a["kind"] != b["kind"]:
        return a is b
    if a["kind"] == "tensor":
        return _same_numbers(a["data"], b["data"], scale)
    if a["kind"] == "error":
        return a["type"] == b["type"]
    if "items" in a:
        return (
            a.get("keys") == b.get("keys")
            and len(a["items"]) == len(b["items"])
            and all(same_value(x, y, scale) for x, y in zip(a["items"], b["items"], strict=True))
        )
    return a.get("value") == b.get("value")


def _same_numbers(a, b, scale) -> bool:
    if a.dtype != b.dtype or a.shape != b.shape:
        return False
    if a.is_complex():
        a, b = torch.view_as_real(a), torch.view_as_real(b)
    return torch.equal(a, b) or close(a, b, scale * _size(a))


def _size(data: torch.Tensor) -> float:
    finite = data[data.isfinite()].abs() if data.is_floating_point() else data[:0]
    return max(1.0, float(finite.max())) if finite.numel() else 1.0
