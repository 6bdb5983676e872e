"""The share of pairs in which a policy's implicit reward is higher for the answer that people preferred."""

import torch

from autograder.exercises._shared.preferences import compared
from autograder.schema import SIDE_EFFECTS, VALUES, Case, Exercise, edit


def preference_accuracy(policy_chosen, policy_rejected, reference_chosen, reference_rejected):
    chosen = policy_chosen - reference_chosen
    rejected = policy_rejected - reference_rejected
    return (chosen > rejected).double().mean().item()


def reference(policy_chosen, policy_rejected, reference_chosen, reference_rejected):
    pairs = zip(policy_chosen, policy_rejected, reference_chosen, reference_rejected, strict=True)
    right = [float(pc - rc) > float(pr - rr) for pc, pr, rc, rr in pairs]
    return right.count(True) / len(right)


TIES = "ties"


def cases(draw):
    reference = ("reference",)
    for size, family in zip(draw.sizes(3, 5, 11), ("all numbers different", "another batch", "a third batch"),
                            strict=True):
        yield _case(family, compared(draw, size), needs=reference)
    yield _case("many pairs", compared(draw, 500, 0.125), needs=reference)
    policy_chosen, policy_rejected, before, _ = compared(draw, 7)
    yield _case("a reference that is undecided", (policy_chosen, policy_rejected, before, before.clone()))
    # The reference is surer than the policy, so that the likelier answer has gained less.
    sure = torch.arange(1.0, 6)
    yield _case("likelier, but less than before", (sure, 0 * sure, 2 * sure - 4, 0 * sure), needs=reference)
    yield _case("far apart", compared(draw, 9, 4000.0), needs=reference)
    yield from _close_margins()
    one = torch.tensor([0.0]), torch.tensor([1.0])
    yield _case("one pair, right", (one[1], one[0], one[0], one[0]))
    yield _case("one pair, wrong", (one[0], one[1], one[0], one[0]))
    tie = {"aspect": TIES, "needs": (*reference, "ties")}
    yield _case("the policy is still the reference", 2 * compared(draw, 4)[:2], **tie)
    policy_chosen, policy_rejected, before, _ = compared(draw, 9)
    gains = torch.tensor([0.0, 1, -1] * 3)
    yield _case("every third pair a tie", (policy_chosen, policy_rejected, policy_chosen - before - gains,
                                           policy_rejected - before), **tie)


def _close_margins():
    """Yield cases with small margins, none of them zero: some are small compared with the log-probabilities,
    and some are so small that exp(margin) rounds to 1 and sigmoid(margin) to 0.5. Every sum and difference is
    exact in the dtype of the case.
    """
    signs = torch.tensor([1.0, -1.0, 1.0, 1.0, -1.0])
    for family, size, margin in (("close beside large numbers", 2.0**13, 2.0**-8),
                                 ("close to zero and to each other", 2.0**-10, 2.0**-30)):
        low = torch.full((5,), -size)
        yield _case(family, (low + signs.clamp(max=0) * margin, low - signs.clamp(min=0) * margin, low, low.clone()),
                    needs=("close",))
    low, margin = torch.full((5,), -1.0, dtype=torch.float64), 2.0**-40
    args = low + signs.clamp(max=0) * margin, low - signs.clamp(min=0) * margin, low, low.clone()
    yield _case("margins that float32 cannot hold", args, aspect=TIES, needs=("close",))


def _case(family, args, **more):
    return Case(family, args, gradients=False, **more)


CHOSEN, REJECTED = "policy_chosen - reference_chosen", "policy_rejected - reference_rejected"
RIGHT, LAST = "chosen > rejected", "(chosen > rejected).double().mean().item()"

