"""Min-p filtering: logits too far below the largest one of their row become -inf (Nguyen et al. 2024)."""

import math

import torch

from autograder.exercises._shared.filters import FILTERS, LOW, through_a_softmax
from autograder.schema import DTYPES, GRADIENTS, SIDE_EFFECTS, STABILITY, VALUES, Case, Exercise, edit


def min_p_logits(logits, p):
    largest = logits.amax(dim=-1, keepdim=True)
    limit = largest + math.log(p)
    dropped = logits < limit
    return logits.masked_fill(dropped, -torch.inf)


def reference(logits, p):
    # The quotient of two probabilities is exactly 1 where two logits are equal.
    quotients = torch.exp(logits - logits.max(dim=-1, keepdim=True).values)
    return torch.where(quotients >= p, logits, -torch.inf)


def cases(draw):
    batch, words = draw.sizes(2, 3, 8)
    samples, several = ("samples",), ("samples", "several")
    yield _case(_apart(draw.normal(batch, words + 3, scale=1.5), 0.2), 0.2, "all sizes different", observe=True,
                needs=several)
    yield _case(_row(0.1, 0.5, 0.15, 0.25)[0], 0.4, "one axis", needs=("several",))
    yield _case(_row(0.1, 0.7, 0.2), 0.5, "only the likeliest stays")
    yield _case(_row(0.4, 0.3, 0.2, 0.1), 0.6, "a row in falling order", needs=("several",))
    yield _case(_row(0.1, 0.2, 0.3, 0.4), 0.4, "a row in rising order", needs=("several",))
    rows = torch.cat((_row(0.7, 0.1, 0.1, 0.1), _row(0.05, 0.15, 0.5, 0.3), _row(0.1, 0.35, 0.3, 0.25)))
    yield _case(rows, 0.25, "rows that keep one, three, all", gradients=True, needs=several)
    yield _case(rows, 0.01, "all stay", gradients=True, needs=several)
    heights = torch.tensor([[0.0], [50.0], [-50.0]])
    yield _case(rows + heights, 0.4, "rows of different heights", needs=several)
    more = {"needs": (*several, "axes in front")}
    yield _case(_apart(draw.normal(2, 3, 6, scale=1.5), 0.3), 0.3, "two axes in front", **more)
    yield _case(_apart(draw.normal(4, 4, 4, scale=1.5), 0.3), 0.3, "four of everything", **more)
    yield _case(_apart(draw.normal(2, 1, 3, 5, scale=1.5), 0.15), 0.15, "three axes in front", **more)
    yield _case(_apart(draw.normal(2, 3000, scale=2.0), 0.05), 0.05, "a large vocabulary", needs=several)
    yield _case(draw.normal(3, 1), 0.5, "a vocabulary of one word", needs=samples)
    # Just above the limit and just below it, where a rounded logarithm or half precision is too coarse.
    near = torch.tensor([0.0, math.log(0.3) + 1e-3, math.log(0.3) - 1e-3, -0.5]) + torch.tensor([[0.0], [20.0]])
    yield _case(near, 0.3, "close to the limit", needs=several)
    some = _apart(draw.normal(2, 6), 0.4)
    some[0, 1] = some[1, 3] = some[1, 4] = -torch.inf
    yield _case(some, 0.4, "some are -inf already", needs=(*several, "empty"))
    few = torch.tensor([[-torch.inf, 1.0, -torch.inf], [-torch.inf, -torch.inf, -2.0]])
    yield _case(few, 0.9, "one token is left", needs=(*samples, "empty"))
    ties = {"needs": ("samples", "ties")}
    tied = torch.tensor([[5.0, 5.0, 1.0, 5.0, 0.0], [2.0, 3.0, -1.0, 3.0, 2.5]])
    yield _case(tied, 1.0, "ties at a p of one", **ties)
    yield _case(torch.full((2, 5), 0.7), 1.0, "all are equal at a p of one", **ties)
    yield _case(torch.tensor([[1.0, 3.0, -1.0, 3.0, 2.0]]), 0.5, "ties at the top", needs=("several",))
    yield from _far(draw)
    yield through_a_softmax(rows.clone(), 0.25)
    yield through_a_softmax(some.clone(), 0.4, needs=("empty",))


