"""A confidence interval for a share, usable even with few answers (Wilson 1927)."""

import math

import torch  # noqa: F401 (the mistakes use it)

from autograder.schema import EXACT, REFUSALS, VALUES, Call, Case, Exercise, Given, Kept, close, edit

ENDS, SURE = "none right and all right", "another z"
EXACTLY = close(1e-5)  # times the tolerance of 1e-4


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
    if n < 1 or right < 0 or right > n:
        raise ValueError("more than all, or less than none")
    # The two roots of (right / n - x)^2 = z^2 x (1 - x) / n, times n; the smaller one without a subtraction.
    a, b, c = n + z * z, right + z * z / 2, right * right / n
    high = (b + math.sqrt(b * b - a * c)) / a
    return (c / (a * high), 1.0 if right == n else high)


def cases(draw):
    yield _case("half of the answers", 5, 10)
    yield _case("most of the answers", 8, 10, needs=("unequal",))
    yield _case("few of the answers", 1, 12, needs=("unequal",))
    yield _case("all but one", 11, 12, needs=("unequal",))
    yield _case("one of two", 1, 2)
    yield _case("one of three", 1, 3, needs=("unequal",))
    n = int(draw.integers(20, 300, 1))
    yield _case("some of a few hundred right", int(draw.integers(1, n - 1, 1)), n, needs=("unequal",))
    yield _case("many answers", 123_457, 1_000_000, needs=("unequal", "many"))
    yield _case("one of very many", 1, 1_000_000, needs=("unequal", "many"))
    yield _case("all but one of very many", 999_999, 1_000_000, needs=("unequal", "many"))
    sure = {"aspect": SURE, "needs": ("unequal", "z")}
    for z in (1.0, 1.645, 2.576, 0.05, 12.5):
        yield _case(f"a z of {z:g}", 7, 31, z, **sure)
    yield Case("z by name", (3, 7), {"z": 2.5758}, gradients=False, expect=EXACTLY, **sure)
    # With these numbers the usual forms of the formula give 1e-17 where the bound should be 0.
    for n in (1, 12, 22, 44, 128, 200, 1_000_000):
        for right in (0, n):
            family = f"{'all' if right else 'none'} of {n:,} right"
            yield _case(family, right, n, aspect=ENDS, needs=("ends",))
            yield _end(f"the bound itself: {family}", right, n, needs=("ends",))
    refused = {"raises": "ValueError", "aspect": REFUSALS}
    for family, right, n in (("no answers", 0, 0), ("-3 answers", 0, -3), ("more right than there are", 11,
        10),
                             ("-1 right of 10", -1, 10), ("1 right of 0", 1, 0),
                             ("-3 right of -2", -3, -2)):
        yield _case(family, right, n, **refused)
    # With a wide interval, the number under the root is still positive, so that the root does not fail.
    yield _case("more right than there are, a wide interval", 11, 10, 3.0, **refused)
    yield _case("-1 right of 10, a wide interval", -1, 10, 3.0, **refused)


def _case(family, right, n, *z, **more):
    return Case(family, (right, n, *z), gradients=False, expect=EXACTLY, **more)


def _end(family, right, n, **more):
    """Return a case in which either the lower bound is exactly 0 or the upper bound is exactly 1."""
    bound = "high" if right else "low"
    given = {"right": right, "n": n, "bound": Given("bound",
    "def bound(interval, place):\n    return interval[place]\n")}
    script = (Call((Kept("right"), Kept("n")), keep="interval", shown=False),
              Call((Kept("interval"), 1 if right else 0), to="bound", keep=bound))
    return Case(family, (), given, script=script, gradients=False, aspect=ENDS, expect={bound: EXACT}, **more)


