"""An exercise or a lesson as the rules see it. Each part is computed once, when a rule first asks for it."""

import linecache
import re
import runpy
import sys
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from autograder.build.lesson import ROOT, Cell, Lesson, read_cells
from autograder.exercises import exercises_of
from autograder.judge import Expected, cases_of, judge
from autograder.marks import find_regions, replace_marks, without_regions
from autograder.probe import probe
from autograder.schema.exercise import Exercise
from autograder.schema.mistake import edited
from autograder.values import Record
from autograder.verdict import Verdict

HEADING = re.compile(r"^(#+) (.+)$", re.M)
IMPORTS = """import math
import numpy as np
import torch
import torch.nn.functional as F
from torch import einsum, nn
"""


@dataclass(frozen=True)
class LessonSubject:
    """A lesson: its cells, its text, and the notebook that students get."""

    lesson: Lesson

    @property
    def name(self) -> str:
        return self.lesson.name

    @property
    def exercises(self) -> list[Exercise]:
        return exercises_of(self.lesson.name)

    @cached_property
    def cells(self) -> list[Cell]:
        return read_cells(self.lesson)

    def of_kind(self, *kinds: str) -> list[Cell]:
        return [cell for cell in self.cells if cell.kind in kinds]

    @cached_property
    def prose(self) -> str:
        """The lesson's text, including model answers and marking schemes, without the BEGIN and END marks."""
        text = "\n\n".join(cell.text for cell in self.cells if not cell.is_code)
        return re.sub(r"^### (BEGIN|END) .*$", "", text, flags=re.M)

    @cached_property
    def headings(self) -> list[tuple[int, str]]:
        """The level and the text of every heading."""
        return [(len(marks), text) for marks, text in HEADING.findall(self.prose)]

    @cached_property
    def sections(self) -> dict[str, str]:
        """A dict from each second-level heading to everything below it, including code."""
        parts = re.split(r"^## (.+)$", "\n\n".join(cell.text for cell in self.cells), flags=re.M)
        return dict(zip(parts[1::2], parts[2::2], strict=True))

    @cached_property
    def received(self) -> list[str]:
        """The texts of the cells that students get."""
        from autograder.build.notebooks import student_notebook

        return [cell.source for cell in student_notebook(self.lesson).cells]

    def exercise(self, exercise: Exercise) -> "ExerciseSubject":
        return ExerciseSubject(exercise, self)


@dataclass(frozen=True)
class ExerciseSubject:
    """An exercise: its cell in the lesson, answers to it, and the verdicts on them."""

    exercise: Exercise
    lesson: LessonSubject

    @property
    def name(self) -> str:
        return self.exercise.id

    @cached_property
    def cell(self) -> Cell | None:
        """The cell of the answer, or None if the lesson has no such cell."""
        cells = self.lesson.of_kind("exercise")
        return next((cell for cell in cells if cell.name == self.exercise.id), None)

    @cached_property
    def solution(self) -> list[str]:
        """The lines of the answer in the lesson, without indentation."""
        return hidden_lines(self.cell) if self.cell else []

    @cached_property
    def answers(self) -> dict[str, dict[str, Callable]]:
        """The RIGHT and the WRONG answers, each keyed by name."""
        return answers_to(self.exercise, answers_folder(self.lesson.lesson.root))

    @cached_property
    def expected(self) -> Expected:
        return Expected(self.exercise, cases_of(self.exercise))

    @cached_property
    def mistakes(self) -> list[Verdict]:
        """The verdict on each known mistake."""
        numbers = range(len(self.exercise.mistakes))
        return [self._judged(self.expected.run(number)[0]) for number in numbers]

    def verdicts(self, kind: str) -> dict[str, Verdict]:
        """Return the verdicts on the RIGHT or the WRONG answers, keyed by the answer's name."""
        if kind not in self._verdicts:
            answers = self.answers[kind].items()
            self._verdicts[kind] = {
                name: self._judged(probe(answer, self.expected.cases, self.exercise.procedure))
                for name, answer in answers
            }
        return self._verdicts[kind]

    @cached_property
    def _verdicts(self) -> dict[str, dict[str, Verdict]]:
        return {}

    def _judged(self, records: list[Record]) -> Verdict:
        return judge(self.exercise, self.expected.cases, records, expected=self.expected)


def hidden_lines(cell: Cell) -> list[str]:
    """Return, without indentation, those lines of a cell that students do not get."""
    return [line.strip() for region in find_regions(cell.text) for line in region.lines]


def shown_lines(cell: Cell) -> set[str]:
    """Return, without indentation, those lines of a cell that students do get."""
    text = cell.text
    for kind in {region.kind for region in find_regions(text)}:
        text = without_regions(text, kind)
    return set(map(str.strip, replace_marks(text, {}).split("\n")))


def answers_folder(root: Path) -> Path:
    """Return the folder of answers: in tests/ for the course itself, otherwise next to the exercises."""
    return root / "tests/answers" if root == ROOT else root / "answers"


def answers_to(exercise: Exercise, folder: Path) -> dict[str, dict[str, Callable]]:
    """Return the RIGHT and the WRONG answers to an exercise, each keyed by name, from TOPIC/NAME.py in
    `folder`. Both are empty if there is no such file.

    An answer in that file is a function or class, the source of one, or a dict of edits of the exercise's
    worked answer.
    """
    file = folder / exercise.topic / f"{exercise.name}.py"
    sys.path.insert(0, str(folder.parent))  # such files may import their neighbours
    try:
        known = runpy.run_path(str(file)) if file.is_file() else {}
    finally:
        sys.path.remove(str(folder.parent))
    return {kind: _answers(exercise, known.get(kind, {})) for kind in ("RIGHT", "WRONG")}


def _answers(exercise: Exercise, written: dict[str, Any]) -> dict[str, Callable]:
    return {name: _answer(exercise, one) for name, one in written.items()}


def _answer(exercise: Exercise, given: dict | str | Callable) -> Callable:
    if isinstance(given, dict):
        assert exercise.worked is not None, "they are edits of it"
        return edited(exercise.worked, given)
    return answer_in(IMPORTS + given, exercise.name) if isinstance(given, str) else given


def answer_in(text: str, name: str) -> Callable:
    """Execute `text` so that tracebacks can show its lines, and return the object called `name` that it
    defines.
    """
    linecache.cache["answer.py"] = (len(text), None, text.splitlines(keepends=True), "answer.py")
    names: dict[str, Any] = {"__name__": "answer"}
    exec(compile(text, "answer.py", "exec"), names)
    return names[name]
