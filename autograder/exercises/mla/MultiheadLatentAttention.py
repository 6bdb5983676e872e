"""Multi-head attention whose keys and values come from one small vector per token (DeepSeek-AI 2024)."""

import math
from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import nn

from autograder.exercises._shared import attention, heads, kv_heads
from autograder.exercises._shared.attention import SCALE
from autograder.exercises._shared.attention_cases import (
    HEADS_NEEDS, KEPT_NEEDS, MASK_NEEDS, Maker, causal, every_third, far_apart, left_padded,
)
from autograder.exercises._shared.heads import OUT
from autograder.schema import FULLY_MASKED, REFUSALS, STABILITY, Case, Exercise, edit, fitting, standard_cases


class MultiheadLatentAttention(nn.Module):
    def __init__(self, d_model, n_heads, d_latent):
        super().__init__()
        if d_model % n_heads:
            raise ValueError(f"{n_heads} heads cannot share {d_model} features evenly")
        self.n_heads = n_heads
        self.q_proj = nn.Linear(d_model, d_model, bias=False)
        self.kv_down = nn.Linear(d_model, d_latent, bias=False)
        self.k_up = nn.Linear(d_latent, d_model, bias=False)
        self.v_up = nn.Linear(d_latent, d_model, bias=False)
        self.out_proj = nn.Linear(d_model, d_model, bias=False)

    def forward(self, x, mask=None):
        latent = self.kv_down(x)
        q = self.q_proj(x)
        k = self.k_up(latent)
        v = self.v_up(latent)
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
    def __init__(self, d_model, n_heads, d_latent):
        super().__init__()
        if d_model % n_heads:
            raise ValueError("n_heads must divide d_model")
        self.n_heads = n_heads
        self.q_proj, self.out_proj = (nn.Linear(d_model, d_model, bias=False) for _ in range(2))
        self.kv_down = nn.Linear(d_model, d_latent, bias=False)
        self.k_up, self.v_up = (nn.Linear(d_latent, d_model, bias=False) for _ in range(2))

    def forward(self, x, mask=None):
        latent = self.kv_down(x)
        parts = self.q_proj(x), self.k_up(latent), self.v_up(latent)
        q, k, v = (part.unflatten(-1, (self.n_heads, -1)).transpose(1, 2) for part in parts)
        return self.out_proj(F.scaled_dot_product_attention(q, k, v, attn_mask=mask).transpose(1, 2).flatten(2))


@dataclass(frozen=True)
class LatentMaker(Maker):
    """A maker of cases for latent attention: the layers have no biases, and latents are `d_latent` wide."""

    d_latent: int = 5

    def weights(self, d_model, heads, d_head):
        """Return random weights that give scores of about 1."""
        shapes = {"q_proj": (d_model, d_model), "kv_down": (self.d_latent, d_model), "k_up": (d_model, self.d_latent),
                  "v_up": (d_model, self.d_latent), "out_proj": (d_model, d_model)}
        return {f"{part}.weight": self.draw.normal(*shape, scale=1.2 / shape[1] ** 0.5)
                for part, shape in shapes.items()}


def maker(draw, d_latent=5):
    return LatentMaker(draw, None, lambda d_model, heads, d_head: (d_model, heads, d_latent), d_latent=d_latent)


def cases(draw):
    batch, tokens, n_heads, d_head = draw.sizes(4, 2, 7)
    values, make = {"gradients": False}, maker(draw)
    sizes = (batch, tokens, tokens, n_heads, d_head)
    yield make.case("all sizes different", sizes, observe=True)
    yield make.case("other weights in the same module", sizes)
    named = {"d_model": 24, "n_heads": 6, "d_latent": 5}
    yield make.case("constructor arguments by name", (2, 3, 3, 6, 4), init=named, **values)
    yield make.case("one head", (2, 3, 3, 1, 6))
    yield maker(draw, 1).case("latents of one number", (2, 4, 4, 2, 3))
    yield maker(draw, 12).case("latents as wide as the model", (2, 4, 4, 4, 3))
    yield maker(draw, 4).case("four of everything", (4, 4, 4, 4, 4))
    yield make.case("a mask for each head", (2, 5, 5, 4, 3), (2, 4, 5, 5))
    yield make.case("as many samples as tokens, a mask", (4, 4, 4, 4, 3), (4, 4), **values)
    yield make.case("heads with a mask each", (2, 3, 3, 6, 5), (6, 3, 3), **values)
    yield make.case("a mask for each sample", (3, 4, 4, 2, 5), (3, 1, 4, 4), by_name=True)
    yield make.case("one mask for samples and heads", (2, 3, 3, 4, 4), (1, 1, 3, 3), **values)
    yield make.case("one token", (3, 1, 1, 4, 5))
    yield maker(draw, 1).case("one of everything", (1, 1, 1, 1, 1))
    yield make.case("the same keys for all queries", (2, 5, 5, 4, 3), (1, 5), **values)
    yield from heads_past_and_samples(draw, make)
    yield make.case("no mask after a mask", (2, 5, 5, 4, 3), **values)
    real = torch.tensor([[True, True, False, False], [True, True, True, False]])
    yield make.case("padding", (2, 4, 4, 4, 5), real[:, None, None])
    yield make.case("a long sentence", (1, 300, 300, 1, 2), (1, 300), **values)
    yield _weights_shown(draw)
    zero = make.case("scores of exactly zero", (2, 3, 3, 4, 4), (3, 3), **values)
    zero.args[0][:, 1] = 0.0
    yield zero
    yield from _empty_rows(make)
    yield from _far_scores(draw, make)
    first = make.case("a mask for all samples", (2, 5, 5, 3, 4), (5, 5), fresh=True)
    yield from standard_cases([first], ("float64", "transposed"), (), None)
    refused = {"init": (10, 3, 4), "aspect": REFUSALS, "raises": "ValueError", "gradients": False}
    yield Case("ten features, three heads", (draw.normal(2, 3, 10),), **refused)


