"""Multi-head attention whose queries come from one sequence, and whose keys and values come from another."""

import math

import torch
import torch.nn.functional as F
from torch import nn

from autograder.exercises._shared import attention, attention_cases, heads
from autograder.exercises._shared.attention_cases import Maker, cases_of_every_class
from autograder.schema import Exercise, edit, fitting, samples_apart, shares_sum_to_one


class MultiheadCrossAttention(nn.Module):
    def __init__(self, d_model, n_heads):
        super().__init__()
        self.n_heads = n_heads
        self.q_proj = nn.Linear(d_model, d_model)
        self.k_proj = nn.Linear(d_model, d_model)
        self.v_proj = nn.Linear(d_model, d_model)
        self.out_proj = nn.Linear(d_model, d_model)

    def forward(self, x, context, mask=None):
        q = self.q_proj(x)
        k = self.k_proj(context)
        v = self.v_proj(context)
        q, k, v = (t.unflatten(-1, (self.n_heads, -1)).transpose(1, 2) for t in (q, k, v))
        scores = q @ k.transpose(-2, -1)
        scores = scores / math.sqrt(q.shape[-1])
        if mask is not None:
            scores = scores.masked_fill(~mask, -torch.inf)
        weights = torch.softmax(scores, dim=-1).nan_to_num()
        output = weights @ v
        output = output.transpose(1, 2).flatten(2)
        return self.out_proj(output)


class Reference(nn.Module):
    def __init__(self, d_model, n_heads):
        super().__init__()
        self.n_heads = n_heads
        self.q_proj, self.k_proj, self.v_proj, self.out_proj = (nn.Linear(d_model, d_model) for _ in range(4))

    def forward(self, x, context, mask=None):
        q, k, v = self.q_proj(x), self.k_proj(context), self.v_proj(context)
        q, k, v = (t.unflatten(-1, (self.n_heads, -1)).transpose(1, 2) for t in (q, k, v))
        mask = None if mask is None else mask.expand(len(x), self.n_heads, x.shape[1], context.shape[1])
        output = F.scaled_dot_product_attention(q, k, v, attn_mask=mask)
        return self.out_proj(output.transpose(1, 2).flatten(2))


def cases(draw):
    yield from multihead_cases(draw, context=True)


def multihead_cases(draw, context):
    """Yield the cases that both multi-head classes of this lesson share; `context` says whether the tested
    class takes a context.
    """
    parts = ("q_proj", "k_proj", "v_proj", "out_proj")
    make = Maker(draw, rows=lambda d_model, heads, d_head: dict.fromkeys(parts, d_model),
                 init=lambda d_model, heads, d_head: (d_model, heads), context=context)
    batch, tokens, heads, d_head, keys = draw.sizes(5, 2, 6)
    first, more = (batch, tokens, keys if context else tokens, heads, d_head), int(context)
    values = {"gradients": False}
    yield make.case("all sizes different", first, observe=True)
    # The same shapes as before, so that anything cached by shape would still fit.
    yield make.case("other weights in the same module", first)
    by_name = {"d_model": heads * d_head, "n_heads": heads}
    yield make.case("constructor arguments by name", (3, 4, 5, heads, d_head), init=by_name, **values)
    yield make.case("one head", (2, 4, 4 + more, 1, 5))
    yield make.case("four of everything", (4, 4, 4, 4, 4), **values)
    yield make.case("a mask for each head", (2, 4, 4 + more, 3, 2), (2, 3, 4, 4 + more))
    yield make.case("as many samples as tokens, a mask", (4, 4, 4 + more, 2, 3), (4, 4 + more), **values)
    yield make.case("as many samples as heads, a mask for each", (3, 4, 4 + more, 3, 2), (3, 1, 4, 4 + more), **values)
    yield make.case("heads with a mask each", (2, 3, 3 + more, 4, 2), (4, 3, 3 + more), **values)
    yield make.case("a mask for each sample", (3, 4, 4 + more, 2, 3), (3, 1, 4, 4 + more), by_name=True)
    yield make.case("one mask for samples and heads", (2, 5, 5, 2, 3), (1, 1, 5, 5), **values)
    yield from cases_of_every_class(make, 2)
    if draw.hidden:
        yield make.case("a mask for each head of all samples", (3, 4, 4 + more, 2, 4), (1, 2, 4, 4 + more))


