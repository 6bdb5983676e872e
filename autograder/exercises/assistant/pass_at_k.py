"""pass@k: the chance that k answers drawn from n include a right one, given how many of the n are right (Chen
et al. 2021).
"""

import math
from fractions import Fraction

import torch  # noqa: F401 (the mistakes use it)

from autograder.schema import EXACT, REFUSALS, STABILITY, VALUES, Case, Exercise, close, edit

ENDS = "certain and impossible"
ROUGHLY, EXACTLY = close(1e-1), close(1e-5)  # times the tolerance of 1e-4


def pass_at_k(n, right, k):
    if not 1 <= k <= n or not 0 <= right <= n:
        raise ValueError(f"cannot draw {k} of {n} answers, {right} of them right")
    none_right = math.comb(n - right, k) / math.comb(n, k)
    return 1 - none_right


def reference(n, right, k):
    if k < 1 or k > n or right < 0 or right > n:
        raise ValueError("there are not so many answers")
    # The chance that none is right, as a product. Swapping k and `right` changes nothing; the smaller gives
    # fewer factors.
    none_right = Fraction(1)
    for drawn in range(min(k, right)):
        none_right *= Fraction(n - max(k, right) - drawn, n - drawn)
        if none_right == 0:
            break
    return float(1 - none_right)


def cases(draw):
    yield _case("two of four are right, and two are drawn", 4, 2, 2, needs=("several",))
    yield _case("one answer is drawn", 10, 3, 1)
    yield _case("one of two", 2, 1, 1)
    yield _case("one is right", 12, 1, 5, needs=("several",))
    yield _case("all but one are drawn", 9, 1, 8, needs=("several",))
    yield _case("few are drawn of many", 200, 13, 10, expect=EXACTLY, needs=("several", "digits"))
    n = int(draw.integers(30, 60, 1))
    yield _case("numbers drawn at random", n, int(draw.integers(2, 8, 1)), int(draw.integers(2, 12, 1)), expect=EXACTLY,
                needs=("several", "digits"))
    yield _case("as many wrong as are drawn", 12, 7, 5, needs=("several",))
    yield _case("as many right as are drawn", 40, 8, 8, expect=EXACTLY, needs=("several", "digits"))
    many = {"aspect": STABILITY, "expect": EXACTLY, "needs": ("several", "digits", "many")}
    for n, right, k in ((1000, 3, 100), (2000, 500, 7), (10_000, 1, 5000), (10_000, 10, 600), (10_000, 5000, 2),
                        (10_000, 2, 9990), (10_000, 9000, 1000), (10_000, 37, 1)):
        yield _case(f"{right:,} of {n:,} right, {k:,} drawn", n, right, k, **many)
    ends = {"aspect": ENDS, "needs": ("ends",)}
    for n, right, k in ((5, 0, 1), (5, 0, 5), (9, 0, 6), (10_000, 0, 100), (10_000, 0, 9601), (1, 0, 1), (1, 1, 1),
                        (7, 7, 1), (7, 7, 7), (9, 5, 5), (9, 1, 9), (10_000, 6000, 4001), (10_000, 1, 10_000),
                        (12, 8, 6)):
        yield _end(f"{right:,} of {n:,} right, {k:,} drawn, exactly", n, right, k, **ends)
    refused = {"raises": "ValueError", "aspect": REFUSALS}
    for family, n, right, k in (("none is drawn", 5, 2, 0), ("-1 drawn", 5, 2, -1),
                                ("more are drawn than there are", 5, 2, 6), ("no answers", 0, 0, 1), ("nothing at all",
                                0, 0, 0),
                                ("more right than there are", 5, 6, 2), ("fewer right than none", 5, -1, 2)):
        yield _case(family, n, right, k, **refused)


def _case(family, *numbers, expect=ROUGHLY, **more):
    return Case(family, numbers, gradients=False, expect=expect, **more)


def _end(family, n, right, k, **more):
    """Return a case in which the chance is exactly 0 or 1."""
    return Case(family, (n, right, k), gradients=False, expect=EXACT, **more)


REFUSE = "if not 1 <= k <= n or not 0 <= right <= n:"
NONE, LAST = "math.comb(n - right, k) / math.comb(n, k)", "return 1 - none_right"

