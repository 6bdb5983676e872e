"""Numbers that are others in the same way everywhere: a factor, a sum, a sign, a limit."""

import torch

from autograder.judge.relations.pair import SAME, nearly_equal
from autograder.judge.relations.places import where

# Of the largest number that is due: what rounding to bfloat16 (0.4 % of a number) loses in a few steps is less.
NEARLY = 0.02


def factor(wrong, pairs):
    """One number times what is due, in every case."""
    tables = [p for p in wrong if p.want.numel() > 1]
    factors = [float((p.want * p.have).sum() / (p.want * p.want).sum().clamp(min=1e-12)) for p in tables]
    fits = (nearly_equal(p.have, c * p.want) for p, c in zip(tables, factors, strict=True))
    if not factors or not all(fits) or min(abs(c) for c in factors) < SAME:
        return None
    if all(abs(c + 1) < SAME for c in factors):
        return "Every one of your entries has the opposite sign.", "Which step turns the sign?"
    how = "small" if max(factors) < 1 else "large" if min(factors) > 1 else None
    if min(factors) <= 0:
        return None
    if how and len(factors) > 1 and max(factors) - min(factors) < 0.01 * max(factors):
        return f"Your entries are all too {how} by one factor, the same for every input.", (
            "Which number multiplies or divides in your code that the formula does not have?"
        )
    which = f"too {how}" if how else "too small for some inputs and too large for others,"
    return f"Your entries are {which} by one factor, which changes with the size of the input.", (
        "Which size does your factor follow, and which should it follow?"
    )


def added(wrong, pairs):
    """What is due plus one of the inputs."""
    for n in range(max(len(p.case.args) for p in wrong)):
        inputs = [p.case.args[n] if n < len(p.case.args) else None for p in wrong]
        if all(
            isinstance(x, torch.Tensor) and x.shape == p.want.shape and nearly_equal(p.have - p.want, x.double())
            for p, x in zip(wrong, inputs, strict=True)
        ):
            return (
                "Your result is what is due plus one of the inputs.",
                "Does this exercise ask for that sum?",
            )
    return None


def shifted(wrong, pairs):
    """What is due plus one number, the same everywhere."""
    tables = [p for p in wrong if p.want.numel() > 1]
    apart = [p.have - p.want for p in tables]
    if tables and all(nearly_equal(d.mean().expand(d.shape), d) for d in apart):
        return "Your entries are all off by one number that is added to each of them.", (
            "From which number does your sum start, or what is added at the end?"
        )
    return None


def nearly(wrong, pairs):
    """Rounded on the way."""
    if all(bool(((p.have - p.want).abs() <= NEARLY * p.want.abs().max()).all()) for p in wrong):
        return "Your numbers are close to what is due, but not close enough for rounding.", (
            "Which step rounds, leaves float32 on the way, or adds a small number?"
        )
    return None


def zeros(wrong, pairs):
    """Zeros where other numbers are due."""
    if not all(bool((p.have[p.far] == 0).all()) for p in wrong):
        return None
    if all(bool((p.want[p.far] < 0).all()) for p in wrong):
        return (
            "Wherever a negative number is due, yours is zero.",
            "Which step lets no negative number through?",
        )
    return f"Your result is zero {where(wrong) or 'in places where another number is due'}.", (
        "Which positions does your code never fill?"
    )


def sign(wrong, pairs):
    """Only where negative numbers are due is it wrong."""
    negative = all(bool((p.want[p.far] < 0).all()) for p in wrong)
    if negative and all(bool((p.want[~p.far] >= 0).all()) for p in wrong):
        return "Wherever a negative number is due, yours is another; the others are right.", (
            "Which step treats negative numbers differently?"
        )
    return None


def never_negative(wrong, pairs):
    """Where negative numbers are due, and none comes."""
    due = any(bool((p.want < -SAME).any()) for p in wrong)
    if due and all(bool((p.have >= 0).all()) for p in pairs):
        return "None of your entries is negative, and some should be.", "Which step loses the sign?"
    return None


def limited(wrong, pairs):
    """Right up to some size, wrong beyond."""
    limits = [(p.want[p.far].abs().min(), p) for p in wrong]
    right = [p.want[~p.far].abs().max() for p in pairs if bool((~p.far).any())]
    # Entries near zero are right by chance: many must be.
    many = sum(int((~p.far).sum()) for p in pairs) >= sum(int(p.far.sum()) for p in wrong)
    if right and many and min(float(limit) for limit, _ in limits) >= max(float(one) for one in right) > 0:
        return "Your entries are right up to a certain size, and wrong beyond it.", (
            "Which step limits how large a number can get?"
        )
    return None
