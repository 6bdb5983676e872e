"""Rotary positions: each pair of features is rotated in proportion to the position (Su et al. 2021)."""

import torch

from autograder.schema import (
    DTYPES, FROM_TABLES, GRADIENTS, REFUSALS, SIDE_EFFECTS, VALUES, Case, Exercise, edit,
)


def apply_rope(x, positions, base=10000.0):
    width = x.shape[-1]
    if width % 2:
        raise ValueError(f"{width} features do not make pairs")
    exponents = torch.arange(0, width, 2, dtype=torch.float64, device=x.device) / width
    angles = positions[:, None] * base**-exponents
    cos, sin = angles.cos().to(x.dtype), angles.sin().to(x.dtype)
    first, second = x[..., 0::2], x[..., 1::2]
    turned = first * cos - second * sin, first * sin + second * cos
    return torch.stack(turned, dim=-1).flatten(-2)


def reference(x, positions, base=10000.0):
    if x.shape[-1] % 2:
        raise ValueError("the width must be even")
    pairs = torch.view_as_complex(x.unflatten(-1, (-1, 2)).contiguous())
    rates = torch.pow(base, -torch.arange(0, x.shape[-1], 2, dtype=torch.float64) / x.shape[-1])
    angles = torch.outer(positions.double(), rates)
    return torch.view_as_real(pairs * torch.polar(torch.ones_like(angles), angles)).flatten(-2)


BASE = "another base"


def cases(draw):
    batch, heads, tokens, half = draw.sizes(4, 3, 7)
    yield _case(draw, "all sizes different", (batch, heads, tokens), 2 * half, torch.arange(tokens),
                needs=("pairs",))
    yield _case(draw, "one pair of features", (tokens,), 2, torch.arange(tokens))
    yield _case(draw, "one head", (tokens,), 8, torch.arange(tokens), needs=("pairs",))
    yield _case(draw, "positions that do not begin at zero", (2, 5), 6, torch.arange(7, 12),
                needs=("pairs", "places", "start"))
    yield _case(draw, "the same shape at other positions", (2, 5), 6, torch.arange(3, 8),
                needs=("pairs", "places", "start", "again"))
    mixed = draw.integers(0, 30, 6)
    yield _case(draw, "positions in any order", (3, 6), 4, mixed, needs=("pairs", "places", "start", "steps", "order"))
    yield _case(draw, "every token at position zero", (2, 3), 6, torch.zeros(3, dtype=torch.int64),
                needs=("pairs", "places", "steps"))
    yield _case(draw, "a new token after a long text", (2, 1), 8, torch.tensor([1999]),
                needs=("pairs", "places", "start", "far"))
    far = torch.tensor([2000, 3, 1024, 513, 0])
    yield _case(draw, "positions up to 2000", (5,), 64, far,
                needs=("pairs", "places", "start", "steps", "order", "far"))
    yield _case(draw, "four of everything", (4, 4, 4), 4, torch.arange(4), needs=("pairs",), float64=True)
    yield _case(draw, "one pair far away", (1, 2), 2, torch.tensor([1999, 3]),
                needs=("places", "start", "steps", "order", "far"))
    base = {"needs": ("pairs", "base"), "aspect": BASE}
    yield _case(draw, BASE, (2, 5), 6, torch.arange(5), 500.0, **base)
    base["needs"] += ("places", "steps", "far")
    yield _case(draw, "a larger base", (4,), 8, torch.arange(4) * 100, base=1e6, **base)
    # Heads as lesson 04 splits them: only the features are contiguous, which is all that a complex view
    # needs.
    heads = draw.eighths(2, 4, 3, 6, limit=8).transpose(1, 2)
    yield Case("heads just split", (heads, torch.arange(4)), scale=10.0, needs=("pairs", "places"), gradients=False)
    # A complex view also needs every stride but the last to be even.
    part = draw.eighths(2, 3, 5, limit=8)[..., :4]
    layout = {"aspect": SIDE_EFFECTS, "needs": ("pairs", "places"), "gradients": False}
    yield Case("a part of wider tokens", (part, torch.arange(3)), scale=10.0, **layout)
    refused = {"raises": "ValueError", "aspect": REFUSALS, "gradients": False}
    for width, tokens in ((7, 3), (1, 4)):
        yield _case(draw, "an odd number of features", (2, tokens), width, torch.arange(tokens), **refused)


