"""Top-p filtering: the smallest set of likeliest tokens with a total probability of at least p (Holtzman et
al. 2020).
"""

import torch

from autograder.exercises._shared.filters import FILTERS, LOW, through_a_softmax
from autograder.schema import DTYPES, GRADIENTS, SIDE_EFFECTS, STABILITY, VALUES, Case, Exercise, edit


def top_p_logits(logits, p):
    if p >= 1:
        return logits
    ordered, order = logits.sort(dim=-1, descending=True, stable=True)
    probs = torch.softmax(ordered, dim=-1)
    before = probs.cumsum(dim=-1) - probs
    late = before >= p
    late[:, 0] = False
    dropped = torch.empty_like(late).scatter(1, order, late)
    return logits.masked_fill(dropped, -torch.inf)


def reference(logits, p):
    rows = []
    for row in logits:
        order = sorted(range(len(row)), key=lambda token: -float(row[token]))
        probs, kept, reached = torch.softmax(row, dim=-1), torch.zeros_like(row, dtype=torch.bool), 0.0
        for token in order:
            if p < 1 and kept.any() and reached >= p:
                break
            kept[token] = True
            reached += float(probs[token])
        rows.append(torch.where(kept, row, -torch.inf))
    return torch.stack(rows)


def cases(draw):
    batch, words = draw.sizes(2, 3, 8)
    samples, several = ("samples",), ("samples", "several")
    logits = draw.normal(batch, words + 3, scale=2.0)
    yield _case(logits, _between(logits, 3), "all sizes different", observe=True, needs=several)
    one = draw.normal(1, 6)
    yield _case(one, _between(one, 2), "one row", needs=("several",))
    yield _case(_row(0.1, 0.7, 0.2), 0.5, "the likeliest is enough")
    yield _case(_row(0.1, 0.7, 0.2), 0.8, "two are needed", needs=("several",))
    yield _case(_row(0.4, 0.3, 0.2, 0.1), 0.6, "a row in falling order", needs=("several",))
    yield _case(_row(0.1, 0.2, 0.3, 0.4), 0.6, "a row in rising order", needs=("several",))
    rows = torch.cat((_row(0.7, 0.1, 0.1, 0.1), _row(0.05, 0.15, 0.5, 0.3), _row(0.1, 0.35, 0.3, 0.25)))
    yield _case(rows, 0.62, "rows that need one, two, two", needs=several)
    yield _case(rows, 0.92, "rows that need all or most", needs=several)
    yield _case(rows + torch.tensor([[0.0], [50.0], [-50.0]]), 0.4, "rows of different heights", needs=several)
    # All tokens are equally likely, so that their probabilities are exact however they are computed.
    ties = {"needs": ("samples", "several", "ties")}
    equal = torch.zeros(2, 4)
    yield _case(equal, 0.6, "all equally likely", **ties)
    yield _case(equal, 0.5, "all equally likely, p reached exactly", **ties)
    yield _case(_row(0.1, 0.3, 0.3, 0.3), 0.45, "ties", **ties)
    yield _case(_row(0.3, 0.1, 0.3, 0.3), 0.2, "ties at the top", needs=("ties",))
    first = {"needs": ("samples", "first")}
    yield _case(rows, 0.0, "p of zero", **first)
    yield _case(rows, 1e-6, "p of almost zero", **first)
    some = draw.normal(2, 6)
    some[0, 1] = some[1, 3] = some[1, 4] = -torch.inf
    yield _case(some, 0.97, "some are -inf already", needs=several)
    yield _case(draw.normal(3, 1), 0.5, "a vocabulary of one word", needs=samples)
    all_ = {"needs": ("samples", "all")}
    yield _case(rows, 1.0, "p of one", **all_)
    yield _case(rows, 1.5, "p above one", **all_)
    steep = torch.tensor([[30.0, -20.0, 0.0, 12.0], [-40.0, 1.0, 25.0, 2.0]])
    yield _case(steep, 1.0, "p of one and unlikely tokens", aspect=STABILITY, **all_)
    yield _case(steep, 0.9, "one token takes all", aspect=STABILITY, needs=samples)
    high = torch.tensor([[200.0, -100.0, 199.0, 198.0], [-300.0, -299.0, -301.5, -400.0]])
    yield _case(high, 0.8, "very large and very low logits", aspect=STABILITY, needs=several)
    yield through_a_softmax(rows.clone(), 0.75)


def _case(logits, p, family, **more):
    return Case(family, (logits, p), gradients=False, **more)


def _row(*probs):
    return torch.tensor([probs]).log()


def _between(logits, count):
    """Return a p for which the first row keeps exactly `count` tokens. It is as far as possible from the
    cumulative probabilities of all rows.
    """
    ends = torch.softmax(logits.double(), dim=-1).sort(dim=-1, descending=True).values.cumsum(dim=-1)
    low, high = float(ends[0, count - 2]), float(ends[0, count - 1])
    tried = torch.linspace(low, high, 41, dtype=torch.float64)[1:-1]
    return round(float(tried[(tried[:, None, None] - ends).abs().amin(dim=(1, 2)).argmax()]), 4)


P, ORDER, PROBS = "if p >= 1:", "logits.sort(dim=-1, descending=True, stable=True)", "torch.softmax(ordered, dim=-1)"
BEFORE, FIRST = "probs.cumsum(dim=-1) - probs", "    late[:, 0] = False\n"
BACK, LATE = "torch.empty_like(late).scatter(1, order, late)", "before >= p"

