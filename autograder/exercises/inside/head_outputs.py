"""The contribution of each head to the residual stream (Elhage et al. 2021)."""

import torch
import torch.nn.functional as F

from autograder.schema import DTYPES, GRADIENTS, SIDE_EFFECTS, VALUES, Case, Exercise, Module, edit


def head_outputs(mixed, out_proj, n_heads):
    parts = mixed.unflatten(-1, (n_heads, -1))
    columns = out_proj.weight.unflatten(1, (n_heads, -1))
    return torch.einsum("bnhd,ohd->bnho", parts, columns)


def reference(mixed, out_proj, n_heads):
    parts = mixed.chunk(n_heads, dim=-1)
    columns = out_proj.weight.chunk(n_heads, dim=1)
    return torch.stack([F.linear(part, some) for part, some in zip(parts, columns, strict=True)], dim=2)


def cases(draw):
    batch, tokens, heads, d_head = draw.sizes(4, 2, 6)
    wide = ("heads", "width")
    yield _case(draw, "all sizes different", batch, tokens, heads, d_head, heads * d_head + 1, needs=wide)
    yield _case(draw, "as wide as before", batch, tokens, heads, d_head, heads * d_head, needs=wide)
    yield _case(draw, "one head", 2, 3, 1, 4, 4)
    yield _case(draw, "heads of one feature", 2, 3, 4, 1, 4, needs=("heads",))
    yield _case(draw, "as many heads as features in each", 2, 3, 3, 3, 9, needs=wide)
    yield _case(draw, "as many heads as tokens", 2, 4, 4, 2, 5, needs=wide)
    yield _case(draw, "one token, one sample", 1, 1, 2, 3, 6, needs=wide)
    yield _case(draw, "one output", 2, 3, 2, 3, 1, needs=wide)
    yield _case(draw, "one of everything", 1, 1, 1, 1, 1)
    yield _case(draw, "two of everything", 2, 2, 2, 2, 2, needs=wide)


def _case(draw, family, batch, tokens, heads, d_head, d_out, **more):
    width = heads * d_head
    out_proj = Module("Linear", {"in_features": width, "out_features": d_out, "bias": False},
                      {"weight": draw.normal(d_out, width)})
    return Case(family, (draw.normal(batch, tokens, width), out_proj, heads), **more)


PARTS, COLUMNS = "mixed.unflatten(-1, (n_heads, -1))", "out_proj.weight.unflatten(1, (n_heads, -1))"
SUM = 'torch.einsum("bnhd,ohd->bnho", parts, columns)'

