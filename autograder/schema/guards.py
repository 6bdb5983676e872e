"""What an author must not get wrong: refused when the exercise is loaded or its cases are drawn, in one sentence."""

import re
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from autograder.errors import UserError
from autograder.schema.case import Case

if TYPE_CHECKING:
    from autograder.schema.exercise import Exercise

# The names of aspects and needs are read by people: words, and no code.
WORDS = re.compile(r"[a-z][A-Za-z0-9' ,-]*")


def refuse_names_of_code(exercise: "Exercise") -> None:
    """Raises UserError if an aspect or a need is named like a piece of code: a constant that was bound twice."""
    code = {text for mistake in exercise.mistakes for text in mistake.edits}
    for kind, names in (("aspect", exercise.aspects), ("need", exercise.needs)):
        for name in filter(None, names):
            if name in code or not WORDS.fullmatch(name):
                raise UserError(f"{exercise.id}: the {kind} {name!r} is a piece of code; name it in plain words.")


def refuse_other_needs(exercise_id: str, needs: Mapping[str, Any], cases: Iterable[Case]) -> None:
    """Raises UserError unless the needs that have words are those of the cases."""
    needed = {need for case in cases for need in case.needs}
    for name in sorted(needs.keys() - needed - {""}):
        raise UserError(f"{exercise_id}: no case needs {name!r}; name it in a case, or take it out of `needs`.")
    for name in sorted(needed - needs.keys()):
        raise UserError(f"{exercise_id}: a case needs {name!r}, of which `needs` says nothing; write its sentences.")
