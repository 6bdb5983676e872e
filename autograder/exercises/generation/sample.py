"""A token drawn from a distribution with the help of a random number that the caller passes in."""

import torch

from autograder.schema import SIDE_EFFECTS, STABILITY, VALUES, Case, Exercise, edit

TEMPERATURE = "temperature"
LAST_BELOW_ONE = 1 - 2**-24  # the float32 next below 1


def sample(logits, u, temperature=1.0):
    if temperature == 0:
        return logits.argmax(dim=-1)
    probs = torch.softmax(logits / temperature, dim=-1)
    total = probs.cumsum(dim=-1)
    total = total / total[:, -1:]
    reached = total > u[:, None]
    return reached.int().argmax(dim=-1)


def reference(logits, u, temperature=1.0):
    if temperature == 0:
        return logits.max(dim=-1).indices
    ends = torch.softmax(logits / temperature, dim=-1).cumsum(dim=-1)
    return torch.searchsorted(ends / ends[:, -1:], u[:, None].to(ends), right=True)[:, 0]


def cases(draw):
    batch, words = draw.sizes(2, 4, 8)
    samples = ("samples",)
    yield _case(draw, "all sizes different", draw.normal(batch, words + 3), observe=True, needs=samples)
    yield _case(draw, "one row", draw.normal(1, 5))
    yield _case(draw, "as many rows as tokens", draw.normal(6, 6), needs=samples)
    yield _case(draw, "many draws from one distribution",
    draw.normal(1, 5).expand(60, -1).contiguous(), needs=samples)
    yield _case(draw, "rows of different heights", draw.normal(4, 5) + torch.tensor([[0.0], [80.0], [-80.0], [9.0]]),
                needs=samples)
    rising = torch.tensor([[0.1, 0.2, 0.3, 0.4]]).log().expand(4, -1).contiguous()
    yield Case("each of four tokens", (rising, torch.tensor([0.05, 0.2, 0.45, 0.8])), gradients=False, needs=samples)
    rare = torch.tensor([[0.0005, 0.499, 0.0005, 0.4995, 0.0005]]).log().expand(3, -1).contiguous()
    yield Case("rare tokens", (rare, torch.tensor([0.0002, 0.4998, 0.9998])), gradients=False,
               needs=("samples", "rare"))
    # Four equally likely tokens: the sums are exact in every form.
    equal = torch.zeros(4, 4), torch.tensor([0.0, 0.25, 0.5, 0.75])
    yield Case("u where one token ends", equal, gradients=False, needs=("samples", "borders"))
    yield _case(draw, "a vocabulary of one word", draw.normal(3, 1), needs=samples)
    yield _case(draw, "a large vocabulary", draw.normal(3, 800, scale=3.0), needs=samples)
    warm = {"aspect": TEMPERATURE, "needs": ("samples", "temperature")}
    yield _case(draw, "a temperature below 1", draw.normal(8, 6), 0.5, **warm)
    low = warm | {"needs": ("samples", "temperature", "low")}
    for temperature in (0.1, 0.2, 0.3):
        yield _case(draw, "a low temperature", draw.normal(8, 6), temperature, **low)
    yield _case(draw, "a temperature of almost zero and logits close together", draw.normal(8, 6, scale=0.002), 0.001,
                **low)
    yield _case(draw, "a temperature above 1", draw.normal(8, 6, scale=3.0), 2.5, **warm)
    yield _case(draw, "a temperature by name", draw.normal(5, 4), 3, by_name=True, **warm)
    cold = {"aspect": TEMPERATURE, "needs": ("samples", "cold")}
    for zero in (0.0, 0):
        yield Case("a temperature of zero", (draw.normal(5, 6), draw.weights(5), zero), gradients=False, **cold)
    ties = torch.tensor([[1.0, 3.0, 3.0, 0.0], [2.0, 2.0, 2.0, 2.0], [-torch.inf, -5.0, -6.0, -5.0]])
    yield Case("a temperature of zero and ties",
    (ties, torch.tensor([0.9, 0.5, 0.7]), 0.0), gradients=False, **cold)
    cold["needs"] += ("temperature",)
    yield _case(draw, "a temperature of almost zero", draw.eighths(5, 6) * 8 + torch.arange(6), 0.01, **cold)
    edges = {"aspect": STABILITY, "needs": ("samples", "edges")}
    yield Case("u of zero and almost one", _at_the_edges(draw), gradients=False, **edges)
    yield Case("many tokens and u of almost one", _many_at_the_edge(draw), gradients=False, **edges)
    dropped = draw.normal(8, 6)
    dropped[:, 1] = dropped[:, 4] = -torch.inf
    yield _case(draw, "some tokens cannot be drawn", dropped, needs=samples)
    alone = torch.full((3, 5), -torch.inf)
    alone[0, 0], alone[1, 2], alone[2, 4] = 1.0, -3.0, 0.0
    yield Case("one token is left", (alone, torch.tensor([LAST_BELOW_ONE, 0.0, 0.5])), gradients=False, **edges)
    large = draw.normal(4, 5) + torch.tensor([[1e4], [-1e4], [500.0], [-500.0]])
    yield Case("large logits", (large.round(), torch.full((4,), 0.999)), gradients=False, aspect=STABILITY,
    needs=samples)