EXERCISE = Exercise(
    number=3, minutes=12, difficulty=3,
    worked=head_outputs,
    reference=reference,
    cases=cases,
    standard=("float64", "transposed", "by name"),
    aspects={VALUES: 4, GRADIENTS: 1, SIDE_EFFECTS: 1, DTYPES: 1},
    shapes={"mixed": "B N n_heads*d_head", "return": "B N n_heads d_out"},
    mistakes=(
        edit("HOUT-01 every n-th feature", {PARTS: "mixed.unflatten(-1, (-1, n_heads)).transpose(-1, -2)",
             COLUMNS: "out_proj.weight.unflatten(1, (-1, n_heads)).transpose(-1, -2)"},
             "The features of your heads are not next to each other.",
             "With 2 heads and 6 features, which features belong to head 0?"),
        edit("HOUT-03 features and weights are cut differently",
             {PARTS: "mixed.unflatten(-1, (-1, n_heads)).transpose(-1, -2)"},
             "You split the features and the weight into heads in different ways.",
             "Which columns of the weight belong to the features of head 0?"),
        edit("HOUT-03", {COLUMNS: "out_proj.weight.unflatten(1, (-1, n_heads)).transpose(-1, -2)"}),
        edit("HOUT-05 rows instead of columns",
             {COLUMNS: "(out_proj.weight.T if out_proj.in_features == out_proj.out_features else out_proj.weight)"
              ".unflatten(1, (n_heads, -1))"},
             "When inputs and outputs are equally wide, you use rows of the weight instead of columns.",
             "Which axis of an nn.Linear's weight belongs to the inputs?"),
        edit("HOUT-29 the weight read as inputs by outputs",
             {COLUMNS: "out_proj.weight.reshape(n_heads, -1, out_proj.out_features).permute(2, 0, 1)"},
             "You read the weight as if its rows were the inputs.",
             "What is the shape of an nn.Linear's weight: (outputs, inputs), or the reverse?"),
        edit("HOUT-07 heads before tokens", {"->bnho": "->bhno"},
             "The axes of your result are in the wrong order.",
             "In which order does the docstring list the axes?"),
        edit("HOUT-07", {"->bnho": "->bnoh"}),
        edit("HOUT-09 the sum of all heads", {"->bnho": "->bno"},
             "You return the sum of all heads.", "What shape does the docstring give?"),
        edit("HOUT-11 every head is the whole output", {SUM: "out_proj(mixed)[:, :, None].repeat(1, 1, n_heads, 1)"},
             "Each of your heads gives the output of all heads together.",
             "Which features of `mixed` come from one head?"),
        edit("HOUT-13 a share of the output", {SUM: "(out_proj(mixed) / n_heads)[:, :, None].repeat(1, 1, n_heads, 1)"},
             "All your heads give the same output.", "Which features of `mixed` come from one head?"),
        edit("HOUT-15 without the projection", {SUM: "parts"},
             "You leave out the output projection.",
             "How wide is the output of one head, according to the docstring?"),
        edit("HOUT-17 the output is cut instead of the input",
             {SUM: "out_proj(mixed)[:, :, None].expand(-1, -1, n_heads, -1) * (torch.arange(n_heads)[:, None] == "
              "torch.arange(out_proj.out_features) * n_heads // out_proj.out_features)"},
             "You split the features of the output among the heads.",
             "How many output features can a single head change?"),
        edit("HOUT-19 scaled by the number of heads", {SUM: SUM + " / n_heads"},
             "The sum of your heads is too small by a factor of n_heads.",
             "What should the sum over the heads be?"),
        edit("HOUT-21 heads in reverse order", {SUM: SUM + ".flip(2)"},
             "Your heads are in the wrong order.", "Which features of `mixed` belong to head 0?"),
        edit("HOUT-23 all but one head",
             {SUM: f"out_proj(mixed)[:, :, None] - {SUM}"},
             "Each of your heads gives the sum of all the other heads.",
             "Which features of `mixed` should count for one head?"),
        edit("HOUT-25 no gradient for the projection", {COLUMNS: COLUMNS.replace("weight.", "weight.detach().")},
             "The values are right, but no gradient reaches the weight of the projection.",
             "Which step detaches the weight?"),
        edit("HOUT-27 running sums", {SUM: SUM + ".cumsum(dim=2)"},
             "Each of your heads includes the heads before it.",
             "Which features of `mixed` should count for one head?"),
    ),
    needs={
        "width": ("Your answer is wrong only when heads are wider than one feature.",
                  "Which features belong to one head, and which columns of the weight?"),
        "heads": ("Your answer is wrong only with several heads.",
                  "Which features of `mixed` belong to head 1, and which columns of the weight?"),
        "": ("Your answer is wrong even for a single head.",
             "What should the only head's output be equal to?"),
    },
    hints=(
        "out_proj(mixed) is a sum over the features of `mixed`. Each head owns d_head neighbouring features and "
        "the columns of the weight at the same positions. The part of the sum that comes from these is the head's "
        "output.",
        "Use `unflatten` to give the heads their own axis in both factors: split the last axis of `mixed`, and "
        "the second axis of the weight, which is its input axis. The product then sums over d_head, and the head "
        "axis stays.",
        "In outline: give both factors an axis of heads, (B, N, H, d_head) and (d_out, H, d_head), and multiply "
        "them, for example with torch.einsum, so that only d_head is summed over and (B, N, H, d_out) remains.",
    ),
)
