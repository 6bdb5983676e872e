"""What is wrong with a record, case by case.

A finding has a rung: structure first (does it run, type, shape), then what one call does to the next (inputs
changed, another result the second time), then numbers, type of numbers and gradients. The lowest rung is told.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import torch

from autograder.exercises.exercise import DTYPES, GRADIENTS, SIDE_EFFECTS, VALUES, Case, Exercise
from autograder.judge import words
from autograder.judge.tolerance import excess, same_value

PARTS, RUNS, TYPE, SHAPE, CHANGED, REPEATS, FINITE, NUMBERS, DTYPE, GRADIENT = range(10)

OWN_TYPE = "Which line makes a tensor of its own type instead of taking the input's?"


@dataclass(frozen=True)
class Finding:
    """One thing wrong in one case: the aspect it costs, its rung, what is seen, what to ask, the numbers."""

    aspect: str
    rung: int
    case: int
    sees: str
    asks: str
    detail: str = ""
    step: str = "output"
    index: tuple = ()


def findings(
    exercise: Exercise, cases: list[Case], expected: list[dict], records: list[dict]
) -> list[Finding]:
    """Everything wrong in `records`, in the order of the cases."""
    found = []
    for number, (case, due, record) in enumerate(zip(cases, expected, records, strict=True)):
        found += _Look(exercise, case, number, due, record).found()
    return found


def wrong_cases(exercise: Exercise, cases: list[Case], expected: list[dict], records: list[dict]) -> set[int]:
    """The numbers of the cases in which something in `records` is wrong."""
    questions = enumerate(zip(cases, expected, records, strict=True))
    return {number for number, (case, *told) in questions if _Look(exercise, case, number, *told).is_wrong()}


def output_is_right(exercise: Exercise, case: Case, due: dict, record: dict) -> bool:
    """Whether a record's output is right, whatever follows it."""
    if record["status"] != "answered" or case.raises:
        return not _Look(exercise, case, 0, due, record).is_wrong()
    output = due["steps"]["output"], record["steps"]["output"]
    return _Look(exercise, case, 0, due, record)._value("output", *output) is None


