"""A whole record: did the answer run, are its parts there, and what does one call do to the next?"""

from collections.abc import Iterator

import torch

from autograder.exercises.exercise import SIDE_EFFECTS
from autograder.judge import words
from autograder.judge.findings.errors import raised
from autograder.judge.findings.finding import (
    CHANGED,
    DTYPE,
    FINITE,
    NUMBERS,
    PARTS,
    REPEATS,
    RUNS,
    Finding,
    Look,
)
from autograder.judge.findings.gradients import wrong_gradient
from autograder.judge.findings.values import wrong_value
from autograder.judge.tolerance import same_value


def wrong_things(look: Look, due: dict, record: dict) -> Iterator[Finding]:
    """Everything that is wrong, one thing at a time: whoever asks for the first alone pays for no other."""
    if record["status"] == "skipped":
        sees = "An earlier call ran out of time, so this one was not made."
        yield look.finding(RUNS, sees, "Which loop never ends?", detail="")
    elif look.case.raises:
        yield from _not_raised(look, record)
    elif record["status"] == "parts":
        yield _wrong_parts(look, record["expected"], record["found"])
    elif record["status"] == "raised" or (record["status"] == "out of time" and "error" in record):
        yield raised(look, record["error"])
    else:
        yield from (finding for finding in _steps(look, due["steps"], record["steps"]) if finding is not None)


def _steps(look, due, steps):
    first = wrong_value(look, "output", due["output"], steps["output"])
    yield first
    yield _changed(look, steps["after"])
    if first is not None and first.rung == NUMBERS and "evaluated" in steps:
        yield _right_in_evaluation(look, due["output"], steps["evaluated"])
    if first is None or first.rung >= FINITE:
        yield from (_other(look, step, steps["output"], steps[step]) for step in OTHER if step in steps)
    if "gradients" in due and "gradients" in steps and (first is None or first.rung == DTYPE):
        yield wrong_gradient(look, due["gradients"], steps["gradients"])


def _not_raised(look, record):
    status, error = record["status"], record.get("error", {})
    if status == "raised" and look.case.raises in error.get("bases", ()):
        return
    got = f"{error['type']} is raised" if status == "raised" else "nothing is raised"
    sees = f"{look.given()} should raise {look.case.raises}; {got}."
    yield look.finding(RUNS, sees, "What should happen when the sizes do not fit?", detail="")


def _wrong_parts(look, expected, found):
    if found is None:
        return look.finding(
            PARTS,
            f"{look.exercise.name}(...) does not give an nn.Module.",
            "Which class should yours inherit from, and what does its __init__ call first?",
            detail="",
        )
    beyond = {part: shape for part, shape in found.items() if part not in expected}
    if found == expected | beyond:
        return look.finding(
            PARTS,
            f"The state dict holds more than the parts that are asked for: {_listed(beyond)}.",
            "Which of your parts is not among those that the exercise names?",
        )
    return look.finding(PARTS, *words.other_parts(expected, found))


def _listed(parts: dict) -> str:
    return ", ".join(f"{part} {words.shape_in_words(shape)}" for part, shape in parts.items()) or "none"


def _changed(look, after):
    from autograder.judge.expected import arguments_as_given

    given = arguments_as_given(look.case)
    if after["kind"] != "dict":
        return None
    for key, value in zip(after["keys"], after["items"], strict=True):
        want = given.get(key)
        if want is None or value["kind"] != "tensor":
            continue
        have = value["data"]
        if want.shape != have.shape or not torch.equal(want.nan_to_num(), have.nan_to_num()):
            sees = f"After the call the caller's `{look.name_of(key)}` holds other numbers than before."
            asks = "Which line writes into a tensor it was given?"
            return look.finding(CHANGED, sees, asks, aspect=SIDE_EFFECTS, step="after")
    return None


OTHER = {
    "again": (
        "A second call with the same inputs gives another result than the first.",
        "What is drawn at random, or left behind by the first call?",
    ),
    "evaluated": (
        "After .eval() the result is another than in training mode.",
        "Which part behaves differently in training and in evaluation?",
    ),
}


def _other(look, step, first, got):
    """Another call, another result."""
    if same_value(first, got, look.case.scale):
        return None
    return look.finding(REPEATS, *OTHER[step], aspect=SIDE_EFFECTS, step=step)


def _right_in_evaluation(look, due, got):
    if wrong_value(look, "evaluated", due, got) is not None:
        return None
    return look.finding(
        REPEATS,
        "In evaluation mode your result is right; in training mode it is another.",
        "Which part behaves differently in training and in evaluation, and is it asked for here?",
        step="evaluated",
    )