EXERCISE = Exercise(
    number=3, minutes=5, difficulty=1,
    worked=preference_accuracy,
    reference=reference,
    cases=cases,
    standard=("float64", "by name"),
    aspects={VALUES: 1, TIES: 1, SIDE_EFFECTS: 1},
    shapes=dict.fromkeys(("policy_chosen", "policy_rejected", "reference_chosen", "reference_rejected"), "B"),
    mistakes=(
        edit("DPO-81 a tie counts", {RIGHT: "chosen >= rejected"},
             "You count a tie as a preference.", "Is a number greater than itself?"),
        edit("DPO-83 half a point for a tie", {LAST: "((chosen > rejected).double() + 0.5 * (chosen == "
                                               "rejected)).mean().item()"},
             "You count a tie as one half.", "Is a tie a preference according to the docstring?"),
        edit("DPO-85 ties are left out", {LAST: "(chosen > rejected).sum().item() / max((chosen != "
                                          "rejected).sum().item(), 1)"},
             "You leave ties out of the number that you divide by.", "How many pairs are there in all?"),
        edit("DPO-87 no reference", {CHOSEN: "policy_chosen", REJECTED: "policy_rejected"},
             "You count how often the chosen answer is more likely, whatever the reference says.",
             "Does the implicit reward measure how likely an answer is, or how much likelier it has become?"),
        edit("DPO-89 chosen and rejected exchanged", {RIGHT: "chosen < rejected"},
             "You count the pairs in which the rejected answer has the greater reward.",
             "Which answer should have the greater reward?"),
        edit("DPO-91 a number of pairs", {".mean().item()": ".sum().item()"},
             "You return a number of pairs instead of a share.",
             "What is the result when all pairs are right?"),
        edit("DPO-93 in percent", {LAST: "100 * (chosen > rejected).double().mean().item()"},
             "You return a percentage.", "What is the result when all pairs are right?"),
        edit("DPO-95 a tensor", {".item()": ""},
             "You return a tensor instead of a float.", "Which type does the docstring ask for?"),
        edit("DPO-95", {LAST: "(chosen > rejected).float().mean()"}),
        edit("DPO-97 the mean reward of all", {LAST: "float(chosen.mean() > rejected.mean())"},
             ("You compare the mean reward of all chosen answers with that "
              "of all rejected ones."), "Is each pair right or wrong by itself?"),
        edit("DPO-99 the reference counts the other way", {CHOSEN: CHOSEN.replace("-", "+"), REJECTED:
             REJECTED.replace("-", "+")},
             "The likelier an answer is under the reference, the larger is the reward that you give it.",
             "Do you add or subtract the reference?"),
        edit("DPO-101 gained at all", {RIGHT: "chosen > 0"},
             "You count the chosen answers whose probability has grown at all.",
             "What should the chosen answer's reward be compared with?"),
        edit("DPO-117 gained and lost", {RIGHT: "(chosen > 0) & (rejected < 0)"},
             "You count a pair only if the chosen answer has become more likely and the rejected one less "
             "likely.",
             "Is a pair right when both answers have become more likely, the chosen one by more?"),
        edit("DPO-103 the mean probability", {LAST: "torch.sigmoid(0.1 * (chosen - rejected)).double().mean().item()"},
             "You average probabilities.", "Can a pair be partly right?"),
        edit("DPO-105 the margin", {LAST: "(chosen - rejected).double().mean().item()"},
             "You average margins.", "Can a pair be partly right?"),
        edit("DPO-107 the reference against the policy", {CHOSEN: "reference_chosen", REJECTED: "reference_rejected"},
             "You count how often the reference prefers the chosen answer.",
             "Which model's preference is measured?"),
        edit("DPO-109 divided by one less", {LAST: "(chosen > rejected).sum().item() / max(len(chosen) - 1, 1)"},
             "You divide by one less than the number of pairs.",
             "What is the result when all pairs are right?"),
        edit("DPO-111 right pairs minus wrong ones", {LAST: "torch.sign(chosen - rejected).double().mean().item()"},
             "You subtract the wrong pairs from the right ones.",
             "What is the result when all pairs are wrong?"),
        edit("DPO-111", {LAST: "2 * (chosen > rejected).double().mean().item() - 1"}),
        edit("DPO-113 a margin is asked for", {RIGHT: "chosen > rejected + 1"},
             "You count a pair only if it is right by a certain margin.",
             "By how much must the reward of the chosen answer be greater?"),
        edit("DPO-113", {RIGHT: "chosen > rejected + 0.1"}),
        edit("DPO-115 one right pair is enough", {LAST: "float((chosen > rejected).any())"},
             "You return 1 as soon as one pair is right.", "What should come out when one of four pairs is right?"),
    ),
    needs={
        "ties": ("Your answer is wrong only when there are ties.", "Is a number greater than itself?"),
        "close": ("Your answer is wrong only where the margin is small but not zero.",
                  "Is a small margin a tie?"),
        "reference": ("Your answer is wrong only where the reference prefers one of the answers.",
                      "Does the implicit reward measure how likely an answer is, or how much likelier it has become?"),
        "": ("Even where the reference has no preference, your share is wrong.",
             "What should come out for two pairs, one right and one wrong?"),
    },
    hints=(
        "The implicit reward of an answer is how much more likely the policy finds it than the reference "
        "does: the difference of the two log-probabilities.",
        "A pair is right only if the reward of the chosen answer is strictly greater; a tie does not "
        "count. Comparing two tensors gives True or False for each pair.",
        "In outline: compute the two differences between policy and reference, test for each pair whether the "
        "chosen answer's is greater, convert the Booleans to numbers, take the mean, and turn it into a float.",
    ),
)
