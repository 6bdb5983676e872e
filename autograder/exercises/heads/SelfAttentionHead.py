"""One attention head as a module."""

import math

import torch
import torch.nn.functional as F
from torch import nn

from autograder.exercises._shared import attention
from autograder.exercises._shared.attention_cases import KEPT_NEEDS, MASK_NEEDS, Maker, cases_of_every_class
from autograder.exercises._shared.heads import ASPECTS, NO_MULTIHEAD
from autograder.schema import Exercise, edit, fitting, past_only, samples_apart, shares_sum_to_one


class SelfAttentionHead(nn.Module):
    def __init__(self, d_model, d_head=None):
        super().__init__()
        d_head = d_head or d_model
        self.q_proj = nn.Linear(d_model, d_head)
        self.k_proj = nn.Linear(d_model, d_head)
        self.v_proj = nn.Linear(d_model, d_head)

    def forward(self, x, mask=None):
        q = self.q_proj(x)
        k = self.k_proj(x)
        v = self.v_proj(x)
        scores = q @ k.transpose(-2, -1)
        scores = scores / math.sqrt(q.shape[-1])
        if mask is not None:
            scores = scores.masked_fill(~mask, -torch.inf)
        weights = torch.softmax(scores, dim=-1).nan_to_num()
        output = weights @ v
        return output


class Reference(nn.Module):
    def __init__(self, d_model, d_head=None):
        super().__init__()
        self.q_proj, self.k_proj, self.v_proj = (nn.Linear(d_model, d_head or d_model) for _ in range(3))

    def forward(self, x, mask=None):
        q, k, v = self.q_proj(x), self.k_proj(x), self.v_proj(x)
        mask = None if mask is None else mask.expand(len(x), x.shape[1], x.shape[1])
        return F.scaled_dot_product_attention(q, k, v, attn_mask=mask)


def cases(draw):
    parts = ("q_proj", "k_proj", "v_proj")
    make = Maker(draw, rows=lambda d_model, heads, d_head: dict.fromkeys(parts, heads * d_head),
                 init=lambda d_model, heads, d_head: (d_model, heads * d_head), heads=False)
    batch, tokens, d_head, d_model = draw.sizes(4, 2, 7)
    first, values = (batch, tokens, tokens, 1, d_head), {"gradients": False}
    yield make.case("all sizes different", first, d_model=d_model, observe=True)
    # The same shapes as before, so that anything cached by shape would still fit.
    yield make.case("other weights in the same module", first, d_model=d_model)
    yield make.case("no d_head", (2, 4, 4, 1, 6), init=(6,))
    yield make.case("d_head is None", (2, 4, 4, 1, 3), init={"d_model": 3, "d_head": None}, **values)
    yield make.case("four of everything", (4, 4, 4, 1, 4))
    yield make.case("as many samples as tokens, a mask", (4, 4, 4, 1, 3), (4, 4), d_model=5, **values)
    yield make.case("a mask for each sample", (2, 4, 4, 1, 5), (2, 4, 4), d_model=3, by_name=True)
    yield make.case("one mask for all samples", (3, 5, 5, 1, 2), (1, 5, 5), d_model=6, **values)
    yield from cases_of_every_class(make, 1)


LAYER = "nn.Linear(d_model, d_head)"
EXERCISE = Exercise(
    number=1, minutes=12, difficulty=2,
    worked=SelfAttentionHead,
    reference=Reference,
    cases=cases,
    aspects=ASPECTS,
    shapes={"x": "B N d_model", "mask": "B N N", "return": "B N d_head"},
    rules=NO_MULTIHEAD,
    mistakes=(
        *fitting(SelfAttentionHead, attention.MASK_USE + attention.CAUSAL_UNASKED),
        *fitting(SelfAttentionHead, attention.SCALES + attention.ROLES + attention.MAXIMA + attention.LAYERS),
        edit("HEAD-03", {attention.SCALE: "/ math.sqrt(x.shape[-1])"}),
        edit("SDPA-21", {attention.PRODUCT: "q.flatten(0, 1)[None] @ k.flatten(0, 1)[None].transpose(-2, -1)",
              attention.MIX: "(weights @ v.flatten(0, 1)[None]).reshape(v.shape)"}),
        edit("SDPA-23", {"return output": "return weights"}),
        edit("SDPA-23", {"return output": "return output, weights"}, *attention.A_PAIR),
        edit("HEAD-25", {LAYER: "nn.Linear(d_model, d_head, bias=False)"}),
        edit("HEAD-27 no width is not foreseen", {"d_head or d_model": "d_head"},
             "Your head cannot be built without `d_head`.",
             "How wide should the head be when the caller passes no `d_head`?"),
        edit("HEAD-29 the width asked for is ignored", {"d_head or d_model": "d_model"},
             "Your head is as wide as the model, whatever `d_head` is.",
             "What are the input and output widths of each of your projections?"),
        edit("HEAD-33", {f"self.q_proj = {LAYER}": "self.qkv_proj = nn.Linear(d_model, 3 * d_head)",
              f"self.k_proj = {LAYER}": "pass", f"self.v_proj = {LAYER}": "pass"}),
        edit("HEAD-35 an output layer that is not asked for",
             {f"self.v_proj = {LAYER}": f"self.v_proj = {LAYER}; self.out_proj = nn.Linear(d_head, d_head)",
              "return output": "return self.out_proj(output)"},
             "Your head has one more layer than the exercise asks for.",
             "Which parts does the exercise name for a single head?"),
        edit("HEAD-35",
             {f"self.v_proj = {LAYER}": f"self.v_proj = {LAYER}; self.out_proj = nn.Linear(d_head, d_model)",
              "return output": "return self.out_proj(output)"}),
    ),
    needs=KEPT_NEEDS | MASK_NEEDS,
    invariants=(
        samples_apart("causal", "causal, another second sample"),
        past_only("causal", "causal, another last token"),
        shares_sum_to_one("values all one"),
    ),
    hints=(
        "Three linear layers are learned. Each one takes vectors of width d_model and returns vectors of width "
        "d_head; when `d_head` is None, use d_model instead.",
        "`forward` makes queries, keys and values from x and then applies attention, as in the earlier lessons. Does "
        "the scale use the width of x, or the width of the queries?",
        "In outline: make three nn.Linear in `__init__`; in `forward`, project x (B, N, d_model) to three tensors "
        "(B, N, d_head), and apply masked attention to them, which gives (B, N, d_head).",
    ),
)
