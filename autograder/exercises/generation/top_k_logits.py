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
    # Rows at different heights: with the limit of one row, another row would keep everything or nothing.
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
    zero = torch.tensor([[0.0, -3.0, -2.0, 1.0], [-2.5, -1.0, 0.0, -4.0]])
    yield _case(zero, 2, "a logit of zero that stays", needs=(*several, "zero"))
    low = torch.tensor([[10.0, -300.0, -200.0, -400.0], [-250.0, -100.0, 900.0, 700.0]])
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
             "You keep the smallest logits.",
             "Which tokens should you keep: the most or the least likely ones?"),
        edit("SAM-21 the limit of the first row", {"least[:, None]": "least[0]"},
             "You compare every row with the k-th largest logit of one row.",
             "With which row's k-th largest logit should a logit be compared?"),
        edit("SAM-21", {"least[:, None]": "least.min()"}),
        edit("SAM-35 one limit for the whole batch", {"logits.sort(dim=-1": "logits.flatten()[None].sort(dim=-1"},
             "You keep the k largest logits of the whole batch.",
             "How many tokens should you keep in each row?"),
        edit("SAM-163 the k-th of the numbers that differ",
             {LEAST: "torch.stack([(kinds := row.unique().flip(0))[min(k, len(kinds)) - 1] for row in logits])"},
             "You count equal logits only once.", "What is the second largest of 5, 5 and 3?"),
        edit("SAM-37 the k-th itself is dropped", {"logits < least": "logits <= least"},
             "Each of your rows keeps one token too few.",
             "What does your comparison do with the k-th largest logit itself?"),
        edit("SAM-39 one token too many", {"- 1]": "- (k < logits.shape[-1] - 1) * 0 - (k >= logits.shape[-1])]"},
             "Each of your rows keeps one token too many.",
             "What is the index of the k-th entry in a sorted row?"),
        edit("SAM-41 of ties the first k",
             {DROPPED: "torch.ones_like(logits).scatter(1, logits.sort(dim=-1, descending=True, "
             "stable=True).indices[:, :k], 0.0).bool()"},
             "You drop a logit that equals the k-th largest.",
             "Which logits does the docstring set to -inf?"),
        edit("SAM-43 more tokens than there are", {"min(k, logits.shape[-1])": "k"},
             "Your answer stops with an error when k is larger than the vocabulary.",
             "What should k = 50 do to five logits?"),
        edit("SAM-45 no k is refused", {RAISE: "str("},
             "You raise no ValueError for a k below 1.", "Which token could be drawn if you kept none?"),
        edit("SAM-45", {"k < 1": "k < 0"}),
        edit("SAM-45", {RAISE: "str(", "least = ": "k = max(k, 1)\n    least = "}),
        edit("SAM-45", {RAISE: "raise IndexError("}),
        edit("SAM-17 in the order of the size",
             {"logits.masked_fill(dropped": "ordered.masked_fill(ordered < least[:, None]"},
             "You return sorted logits.", "Which token has index 0 after sorting?"),
        edit("SAM-47 the k alone", {"return logits.masked_fill(dropped, -torch.inf)": "return ordered[:, :k]"},
             "You return only the k largest logits.", "What shape should the result have?"),
        edit("SAM-49 the other axis", {"sort(dim=-1": "sort(dim=0", LEAST: "ordered[min(k, len(logits)) - 1]",
             "least[:, None]": "least"},
             "You take the k largest logits of each column, not of each row.",
             "Along which axis are the tokens of one row?"),
        edit("SAM-51 by size without the sign", {"logits.sort": "logits.abs().sort",
             "logits < least": "logits.abs() < least"},
             "You keep a token with a very negative logit.",
             "Which token is more likely: one with the logit -5 or one with the logit 1?"),
    ),
    needs={
        "zero": ("Your answer is wrong only where a logit of exactly 0 should stay.",
                 "How do you tell the logits that stay from the others?"),
        "ties": ("Your answer is wrong only where logits are equal.",
                 "Which logits does the docstring set to -inf?"),
        "far": ("Your answer is wrong only where logits are far apart.",
                "What is the exponential of a number like -300 or 900?"),
        "all": ("Your answer is wrong only when k is at least the number of tokens that can be drawn.",
                "What should k = 50 do to five logits?"),
        "k": ("Your answer is wrong only for k above 1.",
              "What is the index of the k-th entry in a sorted row?"),
        "samples": ("Your answer is wrong only for a batch of several rows.",
                    "With which row's k-th largest logit should a logit be compared?"),
        "": ("Your answer is wrong even for one row with k = 1.",
             "Which token should you keep, and what should happen to the others?"),
    },
    hints=(
        "Take one row of five logits and k = 2. The second largest logit decides which tokens stay: everything "
        "below it goes.",
        "`topk` or `sort` gives you the k-th largest of each row. When k is larger than the length of the row, "
        "use the row's smallest entry instead. `masked_fill` writes -inf where a condition holds.",
        "In outline: raise ValueError for k < 1, limit k to the size of the vocabulary, find the k-th largest logit of "
        "each row, keep it as a column so that it broadcasts over its own row, and fill the logits below "
        "it with -inf.",
    ),
)
