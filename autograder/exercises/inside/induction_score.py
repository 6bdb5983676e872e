"""How much each head attends to the token that followed an earlier occurrence of the current one (Olsson et
al. 2022).
"""

import torch

from autograder.schema import DTYPES, SIDE_EFFECTS, VALUES, Case, Exercise, edit


def induction_score(weights, period):
    queries = torch.arange(period, weights.shape[-1], device=weights.device)
    keys = queries - period + 1
    seen = weights[:, :, queries, keys]
    return seen.mean(dim=(0, 2))


def reference(weights, period):
    # The diagonal of keys `period - 1` positions back; its first entry belongs to the query before `period`.
    return weights.diagonal(offset=1 - period, dim1=-2, dim2=-1)[..., 1:].mean(dim=-1).mean(dim=0)


def cases(draw):
    batch, heads, period = draw.sizes(3, 2, 5)
    several = ("samples", "queries")
    yield _case(draw, "a block twice", batch, heads, 2 * period, period, needs=several)
    yield _case(draw, "one sample", 1, 3, 8, 4, needs=("queries",))
    yield _case(draw, "one head", 3, 1, 7, 3, needs=several)
    yield _case(draw, "a block three times", 2, 3, 9, 3, needs=several)
    yield _case(draw, "a block that is cut off", 2, 2, 11, 4, needs=several)
    yield _case(draw, "one token of the second block", 2, 3, 6, 5, needs=("samples",))
    yield _case(draw, "one token of the second block, one sample", 1, 2, 4, 3)
    yield _case(draw, "the shortest block", 2, 2, 5, 2, needs=several)
    yield _case(draw, "four of everything", 4, 4, 8, 4, needs=several, float64=True)
    yield _perfect(draw, needs=several)


def _case(draw, family, batch, heads, tokens, period, **more):
    """Return a case with random causal attention weights."""
    scores = draw.normal(batch, heads, tokens, tokens, scale=2.0)
    weights = scores.masked_fill(~torch.ones(tokens, tokens).tril().bool(), -torch.inf).softmax(-1)
    return Case(family, (weights, period), gradients=False, **more)


def _perfect(draw, **more):
    """Return a case in which head 0 is a perfect induction head, head 1 attends to the previous token, and
    head 2 to the same token one period earlier.
    """
    tokens, period = 9, 4
    weights = torch.zeros(2, 3, tokens, tokens)
    for query in range(tokens):
        for head, key in enumerate((query - period + 1, query - 1, query - period)):
            weights[:, head, query, max(key, 0)] = 1
    return Case("a perfect head and two others", (weights, period), gradients=False, **more)


QUERIES, KEYS, LAST = "torch.arange(period, weights.shape[-1]", "queries - period + 1", "seen.mean(dim=(0, 2))"

EXERCISE = Exercise(
    number=2, minutes=10, difficulty=2,
    worked=induction_score,
    reference=reference,
    cases=cases,
    standard=("float64", "by name"),
    aspects={VALUES: 4, SIDE_EFFECTS: 1, DTYPES: 1},
    shapes={"weights": "B H N N", "return": "H"},
    mistakes=(
        edit("IND-01 the same token instead of the next", {KEYS: "queries - period"},
             "Your keys are the earlier occurrences of the query's token, not the positions after them.",
             "In A B C A, which key should the second A attend to?"),
        edit("IND-03 two tokens on", {KEYS: "queries - period + 2"},
             "Your keys are two positions after the earlier occurrence of the query's token.",
             "Which token came right after the earlier occurrence?"),
        edit("IND-05 the token before", {KEYS: "queries - 1"},
             "Your keys are the tokens just before the queries.",
             "How far back is the same token in a block that repeats?"),
        edit("IND-07 one query too many", {QUERIES: "torch.arange(period - 1, weights.shape[-1]"},
             "You include the last query of the first block.", "Has the token of this query occurred before?"),
        edit("IND-09 a query is left out", {QUERIES: "torch.arange(min(period + 1, weights.shape[-1] - 1), "
             "weights.shape[-1]"},
             "You leave out the first query of the second block.",
             "At which position is the first token that has occurred before?"),
        edit("IND-11 only the second block", {QUERIES: "torch.arange(period, min(2 * period, weights.shape[-1])"},
             "You include only the second block.", "Have the tokens of a third block occurred before?"),
        edit("IND-13 all queries", {QUERIES: "torch.arange(0, weights.shape[-1]"},
             "Your mean also counts queries of the first block.", "Which tokens have occurred before?"),
        edit("IND-13", {LAST: "seen.sum(dim=2).mean(dim=0) / weights.shape[-1]"},
             "You divide by the length of the text.", "How many queries are in your sum?"),
        edit("IND-15 queries and keys change places", {"queries, keys]": "keys, queries]"},
             "You have swapped queries and keys.", "Which of the last two axes belongs to the queries?"),
        edit("IND-17 a sum instead of a mean", {LAST: "seen.sum(dim=2).mean(dim=0)"},
             "Your score grows with the length of the text.",
             "If a head puts all its weight on the right key at every query, what should its score be?"),
        edit("IND-17", {LAST: "seen.mean(dim=2).sum(dim=0)"},
             "Your score grows with the number of samples.",
             "If a head puts all its weight on the right key at every query, what should its score be?"),
        edit("IND-19 the largest instead of the mean", {LAST: "seen.amax(dim=2).mean(dim=0)"},
             "You take the largest weight instead of the mean.",
             "Does one large weight show that the head attends there at every query?"),
        edit("IND-21 one number for all heads", {LAST: "seen.mean()"},
             "You return one number for all heads.", "What shape should the result have?"),
        edit("IND-23 samples are not averaged", {LAST: "seen.mean(dim=2)"},
             "Your result has an axis for the samples.", "What shape should the result have?"),
        edit("IND-25 heads are averaged instead of samples", {LAST: "seen.mean(dim=(1, 2))"},
             "You average over the heads instead of the samples.", "Which axis holds the heads?"),
        edit("IND-27 the first sample alone", {LAST: "seen[0].mean(dim=1)"},
             "You use only the first sample.", "Which axes does the mean run over?"),
        edit("IND-29 how often it is the largest",
             {"seen = weights": "seen = (weights == weights.amax(-1, keepdim=True)).to(weights.dtype)"},
             "You count how often the weight is the largest of its row.",
             "What is the mean of the weights 0.4 and 0.9?"),
        edit("IND-31 every key since then",
             {"weights[:, :, queries, keys]": "torch.stack([weights[:, :, q, q - period + 1 : q + 1].sum(-1) "
              "for q in queries], -1)"},
             "You add up the weights of all keys since the token last occurred.",
             "Which single key does the docstring name?"),
    ),
    needs={
        "queries": ("Your answer is wrong only when several queries count.",
                    "Which queries count, and which axes does the mean run over?"),
        "samples": ("Your answer is wrong only when there are several samples.",
                    "Which axes does the mean run over?"),
        "": ("Your answer is wrong even for a single query of a single sample.",
             "In A B C A, which key should the second A attend to?"),
    },
    hints=(
        "Write down A B C A B C with the positions 0 to 5. At position 3 the token is A; the A before it was at "
        "position 0, so an induction head attends to position 1, the token after that earlier A.",
        "Every query from `period` on has one key to look at; compute its position from the query's, as in the "
        "docstring. Two index tensors of equal length, used together, pick one weight per query from the last two "
        "axes.",
        "In outline: make the positions of the queries with torch.arange, compute the position of each "
        "query's key, index the weights with both to get (B, H, N - period), and average over samples and "
        "queries.",
    ),
)
