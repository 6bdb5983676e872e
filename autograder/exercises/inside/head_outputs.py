"""What each head adds to the residual stream (Elhage et al. 2021)."""

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
             "A head of yours is made of features that are not next to each other.",
             "With 2 heads and 6 features: which features are head 0?"),
        edit("HOUT-03 features and weights are cut differently",
             {PARTS: "mixed.unflatten(-1, (-1, n_heads)).transpose(-1, -2)"},
             "The features of a head meet weights of other features.",
             "Which columns of the weight belong to the features of head 0?"),
        edit("HOUT-03", {COLUMNS: "out_proj.weight.unflatten(1, (-1, n_heads)).transpose(-1, -2)"}),
        edit("HOUT-05 rows instead of columns",
             {COLUMNS: "(out_proj.weight.T if out_proj.in_features == out_proj.out_features else out_proj.weight)"
              ".unflatten(1, (n_heads, -1))"},
             "If inputs and outputs are equally wide, you use rows of the weight where its columns belong.",
             "In the weight of an nn.Linear, which axis is the input, where the heads are?"),
        edit("HOUT-07 heads before tokens", {"->bnho": "->bhno"},
             "Your heads stand before the tokens.", "In which order does the exercise name the axes?"),
        edit("HOUT-07", {"->bnho": "->bnoh"}),
        edit("HOUT-09 the sum of all heads", {"->bnho": "->bno"},
             "You return the sum of all heads.", "What is left if the heads are not added up?"),
        edit("HOUT-11 every head is the whole output", {SUM: "out_proj(mixed)[:, :, None].repeat(1, 1, n_heads, 1)"},
             "Each of your heads gives the output of all.", "Which features of `mixed` come from one head?"),
        edit("HOUT-13 a share of the output", {SUM: "(out_proj(mixed) / n_heads)[:, :, None].repeat(1, 1, n_heads, 1)"},
             "All your heads add the same.", "Which features of `mixed` come from one head?"),
        edit("HOUT-15 without the projection", {SUM: "parts"},
             "Your heads have not passed the output projection.",
             "In which space do heads add up: their own, or the model's?"),
        edit("HOUT-17 the output is cut instead of the input",
             {SUM: "out_proj(mixed)[:, :, None].expand(-1, -1, n_heads, -1) * (torch.arange(n_heads)[:, None] == "
              "torch.arange(out_proj.out_features) * n_heads // out_proj.out_features)"},
             "Each of your heads owns some features of the output.",
             "How many features of the output may a single head change?"),
        edit("HOUT-19 scaled by the number of heads", {SUM: SUM + " / n_heads"},
             "The sum of your heads is too small by their number.", "What should the sum over heads be?"),
        edit("HOUT-21 heads in reverse order", {SUM: SUM + ".flip(2)"},
             "Your heads come in another order.", "Which features are head 0?"),
        edit("HOUT-23 all but one head",
             {SUM: f"out_proj(mixed)[:, :, None] - {SUM}"},
             "Each of your heads holds what all others add.",
             "What is left of `mixed` if only one head's features stay?"),
        edit("HOUT-25 no gradient for the projection", {COLUMNS: COLUMNS.replace("weight.", "weight.detach().")},
             "The values are right, but no gradient reaches the weight of the projection.",
             "Which step cuts the weight off?"),
        edit("HOUT-27 running sums", {SUM: SUM + ".cumsum(dim=2)"},
             "Each of your heads also holds those before it.", "What does a single head add?"),
    ),
    combinable=("HOUT-05", "HOUT-07", "HOUT-19"),
    needs={
        "width": ("Heads of one feature are right in yours; wider ones are not.",
                  "Which features are one head, and which columns of the weight belong to them?"),
        "heads": ("One head is right in yours; several are not.",
                  "Which part of the product belongs to each of them?"),
        "": ("Even a single head comes out wrong.", "What does out_proj make of `mixed`?"),
    },
    hints=(
        "out_proj(mixed) is a sum over the features of `mixed`. Cut that sum into one piece for each head: which "
        "columns of the weight are in each piece?",
        "Give the heads their own axis in both factors. Over which axis is summed, and which one stays?",
        "The shape of it: (B, N, H, d_head) and (d_out, H, d_head) give (B, N, H, d_out). Its sum over H is the "
        "layer's output.",
    ),
)
