"""A clipped policy loss over the tokens of answers, with separate lower and upper bounds (Shao et al. 2024;
Yu et al. 2025).
"""

import math

import torch

from autograder.exercises._shared.token_losses import MASKED, NOTHING, lengths, spoilt, without_tokens
from autograder.schema import DTYPES, GRADIENTS, SIDE_EFFECTS, STABILITY, VALUES, Case, Exercise, edit

BOUNDS = "two bounds"


def policy_loss(log_probs, old_log_probs, advantages, mask, low=0.2, high=0.2):
    change = (log_probs - old_log_probs.detach()).where(mask, 0.0)
    ratio = change.clamp(max=80.0).exp()
    clipped = ratio.clamp(1 - low, 1 + high)
    advantage = advantages.detach()[:, None]
    gains = torch.minimum(ratio * advantage, clipped * advantage)
    total = gains.where(mask, 0.0).sum()
    return -total / mask.sum().clamp(min=1)


def reference(log_probs, old_log_probs, advantages, mask, low=0.2, high=0.2):
    rows = mask.nonzero()[:, 0]
    change, gain = log_probs[mask] - old_log_probs[mask].detach(), advantages.detach()[rows]
    # Clipping applies only where it lowers the gain.
    beyond = ((gain > 0) & (change > math.log1p(high))) | ((gain < 0) & (change < math.log1p(-low)))
    upper = (gain > 0).to(change)
    bound = upper * (1 + high) + (1 - upper) * (1 - low)
    gains = torch.where(beyond, bound, torch.where(beyond, 0.0, change).exp()) * gain
    # Give the other arguments a gradient of zeros, so that their gradients are compared as well.
    zeros = sum((one - one).sum() for one in (old_log_probs[mask], advantages))
    return -gains.sum() / max(len(rows), 1) + zeros


