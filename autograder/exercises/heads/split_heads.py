"""Features split into heads, with the head axis before the token axis."""

import torch

from autograder.exercises._shared.heads import NO_MULTIHEAD
from autograder.schema import DTYPES, GRADIENTS, VALUES, Case, Exercise, edit


def split_heads(x, n_heads):
    heads = x.unflatten(-1, (n_heads, -1))
    heads = heads.transpose(1, 2)
    return heads


def reference(x, n_heads):
    return torch.stack(x.chunk(n_heads, dim=-1), dim=1)


def cases(draw):
    batch, tokens, heads, d_head = draw.sizes(4, 2, 6)
    yield Case("all sizes different", (draw.normal(batch, tokens, heads * d_head),), {"n_heads": heads}, observe=True)
    yield Case("four of everything", (draw.normal(4, 4, 16), 4), float64=True)
    yield Case("one of everything", (draw.normal(1, 1, 1), 1))
    yield Case("columns in memory order", (draw.normal(2, 6, 5).mT, 3))


CUT, TURN = "x.unflatten(-1, (n_heads, -1))", "heads.transpose(1, 2)"
SLICES = "[x[..., h : h + x.shape[-1] // n_heads] for h in range(n_heads)]"

EXERCISE = Exercise(
    number=2, minutes=6, difficulty=2,
    worked=split_heads,
    reference=reference,
    cases=cases,
    standard=("float64",),
    aspects={VALUES: 3, GRADIENTS: 1, DTYPES: 1},
    shapes={"x": "B N d_model", "return": "B H N d_head"},
    rules=NO_MULTIHEAD,
    mistakes=(
        edit("MHA-01", {CUT: "x.reshape(len(x), n_heads, x.shape[1], -1)", TURN: "heads"}),
        edit("MHA-23", {CUT: f"torch.stack({SLICES}, dim=2)"}),
        edit("MHA-37 features dealt out in turn", {CUT: "x.unflatten(-1, (-1, n_heads)).mT"},
             "Your head h holds every n_heads-th feature.",
             "Which features belong to head 0: the first d_head, or every n_heads-th?"),
        edit("MHA-37", {CUT: "x.reshape(len(x), -1, n_heads, x.shape[1]).permute(0, 3, 2, 1)"}),
        edit("MHA-103 strides of contiguous storage",
             {CUT: "x, x.shape[1], x.shape[2], x.shape[2] // n_heads",
              TURN: "x.as_strided((len(x), n_heads, *heads[1::2]), (heads[1] * heads[2], heads[3], heads[2], 1))"},
             "Your result is right only when x is contiguous.",
             "Which strides does x have after a transpose?"),
        edit("MHA-57 the number of heads taken for their width", {CUT: "x.unflatten(-1, (-1, n_heads))"},
             "Your heads are n_heads wide.",
             "n_heads is the number of heads. How wide is each head?"),
        edit("MHA-57", {CUT: "x.reshape(*x.shape[:2], -1, n_heads)", TURN: "heads"}),
        edit("MHA-49 the head axis in another place", {TURN: "heads"},
             "Your heads hold the right features, but your axes are not those of the docstring.",
             "Which axes does the docstring list, and in which order?"),
        edit("MHA-49", {"return heads": "return heads.transpose(0, 1)"}),
        edit("MHA-49", {"return heads": "return heads.flatten(0, 1)"}),
        edit("MHA-53 tokens and features swapped", {"return heads": "return heads.transpose(2, 3)"},
             "In your result, the axes of tokens and of features are swapped.",
             "Write down the shape after each step. Which axis holds the tokens at the end?"),
        edit("MHA-55 a sequence of heads", {"return heads": "return heads.unbind(dim=1)"},
             "You return several tensors, one for each head, instead of a single tensor.",
             "What shape does the docstring ask for?"),
        edit("MHA-55", {"return heads": "return list(heads.unbind(dim=1))"}),
        edit("MHA-55", {CUT: "x", TURN: "x.chunk(n_heads, dim=-1)"}),
    ),
    hints=(
        "Take one token of 6 features, and 3 heads. Head 0 gets features 0 and 1, head 1 gets 2 and 3, head 2 "
        "gets 4 and 5.",
        "There are two steps: cut the last axis into (H, d_head), then move the axis of the heads in front of the "
        "tokens. `reshape` or `unflatten` does the first, `transpose` the second.",
        "In outline: (B, N, d_model) becomes (B, N, H, d_head) by a reshape, and then (B, H, N, d_head) by "
        "swapping two axes.",
    ),
)
