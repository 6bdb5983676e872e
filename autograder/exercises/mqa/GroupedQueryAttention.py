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
    """The shared reference as a separate class, because loading an exercise renames its reference after the
    exercise.
    """


def cases(draw):
    yield from kv_heads.cases_of_both(draw, grouped=True)
    # Sizes (d_model, n_heads, n_kv_heads) of which one does not divide another, although x would fit.
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
             "Your query heads cycle through the key heads: 0, 1, 2, 0, 1, 2.",
             "With 4 query heads and 2 key heads, which query heads should share key head 0?"),
        edit("MQA-03 values in another order than keys", {VALUES: "v.repeat(1, shared, 1, 1)"},
             "Your key heads are paired with the right query heads; your value heads are not.",
             "Do you repeat the key heads and the value heads in the same order?"),
        edit("MQA-19 keys in another order than values", {KEYS: "k.repeat(1, shared, 1, 1)"},
             "Your value heads are paired with the right query heads; your key heads are not.",
             "Do you repeat the key heads and the value heads in the same order?"),
        edit("MQA-07 heads are blended", {EACH: ".mean(dim=1, keepdim=True)"},
             "All your query heads use one average of the key and value heads.",
             "Should a group of query heads share one key head, or the average of all?"),
        edit("MQA-11", {EACH: ".repeat(1, 1, shared, 1)"}),
        edit("MQA-21 one key head for all", {EACH: "[:, :1]"},
             "Only your first key and value head is ever used.", "Which query heads should use the last key head?"),
        edit("MQA-23 repeated as often as there are groups", {EACH: ".repeat_interleave(self.n_kv_heads, dim=1)"},
             "Each of your key heads is repeated as often as there are key heads.",
             "With 6 query heads and 2 key heads, how many query heads does each key head serve?"),
        edit("MQA-109 the query heads of a group are added up",
             {PRODUCT: f"{GROUPED}.sum(dim=2){EACH} @ k.transpose(-2, -1)"},
             "In your answer, each group of query heads uses one set of weights, computed from the sum of its heads.",
             "How many score matrices should six query heads give?"),
        edit("MQA-111 a mask of four axes on scores of five",
             {FILL: "scores.unflatten(1, (self.n_kv_heads, -1)).masked_fill(~mask, -torch.inf).flatten(1, 2)"},
             "Your scores have an axis for the groups; your mask has none.",
             "Line up the axes of mask and scores from the right. Which axis of the mask meets the groups?"),
        edit("MQA-15 groups that do not come out even are not refused", {CHECK: "if d_model % n_heads:"},
             "You accept 6 query heads over 4 key heads without an error.",
             "Which error does the docstring ask for when the heads do not divide evenly?"),
        edit("MQA-15", {CHECK: "if False:"}),
        edit("MQA-15", {CHECK: "if d_model % n_heads or n_kv_heads > n_heads:"}),
        edit("MQA-25 heads that do not come out even are not refused", {CHECK: "if n_heads % n_kv_heads:"},
             "You accept a width that the number of heads does not divide.",
             "Which error does the docstring ask for when n_heads does not divide d_model?"),
        edit("MQA-27 refused with another exception", {"raise ValueError": "raise AssertionError"},
             "You refuse sizes that do not fit, but not with a ValueError.",
             "Which exception does the docstring name?"),
        *fitting(GroupedQueryAttention, kv_heads.KNOWN, kv_heads.WITHOUT),
        *fitting(GroupedQueryAttention, kv_heads.SHARED_HEADS),
        edit("MHA-01", ACROSS_TOKENS),
        edit("MHA-01", ACROSS_TOKENS | {heads.MERGE: heads.IN_MEMORY_ORDER}),
        edit("MHA-37", DEALT_OUT),
        edit("MHA-37", DEALT_OUT | {kv_heads.CUT: "q.unflatten(-1, (-1, self.n_heads)).permute(0, 3, 1, 2)"}),
    ),
    needs={
        "groups": ("Your result is right with one key head for all query heads and with one for each, and "
                   "wrong in between.",
                   "With 6 query heads and 3 key heads, which query heads should share key head 0?"),
    } | KEPT_NEEDS | HEADS_NEEDS | MASK_NEEDS,
    hints=(
        "Draw six query heads and three key heads, and connect each query head with its key head. Neighbouring "
        "query heads share a key head: query heads 0 and 1 use key head 0.",
        "The keys come out as (B, n_kv_heads, N, d_head), the queries as (B, n_heads, N, d_head), so each key "
        "head serves several query heads. `repeat_interleave` puts the copies of a head next to each other; "
        "`repeat` puts copies of the whole list of heads one after the other.",
        "In outline: raise a ValueError unless n_heads divides d_model and n_kv_heads divides n_heads; project "
        "and split into heads; repeat key and value heads in the order 0 0 1 1 2 2 (for six query heads "
        "and three key heads); then apply masked attention, merge the heads, and apply the output projection as "
        "before.",
    ),
)
