"""Lesson 04, heads: one head as a module, and many heads side by side."""

import torch
import torch.nn.functional as F
from torch import nn

from autograder.exercises import clues
from autograder.exercises import head_cases as cases
from autograder.exercises.exercise import (
    DTYPES,
    EMPTY_ROWS,
    GRADIENTS,
    REFUSALS,
    SIDE_EFFECTS,
    STABILITY,
    VALUES,
    Exercise,
    Rules,
)
from autograder.exercises.invariants import past_only, samples_apart, shares_sum_to_one
from autograder.exercises.mistakes import head_tools, multihead, multihead_cross, one_head

LESSON = "04_heads"
NO_MULTIHEAD = Rules(None, ("nn.MultiheadAttention",))
MODULE_ASPECTS = {VALUES: 4, EMPTY_ROWS: 1, STABILITY: 1, GRADIENTS: 1, SIDE_EFFECTS: 1, DTYPES: 1}
SAMPLES = samples_apart("causal", "causal, another second sample")
PAST = past_only("causal", "causal, another last token")
SHARES = shares_sum_to_one("values all one")


class _SelfAttentionHead(nn.Module):
    def __init__(self, d_model, d_head=None):
        super().__init__()
        self.q_proj, self.k_proj, self.v_proj = (nn.Linear(d_model, d_head or d_model) for _ in range(3))

    def forward(self, x, mask=None):
        q, k, v = self.q_proj(x), self.k_proj(x), self.v_proj(x)
        return F.scaled_dot_product_attention(q, k, v, attn_mask=_full(mask, len(x), x.shape[1], x.shape[1]))


def _full(mask, *shape):
    return None if mask is None else mask.expand(*shape)


def _split_heads(x, n_heads):
    return x.unflatten(-1, (n_heads, -1)).transpose(1, 2)


def _merge_heads(x):
    return x.transpose(1, 2).flatten(2)


class _MultiheadCrossAttention(nn.Module):
    def __init__(self, d_model, n_heads):
        super().__init__()
        self.n_heads = n_heads
        self.q_proj, self.k_proj, self.v_proj, self.out_proj = (nn.Linear(d_model, d_model) for _ in range(4))

    def forward(self, x, context, mask=None):
        q, k, v = self.q_proj(x), self.k_proj(context), self.v_proj(context)
        q, k, v = (_split_heads(t, self.n_heads) for t in (q, k, v))
        mask = _full(mask, len(x), self.n_heads, x.shape[1], context.shape[1])
        return self.out_proj(_merge_heads(F.scaled_dot_product_attention(q, k, v, attn_mask=mask)))


class _MultiheadSelfAttention(_MultiheadCrossAttention):
    def __init__(self, d_model, n_heads):
        if d_model % n_heads:
            raise ValueError("n_heads must divide d_model")
        super().__init__(d_model, n_heads)

    def forward(self, x, mask=None):
        return super().forward(x, x, mask)


def _copy_weights(source, target):
    names = ("q_proj", "k_proj", "v_proj")
    with torch.no_grad():
        for name, weight, bias in zip(
            names, source.in_proj_weight.chunk(3), source.in_proj_bias.chunk(3), strict=True
        ):
            getattr(target, name).weight.copy_(weight)
            getattr(target, name).bias.copy_(bias)
        target.out_proj.load_state_dict(source.out_proj.state_dict())


