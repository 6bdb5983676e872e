"""Patches put together again to images."""

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
             "Your image is filled in the order in which numbers lie in memory.",
             "Where should the second number of the second patch land?"),
        edit("each patch fills a stretch of rows", {ORDER: "permute(0, 3, 1, 2, 4, 5)", LAST:
             "pieces.reshape(len(patches), -1, height, width)"},
             "Each of your patches fills a stretch of rows, and no square.",
             "Which two of your six axes together are the height, and do they stand side by side?"),
        edit("VIT-43 rows and columns exchanged", {COUNTS: "width // patch, height // patch"},
             "Your image is as high as it should be wide.",
             "How many patches stand in a row: height, or width, over patch?"),
        edit("VIT-45 pixels of a patch are scattered", {ORDER: "permute(0, 3, 4, 1, 5, 2)"},
             "The pixels of one patch end up far apart.", "Is a patch a neighbourhood?"),
        edit("VIT-47 the order of patchify again", {ORDER: "permute(0, 2, 4, 1, 3, 5)", LAST:
             "pieces.reshape(len(patches), -1, height, width)"},
             "You reorder the axes as for cutting, not for putting together.",
             "Your six axes are no longer those of an image: which is which?"),
        edit("VIT-49 the channels come last", {ORDER: "permute(0, 1, 4, 2, 5, 3)", LAST: "pieces.flatten(3, "
                                               "4).flatten(1, 2)"},
             "Your channels are the last axis.", "In which order are the axes of an image here?"),
        edit("VIT-51 six axes", {LAST: "pieces"},
             "Your image still has six axes.", "Which two pairs of axes become height and width?"),
        edit("VIT-53 the channels are patches", {LAST: "pieces.flatten(4).flatten(2, 3).mean(1, keepdim=True)"},
             "Your image has one channel.", "How many channels follow from the size of a patch?"),
    ),
    needs={
        "rows": ("With one row of patches you are right; with several you are not.",
                 "Where in the image does patch 1 stand, and where the first patch of the second row?"),
        "channels": ("With one channel you are right; with several you are not.",
                     "Within a patch, which number is the first pixel of the second channel?"),
        "": ("With a single channel and a single row of patches, your numbers are already wrong.",
             "Where does each of the four numbers of the second patch belong?"),
    },
    hints=(
        "Take the four patches of a 4 x 4 image whose pixels are numbered, and put them back by hand.",
        "The numbers have six axes: which image, row and column of the patch, channel, row and column within it. In an "
        "image, which two of them lie next to each other?",
        "The shape of it: (B, rows, columns, C, patch, patch), then C first, each pair that makes height or "
        "width side by "
        "side, then put together.",
    ),
)