def heads_past_and_samples(draw, make):
    """Yield a case with a causal mask, then two variants with the same weights: one with a different second
    sample, one with a different last token.
    """
    first = make.case("causal", (2, 5, 5, 4, 3), causal(5))
    yield first
    x, mask = first.args
    more = {"init": first.init, "weights": first.weights, "gradients": False, "needs": first.needs}
    yield Case("causal, another second sample", (torch.cat((x[:1], draw.normal(1, 5, 12))), mask), **more)
    yield Case("causal, another last token", (torch.cat((x[:, :-1], draw.normal(2, 1, 12)), 1), mask), **more)


def _weights_shown(draw):
    """Return a one-head case in which the input and the values are the identity matrix, so that the output is
    the matrix of attention weights.
    """
    make, same = maker(draw, 5), torch.eye(5)
    given = {"kv_down.weight": same, "v_up.weight": same, "out_proj.weight": same}
    return make.case("values that show the weights", (1, 5, 5, 1, 5), weights=given, inputs=[same[None].clone()],
                     gradients=False)


def _empty_rows(make):
    """Yield cases in which some or all queries are fully masked: first the two queries of the left
    padding, in float32 and in float64, then all queries.
    """
    some = make.case("some queries see nothing", (2, 5, 5, 4, 4), left_padded(5, 2), aspect=FULLY_MASKED)
    yield some
    (double,) = standard_cases([some], ("float64",), (), None)
    # The module is built again, so that it holds nothing in float32.
    yield Case(**vars(double) | {"family": "some queries see nothing, float64", "aspect": FULLY_MASKED, "fresh": True})
    yield make.case("nothing may be seen", (2, 3, 3, 4, 3), torch.zeros(3, 1, dtype=torch.bool), aspect=FULLY_MASKED)


def _far_scores(draw, make):
    """Yield cases with positive and negative scores in the hundreds, with scores that are all very low, and
    with blocked scores far above the allowed ones.
    """
    sizes, width = (2, 4, 4, 4, 4), 16
    far = {"aspect": STABILITY, "gradients": False, "fresh": True}
    known = make.weights(width, 4, 4)
    # Products of whole numbers and eighths: float32 holds every score exactly, however the sums are ordered.
    large = {"q_proj.weight": draw.eighths(width, width, limit=12) * 12.0,
             "kv_down.weight": draw.integers(-1, 1, 5, width).float(),
             "k_up.weight": draw.integers(-2, 2, width, 5).float()}
    yield make.case("large scores", sizes, weights=large, inputs=[draw.eighths(2, 4, width)], scale=10.0, **far)
    mask = torch.tensor([[1, 0, 1, 1], [0, 1, 0, 1], [1, 1, 0, 0], [1, 0, 0, 1]]).bool()
    # Near -131 000 float32 rounds scores to 0.016, near -20 000 to 0.002; a value that leaks past the mask is
    # about 1.
    for family, size, scale in (("scores as low as they get", 512.0, 500.0), ("low scores", 200.0, 100.0)):
        x = draw.normal(2, 4, width)
        x[..., 0] = 1.0
        given = _one_product(known, query=0, query_size=-size, key_size=size)
        yield make.case(family, sizes, mask, weights=given, inputs=[x], scale=scale, **far)
    x, mask = draw.normal(2, 4, width), every_third(4, 4)
    x[..., 1], x[..., 0] = far_apart(4) / 4, 8.0 * ~mask[0]
    given = _one_product(known, query=1, query_size=1.0, key_size=1.0)
    yield make.case("blocked scores far above the others", sizes, mask, weights=given, inputs=[x], **far)


def _one_product(known, query, query_size, key_size) -> dict:
    """Return a copy of the weights `known`, changed so that each head's score contains the product of feature
    `query` of the query's token and feature 0 of the key's token, scaled by `query_size` and `key_size`.
    Nothing else reads features 0 and 1.
    """
    given = {name: weight.clone() for name, weight in known.items()}
    given["q_proj.weight"][:, :2], given["q_proj.weight"][::4] = 0.0, 0.0
    given["q_proj.weight"][::4, query] = query_size
    given["kv_down.weight"][:, :2], given["kv_down.weight"][0] = 0.0, 0.0
    given["kv_down.weight"][0, 0] = 1.0
    for name in ("k_up.weight", "v_up.weight"):
        given[name][:, 0] = 0.0
    given["k_up.weight"][::4], given["k_up.weight"][::4, 0] = 0.0, key_size
    return given


