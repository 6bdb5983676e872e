"""The matrix of sines and cosines that the first Transformer added to its embeddings (Vaswani et al. 2017,
3.5).
"""

import torch

from autograder.schema import REFUSALS, VALUES, Call, Case, Exercise, Given, Kept, close, edit


def sinusoidal_positions(n, d_model):
    if d_model % 2:
        raise ValueError(f"{d_model} features do not make pairs")
    positions = torch.arange(n, dtype=torch.float32)[:, None]
    steps = torch.arange(0, d_model, 2, dtype=torch.float32)
    angles = positions / 10000 ** (steps / d_model)
    table = torch.zeros(n, d_model)
    table[:, 0::2] = torch.sin(angles)
    table[:, 1::2] = torch.cos(angles)
    return table


def reference(n, d_model):
    if d_model % 2:
        raise ValueError("d_model must be even")
    angles = torch.outer(torch.arange(n).double(), 10000.0 ** (-torch.arange(0, d_model, 2).double() / d_model))
    return torch.view_as_real(torch.polar(torch.ones_like(angles), angles)).roll(1, -1).flatten(1)


PLAIN = "a plain tensor"
# Ten times the usual tolerance, because an angle of 2000 is off by about 1e-4 in float32.
NEAR = {"gradients": False, "expect": close(10.0)}


def cases(draw):
    n, half = draw.sizes(1, 21, 29)[0], draw.sizes(1, 4, 7)[0]
    pairs = {"needs": ("several pairs",)}
    yield Case("all sizes different", (n, 2 * half), **NEAR, **pairs)
    yield Case("one position, one pair", (1, 2), **NEAR)
    yield Case("one pair of features", (n + 3, 2), **NEAR)
    yield Case("one position", (1, 2 * half + 2), **NEAR, **pairs)
    yield Case("as many positions as features", (8, 8), **NEAR, **pairs)
    yield Case("four features", (n, 4), **NEAR, **pairs)
    yield Case("more features than positions", (5, 128), **NEAR, **pairs)
    yield Case("two thousand positions", (2000, 6), **NEAR, needs=("several pairs", "long"))
    plain = Given("plain", "def plain(table):\n    return type(table) is torch.Tensor and not table.requires_grad\n")
    script = Call((Kept("n"), Kept("d_model")), keep="table"), Call((Kept("table"),), keep="plain", to="is plain")
    given = {"n": 6, "d_model": 4, "is plain": plain}
    yield Case(PLAIN, (), given, script=script, aspect=PLAIN, **NEAR)
    for width in (7, 1):
        yield Case("an odd number of features", (n, width), raises="ValueError", aspect=REFUSALS, gradients=False)


SINES, COSINES = "table[:, 0::2] = torch.sin(angles)", "table[:, 1::2] = torch.cos(angles)"
STEPS = "torch.arange(0, d_model, 2, dtype=torch.float32)"
EXPONENT, PLACES, RAISE = "(steps / d_model)", "torch.arange(n, dtype=torch.float32)", "raise ValueError("