def _far(draw):
    """Yield cases with logits too large for exp, and cases with a p close to 0."""
    stable = {"aspect": STABILITY, "needs": ("samples", "several", "far")}
    high = torch.tensor([[200.0, -100.0, 199.0, 198.0], [-300.0, -299.0, -301.5, -400.0]])
    yield _case(high, 0.3, "very large and very low logits", **stable)
    thousands = torch.tensor([[900.0, 898.0, 895.0], [9000.0, 8999.0, -9000.0]])
    yield _case(thousands, 0.05, "logits in the thousands", **stable)
    # A limit of 1e-12 is 27.6 below the largest logit: a small constant anywhere moves it.
    low = torch.tensor([[0.0, -27.0, -27.5, -28.0, -40.0, 3.0], [-60.0, -80.0, -87.2, -88.2, -200.0, -61.0]])
    low[0, :5] += 3.0
    yield _case(low, 1e-12, "a p of almost zero", **stable)
    yield _case(draw.normal(2, 6) + torch.tensor([[0.0], [-500.0]]), 1e-12, "a p of almost zero, all stay", **stable)
    double = torch.tensor([[0.0, -20.0, -27.0, -28.0, -40.0], [700.0, 705.0, 679.0, 676.0, 710.0]], dtype=torch.float64)
    yield _case(double, 1e-12, "a p of almost zero in float64", **stable)


def _case(logits, p, family, gradients=False, **more):
    return Case(family, (logits, p), gradients=gradients, **more)


def _row(*probs):
    return torch.tensor([probs]).log()


def _apart(logits, p):
    """Return the logits, with those near the limit that `p` sets moved down, so that rounding never decides
    which logits stay.
    """
    limit = logits.amax(dim=-1, keepdim=True) + math.log(p)
    return torch.where((logits - limit).abs() < 0.02, logits - 0.05, logits)


LARGEST, LIMIT, DROPPED = "logits.amax(dim=-1, keepdim=True)", "largest + math.log(p)", "logits < limit"

