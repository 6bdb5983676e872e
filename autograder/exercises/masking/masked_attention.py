"""Scaled dot-product attention under a Boolean mask."""

import math
from dataclasses import replace

import torch
import torch.nn.functional as F

from autograder.exercises._shared import attention, attention_cases
from autograder.exercises._shared.attention_cases import causal, left_padded, needs_of_mask, some_mask
from autograder.schema import (
    DTYPES, FULLY_MASKED, GRADIENTS, SIDE_EFFECTS, STABILITY, VALUES, Case, Exercise, Rules, edit, fitting,
    past_only, samples_apart, shares_sum_to_one, standard_cases,
)


def masked_attention(q, k, v, mask=None):
    scores = q @ k.transpose(-2, -1)
    scores = scores / math.sqrt(q.shape[-1])
    if mask is not None:
        scores = scores.masked_fill(~mask, -torch.inf)
    weights = torch.softmax(scores, dim=-1).nan_to_num()
    output = weights @ v
    return output


def reference(q, k, v, mask=None):
    if mask is not None:
        mask = mask.expand(*q.shape[:-1], k.shape[-2])
    return F.scaled_dot_product_attention(q, k, v, attn_mask=mask)


def cases(draw):
    batch, queries, keys, width, out = draw.sizes(5)
    yield _case(draw, "no mask, batch and heads", (2, 3), 4, 5, 6, 7)
    yield _case(draw, "a mask for all samples", (batch,), queries, keys, width, out, (queries, keys), observe=True)
    yield from _causal(draw)
    each = _case(draw, "a mask for each head", (2, 3), 4, 5, 6, 7, (2, 3, 4, 5))
    yield replace(each, args=each.args[:3], kwargs={"mask": each.args[3]})
    yield _case(draw, "padding, batch and heads", (3, 2), 4, 5, 6, 3, (3, 1, 1, 5))
    yield _case(draw, "one mask for batch and heads", (2, 3), 4, 5, 3, 6, (1, 1, 4, 5))
    yield _case(draw, "heads with a mask each", (2, 3), 4, 5, 6, 2, (3, 4, 5))
    yield _case(draw, "a batch as long as its sentences", (4,), 4, 4, 4, 4, (4, 4))
    yield _case(draw, "one row of keys, without an axis for queries", (2, 3), 4, 5, 6, 3, (5,))
    yield _case(draw, "one token", (1,), 1, 1, 1, 1, (1, 1))
    yield _case(draw, "a long sentence", (1,), 2, 300, 3, 2, (2, 300), gradients=False)
    yield _scores_of_zero(draw)
    mask = torch.tensor([[1, 1, 0], [0, 1, 1], [1, 0, 1], [0, 0, 1]]).bool()
    yield Case("values all one", (draw.normal(4, 5), draw.normal(3, 5), torch.ones(3, 2), mask), needs=("mask",))
    yield from _empty_rows(draw)
    yield from _far_scores(draw)
    # The root of 4 is exact in float32 as well.
    exact = _case(draw, "a mask for all samples", (batch,), queries, keys, 4, out, (queries, keys))
    yield from standard_cases([exact], ("float64", "transposed"))
    if draw.hidden:
        yield _case(draw, "a mask for each head of all samples", (3, 2), 4, 5, 6, 3, (1, 2, 4, 5))


def _case(draw, family, lead, n, m, width, out, mask=None, **more):
    """Return a case with random q, k and v. `mask` is a tensor, the shape of a mask to draw at random, or
    None for no mask.
    """
    mask = some_mask(draw, mask) if isinstance(mask, tuple) else mask
    inputs = draw.normal(*lead, n, width), draw.normal(*lead, m, width), draw.normal(*lead, m, out)
    return Case(family, inputs if mask is None else (*inputs, mask), needs=needs_of_mask(m, mask), **more)


def _causal(draw):
    """Yield a case with a causal mask, then two variants of it: one with a different last token, one with a
    different second sample.
    """
    first = _case(draw, "causal", (2,), 5, 5, 6, 3, causal(5))
    yield first
    last = (torch.cat((t[:, :-1], draw.normal(2, 1, t.shape[-1])), dim=1) for t in first.args[:3])
    yield replace(first, family="causal, another last token", args=(*last, first.args[3]), gradients=False)
    second = (torch.cat((t[:1], draw.normal(1, *t.shape[1:]))) for t in first.args[:3])
    yield replace(first, family="causal, another second sample", args=(*second, first.args[3]), gradients=False)


