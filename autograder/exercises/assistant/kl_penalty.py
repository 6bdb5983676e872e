"""A policy's KL divergence from its reference, estimated from tokens that the policy wrote (Schulman 2020).
"""

import math

import torch

from autograder.exercises._shared.token_losses import MASKED, NOTHING, lengths, spoilt, without_tokens
from autograder.schema import (
    DTYPES, GRADIENTS, SIDE_EFFECTS, STABILITY, VALUES, Call, Case, Exercise, Given, Kept, edit,
)

GROW = "def grow(penalty):\n    return penalty * 1e9\n"


def kl_penalty(log_probs, reference_log_probs, mask):
    d = (reference_log_probs.detach() - log_probs).where(mask, 0.0)
    penalties = torch.expm1(d) - d
    return penalties.sum() / mask.sum().clamp(min=1)


def reference(log_probs, reference_log_probs, mask):
    d = reference_log_probs[mask].detach() - log_probs[mask]
    # Where digits would be lost, the first terms of the series are used instead.
    near = torch.where(d.abs() < 1e-3, d, 0.0)
    series = near.square() / 2 * (1 + near / 3 * (1 + near / 4 * (1 + near / 5)))
    penalties = torch.where(d.abs() < 1e-3, series, d.exp() - (1 + d))
    # Give the reference's log-probabilities a gradient of zeros, so that their gradient is compared as well.
    zeros = (reference_log_probs[mask] - reference_log_probs[mask]).sum()
    return penalties.sum() / max(len(d), 1) + zeros


def cases(draw):
    answers, tokens = draw.sizes(2, 3, 7)
    several = ("rows", "masked", "moved")
    yield _case(draw, "answers of different lengths", _moves(draw, answers, tokens),
                lengths(tokens, tokens, *draw.integers(1, tokens - 1, answers - 1).tolist()), needs=several)
    yield _case(draw, "the policy is still the reference", torch.zeros(1, 4))
    yield _case(draw, "still the reference, and several answers", torch.zeros(3, 4), lengths(4, 4, 1, 2),
                needs=("rows", "masked"))
    yield _case(draw, "one token", torch.tensor([[-0.5]]), needs=("moved",))
    yield _case(draw, "tokens that have become more likely", torch.tensor([[-0.25, -1.5, -0.75]]), needs=("moved",))
    yield _case(draw, "tokens that have become less likely", torch.tensor([[0.25, 1.5, 0.75]]), needs=("moved",))
    yield _case(draw, "half an answer", _moves(draw, 1, 6), lengths(6, 3), needs=("masked", "moved"))
    yield _case(draw, "answers of one length", _moves(draw, 3, 2), needs=("rows", "moved"))
    yield _case(draw, "four of everything", _moves(draw, 4, 4), lengths(4, 4, 1, 3, 2), needs=several)
    middle = torch.tensor([[False, True, True, False], [True, False, False, True], [False] * 4])
    yield _case(draw, "masked anywhere, and an answer without tokens", _moves(draw, 3, 4), middle, needs=several)
    yield _case(draw, "many answers", _moves(draw, 32, 20), lengths(20, *draw.integers(1, 20, 32).tolist()),
                needs=several)
    far = {"aspect": STABILITY, "needs": ("moved", "far")}
    yield _case(draw, "a reference that all but excludes a token", torch.tensor([[-150.0, -60.0, 0.5]]), **far)
    yield _case(draw, "a policy that all but excludes a token", torch.tensor([[30.0, 22.0, -0.5]]), **far)
    yield _case(draw, "very unlikely tokens", _moves(draw, 2, 4), lowest=-200.0, **far)
    yield _case(draw, "tokens all but impossible", _moves(draw, 2, 4), lowest=-1e4, **far)
    small = draw.integers(1, 9, 2, 5) * (draw.integers(0, 1, 2, 5) * 2 - 1)
    for family, scale in (("a policy that has hardly moved", 1e-4), ("a policy that has moved a little", 1e-3)):
        yield _grown(draw, family, small * 1.01 * scale, needs=("moved", "small"))
    for name, values in {"NaN": (math.nan,), "infinities": (-math.inf, math.inf), "large numbers": (1e4,
        1e30)}.items():
        for where, which in {"log_probs": (0,), "reference_log_probs": (1,), "both": (0, 1)}.items():
            yield _spoilt(draw, f"{name} in {where} where the mask is False", values, which)
    none = torch.zeros(2, 3, dtype=torch.bool)
    args = _arguments(draw, _moves(draw, 2, 3), none)
    names = "log_probs reference_log_probs mask"
    yield without_tokens("no token that counts", names, args, needs=("nothing",))
    nan = [spoilt(one, none, math.nan, math.inf) for one in args[:2]]
    yield without_tokens("no token that counts, and NaN", names, (*nan, none), needs=("nothing", "spoilt"))


