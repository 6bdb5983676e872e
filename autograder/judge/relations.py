"""What kind of other numbers are they? One sentence about all wrong results of an answer without a known mistake.

Each relation looks at every case at once. It is told only where it holds in all of them, so that it says
something about the code and not about one input.
"""

import operator
from dataclasses import dataclass
from itertools import combinations, permutations

import torch

from autograder.exercises.exercise import Case, Exercise
from autograder.judge import words
from autograder.judge.tolerance import close, excess

NEARLY = 0.02
SAME = 1e-3
FEW = 2
MOST_FAMILIES = 2


@dataclass(frozen=True)
class Pair:
    """The result that is due and the one that came, both in float64, and where they differ."""

    case: Case
    sizes: dict
    want: torch.Tensor
    have: torch.Tensor
    far: torch.Tensor

    @property
    def wrong(self) -> bool:
        return bool(self.far.any())

    @property
    def whole(self) -> bool:
        """Whether rows and columns are more than one, so that parts of the table can be told apart."""
        return self.want.dim() >= 2 and min(self.want.shape[-2:]) > 1


def relation(exercise: Exercise, cases, expected: list[dict], records: list[dict]) -> tuple[str, str] | None:
    """(what is seen, the question to ask) of the first relation that holds, or None."""
    return _first_of(LADDER, (), _pairs(exercise, cases, expected, records))


def place(exercise: Exercise, cases, expected: list[dict], records: list[dict]) -> tuple[str, str] | None:
    """The same of those that say no more than where the numbers are wrong."""
    return _first_of((_places, _families), (_families,), _pairs(exercise, cases, expected, records))


def _first_of(ladder, with_infinities, pairs):
    wrong = [pair for pair in pairs if pair.wrong]
    finite = all(bool(pair.have.isfinite().all()) for pair in wrong)
    looks = (look(wrong, pairs) for look in (ladder if finite else with_infinities) if wrong)
    return next((seen for seen in looks if seen is not None), None)


def _pairs(exercise, cases, expected, records) -> list[Pair]:
    found = []
    for case, due, record in zip(cases, expected, records, strict=True):
        want, have = (one.get("steps", {}).get("output", {}) for one in (due, record))
        for a, b in zip(_tensors(want), _tensors(have), strict=False):
            if a.shape == b.shape and a.dim() >= 1 and a.is_floating_point() and b.is_floating_point():
                far = excess(a, b, case.scale) > 0
                found.append(Pair(case, words.letters(exercise, case), a.double(), b.double(), far))
    return found


def _tensors(value) -> list[torch.Tensor]:
    if value.get("kind") == "tensor":
        return [value["data"]]
    return [item["data"] for item in value.get("items", ()) if item.get("kind") == "tensor"]


def _weights(wrong, pairs):
    """Where rows of positive shares are due."""
    shares = [p for p in wrong if p.want.shape[-1] > 1 and bool((p.want >= 0).all()) and _sums_to_one(p.want)]
    if not shares:
        return None
    if all(p.have.dim() > 1 and _sums_to_one(p.have.mT) and not _sums_to_one(p.have) for p in shares):
        return "The columns of your weights sum to one, not the rows.", (
            "For one query, what should its weights over all keys add up to?"
        )
    if not all(_sums_to_one(p.have) for p in shares):
        # Where values of one come out as one, the weights are shares, and something else is wrong.
        ones = [p for p in pairs if p.want.numel() > 1 and bool(((p.want - 1).abs() < SAME).all())]
        if ones and not any(p.wrong for p in ones):
            return None
        return (
            "Your rows of weights do not sum to one.",
            "What turns positive numbers into shares of a whole?",
        )
    if any(bool((p.have < -SAME).any()) for p in shares):
        return "Some of your weights are negative.", "Which step makes every score positive?"
    if any(bool(((p.have == 0) & (p.want > SAME)).any()) for p in shares):
        return (
            "Some keys get no weight at all.",
            "Which keys may a query look at, and at which does yours look?",
        )
    return _steepness(shares) or (
        "Your rows are positive and sum to one, but they share otherwise than softmax of the scores does.",
        "Which numbers go into exp, and what else happens to them before or after?",
    )


def _normed(wrong, pairs):
    rows = [p.have for p in wrong if p.want.shape[-1] > 2]
    if rows and all(_has_mean_0_and_spread_1(one) for one in rows):
        return (
            "Every row of your result has mean zero and spread one.",
            "Which of your steps norms, and does this exercise ask for that?",
        )
    return None


def _has_mean_0_and_spread_1(rows) -> bool:
    spread = rows.std(-1, correction=0)
    return bool((rows.mean(-1).abs() < SAME).all() and ((spread - 1).abs() < NEARLY).all())


def _shares_already(wrong, pairs):
    """Where scores of any size are due."""
    if all(_sums_to_one(p.have) and bool((p.have >= 0).all()) for p in wrong):
        return (
            "Your rows are shares already: no number is negative, and their sum is one.",
            "Which step makes shares of numbers, and is it asked for here?",
        )
    return None


def _steepness(shares):
    apart = [p for p in shares if bool(((p.want > 1e-6) & (p.have > 1e-6)).all())]
    slopes = [_slope(p) for p in apart]
    if not slopes or any(slope is None for slope in slopes):
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


def _slope(pair) -> float | None:
    """The factor between the scores behind two tables of weights, from the logarithms of their ratios."""
    x, y = (t.log() - t.log().mean(-1, keepdim=True) for t in (pair.want, pair.have))
    slope = float((x * y).sum() / (x * x).sum().clamp(min=1e-12))
    return slope if bool(((y - slope * x).abs() < 0.02 * (1 + x.abs())).all()) else None