def cases(draw):
    answers, tokens = draw.sizes(2, 3, 7)
    moved, all_needs = ("moved",), ("rows", "masked", "moved", "clipped", "pessimistic")
    yield _case(draw, "answers of different lengths", _steps(draw, answers, tokens), draw.normal(answers),
                lengths(tokens, tokens, *draw.integers(1, tokens - 1, answers - 1).tolist()), needs=all_needs)
    yield _case(draw, "the policy has not moved", torch.zeros(1, 4), draw.normal(1))
    yield _case(draw, "not moved, and answers of different lengths", torch.zeros(3, 5), torch.tensor([1.0, -0.5, 2.0]),
                lengths(5, 5, 1, 2), needs=("rows", "masked"))
    yield _case(draw, "not moved, and answers of one length", torch.zeros(3, 2), draw.normal(3), needs=("rows",))
    yield _case(draw, "not moved, and half an answer", torch.zeros(1, 6), draw.normal(1), lengths(6, 3),
        needs=("masked",))
    size = torch.tensor([[0.3, 0.4, 0.27, 0.8, 0.5]])
    for family, steps, gain, need in (
        ("within the bounds", (size - 0.5) / 3, 1.0, moved),
        ("gains beyond the upper bound", size, 1.0, (*moved, "clipped")),
        ("losses beyond the lower bound", -size, -1.0, (*moved, "clipped")),
        ("gains below the lower bound", -size, 1.0, (*moved, "pessimistic")),
        ("losses above the upper bound", size, -1.0, (*moved, "pessimistic")),
    ):
        yield _case(draw, family, steps, torch.tensor([gain]) * (0.5 + draw.normal(1).abs()), needs=need)
    yield _case(draw, "one token", torch.tensor([[0.1]]), torch.tensor([-1.5]), needs=moved)
    yield _case(draw, "one token each", _steps(draw, 4, 1), draw.normal(4), needs=("rows", "moved", "clipped",
        "pessimistic"))
    yield _case(draw, "four of everything", _steps(draw, 4, 4), draw.normal(4), lengths(4, 3, 4, 1, 2),
        needs=all_needs)
    middle = torch.tensor([[False, True, True, False], [True, False, False, True], [False] * 4])
    yield _case(draw, "masked anywhere, and an answer without tokens", _steps(draw, 3, 4), draw.normal(3), middle,
                needs=all_needs)
    yield _case(draw, "advantages of zero", torch.tensor([[0.1, 20.0, -30.0], [0.3, -0.1, 0.2]]), torch.tensor([0.0,
        1.5]),
                lengths(3, 3, 2), needs=(*all_needs, "zero"))
    yield _case(draw, "many answers", _steps(draw, 32, 20), draw.normal(32),
                lengths(20, *draw.integers(1, 20, 32).tolist()), needs=all_needs)
    bounds = {"aspect": BOUNDS, "needs": (*all_needs, "bounds")}
    for low, high in ((0.1, 0.4), (0.3, 0.1), (0.2, 0.28), (0.5, 3.0), (0.05, 0.05), (0.0, 0.25), (0.25, 0.0)):
        yield _case(draw, f"bounds of {low} and {high}", _steps(draw, 3, 5), draw.normal(3), lengths(5, 5, 3, 4),
                    bounds=(low, high), **bounds)
    for name in ("low", "high"):
        yield _case(draw, f"{name} by name", _steps(draw, 3, 5), draw.normal(3), lengths(5, 5, 2, 4),
            by_name={name: 0.45},
                    **bounds)
    far = {"aspect": STABILITY, "needs": ("far", "moved")}
    gains = torch.tensor([[60.0, 90.0, 0.1], [110.0, 1e4, -0.1], [500.0, 0.3, 200.0]])
    yield _case(draw, "gains far beyond the upper bound", gains, torch.tensor([1.0, 0.5, 2.0]), **far)
    yield _case(draw, "losses far beyond the lower bound", -gains, torch.tensor([-1.0, -0.5, -2.0]), **far)
    yield _case(draw, "losses far above the upper bound", torch.tensor([[20.0, 12.0, 2.0]]), torch.tensor([-0.7]),
        **far)
    yield _case(draw, "gains far below the lower bound", torch.tensor([[-30.0, -12.0, 0.1]]), torch.tensor([0.7]),
        **far)
    yield _case(draw, "very unlikely tokens", _steps(draw, 2, 4), draw.normal(2), lowest=-200.0, **far)
    yield _case(draw, "tokens all but impossible", _steps(draw, 2, 4), draw.normal(2), lowest=-1e4, **far)
    places = {"log_probs": (0,), "old_log_probs": (1,), "both": (0, 1)}
    for name, values in {"NaN": (math.nan,), "infinities": (-math.inf, math.inf), "large numbers": (1e4,
        1e30)}.items():
        for where, which in places.items():
            yield _spoilt(draw, f"{name} in {where} where the mask is False", values, which)
    none = torch.zeros(2, 3, dtype=torch.bool)
    args = _arguments(draw, _steps(draw, 2, 3), draw.normal(2), none)
    names = "log_probs old_log_probs advantages mask"
    yield without_tokens("no token that counts", names, args, needs=("nothing",))
    nan = [spoilt(one, none, math.nan, math.inf) for one in args[:2]]
    yield without_tokens("no token that counts, and NaN", names, (*nan, *args[2:]), needs=("nothing", "spoilt"))


def _steps(draw, answers, tokens):
    """Return random changes in log-probability, none of them 0 or exactly at a bound."""
    steps = draw.integers(-48, 48, answers, tokens) / 64
    return steps + (steps == 0) / 64


def _arguments(draw, steps, advantages, mask=None, lowest=-3.0):
    """Return the arguments of a call; log-probabilities are multiples of 1/64, to make differences exact."""
    old = lowest + draw.eighths(*steps.shape, limit=8)
    mask = torch.ones(steps.shape, dtype=torch.bool) if mask is None else mask
    return old + (steps * 64).round() / 64, old, advantages, mask