def _case(draw, family, logits, *temperature, by_name=False, **more):
    """Return a case whose draws lie well inside the interval of a fairly likely token, so that rounding never
    decides which token is chosen.
    """
    probs = torch.softmax(logits.double() / (temperature[0] if temperature else 1.0), dim=-1)
    ends, u = probs.cumsum(dim=-1), []
    for row, end in zip(probs, ends, strict=True):
        likely = (row > 0.01).nonzero().flatten() if bool((row > 0.01).any()) else row.argmax()[None]
        token = likely[int(draw.integers(0, len(likely) - 1))]
        place = float(draw.integers(3, 7)) / 10
        u.append(float(end[token] - (1 - place) * row[token]))
    u = torch.tensor(u)
    kwargs = {"temperature": temperature[0]} if by_name else {}
    return Case(family, (logits, u, *(() if by_name else temperature)), kwargs, gradients=False, **more)


def _at_the_edges(draw):
    """Return (logits, u): rows in which the first tokens, the last ones or both have probability 0, and
    values of u at both ends of its range.
    """
    logits = draw.normal(6, 7)
    logits[:3, :2] = logits[3:, -2:] = -torch.inf
    logits[1:5, 0] = logits[1:5, -1] = -torch.inf
    return logits, torch.tensor([0.0, LAST_BELOW_ONE] * 3)


def _many_at_the_edge(draw):
    """Return (logits, u): rows of so many tokens that their probabilities do not add up to exactly 1 in
    float32, and values of u just below 1.
    """
    logits = draw.normal(5, 3000)
    logits[:, -1] = -torch.inf
    logits[:, -2] = 3.0
    return logits, torch.full((5,), LAST_BELOW_ONE)


PROBS, SUM = "torch.softmax(logits / temperature, dim=-1)", "    total = total / total[:, -1:]\n"
REACHED, LAST = "total > u[:, None]", "return reached.int().argmax(dim=-1)"
ZERO = "    if temperature == 0:\n        return logits.argmax(dim=-1)\n"