def _sums_to_one(table) -> bool:
    return bool(((table.sum(-1) - 1).abs() < SAME).all())


def _factor(wrong, pairs):
    """One number times what is due, in every case."""
    tables = [p for p in wrong if p.want.numel() > 1]
    factors = [float((p.want * p.have).sum() / (p.want * p.want).sum().clamp(min=1e-12)) for p in tables]
    fits = (_close(p.have, c * p.want) for p, c in zip(tables, factors, strict=True))
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


def _close(first, second) -> bool:
    return bool(((first - second).abs() <= SAME * (1 + first.abs())).all())


def _added(wrong, pairs):
    """What is due plus one of the inputs."""
    for n in range(max(len(p.case.args) for p in wrong)):
        inputs = [p.case.args[n] if n < len(p.case.args) else None for p in wrong]
        if all(
            isinstance(x, torch.Tensor) and x.shape == p.want.shape and _close(p.have - p.want, x.double())
            for p, x in zip(wrong, inputs, strict=True)
        ):
            return (
                "Your result is what is due plus one of the inputs.",
                "Does this exercise ask for that sum?",
            )
    return None


def _shifted(wrong, pairs):
    """What is due plus one number, the same everywhere."""
    tables = [p for p in wrong if p.want.numel() > 1]
    apart = [p.have - p.want for p in tables]
    if tables and all(_close(d.mean().expand(d.shape), d) for d in apart):
        return "Your entries are all off by one number that is added to each of them.", (
            "From which number does your sum start, or what is added at the end?"
        )
    return None


def _turned(wrong, pairs):
    square = [p for p in wrong if p.want.dim() >= 2 and p.want.shape[-1] == p.want.shape[-2] > 1]
    if square and len(square) == len(wrong) and all(close(p.want.mT, p.have) for p in square):
        return (
            "Rows and columns of your result have changed places.",
            "Which axis should stand first, and why?",
        )
    return None


def _alike(wrong, pairs):
    tables = [p for p in wrong if p.want.dim() >= 2 and p.want.shape[-2] > 1]
    alike = (close(p.have[..., :1, :].expand(p.have.shape), p.have) for p in tables)
    if len(tables) > len(wrong) / 2 and all(alike):
        return "All rows of your result are alike.", "Which index should change from row to row, and does it?"
    return None


def _zeros(wrong, pairs):
    """Zeros where other numbers are due."""
    if not all(bool((p.have[p.far] == 0).all()) for p in wrong):
        return None
    if all(bool((p.want[p.far] < 0).all()) for p in wrong):
        return (
            "Wherever a negative number is due, yours is zero.",
            "Which step lets no negative number through?",
        )
    return f"Your result is zero {_where(wrong) or 'in places where another number is due'}.", (
        "Which positions does your code never fill?"
    )


def _sign(wrong, pairs):
    negative = all(bool((p.want[p.far] < 0).all()) for p in wrong)
    if negative and all(bool((p.want[~p.far] >= 0).all()) for p in wrong):
        return "Wherever a negative number is due, yours is another; the others are right.", (
            "Which step treats negative numbers differently?"
        )
    return None


def _never_negative(wrong, pairs):
    due = any(bool((p.want < -SAME).any()) for p in wrong)
    if due and all(bool((p.have >= 0).all()) for p in pairs):
        return "None of your entries is negative, and some should be.", "Which step loses the sign?"
    return None


def _nearly(wrong, pairs):
    if all(bool(((p.have - p.want).abs() <= NEARLY * p.want.abs().max()).all()) for p in wrong):
        return "Your numbers are close to what is due, but not close enough for rounding.", (
            "Which step rounds, leaves float32 on the way, or adds a small number?"
        )
    return None


def _limited(wrong, pairs):
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


def _places(wrong, pairs):
    """All wrong entries lie in one part of the result."""
    where = _where(wrong)
    if where is not None:
        return f"Your result is right but {where}.", "What does your code do differently there?"
    return None


def _axes(wrong, pairs):
    """Wrong for every input of some number of axes, right for the others."""
    ranks = {p.want.dim() for p in wrong}
    right = {p.want.dim() for p in pairs if not p.wrong and p.want.numel() > 1}
    if right and not ranks & right:
        return "Your answer is right for some numbers of axes, and wrong for others.", (
            "Counted from the end, which axes does each of your steps work on?"
        )
    return None


def _sizes(wrong, pairs):
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


def _where(wrong) -> str | None:
    """The part of the result that holds every wrong entry of every case, or None."""
    for part, outside, axes in PARTS:
        large = [p.far for p in wrong if p.whole and p.far.dim() >= axes]
        if len(large) >= max(FEW, len(wrong) / 2) and not any(bool(outside(far).any()) for far in large):
            return part
    return None


def _families(wrong, pairs):
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


def _order(wrong, pairs):
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
    return first.shape == second.shape and _close(first, second)


def _moved(wrong, pairs):
    """The numbers that are due, in other places."""
    if all(_same_numbers(p.want, p.have) for p in wrong):
        return "Your result holds the right numbers, but in other places.", (
            "Follow the numbers of one token: where should each of them stand, and where does it stand in yours?"
        )
    return None


def _foreign(wrong, pairs):
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
    return first.numel() == second.numel() and _close(*(t.flatten().sort().values for t in (first, second)))


LADDER = (
    _order, _added, _normed, _weights, _shares_already, _nearly, _factor, _turned, _shifted, _alike,
    _zeros, _sign, _never_negative, _limited, _axes, _sizes, _moved, _foreign,
)  # fmt: skip
