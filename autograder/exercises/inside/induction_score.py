"""How much a head looks at what came after the same token before (Olsson et al. 2022)."""

import torch

from autograder.schema import DTYPES, SIDE_EFFECTS, VALUES, Case, Exercise, edit


def induction_score(weights, period):
    queries = torch.arange(period, weights.shape[-1], device=weights.device)
    keys = queries - period + 1
    seen = weights[:, :, queries, keys]
    return seen.mean(dim=(0, 2))


def reference(weights, period):
    # The diagonal of keys `period - 1` places back; its first entry belongs to the query before `period`.
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
    """Weights as causal attention gives them."""
    scores = draw.normal(batch, heads, tokens, tokens, scale=2.0)
    weights = scores.masked_fill(~torch.ones(tokens, tokens).tril().bool(), -torch.inf).softmax(-1)
    return Case(family, (weights, period), gradients=False, **more)


def _perfect(draw, **more):
    """Head 0 does just that, head 1 looks one token back, head 2 at the same token of the block before."""
    tokens, period = 9, 4
    weights = torch.zeros(2, 3, tokens, tokens)
    for query in range(tokens):
        for head, key in enumerate((query - period + 1, query - 1, query - period)):
            weights[:, head, query, max(key, 0)] = 1
    return Case("three heads one can name", (weights, period), gradients=False, **more)


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
             "Your keys are the places where the same token stood.",
             "The text is A B C A: after the second A, at which token does an induction head look, and what does it "
             "learn from the first A itself?"),
        edit("IND-03 two tokens on", {KEYS: "queries - period + 2"},
             "Your keys are two places after the same token.", "Which token came right after it the last time?"),
        edit("IND-05 the token before", {KEYS: "queries - 1"},
             "Your score is that of a head that looks one token back.",
             "How far back does the same token stand in a block that repeats?"),
        edit("IND-07 one query too many", {QUERIES: "torch.arange(period - 1, weights.shape[-1]"},
             "The last query of the first block counts in yours.",
             "Has its token been there before?"),
        edit("IND-09 a query is left out", {QUERIES: "torch.arange(min(period + 1, weights.shape[-1] - 1), "
             "weights.shape[-1]"},
             "The first query of the second block does not count in yours.",
             "Which is the first token that has been there before?"),
        edit("IND-11 only the second block", {QUERIES: "torch.arange(period, min(2 * period, weights.shape[-1])"},
             "Only the second block counts in yours.", "Have the tokens of a third block been there before?"),
        edit("IND-13 all queries", {QUERIES: "torch.arange(0, weights.shape[-1]"},
             "Queries of the first block count in yours.", "Which tokens have been there before?"),
        edit("IND-13", {LAST: "seen.sum(dim=2).mean(dim=0) / weights.shape[-1]"}),
        edit("IND-15 queries and keys change places", {"queries, keys]": "keys, queries]"},
             "You read the weights of keys on queries.", "Which of the last two axes is the query?"),
        edit("IND-17 a sum instead of a mean", {LAST: "seen.sum(dim=2).mean(dim=0)"},
             "Your score grows with the length of the text.", "What is the score of a head that always looks there?"),
        edit("IND-17", {LAST: "seen.mean(dim=2).sum(dim=0)"}),
        edit("IND-19 the largest instead of the mean", {LAST: "seen.amax(dim=2).mean(dim=0)"},
             "One query decides about your score.", "Does a head that looks there once do it always?"),
        edit("IND-21 one number for all heads", {LAST: "seen.mean()"},
             "You return one number for all heads.", "How many heads are there, and how many numbers?"),
        edit("IND-23 samples are not averaged", {LAST: "seen.mean(dim=2)"},
             "Your score has an axis for the samples.", "Which shape does the exercise promise?"),
        edit("IND-25 heads are averaged instead of samples", {LAST: "seen.mean(dim=(1, 2))"},
             "You average over heads, and give one number for each sample.", "Which axis are the heads?"),
        edit("IND-27 the first sample alone", {LAST: "seen[0].mean(dim=1)"},
             "Your score is that of the first sample.", "Over which axes does the mean run?"),
        edit("IND-29 how often it is the largest",
             {"seen = weights": "seen = (weights == weights.amax(-1, keepdim=True)).to(weights.dtype)"},
             "You count how often the weight is the largest of its row.",
             "What is the mean of the weights 0.4 and 0.9?"),
        edit("IND-31 every key since then",
             {"weights[:, :, queries, keys]": "torch.stack([weights[:, :, q, q - period + 1 : q + 1].sum(-1) "
              "for q in queries], -1)"},
             "All keys since the same token count in yours.", "Which single key does the head look at?"),
    ),
    combinable=("IND-01", "IND-07", "IND-17", "IND-23"),
    needs={
        "queries": ("One query is right in yours; several are not.",
                    "Which queries have their token earlier in the text, and over which axis does the mean run?"),
        "samples": ("One sample is right in yours; several are not.", "Over which axes does the mean run?"),
        "": ("Even a single query of a single sample gives another number.",
             "In A B C A: which key does an induction head look at from the second A?"),
    },
    hints=(
        "Write down A B C A B C with their places 0 to 5. The token at place 3 is A: where was A before, and what came "
        "after it?",
        "For each query i from `period` on there is one key. Which? Read one weight a query, then take the mean.",
        "The shape of it: (B, H, N, N), a row of queries and a row of keys, (B, H, N - period), and (H,).",
    ),
)
