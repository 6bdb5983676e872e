"""Several attention heads in parallel, whose results are mixed by an output projection."""

import math

import torch
import torch.nn.functional as F  # noqa: F401 (the mistakes use it)
from torch import nn

from autograder.exercises._shared import attention, attention_cases, heads
from autograder.exercises.heads.MultiheadCrossAttention import Reference as CrossReference
from autograder.exercises.heads.MultiheadCrossAttention import multihead_cases
from autograder.schema import REFUSALS, Case, Exercise, edit, fitting, past_only, samples_apart, shares_sum_to_one


class MultiheadSelfAttention(nn.Module):
    def __init__(self, d_model, n_heads):
        super().__init__()
        if d_model % n_heads:
            raise ValueError(f"{n_heads} heads cannot share {d_model} features evenly")
        self.n_heads = n_heads
        self.q_proj = nn.Linear(d_model, d_model)
        self.k_proj = nn.Linear(d_model, d_model)
        self.v_proj = nn.Linear(d_model, d_model)
        self.out_proj = nn.Linear(d_model, d_model)

    def forward(self, x, mask=None):
        q = self.q_proj(x)
        k = self.k_proj(x)
        v = self.v_proj(x)
        q, k, v = (t.unflatten(-1, (self.n_heads, -1)).transpose(1, 2) for t in (q, k, v))
        scores = q @ k.transpose(-2, -1)
        scores = scores / math.sqrt(q.shape[-1])
        if mask is not None:
            scores = scores.masked_fill(~mask, -torch.inf)
        weights = torch.softmax(scores, dim=-1).nan_to_num()
        output = weights @ v
        output = output.transpose(1, 2).flatten(2)
        return self.out_proj(output)


class Reference(CrossReference):
    def __init__(self, d_model, n_heads):
        if d_model % n_heads:
            raise ValueError("n_heads must divide d_model")
        super().__init__(d_model, n_heads)

    def forward(self, x, mask=None):
        return super().forward(x, x, mask)


def cases(draw):
    yield from multihead_cases(draw, context=False)
    refused = {"init": (10, 3), "aspect": REFUSALS, "raises": "ValueError", "gradients": False}
    yield Case("ten features, three heads", (draw.normal(2, 3, 10),), **refused)


EXERCISE = Exercise(
    number=4, minutes=20, difficulty=3,
    worked=MultiheadSelfAttention,
    reference=Reference,
    cases=cases,
    aspects=heads.ASPECTS | {heads.VALUES: 6, REFUSALS: 1},
    shapes={"x": "B N d_model", "mask": "B H N N", "return": "B N d_model"},
    rules=heads.NO_MULTIHEAD,
    mistakes=(
        *fitting(MultiheadSelfAttention, attention.MASK_USE + attention.CAUSAL_UNASKED),
        *fitting(MultiheadSelfAttention, attention.SCALES + attention.ROLES + attention.MAXIMA + attention.LAYERS),
        *fitting(MultiheadSelfAttention, heads.HEADS),
        edit("MHA-105 a single token is a special case",
             {"return self.out_proj(output)": "return output if output.shape[1] == 1 else self.out_proj(output)"},
             "Your result is wrong only for a sequence of one token.",
             "Which layer should the weighted values of a single token pass through?"),
        edit("MHA-41 sizes that do not fit are taken", {"if d_model % n_heads:": "if False:"},
             "Your module can be built even if n_heads does not divide d_model.",
             "How wide would each head be if 3 heads shared 10 features?"),
    ),
    needs=attention_cases.KEPT_NEEDS | attention_cases.HEADS_NEEDS | attention_cases.MASK_NEEDS,
    invariants=(
        samples_apart("causal", "causal, another second sample"),
        past_only("causal", "causal, another last token"),
        shares_sum_to_one("values all one"),
    ),
    hints=(
        "Follow one token: it is projected to q, k and v, split into heads, sent through attention, merged, and "
        "projected once more. Each projection is a single layer of width d_model that serves all heads.",
        "With the heads on an axis in front of the tokens, attention runs for all heads at once. Each head is "
        "d_model / n_heads wide, and that width belongs in the scale. `forward` needs n_heads, so keep it in "
        "`self`.",
        "In outline: raise a ValueError if n_heads does not divide d_model; project x three times; split each, "
        "(B, N, d_model) to (B, H, N, d_head); run masked attention; merge back to (B, N, d_model); apply the "
        "output projection.",
    ),
)