EXERCISE = Exercise(
    number=3, minutes=15, difficulty=3,
    worked=top_p_logits,
    reference=reference,
    cases=cases,
    standard=("float64", "transposed", "by name"),
    aspects={VALUES: 4, STABILITY: 1, GRADIENTS: 1, SIDE_EFFECTS: 1, DTYPES: 1},
    shapes={"logits": "B V", "return": "B V"},
    mistakes=(
        *LOW, *FILTERS,
        edit("SAM-15 nothing may be left", {BEFORE: "probs.cumsum(dim=-1)", FIRST: ""},
             "When the most likely token alone exceeds p, you keep nothing.", "Which token always stays?"),
        edit("SAM-53 the one that reaches p is dropped", {BEFORE: "probs.cumsum(dim=-1)"},
             "You drop the token with which the sum reaches p.",
             "Does the sum of the probabilities that you keep reach p?"),
        edit("SAM-55 the first may be dropped", {FIRST: ""},
             "You keep nothing when p = 0.", "Which token always stays?"),
        edit("SAM-57 one more than is needed",
             {LATE: "before - probs.roll(1, -1).index_fill(1, torch.tensor([0]), 0.0) >= p"},
             "You keep one more token than needed.", "What is the sum without the last token that you keep?"),
        edit("SAM-59 more where p is reached exactly", {LATE: "before > p"},
             "Where the sum is exactly p, you keep one token too many.",
             "Should the sum reach p or exceed it?"),
        edit("SAM-17 the mask stays in the order of the size", {BACK: "late"},
             "Your mask is in the order of the sorted logits.", "Which token has index 0 after sorting?"),
        edit("SAM-61 the order is taken the wrong way", {BACK: "late.gather(1, order)"},
             "You reorder the mask, but not back to the original order.",
             "Do the indices from `sort` say where a token was or where it is now?"),
        edit("SAM-63 sorted logits come back",
             {"return logits.masked_fill(dropped": "return ordered.masked_fill(late"},
             "You return sorted logits.", "Which token has index 0 after sorting?"),
        edit("SAM-19 logits are added up", {PROBS: "ordered"},
             "You add up logits.", "Which numbers of a row add up to one?"),
        edit("SAM-65 exp without a share", {PROBS: "ordered.exp()"},
             "You add up exponentials that are not normalised.", "Which numbers of a row add up to one?"),
        edit("SAM-67 the least likely first", {ORDER: "logits.sort(dim=-1, stable=True)"},
             "You start with the least likely token.", "In which order should tokens be taken?"),
        edit("SAM-69 probabilities of each against p", {LATE: "probs < 1 - p"},
             "You compare each single probability with p or 1 - p.", "Which sum should reach p?"),
        edit("SAM-69", {LATE: "probs < p"}),
        edit("SAM-71 every p changes something", {P: "if False:"},
             "For p = 1 you drop unlikely tokens.",
             "How large can a sum of probabilities be after rounding?"),
        edit("SAM-71", {P: "if p > 1:"}),
        edit("SAM-73 the row of the first sample for all", {BACK: f"{BACK}[:1]"},
             "In every row, you keep the same tokens as in the first row.",
             "Should every row have its own cut-off?"),
        edit("SAM-75 of ties the higher id first",
             {ORDER: "logits.flip(-1).sort(dim=-1, descending=True, stable=True)",
             "    probs = ": "    order = logits.shape[-1] - 1 - order\n    probs = "},
             "Of two equal logits you keep the one with the higher id.",
             "Which of two equally likely tokens comes first?"),
        edit("SAM-77 all ties with the last survivor",
             {"return logits.masked_fill(dropped": "dropped = logits < logits"
             ".masked_fill(dropped, torch.inf).amin(dim=-1, keepdim=True)\n    return logits.masked_fill(dropped"},
             "You keep every token that is as likely as the last one needed to reach p.",
             "Are all of them needed to reach p?"),
        edit("SAM-79 sums over the samples", {"probs.cumsum(dim=-1)": "probs.cumsum(dim=0)"},
             "Your sums run over the samples.", "Along which axis are the tokens of one row?"),
        edit("SAM-81 a share of the largest", {LATE: "probs < p * probs[:, :1]"},
             "You compare each probability with that of the likeliest token.", "Which sum should reach p?"),
        edit("SAM-83 what is left, not what is reached", {LATE: "before >= 1 - p"},
             "You stop when the sum of probabilities reaches 1 - p, not p.",
             "Does a p close to one keep many tokens or few?"),
    ),
    needs={
        "ties": ("Your answer is wrong only where logits are equal.",
                 "Which of two equally likely tokens comes first?"),
        "all": ("Your answer is wrong only when p is 1 or more.", "Which tokens should p = 1 drop?"),
        "first": ("Your answer is wrong only when p is 0 or close to it.", "Which token always stays?"),
        "several": ("Your answer is wrong only where several tokens are needed to reach p.",
                    "Which probabilities do you add up, and which token is the last one needed?"),
        "samples": ("Your answer is wrong only for a batch of several rows.",
                    "Should every row have its own cut-off?"),
        "": ("Your answer is wrong even for a row where one token is enough.",
             "Which token should you keep, and what should happen to the others?"),
    },
    hints=(
        "Take the probabilities 0.5, 0.3, 0.15, 0.05 and p = 0.7. For each token, add up the probabilities before it: "
        "the token stays if that sum is below p.",
        "With descending=True, `sort` returns the logits in decreasing order, together with the original index of "
        "each. Take the running sum of their probabilities and subtract each token's own probability: the result "
        "is the sum before that token. `scatter` with those indices writes a mask back to the original order.",
        "In outline: return the logits unchanged if p is 1 or more; sort stably in decreasing order; take the "
        "softmax and the sum before each token; mark every token whose sum has reached p, but never the first "
        "token; bring the marks back to the original order, and fill the marked logits with -inf.",
    ),
)
