"""Heads merged back into one axis of features: the inverse of `split_heads`."""

import torch

from autograder.exercises._shared.heads import NO_MULTIHEAD
from autograder.schema import DTYPES, GRADIENTS, VALUES, Case, Exercise, edit


def merge_heads(x):
    tokens = x.transpose(1, 2)
    merged = tokens.flatten(2)
    return merged


def reference(x):
    return torch.cat(x.unbind(dim=1), dim=-1)


def cases(draw):
    batch, heads, tokens, d_head = draw.sizes(4, 2, 6)
    yield Case("all sizes different", (draw.normal(batch, heads, tokens, d_head),), observe=True)
    # Transposed in storage, as `split_heads` returns it.
    yield Case("four of everything", (draw.normal(4, 4, 4, 4).transpose(1, 2),))
    yield Case("one of everything", (draw.normal(1, 1, 1, 1),))
    yield Case("float64", (draw.normal(2, 3, 2, 4, dtype=torch.float64).transpose(1, 2),), aspect=DTYPES)


TURN, JOIN = "x.transpose(1, 2)", "tokens.flatten(2)"

EXERCISE = Exercise(
    number=3, minutes=4, difficulty=1,
    worked=merge_heads,
    reference=reference,
    cases=cases,
    aspects={VALUES: 1, GRADIENTS: 1, DTYPES: 1},
    shapes={"x": "B H N d_head", "return": "B N d_model"},
    rules=NO_MULTIHEAD,
    mistakes=(
        edit("MHA-33", {JOIN: "x.reshape(len(x), x.shape[2], -1)"}),
        edit("MHA-33", {JOIN: "x.flatten(1, 2)"}),
        edit("MHA-33", {JOIN: "tokens"}),
        edit("MHA-37 features dealt out in turn", {TURN: "x.permute(0, 2, 3, 1)"},
             "In your merged vector the heads alternate, feature by feature.",
             "Which features belong to head 0: the first d_head, or every n_heads-th?"),
        edit("MHA-99", {JOIN: "x.transpose(-1, -2).reshape(len(x), x.shape[2], -1)"}),
        edit("MHA-99", {JOIN: "x.transpose(1, 3).reshape(len(x), x.shape[2], -1)"}),
        edit("MHA-47", {JOIN: "x.mean(dim=1)"}),
        edit("MHA-47", {JOIN: "x.sum(dim=1)"}),
        edit("MHA-25 one head kept", {JOIN: "x[:, -1]"},
             "Your result holds only one head.",
             "Where in the result should the features of the other heads be?"),
        edit("MHA-25", {JOIN: "x[:, 0]"}),
        edit("MHA-25", {TURN: "x[:, -1:].expand_as(x).transpose(1, 2)"}),
        edit("MHA-03", {JOIN: "tokens.view(x.shape[0], x.shape[2], -1)"}),
        edit("MHA-49 the axes in another order", {"return merged": "return merged.transpose(0, 1)"},
             "Your merged vectors are right, but the axes are in the wrong order.",
             "Which axes does the docstring list, and in which order?"),
        edit("MHA-53", {"return merged": "return merged.transpose(1, 2)"}),
    ),
    hints=(
        "`merge_heads` undoes `split_heads`. What was the last step of `split_heads`?",
        "A reshape can join two axes only if they are next to each other. Here H and d_head must be joined, and N "
        "is between them.",
        "In outline: swap the axes of heads and tokens, (B, H, N, d_head) to (B, N, H, d_head); then join the "
        "last two into d_model. After a transpose use `reshape` or `flatten`, not `view`.",
    ),
)
