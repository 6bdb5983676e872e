"""Weights restored from integer codes and scales."""

import torch
import torch.nn.functional as F

from autograder.schema import DTYPES, GRADIENTS, SIDE_EFFECTS, VALUES, Case, Exercise, edit


def dequantise(codes, scales):
    block = codes.shape[1] // scales.shape[1]
    each = scales.repeat_interleave(block, dim=1)
    return codes.to(scales.dtype) * each


def reference(codes, scales):
    # Neighbours in a row of scales become a run of `block` entries, as in an enlarged picture.
    block = codes.shape[1] // scales.shape[1]
    return F.interpolate(scales[:, None], scale_factor=block, mode="nearest")[:, 0] * codes


def cases(draw):
    rows, blocks, block = draw.sizes(3, 2, 6)
    yield _case(draw, "all sizes different", rows, blocks, block, needs=("blocks", "rows"))
    yield _case(draw, "one block a row", 3, 1, 4, needs=("rows",))
    yield _case(draw, "one row", 1, 3, 4, needs=("blocks",))
    yield _case(draw, "blocks of one", 2, 5, 1, needs=("blocks", "rows"))
    yield _case(draw, "as many rows as columns", 6, 3, 2, needs=("blocks", "rows"))
    yield _case(draw, "as many blocks as entries in each", 2, 3, 3, needs=("blocks", "rows"))
    yield _case(draw, "one of everything", 1, 1, 1)
    yield _case(draw, "four of everything", 4, 4, 4, needs=("blocks", "rows"), float64=True)
    yield _case(draw, "long rows", 2, 8, 32, needs=("blocks", "rows"))
    yield _case(draw, "large scales", 2, 3, 4, scale=50.0, needs=("blocks", "rows"))
    codes, scales = _case(draw, "", 2, 3, 4).args
    scales[0, 1] = 0
    yield Case("a scale of zero", (codes, scales), needs=("blocks", "rows"))


def _case(draw, family, rows, blocks, block, scale=1.0, **more):
    codes = draw.integers(-7, 7, rows, blocks * block)
    codes[:, 0] = 7
    scales = (draw.normal(rows, blocks).abs() + 0.1) * scale
    return Case(family, (codes.to(torch.int8), scales), **more)


EACH, LAST = "scales.repeat_interleave(block, dim=1)", "codes.to(scales.dtype) * each"

EXERCISE = Exercise(
    number=2, minutes=8, difficulty=1,
    worked=dequantise,
    reference=reference,
    cases=cases,
    standard=("float64", "transposed", "by name"),
    aspects={VALUES: 2, GRADIENTS: 1, SIDE_EFFECTS: 1, DTYPES: 1},
    shapes={"codes": "O I", "return": "O I"},
    mistakes=(
        edit("BLK-41 scales in turn instead of in runs", {EACH: "scales.repeat(1, block)"},
             "You give neighbouring codes of a block different scales.",
             "With blocks of two and the scales s, t, which scale belongs to each of the four codes of a "
             "row?"),
        edit("BLK-43 divided by the scale", {LAST: "codes.to(scales.dtype) / each"},
             "You divide by the scale.", "How does a code become a weight again?"),
        edit("BLK-45 the first scale for all", {EACH: "scales[:, :1]"},
             "You use a row's first scale for all its blocks.",
             "Which scale belongs to the last code of a row?"),
        edit("BLK-47 scales of another row", {EACH: "scales[:1].repeat_interleave(block, dim=1)"},
             "You use the first row's scales for all rows.", "Which scales belong to the second row?"),
        edit("BLK-49 blocks of a fixed size", {"codes.shape[1] // scales.shape[1]": "min(2, codes.shape[1])",
             EACH: "scales.repeat_interleave(block, dim=1)[:, :codes.shape[1]]"},
             "Your blocks have a fixed size.", "Which two shapes tell you how long a block is?"),
        edit("BLK-51 no gradient for the scales", {EACH: "scales.detach().repeat_interleave(block, dim=1)"},
             "The weights are right, but no gradient reaches the scales.",
             "Which step detaches the scales?"),
        edit("BLK-53 integers again", {LAST: "(codes * each).round()"},
             "Your weights are integers.", "What weight does the code 3 stand for if the scale is 0.5?"),
        edit("BLK-53", {LAST: "codes * each.to(codes.dtype)"}),
        edit("BLK-55 the largest code becomes the scale", {LAST: "codes.to(scales.dtype) * each / 7"},
             "Your weights are too small by a factor of seven.",
             "Is the scale a block's largest magnitude, or a seventh of it?"),
        edit("BLK-57 blocks run down the columns", {EACH: "scales.repeat_interleave(block, dim=1).flip(0)"},
             "Your rows use one another's scales.", "Which scales belong to the first row of codes?"),
        edit("BLK-59 signs are lost", {LAST: "codes.abs().to(scales.dtype) * each"},
             "None of your weights is negative.", "What weight does the code -3 stand for?"),
        edit("BLK-61 an axis for the blocks", {LAST: f"({LAST}).unflatten(1, (-1, block))"},
             "Your weights have an axis for the blocks.", "What shape should the weights have?"),
        edit("BLK-63 shifted codes", {LAST: "(codes.to(scales.dtype) + 7) * each"},
             "You shift the codes by 7.", "What weight does the code 0 stand for?"),
        edit("BLK-63", {LAST: "(codes.to(scales.dtype) - 7) * each"}),
    ),
    needs={
        "blocks": ("Your answer is wrong only when a row has several blocks.",
                   "Which scale belongs to each code of a row?"),
        "rows": ("Your answer is wrong only for a matrix of several rows.",
                 "Which scales belong to the second row?"),
        "": ("Your answer is wrong even for a matrix of one block.",
             "How does a code become a weight again?"),
    },
    hints=(
        "Suppose that a row has six codes and two scales. Then a block has three codes: the first scale "
        "belongs to the first three, the second to the rest.",
        "The length of a block is the number of codes in a row divided by the number of scales. "
        "`repeat_interleave` along the second axis repeats each scale that many times in succession.",
        "In outline: compute the block length from the two shapes, repeat each scale along its block, so that (O, I "
        "/ block) becomes (O, I), and multiply the codes by them.",
    ),
)
