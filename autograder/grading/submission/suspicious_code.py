"""Finds suspicious names in a submission's code, by reading its text.

Numbers cannot be forged, because the judge compares them in another process. But the operations that computed
the numbers are observed by hooks in the student's own process (autograder.probe.observe), and code with
enough access could silence or evade these hooks. An answer's side effects are also observed in that process,
so they could be hidden in the same way.

Therefore no rule of form (such as "no loops") counts as satisfied if a student's cell names the autograder's
inner modules. Other names that are not allowed (see names_in_code) cost no points, but a teacher is asked to
look at the code. Fewer names are allowed in answers to exercises with rules of form than in other cells. A
cell may also use the names that the worked answer to its own exercise uses.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from textwrap import dedent, shorten
from typing import TYPE_CHECKING

import autograder
from autograder.grading.submission.allowed_names import IN_ANSWERS, IN_CELLS
from autograder.grading.submission.cell_code import bindings_in
from autograder.grading.submission.names_in_code import GRADER, names_in

if TYPE_CHECKING:
    from autograder.schema.exercise import Exercise

# The number of names, and of characters: a problem must fit on one line of the report.
MOST_NAMES, LONGEST_NAME, LONGEST_LIST = 4, 40, 40


@dataclass(frozen=True)
class SuspiciousNames:
    """Names that are not allowed. `grader` lists the autograder's own modules, `cells` lists other names in
    cells, and `answers` maps each exercise with rules of form to the names in its answer that are not allowed
    there.
    """

    grader: list[str]
    cells: list[str]
    answers: dict[str, list[str]]

    def text(self, earned: list[str], reasons: Sequence[str] = ()) -> str:
        """Return a request to the teacher to look at the code, or an empty string if there is no reason to. A
        suspicious name is a reason if it is in the cells, or in the answer to an exercise in `earned` (the
        exercises with rules of form that earned points). `reasons` lists further reasons.
        """
        names = sorted({*self.grader, *self.cells}.union(*(self.answers.get(name, ()) for name in earned)))
        said = [*reasons, f"reaches for {some_of(names)}"] if names else reasons
        return f"look at its code, which {' and '.join(said)}" if said else ""


def some_of(names: list[str]) -> str:
    """Return the first few names as text, as many as fit, followed by the number of names left out."""
    shown = [shorten(name, LONGEST_NAME, placeholder="...") for name in names[:MOST_NAMES]]
    while len(shown) > 1 and len(", ".join(shown)) > LONGEST_LIST:
        shown.pop()
    more = len(names) - len(shown)
    return ", ".join(shown) + (f" and {more} more" if more else "")


def suspicious_names(
    cells: list[str],
    answers: dict[str, list[str]],
    given: Sequence[str] = (),
    asked: Mapping[str, Sequence[Exercise]] = {},
) -> SuspiciousNames:
    """Return the suspicious names in the student's cells. `answers` maps each exercise to the cells that its
    answer needs. `given` are the lesson's own cells, whose imports are allowed. `asked` maps each cell to the
    exercises that are answered in it.
    """
    lesson, lists = _of_lesson(tuple(given))
    bindings = bindings_in([*given, *cells, *(text for texts in answers.values() for text in texts)])

    def names(texts: list[str], lists: str) -> set[str]:
        found: set[str] = set()
        for text in texts:
            needed = (_needed(one.worked, lists is IN_ANSWERS) for one in asked.get(text, ()))
            found |= names_in(text, bindings, lists).difference(*needed)
        return found

    found = names(cells, lists) - lesson
    grader = {name for name in found if name.startswith(f"{GRADER}.")}
    strict = {exercise: sorted(names(texts, IN_ANSWERS) - grader) for exercise, texts in answers.items()}
    return SuspiciousNames(sorted(grader), sorted(found - grader), strict)


@cache
def _of_lesson(given: tuple[str, ...]) -> tuple[set[str], str]:
    """Return the imported names that a lesson's own cells use although IN_CELLS does not allow them. Also
    return IN_CELLS, extended by the names that these cells import from this package. If the cells import a
    whole module, only the names that they use from it are allowed.
    """
    bindings = bindings_in(given)
    paths = bindings.paths
    ours = {path for path in paths.values() if path.startswith(f"{GRADER}.") and not _is_module(path)}
    lists = IN_CELLS + "".join("{0}: {2}\n".format(*path.rpartition(".")) for path in sorted(ours))
    found: set[str] = set().union(*(names_in(text, bindings, lists) for text in given))
    imported = {name for name in found if "." in name.rpartition(" ")[2][1:] or name in paths.values()}
    return imported, lists


def _is_module(path: str) -> bool:
    place = Path(autograder.__file__).parents[1].joinpath(*path.split("."))
    return place.is_dir() or place.with_suffix(".py").is_file()


@cache
def _needed(worked: Callable | None, strict: bool) -> frozenset[str]:
    """Return the names that an exercise's worked answer uses although they are not among the allowed names
    (IN_ANSWERS if `strict`, otherwise IN_CELLS).
    """
    if worked is None:
        return frozenset()
    text = dedent(inspect.getsource(worked))
    return frozenset(names_in(text, bindings_in([text]), IN_ANSWERS if strict else IN_CELLS))
