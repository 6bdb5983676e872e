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
    yield Case("a sentence", (values.sizes(1, 5, 7)[0],), gradients=False, observe=True)
    yield Case("one token", (1,), gradients=False)
    yield Case("a longer sentence", (values.sizes(1, 33, 40)[0],), gradients=False)
    yield Case("n by name", (), {"n": 4}, gradients=False)


def _padding_mask(lengths, max_len):
    return torch.arange(max_len)[None, :] < lengths[:, None]


def _padding_mask_cases(values):
    yield Case("from no token to all", (torch.tensor([0, 5, 2, 4, 1, 3]), 5), gradients=False, observe=True)
    yield Case("as many samples as tokens", (torch.tensor([4, 1, 2, 3]), 4), gradients=False)
    yield Case("all full", (torch.tensor([3, 3]), 3), gradients=False)
    yield Case("all empty", (torch.tensor([0, 0]), 3), gradients=False)
    yield Case("one sample", (torch.tensor([2]), 5), gradients=False)
    yield Case("one token", (torch.tensor([1, 0, 1]), 1), gradients=False)
    yield Case("32-bit lengths", (torch.tensor([1, 4, 3], dtype=torch.int32), 5), gradients=False)
    yield Case("max_len by name", (values.integers(0, 7, 5),), {"max_len": 7}, gradients=False)


def _masked_attention(q, k, v, mask=None):
    if mask is not None:
        mask = mask.expand(*q.shape[:-1], k.shape[-2])
    return F.scaled_dot_product_attention(q, k, v, attn_mask=mask)


def _masked_attention_cases(values):
    batch, queries, keys, width, out = values.sizes(5)
    yield _masked(values, "no mask, batch and heads", (2, 3), 4, 5, 6, 7)
    yield _masked(
        values, "a mask for all samples", (batch,), queries, keys, width, out, (queries, keys), observe=True
    )
    yield from _causal(values)
    yield _masked(values, "a mask for each head", (2, 3), 4, 5, 6, 7, (2, 3, 4, 5), by_name=True)
    yield _masked(values, "padding, batch and heads", (3, 2), 4, 5, 6, 3, (3, 1, 1, 5))
    yield _masked(values, "one mask for batch and heads", (2, 3), 4, 5, 3, 6, (1, 1, 4, 5))
    yield _masked(values, "heads with a mask each", (2, 3), 4, 5, 6, 2, (3, 4, 5))
    yield _masked(values, "a batch as long as its sentences", (4,), 4, 4, 4, 4, (4, 4))
    yield _masked(values, "one row of keys, without an axis for queries", (2, 3), 4, 5, 6, 3, (5,))
    yield _masked(values, "columns in memory order", (3,), 5, 4, 6, 2, (3, 5, 4), turned=True)
    yield _masked(values, "one token", (1,), 1, 1, 1, 1, (1, 1))
    yield _scores_of_zero(values)
    yield _values_all_one(values)
    yield from _empty_rows(values)
    yield from _far_scores(values)
    yield _masked(values, "float64", (2,), 3, 4, 5, 6, (3, 4), dtype=DOUBLE, aspect=DTYPES)
    if values.hidden:
        yield _masked(values, "a mask for each head of all samples", (3, 2), 4, 5, 6, 3, (1, 2, 4, 5))


def _masked(values, family, lead, n, m, width, out, shape=None, by_name=False, turned=False, **more):
    """A case of random q, k, v with a random mask of `shape` in which every query may see the first key."""
    dtype = more.pop("dtype", torch.float32)
    mask = None if shape is None else some_mask(values, shape)
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


def _causal(values):
    """A causal mask; then another last token, and another second sample."""
    mask = torch.ones(5, 5, dtype=torch.bool).tril()
    inputs = [values.normal(2, 5, width) for width in (6, 6, 3)]
    yield Case("causal", (*inputs, mask))
    last = (torch.cat((t[:, :-1], values.normal(2, 1, t.shape[-1])), dim=1) for t in inputs)
    yield Case("causal, another last token", (*last, mask), gradients=False)
    second = (torch.cat((t[:1], values.normal(1, *t.shape[1:]))) for t in inputs)
    yield Case("causal, another second sample", (*second, mask), gradients=False)


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
    """Queries that may attend to nothing: by left padding under a causal mask, and all of them."""
    left = torch.tensor([False, False, True, True, True])
    causal = torch.ones(5, 5, dtype=torch.bool).tril() & left
    yield _with_mask(values, "some queries see nothing", (2,), 5, 5, causal)
    yield _with_mask(values, "nothing may be seen", (), 3, 4, torch.zeros(3, 1, dtype=torch.bool))


def _with_mask(values, family, lead, n, m, mask):
    q, k, v = (values.normal(*lead, tokens, width) for tokens, width in ((n, 6), (m, 6), (m, 3)))
    return Case(family, (q, k, v, mask), aspect=EMPTY_ROWS)


def _far_scores(values):
    """Scores far from zero."""
    q, k, v = values.eighths(3, 4, limit=400), values.eighths(5, 4, limit=400), values.normal(5, 2)
    # The best key stays open: zeroing weights and sharing out again, a right way, needs its weight.
    mask = some_mask(values, (3, 5)) | (q @ k.T == (q @ k.T).amax(dim=-1, keepdim=True))
    yield Case("scores in the thousands", (q, k, v, mask), aspect=STABILITY, gradients=False, scale=10.0)
    # Scores near -130 000: float32 rounds them to 0.016, and what leaks past a mask is worth 1.
    q, k = _far_below(values)
    mask = torch.tensor([[1, 0, 1, 1, 0], [0, 1, 0, 1, 1], [1, 1, 0, 0, 0]]).bool()
    args = (q, k, values.normal(5, 2, scale=3.0), mask)
    yield Case("scores as low as they get", args, aspect=STABILITY, gradients=False, scale=500.0)


def _far_below(values):
    """Queries and keys whose every score is close to -512 * 512 / 2."""
    q, k = ((values.eighths(tokens, 4, limit=4) * 2).round() / 2 for tokens in (3, 5))
    q[:, 1], k[:, 1] = -512.0, 512.0
    return q, k


def _combine_masks(causal, padding):
    return causal[None, None] & padding[:, None, None, :]


def _combine_masks_cases(values):
    batch, tokens = values.sizes(2, 2, 6)
    yield _combined("all sizes different", batch, tokens, values, observe=True)
    yield _combined("as many samples as tokens", 4, 4, values)
    yield _combined("one sample of one token", 1, 1, values)
    left = torch.tensor([[False, False, True, True], [False, True, True, True]])
    yield Case("padding on the left", (_triangle(4), left), gradients=False)
    yield Case("no padding", (_triangle(5), torch.ones(3, 5, dtype=torch.bool)), gradients=False)
    window = _triangle(5) & ~_triangle(5).tril(-2)
    yield Case("a causal mask that sees two tokens", (window, _real(values, 3, 5)), gradients=False)
    yield Case("by name", (), {"causal": _triangle(4), "padding": _real(values, 3, 4)}, gradients=False)


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
            samples_apart("causal", "causal, another second sample"),
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
