"""Answers to assistant.wilson_interval."""

import math
from decimal import Decimal, localcontext


def textbook(right, n, z=1.96):
    if n <= 0 or right < 0 or right > n:
        raise ValueError("impossible")
    p = right / n
    d = 1 + z**2 / n
    c = p + z**2 / (2 * n)
    m = z * math.sqrt(p * (1 - p) / n + z**2 / (4 * n**2))
    return (c - m) / d if right else 0.0, (c + m) / d if right < n else 1.0


def by_counts(right, n, z=1.96):
    if not (n >= 1 and 0 <= right <= n):
        raise ValueError("impossible")
    z2 = z * z
    centre = (right + z2 / 2) / (n + z2)
    margin = z / (n + z2) * math.sqrt(right * (n - right) / n + z2 / 4)
    low, high = centre - margin, centre + margin
    if right == 0:
        low = 0.0
    if right == n:
        high = 1.0
    return low, high


def roots(right, n, z=1.96):
    """The two roots of the quadratic equation."""
    if n < 1 or right not in range(n + 1):
        raise ValueError("impossible")
    a, b, c = n + z**2, -(2 * right + z**2), right**2 / n
    root = (b * b - 4 * a * c) ** 0.5
    return (0.0 if right == 0 else (-b - root) / (2 * a)), (1.0 if right == n else (-b + root) / (2 * a))


def mirrored(right, n, z=1.96):
    if n < 1 or right < 0 or right > n:
        raise ValueError("impossible")

    def low(k):
        p, s = k / n, z * z / n
        return 0.0 if k == 0 else (p + s / 2 - math.sqrt(s * (p * (1 - p) + s / 4))) / (1 + s)

    return low(right), 1.0 - low(n - right)


def decimal(right, n, z=1.96):
    if n < 1 or not 0 <= right <= n:
        raise ValueError("impossible")
    with localcontext() as context:
        context.prec = 50
        k, m, s = Decimal(right), Decimal(n), Decimal(z) ** 2
        root = (s * (k * (m - k) / m + s / 4)).sqrt()
        low, high = (k + s / 2 - root) / (m + s), (k + s / 2 + root) / (m + s)
    return float(low) if right else 0.0, float(high) if right < n else 1.0


RIGHT = {kind.__name__: kind for kind in (textbook, by_counts, roots, mirrored, decimal)}
LAST = "return low, high"


def unbracketed(right, n, z=1.96):
    if n < 1 or right < 0 or right > n:
        raise ValueError("impossible")
    p, d = right / n, 1 + z**2 / n
    c = p + z**2 / 2 * n
    m = z * math.sqrt(p * (1 - p) / n + z**2 / (4 * n**2))
    return (c - m) / d if right else 0.0, (c + m) / d if right < n else 1.0


WRONG = {"unbracketed": unbracketed} | {
    "low alone": {LAST: "return low"},
    "three numbers": {LAST: "return low, right / n, high"},
    "a dict": {LAST: "return {'low': low, 'high': high}"},
    "texts": {LAST: "return f'{low}', f'{high}'"},
    "widened": {LAST: "return max(0.0, low - 0.5 / n), min(1.0, high + 0.5 / n)"},
    "one-sided": {LAST: "return low, 1.0"},
    "wrong answers instead": {"right / n": "(n - right) / n"},
    "an error of another kind": {"raise ValueError": "raise ZeroDivisionError"},
    "cubed": {"z * z / n": "z * z * z / n"},
    "of n squared": {"z * z / n": "z * z / n / n"},
    "integer share": {"right / n": "right // n"},
    "a thousand at most": {"    share, spread": "    right, n = (right, n) if n < 1000 else (right / n * 1000, "
    "1000)\n    share, spread"},
}
