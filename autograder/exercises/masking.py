"""Lesson 03, masking: who may attend to whom."""

import torch
import torch.nn.functional as F

from autograder.exercises import clues
from autograder.exercises.exercise import (
    DTYPES,
    EMPTY_ROWS,
    GRADIENTS,
    SIDE_EFFECTS,
    STABILITY,
    VALUES,
    Case,
    Exercise,
    Rules,
)
from autograder.exercises.invariants import past_only, samples_apart, shares_sum_to_one
from autograder.exercises.mistakes import masking as mistakes

LESSON = "03_masking"
DOUBLE = torch.float64
NO_FUSED = Rules(None, ("fused attention",))


def _causal_mask(n):
    return torch.ones(n, n, dtype=torch.bool).tril()


def _causal_mask_cases(values):
    yield Case("a sentence", (values.sizes(1, 5, 7)[0],), gradients=False)
    yield Case("one token", (1,), gradients=False)
    yield Case("two tokens", (2,), gradients=False)
    yield Case("three tokens", (3,), gradients=False)
    yield Case("eight tokens", (8,), gradients=False, observe=True)
    yield Case("a longer sentence", (values.sizes(1, 33, 40)[0],), gradients=False)
    yield Case("n by name", (), {"n": 4}, gradients=False)


def _padding_mask(lengths, max_len):
    return torch.arange(max_len)[None, :] < lengths[:, None]


def _padding_mask_cases(values):
    batch, width = values.sizes(2, 3, 7)
    some = values.integers(1, width - 1, batch)
    yield Case("all sizes different", (some, width), gradients=False, observe=True)
    yield Case("from no token to all", (torch.tensor([0, 5, 2, 4, 1, 3]), 5), gradients=False)
    yield Case("no sample is full", (torch.tensor([2, 1, 3]), 6), gradients=False)
    yield Case("as many samples as tokens", (torch.tensor([4, 1, 2, 3]), 4), gradients=False)
    yield Case("lengths from long to short", (torch.tensor([5, 3, 2]), 5), gradients=False)
    yield Case("all full", (torch.tensor([3, 3]), 3), gradients=False)
    yield Case("all empty", (torch.tensor([0, 0]), 3), gradients=False)
    yield Case("one sample", (torch.tensor([2]), 5), gradients=False)
    yield Case("one token", (torch.tensor([1, 0, 1]), 1), gradients=False)
    yield Case("one sample of one token", (torch.tensor([1]), 1), gradients=False)
    yield Case("32-bit lengths", (torch.tensor([1, 4, 3], dtype=torch.int32), 5), gradients=False)
    yield Case("every other number in memory", (values.integers(0, 6, 8)[::2], 6), gradients=False)
    yield Case("max_len by name", (values.integers(0, 7, 5),), {"max_len": 7}, gradients=False)


def _masked_attention(q, k, v, mask=None):
    if mask is not None:
        mask = mask.expand(*q.shape[:-1], k.shape[-2])
    return F.scaled_dot_product_attention(q, k, v, attn_mask=mask)


