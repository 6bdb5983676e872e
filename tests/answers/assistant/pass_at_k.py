"""Answers to assistant.pass_at_k."""

import math
from fractions import Fraction

import numpy as np


def codex(n, right, k):
    """As in the paper's own code."""
    if not (1 <= k <= n and 0 <= right <= n):
        raise ValueError("impossible")
    if n - right < k:
        return 1.0
    return float(1.0 - np.prod(1.0 - k / np.arange(n - right + 1, n + 1)))


def one_by_one(n, right, k):
    if k < 1 or k > n or right < 0 or right > n:
        raise ValueError("impossible")
    none = 1.0
    for drawn in range(k):
        none *= max(n - right - drawn, 0) / (n - drawn)
    return 1.0 - none


def fraction(n, right, k):
    if not 1 <= k <= n or not 0 <= right <= n:
        raise ValueError("impossible")
    return float(1 - Fraction(math.comb(n - right, k), math.comb(n, k)))


def logarithms(n, right, k):
    if not 1 <= k <= n or right not in range(n + 1):
        raise ValueError("impossible")
    if right == 0:
        return 0.0
    if n - right < k:
        return 1.0
    return -math.expm1(sum(math.log1p(-k / i) for i in range(n - right + 1, n + 1)))


def gammas(n, right, k):
    if not 1 <= k <= n or not 0 <= right <= n:
        raise ValueError("impossible")
    if right == 0 or n - right < k:
        return float(right > 0)
    g = math.lgamma
    return 1 - math.exp(g(n - right + 1) - g(n - right - k + 1) - g(n + 1) + g(n - k + 1))


def integers(n, right, k):
    if not 1 <= k <= n or not 0 <= right <= n:
        raise ValueError("impossible")
    ways = math.comb(n, k)
    return (ways - math.comb(n - right, k)) / ways


RIGHT = {kind.__name__: kind for kind in (codex, one_by_one, fraction, logarithms, gammas, integers)}
LAST, NONE = "return 1 - none_right", "math.comb(n - right, k) / math.comb(n, k)"
WRONG = {
    "a fraction": {LAST: "from fractions import Fraction\n    return Fraction(1 - none_right)"},
    "a tuple": {LAST: "return (1 - none_right,)"},
    "a text": {LAST: "return str(1 - none_right)"},
    "power of the share": {NONE: "((n - right) / n) ** k if k > 1 else 1 - right / n"},
    "one of k only": {LAST: "return right / n if k == 1 else 1 - (1 - right / n) ** k"},
    "a thousand at most": {"    none_right =": "    n = min(n, 1000)\n    right, k = min(right, n), min(k, n)\n    "
    "none_right ="},
    "out of n - 1": {NONE: "math.comb(n - right, k) / max(math.comb(n - 1, k), 1)"},
    "an error of another kind": {"raise ValueError": "raise IndexError"},
    "all right by k": {LAST: "return (right / n) ** k"},
    "integer division": {NONE: "math.comb(n - right, k) // math.comb(n, k)"},
    "never certain": {LAST: "return min(1 - none_right, 1 - 1e-12)"},
    "gammas of float32": {
        NONE: "torch.exp(sum(s * torch.lgamma(torch.tensor(i + 1.0)) for s, i in ((1, n - right), (-1, n - right - k), "
        "(-1, n), (1, n - k)))).item() if 0 < right <= n - k else float(right == 0)"
    },
    "gammas that do not cancel": {
        NONE: "math.exp(math.lgamma(n - right + 1) - math.lgamma(n - right - k + 1) - math.lgamma(n + 1) + "
        "math.lgamma(n - k + 1)) if n - right >= k else 0.0"
    },
}