REFUSE, SHARE, SPREAD = "if n < 1 or not 0 <= right <= n:", "right / n", "z * z / n"
CENTRE, MARGIN = "share + spread / 2", "math.sqrt(spread * (share * (1 - share) + spread / 4))"
LOW = "0.0 if right == 0 else (centre - margin) / (1 + spread)"
HIGH, LAST = "1.0 if right == n else (centre + margin) / (1 + spread)", "return low, high"
FREE = {LOW: LOW.partition(" else ")[2], HIGH: HIGH.partition(" else ")[2]}
WITHIN = {LAST: "return max(0.0, low), min(1.0, high)"}
WALD = "z * math.sqrt(share * (1 - share) / n)"

EXERCISE = Exercise(
    number=7, minutes=10, difficulty=2,
    worked=wilson_interval,
    reference=reference,
    cases=cases,
    standard=("by name",),
    aspects={VALUES: 3, ENDS: 1, SURE: 1, REFUSALS: 1},
    mistakes=(
        edit("the interval of the normal distribution", {LOW: f"max(0.0, share - {WALD})",
             HIGH: f"min(1.0, share + {WALD})"},
             "Your interval has no width if all answers are right.",
             "Ten of ten answers are right. Must the true share then be exactly 1?"),
        edit("the interval of the normal distribution", {LOW: f"share - {WALD}", HIGH: f"share + {WALD}"}),
        edit("two answers of each kind more",
             {SHARE: "(right + 2) / (n + 4)", LOW: "max(0.0, share - z * math.sqrt(share * (1 - share) / (n + 4)))",
              HIGH: "min(1.0, share + z * math.sqrt(share * (1 - share) / (n + 4)))"},
             "You add two right and two wrong answers and use the normal approximation.",
             "Which formula does the docstring give?"),
        edit("two answers of each kind more",
             {SHARE: "(right + z * z / 2) / (n + z * z)", LOW: "max(0.0, share - z * math.sqrt(share * (1 - share) "
             "/ (n + z * z)))",
              HIGH: "min(1.0, share + z * math.sqrt(share * (1 - share) / (n + z * z)))"},
             "Your centre is right, but your margin is that of the normal approximation.",
             "What is under the root in the formula?"),
        edit("not divided at the end", {LOW: LOW.replace(" / (1 + spread)", ""), HIGH: HIGH.replace(" / (1 + spread)",
             "")},
             "You do not divide by 1 + z^2/n.", "Which parts of the formula does its denominator divide?"),
        edit("not divided at the end", {LOW: LOW.replace(" / (1 + spread)", ""), HIGH: HIGH.replace(" / (1 + spread)",
             "")} | WITHIN),
        edit("only the centre is divided", {CENTRE: "(share + spread / 2) / (1 + spread)",
             LOW: LOW.replace(" / (1 + spread)", ""), HIGH: HIGH.replace(" / (1 + spread)", "")},
             "You divide the centre by 1 + z^2/n, but not the margin.",
             "Which parts of the formula does its denominator divide?"),
        edit("only the centre is divided", {CENTRE: "(share + spread / 2) / (1 + spread)",
             LOW: LOW.replace(" / (1 + spread)", ""), HIGH: HIGH.replace(" / (1 + spread)", "")} | WITHIN),
        edit("the margin is divided alone", {MARGIN: f"{MARGIN} / (1 + spread)",
             LOW: LOW.replace(" / (1 + spread)", ""), HIGH: HIGH.replace(" / (1 + spread)", "")},
             "You divide the margin by 1 + z^2/n, but not the centre.",
             "Which parts of the formula does its denominator divide?"),
        edit("the centre is not moved", {CENTRE: "share"},
             "You leave out z^2/2n in the centre.", "Towards which share does the centre move when n is small?"),
        edit("centred at the share", {CENTRE: "share * (1 + spread)"},
             "Your interval is symmetric around right / n.", "Which term moves the centre away from right / n?"),
        edit("centred at the share", {CENTRE: "share * (1 + spread)"} | WITHIN),
        edit("centred at the share", {CENTRE: "share * (1 + spread)", MARGIN: f"{MARGIN} * (1 + spread)"}),
        edit("centred at the share", {CENTRE: "share * (1 + spread)", MARGIN: f"{MARGIN} * (1 + spread)"} | WITHIN),
        edit("the centre is moved twice as far", {CENTRE: "share + spread"},
             "You add z^2/n to the centre, instead of half of it.",
             "By what does the formula divide z^2 in the centre?"),
        edit("multiplied by n", {CENTRE: "share + z * z / 2 * n"},
             "You multiply by n where the formula divides by it.",
             "In which order does Python compute z * z / 2 * n?"),
        edit("multiplied by n", {MARGIN: "z * math.sqrt((share * (1 - share) + z * z / 4 * n) / n)"}),
        edit("multiplied by n", {MARGIN: "z * math.sqrt(share * (1 - share) / n + z * z / 4 * n * n)"}),
        edit("z is not squared", {SPREAD: "z / n"},
             "Your z is not squared.", "Where does the formula square z?"),
        edit("z is not squared", {CENTRE: "share + z / n / 2"}),
        edit("z is missing in the margin", {MARGIN: "math.sqrt((share * (1 - share) + spread / 4) / n)"},
             "Your margin lacks its factor z.", "What is the root multiplied by in the formula?"),
        edit("a part of the root is missing", {MARGIN: "math.sqrt(spread * share * (1 - share))"},
             "You leave out z^2/(4n^2) under the root.", "How wide is your interval if all answers are right?"),
        edit("z squared by n", {MARGIN: "math.sqrt(spread * (share * (1 - share) + z * z / 4))"},
             "Under the root, you divide z^2 by 4n.",
             "Which power of n divides z^2 under the root of the formula?"),
        edit("z squared by n", {MARGIN: "math.sqrt(spread * (share * (1 - share) + z * z / 4))"} | WITHIN),
        edit("no root", {MARGIN: MARGIN.replace("math.sqrt", "")},
             "Your margin has no root.", "What does the formula take the square root of?"),
        edit("the wrong answers are counted", {SHARE: "(n - right) / n"},
             "Your interval is for the share of wrong answers.", "Which answers does p count?"),
        edit("n less one", {MARGIN: "math.sqrt(spread * (share * (1 - share) * n / max(n - 1, 1) + spread / 4))"},
             "You divide by n - 1.", "Which number does the formula divide by?"),
        edit("z is fixed", {SPREAD: "1.96 * 1.96 / n"},
             "A different z changes nothing in your result.", "Which line uses z?"),
        edit("another z unless one is given", {"z=1.96": "z=1.645"},
             "Your default for z is not 1.96.", "Which default does the signature give?"),
        edit("another z unless one is given", {"z=1.96": "z=2.0"}),
        edit("another z unless one is given", {"z=1.96": "z=1.959963984540054"},
             "Your default for z has more digits than 1.96.", "Which default does the signature give?"),
        edit("centre and margin", {LAST: "return centre / (1 + spread), margin / (1 + spread)"},
             "You return the centre and the margin.", "Which two numbers bound the interval?"),
        edit("high before low", {LAST: "return high, low"},
             "Your first number is the larger one.", "In which order does the docstring give the bounds?"),
        edit("a list", {LAST: "return [low, high]"},
             "You return a list.", "What type should the result have?"),
        edit("tensors", {LAST: "return torch.tensor(low), torch.tensor(high)"},
             "You return tensors.", "What type should the two numbers have?"),
        edit("tensors", {LAST: "return tuple(torch.tensor([low, high], dtype=torch.float64))"}),
        edit("one tensor", {LAST: "return torch.tensor([low, high])"},
             "You return a tensor.", "What type should the result have?"),
        edit("percentages", {LAST: "return 100 * low, 100 * high"},
             "Your bounds are percentages.", "Between which two numbers does a share lie?"),
        edit("rounded", {LAST: "return round(low, 4), round(high, 4)"},
             "You round the bounds.", "Does the docstring ask for rounded bounds?"),
        edit("of float32", {LAST: "return float(torch.tensor(low)), float(torch.tensor(high))"},
             "Your bounds are exact to seven digits only.", "What dtype does torch.tensor give a Python float?"),
        edit("the ends are not exact", FREE,
             ("Your lower bound is not exactly 0 when none is right, or your upper bound is not exactly 1 when all "
              "are."),
             "What does rounding leave of a difference that should be 0?"),
        edit("the ends are not exact", {LOW: f"max(0.0, {FREE[LOW]})", HIGH: f"min(1.0, {FREE[HIGH]})"}),
        edit("whole numbers at the ends", {LOW: LOW.replace("0.0", "0"), HIGH: HIGH.replace("1.0", "1")},
             "When none or all of the answers are right, one of your bounds is an int.",
             "What type should both bounds have?"),
        edit("no width at the ends", {"    share, spread": "    if right in (0, n):\n        return float(right > "
             "0), float(right > 0)\n    share, spread"},
             "When none or all of the answers are right, your interval has no width.",
             "Ten of ten answers are right. Must the true share then be exactly 1?"),
        edit("the whole range at the ends", {"    share, spread": "    if right in (0, n):\n        return 0.0, "
             "1.0\n    share, spread"},
             "When none or all of the answers are right, you return the whole range.",
             "Ten of ten answers are right. Is a true share of 1 in 100 still plausible?"),
        edit("no answers are taken", {REFUSE: "if not 0 <= right <= n:", SHARE: "right / max(n, 1)",
             SPREAD: "z * z / max(n, 1)"},
             "You raise no ValueError for an n of 0.",
             "What is the share of right answers when there are no answers?"),
        edit("any number of right answers is taken", {REFUSE: "if n < 1:",
             MARGIN: "abs(spread * (share * (1 - share) + spread / 4)) ** 0.5"},
             "You raise no ValueError for a `right` that is negative or above n.",
             "Between which numbers must `right` lie?"),
        edit("any number of right answers is taken", {REFUSE: "if n < 1 or right > n:",
             MARGIN: "abs(spread * (share * (1 - share) + spread / 4)) ** 0.5"},
             "You raise no ValueError for a negative `right`.", "Between which numbers must `right` lie?"),
        edit("any number of right answers is taken", {REFUSE: "if n < 1 or right < 0:",
             MARGIN: "abs(spread * (share * (1 - share) + spread / 4)) ** 0.5"},
             "You raise no ValueError for a `right` above n.", "Between which numbers must `right` lie?"),
        edit("the ends are refused", {REFUSE: "if n < 1 or not 0 < right < n:"},
             "You raise an error when none or all of the answers are right.",
             "Which numbers of right answers are possible?"),
    ),
    needs={
        "ends": ("Your answer is wrong only when none or all of the answers are right.",
                 "Which bound is exactly 0 or 1 then, and where is the other one?"),
        "z": ("Your answer is wrong only when z is not 1.96.", "Which line uses z?"),
        "many": ("Your result is wrong only for a very large n.", "How many digits do your numbers have?"),
        "unequal": ("Your answer is wrong only when the answers are not half right and half wrong.",
                    "Where does the formula use p, and where 1 - p?"),
        "": ("Even when half of the answers are right, your interval is wrong.",
             "What are the centre and the margin for p = 1/2?"),
    },
    hints=(
        "Compute the interval by hand for n = 4 answers, two of them right, and z = 2: then p = 1/2 and z^2/n = "
        "1, and only halves and a root are left.",
        "z^2/n occurs in every part of the formula: give it a name. Use `math.sqrt`, whose result is a "
        "Python float. The bounds 0 and 1 must be exact, but a difference of two rounded floats can miss "
        "them.",
        "In outline: raise ValueError for impossible numbers; compute the share of right answers and "
        "the term z^2/n, and from them the centre and the margin; divide centre minus margin and "
        "centre plus margin by 1 + z^2/n; return 0.0 as the lower "
        "bound if none is right, and 1.0 as the upper bound if all are.",
    ),
)
