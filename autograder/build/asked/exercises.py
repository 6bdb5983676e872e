"""Rules for an exercise that are checked from its files alone, without running an answer."""

import re
from collections.abc import Iterator

from autograder.build.asked.rule import Rule, adds_to
from autograder.build.asked.subject import ExerciseSubject, hidden_lines, shown_lines
from autograder.build.lesson import Cell

MISTAKES, HINTS, RIGHT, LINES = 6, 3, 4, 15
# Lines that the lessons' own experiments need as well, and that do not give an answer away.
EVERYDAY = {"with torch.no_grad():", "loss.backward()", "optimizer.zero_grad()", "optimizer.step()", "break"}
EVERYDAY |= {
    "for _ in range(n_new):",
    "self.n_heads = n_heads",
    "return ids",
    "return merges",
    "return loss.item()",
}

EXERCISE_RULES: list[Rule[ExerciseSubject]] = []


@adds_to(EXERCISE_RULES, f"at least {MISTAKES} mistakes")
def _mistakes(subject: ExerciseSubject) -> Iterator[str]:
    if (count := len(subject.exercise.mistakes)) < MISTAKES:
        yield f"it has {_times(count, 'mistake')}; write at least {MISTAKES}."


@adds_to(EXERCISE_RULES, f"at least {HINTS} hints, none of which holds a line of the answer")
def _hints(subject: ExerciseSubject) -> Iterator[str]:
    hints = subject.exercise.hints
    if len(hints) < HINTS:
        yield f"it has {_times(len(hints), 'hint')}; write at least {HINTS}, from where to look to an outline."
    steps = {step for line in subject.solution for step in _steps(line)}
    for number, hint in enumerate(hints, start=1):
        given = [step for step in steps if step.replace(" ", "") in hint.replace(" ", "")]
        if given:
            yield f'hint {number} holds "{max(given, key=len)}", a line of the answer; say what it does instead.'


def _steps(line: str) -> list[str]:
    """Return a line and the value that it assigns or returns, leaving out texts that are hardly longer than a
    name.
    """
    parts = (line, line.partition(" = ")[2], line.removeprefix("return "))
    return [part for part in parts if len(part) > 12]


@adds_to(EXERCISE_RULES, f"an answer of 1 to {LINES} lines in the lesson")
def _lines(subject: ExerciseSubject) -> Iterator[str]:
    if subject.cell is None:
        yield f'lesson {subject.lesson.name} has no cell with the title "exercise: {subject.name}".'
    elif not 1 <= len(subject.solution) <= LINES:
        yield f"its answer takes {_times(len(subject.solution), 'line')}; 1 to {LINES} are allowed."


@adds_to(EXERCISE_RULES, "no line of its answer anywhere else in what students get")
def _given(subject: ExerciseSubject) -> Iterator[str]:
    if subject.cell is not None:
        yield from given_away(subject.cell, subject.lesson.received)


def given_away(cell: Cell, received: list[str]) -> Iterator[str]:
    """Yield a sentence for each of the cell's hidden lines that students can nevertheless read elsewhere."""
    lines = {line.strip() for text in received for line in text.split("\n")}
    text = "\n".join(received)
    for line in sorted({*hidden_lines(cell)} - shown_lines(cell) - EVERYDAY):
        is_part = len(line) > 8 and re.search(rf"(?<!\w){re.escape(line)}(?!\w)", text)
        if len(line) > 2 and (is_part or line in lines):
            yield f'students can read "{line}", a line of the answer, elsewhere in the notebook; change one of the two.'


@adds_to(EXERCISE_RULES, f"at least {RIGHT} right answers that differ in kind, in `tests/answers`")
def _right_answers(subject: ExerciseSubject) -> Iterator[str]:
    if (count := len(subject.answers["RIGHT"])) < RIGHT:
        yield f"it has {_times(count, 'right answer')}; write at least {RIGHT}, in different ways."


def _times(count: int, what: str) -> str:
    return f"{count} {what}" if count == 1 else f"{count} {what}s"