def _masked_attention_cases(values):
    batch, queries, keys, width, out = values.sizes(5)
    yield _masked(values, "no mask", (), queries, keys, width, out)
    yield _masked(values, "no mask, batch and heads", (2, 3), 4, 5, 6, 7)
    yield _masked(
        values, "a mask for all samples", (batch,), queries, keys, width, out, (queries, keys), observe=True
    )
    yield _masked(values, "no batch", (), 4, 6, 5, 3, (4, 6))
    yield from _causal_pair(values)
    yield from _padded_pair(values)
    yield _masked(values, "a mask for each head", (2, 3), 4, 5, 6, 7, (2, 3, 4, 5), by_name=True)
    yield _masked(values, "padding, batch and heads", (3, 2), 4, 5, 6, 3, (3, 1, 1, 5))
    yield _masked(values, "one mask for batch and heads", (2, 3), 4, 5, 3, 6, (1, 1, 4, 5), by_name=True)
    yield _masked(values, "heads with a mask each", (2, 3), 4, 5, 6, 2, (3, 4, 5))
    yield _masked(values, "a batch as long as its sentences", (4,), 4, 4, 4, 4, (4, 4))
    yield _masked(values, "three of everything", (3, 3), 3, 3, 3, 3, (3, 1, 3, 3))
    yield _masked(values, "the same keys for all queries", (2,), 5, 3, 4, 6, (1, 3))
    yield _masked(values, "one row of keys, without an axis for queries", (2, 3), 4, 5, 6, 3, (5,))
    yield _scores_of_zero(values)
    yield _masked(values, "a mask of nothing but True", (2,), 3, 4, 5, 6, (3, 4), allowed=1.0)
    yield _masked(values, "one token", (2,), 1, 1, 3, 2, (1, 1), allowed=1.0)
    yield _masked(values, "one feature", (2,), 3, 4, 1, 1, (2, 3, 4))
    yield _values_all_one(values)
    yield from _empty_rows(values)
    yield from _far_scores(values)
    yield _masked(values, "float64", (2,), 3, 4, 5, 6, (3, 4), dtype=DOUBLE, aspect=DTYPES)
    if values.hidden:
        yield _masked(
            values, "a longer batch", (5, 3), 9, 11, 10, 12, (5, 1, 9, 11), gradients=False, observe=True
        )
        yield _masked(values, "columns in memory order", (3,), 5, 4, 6, 2, (3, 5, 4), turned=True)


def _masked(
    values, family, lead, n, m, width, out, shape=None, by_name=False, turned=False, allowed=0.6, **more
):
    """A case of random q, k, v with a random mask of `shape` in which every query may see the first key."""
    dtype = more.pop("dtype", torch.float32)
    mask = None if shape is None else some_mask(values, shape, allowed)
    if turned:
        q, k, v = (values.normal(*lead, w, t).mT for t, w in ((n, width), (m, width), (m, out)))
        mask = mask.mT.contiguous().mT
    else:
        q, k, v = (values.normal(*lead, t, w, dtype=dtype) for t, w in ((n, width), (m, width), (m, out)))
    if by_name or mask is None:
        return Case(family, (q, k, v), {"mask": mask} if by_name else {}, **more)
    return Case(family, (q, k, v, mask), **more)


def some_mask(values, shape, allowed=0.6):
    """A random mask of `shape` without an empty row, its False entries also to the left of True ones."""
    drawn = values.normal(*shape)
    mask = drawn < torch.special.ndtri(torch.tensor(allowed))
    return mask | (drawn <= drawn.amin(dim=-1, keepdim=True))


def _causal_pair(values):
    q, k, v = (values.normal(5, width) for width in (6, 6, 3))
    mask = torch.ones(5, 5, dtype=torch.bool).tril()
    yield Case("causal", (q, k, v, mask))
    others = (torch.cat((t[:-1], values.normal(1, t.shape[-1]))) for t in (q, k, v))
    yield Case("causal, another last token", (*others, mask), gradients=False)


def _padded_pair(values):
    """Padding on the right, and once more with another second sample."""
    q, k, v = (values.normal(2, tokens, width) for tokens, width in ((3, 6), (5, 6), (5, 4)))
    mask = torch.tensor([[[True, True, False, False, False]], [[True, True, True, True, False]]])
    yield Case("padding", (q, k, v, mask))
    others = (torch.cat((t[:1], values.normal(1, *t.shape[1:]))) for t in (q, k, v))
    yield Case("padding, another second sample", (*others, mask), gradients=False)


def _scores_of_zero(values):
    """A query of zeros: its scores are 0 and no less allowed for that."""
    q, k, v = (values.normal(2, tokens, width) for tokens, width in ((3, 5), (4, 5), (4, 6)))
    q[:, 1] = 0.0
    return Case("scores of exactly zero", (q, k, v, some_mask(values, (3, 4))))


def _values_all_one(values):
    mask = torch.tensor([[True, True, False], [False, True, True], [True, False, True], [False, False, True]])
    args = (values.normal(4, 5), values.normal(3, 5), torch.ones(3, 2), mask)
    return Case("values all one", args)


