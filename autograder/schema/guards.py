"""Reports mistakes in an author's exercise, in one sentence each, when the exercise is loaded or its cases
are drawn.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from autograder.errors import UserError
from autograder.schema.case import GRADIENTS, SIDE_EFFECTS, Case
from autograder.schema.standard import FROM_TABLES

if TYPE_CHECKING:
    from autograder.schema.exercise import Exercise

# Names of aspects and needs are read by people, so they are words, not code.
WORDS = re.compile(r"[a-z][A-Za-z0-9' ,-]*")


def refuse_names_of_code(exercise: "Exercise") -> None:
    """Raise UserError if the name of an aspect or a need is a piece of code, as happens if the constant that
    holds the name is assigned again by mistake.
    """
    code = {text for mistake in exercise.mistakes for text in mistake.edits}
    for kind, names in (("aspect", exercise.aspects), ("need", exercise.needs)):
        for name in filter(None, names):
            if name in code or not WORDS.fullmatch(name):
                raise UserError(
                    f"{exercise.id}: the {kind} {name!r} is a piece of code; name it in plain words."
                )


def refuse_other_aspects(exercise: "Exercise", own_cases: Iterable[Case], cases: Iterable[Case]) -> None:
    """Raise UserError if one of the author's own cases belongs to an aspect that has no points, or if an
    aspect has no case. Gradients and side effects need no cases of their own, because they are checked in the
    cases of every aspect.
    """
    for name in sorted({case.aspect for case in own_cases} - exercise.aspects.keys()):
        raise UserError(
            f"{exercise.id}: a case has the aspect {name!r}, which earns no points; add it to `aspects`."
        )
    costs = {case.aspect for case in cases} | {GRADIENTS, SIDE_EFFECTS}
    for name in sorted(exercise.aspects.keys() - costs):
        raise UserError(
            f"{exercise.id}: no case has the aspect {name!r}; remove it from `aspects`, or add a case."
        )


def refuse_other_needs(exercise_id: str, needs: Mapping[str, Any], cases: Iterable[Case]) -> None:
    """Raise UserError unless `needs` has sentences for exactly those needs that the cases name (and perhaps
    for "").
    """
    needed = {need for case in cases for need in case.needs}
    for name in sorted(needs.keys() - needed - {""}):
        raise UserError(
            f"{exercise_id}: no case has the need {name!r}; name it in a case, or remove it from `needs`."
        )
    for name in sorted(needed - needs.keys()):
        raise UserError(
            f"{exercise_id}: a case has the need {name!r}, which is not in `needs`; write its two sentences there."
        )


def refuse_what_judges_nothing(exercise: "Exercise", own_cases: Sequence[Case]) -> None:
    """Raise UserError for a case, a rule or a limit that could never make an answer fail."""
    for sentence in _judges_nothing(exercise, own_cases):
        raise UserError(f"{exercise.id}: {sentence}")


def _judges_nothing(exercise: "Exercise", own_cases: Sequence[Case]) -> Iterator[str]:
    # Parameters with one axis may be all zeros or all ones, as those of a norm or a bias are.
    weights = own_cases[0].weights.values()
    if "new" in exercise.standard and not any(weight.dim() > 1 and weight.numel() > 1 for weight in weights):
        yield (
            'the standard case "new" judges parameters of two or more axes, but the first case has no such weights; '
            'remove "new" from `standard`.'
        )
    if any(case.float64 for case in own_cases) and not {"float64", FROM_TABLES} & set(exercise.standard):
        yield 'a case has float64=True, but "float64" is not in `standard`; add it there, or remove it from the case.'
    if exercise.rules.loops in ("required", "forbidden") and sum(case.observe for case in own_cases) < 2:
        yield "`rules.loops` is judged in a small and a larger case; set `observe` on two of the cases."
    for case in own_cases:
        if (case.entries or case.work) and not case.observe:
            yield f"the case {case.family!r} has a limit that is checked only with `observe`; set `observe` too."


def refuse_other_families(exercise: "Exercise", cases: Sequence[Case]) -> None:
    """Raise UserError if an invariant, or the `work` of a case, names a case that does not exist."""
    families = {case.family for case in cases}
    named = [name for invariant in exercise.invariants for name in invariant.families]
    named += [case.work.beyond for case in cases if case.work and case.work.beyond]
    for name in sorted(set(named) - families):
        raise UserError(
            f"{exercise.id}: an invariant or a limit of work names the case {name!r}, which does not exist."
        )