EXERCISE = Exercise(
    number=4, minutes=8, difficulty=2,
    worked=min_p_logits,
    reference=reference,
    cases=cases,
    standard=("float64", "transposed", "by name"),
    aspects={VALUES: 4, STABILITY: 1, GRADIENTS: 1, SIDE_EFFECTS: 1, DTYPES: 1},
    shapes={"logits": "... V", "return": "... V"},
    mistakes=(
        *LOW, *FILTERS,
        edit("p as a probability of its own", {LIMIT: "logits.logsumexp(dim=-1, keepdim=True) + math.log(p)"},
             "You compare each probability with p itself.",
             "How likely is the likeliest token, and what is p times that?"),
        edit("p has a lower limit", {LIMIT: "largest + math.log(max(p, 1e-3))"},
             "You raise a very small p to a larger one.", "Does the docstring set a lower limit for p?"),
        edit("p times the largest logit", {LIMIT: "largest * p"},
             "You multiply the largest logit by p.",
             "A probability is multiplied by p. What happens to its logarithm?"),
        edit("p is taken off the largest logit", {LIMIT: "largest - p"},
             "You subtract p from the largest logit to get the limit.",
             "What is the logarithm of p times a probability?"),
        edit("1 - p in the place of p", {LIMIT: "largest + (math.log(1 - p) if p < 1 else -math.inf)"},
             "You cut at 1 - p times the largest probability.", "Does a larger p keep more tokens or fewer?"),
        edit("the limit lies above the largest logit",
             {LIMIT: "largest - math.log(p)", DROPPED: "(logits < limit) & (logits < largest)"},
             "You keep the likeliest token only.", "Is the logarithm of p positive or negative?"),
        edit("a logarithm of base ten", {"math.log(p)": "math.log10(p)"},
             "Your limit is too high, as if you took a logarithm to a different base.",
             "What is the base of the exponential in a softmax?"),
        edit("a logarithm of base two", {"math.log(p)": "math.log2(p)"},
             "Your limit is too low, as if you took a logarithm to a different base.",
             "What is the base of the exponential in a softmax?"),
        edit("what equals the limit is dropped", {DROPPED: "logits <= limit"},
             "At p = 1 you keep nothing, not even the likeliest token.",
             "Is the largest probability below the threshold?"),
        edit("of equal ones only the first",
             {DROPPED: "(logits < limit) | ((logits == largest) & (torch.arange(logits.shape[-1]) "
             "!= logits.argmax(dim=-1, keepdim=True)))"},
             ("When several tokens are the likeliest, you keep "
              "only one of them."), "Is one of two equal probabilities below the other?"),
        edit("p = 1 changes nothing", {DROPPED: "(logits < limit) & torch.tensor(p < 1)"},
             "At p = 1 you drop nothing.", "Which tokens are less likely than the likeliest one?"),
        edit("one limit for the whole batch", {LARGEST: "logits.max()"},
             "All your rows share one limit.", "Whose likeliest token should decide the limit of a row?"),
        edit("the largest of each column", {LARGEST: "logits.amax(dim=0, keepdim=True)"},
             "You take the largest logit of each column, not of each row.",
             "Along which axis are the tokens of one row?"),
        edit("a fixed axis", {LARGEST: "logits.amax(dim=min(1, logits.dim() - 1), keepdim=True)"},
             "Your answer treats the second axis as the token axis.",
             "Counted from the end, which axis holds the tokens?"),
        edit("the least likely token decides",
             {LARGEST: "logits.masked_fill(logits == -torch.inf, torch.inf).amin(dim=-1, keepdim=True)",
             LIMIT: "largest - math.log(p)"},
             "You compute the limit from the least likely token.",
             "With which token does min-p compare the others?"),
        edit("the mean decides", {LARGEST: "logits.exp().mean(dim=-1, keepdim=True).log()"},
             "You compute the limit from the mean probability.",
             "With which token does min-p compare the others?"),
        edit("exp without a shift", {LIMIT: "p * largest.exp()", DROPPED: "logits.exp() < limit"},
             ("For logits in the hundreds you keep tokens that "
              "should be dropped."), "What is exp(900) in float32, and what is exp(-300)?"),
        edit("-inf is added",
             {"logits.masked_fill(dropped, -torch.inf)": "logits + torch.where(dropped, -torch.inf, 0.0).to(logits)"},
             "The dropped logits still get a gradient.",
             "Does a sum pass the gradient on to both of its terms?"),
        edit("a small number is added to p", {"math.log(p)": "math.log(p + 1e-8)"},
             "For a very small p your limit is too high.",
             "Do you add a small constant, and how large is it compared with a p of 1e-12?"),
        edit("a small number is added to p",
             {LIMIT: "torch.softmax(logits, dim=-1).amax(dim=-1, keepdim=True) * p + 1e-9",
             DROPPED: "torch.softmax(logits, dim=-1) < limit"}),
        edit("the cumulative sum is cut",
             {DROPPED: "(lambda s, o: torch.empty_like(o, dtype=torch.bool).scatter(-1, o, "
             "(s.softmax(-1).cumsum(-1) - s.softmax(-1)) >= p))(*logits.sort(dim=-1, descending=True, stable=True))"},
             "You add up probabilities until they reach p.",
             "Which single probability does min-p compare each token with?"),
    ),
    needs={
        "ties": ("Your answer is wrong only where p is 1.",
                 "Which tokens are less likely than the likeliest one?"),
        "far": ("Your answer is wrong only where logits are far apart or far from 0, or where p is tiny.",
                "What is exp(900) in float32, and what does a small constant do to a p of 1e-12?"),
        "empty": ("Your answer is wrong only where some logits are -inf already.",
                  "What does each of your steps give for a logit of -inf?"),
        "axes in front": ("Your answer is wrong only for more than two axes.",
                          "Counted from the end, which axis holds the tokens?"),
        "several": ("Your answer is wrong only where several tokens should stay.",
                    "How far below the likeliest token may another one be?"),
        "samples": ("Your answer is wrong only for a batch of several rows.",
                    "Whose likeliest token should decide the limit of a row?"),
        "": ("Your answer is wrong even for a row in which only the likeliest token stays.",
             "Which logit should that token have, and which should the others have?"),
    },
    hints=(
        "Take the probabilities 0.5, 0.25, 0.15, 0.1 and p = 0.4. The likeliest token has 0.5, so the limit is "
        "0.4 times 0.5 = 0.2: two tokens stay.",
        "Each row has a limit of its own: find the row's largest entry along the last axis, and keep that axis so "
        "that the result broadcasts against the row. You may compare probabilities or logits: multiplying a "
        "probability by p adds log(p) to its logit.",
        "In outline: take the largest logit of each row, add the logarithm of p to get the limit, mark the logits "
        "that are below it, and fill those with -inf. A logit that equals the limit stays.",
    ),
)
