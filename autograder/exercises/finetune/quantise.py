"""Weights stored as small integers with one scale per block (Dettmers et al. 2022, absmax in blocks)."""

import torch

from autograder.schema import (
    DTYPES, REFUSALS, SIDE_EFFECTS, STABILITY, VALUES, Call, Case, Exercise, Given, Kept, edit,
)


def quantise(weight, block):
    if weight.shape[1] % block:
        raise ValueError(f"blocks of {block} do not fit a row of {weight.shape[1]}")
    runs = weight.detach().unflatten(1, (-1, block))
    scales = runs.abs().amax(dim=2) / 7
    divisors = scales.where(scales > 0, 1.0)
    codes = torch.round(runs / divisors[:, :, None])
    return codes.flatten(1).to(torch.int8), scales


def reference(weight, block):
    if weight.shape[1] % block:
        raise ValueError("the blocks do not fit")
    runs = torch.split(weight.detach(), block, dim=1)
    scales = torch.stack([torch.linalg.vector_norm(run, torch.inf, dim=1) / 7 for run in runs], dim=1)
    # A block of zeros gives 0/0, whose code is 0.
    codes = [torch.nan_to_num(run / scales[:, i, None]).round() for i, run in enumerate(runs)]
    return torch.cat(codes, dim=1).to(torch.int8), scales


def cases(draw):
    rows, blocks, block = draw.sizes(3, 2, 6)
    yield _case(draw, "all sizes different", rows, blocks, block, needs=("blocks", "rows"))
    yield _case(draw, "one row", 1, 3, 4, needs=("blocks",))
    yield _case(draw, "one block a row", 3, 1, 5, needs=("rows",))
    yield _case(draw, "as many rows as columns", 6, 3, 2, needs=("blocks", "rows"))
    yield _case(draw, "blocks of one", 3, 4, 1, needs=("blocks", "rows"))
    yield _case(draw, "one of everything", 1, 1, 1)
    yield _case(draw, "four of everything", 4, 4, 4, needs=("blocks", "rows"), float64=True)
    yield _case(draw, "many blocks", 2, 20, 32, needs=("blocks", "rows"))
    yield _case(draw, "blocks of different heights", 3, 4, 3, heights=(1.0, 40.0, 0.05, 300.0),
                needs=("blocks", "rows"))
    yield _case(draw, "one sign", 2, 3, 4, sign=-1, needs=("blocks", "rows"))
    zeros = {"aspect": STABILITY, "needs": ("blocks", "rows", "zeros")}
    yield _case(draw, "a block of zeros", 2, 3, 3, heights=(1.0, 0.0, 1.0), **zeros)
    yield Case("zeros only", (torch.zeros(2, 6), 3), gradients=False, aspect=STABILITY, needs=("zeros",))
    yield _tiny(draw, aspect=STABILITY, needs=("blocks", "rows", "tiny"))
    yield _parameter(draw, needs=("blocks", "rows", "parameter"))
    refused = {"raises": "ValueError", "aspect": REFUSALS, "gradients": False}
    yield Case("blocks that do not fit", (draw.normal(2, 7), 3), **refused)
    yield Case("a block longer than a row", (draw.normal(2, 4), 8), **refused)


def _weight(draw, rows, blocks, block, heights=(1.0,), sign=0):
    """Return a weight whose codes, before rounding, lie within 0.35 of an integer. In each block one code is
    7 or -7.
    """
    codes = draw.integers(-6, 6, rows, blocks, block).float()
    codes += draw.normal(rows, blocks, block).clamp(-1.0, 1.0) * 0.35
    signs = draw.integers(0, 1, rows, blocks).float() * 2 - 1
    places = draw.integers(0, block - 1, rows, blocks)
    codes.scatter_(2, places[..., None], 7 * signs[..., None])
    if sign:
        codes = codes.abs() * sign
    scales = (draw.normal(rows, blocks).abs() + 0.2) * torch.tensor(heights * blocks)[:blocks]
    return (codes * scales[..., None]).flatten(1)


def _case(draw, family, rows, blocks, block, heights=(1.0,), sign=0, **more):
    return Case(family, (_weight(draw, rows, blocks, block, heights, sign), block), gradients=False, **more)


