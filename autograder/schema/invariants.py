"""Conditions on the outputs of several cases, with a message for answers that have no known mistake.

Their arguments are families of cases, for instance two that differ in one sample or in one token. The tests
are in `autograder.judge.invariants`.
"""

from autograder.schema.exercise import Invariant


def samples_apart(first: str, second: str) -> Invariant:
    """Require that two cases that differ in all samples but the first agree in the first."""
    return Invariant(
        "samples apart",
        (first, second),
        "Changing one sample changes the output of another.",
        "Which step mixes two samples?",
    )


def past_only(first: str, second: str) -> Invariant:
    """Require that two cases under a causal mask that differ in the last token agree in all tokens before
    it."""
    return Invariant(
        "past only",
        (first, second),
        "Under a causal mask, changing the last token changes the output of an earlier one.",
        "Which step lets an earlier token see the last one?",
    )


def shares_sum_to_one(family: str) -> Invariant:
    """Require that every output is 1 in a case whose values are all 1."""
    return Invariant(
        "shares sum to one",
        (family,),
        "When every value is 1, some of your outputs are not 1: the weights of a query do not sum to one.",
        "What should the weights of one query sum to, over the keys that it may attend to?",
    )


def doubles(first: str, second: str, observation: str, question: str) -> Invariant:
    """Require that the number returned in the second case is twice that of the first."""
    return Invariant("doubles", (first, second), observation, question)


def one_factor(observation: str, question: str) -> Invariant:
    """Require that the large numbers returned are not all off by the same factor."""
    return Invariant("one factor", (), observation, question)