def _empty_rows(values):
    """Queries that may attend to nothing: by left padding under a causal mask, by a mask of queries, all."""
    left = torch.tensor([False, False, True, True, True])
    causal = torch.ones(5, 5, dtype=torch.bool).tril() & left
    yield _with_mask(values, "causal with padding on the left", (2,), 5, 5, causal)
    yield _with_mask(values, "some queries see nothing", (2,), 3, 5, torch.tensor([[True], [False], [True]]))
    sample = torch.tensor([True, False])[:, None, None, None].repeat(1, 1, 1, 4)
    yield _with_mask(values, "an empty sample", (2, 3), 3, 4, sample)
    yield _with_mask(values, "nothing may be seen", (), 3, 4, torch.zeros(3, 4, dtype=torch.bool))


def _with_mask(values, family, lead, n, m, mask):
    q, k, v = (values.normal(*lead, tokens, width) for tokens, width in ((n, 6), (m, 6), (m, 3)))
    return Case(family, (q, k, v, mask), aspect=EMPTY_ROWS)


def _far_scores(values):
    """Scores far from zero. A rounding of float32 scores near -30 000 (0.002) is a share's relative error."""
    q, k, v = values.eighths(3, 4, limit=400), values.eighths(5, 4, limit=400), values.normal(5, 2)
    # The best key stays open: zeroing weights and sharing out again, a right way, needs its weight.
    mask = some_mask(values, (3, 5)) | (q @ k.T == (q @ k.T).amax(dim=-1, keepdim=True))
    yield Case("scores in the thousands", (q, k, v, mask), aspect=STABILITY, gradients=False, scale=10.0)
    mask = torch.tensor([[1, 0, 1, 1, 0], [0, 1, 0, 1, 1], [1, 1, 0, 0, 0]]).bool()
    for family, lead in (("scores far below zero", ()), ("scores far below zero, a batch", (2,))):
        q, k = _far_below(values, lead, 256.0, 8)
        yield Case(
            family,
            (q, k, values.normal(*lead, 5, 2), mask),
            aspect=STABILITY,
            gradients=False,
            scale=50.0,
        )
    # Scores near -130 000: float32 rounds them to 0.016, and what leaks past a mask is worth 1.
    q, k = _far_below(values, (), 512.0, 4)
    args = (q, k, values.normal(5, 2, scale=3.0), mask)
    yield Case("scores as low as they get", args, aspect=STABILITY, gradients=False, scale=500.0)


def _far_below(values, lead, far, limit):
    """Queries and keys whose every score is close to -far * far / 2."""
    q, k = values.eighths(*lead, 3, 4, limit=limit), values.eighths(*lead, 5, 4, limit=limit)
    if far > 256.0:
        q, k = (q * 2).round() / 2, (k * 2).round() / 2
    q[..., 1], k[..., 1] = -far, far
    return q, k


def _combine_masks(causal, padding):
    return causal[None, None] & padding[:, None, None, :]


def _combine_masks_cases(values):
    batch, tokens = values.sizes(2, 2, 6)
    yield _combined("all sizes different", batch, tokens, values, observe=True)
    yield _combined("more samples than tokens", 5, 3, values)
    yield _combined("as many samples as tokens", 4, 4, values)
    yield _combined("one sample", 1, 4, values)
    yield _combined("one token", 3, 1, values)
    yield _combined("one sample of one token", 1, 1, values)
    left = torch.tensor([[False, False, True, True], [False, True, True, True]])
    yield Case("padding on the left", (_triangle(4), left), gradients=False)
    yield Case("no padding", (_triangle(5), torch.ones(3, 5, dtype=torch.bool)), gradients=False)
    yield Case("nothing but padding", (_triangle(3), torch.zeros(2, 3, dtype=torch.bool)), gradients=False)
    window = _triangle(5) & ~_triangle(5).tril(-2)
    yield Case("a causal mask that sees two tokens", (window, _real(values, 3, 5)), gradients=False)
    yield Case("by name", (), {"causal": _triangle(4), "padding": _real(values, 3, 4)}, gradients=False)
    turned = _triangle(4).T.contiguous().T, _real(values, 4, 3).T.contiguous().T
    yield Case("columns in memory order", (turned[0][:3, :3], turned[1]), gradients=False)


