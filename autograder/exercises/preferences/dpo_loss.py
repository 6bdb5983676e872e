"""Direct preference optimisation: the chosen answer should gain more than the rejected one (Rafailov et al.
2023).
"""

import torch
import torch.nn.functional as F

from autograder.exercises._shared.preferences import compared
from autograder.schema import DTYPES, GRADIENTS, SIDE_EFFECTS, STABILITY, VALUES, Case, Exercise, edit


def dpo_loss(policy_chosen, policy_rejected, reference_chosen, reference_rejected, beta=0.1):
    chosen = policy_chosen - reference_chosen
    rejected = policy_rejected - reference_rejected
    margin = beta * (chosen - rejected)
    return -F.logsigmoid(margin).mean()


def reference(policy_chosen, policy_rejected, reference_chosen, reference_rejected, beta=0.1):
    policy, before = policy_chosen - policy_rejected, reference_chosen.detach() - reference_rejected.detach()
    return torch.logaddexp(beta * (before - policy), torch.zeros_like(policy)).sum() / len(policy)


BETA = "another beta"


def cases(draw):
    size = draw.sizes(1, 4, 8)[0]
    yield Case("all numbers different", compared(draw, size), needs=("rejected", "reference"))
    yield Case("another batch", compared(draw, size + 2), needs=("rejected", "reference"))
    yield Case("one pair", compared(draw, 1), needs=("rejected", "reference"))
    yield Case("the policy is still the reference", 2 * compared(draw, 3)[:2], needs=("rejected", "reference"))
    policy_chosen, policy_rejected, before, _ = compared(draw, 4)
    yield Case("a reference that is undecided", (policy_chosen, policy_rejected, before, before.clone()),
               needs=("rejected",))
    zero = draw.normal(4) * 0
    yield Case("only the chosen answer moves", (draw.eighths(4), zero, zero.clone(), zero.clone()))
    yield Case("many pairs", compared(draw, 200), gradients=False, needs=("rejected", "reference"))
    more = {"aspect": BETA, "needs": ("rejected", "reference", "beta")}
    yield Case(BETA, (*compared(draw, 4), 0.5), **more)
    yield Case("beta by name", compared(draw, 3), {"beta": 0.02}, **more)
    far = {"aspect": STABILITY, "needs": ("rejected", "reference", "far")}
    yield Case("answers ten thousand apart", compared(draw, 4, 1e4), **far)
    yield Case("a beta of one, far apart", (*compared(draw, 3, 500.0), 1.0), **far)


CHOSEN, REJECTED = "policy_chosen - reference_chosen", "policy_rejected - reference_rejected"
MARGIN, LOSS = "beta * (chosen - rejected)", "-F.logsigmoid(margin).mean()"

