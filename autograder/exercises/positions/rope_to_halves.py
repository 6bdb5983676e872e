"""The rows of a weight reordered, so that a model that pairs features i and i + d_head/2 can use it."""

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
    # Here the order and its inverse are the same.
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
             "You deal the two halves of a head out in turn, which is the way back.",
             "From which rows of the old weight do the first d_head/2 rows of a head come?"),
        edit("ROPE-53 all heads at once", {HEADS: "weight[None]"},
             "Your rows leave their heads.", "Within which rows is the order changed: all, or those of one head?"),
        edit("ROPE-55 the second of each pair first", {HALVES: "torch.cat((heads[:, 1::2], heads[:, 0::2]), dim=1)"},
             "The odd rows of a head stand before the even ones in yours.",
             "Which half should hold the first feature of each pair?"),
        edit("ROPE-57 columns instead of rows", {HEADS: "weight.unflatten(1, (1, -1))",
             HALVES: "torch.cat((heads[..., 0::2], heads[..., 1::2]), dim=-1)", LAST: "return halves.flatten(1)"},
             "You reorder the columns.",
             "In the weight of an nn.Linear, which axis is the output, where the heads are?"),
        edit("ROPE-57", {HEADS: "weight.T.unflatten(0, (n_heads if len(weight.T) % n_heads == 0 else 1, -1))",
             LAST: "return halves.flatten(0, 1).T"}),
        edit("ROPE-57", {HEADS: "weight.chunk(n_heads, dim=1)", LAST: "return halves",
             HALVES: "torch.cat([part for one in heads for part in (one[:, 0::2], one[:, 1::2])], dim=1)"}),
        edit("ROPE-59 heads and features change places", {HEADS: "weight.unflatten(0, (-1, n_heads))"},
             "You take every n-th row for a head.", "Which rows of the weight belong to the first head?"),
        edit("ROPE-59", {HEADS: "weight.unflatten(0, (-1, n_heads)).transpose(0, 1)"}),
        edit("ROPE-61 nothing is moved", {LAST: "return weight.clone()"},
             "Your weight is the one that was given.", "Where should the second row of a head go?"),
        edit("ROPE-63 an axis too many", {LAST: "return halves"},
             "Your heads still have their own axis.", "Which shape should a layer's weight have?"),
        edit("ROPE-65 one half only", {HALVES: "heads[:, 0::2]"},
             "Half of your rows are gone.", "Where do the odd rows of a head go?"),
        edit("ROPE-69 halves exchanged", {HALVES: "torch.cat(heads.chunk(2, dim=1)[::-1], dim=1)"},
             "You exchange the halves of a head.", "Which rows make a pair before, and which afterwards?"),
        edit("ROPE-71 the second half backwards", {HALVES: HALVES.replace("heads[:, 1::2]", "heads[:, 1::2].flip(1)")},
             "The odd rows come in the opposite order in yours.", "Row 2i + 1 goes to which place?"),
        edit("ROPE-73 written into the weight", {LAST: "weight.copy_(halves.flatten(0, 1))\n    return weight"},
             "After the call the caller's weight has another order, too.",
             "Which line writes into a tensor that it was given?"),
    ),
    combinable=("ROPE-51", "ROPE-53", "ROPE-55", "ROPE-59"),
    needs={
        "pairs": ("With one pair in a head you are right; with several you are not.",
                  "Write down the rows of a head of six: where does each of them go?"),
        "heads": ("With one head you are right; with several you are not.",
                  "Which rows belong to the second head, before and afterwards?"),
        "": ("A head of one pair should come back as it was.", "Where do rows 0 and 1 go if d_head/2 is 1?"),
    },
    hints=(
        "Take one head of six rows: 0 1 2 3 4 5. In which order should they stand so that 0 and 1 are three apart?",
        "Give the heads their own axis. Within a head, which rows go to the first half?",
        "The shape of it: (n_heads, d_head, d_in), every second row, the others after them, and flat again.",
    ),
)