EXERCISES = (
    Exercise(
        id="heads.SelfAttentionHead",
        lesson=LESSON,
        minutes=12,
        difficulty=2,
        reference=_SelfAttentionHead,
        cases=cases.self_attention_head,
        procedure="class",
        aspects=MODULE_ASPECTS,
        shapes={"x": "B N d_model", "mask": "B N N", "return": "B N d_head"},
        rules=NO_MULTIHEAD,
        mistakes=one_head.SELF_ATTENTION_HEAD,
        variant=one_head.head_with,
        clues=clues.attention("all sizes different", "causal"),
        invariants=(SAMPLES, PAST, SHARES),
        hints=(
            "Three layers are learned. How wide is what goes into each of them, and how wide is what comes out, "
            "with and without `d_head`?",
            "forward makes queries, keys and values of x and attends as in the lessons before. Which width "
            "belongs into the scale: that of x or that of the queries?",
            "The shape of it: three nn.Linear made in __init__; in forward x (B, N, d_model) becomes three "
            "(B, N, d_head), and attention under the mask gives (B, N, d_head).",
        ),
    ),
    Exercise(
        id="heads.split_heads",
        lesson=LESSON,
        minutes=6,
        difficulty=2,
        reference=_split_heads,
        cases=cases.split_heads,
        aspects={VALUES: 3, GRADIENTS: 1, DTYPES: 1},
        shapes={"x": "B N d_model", "return": "B H N d_head"},
        rules=NO_MULTIHEAD,
        mistakes=head_tools.SPLIT_HEADS,
        variant=head_tools.split_with,
        hints=(
            "Take one token of 6 features and 3 heads: which features does each head get?",
            "Two steps: cut the last axis in two, and let an axis change its place. What are the shapes after "
            "each?",
            "The shape of it: (B, N, d_model), then (B, N, H, d_head), then (B, H, N, d_head).",
        ),
    ),
    Exercise(
        id="heads.merge_heads",
        lesson=LESSON,
        minutes=4,
        difficulty=1,
        reference=_merge_heads,
        cases=cases.merge_heads,
        aspects={VALUES: 3, GRADIENTS: 1, DTYPES: 1},
        shapes={"x": "B H N d_head", "return": "B N d_model"},
        rules=NO_MULTIHEAD,
        mistakes=head_tools.MERGE_HEADS,
        variant=head_tools.merge_with,
        hints=(
            "It is the way back of `split_heads`: what was its last step?",
            "Two axes can become one only where they stand side by side. Which axis must move first?",
            "The shape of it: (B, H, N, d_head), then (B, N, H, d_head), then (B, N, d_model).",
        ),
    ),
    Exercise(
        id="heads.MultiheadSelfAttention",
        lesson=LESSON,
        minutes=20,
        difficulty=3,
        reference=_MultiheadSelfAttention,
        cases=cases.multihead_self_attention,
        procedure="class",
        aspects=MODULE_ASPECTS | {REFUSALS: 1},
        shapes={"x": "B N d_model", "mask": "B H N N", "return": "B N d_model"},
        rules=NO_MULTIHEAD,
        mistakes=multihead.MULTIHEAD_SELF_ATTENTION,
        variant=multihead.multihead_with,
        clues=clues.shared_heads("all sizes different", "causal"),
        invariants=(SAMPLES, PAST, SHARES),
        hints=(
            "Draw the way of one token: projected, cut into heads, attended, merged, projected once more. Which "
            "of these steps do the heads share?",
            "With an axis for the heads in front of the tokens, attention runs for all heads at once. How wide "
            "is a head, and where does that width come in twice?",
            "The shape of it: (B, N, d_model), three times (B, H, N, d_head), scores (B, H, N, N), "
            "(B, H, N, d_head), (B, N, d_model), and the output projection.",
        ),
    ),
    Exercise(
        id="heads.copy_weights",
        lesson=LESSON,
        minutes=8,
        difficulty=2,
        reference=_copy_weights,
        cases=cases.copy_weights,
        procedure="copy_weights",
        aspects={VALUES: 3, SIDE_EFFECTS: 1, GRADIENTS: 1},
        mistakes=head_tools.COPY_WEIGHTS,
        variant=head_tools.copy_with,
        clues=clues.COPIES,
        hints=(
            "Print the names and shapes of the parameters of both modules. Which numbers must go where?",
            "in_proj_weight is three matrices on top of each other. In which order? And what else besides "
            "weights has the source learned?",
            "The shape of it: without recording gradients, copy four weights and four biases, each into the "
            "parameter that is there already.",
        ),
    ),
    Exercise(
        id="heads.MultiheadCrossAttention",
        lesson=LESSON,
        minutes=10,
        difficulty=2,
        reference=_MultiheadCrossAttention,
        cases=cases.multihead_cross_attention,
        procedure="class",
        aspects=MODULE_ASPECTS,
        shapes={"x": "B N d_model", "context": "B M d_model", "mask": "B H N M", "return": "B N d_model"},
        rules=NO_MULTIHEAD,
        mistakes=multihead_cross.MULTIHEAD_CROSS_ATTENTION,
        variant=multihead_cross.cross_with,
        clues=clues.shared_heads("all sizes different", "causal"),
        invariants=(SAMPLES, SHARES),
        hints=(
            "Who asks, and who is asked? One of the three projections reads x, the other two read the context.",
            "x and the context may differ in length. Which of your shapes use the one, which the other?",
            "The shape of it: queries (B, H, N, d_head), keys and values (B, H, M, d_head), scores "
            "(B, H, N, M), and then all as before.",
        ),
    ),
)