def _moves(draw, answers, tokens):
    return draw.integers(-96, 96, answers, tokens) / 64


def _arguments(draw, d, mask=None, lowest=-3.0):
    """Return the policy's log-probabilities, the reference's (larger by `d`), and a mask."""
    log_probs = lowest + draw.eighths(*d.shape, limit=8)
    return log_probs, log_probs + d, torch.ones(d.shape, dtype=torch.bool) if mask is None else mask


def _case(draw, family, d, mask=None, lowest=-3.0, **more):
    return Case(family, _arguments(draw, d, mask, lowest), **more)


def _grown(draw, family, d, **more):
    """Return a case with small differences, whose penalty is scaled up before it is compared."""
    log_probs, other, mask = _arguments(draw, d)
    given = {"log_probs": log_probs, "reference_log_probs": other, "mask": mask, "grow": Given("grow", GROW)}
    script = (Call(tuple(map(Kept, list(given)[:3])), keep="penalty", shown=False),
              Call((Kept("penalty"),), to="grow", keep="penalty times a billion"))
    # In float32 about three digits of such a small penalty are right, so it is compared less closely.
    return Case(family, (), given, script=script, aspect=STABILITY, scale=100.0, gradients=False, **more)


def _spoilt(draw, family, values, which):
    mask = lengths(4, 2, 4, 3)
    args = list(_arguments(draw, _moves(draw, 3, 4), mask))
    for place in which:
        args[place] = spoilt(args[place], mask, *values)
    return Case(family, tuple(args), aspect=MASKED, needs=("rows", "masked", "moved", "spoilt"))


D = "(reference_log_probs.detach() - log_probs).where(mask, 0.0)"
PENALTIES, LAST = "torch.expm1(d) - d", "penalties.sum() / mask.sum().clamp(min=1)"
BY_ROW = "penalties.sum(dim=1) / mask.sum(dim=1).clamp(min=1)"
ONLY = ".where(mask, 0.0)"

