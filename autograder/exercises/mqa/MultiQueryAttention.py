"""Multi-query attention: all query heads share one key head and one value head (Shazeer 2019)."""

import math

import torch
import torch.nn.functional as F  # noqa: F401 (the mistakes use it)
from torch import nn

from autograder.exercises._shared import heads, kv_heads
from autograder.exercises._shared.attention_cases import HEADS_NEEDS, KEPT_NEEDS, MASK_NEEDS
from autograder.schema import Exercise, edit, fitting


class MultiQueryAttention(nn.Module):
    def __init__(self, d_model, n_heads):
        super().__init__()
        self.n_heads = n_heads
        d_head = d_model // n_heads
        self.q_proj = nn.Linear(d_model, d_model)
        self.k_proj = nn.Linear(d_model, d_head)
        self.v_proj = nn.Linear(d_model, d_head)
        self.out_proj = nn.Linear(d_model, d_model)

    def forward(self, x, mask=None):
        q = self.q_proj(x)
        q = q.unflatten(-1, (self.n_heads, -1)).transpose(1, 2)
        k = self.k_proj(x).unsqueeze(1)
        v = self.v_proj(x).unsqueeze(1)
        scores = q @ k.transpose(-2, -1)
        scores = scores / math.sqrt(q.shape[-1])
        if mask is not None:
            scores = scores.masked_fill(~mask, -torch.inf)
        weights = torch.softmax(scores, dim=-1).nan_to_num()
        output = weights @ v
        output = output.transpose(1, 2).flatten(2)
        return self.out_proj(output)


class Reference(kv_heads.Reference):
    def __init__(self, d_model, n_heads):
        super().__init__(d_model, n_heads)


def cases(draw):
    yield from kv_heads.cases_of_both(draw, grouped=False)


REPEATED = ".unsqueeze(1).repeat(1, 1, self.n_heads, 1)"

EXERCISE = Exercise(
    number=1, minutes=15, difficulty=2,
    worked=MultiQueryAttention,
    reference=Reference,
    cases=cases,
    aspects=heads.ASPECTS,
    shapes={"x": "B N d_model", "return": "B N d_model"},
    rules=kv_heads.BY_HAND,
    invariants=kv_heads.INVARIANTS,
    mistakes=(
        *fitting(MultiQueryAttention, kv_heads.KNOWN, (*kv_heads.WITHOUT, "MHA-89")),
        *fitting(MultiQueryAttention, kv_heads.SHARED_HEADS),
        edit("MQA-09 keys without an axis for heads", {".unsqueeze(1)": ""},
             "Your keys are (B, N, d_head): their batch axis lines up with the heads of the queries.",
             "Line up the shapes of queries and keys from the right. Which axis meets which?"),
        edit("MQA-11 repeated along the tokens", {".unsqueeze(1)": REPEATED},
             "Your keys are repeated along the tokens, so each occurs several times.",
             "How many keys should each query see?"),
    ),
    needs=KEPT_NEEDS | HEADS_NEEDS | MASK_NEEDS,
    hints=(
        "Start from your multi-head attention. The queries keep all their heads; k_proj and v_proj now make a "
        "single head each, of width d_model / n_heads.",
        "The queries have an axis for the heads, (B, H, N, d_head). Give the keys and values an axis of size 1 at "
        "the same position; broadcasting then lets every query head use them.",
        "In outline: queries (B, H, N, d_head) times transposed keys (B, 1, d_head, N) give the scores of all "
        "heads; mask, softmax, weighted sum, merging and output projection are as before.",
    ),
)
