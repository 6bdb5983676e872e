"""Relations about positions: where the wrong numbers are, and right numbers in wrong positions."""

import operator
from collections.abc import Callable
from itertools import combinations, permutations

import torch

from autograder.judge.relations.pair import Pair, Pairs, Words, nearly_equal
from autograder.values.compare import is_close

# A single case may match by chance.
FEW = 2


def transposed(wrong: Pairs, pairs: Pairs) -> Words | None:
    """Match results with rows and columns swapped."""
    square = [p for p in wrong if p.expected.dim() >= 2 and p.expected.shape[-1] == p.expected.shape[-2] > 1]
    if square and len(square) == len(wrong) and all(is_close(p.expected.mT, p.actual) for p in square):
        return (
            "Your result is transposed: its rows and columns are swapped.",
            "Which axis should come first?",
        )
    return None


def same_rows(wrong: Pairs, pairs: Pairs) -> Words | None:
    """Match results whose rows are all the same."""
    tables = [p for p in pairs if p.expected.dim() >= 2 and p.expected.shape[-2] > 1]
    constant = (is_close(p.actual[..., :1, :].expand(p.actual.shape), p.actual) for p in tables)
    if sum(p.wrong for p in tables) > len(wrong) / 2 and all(constant):
        return "All rows of your result are the same.", "Which index should change from row to row?"
    return None


def _beside_triangle(far: torch.Tensor, triangle: torch.Tensor) -> torch.Tensor:
    """Return `triangle`, the wrong entries that lie outside some triangle of a square matrix. If the matrix
    is not square, it has no such triangle, so return all wrong entries, `far`.
    """
    return triangle if far.shape[-2] == far.shape[-1] else far


Parts = tuple[tuple[str, Callable[[torch.Tensor], torch.Tensor], int], ...]
LINES: Parts = (
    # (description, mask of the entries outside, smallest number of axes)
    ("in the first row", lambda far: far[..., 1:, :], 2),
    ("in the last row", lambda far: far[..., :-1, :], 2),
    ("in the last column", lambda far: far[..., :-1], 1),
    ("in the first column", lambda far: far[..., 1:], 1),
    ("on the diagonal", lambda far: far & ~torch.eye(*far.shape[-2:], dtype=torch.bool), 2),
)
PARTS: Parts = (
    *LINES,
    ("below the first row", lambda far: far[..., :1, :], 2),
    ("above the last row", lambda far: far[..., -1:, :], 2),
    ("above the diagonal", lambda far: _beside_triangle(far, far.tril()), 2),
    ("below the diagonal", lambda far: _beside_triangle(far, far.triu()), 2),
    ("from the second sample on", lambda far: far[:1], 3),
)


def common_place(wrong: Pairs, parts: Parts = PARTS) -> str | None:
    """Return the name of the first of `parts` that contains every wrong entry, or None. Results that are not
    tables or have too few axes are ignored; at least FEW results, and at least half of all results, must
    remain.
    """
    for place, outside, fewest in parts:
        large = [p.differs for p in wrong if p.is_table and p.differs.dim() >= fewest]
        if len(large) >= max(FEW, len(wrong) / 2) and not any(bool(outside(far).any()) for far in large):
            return place
    return None


def places(wrong: Pairs, pairs: Pairs) -> Words | None:
    """Match results whose wrong entries all lie in one of PARTS."""
    place = common_place(wrong)
    if place is not None:
        return f"Your result is right except {place}.", "What does your code do differently there?"
    return None


def axes(wrong: Pairs, pairs: Pairs) -> Words | None:
    """Match results that are wrong for some numbers of axes and right for all others."""
    ranks = {p.expected.dim() for p in wrong}
    right = {p.expected.dim() for p in pairs if not p.wrong and p.expected.numel() > 1}
    if right and not ranks & right:
        return "Your result is right for some numbers of axes, and wrong for others.", (
            "Which axes does each of your steps work on, counted from the end?"
        )
    return None


def sizes(wrong: Pairs, pairs: Pairs) -> Words | None:
    """Match results that are wrong exactly when one size is larger than another, or exactly when two sizes
    are equal.
    """
    right = [p for p in pairs if not p.wrong and p.expected.numel() > 1]
    if len(wrong) < FEW or len(right) < FEW:
        return None
    question = "Which of your steps confuses these sizes?"

    def fits(a: str, b: str, holds: Callable[[int, int], bool]) -> bool:
        known = all(a in p.sizes and b in p.sizes for p in pairs)
        return known and all(holds(p.sizes[a], p.sizes[b]) == p.wrong for p in (*wrong, *right))

    for a, b in permutations(wrong[0].sizes, 2):
        if fits(a, b, operator.gt):
            return f"Your result is wrong exactly when {a} is larger than {b}.", question
    for a in wrong[0].sizes:
        # If several pairs of sizes are always equal together, it is unknown which pair was confused.
        if same := [b for b in wrong[0].sizes if b != a and fits(a, b, operator.eq)]:
            *more, last = a, *same
            return f"Your result is wrong exactly when {', '.join(more)} and {last} are equal.", question
    return None


def order(wrong: Pairs, pairs: Pairs) -> Words | None:
    """Match several right results in the wrong order, or results of which two are the same."""
    groups: dict[int, Pairs] = {}
    for p in pairs:
        groups.setdefault(id(p.case), []).append(p)
    several = [group for group in groups.values() if len(group) > 1 and any(p.wrong for p in group)]
    if not several:
        return None
    if all(_are_exchanged(group) for group in several):
        return (
            "Your results are right, but in the wrong order.",
            "In which order does the docstring list them?",
        )
    if all(any(_are_confused(a, b) for a, b in combinations(group, 2)) for group in several):
        return "Two of your results are the same.", "Which inputs should each of them be computed from?"
    return None


def _are_exchanged(group: Pairs) -> bool:
    """Return whether every expected result is among the actual ones, and some of them not in its own position,
    even if rounding is allowed for.
    """
    found = all(any(_equal(p.expected, other.actual) for other in group) for p in group)
    return found and not all(_equal(p.expected, p.actual) for p in group)


def _are_confused(first: Pair, second: Pair) -> bool:
    """Return whether two results are the same although two different ones are expected."""
    return _equal(first.actual, second.actual) and not _equal(first.expected, second.expected)


def _equal(first: torch.Tensor, second: torch.Tensor) -> bool:
    return first.shape == second.shape and nearly_equal(first, second)


def moved(wrong: Pairs, pairs: Pairs) -> Words | None:
    """Match right numbers in the wrong positions."""
    if all(_same_numbers(p.expected, p.actual) for p in wrong):
        return "Your result has the right numbers, but in the wrong positions.", (
            "Follow one of the numbers. Which step moves it to the wrong position?"
        )
    return None


def not_from_input(wrong: Pairs, pairs: Pairs) -> Words | None:
    """Match wrong results that should hold exactly the numbers of the input, in other positions."""
    inputs = [p.case.args[0] if p.case.args else None for p in wrong]
    if all(
        isinstance(x, torch.Tensor) and _same_numbers(x.double(), p.expected)
        for x, p in zip(inputs, wrong, strict=True)
    ):
        return "Your result contains numbers that are not in the input, or repeats some of them.", (
            "Should your function change numbers, or only move them?"
        )
    return None


def _same_numbers(first: torch.Tensor, second: torch.Tensor) -> bool:
    return first.numel() == second.numel() and nearly_equal(
        *(t.flatten().sort().values for t in (first, second))
    )
