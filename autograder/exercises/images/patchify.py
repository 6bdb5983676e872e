"""Images cut into patches, each flattened into one row of numbers."""

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
    images = draw.normal(2, 4, 6, 3).permute(0, 3, 1, 2)
    yield Case("images whose channels are last in memory", (images, 2), gradients=False, aspect=SIDE_EFFECTS,
               needs=("channels", "rows"))
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
             "Each of your rows holds pixels that lie one after the other in memory.",
             "If you change one patch of the image, how many of your rows change?"),
        edit("several patches of one channel in a row", {ORDER: "permute(0, 1, 2, 4, 3, 5)", LAST:
             "pieces.reshape(len(images), -1, images.shape[1] * patch**2)"},
             "Each of your rows holds several patches of one channel instead of the channels of one patch.",
             "Which three of the six axes belong to one patch?"),
        edit("VIT-05 every so many pixels", {PIECES: "images.unflatten(3, (patch, -1)).unflatten(2, (patch, -1))",
             ORDER: "permute(0, 3, 5, 1, 2, 4)"},
             "The pixels of your patches lie far apart.",
             "Are the pixels of a patch neighbours in the image?"),
        edit("VIT-11 what does not fill a patch is dropped", {RAISE: "str(", "    pieces = images": CUT},
             "You drop the pixels that do not fill a patch.",
             "What does the docstring ask for when patches do not fill the image?"),
        edit("VIT-13 no ValueError", {RAISE: "str("},
             "You raise no ValueError for a patch size that does not divide the image.",
             "Which two sizes must `patch` divide?"),
        edit("VIT-13", {CHECK: "if height % patch:"}),
        edit("VIT-13", {CHECK: "if width % patch:"}),
        edit("VIT-13", {CHECK: "if height % patch and width % patch:"}),
        edit("VIT-13", {CHECK: "if height * width % patch**2:"}),
        edit("VIT-13", {RAISE: "raise AssertionError("}),
        edit("VIT-17 patches keep their own axes", {LAST: "pieces.flatten(3)"},
             "Your result still has two axes for the rows and columns of patches.",
             "Which axes should be merged into the token axis?"),
        edit("VIT-19 a patch for each channel",
             {ORDER: "permute(0, 1, 2, 4, 3, 5)", LAST: "pieces.flatten(4).flatten(1, 3)"},
             "Each channel has its own patches in your result.",
             "How many numbers does a 2 x 2 patch of an image with three channels have?"),
        edit("VIT-21 patches come last", {LAST: "pieces.flatten(3).flatten(1, 2).mT"},
             "Your patches are columns.",
             "In the docstring's shape, which axis comes first: patches or features?"),
    ),
    needs={
        "rows": ("Your answer is wrong only when there are several rows of patches.",
                 "Which patch comes second when the image has two rows and two columns of patches?"),
        "channels": ("Your answer is wrong only when there are several channels.",
                     "Within a patch, which pixel comes after the last one of the first channel?"),
        "": ("Your answer is wrong even for one channel and one row of patches.",
             "Which pixels are in the second patch, and in which order?"),
    },
    hints=(
        "Number the pixels of a 4 x 4 image from 0 to 15 and write down its four patches of 2 x 2. The "
        "first is 0, 1, 4, 5.",
        "Use `unflatten` to split H into (rows of patches, pixel row) and W into (columns of patches, "
        "pixel column); that makes six axes. A patch consists of channel, pixel row and pixel column, so "
        "`permute` must move these three to the end.",
        "In outline: raise ValueError if patch does not divide H and W, split both axes, permute to (B, rows, "
        "columns, C, patch, patch), flatten the last three axes into one, and flatten the rows and columns into "
        "another.",
    ),
)
