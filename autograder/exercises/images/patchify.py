"""Images cut into patches, each of them one row of numbers."""

import torch  # noqa: F401 (wrong answers use it)
import torch.nn.functional as F

from autograder.exercises._shared.patches import BY_HAND, LOST_PLACES, patch_cases
from autograder.schema import DTYPES, GRADIENTS, REFUSALS, SIDE_EFFECTS, VALUES, Case, Exercise, edit, fitting


def patchify(images, patch):
    height, width = images.shape[2:]
    if height % patch or width % patch:
        raise ValueError(f"patches of {patch} do not fill an image of {height} x {width}")
    pieces = images.unflatten(3, (-1, patch)).unflatten(2, (-1, patch))
    pieces = pieces.permute(0, 2, 4, 1, 3, 5)
    return pieces.flatten(3).flatten(1, 2)


def reference(images, patch):
    if any(size % patch for size in images.shape[2:]):
        raise ValueError("the patches do not fit")
    return F.unfold(images, patch, stride=patch).mT


def cases(draw):
    yield from patch_cases(draw, _case)
    refused = {"raises": "ValueError", "aspect": REFUSALS, "gradients": False}
    for height, width in ((8, 6), (6, 8), (10, 10), (2, 2)):
        yield Case("a patch that does not divide", (draw.normal(2, 3, height, width), 4), **refused)


def _case(draw, family, batch, channels, rows, columns, patch, **more):
    return Case(family, (draw.normal(batch, channels, rows * patch, columns * patch), patch), **more)


PIECES, ORDER = "images.unflatten(3, (-1, patch)).unflatten(2, (-1, patch))", "permute(0, 2, 4, 1, 3, 5)"
CHECK, RAISE, LAST = "if height % patch or width % patch:", "raise ValueError(", "pieces.flatten(3).flatten(1, 2)"
CUT = "    images = images[:, :, : height - height % patch, : width - width % patch]\n    pieces = images"

EXERCISE = Exercise(
    number=1, minutes=12, difficulty=2,
    worked=patchify,
    reference=reference,
    cases=cases,
    standard=("float64", "transposed", "by name"),
    aspects={VALUES: 4, REFUSALS: 1, GRADIENTS: 1, SIDE_EFFECTS: 1, DTYPES: 1},
    shapes={"images": "B C height width", "return": "B N C*patch*patch"},
    rules=BY_HAND,
    mistakes=(
        *fitting(patchify, LOST_PLACES),
        edit("VIT-01 memory read in order", {LAST: "images.reshape(len(images), -1, images.shape[1] * patch**2)"},
             "Your rows are what lies one after the other in memory.", "Colour one patch white: does one row change?"),
        edit("several patches of one channel in a row", {ORDER: "permute(0, 1, 2, 4, 3, 5)", LAST:
             "pieces.reshape(len(images), -1, images.shape[1] * patch**2)"},
             "Each of your rows holds patches of one channel, not the channels of one patch.",
             "Which of your six axes belong to one patch, and do they stand last when you flatten them?"),
        edit("VIT-05 every so many pixels", {PIECES: "images.unflatten(3, (patch, -1)).unflatten(2, (patch, -1))",
             ORDER: "permute(0, 3, 5, 1, 2, 4)"},
             "The pixels of your patches lie far apart.", "Is a patch a neighbourhood?"),
        edit("VIT-11 what does not fill a patch is dropped", {RAISE: "str(", "    pieces = images": CUT},
             "Pixels that fill no patch are dropped in yours.", "What happens to the pixels that do not fill a patch?"),
        edit("VIT-13 no ValueError", {RAISE: "str("},
             "A patch that does not divide the image is not refused by a ValueError.",
             "What happens to the pixels that do not fill a patch?"),
        edit("VIT-13", {CHECK: "if height % patch:"}),
        edit("VIT-13", {CHECK: "if width % patch:"}),
        edit("VIT-13", {CHECK: "if height % patch and width % patch:"}),
        edit("VIT-13", {CHECK: "if height * width % patch**2:"}),
        edit("VIT-13", {RAISE: "raise AssertionError("}),
        edit("VIT-17 patches keep their own axes", {LAST: "pieces.flatten(3)"},
             "Rows and columns of patches are two axes in yours.", "Which axes become the tokens?"),
        edit("VIT-19 a patch for each channel",
             {ORDER: "permute(0, 1, 2, 4, 3, 5)", LAST: "pieces.flatten(4).flatten(1, 3)"},
             "Each of your channels has patches of its own.", "How many numbers has a patch of a coloured image?"),
        edit("VIT-21 patches come last", {LAST: "pieces.flatten(3).flatten(1, 2).mT"},
             "Your patches are columns.", "Which axis comes first in this course: tokens or features?"),
    ),
    needs={
        "rows": ("With one row of patches you are right; with several you are not.",
                 "Which patch is number 1 in an image of two rows and two columns of patches?"),
        "channels": ("With one channel you are right; with several you are not.",
                     "Within a patch, which pixel comes after the last one of the first channel?"),
        "": ("With a single channel and a single row of patches, your numbers are already wrong.",
             "Which four pixels are the second patch, and in which order do they come?"),
    },
    hints=(
        "Number the pixels of a 4 x 4 image from 0 to 15 and write down its four patches of 2 x 2.",
        "Each of the last two axes is two axes in one: which patch, and which pixel of it. Give all of them a place of "
        "their own: six axes. Which three belong to one patch, and in which order?",
        "The shape of it: (B, C, rows, patch, columns, patch), then rows and columns before C and the two of "
        "the patch, "
        "then put together the first pair and the last three.",
    ),
)