EXERCISE = Exercise(
    number=5, minutes=12, difficulty=2,
    worked=sample,
    reference=reference,
    cases=cases,
    standard=("float64", "transposed", "by name"),
    aspects={VALUES: 4, TEMPERATURE: 2, STABILITY: 1, SIDE_EFFECTS: 1},
    shapes={"logits": "B V", "u": "B", "return": "B"},
    mistakes=(
        edit("SAM-01 temperature multiplies", {"logits / temperature": "logits * temperature"},
             "A lower temperature makes your draws more random.",
             "Does a high temperature make the model more or less certain?"),
        edit("SAM-03 temperature counts twice", {"logits / temperature": "logits / temperature / temperature"},
             "You apply the temperature twice.",
             "What are the logits divided by when the temperature is 2?"),
        edit("SAM-85 temperature after the softmax", {PROBS: "torch.softmax(logits, dim=-1) / temperature", SUM: ""},
             "You divide probabilities by the temperature.",
             "Does dividing all probabilities by the same number change their ratios?"),
        edit("SAM-85", {PROBS: "torch.softmax(logits, dim=-1) / temperature", SUM: "",
                        LAST: "return (~reached).sum(dim=-1).clamp(max=logits.shape[-1] - 1)"}),
        edit("SAM-161 exponentials of any size", {PROBS: "torch.exp(logits / temperature)\n"
             "    probs = probs / probs.sum(dim=-1, keepdim=True)"},
             "Your exponentials overflow when logits are large or the temperature is low.",
             "What can you subtract from all logits of a row without changing its softmax?"),
        edit("SAM-165 another default", {"temperature=1.0": "temperature=0.8"},
             "Your default temperature is not 1.", "Which default does the signature give?"),
        edit("SAM-165", {"temperature=1.0": "temperature=0.7"}),
        edit("SAM-87 temperature is not used", {" / temperature": ""},
             "In your code, every temperature except 0 gives the same result.", "Which line uses the temperature?"),
        edit("SAM-89 a temperature of zero is not foreseen", {ZERO: ""},
             "At temperature 0 you do not take the largest logit.",
             "Which token remains as the temperature approaches 0?"),
        edit("SAM-89", {ZERO: "    temperature = max(temperature, 1.0) if temperature == 0 else temperature\n"}),
        edit("SAM-91 the last of ties at zero",
             {ZERO: "    if temperature == 0:\n        return logits.shape[-1] - 1 - "
             "logits.flip(-1).argmax(dim=-1)\n"},
             "At temperature 0, of equal logits you take the one with the higher id.",
             "Which id does the docstring ask for when the largest logit occurs twice?"),
        edit("SAM-07 always the likeliest", {LAST: "return logits.argmax(dim=-1)"},
             "You always take the most likely token.", "Which of your lines uses u?"),
        edit("SAM-93 no softmax", {PROBS: "logits / temperature"},
             "The numbers that you add up are not probabilities.", "What should the last of your sums be?"),
        edit("SAM-93", {PROBS: "torch.exp(logits / temperature)", SUM: ""}),
        edit("SAM-95 one token late", {LAST: "return (reached.int().argmax(dim=-1) + 1)"
             ".clamp(max=logits.shape[-1] - 1)"},
             "Each of your tokens is the one after the right one.",
             "Which sum is the first that is greater than u?"),
        edit("SAM-95", {REACHED: "total - probs > u[:, None]"}),
        edit("SAM-97 one token early", {LAST: "return (reached.int().argmax(dim=-1) - 1).clamp(min=0)"},
             "Each of your tokens is the one before the right one.",
             "Which sum is the first that is greater than u?"),
        edit("SAM-99 reached instead of exceeded", {REACHED: "total >= u[:, None]"},
             "When u equals a cumulative sum, you take the token with that sum.",
             "When u is 0, which sum is the first that is greater than u?"),
        edit("SAM-101 a token that cannot be drawn is drawn", {SUM: ""},
             "When u is close to 1, you may return the wrong id.",
             "How large is the last of your sums after rounding?"),
        edit("SAM-101", {SUM: "", LAST: "return (~reached).sum(dim=-1).clamp(max=logits.shape[-1] - 1)"}),
        edit("SAM-101", {SUM: "", LAST: "return (~reached).sum(dim=-1)"}),
        edit("SAM-103 the order of the size",
             {"    total = probs": "    probs, order = probs.sort(dim=-1, descending=True)\n"
             "    total = probs", LAST: "return order.gather(1, reached.int().argmax(dim=-1)[:, None])[:, 0]"},
             "You accumulate the probabilities in decreasing order.",
             "In which order does the exercise accumulate them?"),
        edit("a place in the order of the size", {"    total = probs":
             "    probs = probs.sort(dim=-1, descending=True).values\n    total = probs"},
             "You return an index into the sorted probabilities.", "Which token has index 0 after sorting?"),
        edit("SAM-105 from the other end", {REACHED: "total > 1 - u[:, None]"},
             "In your answer, a larger u gives a token with a lower id.", "Which token should u = 0 draw?"),
        edit("SAM-107 one u for all rows", {"u[:, None]": "u[0]"},
             "All your rows use the first u.", "Which u belongs to the second row?"),
        edit("SAM-109 a distribution of all rows",
             {"torch.softmax(logits / temperature": "torch.softmax((logits / temperature)"
             ".mean(0, keepdim=True).expand_as(logits)"},
             "All your rows draw from the same distribution.", "Which row of logits belongs to each draw?"),
        edit("SAM-111 numbers of its own", {REACHED: "total > torch.rand(len(u), 1)"},
             "You draw random numbers yourself.", "Where do the random numbers come from in this exercise?"),
        edit("SAM-111", {LAST: "return torch.multinomial(probs, 1)[:, 0]"}),
        edit("SAM-113 an axis too many", {LAST: "return reached.int().argmax(dim=-1, keepdim=True)"},
             "Your result has an extra axis of size 1.", "What shape should the result have for B rows?"),
        edit("SAM-115 the probability instead of the token",
             {LAST: "return probs.gather(1, reached.int().argmax(dim=-1)"
             "[:, None])[:, 0]"},
             "You return probabilities.", "Does the exercise ask for a token or for its probability?"),
        edit("SAM-117 sums over the rows", {"cumsum(dim=-1)": "cumsum(dim=0)"},
             "Your sums run over the rows.", "Along which axis are the tokens of one row?"),
    ),
    needs={
        "low": ("Your answer is wrong only at low temperatures above 0.",
                "At which temperatures do you take the largest logit?"),
        "rare": ("Your answer is wrong only where a rare token should be drawn.",
                 "Are 0.4995 and 0.5 still different numbers in your sums?"),
        "temperature": ("Your answer is wrong only at temperatures other than 1.",
                        "What do you divide the logits by?"),
        "cold": ("Your answer is wrong only when the temperature is 0 or close to it.",
                 "Which token remains as the temperature approaches 0?"),
        "edges": ("Your answer is wrong only when u is 0 or close to 1.",
                  "Which token is the first that can be drawn, and which is the last?"),
        "borders": ("Your answer is wrong only when u equals a cumulative sum.",
                    "Is a sum that equals u greater than u?"),
        "samples": ("Your answer is wrong only for a batch of several rows.",
                    "Which u and which row of logits belong together?"),
        "": ("Even a single row gives the wrong token.",
             "Lay its probabilities end to end; where does u fall?"),
    },
    hints=(
        "Lay the probabilities 0.2, 0.5, 0.3 end to end; they end at 0.2, 0.7 and 1. Then u = 0.65 falls "
        "on the second token, because 0.7 is the first end greater than u.",
        "`cumsum` along the last axis gives the ends. The token is the first one whose end is greater than u; "
        "`argmax` of a row of zeros and ones gives the position of the first 1. If rounding leaves the last end "
        "below 1, divide all ends by it.",
        "In outline: at temperature 0 return the argmax. Otherwise take the softmax of the scaled logits "
        "and its running sums, divide them by the last one, compare them with u as a column, and return "
        "the position of the first True in each row.",
    ),
)
