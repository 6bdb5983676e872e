"""Relations about attention weights ("shares"), whose rows sum to one: wrong weights, and weights in place of
other numbers.
"""

from collections.abc import Callable

import torch

from autograder.judge.relations.pair import NOTHING, SAME, Pair, Pairs, Relation, Words, nearly_equal

# Largest difference between a normalised row's standard deviation and 1. A norm's eps (1e-5) causes a smaller
# one if the row's own standard deviation is above 0.02.
NEARLY = 0.02


def _shares(wrong: Pairs) -> Pairs:
    """Return the pairs in which attention weights are expected: rows that sum to one and have no negative
    entries. A result with only zeros and ones does not count.
    """
    tables = [p for p in wrong if p.expected.shape[-1] > 1 and _is_share(p.expected)]
    return [p for p in tables if not _all_or_nothing(p.expected)]


def _of_shares(holds: Callable[[Pairs], bool], words: Words, plain: Words = NOTHING) -> Relation:
    """Return a relation that returns a message if `holds` is true of the wrong pairs in which attention weights
    are expected, else None. The message is `words` in an exercise with queries and keys, and `plain` in any
    other.
    """

    def relation(wrong: Pairs, pairs: Pairs) -> Words | None:
        if not holds(_shares(wrong)):
            return None
        return words if wrong[0].attends else plain

    return relation


def _sum_over_columns(shares: Pairs) -> bool:
    return all(
        p.actual.dim() > 1 and _sums_to_one(p.actual.mT) and not _sums_to_one(p.actual) for p in shares
    )


def _rows_sum_to_one(shares: Pairs) -> bool:
    return all(_sums_to_one(p.actual) for p in shares)


def _values_of_one(wrong: Pairs, pairs: Pairs) -> Words | None:
    # If values of one give outputs of one, the weights are shares, and something else is wrong.
    ones = [p for p in pairs if p.expected.numel() > 1 and bool(((p.expected - 1).abs() < SAME).all())]
    right = ones and not any(p.wrong for p in ones)
    return NOTHING if right and not _rows_sum_to_one(_shares(wrong)) else None


def _some_negative(shares: Pairs) -> bool:
    return any(bool((p.actual < -SAME).any()) for p in shares)


def _some_left_out(shares: Pairs) -> bool:
    return any(bool(((p.actual == 0) & (p.expected > SAME)).any()) for p in shares)


def _hardly_off(shares: Pairs) -> bool:
    return all(nearly_equal(p.expected, p.actual) for p in shares)


def _slopes(shares: Pairs) -> list[float]:
    """Return the `_slope` of each pair whose weights are all positive. Return an empty list if one of these
    pairs has no slope, or if all slopes are one.
    """
    apart = [p for p in shares if bool(((p.expected > 1e-6) & (p.actual > 1e-6)).all())]
    slopes = [slope for p in apart if (slope := _slope(p)) is not None]
    return [] if len(slopes) < len(apart) or all(abs(slope - 1) < SAME for slope in slopes) else slopes


def _flatter(shares: Pairs) -> bool:
    slopes = _slopes(shares)
    return bool(slopes) and all(slope < 1 for slope in slopes)


def _sharper(shares: Pairs) -> bool:
    slopes = _slopes(shares)
    return bool(slopes) and all(slope > 1 for slope in slopes)


def _same_order(shares: Pairs) -> bool:
    return all(torch.equal(p.expected.argsort(-1), p.actual.argsort(-1)) for p in shares)


def _same_largest(shares: Pairs) -> bool:
    return all(torch.equal(p.expected.argmax(-1), p.actual.argmax(-1)) for p in shares)


def _slope(pair: Pair) -> float | None:
    """Return the factor that turns the scores behind the expected weights into those behind the actual ones,
    computed from the weights' logarithms. Return None if it does not explain most of the difference.
    """
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