def _case(draw, family, lead, width, positions, *base, needs=(), **more):
    """Return a case whose input has entries of size at most 1; its results are compared with a tolerance of
    1e-3, ten times the usual one.
    """
    kwargs = {"base": more.pop("base")} if "base" in more else {}
    x = draw.eighths(*lead, width, limit=8)
    return Case(family, (x, positions, *base), kwargs, scale=10.0, needs=needs, **more)


EXPONENTS = "torch.arange(0, width, 2, dtype=torch.float64, device=x.device) / width"
PAIRS, TURNED = "x[..., 0::2], x[..., 1::2]", "first * cos - second * sin, first * sin + second * cos"
LAST, RAISE = "torch.stack(turned, dim=-1).flatten(-2)", "raise ValueError("
RATES, ANGLES = "base**-exponents", "positions[:, None] * base**-exponents"

EXERCISE = Exercise(
    number=3, minutes=15, difficulty=2,
    worked=apply_rope,
    reference=reference,
    cases=cases,
    standard=(FROM_TABLES, "transposed", "by name"),
    aspects={VALUES: 4, BASE: 1, REFUSALS: 1, GRADIENTS: 1, SIDE_EFFECTS: 1, DTYPES: 1},
    shapes={"x": "... N D", "positions": "N", "return": "... N D"},
    mistakes=(
        edit("ROPE-01 halves instead of neighbours", {PAIRS: "x.chunk(2, dim=-1)", LAST: "torch.cat(turned, dim=-1)"},
             "You rotate feature i together with feature i + D/2.",
             "Which two features form a pair in this exercise?"),
        edit("ROPE-39 pairs of neighbours, angles of halves",
             {TURNED: "first * cos - second * sin, first * sin + second * cos\n    "
              "cos, sin = (torch.cat((t, t), -1) for t in (cos, sin))\n    "
              "other = torch.stack((-second, first), -1).flatten(-2)",
              LAST: "x * cos + other * sin"},
             "Your code rotates the two features of a pair by different angles.",
             "How many angles does one pair of features have?"),
        edit("ROPE-39", {TURNED: "first * cos - second * sin, first * sin + second * cos\n    "
             "cos, sin = (t.repeat_interleave(2, -1) for t in (cos, sin))\n    "
             "other = torch.cat((-x[..., width // 2 :], x[..., : width // 2]), -1)",
              LAST: "x * cos + other * sin"}),
        edit("ROPE-03 turned by another axis", {"turned = ": "cos, sin = (t[:, None] if x.dim() > 3 and len(t) == "
             "x.shape[1] else t for t in (cos, sin))\n    turned = "},
             "With several heads, your angle changes from head to head, not from token to token.",
             "Which axis of x holds the tokens, counted from the end?"),
        edit("ROPE-03",
             {"turned = ": "cos, sin = (t[:, None] if x.dim() > 3 else t for t in (cos, sin))\n    turned = "}),
        edit("ROPE-07 a sign slip", {TURNED: "first * cos + second * sin, first * sin + second * cos"},
             "Your code changes the length of pairs; a rotation does not.",
             "Which sign does each of the four products have in a rotation?"),
        edit("ROPE-07", {TURNED: "first * cos - second * sin, second * cos - first * sin"}),
        edit("ROPE-17 turned backwards", {TURNED: "first * cos + second * sin, second * cos - first * sin"},
             "Your pairs rotate in the wrong direction, from the second feature towards the first.",
             "Where should the pair (1, 0) point after a quarter turn?"),
        edit("ROPE-09 places of its own", {ANGLES: "torch.arange(x.shape[-2])[:, None] * base**-exponents"},
             "Your angles follow the row of a token, not its entry in `positions`.",
             "Which angle belongs to a token whose position is 7?"),
        edit("ROPE-09", {ANGLES: "torch.arange(x.shape[-2]).to(positions)[:, None] * base**-exponents + "
             "positions.min() * base**-exponents"}),
        edit("ROPE-41 places count from one", {"positions[:, None]": "(positions[:, None] + 1)"},
             "Your code rotates a token at position 0.", "What is the angle at position 0?"),
        edit("ROPE-13 a sinusoid is added", {TURNED: "first + cos, second + sin"},
             "You add sines and cosines to the features.",
             "What does rotating a pair do to its two features?"),
        edit("ROPE-13", {TURNED: "first + sin, second + cos"}),
        edit("ROPE-15 the pairs come apart", {LAST: "torch.cat(turned, dim=-1)"},
             "In your result the first features of all pairs come first, and then the second ones.",
             "In which order do the features come in x?"),
        edit("ROPE-19 the exponent is doubled", {EXPONENTS: f"2 * {EXPONENTS}"},
             "Your exponents are twice what they should be.",
             "What is the exponent of the second pair in the formula?"),
        edit("ROPE-21 the exponent is halved", {EXPONENTS: f"0.5 * {EXPONENTS}"},
             "Your exponents are half of what they should be.",
             "What is the exponent of the second pair in the formula?"),
        edit("ROPE-23 the angles grow", {RATES: "base**exponents"},
             "Your pairs rotate faster from left to right.",
             "Which pair should rotate slowest: the first or the last?"),
        edit("ROPE-25 the base is fixed", {RATES: "10000.0**-exponents"},
             "Your result does not change with the base.", "Which line uses `base`?"),
        edit("ROPE-43 another default for the base", {"base=10000.0": "base=500000.0"},
             "Your result is right when base is passed, and wrong by default.",
             "What is the default of `base` in the signature?"),
        edit("ROPE-27 one angle for all pairs", {RATES: "base**(-0.0 * exponents)"},
             "All your pairs rotate at the same speed.", "Which line makes the second pair slower than the first?"),
        edit("ROPE-29 too few positions",
             {"angles = positions": "positions = positions.clamp(max=511)\n    angles = positions"},
             "Beyond some position your pairs rotate no further.",
             "Does a number in your code limit the positions?"),
        edit("ROPE-31 an odd width is not refused", {RAISE: "str("},
             "You raise no ValueError for an odd number of features.",
             "Which feature would be the last one's partner?"),
        edit("ROPE-31", {RAISE: "str(", PAIRS: "x[..., 0 : width - 1 : 2], x[..., 1::2]", EXPONENTS:
             EXPONENTS.replace("0, width, 2", "0, width - 1, 2")}),
        edit("ROPE-33 the last pair has the base itself",
             {EXPONENTS: EXPONENTS.replace("/ width", "/ max(width - 2, 1)")},
             "Your exponents run up to one.", "What is the exponent of the last pair in the formula?"),
        edit("ROPE-35 the first feature is turned already", {TURNED: "(first := first * cos - second * sin), "
             "first * sin + second * cos"},
             "You compute the second feature of a pair from a first feature that is already rotated.",
             "Which first feature belongs in the formula: the one in x, or the rotated one?"),
        edit("ROPE-37 only the first half is turned",
             {TURNED: "torch.where(exponents < 0.5, first * cos - second * sin, "
             "first), torch.where(exponents < 0.5, first * sin + second * cos, second)"},
             "Some of your pairs are not rotated.", "How many pairs are there, and how many do you rotate?"),
    ),
    needs={
        "base": ("Your result is right for the default base, and wrong for others.",
                 "Which line uses `base`?"),
        "places": ("Your result is right for the positions 0, 1, 2, ..., and wrong for others.",
                   "Which angle belongs to a token whose position is 7?"),
        "start": ("Your result is right when the first position is 0, and wrong when it is another.",
                  "Which angle belongs to a token whose position is 7?"),
        "again": ("Your result is right for the first call with a shape, and wrong for a second one with other "
                  "positions.",
                  "What does your code keep from an earlier call?"),
        "steps": ("Your result is right for consecutive positions, and wrong for others.",
                  "Which entry of `positions` belongs to the second token?"),
        "order": ("Your result is right when the positions increase, and wrong when they do not.",
                  "Which entry of `positions` belongs to the second token?"),
        "far": ("Your result is right for small positions, and wrong for large ones.",
                "Which dtype have your positions and angles, and how large a number does it hold exactly?"),
        "pairs": ("Your result is right for one pair of features, and wrong for several.",
                  "By what angle does each pair rotate, and which two features form a pair?"),
        "": ("Even a single pair of features is rotated wrongly.",
             "Where should (1, 0) point at position 1?"),
    },
    hints=(
        "Think of one pair of features as an arrow in the plane. Rotating it by an angle turns (a, b) into (a "
        "cos - b sin, a sin + b cos).",
        "The angles form a table of shape (positions, pairs). Which two axes of x does it line up with? The "
        "slices 0::2 and 1::2 of the last axis are the first and second features of the pairs.",
        "In outline: raise a ValueError if D is odd; compute the angles, (N, D/2), and their cosines and sines; "
        "rotate the first and second features, each (..., N, D/2); interleave the two results, with `stack` on a "
        "new last axis and then `flatten`.",
    ),
)