EXERCISE = Exercise(
    number=2, minutes=10, difficulty=2,
    worked=dpo_loss,
    reference=reference,
    cases=cases,
    standard=("float64", "by name"),
    aspects={VALUES: 1, BETA: 1, STABILITY: 1, GRADIENTS: 1, SIDE_EFFECTS: 1, DTYPES: 1},
    shapes=dict.fromkeys(("policy_chosen", "policy_rejected", "reference_chosen", "reference_rejected"), "B"),
    mistakes=(
        edit("DPO-01 chosen and rejected exchanged", {MARGIN: "beta * (rejected - chosen)"},
             "Your loss falls when the rejected answer becomes more likely.",
             "Which answer's probability should the loss increase?"),
        edit("DPO-03 the reference counts the other way", {CHOSEN: CHOSEN.replace("-", "+"), REJECTED:
             REJECTED.replace("-", "+")},
             "Your loss is smaller when the reference already prefers the chosen answer.",
             "Should the policy get more or less credit for a preference that the reference already has?"),
        edit("DPO-41 no reference", {CHOSEN: "policy_chosen", REJECTED: "policy_rejected"},
             "Your loss does not depend on the reference.",
             "What should each log-probability of the policy be compared with?"),
        edit("DPO-05 the logarithm of what has become zero", {"F.logsigmoid(margin)": "margin.sigmoid().log()"},
             "Where the policy strongly prefers the rejected answer, your loss is infinite.",
             "What is the logarithm of a sigmoid that was rounded to 0?"),
        edit("DPO-05", {"-F.logsigmoid(margin)": "(1 + (-margin).exp()).log()"}),
        edit("DPO-05", {"F.logsigmoid(margin)": "(margin.sigmoid() + 1e-8).log()"},
             "Where the policy strongly prefers the rejected answer, your loss stops growing.",
             "What is the logarithm of your small constant?"),
        edit("DPO-05", {"F.logsigmoid(margin)": "margin.sigmoid().clamp(min=1e-7).log()"}),
        edit("DPO-13 a sum instead of a mean", {".mean()": ".sum()"},
             "Your loss grows with the number of pairs.",
             "Should the loss change when every pair appears twice?"),
        edit("DPO-43 the sign", {LOSS: "F.logsigmoid(margin).mean()"},
             "Your loss is negative.", "Is the logarithm of a probability positive or negative?"),
        edit("DPO-45 beta is left out", {MARGIN: "chosen - rejected"},
             "You do not multiply the margin by beta.", "Which line uses beta?"),
        edit("DPO-47 beta is fixed", {MARGIN: "0.1 * (chosen - rejected)"},
             "A different beta changes nothing in your result.", "Which line uses the argument beta?"),
        edit("DPO-49 divided by beta", {MARGIN: "(chosen - rejected) / beta"},
             "A larger beta makes your margins smaller.", "Do you multiply or divide by beta?"),
        edit("DPO-71 beta outside", {MARGIN: "chosen - rejected", LOSS: "-beta * F.logsigmoid(margin).mean()"},
             "Beta multiplies your loss, and not the margin.",
             "Does beta belong inside or outside the sigmoid?"),
        edit("DPO-73 beta for the reference alone", {CHOSEN: "policy_chosen - beta * reference_chosen", REJECTED:
             "policy_rejected - beta * reference_rejected", MARGIN: "chosen - rejected"},
             "You multiply only the reference by beta.",
             "Which difference does the formula multiply by beta?"),
        edit("DPO-73", {CHOSEN: "beta * policy_chosen - reference_chosen", REJECTED:
             "beta * policy_rejected - reference_rejected", MARGIN: "chosen - rejected"},
             "You multiply only the policy by beta.",
             "Which difference does the formula multiply by beta?"),
        edit("beta counts twice", {MARGIN: "beta * beta * (chosen - rejected)"},
             "You multiply the margin by beta twice.", "How many times does beta occur in the formula?"),
        edit("margins are divided by the number of pairs", {MARGIN: "beta * (chosen - rejected) / len(chosen)"},
             "You divide the margins by the number of pairs.",
             "Which numbers should be averaged: the margins or the losses?"),
        edit("DPO-75 smoothed labels", {LOSS: "-(0.9 * F.logsigmoid(margin) + 0.1 * F.logsigmoid(-margin)).mean()"},
             "Your loss allows for a chance that the rejected answer is the better one.",
             "Does the formula smooth the labels?"),
        edit("DPO-77 a squared distance", {LOSS: "((chosen - rejected - 1 / (2 * beta)) ** 2).mean()"},
             "Your loss is a squared distance, which grows again when a pair is right by a large margin.",
             "Which function turns a margin into a probability?"),
        edit("DPO-51 no logarithm", {"F.logsigmoid(margin)": "margin.sigmoid()"},
             "Your loss is a mean of probabilities.",
             "Which function turns a probability that should be 1 into a loss?"),
        edit("DPO-53 the margin itself", {"F.logsigmoid(margin)": "margin"},
             "Your loss falls without limit as the margin grows.",
             "How much should the loss still fall when a pair is right by a large margin?"),
        edit("DPO-55 a hinge", {LOSS: "F.relu(1 - margin).mean()"},
             "Your loss consists of two straight lines.",
             "Which function turns a margin into a probability?"),
        edit("DPO-57 the mean before the loss", {LOSS: "-F.logsigmoid(margin.mean())"},
             "You average the margins before computing the loss.",
             "Should one pair that is right by a large margin make up for one that is wrong?"),
        edit("DPO-59 each answer by itself", {LOSS: "-(F.logsigmoid(beta * chosen) + F.logsigmoid(-beta * "
                                              "rejected)).mean()"},
             "You compute a separate loss for each of the two answers.",
             "Should an answer be compared with zero or with the other answer?"),
        edit("DPO-61 the policy is cut off", {MARGIN: "beta * (chosen - rejected).detach()"},
             "The values are right, but no gradient reaches the policy.", "Which step detaches the policy?"),
        edit("DPO-63 a loss for each pair", {".mean()": ""},
             "You return one loss per pair.", "What shape should the loss have?"),
        edit("DPO-65 another beta unless one is given", {"beta=0.1": "beta=1.0"},
             "Your default for beta is not 0.1.", "Which default does the signature give?"),
        edit("DPO-65", {"beta=0.1": "beta=0.5"}),
        edit("DPO-67 ratios of logarithms", {CHOSEN: CHOSEN.replace("-", "/"), REJECTED: REJECTED.replace("-", "/")},
             "You divide logarithms by each other.",
             "What does a ratio of two probabilities become in logarithms?"),
        edit("DPO-69 only the chosen answer", {MARGIN: "beta * chosen"},
             "Your loss does not depend on the rejected answer.",
             "What should the chosen answer be compared with?"),
    ),
    needs={
        "far": ("Your answer is wrong only where the two answers lie far apart.",
                "Which of your steps gives 0 or infinity there?"),
        "beta": ("Your answer is wrong only when beta is not 0.1.", "Which line uses the argument beta?"),
        "reference": ("Your answer is wrong only where the reference prefers one of the answers.",
                      "What is subtracted from each log-probability of the policy?"),
        "rejected": ("Your answer is wrong only where the log-probabilities of the rejected answers are not 0.",
                     "How should the loss change when the rejected answer becomes more likely?"),
        "": ("Your loss is wrong even when all log-probabilities except policy_chosen are 0.",
             "What is the loss when policy_chosen is 10 and the other three numbers are 0?"),
    },
    hints=(
        "For each of the two answers, subtract the reference's log-probability from the policy's. This says how "
        "much more likely the policy finds the answer than the reference does.",
        "Subtract the rejected answer's result from the chosen answer's, and multiply by beta: this is the "
        "margin, and its sigmoid is the probability that the chosen answer is the better one. The loss is minus "
        "the logarithm of that probability. Use F.logsigmoid, because a sigmoid as small as exp(-1000) is rounded "
        "to 0.",
        "In outline: compute the two differences between policy and reference, subtract the rejected answer's "
        "from the chosen answer's, multiply by beta, apply F.logsigmoid, and return minus the mean.",
    ),
)
