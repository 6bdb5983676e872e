"""The parts of an exercise: cases, mistakes, rules, hints. These are data classes; no exercise is defined
here.

    case        a question that is put to an answer; `standard` makes the cases that many exercises share
    draw        seeded random inputs of cases
    mistake     wrong answers as edits of a worked one, with a tutor's words
    invariants  conditions on the results of several cases
    exercise    an exercise, which holds all of these
    packed      cases as bytes, for the process in which an answer runs
    recorded    exercises as data without answers, for students of a graded course

An exercise's file imports what it needs from here.
"""

from autograder.schema.case import (
    CALLS_OF,
    DTYPES,
    FULLY_MASKED,
    GRADIENTS,
    IN_DOUBLE,
    REFUSALS,
    SIDE_EFFECTS,
    STABILITY,
    VALUES,
    Call,
    Case,
    Given,
    Kept,
    Module,
    Optimizer,
    Seed,
    Work,
)
from autograder.schema.exercise import Exercise, Rules
from autograder.schema.invariants import doubles, one_factor, past_only, samples_apart, shares_sum_to_one
from autograder.schema.mistake import edit, fitting, wrong
from autograder.schema.standard import FROM_TABLES, standard_cases
from autograder.values.compare import EXACT, ONE_OF, SAME_ROWS, SAME_SET, close

__all__ = [
    "CALLS_OF",
    "DTYPES",
    "EXACT",
    "FROM_TABLES",
    "FULLY_MASKED",
    "GRADIENTS",
    "IN_DOUBLE",
    "ONE_OF",
    "REFUSALS",
    "SAME_ROWS",
    "SAME_SET",
    "SIDE_EFFECTS",
    "STABILITY",
    "VALUES",
    "Call",
    "Case",
    "Exercise",
    "Given",
    "Kept",
    "Module",
    "Optimizer",
    "Rules",
    "Seed",
    "Work",
    "close",
    "doubles",
    "edit",
    "fitting",
    "one_factor",
    "past_only",
    "samples_apart",
    "shares_sum_to_one",
    "standard_cases",
    "wrong",
]
