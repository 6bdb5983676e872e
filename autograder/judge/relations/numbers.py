"""Relations for numbers that are wrong in the same way everywhere: by a factor, a sum, a sign, a limit."""

from collections.abc import Mapping

import torch

from autograder.judge.relations.pair import SAME, Pair, Pairs, Words, nearly_equal
from autograder.judge.relations.places import common_place
from autograder.schema.case import tensors_in

# As a share of the largest expected number: a few roundings to bfloat16 (0.4 % of a number) lose less.
NEARLY = 0.02
# The largest share of the sizes in which a factor that depends on the size may be one.
FEW_SIZES = 0.4


def factor(wrong: Pairs, pairs: Pairs) -> Words | None:
    """Match the expected numbers times a factor, which may differ from case to case."""
    tables = [p for p in wrong if p.expected.numel() > 1]
    factors = [_factor(p) for p in tables]
    fits = (nearly_equal(p.actual, c * p.expected) for p, c in zip(tables, factors, strict=True))
    if not factors or not all(fits) or min(abs(c) for c in factors) < SAME:
        return None
    if all(abs(c + 1) < SAME for c in factors):
        return "All your entries have the opposite sign.", "Which step flips the sign?"
    how = "small" if max(factors) < 1 else "large" if min(factors) > 1 else None
    if min(factors) <= 0:
        return None
    if how and len(factors) > 1 and max(factors) - min(factors) < 0.01 * max(factors):
        return f"Your entries are all too {how} by the same factor, for every input.", (
            "Which factor is in your code but not in the formula, or in the formula but not in your code?"
        )
    if not _depends_on_size(pairs):
        return None
    which = f"too {how}" if how else "too small for some inputs and too large for others,"
    return f"Your entries are {which} by a factor that changes with the size of the input.", (
        "Which size does your factor depend on, and which should it depend on?"
    )


def _depends_on_size(pairs: Pairs) -> bool:
    """Return whether every result is the expected one times a factor that is the same for inputs of the same
    size, and that is one for few sizes. Results that are right in all cases do not count.
    """
    wrong = {p.number for p in pairs if p.wrong}
    tables = [p for p in pairs if p.number in wrong and p.expected.numel() > 1 and p.expected.norm() > SAME]
    by_size: dict[str, list[float]] = {}
    for p in tables:
        by_size.setdefault(_size_of(p), []).append(_factor(p))
    if any(max(factors) - min(factors) > 0.01 * abs(max(factors)) for factors in by_size.values()):
        return False
    ones = sum(abs(factors[0] - 1) < SAME for factors in by_size.values())
    return ones <= FEW_SIZES * len(by_size)


def _factor(pair: Pair) -> float:
    return float((pair.expected * pair.actual).sum() / (pair.expected * pair.expected).sum().clamp(min=1e-12))


def _size_of(pair: Pair) -> str:
    """Return what a step can know of a case's sizes: the shapes of its tensors, and its integers."""
    case = pair.case
    values = (
        *case.args,
        *case.kwargs.values(),
        *(case.init.values() if isinstance(case.init, Mapping) else case.init),
    )
    shapes = [tuple(tensor.shape) for tensor in tensors_in((case.args, case.kwargs, case.weights))]
    return str((shapes, [value for value in values if isinstance(value, int)]))


def added(wrong: Pairs, pairs: Pairs) -> Words | None:
    """Match the expected result plus one of the inputs. Where zeros are expected, the input itself was
    returned, and nothing was added.
    """
    if any(bool((p.expected.abs() <= SAME).all()) for p in wrong):
        return None
    for n in range(max(len(p.case.args) for p in wrong)):
        if all(_is_argument(p, n, p.actual - p.expected) for p in wrong):
            return (
                "Your result is the right one, with one of the inputs added to it.",
                "Does the formula of this exercise add that input?",
            )
    return None


def _is_argument(pair: Pair, number: int, values: torch.Tensor) -> bool:
    """Return whether positional argument `number` of the case has these values."""
    args = pair.case.args[number : number + 1]
    return any(
        isinstance(one, torch.Tensor) and one.shape == values.shape and nearly_equal(values, one.double())
        for one in args
    )