def _scores_of_zero(draw):
    """Return a case with one query of zeros. Its scores are zero, but must not be treated as blocked."""
    case = _case(draw, "scores of exactly zero", (2,), 3, 4, 5, 6, (3, 4))
    case.args[0][:, 1] = 0.0
    return case


def _empty_rows(draw):
    """Yield cases in which some or all queries are fully masked: first the two queries of the left
    padding, in float32 and in float64, then all queries.
    """
    some = _case(draw, "some queries see nothing", (2,), 5, 5, 6, 3, left_padded(5, 2), aspect=FULLY_MASKED)
    yield some
    (double,) = standard_cases([some], ("float64",))
    yield replace(double, family="some queries see nothing, float64", aspect=FULLY_MASKED)
    nothing = torch.zeros(3, 1, dtype=torch.bool)
    yield _case(draw, "nothing may be seen", (), 3, 4, 6, 3, nothing, aspect=FULLY_MASKED)


def _far_scores(draw):
    """Yield cases with scores in the thousands, with scores that are all very low, and with blocked scores far
    above the allowed ones.
    """
    more = {"aspect": STABILITY, "gradients": False, "needs": ("mask",)}
    q, k = draw.eighths(3, 4, limit=400), draw.eighths(5, 4, limit=400)
    args = (q, k, draw.normal(5, 2), some_mask(draw, (3, 5)))
    yield Case("scores in the thousands", args, scale=10.0, **more)
    mask = torch.tensor([[1, 0, 1, 1, 0], [0, 1, 0, 1, 1], [1, 1, 0, 0, 0]]).bool()
    # Near -131 000 float32 rounds scores to 0.016, near -20 000 to 0.002; a value that leaks past the mask is
    # about 3.
    for family, size, scale in (("scores as low as they get", 512.0, 500.0), ("low scores", 200.0, 100.0)):
        q, k = attention_cases.far_below(draw, 3, 5, 4, size)
        yield Case(family, (q, k, draw.normal(5, 2, scale=3.0), mask), scale=scale, **more)
    q, k, mask = attention_cases.hidden_above(draw, 4, 5, 4)
    # Some exponentials are infinite. Near 200 000 float32 rounds scores to 0.016.
    yield Case("blocked scores far above the others", (q, k, draw.normal(5, 2), mask), **more | {"gradients": True})
    q = q.clone()
    q[:, 0] = 50_000.0
    yield Case("blocked scores of 200 000", (q, k, draw.normal(5, 2, scale=3.0), mask), scale=500.0, **more)


EXERCISE = Exercise(
    number=3, minutes=15, difficulty=3,
    worked=masked_attention,
    reference=reference,
    cases=cases,
    aspects={VALUES: 3, FULLY_MASKED: 1, STABILITY: 1, GRADIENTS: 1, SIDE_EFFECTS: 1, DTYPES: 1},
    shapes={"q": "... N D", "k": "... M D", "v": "... M E", "mask": "... N M", "return": "... N E"},
    rules=Rules(None, ("fused attention",)),
    mistakes=(
        *fitting(masked_attention, attention.MASK_USE + attention.CAUSAL_UNASKED),
        *fitting(masked_attention, attention.SCALES + attention.ROLES),
        edit("MSK-07", {attention.FILL: "scores + ~mask * -1e4", attention.CLEANED: attention.EMPTY_AS_ZEROS}),
        edit("SDPA-05", {attention.SCALE: "/ math.sqrt(v.shape[-1])"}),
        edit("SDPA-11", {attention.PRODUCT: "q @ k.transpose(1, 2)"}),
        edit("SDPA-25", {attention.PRODUCT: "q @ k.reshape(*k.shape[:-2], k.shape[-1], k.shape[-2])"}),
        edit("SDPA-23", {"return output": "return weights"}),
        edit("SDPA-23", {"return output": "return output, weights"}, *attention.A_PAIR),
    ),
    needs=attention_cases.MASK_NEEDS,
    invariants=(
        samples_apart("causal", "causal, another second sample"),
        past_only("causal", "causal, another last token"),
        shares_sum_to_one("values all one"),
    ),
    hints=(
        "A blocked key must get a weight of exactly zero. Which score does softmax turn into a weight of zero?",
        "Apply the mask to the scores, before the softmax. `masked_fill` writes a number wherever a Boolean "
        "tensor is True. When `mask` is None, leave the scores alone.",
        "One kind of row needs care: a fully masked query. After the softmax its weights are NaN (0 "
        "/ 0), and they should be zero.",
        "In outline: compute the scaled scores (..., N, M); if there is a mask, fill the blocked scores with minus "
        "infinity; apply softmax along the keys; set the weights of blocked keys to zero; multiply by the values (..., "
        "M, E).",
    ),
)