def _tiny(draw, **more):
    """Return a case with weights of about 1e-12, whose scales are multiplied by a large number before they
    are compared.
    """
    weight = _weight(draw, 2, 3, 4) * 1e-12
    given = {"weight": weight, "grow": Given("grow", "def grow(scales):\n    return scales * 1e12\n")}
    script = (Call((Kept("weight"), 4), keep="codes and scales"),
              Call((Kept("codes and scales", 1),), to="grow", keep="scales times 1e12"))
    return Case("weights of 1e-12", (), given, script=script, gradients=False, **more)


def _parameter(draw, **more):
    """Return a case whose weight requires gradients and must still require them after the call."""
    given = {"weight": _weight(draw, 2, 3, 4), "parameter": Given("parameter", "parameter = nn.Parameter\n"),
             "learns": Given("learns", "def learns(weight):\n    return weight.requires_grad\n")}
    script = (Call((Kept("weight"),), to="parameter", keep="layer's weight", shown=False),
              Call((Kept("layer's weight"), 4), keep="codes and scales"),
              Call((Kept("layer's weight"),), to="learns", keep="whether the weight still learns"))
    return Case("a layer's parameter", (), given, script=script, gradients=False, **more)


RUNS, SCALES = ".unflatten(1, (-1, block))", "runs.abs().amax(dim=2) / 7"
CODES = "torch.round(runs / divisors[:, :, None])"
SAFE, LAST = "scales.where(scales > 0, 1.0)", "return codes.flatten(1).to(torch.int8), scales"
REFUSE = "if weight.shape[1] % block:"

