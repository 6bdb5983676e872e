"""Grouped-query attention: neighbouring query heads share a key head and a value head (Ainslie et al. 2023)."""

import math

import torch
import torch.nn.functional as F  # noqa: F401 (the mistakes use it)
from torch import nn

from autograder.exercises._shared import heads, kv_heads
from autograder.exercises._shared.attention import FILL, PRODUCT
from autograder.exercises._shared.attention_cases import HEADS_NEEDS, KEPT_NEEDS, MASK_NEEDS
from autograder.schema import REFUSALS, Case, Exercise, edit, fitting


class GroupedQueryAttention(nn.Module):
    def __init__(self, d_model, n_heads, n_kv_heads):
        super().__init__()
        if d_model % n_heads or n_heads % n_kv_heads:
            raise ValueError("n_heads must divide d_model, and n_kv_heads must divide n_heads")
        self.n_heads, self.n_kv_heads = n_heads, n_kv_heads
        d_head = d_model // n_heads
        self.q_proj = nn.Linear(d_model, d_model)
        self.k_proj = nn.Linear(d_model, n_kv_heads * d_head)
        self.v_proj = nn.Linear(d_model, n_kv_heads * d_head)
        self.out_proj = nn.Linear(d_model, d_model)

    def forward(self, x, mask=None):
        q = self.q_proj(x)
        k = self.k_proj(x)
        v = self.v_proj(x)
        q = q.unflatten(-1, (self.n_heads, -1)).transpose(1, 2)
        k = k.unflatten(-1, (self.n_kv_heads, -1)).transpose(1, 2)
        v = v.unflatten(-1, (self.n_kv_heads, -1)).transpose(1, 2)
        shared = self.n_heads // self.n_kv_heads
        k = k.repeat_interleave(shared, dim=1)
        v = v.repeat_interleave(shared, dim=1)
        scores = q @ k.transpose(-2, -1)
        scores = scores / math.sqrt(q.shape[-1])
        if mask is not None:
            scores = scores.masked_fill(~mask, -torch.inf)
        weights = torch.softmax(scores, dim=-1).nan_to_num()
        output = weights @ v
        output = output.transpose(1, 2).flatten(2)
        return self.out_proj(output)


class Reference(kv_heads.Reference):
    """With as many key/value heads as are asked for."""


def cases(draw):
    yield from kv_heads.cases_of_both(draw, grouped=True)
    # (d_model, n_heads, n_kv_heads) of which one count does not divide the other; x would fit.
    refused = {"aspect": REFUSALS, "gradients": False, "raises": "ValueError"}
    yield Case("six heads over four key heads", (draw.normal(2, 3, 12),), init=(12, 6, 4), **refused)
    yield Case("two heads over four key heads", (draw.normal(2, 3, 12),), init=(12, 2, 4), **refused)
    yield Case("a width that four heads do not divide", (draw.normal(2, 3, 10),), init=(10, 4, 2), **refused)


KEYS, VALUES = "k.repeat_interleave(shared, dim=1)", "v.repeat_interleave(shared, dim=1)"
EACH = ".repeat_interleave(shared, dim=1)"
DEALT_OUT = {f"{x}.unflatten(-1, (self.n_kv_heads, -1)).transpose(1, 2)":
             f"{x}.unflatten(-1, (-1, self.n_kv_heads)).permute(0, 3, 1, 2)" for x in "kv"}
ACROSS_TOKENS = {kv_heads.CUT: kv_heads.ACROSS_TOKENS} | {
    f"{x}.unflatten(-1, (self.n_kv_heads, -1)).transpose(1, 2)":
    f"{x}.reshape(len(x), self.n_kv_heads, x.shape[1], -1)" for x in "kv"}
GROUPED = "q.unflatten(1, (self.n_kv_heads, -1))"
CHECK = "if d_model % n_heads or n_heads % n_kv_heads:"

