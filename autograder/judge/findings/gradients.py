"""Gradients against those that are due, of an answer whose values are right."""

from autograder.exercises.exercise import GRADIENTS
from autograder.judge import words
from autograder.judge.findings.finding import GRADIENT, Finding, Look, worst
from autograder.judge.tolerance import excess


def wrong_gradient(look: Look, due: dict, got: dict) -> Finding | None:
    """The first input or parameter whose gradient is not right."""
    if got["kind"] == "error":
        return _finding(
            look,
            f"The values are right, but with gradients on: {words.error_in_words(got)}",
            "Does a step write into a tensor that the gradient still needs?",
        )
    names = dict(zip(got.get("keys", ()), got.get("items", ()), strict=True))
    wants = (one for one in zip(due["keys"], due["items"], strict=True) if one[1]["kind"] == "tensor")
    looks = (_wrong_one(look, look.name_of(key), want["data"], names.get(key)) for key, want in wants)
    return next((finding for finding in looks if finding is not None), None)


def _wrong_one(look, name, want, got):
    if got is None or got["kind"] != "tensor":
        # subtle: no gradient at all is as good as a gradient of zeros.
        if bool((want.abs() <= 1e-12).all()):
            return None
        return _finding(
            look,
            f"The values are right, but no gradient reaches `{name}`.",
            "Does every step from there to the result stay in PyTorch's hands?",
        )
    have = got["data"]
    if bool(want.isfinite().all()) and not bool(have.isfinite().all()):
        return _finding(
            look,
            f"The values are right, but the gradient of `{name}` is NaN or infinite.",
            "On the way back, which step meets 0/0, 0 times infinity, or a NaN that was cleaned afterwards?",
        )
    numbers = _wrong_numbers(look.case, want, have)
    if numbers is None:
        return None
    return _finding(
        look,
        f"The values are right, but the gradient of `{name}` is not{numbers}.",
        "Which step is cut off from the gradient, or counted twice?",
    )


def _wrong_numbers(case, want, have) -> str | None:
    """Where they are wrong, in words that end a sentence; None where they are right."""
    if want.shape != have.shape:
        return ""
    scale = max(1.0, float(want.abs().max())) if want.numel() else 1.0
    far = excess(want, have, case.scale * scale)
    if bool((far <= 0).all()):
        return None
    index = worst(far)
    due, got = words.number(want[index]), words.number(have[index])
    return f": at {words.index_in_words(index)} {due} is due, yours is {got}"


def _finding(look, sees, asks) -> Finding:
    return look.finding(GRADIENT, sees, asks, aspect=GRADIENTS, step="gradients")
