"""Rows of weights that sum to one: expected, or given instead of other numbers."""

import torch

from autograder.judge.relations.pair import SAME, Pair, Pairs, Words, nearly_equal

# Largest distance from one of a normalized row's standard deviation; a norm's eps (1e-5) moves it by less if the
# row's own is above 0.02.
NEARLY = 0.02


def weights(wrong: Pairs, pairs: Pairs) -> Words | None:
    """Wrong shares, or no shares, where rows of positive shares are expected."""
    tables = [p for p in wrong if p.expected.shape[-1] > 1 and _is_share(p.expected)]
    shares = [p for p in tables if not _all_or_nothing(p.expected)]
    if not shares:
        return None
    if all(p.actual.dim() > 1 and _sums_to_one(p.actual.mT) and not _sums_to_one(p.actual) for p in shares):
        return "The columns of your weights sum to one, not the rows.", (
            "For one query, what should its weights over all keys add up to?"
        )
    if not all(_sums_to_one(p.actual) for p in shares):
        # If values of one give outputs of one, the weights are shares, and something else is wrong.
        ones = [p for p in pairs if p.expected.numel() > 1 and bool(((p.expected - 1).abs() < SAME).all())]
        if ones and not any(p.wrong for p in ones):
            return None
        # Numbers of both signs are no weights at all: something else was added, or read.
        if any(bool((p.actual < -SAME).any()) for p in shares):
            return None
        return (
            "Your rows of weights do not sum to one.",
            "What turns positive numbers into shares of a whole?",
        )
    if any(bool((p.actual < -SAME).any()) for p in shares):
        return "Some of your weights are negative.", "Which step makes every score positive?"
    if any(bool(((p.actual == 0) & (p.expected > SAME)).any()) for p in shares):
        return (
            "Some of your weights are 0 where they should not be.",
            "Which entries should get a share, and which step leaves them out?",
        )
    # Weights that are hardly off, as by a small constant in the division, say nothing of the scores.
    if all(nearly_equal(p.expected, p.actual) for p in shares):
        return None
    return _steepness(shares) or _ranks(shares)


def _ranks(shares: Pairs) -> Words:
    """Whether the order of the shares in each row is right."""
    orders = [(p.expected.argsort(-1), p.actual.argsort(-1)) for p in shares]
    if all(torch.equal(*both) for both in orders):
        return (
            "In every row the order of your shares is right, but not how far they are apart.",
            "Through which function does a score go on its way to a share, and is it the right one?",
        )
    if all(torch.equal(p.expected.argmax(-1), p.actual.argmax(-1)) for p in shares):
        return (
            "In every row the largest share stands where it should; the smaller ones are in another order.",
            "What is done to low scores that is not done to high ones?",
        )
    return (
        "Your rows are shares of a whole, but in some the largest share goes to the wrong place.",
        "Which two things should be compared for each share, and which does your code compare?",
    )


def _steepness(shares: Pairs) -> Words | None:
    apart = [p for p in shares if bool(((p.expected > 1e-6) & (p.actual > 1e-6)).all())]
    slopes = [slope for p in apart if (slope := _slope(p)) is not None]
    if len(slopes) < len(apart) or all(abs(slope - 1) < SAME for slope in slopes):
        return None
    if all(slope < 1 for slope in slopes):
        return "Your weights are flatter than they should be.", (
            "What are the scores divided by on their way to the softmax, and how often?"
        )
    if all(slope > 1 for slope in slopes):
        return "Your weights are sharper than they should be.", (
            "What are the scores divided by, or multiplied with, on their way to the softmax?"
        )
    return "Your weights are flatter for some sizes and sharper for others.", (
        "Which size does your scale follow, and which should it follow?"
    )


def _slope(pair: Pair) -> float | None:
    """The factor between the scores behind two tables of weights, from the logarithms of their ratios; None unless it
    explains most of what is between them."""
    x, y = (t.log() - t.log().mean(-1, keepdim=True) for t in (pair.expected, pair.actual))
    slope = float((x * y).sum() / (x * x).sum().clamp(min=1e-12))
    rest = y - slope * x
    fits = bool((rest.abs() < 0.02 * (1 + x.abs())).all() and rest.norm() < 0.5 * (y - x).norm())
    return slope if fits else None


def _is_share(table: torch.Tensor) -> bool:
    return bool((table >= 0).all()) and _sums_to_one(table)


def _all_or_nothing(table: torch.Tensor) -> bool:
    # A row such as (0, 1) may be anything, for instance a sine and a cosine.
    return bool(((table == 0) | (table == 1)).all())


def _sums_to_one(table: torch.Tensor) -> bool:
    return bool(((table.sum(-1) - 1).abs() < SAME).all())


def already_shares(wrong: Pairs, pairs: Pairs) -> Words | None:
    """Shares where scores of any size are expected."""
    if all(_is_share(p.actual) for p in wrong):
        return (
            "Your rows are shares already: no number is negative, and their sum is one.",
            "Which step makes shares of numbers, and is it asked for here?",
        )
    return None


def normalized(wrong: Pairs, pairs: Pairs) -> Words | None:
    """Normalized rows."""
    rows = [p.actual for p in wrong if p.expected.shape[-1] > 2]
    if rows and all(_is_normalized(one) for one in rows):
        return (
            "Every row of your result has mean zero and spread one.",
            "Which of your steps norms, and does this exercise ask for that?",
        )
    return None


def _is_normalized(rows: torch.Tensor) -> bool:
    deviation = rows.std(-1, correction=0)
    return bool((rows.mean(-1).abs() < SAME).all() and ((deviation - 1).abs() < NEARLY).all())