class _Look:
    """Compares one record with what is due."""

    def __init__(self, exercise, case, number, due, record):
        self.exercise, self.case, self.number = exercise, case, number
        self.due, self.record = due, record

    def is_wrong(self) -> bool:
        return next(self.found(), None) is not None

    def found(self) -> Iterator[Finding]:
        """Everything that is wrong, one thing at a time: whoever asks for the first alone pays for no other."""
        if self.record["status"] == "skipped":
            yield self._skipped()
        elif self.case.raises:
            yield from self._raises()
        elif self.record["status"] == "parts":
            yield self._parts()
        elif self.record["status"] == "raised" or (self.record["status"] == "out of time" and "error" in self.record):
            yield self._raised(self.record["error"])
        else:
            yield from (finding for finding in self._steps() if finding is not None)

    def _skipped(self):
        sees = "An earlier call ran out of time, so this one was not made."
        return self._finding(self.case.aspect, RUNS, sees, "Which loop never ends?")

    def _steps(self):
        due, steps = self.due["steps"], self.record["steps"]
        first = self._value("output", due["output"], steps["output"])
        yield first
        yield self._unchanged(steps["after"])
        if first is not None and first.rung == NUMBERS and "evaluated" in steps:
            yield self._right_in_evaluation(due["output"], steps["evaluated"])
        if first is None or first.rung >= FINITE:
            yield from (
                self._repeated(step, steps["output"], steps[step])
                for step in ("again", "evaluated")
                if step in steps
            )
        if "gradients" in due and "gradients" in steps and (first is None or first.rung == DTYPE):
            yield self._gradients(due["gradients"], steps["gradients"])

    def _raises(self):
        status, error = self.record["status"], self.record.get("error", {})
        if status == "raised" and self.case.raises in error.get("bases", ()):
            return []
        got = f"{error['type']} is raised" if status == "raised" else "nothing is raised"
        call = words.arguments(self.exercise, self.case)
        return [
            self._finding(
                self.case.aspect,
                RUNS,
                f"{call} should raise {self.case.raises}; {got}.",
                "What should happen when the sizes do not fit?",
            )
        ]

    def _parts(self):
        expected, found = self.record["expected"], self.record["found"]
        name = self.exercise.name
        if found is None:
            return self._finding(
                self.case.aspect,
                PARTS,
                f"{name}(...) does not give an nn.Module.",
                "Which class should yours inherit from, and what does its __init__ call first?",
            )
        beyond = {part: shape for part, shape in found.items() if part not in expected}
        if found == expected | beyond:
            return self._finding(
                self.case.aspect,
                PARTS,
                f"The state dict holds more than the parts that are asked for: {_listed(beyond)}.",
                "Which of your parts is not among those that the exercise names?",
                words.arguments(self.exercise, self.case),
            )
        return self._finding(
            self.case.aspect,
            PARTS,
            *words.other_parts(expected, found),
            words.arguments(self.exercise, self.case),
        )

    def _raised(self, error):
        where = f"; line {error['line']}" if error.get("line") else ""
        code = f": {error['code']}" if error.get("line") and error.get("code") else ""
        text = words.error_in_words(error)
        if error["type"] == "OutOfTime":
            return self._finding(
                self.case.aspect,
                RUNS,
                f"There was {error['text']}.",
                "Which loop never ends, or does far too much?",
                f"{words.arguments(self.exercise, self.case)}{where}{code}",
            )
        return self._finding(
            self.case.aspect,
            RUNS,
            text,
            _question_about(error),
            f"{words.arguments(self.exercise, self.case)}{where}{code}",
        )

    def _value(self, step, due, got) -> Finding | None:
        if got["kind"] == "error":
            return self._raised(got)
        if due["kind"] in ("tuple", "list", "dict"):
            return self._items(step, due, got)
        if due["kind"] == "tensor":
            return self._tensor(step, due, got)
        if got["kind"] != due["kind"]:
            return self._wrong_type(due, got)
        if got.get("value") != due.get("value"):
            return self._finding(
                self.case.aspect,
                NUMBERS,
                f"The result should be {due['value']}; yours is {got['value']}.",
                "Work this one out by hand: which factor is another?",
                words.arguments(self.exercise, self.case),
                step,
            )
        return None

    def _items(self, step, due, got):
        if got["kind"] != due["kind"] or len(got["items"]) != len(due["items"]):
            return self._wrong_type(due, got)
        pairs = zip(due["items"], got["items"], strict=True)
        return next((finding for a, b in pairs if (finding := self._value(step, a, b)) is not None), None)

    def _wrong_type(self, due, got):
        return self._finding(
            self.case.aspect,
            TYPE,
            f"You return {words.count_in_words(got)} where {words.count_in_words(due)} is due.",
            "What did the signature promise?",
        )

    def _tensor(self, step, due, got) -> Finding | None:
        if got["kind"] != "tensor" or got["class"] not in ("Tensor", "Parameter"):
            return self._wrong_type(due, got)
        want, have = due["data"], got["data"]
        if want.shape != have.shape:
            return self._finding(
                self.case.aspect,
                SHAPE,
                f"Expected shape {words.expected_shape(self.exercise, self.case, want.shape)}, got "
                f"{words.named_shape(self.exercise, self.case, have.shape)}.",
                "Which axis of the result should stand for what?",
                words.arguments(self.exercise, self.case),
                step,
            )
        if _kind(want) != _kind(have):
            return self._another_kind(step, want, have)
        return self._numbers(step, want, have) or self._dtype(step, want, have)

    def _another_kind(self, step, want, have):
        asks = "Which dtype did the signature promise?" if want.dtype is torch.bool else OWN_TYPE
        if have.is_complex():
            asks = "Which step leaves the real numbers?"
        return self._of_type(self.case.aspect, step, self._due_type(want), have, asks)

    def _dtype(self, step, want, have):
        due = self._due_type(want)
        if have.dtype == due:
            return None
        aspect = DTYPES if DTYPES in self.exercise.aspects and want.is_floating_point() else self.case.aspect
        return self._of_type(aspect, step, due, have, OWN_TYPE)

    def _of_type(self, aspect, step, due, have, asks):
        due, got = (str(dtype).removeprefix("torch.") for dtype in (due, have.dtype))
        sees = f"The result should be {due}; yours is {got}."
        return self._finding(aspect, DTYPE, sees, asks, words.arguments(self.exercise, self.case), step)

    def _due_type(self, want):
        if not want.is_floating_point():
            return want.dtype
        tensors = [*self.case.args, *self.case.kwargs.values()]
        floats = [t.dtype for t in tensors if isinstance(t, torch.Tensor) and t.is_floating_point()]
        return floats[0] if floats else torch.float32

    def _numbers(self, step, want, have):
        far = excess(want, have, self.case.scale)
        if bool((far <= 0).all()):
            return None
        index = _worst(far)
        expected, got = want[index], have[index]
        finite = bool(got.to(torch.float64).isfinite()) or not bool(expected.to(torch.float64).isfinite())
        at = words.index_in_words(index)
        sees = (
            f"Entry {at} should be {words.number(expected)}; yours is {words.number(got)}."
            if at
            else f"The result should be {words.number(expected)}; yours is {words.number(got)}."
        )
        asks = (
            "Work this one entry out by hand: at which step do you get another number?"
            if finite
            else "Where can a NaN or an infinity come from: 0/0, inf - inf, exp of a large number?"
        )
        return self._finding(
            self.case.aspect,
            NUMBERS if finite else FINITE,
            sees,
            asks,
            words.arguments(self.exercise, self.case),
            step,
            index,
        )

    def _unchanged(self, after):
        from autograder.judge.expected import arguments_as_given

        given = arguments_as_given(self.case)
        if after["kind"] != "dict":
            return None
        for key, value in zip(after["keys"], after["items"], strict=True):
            want = given.get(key)
            if want is None or value["kind"] != "tensor":
                continue
            if want.shape != value["data"].shape or not torch.equal(
                want.nan_to_num(), value["data"].nan_to_num()
            ):
                name = words.name_of(self.exercise, key)
                return self._finding(
                    self._side(),
                    CHANGED,
                    f"After the call the caller's `{name}` holds other numbers than before.",
                    "Which line writes into a tensor it was given?",
                    words.arguments(self.exercise, self.case),
                    "after",
                )
        return None

    def _repeated(self, step, first, got):
        if same_value(first, got, self.case.scale):
            return None
        sees, asks = {
            "again": (
                "A second call with the same inputs gives another result than the first.",
                "What is drawn at random, or left behind by the first call?",
            ),
            "evaluated": (
                "After .eval() the result is another than in training mode.",
                "Which part behaves differently in training and in evaluation?",
            ),
        }[step]
        return self._finding(
            self._side(), REPEATS, sees, asks, words.arguments(self.exercise, self.case), step
        )

    def _right_in_evaluation(self, due, got):
        if self._value("evaluated", due, got) is not None:
            return None
        return self._finding(
            self.case.aspect,
            REPEATS,
            "In evaluation mode your result is right; in training mode it is another.",
            "Which part behaves differently in training and in evaluation, and is it asked for here?",
            words.arguments(self.exercise, self.case),
            "evaluated",
        )

    def _side(self):
        return SIDE_EFFECTS if SIDE_EFFECTS in self.exercise.aspects else VALUES

    def _gradients(self, due, got) -> Finding | None:
        if got["kind"] == "error":
            return self._gradient(
                f"The values are right, but with gradients on: {words.error_in_words(got)}",
                "Does a step write into a tensor that the gradient still needs?",
            )
        names = dict(zip(got.get("keys", ()), got.get("items", ()), strict=True))
        for key, want in zip(due["keys"], due["items"], strict=True):
            have = names.get(key, {"kind": "None"})
            finding = self._one_gradient(words.name_of(self.exercise, key), want, have)
            if finding is not None:
                return finding
        return None

    def _one_gradient(self, name, want, have):
        if want["kind"] != "tensor":
            return None
        zero = bool((want["data"].abs() <= 1e-12).all())
        if have["kind"] != "tensor":
            # subtle: no gradient at all is as good as a gradient of zeros.
            return (
                None
                if zero
                else self._gradient(
                    f"The values are right, but no gradient reaches `{name}`.",
                    "Does every step from there to the result stay in PyTorch's hands?",
                )
            )
        wants, haves = want["data"], have["data"]
        if bool(wants.isfinite().all()) and not bool(haves.isfinite().all()):
            return self._gradient(
                f"The values are right, but the gradient of `{name}` is NaN or infinite.",
                "On the way back, which step meets 0/0, 0 times infinity, or a NaN that was cleaned afterwards?",
            )
        if wants.shape == haves.shape:
            scale = max(1.0, float(wants.abs().max())) if wants.numel() else 1.0
            far = excess(wants, haves, self.case.scale * scale)
            if bool((far <= 0).all()):
                return None
            index = _worst(far)
            numbers = (
                f": at {words.index_in_words(index)} {words.number(wants[index])} is due, yours is "
                f"{words.number(haves[index])}"
            )
        else:
            numbers = ""
        return self._gradient(
            f"The values are right, but the gradient of `{name}` is not{numbers}.",
            "Which step is cut off from the gradient, or counted twice?",
        )

    def _gradient(self, sees, asks):
        aspect = GRADIENTS if GRADIENTS in self.exercise.aspects else VALUES
        return self._finding(
            aspect, GRADIENT, sees, asks, words.arguments(self.exercise, self.case), "gradients"
        )

    def _finding(self, aspect, rung, sees, asks, detail="", step="output", index=()):
        if aspect not in self.exercise.aspects:
            aspect = VALUES
        return Finding(aspect, rung, self.number, sees, asks, detail, step, index)


def _kind(numbers) -> str:
    if numbers.is_complex():
        return "complex"
    return "bool" if numbers.dtype is torch.bool else "float" if numbers.is_floating_point() else "int"


def _worst(far) -> tuple[int, ...]:
    # subtle: torch.unravel_index does the same, but imports half a second of symbolic algebra.
    return tuple(int(i) for i in np.unravel_index(int(far.argmax()), tuple(far.shape)))


def _question_about(error: dict) -> str:
    text = error.get("text", "")
    if error["type"] == "IndexError" and "index" in text:
        return "From which axis does that index take its range, and which axis does it run along?"
    if "shape" in text or "size" in text:
        return "What are the shapes of the tensors on that line?"
    return "What does Python say went wrong on that line?"


def _listed(parts: dict) -> str:
    return ", ".join(f"{part} {words.shape_in_words(shape)}" for part, shape in parts.items()) or "none"
