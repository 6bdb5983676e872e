"""One value against what is due: kind, shape, numbers, type of numbers."""

import torch

from autograder.exercises.exercise import DTYPES
from autograder.judge import words
from autograder.judge.findings.errors import raised
from autograder.judge.findings.finding import DTYPE, FINITE, NUMBERS, SHAPE, TYPE, Finding, Look, worst
from autograder.judge.tolerance import excess

OWN_TYPE = "Which line makes a tensor of its own type instead of taking the input's?"


def wrong_value(look: Look, step: str, due: dict, got: dict) -> Finding | None:
    """The first thing that is wrong with a recorded value, from the outside to the numbers."""
    if got["kind"] == "error":
        return raised(look, got)
    if due["kind"] in ("tuple", "list", "dict"):
        return _items(look, step, due, got)
    if due["kind"] == "tensor":
        return _tensor(look, step, due, got)
    if got["kind"] != due["kind"]:
        return _wrong_type(look, due, got)
    if got.get("value") != due.get("value"):
        sees = f"The result should be {due['value']}; yours is {got['value']}."
        return look.finding(NUMBERS, sees, "Work this one out by hand: which factor is another?", step=step)
    return None


def _items(look, step, due, got):
    if got["kind"] != due["kind"] or len(got["items"]) != len(due["items"]):
        return _wrong_type(look, due, got)
    pairs = zip(due["items"], got["items"], strict=True)
    return next((wrong for pair in pairs if (wrong := wrong_value(look, step, *pair)) is not None), None)


def _wrong_type(look, due, got):
    sees = f"You return {words.count_in_words(got)} where {words.count_in_words(due)} is due."
    return look.finding(TYPE, sees, "What did the signature promise?", detail="")


def _tensor(look, step, due, got):
    if got["kind"] != "tensor" or got["class"] not in ("Tensor", "Parameter"):
        return _wrong_type(look, due, got)
    want, have = due["data"], got["data"]
    if want.shape != have.shape:
        return look.finding(
            SHAPE,
            f"Expected shape {words.expected_shape(look.exercise, look.case, want.shape)}, got "
            f"{words.named_shape(look.exercise, look.case, have.shape)}.",
            "Which axis of the result should stand for what?",
            step=step,
        )
    if _kind(want) != _kind(have):
        return _another_kind(look, step, want, have)
    return _numbers(look, step, want, have) or _dtype(look, step, want, have)


def _kind(numbers) -> str:
    if numbers.is_complex():
        return "complex"
    return "bool" if numbers.dtype is torch.bool else "float" if numbers.is_floating_point() else "int"


def _another_kind(look, step, want, have):
    asks = "Which dtype did the signature promise?" if want.dtype is torch.bool else OWN_TYPE
    if have.is_complex():
        asks = "Which step leaves the real numbers?"
    return _of_type(look, None, step, _due_type(look.case, want), have, asks)


def _dtype(look, step, want, have):
    due = _due_type(look.case, want)
    if have.dtype == due:
        return None
    aspect = DTYPES if DTYPES in look.exercise.aspects and want.is_floating_point() else None
    return _of_type(look, aspect, step, due, have, OWN_TYPE)


def _of_type(look, aspect, step, due, have, asks):
    due, got = (str(dtype).removeprefix("torch.") for dtype in (due, have.dtype))
    return look.finding(DTYPE, f"The result should be {due}; yours is {got}.", asks, aspect, step=step)


def _due_type(case, want):
    if not want.is_floating_point():
        return want.dtype
    tensors = [*case.args, *case.kwargs.values()]
    floats = [t.dtype for t in tensors if isinstance(t, torch.Tensor) and t.is_floating_point()]
    return floats[0] if floats else torch.float32


def _numbers(look, step, want, have):
    far = excess(want, have, look.case.scale)
    if bool((far <= 0).all()):
        return None
    index = worst(far)
    expected, got = want[index], have[index]
    finite = bool(got.to(torch.float64).isfinite()) or not bool(expected.to(torch.float64).isfinite())
    what = f"Entry {words.index_in_words(index)}" if index else "The result"
    return look.finding(
        NUMBERS if finite else FINITE,
        f"{what} should be {words.number(expected)}; yours is {words.number(got)}.",
        "Work this one entry out by hand: at which step do you get another number?"
        if finite
        else "Where can a NaN or an infinity come from: 0/0, inf - inf, exp of a large number?",
        step=step,
        index=index,
    )