EXERCISE = Exercise(
    number=2, minutes=20, difficulty=3,
    worked=GroupedQueryAttention,
    reference=Reference,
    cases=cases,
    aspects=heads.ASPECTS | {REFUSALS: 1},
    shapes={"x": "B N d_model", "return": "B N d_model"},
    rules=kv_heads.BY_HAND,
    invariants=kv_heads.INVARIANTS,
    mistakes=(
        edit("MQA-01 heads paired with the wrong group", {EACH: ".repeat(1, shared, 1, 1)"},
             "Your query heads meet the key heads in turn: 0, 1, 2, 0, 1, 2.",
             "With 4 query heads and 2 key heads, which query heads should share key head 0?"),
        edit("MQA-03 values in another order than keys", {VALUES: "v.repeat(1, shared, 1, 1)"},
             "Your keys meet the right query heads, your values do not.",
             "Do key and value of a head still belong together after you have spread them?"),
        edit("MQA-19 keys in another order than values", {KEYS: "k.repeat(1, shared, 1, 1)"},
             "Your values meet the right query heads, your keys do not.",
             "Do key and value of a head still belong together after you have spread them?"),
        edit("MQA-07 heads are blended", {EACH: ".mean(dim=1, keepdim=True)"},
             "All your query heads see one average of the key and value heads.",
             "Are you sharing a head, or blending heads?"),
        edit("MQA-11", {EACH: ".repeat(1, 1, shared, 1)"}),
        edit("MQA-21 one key head for all", {EACH: "[:, :1]"},
             "Only your first key and value head is ever used.", "Which query head looks at the last key head?"),
        edit("MQA-23 repeated as often as there are groups", {EACH: ".repeat_interleave(self.n_kv_heads, dim=1)"},
             "Each of your key heads is repeated as often as there are key heads.",
             "With 6 query heads and 2 key heads, how many query heads does each key head serve?"),
        edit("MQA-109 the query heads of a group are added up",
             {PRODUCT: f"{GROUPED}.sum(dim=2){EACH} @ k.transpose(-2, -1)"},
             "All query heads of a group attend by the same weights, those of their sum.",
             "How many tables of scores should six query heads give, and how many do yours give?"),
        edit("MQA-111 a mask of four axes on scores of five",
             {FILL: "scores.unflatten(1, (self.n_kv_heads, -1)).masked_fill(~mask, -torch.inf).flatten(1, 2)"},
             "Your scores have an axis for groups, and your mask has none.",
             "Line up the axes of mask and scores from the right: which axis of the mask meets the groups?"),
        edit("MQA-15 groups that do not come out even are not refused", {CHECK: "if d_model % n_heads:"},
             "6 query heads over 4 key heads are taken without a word.",
             "How many query heads would each key head serve, and what should happen then?"),
        edit("MQA-15", {CHECK: "if False:"}),
        edit("MQA-15", {CHECK: "if d_model % n_heads or n_kv_heads > n_heads:"}),
        edit("MQA-25 heads that do not come out even are not refused", {CHECK: "if n_heads % n_kv_heads:"},
             "A width that the number of heads does not divide is taken without a word.",
             "How wide would a head be in a model of 10 features with 4 heads, and what should happen then?"),
        edit("MQA-27 refused with another exception", {"raise ValueError": "raise AssertionError"},
             "Sizes that do not fit are refused, but not with a ValueError.",
             "Which exception did the exercise promise?"),
        *fitting(GroupedQueryAttention, kv_heads.KNOWN, kv_heads.WITHOUT),
        *fitting(GroupedQueryAttention, kv_heads.SHARED_HEADS),
        edit("MHA-01", ACROSS_TOKENS),
        edit("MHA-01", ACROSS_TOKENS | {heads.MERGE: heads.IN_MEMORY_ORDER}),
        edit("MHA-37", DEALT_OUT),
        edit("MHA-37", DEALT_OUT | {kv_heads.CUT: "q.unflatten(-1, (-1, self.n_heads)).permute(0, 3, 1, 2)"}),
    ),
    combinable=kv_heads.OFTEN,
    needs={
        "groups": ("You are right with one key head for all and with one for each, and wrong between the two.",
                   "With 6 query heads and 3 key heads, which query heads should share key head 0?"),
    } | KEPT_NEEDS | HEADS_NEEDS | MASK_NEEDS,
    hints=(
        "Draw six query heads and three key heads, and a line from every query head to its key head. "
        "Neighbours share.",
        "Keys come out as (B, n_kv_heads, N, d_head), queries as (B, n_heads, N, d_head). How many query "
        "heads does one key head serve, and in which order must the copies stand?",
        "The shape of it: head 0 0 1 1 2 2 for six query heads, for keys and values alike; or an axis more, "
        "(B, groups, heads of a group, N, d_head), and no copies at all.",
    ),
)
