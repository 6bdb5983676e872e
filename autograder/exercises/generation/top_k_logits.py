"""The k largest logits of each row; all others become -inf (Fan et al. 2018)."""

import torch

from autograder.exercises._shared.filters import FILTERS, LOW, through_a_softmax
from autograder.schema import DTYPES, GRADIENTS, REFUSALS, SIDE_EFFECTS, VALUES, Case, Exercise, edit


def top_k_logits(logits, k):
    if k < 1:
        raise ValueError(f"{k} tokens cannot be drawn from")
    ordered = logits.sort(dim=-1, descending=True).values
    least = ordered[:, min(k, logits.shape[-1]) - 1]
    dropped = logits < least[:, None]
    return logits.masked_fill(dropped, -torch.inf)


def reference(logits, k):
    if k < 1:
        raise ValueError("k must be at least 1")
    larger = (logits[:, None, :] > logits[:, :, None]).sum(dim=-1)
    return torch.where(larger < k, logits, -torch.inf)


def cases(draw):
    batch, words = draw.sizes(2, 3, 8)
    samples, several = ("samples",), ("samples", "k")
    yield _case(draw.normal(batch, words + 3, scale=2.0), 3, "all sizes different", observe=True, needs=several)
    yield _case(draw.normal(1, 7), 2, "one row", needs=("k",))
    yield _case(draw.normal(1, 6), 1, "one row, one token")
    yield _case(draw.normal(batch, 6), 1, "one token each", needs=samples)
    yield _case(draw.normal(4, 4), 2, "as many rows as tokens", needs=several)
    sorted_ = torch.tensor([[4.0, 3.0, 1.5, -1.0], [-1.0, 2.0, 2.5, 3.0]])
    yield _case(sorted_, 2, "falling and rising rows", needs=several)
    yield _case(-draw.normal(3, 6).abs() - 0.5, 2, "negative logits", needs=several)
    # Each row of another height: a limit of one row would keep all or nothing of the others.
    heights = torch.tensor([[0.0], [100.0], [-100.0]])
    yield _case(draw.normal(3, 7) + heights, 3, "rows of different heights", needs=(*several, "far"))
    ties = {"needs": ("samples", "k", "ties")}
    yield _case(torch.tensor([[1.0, 3.0, 1.0, 0.0, 1.0], [2.0, 2.0, 2.0, 2.0, 2.0]]), 2, "ties with the last one",
    **ties)
    yield _case(torch.tensor([[5.0, 5.0, 1.0, 5.0, 0.0]]), 1, "ties at the top", **ties)
    yield _case(torch.tensor([[5.0, 2.0, 5.0, 3.0], [1.0, 4.0, 4.0, 4.0]]), 2, "ties above the others", **ties)
    all_ = {"needs": ("samples", "all")}
    yield _case(draw.normal(2, 5), 5, "as many as there are", **all_)
    yield _case(draw.normal(2, 5), 50, "more than there are", **all_)
    yield _case(draw.normal(3, 1), 1, "a vocabulary of one word", **all_)
    some = draw.normal(2, 6)
    some[0, 1] = some[1, 3] = some[1, 4] = -torch.inf
    yield _case(some, 3, "some are -inf already", needs=several)
    few = torch.tensor([[-torch.inf, 1.0, -torch.inf, 0.5, -torch.inf]])
    yield _case(few, 4, "fewer tokens than k are left", needs=("k", "all"))
    yield _case(draw.normal(2, 3000), 40, "a large vocabulary", needs=several)
    low = torch.tensor([[0.0, -300.0, -200.0, -400.0], [-250.0, -100.0, 900.0, 700.0]])
    yield _case(low, 2, "logits far apart", needs=(*several, "far"))
    yield _case(draw.normal(2, 6), 5, "all but one", needs=several)
    yield through_a_softmax(draw.normal(2, 6), 3)
    for k in (0, -1, -3):
        yield _case(draw.normal(2, 5), k, "k below one", raises="ValueError", aspect=REFUSALS)


def _case(logits, k, family, **more):
    return Case(family, (logits, k), gradients=False, **more)


RAISE, LEAST, DROPPED = "raise ValueError(", "ordered[:, min(k, logits.shape[-1]) - 1]", "logits < least[:, None]"
FALLING = ", descending=True"