def _case(draw, family, steps, advantages, mask=None, bounds=(), by_name=None, lowest=-3.0, **more):
    return Case(family, (*_arguments(draw, steps, advantages, mask, lowest), *bounds), by_name or {}, **more)


def _spoilt(draw, family, values, which):
    mask = lengths(4, 2, 4, 3)
    args = list(_arguments(draw, _steps(draw, 3, 4), draw.normal(3), mask))
    for place in which:
        args[place] = spoilt(args[place], mask, *values)
    return Case(family, tuple(args), aspect=MASKED, needs=("rows", "masked", "moved", "clipped", "pessimistic",
        "spoilt"))


CHANGE, RATIO = "(log_probs - old_log_probs.detach()).where(mask, 0.0)", "change.clamp(max=80.0).exp()"
CLIPPED, ADVANTAGE = "ratio.clamp(1 - low, 1 + high)", "advantages.detach()[:, None]"
GAINS, TOTAL = "torch.minimum(ratio * advantage, clipped * advantage)", "gains.where(mask, 0.0).sum()"
COUNT, LAST = "mask.sum().clamp(min=1)", "-total / mask.sum().clamp(min=1)"
LIMITED = "change.minimum(torch.full_like(change, 80.0)).exp()"
BY_ROW = "gains.where(mask, 0.0).sum(dim=1) / mask.sum(dim=1){}"