DOWN, KEYS, VALUES = "self.kv_down(x)", "self.k_up(latent)", "self.v_up(latent)"
LAYER, SQUARE = "nn.Linear(d_model, d_latent, bias=False)", "nn.Linear(d_model, d_model, bias=False)"
# Left out of the shared tables: mistakes with biases, which these layers do not have, and second ids of the
# same mistake.
WITHOUT = ("HEAD-37", "HEAD-39", "MHA-87", "MSK-87", "QKV-13", "SDPA-45")

EXERCISE = Exercise(
    number=1, minutes=15, difficulty=2,
    standard=("by name",),
    worked=MultiheadLatentAttention,
    reference=Reference,
    cases=cases,
    aspects=heads.ASPECTS | {REFUSALS: 1},
    shapes={"x": "B N d_model", "mask": "B H N N", "return": "B N d_model"},
    invariants=kv_heads.INVARIANTS,
    mistakes=(
        *fitting(MultiheadLatentAttention, attention.MASK_USE + attention.CAUSAL_UNASKED, WITHOUT),
        *fitting(MultiheadLatentAttention, attention.SCALES + attention.ROLES + attention.LAYERS, WITHOUT),
        *fitting(MultiheadLatentAttention, heads.HEADS, WITHOUT),
        *fitting(MultiheadLatentAttention, kv_heads.SHARED_HEADS, WITHOUT),
        edit("MHA-41", {"if d_model % n_heads:": "if False:"}),
        edit("MHA-87", {OUT: "(output @ self.out_proj.weight)"}),
        edit("MQA-33", {"q_proj": "w_q", "kv_down": "w_down", "k_up": "w_up_k", "v_up": "w_up_v"}),
        edit("MLA-05 the latent is normed", {DOWN: f"F.layer_norm({DOWN}, self.k_up.weight.shape[1:])"},
             "You normalise the latents before projecting them up.",
             "Does the docstring have a normalisation between kv_down and k_up?"),
        edit("MLA-05", {DOWN: f"F.rms_norm({DOWN}, self.k_up.weight.shape[1:])"}),
        edit("MLA-07 the two up-projections change places", {KEYS: VALUES, VALUES: KEYS},
             "Your keys come from v_up, and your values from k_up.",
             "Which of the two should make the vectors that are compared with the queries?"),
        edit("MLA-11 an activation between down and up", {DOWN: f"{DOWN}.relu()"},
             "Your latents go through an activation before they are projected up.",
             "Does the docstring have an activation between kv_down and k_up?"),
        edit("MLA-11", {DOWN: f"F.gelu({DOWN})"}),
        edit("MLA-11", {DOWN: f"F.silu({DOWN})"}),
        edit("MLA-13 scale from the latent's width", {SCALE: "/ math.sqrt(latent.shape[-1])"},
             "You scale by the width of the latents.",
             "How wide are the two vectors whose dot product is a score?"),
        edit("MLA-15 a latent each for keys and values",
             {LAYER: "nn.Linear(d_model, 2 * d_latent, bias=False)", KEYS: "self.k_up(latent.chunk(2, -1)[0])",
              VALUES: "self.v_up(latent.chunk(2, -1)[1])"},
             "Your down-projection makes vectors twice as wide as one latent.",
             "How many numbers should each token leave in the cache?"),
        edit("MLA-15", {LAYER: "nn.Linear(d_model, 2 * d_latent, bias=False)"}),
        edit("MLA-17 a latent for each head", {LAYER: "nn.Linear(d_model, n_heads * d_latent, bias=False)"},
             "Your down-projection makes a separate latent for each head.",
             "How many latents does each token have for all its heads together?"),
        edit("MLA-19 biases nobody asked for", {"bias=False": "bias=True"},
             "Your layers have biases.", "Which layers have a bias according to the docstring?"),
        edit("MLA-19", {f"self.out_proj = {SQUARE}": "self.out_proj = nn.Linear(d_model, d_model)"},
             "`out_proj` has a bias.", "Which layers have a bias according to the docstring?"),
        edit("MLA-21 no gradient reaches the latents", {DOWN: f"{DOWN}.detach()"},
             "The output is right, but no gradient reaches the down-projection.",
             "Which step detaches the latents?"),
    ),
    needs=KEPT_NEEDS | HEADS_NEEDS | MASK_NEEDS,
    hints=(
        "Start from your multi-head attention of lesson 04. The query and output layers stay; the key and "
        "value layers are replaced by one projection down to the latent and two projections up from it.",
        "All heads share the one latent of a token. Once it is projected up, keys and values are d_model "
        "wide again, so the rest is what you have done before: split into heads, attend, merge.",
        "In outline: project x to queries and to the latent, project the latent up to keys and to values, "
        "split all three into heads, apply attention with the mask, merge the heads, and apply the output "
        "projection.",
    ),
)
