"""Finds suspicious names in a submission's code, read from its text.

Numbers cannot be forged, because the judge compares them outside. Which operations made them is observed by hooks in
the student's own process (autograder.probe.observe), which code with enough reach could silence or go around. So if a
student's cell names the grader's inner modules, no rule of form counts as kept; and if an answer under such a rule, or
code that it uses, is not plain Python with PyTorch and a few other modules (ANSWERS; for other cells CELLS), a person
is asked to look at it. The lists say what is allowed, and the cell of an exercise may also use what the exercise's own
worked answer does; every other name is reported. No points are taken for a name.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from textwrap import dedent, shorten
from typing import TYPE_CHECKING

from autograder.grading.submission.allowed_names import ANSWERS, CELLS
from autograder.grading.submission.names_in_code import GRADER, Reader, imported

if TYPE_CHECKING:
    from autograder.schema.exercise import Exercise

MOST_NAMES, LONGEST_NAME = 4, 30


@dataclass(frozen=True)
class SuspiciousNames:
    """Names of the grader's modules, of what no cell needs, and, by exercise, of what no answer needs."""

    grader: list[str]
    cells: list[str]
    answers: dict[str, list[str]]

    def text(self, earned: list[str], reasons: Sequence[str] = ()) -> str:
        """The request to a teacher to look at the code, if points were earned under a rule of form in the exercises
        `earned`, or for other `reasons`, which say what it does; empty if there is nothing to look at."""
        names = sorted({*self.grader, *self.cells}.union(*(self.answers.get(name, ()) for name in earned)))
        some = ", ".join(shorten(name, LONGEST_NAME, placeholder="...") for name in names[:MOST_NAMES])
        more = f" and {len(names) - MOST_NAMES} more" if len(names) > MOST_NAMES else ""
        said = [*reasons, f"reaches for {some}{more}"] if names else reasons
        return f"look at its code, which {' and '.join(said)}" if said else ""


def suspicious_names(
    cells: list[str],
    answers: dict[str, list[str]],
    given: Sequence[str] = (),
    asked: Mapping[str, Sequence[Exercise]] = {},
) -> SuspiciousNames:
    """The suspicious names in the student's cells. `answers` has, by exercise, those of them that its answer needs;
    `given` are the lesson's own cells, whose imports they use; `asked` has, by cell, the exercises answered there."""
    modules: dict[str, str] = {}
    for text in (*given, *cells):
        modules |= imported(text)

    def names(texts: list[str], allowed: frozenset[str]) -> set[str]:
        found: set[str] = set()
        for text in texts:
            needed = frozenset().union(*(_needed(one.worked, allowed) for one in asked.get(text, ())))
            found |= set(Reader(modules, allowed).names_in(text)) - needed
        return found

    found = names(cells, CELLS)
    grader = {name for name in found if name.startswith(f"{GRADER}.")}
    strict = {exercise: sorted(names(texts, ANSWERS) - grader) for exercise, texts in answers.items()}
    return SuspiciousNames(sorted(grader), sorted(found - grader), strict)


@cache
def _needed(worked: Callable | None, allowed: frozenset[str]) -> frozenset[str]:
    """The names beyond `allowed` that an exercise's worked answer uses."""
    return (
        frozenset(Reader({}, allowed).names_in(dedent(inspect.getsource(worked)))) if worked else frozenset()
    )