EXERCISE = Exercise(
    number=8, minutes=8, difficulty=2,
    worked=pass_at_k,
    reference=reference,
    cases=cases,
    standard=("by name",),
    aspects={VALUES: 3, STABILITY: 1, ENDS: 1, REFUSALS: 1},
    mistakes=(
        edit("drawn with replacement", {NONE: "(1 - right / n) ** k"},
             "You draw with replacement: the same answer can be drawn again.",
             "After one wrong answer has been drawn, how many answers are left, and how many of them are "
             "wrong?"),
        edit("the share of right answers", {LAST: "return right / n"},
             "Your chance does not depend on k.",
             "Does the chance rise or fall when two answers are drawn instead of one?"),
        edit("k times the share", {LAST: "return min(1.0, k * right / n)"},
             "You add up the chances of the k answers.", "Can more than one of the drawn answers be right?"),
        edit("k times the share", {LAST: "return k * right / n"}),
        edit("k times the share", {LAST: "return min(1.0, right / k)"},
             "You divide the number of right answers by k.",
             "Does the chance rise or fall when more answers are drawn?"),
        edit("none is right", {LAST: "return none_right"},
             "You return the chance that none of the drawn answers is right.",
             "What is the opposite of \"none is right\"?"),
        edit("all are right", {NONE: "1 - math.comb(right, k) / math.comb(n, k)"},
             "You return the chance that all drawn answers are right.",
             'What is the opposite of "at least one is right"?'),
        edit("all are right", {LAST: "return math.comb(right, k) / math.comb(n, k)"}),
        edit("one of those drawn is not right", {NONE: "math.comb(right, k) / math.comb(n, k)"},
             "You return the chance that at least one drawn answer is wrong.",
             "If none of the drawn answers is right, which answers were they drawn from?"),
        edit("exactly one is right", {LAST: "return right * math.comb(n - right, k - 1) / math.comb(n, k)"},
             "You return the chance that exactly one drawn answer is right.", "Do two right answers count as well?"),
        edit("ordered draws over unordered ones", {NONE: "math.perm(n - right, k) / math.comb(n, k)"},
             "You count ordered draws in the numerator and unordered ones in the denominator.",
             "Does the order of the k answers count in C(n, k)?"),
        edit("one wrong answer too few", {NONE: "math.comb(max(n - right - 1, 0), k) / math.comb(n, k)"},
             "You count one wrong answer too few.", "How many of n answers are wrong?"),
        edit("one answer more is drawn", {NONE: "math.comb(n - right, k + 1) / max(math.comb(n, k + 1), 1)"},
             "You draw one answer too many.", "How many answers should be drawn?"),
        edit("one wrong answer too few",
             {NONE: "math.prod(1 - k / i for i in range(n - right, n + 1) if i >= k and i > 0)"}),
        edit("numbers too large", {NONE: "float(math.comb(n - right, k)) / float(math.comb(n, k))"},
             "For many answers, your numbers are too large for a float.",
             "The largest float is about 1e308. How large is C(10000, 5000)?"),
        edit("numbers too large", {NONE: "math.exp(math.lgamma(n - right + 1) - math.lgamma(k + 1) - math.lgamma(n "
             "- right - k + 1)) / "
                                         "math.exp(math.lgamma(n + 1) - math.lgamma(k + 1) - math.lgamma(n - k + "
                                         "1)) if n - right >= k else 0.0"}),
        edit("numbers too large", {NONE: "(torch.arange(n - right, n - right - k, -1).double().prod() / "
                                         "torch.arange(n, n - k, -1).double().prod()).item() if n - right >= k else "
                                         "0.0"}),
        edit("exact to seven digits", {NONE: "(1 - k / torch.arange(n - right + 1, n + "
             "1)).clamp(min=0).prod().item() if right else 1.0"},
             "Your chance is exact to seven digits only.", "Which line computes or stores a number in float32?"),
        edit("exact to seven digits", {LAST: "return float(torch.tensor(1 - none_right))"}),
        edit("rounded", {LAST: "return round(1 - none_right, 4)"},
             "You round the chance.", "Does the docstring ask for a rounded result?"),
        edit("not exactly one",
             {NONE: "math.exp(math.lgamma(n - right + 1) + math.lgamma(n - k + 1) - math.lgamma(n + 1) - "
                    "math.lgamma(max(n - right - k, 0) + 1))"},
             "When fewer than k answers are wrong, you do not return 1.",
             "If fewer than k answers are wrong, can all k drawn answers be wrong?"),
        edit("fewer wrong than drawn are not foreseen",
             {NONE: "math.prod((n - right - i) / (n - i) for i in range(k) if n - right - i > 0)"},
             "When fewer than k answers are wrong, you do not return 1.",
             "If fewer than k answers are wrong, can all k drawn answers be wrong?"),
        edit("whole numbers at the ends", {"    none_right": "    if right == 0:\n        return 0\n    none_right"},
             "You return an int when none is right.", "What type should the result have?"),
        edit("whole numbers at the ends", {"    none_right": "    if n - right < k:\n        return 1\n    "
             "none_right"},
             "You return an int when fewer than k answers are wrong.", "What type should the result have?"),
        edit("whole numbers at the ends", {LAST: "return 1 - none_right if 0 < none_right < 1 else int(1 - "
             "none_right)"},
             "You return an int when the chance is 0 or 1.", "What type should the result have?"),
        edit("certain if as many are wrong", {"    none_right": "    if n - right <= k:\n        return 1.0\n    "
             "none_right"},
             "When exactly k answers are wrong, your chance is 1.", "Can all k drawn answers be wrong then?"),
        edit("a tensor", {LAST: "return torch.tensor(1 - none_right, dtype=torch.float64)"},
             "You return a tensor.", "What type should the result have?"),
        edit("a percentage", {LAST: "return 100 * (1 - none_right)"},
             "You return a percentage.", "Between which two numbers does a chance lie?"),
        edit("any k is taken", {REFUSE: "if not 0 <= right <= n:",
             NONE: "math.comb(n - right, abs(k)) / max(math.comb(n, abs(k)), 1)"},
             "You raise no ValueError for an impossible k.",
             "What are the smallest and the largest k that n answers allow?"),
        edit("any k is taken", {REFUSE: "if k > n or not 0 <= right <= n:",
             NONE: "math.comb(n - right, abs(k)) / math.comb(n, abs(k))"},
             "You raise no ValueError for a k below 1.", "What is the smallest number of answers that can be drawn?"),
        edit("any k is taken", {REFUSE: "if k < 1 or not 0 <= right <= n:",
             NONE: "math.comb(n - right, k) / max(math.comb(n, k), 1)"},
             "You raise no ValueError for a k above n.",
             "What is the largest number of answers that can be drawn from n?"),
        edit("drawing nothing is allowed", {REFUSE: REFUSE.replace("1 <= k", "0 <= k")},
             "You raise no ValueError for a k of 0.", "What is the smallest number of answers that can be drawn?"),
        edit("any number of right answers is taken", {REFUSE: "if not 1 <= k <= n:",
             NONE: "math.comb(max(n - right, 0), k) / math.comb(n, k)"},
             "You raise no ValueError for a `right` that is negative or above n.",
             "Between which numbers must `right` lie?"),
        edit("any number of right answers is taken", {REFUSE: "if not 1 <= k <= n or right > n:"},
             "You raise no ValueError for a negative `right`.", "Between which numbers must `right` lie?"),
        edit("any number of right answers is taken", {REFUSE: "if not 1 <= k <= n or right < 0:",
             NONE: "math.comb(max(n - right, 0), k) / math.comb(n, k)"},
             "You raise no ValueError for a `right` above n.", "Between which numbers must `right` lie?"),
        edit("drawing all is refused", {REFUSE: REFUSE.replace("k <= n", "k < n")},
             "You raise an error when all n answers are drawn.", "Which values of k should raise a ValueError?"),
    ),
    needs={
        "ends": ("Your answer is wrong only when the chance is exactly 0 or 1.",
                 "What should the result be if no answer is right, and what if fewer than k are wrong?"),
        "many": ("Your result is wrong only for a large n.",
                 "How large do your numbers become, and how exact are they?"),
        "digits": ("Your result is wrong only for a large n, or beyond the fifth digit.",
                   "Which of your numbers are in float32, and how many digits does float32 hold?"),
        "several": ("Your answer is wrong only when several answers are drawn.",
                    "After one wrong answer has been drawn, how many answers are left, and how many of "
                    "them are wrong?"),
        "": ("Even for a single answer your chance is wrong.",
             "Three of ten answers are right, and one is drawn. What is the chance that it is right?"),
    },
    hints=(
        "Take four answers a, b, c, d, of which a and b are right. List the six pairs. In how many of them are both "
        "answers wrong?",
        "Count the opposite: in how many ways can you draw k answers that are all wrong, and in how many "
        "ways any k answers? `math.comb` counts them in integers of any size, and dividing two such "
        "integers with `/` gives the nearest float.",
        "In outline: raise ValueError for impossible numbers; count the ways to draw k of the wrong answers "
        "and the ways to draw k of all; return one minus the ratio.",
    ),
)
