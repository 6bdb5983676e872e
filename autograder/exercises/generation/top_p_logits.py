"""As few of the likeliest tokens as are needed to reach a probability of p (Holtzman et al. 2020)."""

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
    # All as likely: their probabilities are exact in every form.
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
    """A p in the middle of the token with this number in the first row, and far from all ends in the others."""
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
             "Where the likeliest token exceeds p by itself, nothing is left in yours.",
             "What if the favourite alone exceeds p?"),
        edit("SAM-53 the one that reaches p is dropped", {BEFORE: "probs.cumsum(dim=-1)"},
             "The token with which p is reached is dropped in yours.",
             "Does the sum of your survivors reach p?"),
        edit("SAM-55 the first may be dropped", {FIRST: ""},
             "For p = 0 nothing is left in yours.", "Which token always stays?"),
        edit("SAM-57 one more than is needed",
             {LATE: "before - probs.roll(1, -1).index_fill(1, torch.tensor([0]), 0.0) >= p"},
             "One token more than needed survives in yours.", "What is the sum without the last of your survivors?"),
        edit("SAM-59 more where p is reached exactly", {LATE: "before > p"},
             "Where the probabilities reach p exactly, one more token survives in yours.",
             "Does the exercise ask to reach p, or to exceed it?"),
        edit("SAM-17 the mask stays in the order of the size", {BACK: "late"},
             "Your mask is that of the sorted logits.", "Who is number 0 after sorting?"),
        edit("SAM-61 the order is taken the wrong way", {BACK: "late.gather(1, order)"},
             "Your mask is reordered, but not back to where the tokens were.",
             "To which place does the order lead: where a token was, or where it is?"),
        edit("SAM-63 sorted logits come back",
             {"return logits.masked_fill(dropped": "return ordered.masked_fill(late"},
             "Your logits come back sorted.", "Who is number 0 after sorting?"),
        edit("SAM-19 logits are added up", {PROBS: "ordered"},
             "You add up logits.", "What adds up to one?"),
        edit("SAM-65 exp without a share", {PROBS: "ordered.exp()"},
             "The numbers that you add up are no shares of a whole.", "What adds up to one?"),
        edit("SAM-67 the least likely first", {ORDER: "logits.sort(dim=-1, stable=True)"},
             "You begin with the least likely token.", "In which order are tokens taken?"),
        edit("SAM-69 probabilities of each against p", {LATE: "probs < 1 - p"},
             "You compare each probability with p.", "The sum of which probabilities should reach p?"),
        edit("SAM-69", {LATE: "probs < p"}),
        edit("SAM-71 every p changes something", {P: "if False:"},
             "For p = 1 unlikely tokens are dropped in yours.",
             "How large is the sum of probabilities after rounding?"),
        edit("SAM-71", {P: "if p > 1:"}),
        edit("SAM-73 the row of the first sample for all", {BACK: f"{BACK}[:1]"},
             "The tokens that survive in the first row survive in all of yours.",
             "Does every row get a cut-off of its own?"),
        edit("SAM-75 of ties the higher id first",
             {ORDER: "logits.flip(-1).sort(dim=-1, descending=True, stable=True)",
             "    probs = ": "    order = logits.shape[-1] - 1 - order\n    probs = "},
             "Of equal logits, the one with the higher id survives in yours.",
             "Two tokens are equally likely: which one comes first?"),
        edit("SAM-77 all ties with the last survivor",
             {"return logits.masked_fill(dropped": "dropped = logits < logits"
             ".masked_fill(dropped, torch.inf).amin(dim=-1, keepdim=True)\n    return logits.masked_fill(dropped"},
             "All tokens as likely as your last survivor survive as well.",
             "Are all of them needed to reach p?"),
        edit("SAM-79 sums over the samples", {"probs.cumsum(dim=-1)": "probs.cumsum(dim=0)"},
             "Your sums run over the samples.", "Along which axis do the tokens of one row lie?"),
        edit("SAM-81 a share of the largest", {LATE: "probs < p * probs[:, :1]"},
             "You drop what is unlikely compared with the first token.", "The sum of which probabilities should reach "
                                                                         "p?"),
        edit("SAM-83 what is left, not what is reached", {LATE: "before >= 1 - p"},
             "Your survivors reach 1 - p.", "What should a p close to one let through?"),
    ),
    combinable=("SAM-09", "SAM-53", "SAM-55", "SAM-17", "SAM-67", "SAM-75"),
    needs={
        "ties": ("You are right but where logits are equal.",
                 "Two tokens are equally likely: which one comes first, and is the other one needed?"),
        "all": ("For p below one you are right; from one on you are not.", "Which tokens should p = 1 drop?"),
        "first": ("You are right except for a p of almost zero.", "Which token always stays?"),
        "several": ("Where one token is enough you are right; where several are needed you are not.",
                    "The sum of which probabilities should reach p, and who is the last one needed?"),
        "samples": ("One row is right in yours; several are not.", "Does every row get a cut-off of its own?"),
        "": ("Already where one token is enough your logits are others.",
             "Which token survives, and what becomes of the rest?"),
    },
    hints=(
        "Probabilities 0.5, 0.3, 0.15, 0.05 and p = 0.7: who stays? For each token, what is the sum of those before "
        "it?",
        "Sorting gives two things: the logits in falling order, and where each of them was. You need the second to "
        "bring your mask back. Which operation writes to places that a tensor names?",
        "The shape of it: sort, softmax, a running sum without the token itself, a mask in sorted order, the mask back "
        "in the tokens' order, -inf.",
    ),
)
