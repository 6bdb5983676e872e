"""The interval in which a share lies, from few answers (Wilson 1927)."""

import math

from autograder.schema import VALUES, Case, Exercise


def wilson_interval(right, n, z=1.96):
    if n < 1 or not 0 <= right <= n:
        raise ValueError(f"{right} of {n} cannot be right")
    share, spread = right / n, z * z / n
    centre = share + spread / 2
    margin = math.sqrt(spread * (share * (1 - share) + spread / 4))
    low = 0.0 if right == 0 else (centre - margin) / (1 + spread)
    high = 1.0 if right == n else (centre + margin) / (1 + spread)
    return low, high


def reference(right, n, z=1.96):
    if n < 1 or not 0 <= right <= n:
        raise ValueError(f"{right} of {n} cannot be right")
    share, spread = right / n, z * z / n
    centre = share + spread / 2
    margin = math.sqrt(spread * (share * (1 - share) + spread / 4))
    low = 0.0 if right == 0 else (centre - margin) / (1 + spread)
    high = 1.0 if right == n else (centre + margin) / (1 + spread)
    return low, high


def cases(draw):
    yield Case("eight of ten", (8, 10), gradients=False)


EXERCISE = Exercise(
    number=7, minutes=10, difficulty=2,
    worked=wilson_interval,
    reference=reference,
    cases=cases,
    aspects={VALUES: 4},
    mistakes=(),
    hints=(),
)