EXERCISE = Exercise(
    number=5, minutes=15, difficulty=3,
    worked=policy_loss,
    reference=reference,
    cases=cases,
    standard=("float64", "transposed", "by name"),
    aspects={VALUES: 4, BOUNDS: 1, MASKED: 1, NOTHING: 1, STABILITY: 1, GRADIENTS: 1, SIDE_EFFECTS: 1, DTYPES: 1},
    shapes={"log_probs": "B N", "old_log_probs": "B N", "advantages": "B", "mask": "B N"},
    mistakes=(
        edit("a mean of the rows' means", {TOTAL: BY_ROW.format(".clamp(min=1)"), LAST: "-total.mean()"},
             "You average each answer first, so a token of a short answer counts more than one of a long answer.",
             "Over which tokens is the mean taken: those of a row, or those of the whole batch?"),
        edit("a mean of the rows' means", {TOTAL: BY_ROW.format(".clamp(min=1)"),
             LAST: "-total.sum() / mask.any(dim=1).sum().clamp(min=1)"}),
        edit("divided by the number of rows", {LAST: "-total / len(mask)"},
             "You divide by the number of answers.", "How many tokens count?"),
        edit("divided by all tokens", {LAST: "-total / mask.numel()"},
             "You divide by the number of all tokens, including those whose mask is False.", "How many tokens count?"),
        edit("masked tokens count", {TOTAL: "gains.sum()", LAST: "-total / mask.numel()"},
             "Tokens whose mask is False count in your mean.", "What should such a token add to the sum?"),
        edit("masked tokens count", {TOTAL: "gains.sum()"}),
        edit("masked tokens count", {CHANGE: "log_probs - old_log_probs.detach()", TOTAL: "gains.sum()",
             LAST: "-total / mask.numel()"}),
        edit("the mask is inverted", {TOTAL: "gains.where(~mask, 0.0).sum()", CHANGE: CHANGE.replace("mask", "~mask"),
             LAST: LAST.replace("mask", "(~mask)")},
             "You average over the tokens whose mask is False.", "Which tokens does True mark?"),
        edit("a sum instead of a mean", {LAST: "-total"},
             "Your loss grows with the number of tokens.",
             "Should the loss change when every answer appears twice?"),
        edit("the larger of the two", {GAINS: GAINS.replace("minimum", "maximum")},
             "You take the larger of the two products.",
             "A token of a bad answer has become far more likely. Which of the two products is smaller?"),
        edit("the sign", {LAST: LAST[1:]},
             "Your loss falls when tokens of good answers become less likely.",
             "Does an optimiser increase or decrease the loss?"),
        edit("no clipping", {GAINS: "ratio * advantage"},
             "You do not clip the ratio.", "Beyond which ratio should a token of a good answer gain nothing more?"),
        edit("always clipped", {GAINS: "clipped * advantage"},
             "You always use the clipped ratio.",
             "A token of a bad answer has become far more likely. Is its clipped product the smaller one?"),
        edit("the ratio upside down", {CHANGE: "(old_log_probs.detach() - log_probs).where(mask, 0.0)"},
             "Your ratio falls when a token becomes more likely.",
             "Which of the two probabilities is the numerator?"),
        edit("differences instead of ratios", {RATIO: "1 + change"},
             "Your ratio is right only where hardly anything has changed.",
             "Which function turns a difference of logarithms into a ratio?"),
        edit("differences instead of ratios", {RATIO: "change"}),
        edit("no lower bound", {CLIPPED: "ratio.clamp(max=1 + high)"},
             "Your clipped ratio has no lower bound.",
             "When a token of a bad answer is already much less likely, should making it even less likely lower the "
             "loss?"),
        edit("no upper bound", {CLIPPED: "ratio.clamp(min=1 - low)"},
             "Your clipped ratio has no upper bound.",
             "When a token of a good answer is already much likelier, should making it even likelier lower the loss?"),
        edit("bounds around zero", {CLIPPED: "ratio.clamp(-low, high)"},
             "You clip the ratio around 0.", "Which ratio means that nothing has changed?"),
        edit("the lower bound by division", {CLIPPED: "ratio.clamp(1 / (1 + high), 1 + high)"},
             "Your lower bound is 1 / (1 + high).",
             "Which argument gives the lower bound, and how far is that bound from 1?"),
        edit("advantages without their sign", {ADVANTAGE: "advantages.detach().abs()[:, None]"},
             "Your loss treats bad answers as good ones.",
             "Should a token with a negative advantage become more or less likely?"),
        edit("the bounds are exchanged", {CLIPPED: "ratio.clamp(1 - high, 1 + low)"},
             "You use `high` for the lower bound and `low` for the upper one.",
             "Which of the two should set the upper bound?"),
        edit("one bound for both sides", {CLIPPED: "ratio.clamp(1 - low, 1 + low)"},
             "A different `high` changes nothing in your result.", "Which line uses `high`?"),
        edit("one bound for both sides", {CLIPPED: "ratio.clamp(1 - high, 1 + high)"},
             "A different `low` changes nothing in your result.", "Which line uses `low`?"),
        edit("the bounds are fixed", {CLIPPED: "ratio.clamp(0.8, 1.2)"},
             "Different bounds change nothing in your result.", "Which line uses `low` and `high`?"),
        edit("a bound of zero is none", {CLIPPED: "ratio.clamp(1 - (low or 0.2), 1 + (high or 0.2))"},
             "You treat a bound of 0 as if none were given.", "Is `0.0` true or false in Python?"),
        edit("another high unless one is given", {"high=0.2": "high=0.28"},
             "Your default for `high` is not 0.2.", "Which defaults does the signature give?"),
        edit("the logarithm is clipped", {CLIPPED: "change.clamp(-low, high).exp()"},
             "You clip the logarithm of the ratio.", "Does the formula clip the ratio or its logarithm?"),
        edit("the sign of the advantage is lost", {GAINS: "torch.minimum(ratio, clipped) * advantage"},
             "You take the smaller ratio instead of the smaller product.",
             "For a negative advantage, which ratio gives the smaller product?"),
        edit("advantages normalised", {ADVANTAGE: "((advantages - advantages.mean()) / "
             "(advantages.std(correction=0) + 1e-8))"
                                                  ".detach()[:, None]"},
             "You normalise the advantages.", "Does the formula change the advantages?"),
        edit("answers without an advantage do not count",
             {TOTAL: "gains.where(mask & (advantage != 0), 0.0).sum()",
              LAST: "-total / (mask & (advantage != 0)).sum().clamp(min=1)"},
             "Tokens of answers with advantage 0 do not count in your mean.",
             "Does the mask leave these tokens out?"),
        edit("one ratio for an answer",
             {RATIO: "(change.sum(dim=1) / mask.sum(dim=1).clamp(min=1)).clamp(max=80.0).exp()[:, "
             "None].expand(change.shape)"},
             "In your code, all tokens of an answer share one ratio.",
             "How many ratios should an answer of five tokens have?"),
        edit("one ratio for an answer",
             {RATIO: "change.sum(dim=1).clamp(max=80.0).exp()[:, None].expand(change.shape)"}),
        edit("a mask that multiplies", {CHANGE: "log_probs - old_log_probs.detach()", TOTAL: "(gains * mask).sum()"},
             "A NaN where the mask is False makes your loss NaN.",
             "What is 0 times NaN, and which function picks numbers without multiplying them?"),
        edit("a mask that multiplies", {CHANGE: "(log_probs - old_log_probs.detach()) * mask",
             TOTAL: "(gains * mask).sum()"}),
        edit("masked at the end alone", {CHANGE: "log_probs - old_log_probs.detach()", RATIO: LIMITED},
             "The values are right, but a NaN where the mask is False gets into the gradient.",
             "Entries that torch.where leaves out get the gradient 0. Which step multiplies that 0 by NaN?"),
        edit("masked at the end alone", {CHANGE: "log_probs - old_log_probs.detach()", RATIO: LIMITED,
             TOTAL: "gains.nan_to_num().where(mask, 0.0).sum()"}),
        edit("masked at the end alone", {CHANGE: "log_probs - old_log_probs.detach()",
             RATIO: "change.exp().where(mask, 0.0)"}),
        edit("ratios beyond every number", {RATIO: "change.exp()"},
             "Where a ratio is too large for float32, the gradient is NaN.",
             "What is exp(100) in float32, and what is 0 times that?"),
        edit("probabilities that have become zero", {RATIO: "(log_probs.where(mask, 0.0).exp() / "
             "old_log_probs.detach().where(mask, 0.0).exp())"},
             "For very unlikely tokens you divide 0 by 0.", "What is exp(-1e4) in float32?"),
        edit("log ratios cut off", {"clamp(max=80.0)": "clamp(-10.0, 10.0)"},
             "You limit log ratios that the formula does not limit.",
             "For a token of a bad answer that has become far more likely, how large may the ratio be?"),
        edit("log ratios cut off", {"clamp(max=80.0)": "clamp(-5.0, 5.0)"}),
        edit("nothing divided by nothing", {LAST: "-total / mask.sum()"},
             "When no token counts, your loss is NaN.", "How many tokens do you divide by then?"),
        edit("nothing divided by nothing", {LAST: "-gains[mask].mean()"}),
        edit("a number without a graph", {LAST: f"{LAST} if mask.any() else torch.zeros((), dtype=log_probs.dtype)"},
             "When no token counts, your loss has no graph, so backward() fails.",
             "Which sum is 0 and still depends on log_probs?"),
        edit("zero times NaN", {LAST: f"{LAST} if mask.any() else (log_probs * 0).sum()"},
             "When no token counts and log_probs holds NaN, your loss is NaN.",
             "What is 0 times NaN, and which entries can you sum instead?"),
        edit("the old policy learns", {CHANGE: CHANGE.replace(".detach()", "")},
             "Your loss sends a gradient to old_log_probs.", "Should training change the old policy?"),
        edit("the advantages learn", {ADVANTAGE: "advantages[:, None]"},
             "Your loss sends a gradient to the advantages.", "Should the loss change the advantages?"),
        edit("both learn", {CHANGE: CHANGE.replace(".detach()", ""), ADVANTAGE: "advantages[:, None]"},
             "Your loss sends gradients to old_log_probs and the advantages.",
             "Which is the only input that should receive a gradient?"),
        edit("the policy is cut off", {RATIO: f"{RATIO}.detach() + 0 * log_probs.where(mask, 0.0)"},
             "The values are right, but no gradient reaches log_probs.", "Which step detaches the ratio?"),
        edit("the policy is cut off", {RATIO: f"{RATIO}.detach()"}),
        edit("a loss for each token", {LAST: "-gains.where(mask, 0.0)"},
             "You return one loss per token.", "What shape should the loss have?"),
        edit("a loss for each answer", {TOTAL: "gains.where(mask, 0.0).sum(dim=1)"},
             "You return one loss per answer.", "What shape should the loss have?"),
        edit("advantages in the order of the tokens",
             {ADVANTAGE: "advantages.detach().repeat(log_probs.shape[1]).view(log_probs.shape)"},
             "Some of your tokens have the advantage of another answer.",
             "Does `repeat` copy each advantage in turn, or the whole list of them?"),
        edit("advantages along the tokens", {ADVANTAGE: "advantages.detach()"},
             "You give the first advantage to the first token of each answer, and so on.",
             "Which axis of log_probs belongs to the answers?"),
    ),
    needs={
        "nothing": ("Your answer is wrong only when no token counts.",
                    "Which sum is 0 and still depends on log_probs?"),
        "spoilt": ("Your answer is wrong only when there is a NaN, an infinity or a very large number where the "
                   "mask is False.",
                   "Before which step must these numbers be replaced?"),
        "bounds": ("Your answer is wrong only when the bounds are not both 0.2.",
                   "Which line uses `low`, and which `high`?"),
        "zero": ("Your answer is wrong only where an advantage is 0.",
                 "Do the tokens of such an answer count in the mean?"),
        "far": ("Your answer is wrong only for tokens that are very unlikely or have moved very far.",
                "Which of your steps gives 0 or infinity there?"),
        "masked": ("Your answer is wrong only when the mask leaves out tokens.",
                   "Which tokens count, and how many of them are there?"),
        "clipped": ("Your answer is wrong only where a ratio is clipped.",
                    ("A token of a good answer is already twice as likely as before. Should the loss fall if it "
                     "becomes still more likely?")),
        "pessimistic": ("Your answer is wrong only where the policy has moved far in the wrong direction.",
                        "A token of a bad answer has become twice as likely. Which of the two products is smaller?"),
        "moved": ("Your answer is wrong only where the policy has moved.",
                  "What are the ratio, the clipped ratio and the smaller product for one token?"),
        "rows": ("Your answer is wrong only when there are several answers.",
                 "Which advantage does each token have, and over how many tokens is the mean taken?"),
        "": ("Even for a single answer and a policy that has not moved, your loss is wrong.",
             "What remains of the formula when every ratio is 1?"),
    },
    hints=(
        "Lesson 17 has this loss for single actions. Three things are new: a token's advantage is that of "
        "its row, the two bounds may differ, and the mask says which tokens count.",
        "Use `torch.where` to set the difference of the logarithms to 0 where the mask is False, and do it before "
        "exp: a NaN that goes through exp gets into the gradient. Before exp, also use `clamp` to limit how large "
        "the difference can be, so that the ratio is never infinite.",
        "In outline: subtract the logarithms, and put 0 where the mask is False. Cap this difference from above, "
        "and take exp: that is the ratio. Clip a copy of it. Multiply both by the advantages, as a column, and "
        "take the smaller product of each pair, or 0 where the mask is False. Return minus their sum, divided by "
        "the number of tokens that count, or by 1 if there are none.",
    ),
)