def _triangle(tokens):
    return torch.ones(tokens, tokens, dtype=torch.bool).tril()


def _real(values, batch, tokens):
    return torch.arange(tokens) < values.integers(0, tokens, batch, 1)


def _combined(family, batch, tokens, values, **more):
    return Case(family, (_triangle(tokens), _real(values, batch, tokens)), gradients=False, **more)


EXERCISES = (
    Exercise(
        id="masking.causal_mask",
        lesson=LESSON,
        minutes=5,
        difficulty=1,
        reference=_causal_mask,
        cases=_causal_mask_cases,
        aspects={VALUES: 3},
        shapes={"return": "N N"},
        rules=NO_FUSED,
        mistakes=mistakes.CAUSAL_MASK,
        variant=mistakes.causal_with,
        hints=(
            "Draw the table for four tokens: rows ask, columns are asked. Which cells may be True?",
            "Row i is the query at position i. Compare a column's position with i: what must hold, and what "
            "happens when the two are equal?",
            "The shape of it: a square table of truth values, of which one triangle is kept, with its diagonal.",
        ),
    ),
    Exercise(
        id="masking.padding_mask",
        lesson=LESSON,
        minutes=6,
        difficulty=1,
        reference=_padding_mask,
        cases=_padding_mask_cases,
        aspects={VALUES: 3, SIDE_EFFECTS: 1},
        shapes={"lengths": "B", "return": "B max_len"},
        rules=NO_FUSED,
        mistakes=mistakes.PADDING_MASK,
        variant=mistakes.padding_with,
        hints=(
            "A sentence of 3 tokens in a row of 5: write the row of True and False by hand.",
            "Which positions of a row are real depends on one number, the row's length. What do you compare "
            "with it?",
            "The shape of it: the positions (max_len,) beside the lengths (B, 1), compared all at once.",
        ),
    ),
    Exercise(
        id="masking.masked_attention",
        lesson=LESSON,
        minutes=15,
        difficulty=3,
        reference=_masked_attention,
        cases=_masked_attention_cases,
        aspects={VALUES: 3, EMPTY_ROWS: 1, STABILITY: 1, GRADIENTS: 1, SIDE_EFFECTS: 1, DTYPES: 1},
        shapes={"q": "... N D", "k": "... M D", "v": "... M E", "mask": "... N M", "return": "... N E"},
        rules=NO_FUSED,
        mistakes=mistakes.MASKED_ATTENTION,
        variant=mistakes.masked_with,
        clues=clues.attention("no mask, batch and heads", "a mask for all samples"),
        invariants=(
            samples_apart("padding", "padding, another second sample"),
            past_only("causal", "causal, another last token"),
            shares_sum_to_one("values all one"),
        ),
        hints=(
            "A blocked key should get a share of exactly zero. Which score does softmax turn into zero?",
            "The mask acts between two of the steps you know: on the scores, before the softmax. What must "
            "happen when there is no mask?",
            "One kind of row needs care: a query that may attend to nothing. Print its weights. Which number "
            "should stand there, and at which step can you put it there?",
            "The shape of it: scores (..., N, M), what is blocked filled, softmax, what is blocked filled once "
            "more, and the mix with the values (..., M, E).",
        ),
    ),
    Exercise(
        id="masking.combine_masks",
        lesson=LESSON,
        minutes=6,
        difficulty=2,
        reference=_combine_masks,
        cases=_combine_masks_cases,
        aspects={VALUES: 3, SIDE_EFFECTS: 1},
        shapes={"causal": "N N", "padding": "B N", "return": "B 1 N N"},
        rules=NO_FUSED,
        mistakes=mistakes.COMBINE_MASKS,
        variant=mistakes.combined_with,
        hints=(
            "A key counts if the causal mask allows it and it is a real token. Which operation on truth values "
            "is that?",
            "Write the shapes below each other from the right: (N, N) and (B, N). Which axes must the padding "
            "mask get so that its tokens line up with the keys?",
            "The shape of it: (1, 1, N, N) meets (B, 1, 1, N).",
        ),
    ),
)