EXERCISE = Exercise(
    number=1, minutes=12, difficulty=2,
    worked=quantise,
    reference=reference,
    cases=cases,
    standard=("float64", "transposed", "by name"),
    aspects={VALUES: 3, STABILITY: 2, REFUSALS: 1, SIDE_EFFECTS: 1, DTYPES: 1},
    shapes={"weight": "O I", "return": "O I"},
    mistakes=(
        edit("BLK-01 one scale for a whole row", {SCALES: "(runs.abs().amax(dim=(1, 2)) / 7)[:, None]"
             ".expand(-1, runs.shape[1])"},
             "You give all blocks of a row the same scale.",
             "Over which entries should you take the maximum: a row's, or one block's?"),
        edit("BLK-03 one scale for the whole matrix", {SCALES: "(runs.abs().amax() / 7).expand(runs.shape[:2])"},
             "All your scales are the same.", "Over which entries should the maximum be taken?"),
        edit("BLK-05 the sign is forgotten", {SCALES: "runs.amax(dim=2) / 7"},
             "You compute the scale from the largest entry and ignore large negative ones.",
             "Which entry of -9, 1, 2 has the largest magnitude?"),
        edit("BLK-05", {SCALES: "runs.amax(dim=2).abs() / 7"}),
        edit("BLK-07 one code too many", {"/ 7": "/ 8"},
             "Your largest entries get a code beyond 7, or one that is clipped.",
             "Which code should the largest entry of a block get?"),
        edit("BLK-07", {"/ 7": "/ 8", CODES: CODES + ".clamp(-8, 7)"}),
        edit("BLK-09 eight bits", {"/ 7": "/ 127"},
             "Your codes go up to 127.", "What is the largest code according to the docstring?"),
        edit("BLK-11 cut off instead of rounded", {CODES: "torch.trunc(runs / divisors[:, :, None])"},
             "You truncate the codes towards zero.", "Which integer is nearest to 2.8?"),
        edit("BLK-11", {CODES: "(runs / divisors[:, :, None])"}),
        edit("BLK-11", {CODES: "(runs / divisors[:, :, None] + 0.5)"},
             "Many of your negative codes are too large by 1.",
             "What does `.to(torch.int8)` make of -4.6 + 0.5?"),
        edit("BLK-13 rounded down", {CODES: "torch.floor(runs / divisors[:, :, None])"},
             "You round the codes down.", "Which integer is nearest to -2.3?"),
        edit("BLK-15 rounded up", {CODES: "torch.ceil(runs / divisors[:, :, None])"},
             "You round the codes up.", "Which integer is nearest to 2.3?"),
        edit("BLK-17 small weights are lost", {SCALES: "(runs.abs().amax(dim=2) / 7).clamp(min=1e-8)"},
             "For very small weights you divide by too large a number.",
             "Which number in your code is larger than a weight of 1e-12?"),
        edit("BLK-17", {SAFE: "scales + 1e-8"}),
        edit("BLK-17", {SAFE: "scales.where(scales > 1e-10, 1.0)"}),
        edit("BLK-19 a block of zeros has a scale", {LAST: LAST.replace(", scales", ", divisors")},
             "You give a block of zeros the scale 1.", "What is the largest magnitude in such a block?"),
        edit("BLK-21 every n-th entry", {RUNS: ".unflatten(1, (block, -1)).transpose(1, 2)",
                                         "codes.flatten(1)": "codes.transpose(1, 2).flatten(1)"},
             "The entries of your blocks are not next to each other.",
             "With blocks of two, which entries of a, b, c, d are in the first block?"),
        edit("BLK-23 blocks run down the columns", {"weight.detach()": "weight.detach().T",
             "codes.flatten(1)": "codes.flatten(1).T", "int8), scales": "int8), scales.T",
             "if weight.shape[1] % block:": "if weight.shape[1] % block or weight.shape[0] % block:"},
             "Your blocks run down the columns.", "Does a block run along a row or down a column?"),
        edit("BLK-25 codes are floats", {".to(torch.int8), scales": ", scales"},
             "Your codes are not stored as int8.",
             "What dtype does the docstring give for the codes?"),
        edit("BLK-25", {"to(torch.int8)": "to(torch.int64)"}),
        edit("BLK-27 blocks keep an axis of their own", {"codes.flatten(1)": "codes"},
             "Your codes have an axis for the blocks.", "What shape should the codes have?"),
        edit("BLK-29 scales keep an axis of one", {"int8), scales": "int8), scales[:, :, None]"},
             "Your scales have an extra axis of size 1.", "What shape should the scales have?"),
        edit("BLK-31 blocks that do not fit are taken", {REFUSE: "if False:"},
             "You raise no ValueError for a block size that does not divide the row.",
             "What is left over when 7 entries are split into blocks of 3?"),
        edit("BLK-31", {"raise ValueError(": "raise AssertionError("}),
        edit("BLK-33 from the smallest to the largest",
             {SCALES: "(runs.amax(dim=2) - runs.amin(dim=2)) / 14"},
             "You compute the scale from the difference between the largest and the smallest entry.",
             "Which number does the formula divide by 7?"),
        edit("BLK-35 the mean instead of the largest", {SCALES: "runs.abs().mean(dim=2) / 7"},
             "You compute the scale from the mean magnitude of a block.",
             "Which range must the code of the largest entry fit into?"),
        edit("BLK-35", {SCALES: "runs.square().mean(dim=2).sqrt() / 7"},
             "You compute the scale from the root mean square of a block.",
             "Which range must the code of the largest entry fit into?"),
        edit("BLK-37 the scale is turned over",
             {LAST: LAST.replace(", scales", ", scales.where(scales == 0, 1 / scales)")},
             "You return the reciprocals of the scales.",
             "What is a code multiplied by to get the weight back?"),
        edit("BLK-39 scales before codes", {LAST: "return scales, codes.flatten(1).to(torch.int8)"},
             "You return the scales before the codes.", "In which order does the docstring list the two?"),
    ),
    needs={
        "tiny": ("Your answer is wrong only for very small weights, such as 1e-12.",
                 "Which number in your code is larger than 1e-12?"),
        "parameter": ("Your answer is wrong only when the weight is an nn.Parameter.",
                      "Can a tensor of integers have a gradient?"),
        "zeros": ("Your answer is wrong only when a block contains nothing but zeros.",
                  "What is the scale of such a block, and what do you divide by it?"),
        "blocks": ("Your answer is wrong only when a row has several blocks.",
                   "Which entries share a scale, and where is it in the result?"),
        "rows": ("Your answer is wrong only for a matrix of several rows.",
                 "Do different rows share a scale?"),
        "": ("Your answer is wrong even for a matrix of one block.",
             "Which entry determines the scale, and which code does it get?"),
    },
    hints=(
        "Take the row 2, -14, 6, 1 as one block. Its largest magnitude is 14, so the scale is 14 / 7 = 2, and the "
        "codes are 1, -7, 3 and 0 (1 / 2 = 0.5 rounds to 0, the nearest even number).",
        "Give the blocks an axis of their own with `unflatten`. The largest magnitude along the last axis, "
        "divided by 7, is the scale. Where the scale is 0, divide the block by 1 instead of the scale, so that "
        "the codes become 0; do not add a small constant. If the weight is a parameter, detach it first.",
        "In outline: raise ValueError if block does not divide I, split each row into blocks, which gives (O, I / "
        "block, block), compute the scales (O, I / block), divide each block by its scale, round, flatten the "
        "blocks back into rows, and convert to int8.",
    ),
)