EXERCISE = Exercise(
    number=6, minutes=10, difficulty=2,
    worked=kl_penalty,
    reference=reference,
    cases=cases,
    standard=("float64", "transposed", "by name"),
    aspects={VALUES: 4, MASKED: 1, NOTHING: 1, STABILITY: 2, GRADIENTS: 1, SIDE_EFFECTS: 1, DTYPES: 1},
    shapes={"log_probs": "B N", "reference_log_probs": "B N", "mask": "B N"},
    mistakes=(
        edit("the other direction", {D: "(log_probs - reference_log_probs.detach()).where(mask, 0.0)"},
             "Your d is the policy's log-probability minus the reference's.",
             "Which of the two does the formula subtract?"),
        edit("the difference alone", {PENALTIES: "-d"},
             "Your penalty is a mean of differences, which may be negative.",
             "Which two further terms does the formula have?"),
        edit("the difference alone", {PENALTIES: "d"}),
        edit("half the square", {PENALTIES: "d.square() / 2"},
             "Your penalty is half the square of d, which is close to the formula only where d is small.",
             "What is the penalty for d = 1 in the formula, and what is it in your code?"),
        edit("the size of the difference", {PENALTIES: "d.abs()"},
             "Your penalty is the absolute value of d.",
             "What is the penalty for d = 1 in the formula, and what is it in your code?"),
        edit("without its last term", {PENALTIES: "torch.expm1(d)"},
             "You do not subtract d.", "Can your penalty be negative?"),
        edit("d is added", {PENALTIES: "torch.expm1(d) + d"},
             "You add d instead of subtracting it.", "Which sign does d have in the formula?"),
        edit("one is not subtracted", {PENALTIES: "(torch.exp(d) - d)"},
             "Your penalty is 1 where the policy still equals the reference.", "What is exp(0)?"),
        edit("one is not subtracted", {PENALTIES: "(torch.exp(d) - d).where(mask, 0.0)"}),
        edit("one is added", {PENALTIES: "(torch.exp(d) - d + 1).where(mask, 0.0)"},
             "You add 1 instead of subtracting it.", "What should the penalty of d = 0 be?"),
        edit("d squared in the place of d", {PENALTIES: "torch.expm1(d) - d.square()"},
             "You subtract the square of d.", "Which power of d does the formula subtract?"),
        edit("weighted by probabilities", {PENALTIES: "reference_log_probs.detach().where(mask, 0.0).exp() * -d"},
             "You weight each token by its probability.",
             "The policy itself drew these tokens. Do likely tokens already appear more often among them?"),
        edit("weighted by probabilities", {PENALTIES: "log_probs.where(mask, 0.0).exp() * -d"}),
        edit("digits are lost", {PENALTIES: "torch.exp(d) - d - 1"},
             "Where the policy has hardly moved, your penalty is only rounding error.",
             "exp(0.0001) is stored with seven digits. How many are left when 1 is subtracted?"),
        edit("digits are lost", {PENALTIES: "torch.exp(d) - 1 - d"}),
        edit("digits are lost", {PENALTIES: "torch.exp(d) - (1 + d)"}),
        edit("digits are lost", {PENALTIES: "(torch.exp(d) - d - 1).clamp(min=0)"}),
        edit("d is cut off", {PENALTIES: "torch.expm1(d.clamp(-10, 10)) - d.clamp(-10, 10)"},
             "You clip d to a fixed range.", "Does the formula clip d?"),
        edit("d is cut off", {PENALTIES: "torch.expm1(d.clamp(-20, 20)) - d.clamp(-20, 20)"}),
        edit("the penalty is cut off", {PENALTIES: "(torch.expm1(d) - d).clamp(-10, 10)"},
             "You clip the penalty of each token.", "Does the formula clip the penalties?"),
        edit("probabilities that have become zero",
             {PENALTIES: "(reference_log_probs.detach().where(mask, 0.0).exp() / log_probs.where(mask, 0.0).exp() - "
             "d - 1)"},
             "For very unlikely tokens you divide 0 by 0.", "What is exp(-1e4) in float32?"),
        edit("a mean of the rows' means", {LAST: f"({BY_ROW}).mean()"},
             "You average each answer first, so a token from a short answer counts more.",
             "Over which tokens is the mean taken: those of a row, or those of the whole batch?"),
        edit("a mean of the rows' means", {LAST: f"({BY_ROW}).sum() / mask.any(dim=1).sum().clamp(min=1)"}),
        edit("divided by the number of rows", {LAST: "penalties.sum() / len(mask)"},
             "You divide by the number of answers.", "How many tokens count?"),
        edit("divided by all tokens", {LAST: "penalties.mean()"},
             "You divide by the number of all tokens, including those whose mask is False.", "How many tokens count?"),
        edit("masked tokens count", {ONLY: "", LAST: "penalties.mean()"},
             "Tokens whose mask is False count in your mean.", "Which tokens does the mask leave out?"),
        edit("masked tokens count", {ONLY: ""}),
        edit("the mask is inverted", {ONLY: ".where(~mask, 0.0)", LAST: LAST.replace("mask", "(~mask)")},
             "You average over the tokens whose mask is False.", "Which tokens does True mark?"),
        edit("a sum instead of a mean", {LAST: "penalties.sum()"},
             "Your penalty grows with the number of tokens.",
             "Should the penalty change when every answer appears twice?"),
        edit("the sign", {LAST: f"-{LAST}"},
             "Your penalty is negative.", "Should a policy gain by moving away from its reference?"),
        edit("a mask that multiplies", {ONLY: "", LAST: f"(penalties * mask).{LAST[10:]}"},
             "Your penalty is NaN if there is a NaN or an infinity where the mask is False.",
             "What is 0 times NaN, and which function picks numbers without multiplying them?"),
        edit("a mask that multiplies", {ONLY: " * mask"}),
        edit("masked at the end alone", {ONLY: "", LAST: f"penalties{ONLY}.{LAST[10:]}"},
             "The values are right, but a NaN where the mask is False gets into the gradient.",
             "Entries that torch.where leaves out get the gradient 0. Which step multiplies that 0 by NaN?"),
        edit("nothing divided by nothing", {LAST: "penalties.sum() / mask.sum()"},
             "When no token counts, your penalty is NaN.", "How many tokens do you divide by then?"),
        edit("nothing divided by nothing", {LAST: "penalties[mask].mean()"}),
        edit("a number without a graph", {LAST: f"{LAST} if mask.any() else torch.zeros((), dtype=log_probs.dtype)"},
             "When no token counts, your penalty has no graph, so backward() fails.",
             "Which sum is 0 and still depends on log_probs?"),
        edit("zero times NaN", {LAST: f"{LAST} if mask.any() else (log_probs * 0).sum()"},
             "When no token counts and log_probs holds NaN, your penalty is NaN.",
             "What is 0 times NaN, and which entries can you sum instead?"),
        edit("the reference learns", {".detach()": ""},
             "Your penalty sends a gradient to reference_log_probs.", "Should training change the reference?"),
        edit("the policy is cut off", {D: "(reference_log_probs - log_probs.detach()).where(mask, 0.0)"},
             "Your penalty sends its gradient to the reference instead of the policy.",
             "Which of the two should training change?"),
        edit("both are cut off", {D: f"{D}.detach()"},
             "The values are right, but no gradient reaches log_probs.",
             "Which of the two log-probabilities should be detached, and which should get a gradient?"),
        edit("no gradient through exp", {PENALTIES: "torch.expm1(d).detach() - d"},
             "Only one of the terms of your penalty has a gradient.", "Which term is detached?"),
        edit("no gradient through exp", {PENALTIES: "torch.expm1(d) - d.detach()"}),
        edit("a penalty for each token", {LAST: "penalties"},
             "You return one penalty per token.", "What shape should the penalty have?"),
        edit("a penalty for each answer", {LAST: BY_ROW},
             "You return one penalty per answer.", "What shape should the penalty have?"),
    ),
    needs={
        "nothing": ("Your answer is wrong only when no token counts.",
                    "Which sum is 0 and still depends on log_probs?"),
        "spoilt": ("Your answer is wrong only when there is a NaN, an infinity or a very large number where the "
                   "mask is False.",
                   "Before which step must these numbers be replaced?"),
        "small": ("Your answer is wrong only where the policy has hardly moved.",
                  "Where do you subtract two nearly equal numbers?"),
        "far": ("Your answer is wrong only for tokens that are very unlikely or have moved very far.",
                "Which of your steps clips d, or gives 0 or infinity?"),
        "masked": ("Your answer is wrong only when the mask leaves out tokens.",
                   "Which tokens count, and how many of them are there?"),
        "rows": ("Your answer is wrong only when there are several answers.",
                 "Over how many tokens is the mean taken?"),
        "moved": ("Your answer is wrong only where the policy has moved.",
                  "What is the penalty of a token with d = -1?"),
        "": ("Even where the policy still equals the reference, your penalty is wrong.",
        "What does the formula give for d = 0?"),
    },
    hints=(
        "Compute the penalty of three tokens by hand, with d = 0, d = 1 and d = -1: e is 2.718 and 1/e is "
        "0.368. None of the penalties is negative. Then suppose that the mask is False for the second token: "
        "what is the mean?",
        "For a small d, exp(d) - 1 loses nearly all its digits; `torch.expm1(d)` keeps them. Use `torch.where` "
        "to set d to 0 where the mask is False: the penalty of d = 0 is 0.",
        "In outline: detach the reference's log-probabilities and subtract log_probs from them. Put 0 where the "
        "mask is False, and apply the formula. Divide the sum by the number of tokens that count, or by 1 if "
        "there are none.",
    ),
)