KEYS, VALUES = "k = self.k_proj(context)", "v = self.v_proj(context)"
BOTH = "torch.cat((context, x), dim=1)"

EXERCISE = Exercise(
    number=6, minutes=10, difficulty=2,
    worked=MultiheadCrossAttention,
    reference=Reference,
    cases=cases,
    aspects=heads.ASPECTS | {heads.VALUES: 2},
    shapes={"x": "B N d_model", "context": "B M d_model", "mask": "B H N M", "return": "B N d_model"},
    rules=heads.NO_MULTIHEAD,
    mistakes=(
        *fitting(MultiheadCrossAttention, attention.MASK_USE),
        *fitting(MultiheadCrossAttention, attention.SCALES + attention.ROLES + attention.MAXIMA + attention.LAYERS),
        *fitting(MultiheadCrossAttention, heads.HEADS),
        edit("XATT-01 the roles of x and context swapped",
             {"self.q_proj(x)": "self.q_proj(context)", "self.k_proj(context)": "self.k_proj(x)",
              "self.v_proj(context)": "self.v_proj(x)"},
             "Your queries come from the context, and your keys and values from x.",
             "Should there be one output token for each token of x, or for each token of the context?"),
        edit("XATT-03 the context is not used", {KEYS: "k = self.k_proj(x)", VALUES: "v = self.v_proj(x)"},
             "Your output does not change when the context does.",
             "Which of your projections read the context?"),
        edit("XATT-17 x is added to the heads",
             {"output = weights @ v": "output = weights @ v + x.unflatten(-1, (self.n_heads, -1)).transpose(1, 2)"},
             "You add x to the weighted values.", "Does the formula have a residual connection?"),
        edit("XATT-19 x is read where the shapes agree",
             {KEYS: "k = self.k_proj(x if x.shape == context.shape else context)",
              VALUES: "v = self.v_proj(x if x.shape == context.shape else context)"},
             "When x and the context have the same shape, your keys and values come from x.",
             "Which projections should read the context?"),
        edit("XATT-05 causal without need", attention.UNASKED[0],
             "Your first query never sees the last tokens of the context.",
             "Should a query's position limit which tokens of the context it may attend to?"),
        *(edit("XATT-05", edits) for edits in attention.UNASKED[1:]),
        edit("XATT-11 the keys come from x", {KEYS: "k = self.k_proj(x)"},
             "Your keys are made from x, and your values from the context.",
             "Where does each of the three projections take its input from?"),
        edit("XATT-13 the values come from x", {VALUES: "v = self.v_proj(x)"},
             "Your keys are made from the context, and your values from x.",
             "Where does each of the three projections take its input from?"),
        edit("XATT-15 attends to x as well", {KEYS: f"k = self.k_proj({BOTH})", VALUES: f"v = self.v_proj({BOTH})"},
             "Your queries attend to the context and to x.",
             "Whose tokens may a query attend to here?"),
        edit("MHA-29 the length of x used for the context",
             {heads.CUT: "t.reshape(len(x), x.shape[1], self.n_heads, -1).transpose(1, 2)"},
             "You use the length of x when you reshape the keys and values.",
             "Which sequence's length does each of your reshapes use?"),
    ),
    needs=attention_cases.KEPT_NEEDS | attention_cases.HEADS_NEEDS | attention_cases.MASK_NEEDS,
    invariants=(samples_apart("causal", "causal, another second sample"), shares_sum_to_one("values all one")),
    hints=(
        "The queries come from the sequence that attends, the keys and values from the one that is "
        "attended to. So one of the three projections reads x, and the other two read the context.",
        "x has N tokens and the context has M tokens; the two numbers may differ. Which of your reshapes need N, "
        "and which need M?",
        "In outline: split the heads as before, which gives queries (B, H, N, d_head), and keys and values (B, H, "
        "M, d_head); the scores are (B, H, N, M); the rest is as in self-attention.",
    ),
)