EXERCISE = Exercise(
    number=1, minutes=12, difficulty=2,
    worked=sinusoidal_positions,
    reference=reference,
    cases=cases,
    standard=("by name",),
    aspects={VALUES: 4, PLAIN: 1, REFUSALS: 1},
    shapes={"return": "N d_model"},
    mistakes=(
        edit("POS-01 the exponent is doubled", {EXPONENT: "(2 * steps / d_model)"},
             "From pair to pair, your exponents grow twice as fast as they should.",
             "What is the exponent of the second pair in the formula?"),
        edit("POS-01", {EXPONENT: "(2 * steps / d_model)",
                        COSINES: "table[:, 1::2] = torch.cos(positions / 10000 ** (2 * (steps + 1) / d_model))"}),
        edit("POS-23 the exponent is halved", {STEPS: "torch.arange(d_model // 2, dtype=torch.float32)"},
             "From pair to pair, your exponents grow half as fast as they should.",
             "By how much does the exponent grow from one pair to the next?"),
        edit("POS-03 another base", {"10000": "1000"},
             "Your lowest frequency is not the one that the formula gives.",
             "Which constant does the formula contain?"),
        edit("POS-03", {"10000": "100000"}),
        edit("POS-05 sine and cosine exchanged", {SINES: SINES.replace("sin", "cos"), COSINES:
             COSINES.replace("cos", "sin")},
             "Your sines and cosines are swapped.",
             "What is row 0 of the table, where every angle is zero?"),
        edit("POS-07 an odd number of features is not refused", {RAISE: "str("},
             "You raise no ValueError for an odd d_model.",
             "How many sine and cosine columns would there be for 7 features?"),
        edit("POS-07", {RAISE: "str(", "cos(angles)": "cos(angles)[:, : d_model // 2]"}),
        edit("POS-09 one row for all", {PLACES: "torch.full((n,), n - 1.0)"},
             "Every row of your table is the same.",
             "Where does the position p enter your angles?"),
        edit("POS-11 whole numbers in the exponent", {EXPONENT: "(steps // d_model)"},
             "All your pairs have the same frequency.",
             "Print your exponents. What should the exponent of the second pair be?"),
        edit("POS-13 a table that learns", {"return table": "return torch.nn.Parameter(table)"},
             "Your table is a parameter, or requires gradients.", "Is this table learned, or fixed?"),
        edit("POS-13", {"return table": "return table.requires_grad_()"}),
        edit("POS-17 sines first, then cosines", {SINES: "table[:, : d_model // 2] = torch.sin(angles)",
             COSINES: "table[:, d_model // 2 :] = torch.cos(angles)"},
             "Your table has all sines first, and then all cosines.",
             "Which column should be next to column 0: another sine, or the cosine of the same angle?"),
        edit("POS-19 positions count from one", {PLACES: "torch.arange(1, n + 1, dtype=torch.float32)"},
             "Your table starts at position 1.", "Which position does the first row belong to?"),
        edit("POS-21 the frequencies grow", {"positions / 10000": "positions * 10000"},
             "The frequencies of your pairs grow from left to right.",
             "Which pair should have the lowest frequency: the first or the last?"),
        edit("POS-25 the last pair has the base itself", {EXPONENT: "(steps / max(d_model - 2, 1))"},
             "Your exponents run up to one.", "What is the exponent of the last pair in the formula?"),
        edit("POS-31 a frequency of its own for each feature",
             {STEPS: "torch.arange(d_model, dtype=torch.float32)", SINES: SINES.replace("angles", "angles[:, 0::2]"),
              COSINES: COSINES.replace("angles", "angles[:, 1::2]")},
             "The sine and the cosine of a pair use different angles in your table.",
             "How many angles belong to one pair of features?"),
        edit("POS-27 float64 comes back", {"return table": "return table.double()"},
             "Your table is float64.", "Which dtype does the docstring ask for?"),
        edit("POS-29 positions along the columns", {"return table": "return table.T"},
             "Your table is transposed: it has a column for each position.",
             "What shape does the docstring ask for?"),
        edit("POS-33 an axis too many", {"return table": "return table[None]"},
             "Your table has an extra axis for the batch.", "What shape does the docstring ask for?"),
        edit("POS-35 too short a table",
             {PLACES: PLACES.replace("n,", "min(n, 512),"), "zeros(n,": "zeros(min(n, 512),"},
             ("Your table has fewer than n rows when n is "
              "large."), "Does a number in your code limit how many rows the table has?"),
        edit("POS-37 sines only", {COSINES: COSINES.replace("cos", "sin")},
             "Both features of a pair are sines in your table.", "What is the second feature of each pair?"),
    ),
    needs={
        "several pairs": ("Your result is right for one pair of features, and wrong for several.",
                          "What is the angle of the second pair at position 1?"),
        "long": ("Your result is right for short texts, and wrong for a text of 2000 tokens.",
                 "How exact are your angles when the position is large?"),
        "": ("Even with a single pair of features your table is wrong.",
             "What is the angle of the first pair at position p?"),
    },
    hints=(
        "Each pair of features has one angle, p / 10000^(2i/d_model) at position p. Work it out for two positions "
        "and two pairs.",
        "Make a table of angles first, of shape (n, d_model / 2): a column of positions, (n, 1), divided by a row of "
        "powers of 10000.",
        "In outline: raise a ValueError if d_model is odd; divide the positions by the powers of 10000; put the "
        "sines of the angles into the even columns and their cosines into the odd ones.",
    ),
)
