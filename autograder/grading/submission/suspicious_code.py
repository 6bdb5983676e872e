"""Finds suspicious names in a submission's code, read from its text.

Numbers cannot be forged, because the judge compares them outside. Which operations made them is observed by hooks in
the student's own process (autograder.probe.observe), which code with enough reach could silence or go around. So:

- if a student's cell names the grader's inner modules, no rule of form counts as kept;
- if an answer under a rule of form, or code that it uses, is not plain Python with PyTorch and a few modules of the
  standard library (ANSWERS), a person is asked to look at it;
- the same for the other cells of the student, with a longer list of modules (CELLS).

The lists say what is allowed; every other name is reported. No points are taken for a name.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from textwrap import shorten

from autograder.grading.submission.allowed_names import ANSWERS, CELLS
from autograder.grading.submission.names_in_code import GRADER, imported, names_in

MOST_NAMES, LONGEST_NAME = 4, 30


@dataclass(frozen=True)
class SuspiciousNames:
    """Names in a student's cells: of the grader's modules; of things that no cell needs; and, by exercise, of things
    that no answer needs."""

    grader: tuple[str, ...] = ()
    cells: tuple[str, ...] = ()
    answers: dict[str, tuple[str, ...]] = field(default_factory=dict)

    def text(self, earned: list[str]) -> str:
        """The request to a teacher to look at the code, if points were earned under a rule of form in the exercises
        `earned`; empty if there is nothing to look at."""
        names = sorted({*self.grader, *self.cells}.union(*(self.answers.get(name, ()) for name in earned)))
        some = ", ".join(shorten(name, LONGEST_NAME, placeholder="...") for name in names[:MOST_NAMES])
        more = f" and {len(names) - MOST_NAMES} more" if len(names) > MOST_NAMES else ""
        return f"look at its code, which reaches for {some}{more}" if names else ""

    @staticmethod
    def from_data(data: dict) -> "SuspiciousNames":
        """The names that `dataclasses.asdict` was given, after their way as JSON."""
        answers = {exercise: tuple(names) for exercise, names in data["answers"].items()}
        return SuspiciousNames(tuple(data["grader"]), tuple(data["cells"]), answers)


def suspicious_names(cells: list[str], answers: dict[str, list[str]], given: Sequence[str] = ()) -> SuspiciousNames:
    """The suspicious names in the student's cells. `answers` has, by exercise, those of them that its answer needs;
    `given` are the lesson's own cells, whose imports they use."""
    modules: dict[str, str] = {}
    for text in (*given, *cells):
        modules |= imported(text)
    found = {name for text in cells for name in names_in(text, modules, CELLS)}
    grader = {name for name in found if name.startswith(f"{GRADER}.")}
    strict = {
        exercise: tuple(sorted({name for text in texts for name in names_in(text, modules, ANSWERS)} - grader))
        for exercise, texts in answers.items()
    }
    return SuspiciousNames(tuple(sorted(grader)), tuple(sorted(found - grader)), strict)