EXERCISE = Exercise(
    number=2, minutes=8, difficulty=2,
    worked=top_k_logits,
    reference=reference,
    cases=cases,
    standard=("float64", "transposed", "by name"),
    aspects={VALUES: 4, REFUSALS: 1, GRADIENTS: 1, SIDE_EFFECTS: 1, DTYPES: 1},
    shapes={"logits": "B V", "return": "B V"},
    mistakes=(
        *LOW, *FILTERS,
        edit("SAM-33 the smallest k",
             {DROPPED: "logits > logits.sort(dim=-1).values[:, min(k, logits.shape[-1]) - 1][:, None]"},
             "Your survivors are the smallest logits.",
             "Which tokens should survive: the likely ones or the unlikely ones?"),
        edit("SAM-21 the limit of the first row", {"least[:, None]": "least[0]"},
             "The limit of the first row holds for all rows in yours.", "Does every row get its own limit?"),
        edit("SAM-21", {"least[:, None]": "least.min()"}),
        edit("SAM-35 one limit for the whole batch", {"logits.sort(dim=-1": "logits.flatten()[None].sort(dim=-1"},
             "Your k tokens are the largest of the whole batch.", "How many tokens should be left in each row?"),
        edit("SAM-163 the k-th of the numbers that differ",
             {LEAST: "torch.stack([(kinds := row.unique().flip(0))[min(k, len(kinds)) - 1] for row in logits])"},
             "Equal logits count once in yours.", "Which is the second largest of 5, 5 and 3?"),
        edit("SAM-37 the k-th itself is dropped", {"logits < least": "logits <= least"},
             "One token too few is left in each of your rows.", "Is the k-th largest below the k-th largest?"),
        edit("SAM-39 one token too many", {"- 1]": "- (k < logits.shape[-1] - 1) * 0 - (k >= logits.shape[-1])]"},
             "One token too many is left in each of your rows.", "At which index stands the k-th of a sorted row?"),
        edit("SAM-41 of ties the first k",
             {DROPPED: "torch.ones_like(logits).scatter(1, logits.sort(dim=-1, descending=True, "
             "stable=True).indices[:, :k], 0.0).bool()"},
             "Where a logit is as large as the k-th, yours may be dropped.",
             "Is a token that equals the k-th below it?"),
        edit("SAM-43 more tokens than there are", {"min(k, logits.shape[-1])": "k"},
             "Where k is larger than the vocabulary, your answer stops.", "What should k = 50 do to five words?"),
        edit("SAM-45 no k is refused", {RAISE: "str("},
             "A k below 1 is not refused by a ValueError.", "Which token could be drawn when none is left?"),
        edit("SAM-45", {"k < 1": "k < 0"}),
        edit("SAM-45", {RAISE: "str(", "least = ": "k = max(k, 1)\n    least = "}),
        edit("SAM-45", {RAISE: "raise IndexError("}),
        edit("SAM-17 in the order of the size",
             {"logits.masked_fill(dropped": "ordered.masked_fill(ordered < least[:, None]"},
             "Your logits come back sorted.", "Who is number 0 after sorting?"),
        edit("SAM-47 the k alone", {"return logits.masked_fill(dropped, -torch.inf)": "return ordered[:, :k]"},
             "You return the k logits without their places.", "Which shape should come back?"),
        edit("SAM-49 the other axis", {"sort(dim=-1": "sort(dim=0", LEAST: "ordered[min(k, len(logits)) - 1]",
             "least[:, None]": "least"},
             "Your rows compete with each other.", "Along which axis do the tokens of one row lie?"),
        edit("SAM-51 by size without the sign", {"logits.sort": "logits.abs().sort",
             "logits < least": "logits.abs() < least"},
             "A token with a very negative logit survives in yours.", "How likely is a token with the logit -5?"),
    ),
    combinable=("SAM-09", "SAM-21", "SAM-37", "SAM-39", "SAM-45"),
    needs={
        "ties": ("You are right but where logits are equal.", "Is a token that equals the k-th below it?"),
        "far": ("You are right but where logits lie far apart.",
                "What becomes of numbers like -300 or 900 in an exponential?"),
        "all": ("You are right while k is smaller than the number of tokens.",
        "What should k = 50 do to five words?"),
        "k": ("For k = 1 you are right; for more you are not.", "At which index stands the k-th of a sorted row?"),
        "samples": ("One row is right in yours; several are not.", "Does every row get its own limit?"),
        "": ("Already for one row and k = 1 your logits are others.",
        "Which token survives, and what becomes of the rest?"),
    },
    hints=(
        "One row of five logits, k = 2: which number decides who stays?",
        "Sort the row and look at one place: that is the limit. With k larger than the row, which place is the last?",
        "The shape of it: (B, V) sorted, (B,) limits, an axis so that each row meets its own, and -inf below it.",
    ),
)
