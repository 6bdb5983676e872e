"""Where numbers are wrong, and right numbers that stand elsewhere."""

import operator
from itertools import combinations, permutations

import torch

from autograder.judge.relations.pair import nearly_equal
from autograder.judge.tolerance import close

# One case may fit a sentence by chance.
FEW = 2
# A sentence about more kinds of input than these says nothing.
MOST_FAMILIES = 2


def turned(wrong, pairs):
    """Transposed."""
    square = [p for p in wrong if p.want.dim() >= 2 and p.want.shape[-1] == p.want.shape[-2] > 1]
    if square and len(square) == len(wrong) and all(close(p.want.mT, p.have) for p in square):
        return (
            "Rows and columns of your result have changed places.",
            "Which axis should stand first, and why?",
        )
    return None


def alike(wrong, pairs):
    """The same row again and again."""
    tables = [p for p in wrong if p.want.dim() >= 2 and p.want.shape[-2] > 1]
    alike = (close(p.have[..., :1, :].expand(p.have.shape), p.have) for p in tables)
    if len(tables) > len(wrong) / 2 and all(alike):
        return "All rows of your result are alike.", "Which index should change from row to row, and does it?"
    return None


PARTS = (
    ("in the first row", lambda far: far[..., 1:, :], 2),
    ("in the last row", lambda far: far[..., :-1, :], 2),
    ("below the first row", lambda far: far[..., :1, :], 2),
    ("above the last row", lambda far: far[..., -1:, :], 2),
    ("in the last column", lambda far: far[..., :-1], 1),
    ("in the first column", lambda far: far[..., 1:], 1),
    ("above the diagonal", lambda far: far.tril(), 2),
    ("below the diagonal", lambda far: far.triu(), 2),
    ("on the diagonal", lambda far: far & ~torch.eye(*far.shape[-2:], dtype=torch.bool), 2),
    ("from the second sample on", lambda far: far[:1], 3),
)


def where(wrong) -> str | None:
    """The part of the result that holds every wrong entry of every case, or None."""
    for part, outside, axes in PARTS:
        large = [p.far for p in wrong if p.whole and p.far.dim() >= axes]
        if len(large) >= max(FEW, len(wrong) / 2) and not any(bool(outside(far).any()) for far in large):
            return part
    return None


def places(wrong, pairs):
    """All wrong entries lie in one part of the result."""
    part = where(wrong)
    if part is not None:
        return f"Your result is right but {part}.", "What does your code do differently there?"
    return None


def axes(wrong, pairs):
    """Wrong for every input of some number of axes, right for the others."""
    ranks = {p.want.dim() for p in wrong}
    right = {p.want.dim() for p in pairs if not p.wrong and p.want.numel() > 1}
    if right and not ranks & right:
        return "Your answer is right for some numbers of axes, and wrong for others.", (
            "Counted from the end, which axes does each of your steps work on?"
        )
    return None


def sizes(wrong, pairs):
    """Wrong exactly where two sizes stand in one relation."""
    right = [p for p in pairs if not p.wrong and p.want.numel() > 1]
    if len(wrong) < FEW or len(right) < FEW:
        return None
    for a, b in permutations(wrong[0].sizes, 2):
        for how, holds in (("is larger than", operator.gt), ("equals", operator.eq)):
            known = all(a in p.sizes and b in p.sizes for p in pairs)
            if known and all(holds(p.sizes[a], p.sizes[b]) == p.wrong for p in (*wrong, *right)):
                return f"Your result is wrong exactly where {a} {how} {b}.", (
                    "Which of your steps takes the one size for the other?"
                )
    return None


def families(wrong, pairs):
    """Only a few of the kinds of input go wrong."""
    families = list(dict.fromkeys(p.case.family for p in wrong))
    others = {p.case.family for p in pairs} - set(families)
    if len(families) > MOST_FAMILIES or len(others) < 2 * len(families):
        return None
    quoted = " and ".join(f'"{family}"' for family in families)
    kinds = "one kind" if len(families) == 1 else "two kinds"
    return (
        f"Only inputs of {kinds} go wrong: {quoted}.",
        "What is special about them, and which step feels it?",
    )


def order(wrong, pairs):
    """Several results, each of them right, in other places."""
    groups = {}
    for p in pairs:
        groups.setdefault(id(p.case), []).append(p)
    several = [group for group in groups.values() if len(group) > 1 and any(p.wrong for p in group)]
    if not several:
        return None
    if all(_matches(group) == set(range(len(group))) for group in several):
        return (
            "Your results are right, but in another order.",
            "In which order does the signature promise them?",
        )
    if all(any(_equal(a.have, b.have) for a, b in combinations(group, 2)) for group in several):
        return "Two of your results are one and the same.", "Which inputs should each of them be made from?"
    return None


def _matches(group) -> set[int]:
    return {n for n, p in enumerate(group) if any(_equal(p.want, other.have) for other in group)}


def _equal(first, second) -> bool:
    return first.shape == second.shape and nearly_equal(first, second)


def moved(wrong, pairs):
    """The numbers that are due, in other places."""
    if all(_same_numbers(p.want, p.have) for p in wrong):
        return "Your result holds the right numbers, but in other places.", (
            "Follow the numbers of one token: where should each of them stand, and where does it stand in yours?"
        )
    return None


def foreign(wrong, pairs):
    """Where the numbers of the input are due, others."""
    inputs = [p.case.args[0] if p.case.args else None for p in wrong]
    if all(
        isinstance(x, torch.Tensor) and _same_numbers(x.double(), p.want)
        for x, p in zip(inputs, wrong, strict=True)
    ):
        return "Your result holds numbers that the input does not, or some of them more than once.", (
            "Should this step change any number, or only its place?"
        )
    return None


def _same_numbers(first, second) -> bool:
    return first.numel() == second.numel() and nearly_equal(*(t.flatten().sort().values for t in (first, second)))
