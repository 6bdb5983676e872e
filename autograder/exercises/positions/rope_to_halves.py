"""The rows of a weight reordered for models that rotate features i and i + d_head/2 as a pair."""

import torch

from autograder.schema import DTYPES, SIDE_EFFECTS, VALUES, Case, Exercise, edit


def rope_to_halves(weight, n_heads):
    heads = weight.unflatten(0, (n_heads, -1))
    halves = torch.cat((heads[:, 0::2], heads[:, 1::2]), dim=1)
    return halves.flatten(0, 1)


def reference(weight, n_heads):
    return weight.reshape(n_heads, -1, 2, weight.shape[1]).transpose(1, 2).reshape(weight.shape)


def cases(draw):
    heads, half, width = draw.sizes(3, 3, 7)
    one, several = ("pairs",), ("pairs", "heads")
    yield _case(draw, "all sizes different", heads, 2 * half, width, needs=several)
    yield _case(draw, "one head", 1, 10, 3, needs=one)
    yield _case(draw, "heads of one pair", 3, 2, 4, needs=("heads",))
    yield _case(draw, "a square weight", 2, 8, 16, needs=several)
    yield _case(draw, "as many heads as features of a head", 6, 6, 6, needs=several)
    # Here the reordering is its own inverse.
    yield _case(draw, "heads of two pairs", 3, 4, 5, needs=several)
    yield _case(draw, "one input", 2, 6, 1, needs=several)
    yield _case(draw, "one head of one pair", 1, 2, 1)


def _case(draw, family, heads, d_head, width, **more):
    return Case(family, (draw.normal(heads * d_head, width), heads), gradients=False, **more)


HEADS, HALVES = "weight.unflatten(0, (n_heads, -1))", "torch.cat((heads[:, 0::2], heads[:, 1::2]), dim=1)"
LAST = "return halves.flatten(0, 1)"

EXERCISE = Exercise(
    number=4, minutes=8, difficulty=2,
    worked=rope_to_halves,
    reference=reference,
    cases=cases,
    standard=("float64", "transposed", "by name"),
    aspects={VALUES: 3, SIDE_EFFECTS: 1, DTYPES: 1},
    shapes={"weight": "n_heads*d_head d_in", "return": "n_heads*d_head d_in"},
    mistakes=(
        edit("ROPE-51 the way back", {HALVES: "torch.stack(heads.chunk(2, dim=1), dim=2).flatten(1, 2)"},
             "You interleave the two halves of a head, which is the reverse of what is asked.",
             "From which rows of the old weight do the first d_head/2 rows of a head come?"),
        edit("ROPE-53 all heads at once", {HEADS: "weight[None]"},
             "Your rows move from one head to another.",
             "Should you reorder all rows at once, or the rows of each head?"),
        edit("ROPE-55 the second of each pair first", {HALVES: "torch.cat((heads[:, 1::2], heads[:, 0::2]), dim=1)"},
             "In your result the odd rows of a head come before the even ones.",
             "Which half should hold the first feature of each pair?"),
        edit("ROPE-57 columns instead of rows", {HEADS: "weight.unflatten(1, (1, -1))",
             HALVES: "torch.cat((heads[..., 0::2], heads[..., 1::2]), dim=-1)", LAST: "return halves.flatten(1)"},
             "You reorder the columns of the weight.",
             "Which axis of an nn.Linear's weight is the output, where the heads are?"),
        edit("ROPE-57", {HEADS: "weight.T.unflatten(0, (n_heads if len(weight.T) % n_heads == 0 else 1, -1))",
             LAST: "return halves.flatten(0, 1).T"}),
        edit("ROPE-57", {HEADS: "weight.chunk(n_heads, dim=1)", LAST: "return halves",
             HALVES: "torch.cat([part for one in heads for part in (one[:, 0::2], one[:, 1::2])], dim=1)"}),
        edit("ROPE-59 heads and features change places", {HEADS: "weight.unflatten(0, (-1, n_heads))"},
             "Your heads consist of the wrong rows.", "Which rows of the weight belong to the first head?"),
        edit("ROPE-59", {HEADS: "weight.unflatten(0, (-1, n_heads)).transpose(0, 1)"}),
        edit("ROPE-61 nothing is moved", {LAST: "return weight.clone()"},
             "You return the weight unchanged.", "Where should the second row of a head go?"),
        edit("ROPE-63 an axis too many", {LAST: "return halves"},
             "Your heads still have an axis of their own.", "Which shape should a layer's weight have?"),
        edit("ROPE-65 one half only", {HALVES: "heads[:, 0::2]"},
             "Your result has lost half of the rows.", "Where should the odd rows of a head go?"),
        edit("ROPE-69 halves exchanged", {HALVES: "torch.cat(heads.chunk(2, dim=1)[::-1], dim=1)"},
             "You swap the two halves of each head.", "To which row should row 1 of a head go?"),
        edit("ROPE-71 the second half backwards", {HALVES: HALVES.replace("heads[:, 1::2]", "heads[:, 1::2].flip(1)")},
             "Your odd rows come in reverse order.", "To which row should row 2i + 1 go?"),
        edit("ROPE-73 written into the weight", {LAST: "weight.copy_(halves.flatten(0, 1))\n    return weight"},
             "After the call the caller's weight is reordered too.",
             "Which line writes into a tensor that was passed in?"),
    ),
    needs={
        "pairs": ("Your result is right for one pair in a head, and wrong for several.",
                  "In a head of six rows, where should each row go?"),
        "heads": ("Your result is right for one head, and wrong for several.",
                  "Which rows belong to the second head, before and after the reordering?"),
        "": ("A head of one pair should come back unchanged, but it does not.",
             "Where should rows 0 and 1 go when d_head/2 is 1?"),
    },
    hints=(
        "Take one head of six rows, 0 to 5. Row 2i goes to i, and row 2i + 1 to i + 3. Write down the new order.",
        "Give the heads an axis of their own, so that one slice works in all of them. In a head, the even rows, "
        "0::2, go to the first half. Where do the others go?",
        "In outline: reshape to (n_heads, d_head, d_in); concatenate the even rows and the odd rows of each head "
        "along the axis of the rows; flatten back to two axes.",
    ),
)