# Wrong shares, or no shares, where rows of positive shares are expected.
WEIGHTS: dict[str, Relation] = {
    "no shares expected": _of_shares(lambda shares: not shares, NOTHING),
    "columns sum to one": _of_shares(
        _sum_over_columns,
        (
            "The columns of your weights sum to one; the rows do not.",
            "What should the weights of one query sum to, and over which axis?",
        ),
        (
            "The columns of your result sum to one; the rows do not.",
            "Over which axis should the numbers sum to one?",
        ),
    ),
    "values of one come out right": _values_of_one,
    # Numbers of both signs are no weights: something else was added or read.
    "sums of both signs": _of_shares(
        lambda shares: not _rows_sum_to_one(shares) and _some_negative(shares),
        NOTHING,
    ),
    "other sums": _of_shares(
        lambda shares: not _rows_sum_to_one(shares),
        (
            "Your rows of weights do not sum to one.",
            "Which step makes positive numbers sum to one?",
        ),
        (
            "The numbers in your rows do not sum to one.",
            "Which step makes positive numbers sum to one?",
        ),
    ),
    "some negative": _of_shares(
        _some_negative,
        (
            "Some of your weights are negative.",
            "Which step makes every score positive?",
        ),
        (
            "Some of your numbers are negative, and none should be.",
            "Which step can give a negative number?",
        ),
    ),
    "some left out": _of_shares(
        _some_left_out,
        (
            "Some of your weights are 0 but should not be.",
            "Which keys get no weight in your result?",
        ),
        (
            "Your result leaves out some entries that should count.",
            "Which step leaves them out?",
        ),
    ),
    # This may be the effect of a small constant in the denominator, which says nothing about the scores.
    "hardly off": _of_shares(_hardly_off, NOTHING),
    "flatter": _of_shares(
        _flatter,
        (
            "Your weights are flatter than they should be.",
            "What are the scores divided by before the softmax?",
        ),
        (
            "The numbers in your rows are closer together than they should be.",
            "Which step makes them more alike?",
        ),
    ),
    "sharper": _of_shares(
        _sharper,
        (
            "Your weights are sharper than they should be.",
            "What are the scores divided or multiplied by before the softmax?",
        ),
        (
            "The numbers in your rows are further apart than they should be.",
            "Which step makes them differ more?",
        ),
    ),
    "flatter and sharper": _of_shares(
        lambda shares: bool(_slopes(shares)),
        (
            "Your weights are flatter for some sizes and sharper for others.",
            "Which size does your scale depend on, and which should it depend on?",
        ),
    ),
    "same order": _of_shares(
        _same_order,
        (
            "In every row your weights are in the right order, but their ratios are wrong.",
            "Which function turns a score into a weight?",
        ),
        (
            "In every row your numbers are in the right order, but their ratios are wrong.",
            "Which step decides these ratios?",
        ),
    ),
    "same largest": _of_shares(
        _same_largest,
        (
            "In every row your largest weight is in the right position; the smaller ones are in the "
            "wrong order.",
            "What happens to low scores that does not happen to high ones?",
        ),
        (
            "In every row your largest number is in the right position; the smaller ones are in the "
            "wrong order.",
            "What does your code do differently with the smaller ones?",
        ),
    ),
    "another largest": _of_shares(
        bool,
        (
            "Your rows are weights that sum to one, but in some rows the largest is in the wrong position.",
            "Work out the weights of such a row by hand. Which one comes out wrong?",
        ),
        (
            "Your rows sum to one, but in some rows the largest number is in the wrong position.",
            "Which entry of such a row should be the largest?",
        ),
    ),
}


def already_shares(wrong: Pairs, pairs: Pairs) -> Words | None:
    """Match attention weights (rows that sum to one) in place of scores of any size."""
    if not all(_is_share(p.actual) for p in wrong):
        return None
    if wrong[0].attends:
        return (
            "Your rows are weights already: none is negative, and they sum to one.",
            "Does this exercise ask for a softmax?",
        )
    return "No number of your result is negative, and its rows sum to one.", "What should a row sum to?"


def normalized(wrong: Pairs, pairs: Pairs) -> Words | None:
    """Match wrong results whose rows all have mean 0 and standard deviation 1."""
    rows = [p.actual for p in wrong if p.expected.shape[-1] > 2]
    if rows and all(_is_normalized(one) for one in rows):
        return (
            "Every row of your result has mean 0 and standard deviation 1.",
            "Does this exercise ask for a norm?",
        )
    return None


def _is_normalized(rows: torch.Tensor) -> bool:
    deviation = rows.std(-1, correction=0)
    return bool((rows.mean(-1).abs() < SAME).all() and ((deviation - 1).abs() < NEARLY).all())
