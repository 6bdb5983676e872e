"""Where rows of shares are due, or come."""

from autograder.judge.relations.pair import SAME, Pair

# Of a normed row's spread from one: a norm's eps (1e-5) moves it by less wherever rows spread by more than 0.02.
NEARLY = 0.02


def weights(wrong, pairs):
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


def _slope(pair: Pair) -> float | None:
    """The factor between the scores behind two tables of weights, from the logarithms of their ratios."""
    x, y = (t.log() - t.log().mean(-1, keepdim=True) for t in (pair.want, pair.have))
    slope = float((x * y).sum() / (x * x).sum().clamp(min=1e-12))
    return slope if bool(((y - slope * x).abs() < 0.02 * (1 + x.abs())).all()) else None


def _sums_to_one(table) -> bool:
    return bool(((table.sum(-1) - 1).abs() < SAME).all())


def shares_already(wrong, pairs):
    """Where scores of any size are due."""
    if all(_sums_to_one(p.have) and bool((p.have >= 0).all()) for p in wrong):
        return (
            "Your rows are shares already: no number is negative, and their sum is one.",
            "Which step makes shares of numbers, and is it asked for here?",
        )
    return None


def normed(wrong, pairs):
    """Rows that went through a norm."""
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
