"""The chance that one of k answers is right (Chen et al. 2021)."""

import math

from autograder.schema import VALUES, Case, Exercise


def pass_at_k(n, right, k):
    if not 1 <= k <= n or not 0 <= right <= n:
        raise ValueError(f"cannot draw {k} of {n} answers, {right} of them right")
    none_right = math.comb(n - right, k) / math.comb(n, k)
    return 1 - none_right


def reference(n, right, k):
    if not 1 <= k <= n or not 0 <= right <= n:
        raise ValueError(f"cannot draw {k} of {n} answers, {right} of them right")
    none_right = math.comb(n - right, k) / math.comb(n, k)
    return 1 - none_right


def cases(draw):
    yield Case("two of four", (4, 2, 2), gradients=False)


EXERCISE = Exercise(
    number=8, minutes=10, difficulty=2,
    worked=pass_at_k,
    reference=reference,
    cases=cases,
    aspects={VALUES: 4},
    mistakes=(),
    hints=(),
)
