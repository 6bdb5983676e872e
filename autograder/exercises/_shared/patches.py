"""What patchify and unpatchify have in common: their rule, the sizes of their cases, and mistakes in the
order of axes.
"""

from autograder.schema import Rules, edit

BY_HAND = Rules(None, ("F.unfold, F.fold and the pixel shuffles",))

# Mistakes for worked answers that reorder six axes with one call of `permute`:
CUT, JOIN = "permute(0, 2, 4, 1, 3, 5)", "permute(0, 3, 1, 4, 2, 5)"
COLUMNS = ("Your patches run down the columns of the image.",
           "Which patch should come second: the one to the right of the first, or the one below it?")
CHANNELS_LAST = ("Within a patch, your channels change fastest.",
                 "Which comes first within a patch: all of one channel, or all of one pixel?")
ON_ITS_SIDE = ("Each of your patches is transposed.",
               "Within a patch, what is the second number: the pixel to the right of the first, or the one below it?")
LOST_PLACES = (
    edit("VIT-03 patches in the order of columns", {CUT: "permute(0, 4, 2, 1, 3, 5)"}, *COLUMNS),
    edit("VIT-03", {JOIN: "flatten(1, 2).unflatten(1, (columns, rows)).permute(0, 3, 2, 4, 1, 5)"}, *COLUMNS),
    edit("VIT-23 channels change fastest", {CUT: "permute(0, 2, 4, 3, 5, 1)"}, *CHANNELS_LAST),
    edit("VIT-23", {JOIN: "flatten(3).unflatten(3, (patch, patch, -1)).permute(0, 5, 1, 3, 2, 4)"}, *CHANNELS_LAST),
    edit("VIT-25 patches on their sides", {CUT: "permute(0, 2, 4, 1, 5, 3)"}, *ON_ITS_SIDE),
    edit("VIT-25", {JOIN: "permute(0, 3, 1, 5, 2, 4)"}, *ON_ITS_SIDE),
)


def patch_cases(draw, case):
    """Yield cases of many sizes, each made by `case(draw, family, batch, channels, rows, columns, patch,
    **more)`. Rows and columns are counted in patches.
    """
    batch, channels, rows, columns = draw.sizes(4, 2, 6)
    yield case(draw, "all sizes different", batch, channels, rows, columns, 7, needs=("channels", "rows"),
               observe=True)
    yield case(draw, "one channel", 2, 1, 3, 2, 4, needs=("rows",))
    yield case(draw, "one row of patches", 2, 3, 1, 4, 3, needs=("channels",))
    yield case(draw, "one column of patches", 2, 3, 4, 1, 3, needs=("channels", "rows"))
    yield case(draw, "the image is one patch", 2, 3, 1, 1, 4, needs=("channels",))
    yield case(draw, "patches of one pixel", 2, 3, 4, 5, 1, needs=("channels", "rows"))
    yield case(draw, "two of everything", 2, 2, 2, 2, 2, needs=("channels", "rows"))
    yield case(draw, "three of everything", 3, 3, 3, 3, 3, needs=("channels", "rows"))
    yield case(draw, "one channel, one row of patches", 1, 1, 1, 3, 2)
    yield case(draw, "one of everything", 1, 1, 1, 1, 1)
    yield case(draw, "five channels", 1, 5, 2, 2, 2, gradients=False, needs=("channels", "rows"))
    yield case(draw, "a larger image", 1, 3, 16, 12, 4, gradients=False, needs=("channels", "rows"))
