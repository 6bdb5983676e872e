"""Conditions on the outputs of several cases, each with a message for answers that match no known mistake.

The arguments `first`, `second` and `family` name families of cases, for instance two that differ in one
sample or in one token. The tests are in `autograder.judge.invariants`.
"""

from autograder.schema.exercise import Invariant


def samples_apart(first: str, second: str) -> Invariant:
    """Require that two cases have the same output for their first sample. The inputs of the cases differ in
    all samples but the first.
    """
    return Invariant(
        "samples apart",
        (first, second),
        "Changing one sample changes the output of another.",
        "Which step mixes two samples?",
    )


def past_only(first: str, second: str) -> Invariant:
    """Require that two cases under a causal mask, whose inputs differ only in the last token, have the same
    outputs for all earlier tokens.
    """
    return Invariant(
        "past only",
        (first, second),
        "Under a causal mask, changing the last token changes the output of an earlier one.",
        "Which step lets an earlier token see the last one?",
    )


def shares_sum_to_one(family: str) -> Invariant:
    """Require that every output is 1 in a case in which every value is 1."""
    return Invariant(
        "shares sum to one",
        (family,),
        "When every value is 1, some of your outputs are not 1: the weights of a query do not sum to one.",
        "What should the weights of one query sum to, over the keys that it may attend to?",
    )


def doubles(first: str, second: str, observation: str, question: str) -> Invariant:
    """Require that the number returned in the second case is twice the number returned in the first."""
    return Invariant("doubles", (first, second), observation, question)


def one_factor(observation: str, question: str) -> Invariant:
    """Require that the returned numbers, or at least the large ones, are not all off by the same factor."""
    return Invariant("one factor", (), observation, question)
