"""Direct preference optimisation: the chosen answer should gain more than the rejected one (Rafailov et al. 2023)."""

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
             "Your loss falls when the rejected answer becomes likelier.",
             "Should the loss fall when the chosen answer gets likelier?"),
        edit("DPO-03 the reference counts the other way", {CHOSEN: CHOSEN.replace("-", "+"), REJECTED:
             REJECTED.replace("-", "+")},
             "A reference that liked the chosen answer already makes your loss smaller.",
             "If the reference already preferred the chosen answer, should the policy get more or less credit?"),
        edit("DPO-41 no reference", {CHOSEN: "policy_chosen", REJECTED: "policy_rejected"},
             "Your loss does not know the reference.", "How far has the policy moved, and from where?"),
        edit("DPO-05 the logarithm of what has become zero", {"F.logsigmoid(margin)": "margin.sigmoid().log()"},
             "Where the policy is far on the wrong side, your loss is infinite.",
             "What does exp make of a very large number, and log of one that became 0?"),
        edit("DPO-05", {"-F.logsigmoid(margin)": "(1 + (-margin).exp()).log()"}),
        edit("DPO-05", {"F.logsigmoid(margin)": "(margin.sigmoid() + 1e-8).log()"},
             "Where the policy is far on the wrong side, your loss stops growing.",
             "What is the logarithm of your small constant, and how large may the loss become?"),
        edit("DPO-05", {"F.logsigmoid(margin)": "margin.sigmoid().clamp(min=1e-7).log()"}),
        edit("DPO-13 a sum instead of a mean", {".mean()": ".sum()"},
             "Your loss grows with the number of pairs.", "What happens to your loss if every pair appears twice?"),
        edit("DPO-43 the sign", {LOSS: "F.logsigmoid(margin).mean()"},
             "Your loss is negative.", "Is the logarithm of a probability above or below zero?"),
        edit("DPO-45 beta is left out", {MARGIN: "chosen - rejected"},
             "Beta changes nothing in yours.", "Which line uses beta?"),
        edit("DPO-47 beta is fixed", {MARGIN: "0.1 * (chosen - rejected)"},
             "Another beta changes nothing in yours.", "Which line uses the beta that is given?"),
        edit("DPO-49 divided by beta", {MARGIN: "(chosen - rejected) / beta"},
             "A larger beta makes your margins smaller.",
             "With a larger beta, should a small step count more or less?"),
        edit("DPO-71 beta outside", {MARGIN: "chosen - rejected", LOSS: "-beta * F.logsigmoid(margin).mean()"},
             "Beta scales your loss, not the margin.",
             "What is multiplied by beta: what goes into the sigmoid, or what comes out?"),
        edit("DPO-73 beta for the reference alone", {CHOSEN: "policy_chosen - beta * reference_chosen", REJECTED:
             "policy_rejected - beta * reference_rejected", MARGIN: "chosen - rejected"},
             "Beta scales only the reference in yours.", "Which difference is multiplied by beta?"),
        edit("DPO-75 smoothed labels", {LOSS: "-(0.9 * F.logsigmoid(margin) + 0.1 * F.logsigmoid(-margin)).mean()"},
             "Part of your loss takes the rejected answer for the better one.",
             "Does the exercise doubt which answer was chosen?"),
        edit("DPO-77 a squared distance", {LOSS: "((chosen - rejected - 1 / (2 * beta)) ** 2).mean()"},
             "Your loss is the square of a distance, and grows again when a pair is right by far.",
             "Which function turns a margin into a probability?"),
        edit("DPO-51 no logarithm", {"F.logsigmoid(margin)": "margin.sigmoid()"},
             "Your loss is a mean of probabilities.", "Which loss belongs to a probability that should be 1?"),
        edit("DPO-53 the margin itself", {"F.logsigmoid(margin)": "margin"},
             "Your loss falls without end as the margin grows.",
             "How much is left to gain when the pair is right by far?"),
        edit("DPO-55 a hinge", {LOSS: "F.relu(1 - margin).mean()"},
             "Your loss is a straight line with a bend.", "Which function turns a margin into a probability?"),
        edit("DPO-57 the mean before the loss", {LOSS: "-F.logsigmoid(margin.mean())"},
             "You take the mean of the margins, and then one loss.",
             "Can a pair that is right by far make up for one that is wrong by far?"),
        edit("DPO-59 each answer by itself", {LOSS: "-(F.logsigmoid(beta * chosen) + F.logsigmoid(-beta * "
                                              "rejected)).mean()"},
             "Your two answers have a loss each.", "What is compared here: an answer with zero, or two answers?"),
        edit("DPO-61 the policy is cut off", {MARGIN: "beta * (chosen - rejected).detach()"},
             "The values are right, but no gradient reaches the policy.", "What is to be trained?"),
        edit("DPO-63 a loss for each pair", {".mean()": ""},
             "You return a loss for each pair.", "How many numbers does an optimiser need?"),
        edit("DPO-65 another beta unless one is given", {"beta=0.1": "beta=1.0"},
             "Unless beta is given, yours is not 0.1.", "What does the signature say?"),
        edit("DPO-65", {"beta=0.1": "beta=0.5"}),
        edit("DPO-67 ratios of logarithms", {CHOSEN: CHOSEN.replace("-", "/"), REJECTED: REJECTED.replace("-", "/")},
             "You divide logarithms by each other.", "How does a ratio of two probabilities look in logarithms?"),
        edit("DPO-69 only the chosen answer", {MARGIN: "beta * chosen"},
             "Your loss does not know the rejected answer.", "What is the chosen answer compared with?"),
    ),
    combinable=("DPO-01", "DPO-03", "DPO-13", "DPO-45", "DPO-43"),
    needs={
        "far": ("You are right for ordinary numbers, and wrong for answers that lie far apart.",
                "Which step of yours gives 0 or infinity there, although the loss itself is an ordinary number?"),
        "beta": ("With the usual beta you are right; with another you are not.",
                 "Which line uses the beta that is given?"),
        "reference": ("Where the reference finds both answers equally likely you are right; elsewhere you are not.",
                      "What is taken from each answer of the policy before the two are compared?"),
        "rejected": ("Where only the chosen answer counts you are right; elsewhere you are not.",
                     "What should become of the loss when the rejected answer gets likelier?"),
        "": ("Where nothing moves but the chosen answer, your loss is already another.",
             "If all four numbers are 0, what is the loss?"),
    },
    hints=(
        "The policy finds an answer likelier than the reference does: by how much, in logarithms? That for both "
        "answers.",
        "The difference of the two, times beta, is a margin. What probability does a sigmoid make of it, and "
        "which loss "
        "has a probability that should be 1? Mind that it may be as small as exp(-1000).",
        "The shape of it: two differences, their difference, beta, one function of PyTorch that is log and "
        "sigmoid in one, "
        "a mean, a sign.",
    ),
)
