"""Patches put back together into images."""

import torch  # noqa: F401 (wrong answers use it)
import torch.nn.functional as F

from autograder.exercises._shared.patches import BY_HAND, LOST_PLACES, patch_cases
from autograder.schema import DTYPES, GRADIENTS, SIDE_EFFECTS, VALUES, Case, Exercise, edit, fitting


def unpatchify(patches, patch, height, width):
    rows, columns = height // patch, width // patch
    pieces = patches.unflatten(2, (-1, patch, patch)).unflatten(1, (rows, columns))
    pieces = pieces.permute(0, 3, 1, 4, 2, 5)
    return pieces.flatten(4).flatten(2, 3)


def reference(patches, patch, height, width):
    return F.fold(patches.mT, (height, width), patch, stride=patch)


def cases(draw):
    yield from patch_cases(draw, _case)


def _case(draw, family, batch, channels, rows, columns, patch, **more):
    patches = draw.normal(batch, rows * columns, channels * patch * patch)
    return Case(family, (patches, patch, rows * patch, columns * patch), **more)


COUNTS, ORDER = "height // patch, width // patch", "permute(0, 3, 1, 4, 2, 5)"
SPLIT, LAST = "unflatten(2, (-1, patch, patch))", "pieces.flatten(4).flatten(2, 3)"

EXERCISE = Exercise(
    number=2, minutes=8, difficulty=2,
    worked=unpatchify,
    reference=reference,
    cases=cases,
    standard=("float64", "transposed", "by name"),
    aspects={VALUES: 3, GRADIENTS: 1, SIDE_EFFECTS: 1, DTYPES: 1},
    shapes={"patches": "B N C*patch*patch", "return": "B C height width"},
    rules=BY_HAND,
    mistakes=(
        *fitting(unpatchify, LOST_PLACES),
        edit("VIT-41 memory read in order", {LAST: "patches.reshape(len(patches), -1, height, width)"},
             "You fill the image in the order in which the numbers lie in memory.",
             "Where in the image does the second number of the second patch belong?"),
        edit("each patch fills a stretch of rows", {ORDER: "permute(0, 3, 1, 2, 4, 5)", LAST:
             "pieces.reshape(len(patches), -1, height, width)"},
             "Each of your patches fills a stretch of rows instead of a square.",
             "Which two of the six axes form the height, and are they next to each other?"),
        edit("VIT-43 rows and columns exchanged", {COUNTS: "width // patch, height // patch"},
             "The height and the width of your image are swapped.",
             "How many patches are in a row of patches: height // patch or width // patch?"),
        edit("VIT-45 pixels of a patch are scattered", {ORDER: "permute(0, 3, 4, 1, 5, 2)"},
             "In your image, the pixels of one patch end up far apart.",
             "Are the pixels of a patch neighbours in the image?"),
        edit("VIT-47 the order of patchify again", {ORDER: "permute(0, 2, 4, 1, 3, 5)", LAST:
             "pieces.reshape(len(patches), -1, height, width)"},
             "You permute the axes as in `patchify`.", "What does each of your six axes hold?"),
        edit("VIT-49 the channels come last", {ORDER: "permute(0, 1, 4, 2, 5, 3)", LAST: "pieces.flatten(3, "
                                               "4).flatten(1, 2)"},
             "The channels are the last axis of your result.", "Which axis of an image holds the channels?"),
        edit("VIT-51 six axes", {LAST: "pieces"},
             "Your result still has six axes.", "Which pairs of axes become height and width?"),
        edit("VIT-53 the channels are patches", {LAST: "pieces.flatten(4).flatten(2, 3).mean(1, keepdim=True)"},
             "Your image has only one channel.",
             "How does the number of channels follow from the number of features of a patch?"),
    ),
    needs={
        "rows": ("Your answer is wrong only when there are several rows of patches.",
                 "Where in the image is the first patch of the second row?"),
        "channels": ("Your answer is wrong only when there are several channels.",
                     "Within a patch, which number is the first pixel of the second channel?"),
        "": ("Your answer is wrong even for one channel and one row of patches.",
             "Where does each number of the second patch belong?"),
    },
    hints=(
        "With the pixels of a 4 x 4 image numbered from 0 to 15, the first patch of 2 x 2 is 0, 1, 4, 5. "
        "Put this patch and the other three back into the image by hand.",
        "Use `unflatten` to split the tokens into rows and columns of patches, and the features into "
        "channel, pixel row and pixel column. With the samples that makes six axes. In an image the rows "
        "of patches and the pixel rows together form the height, so `permute` must put them next to each "
        "other, and the same holds for the width.",
        "In outline: split the tokens and the features to get (B, rows, columns, C, patch, patch), permute to (B, "
        "C, rows, patch, columns, patch), and flatten (rows, patch) into one axis and (columns, patch) into "
        "another.",
    ),
)