def shifted(wrong: Pairs, pairs: Pairs) -> Words | None:
    """Match the expected numbers plus a constant, which may differ from case to case."""
    tables = [p for p in wrong if p.expected.numel() > 1]
    apart = [p.actual - p.expected for p in tables]
    # Where the expected numbers are all alike, constant results only show that the answer gives other ones.
    varied = any(bool(p.expected.max() - p.expected.min() > SAME) for p in tables)
    if varied and all(nearly_equal(d.mean().expand(d.shape), d) for d in apart):
        return "Your entries are all off by the same amount.", (
            "What does your sum start from, or what is added at the end?"
        )
    return None


DECIMALS = ("whole numbers", "one decimal", "two decimals", "three decimals", "four decimals")


def rounded(wrong: Pairs, pairs: Pairs) -> Words | None:
    """Match the expected numbers rounded to a few decimals."""
    for decimals, told in enumerate(DECIMALS):
        if all(bool(((p.actual - p.expected.round(decimals=decimals)).abs() < 1e-5).all()) for p in wrong):
            return f"Your numbers are right, but rounded to {told}.", "Which line rounds them?"
    return None


def nearly(wrong: Pairs, pairs: Pairs) -> Words | None:
    """Match numbers close to the expected ones, as if an intermediate step had rounded."""
    if not all(bool(((p.actual - p.expected).abs() <= NEARLY * p.expected.abs().max()).all()) for p in wrong):
        return None
    if all(_is_as_in_float32(p) for p in wrong):
        return "For inputs in float64, your numbers are only as exact as float32.", (
            "Which step does not keep float64?"
        )
    return "Your numbers are close to the right ones, but off by more than rounding errors.", (
        "Does a step round, use half precision, or add a small number?"
    )


def _is_as_in_float32(pair: Pair) -> bool:
    """Return whether all inputs are in float64, and all numbers are such as float32 can hold."""
    given = [one for one in tensors_in((pair.case.args, pair.case.kwargs)) if one.is_floating_point()]
    in_float64 = bool(given) and all(one.dtype == torch.float64 for one in given)
    return in_float64 and torch.equal(pair.actual, pair.actual.float().double())


def zeros(wrong: Pairs, pairs: Pairs) -> Words | None:
    """Match results whose wrong entries are all zero."""
    if not all(bool((p.actual[p.differs] == 0).all()) for p in wrong):
        return None
    if all(bool((p.expected[p.differs] < 0).all()) for p in wrong):
        return (
            "Your result is zero wherever it should be negative.",
            "Which step removes negative numbers?",
        )
    return f"Your result is zero {common_place(wrong) or 'in places where it should not be'}.", (
        "Which positions does your code never fill?"
    )


def sign(wrong: Pairs, pairs: Pairs) -> Words | None:
    """Match results that are wrong exactly where a negative number is expected."""
    negative = all(bool((p.expected[p.differs] < 0).all()) for p in wrong)
    # If no positive number comes out right, the sign says nothing.
    positive = any(bool((p.expected[~p.differs] > 0).any()) for p in pairs)
    if negative and positive and all(bool((p.expected[~p.differs] >= 0).all()) for p in wrong):
        return "Your entries are wrong where they should be negative; the others are right.", (
            "Which step treats negative numbers differently?"
        )
    return None


def never_negative(wrong: Pairs, pairs: Pairs) -> Words | None:
    """Match results without negative numbers, although some are expected."""
    some = any(bool((p.expected < -SAME).any()) for p in wrong)
    if some and all(bool((p.actual >= 0).all()) for p in pairs):
        return "None of your entries is negative, though some should be.", "Which step loses the sign?"
    return None


def limited(wrong: Pairs, pairs: Pairs) -> Words | None:
    """Match results that are right up to some size and wrong beyond it."""
    limits = [(p.expected[p.differs].abs().min(), p) for p in wrong]
    right = [p.expected[~p.differs].abs().max() for p in pairs if bool((~p.differs).any())]
    # Entries near zero may be right by chance, so many entries must be right.
    many = sum(int((~p.differs).sum()) for p in pairs) >= sum(int(p.differs.sum()) for p in wrong)
    # Entries that should all be one number, such as the weights of a single key, show no limit.
    several = len(torch.cat([p.expected[p.differs].abs() for p in wrong]).unique()) > 1
    if (
        several
        and right
        and many
        and min(float(limit) for limit, _ in limits) >= max(float(one) for one in right) > 0
    ):
        return "Your entries are right up to a certain size and wrong beyond it.", (
            "Which step limits how large a number can be?"
        )
    return None
