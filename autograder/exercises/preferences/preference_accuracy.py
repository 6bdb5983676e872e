"""How often a policy prefers what people preferred, by the reward that is implicit in it."""

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
    # The reference is surer than the policy: what is likelier has gained less.
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
    """Margins that are no ties: small beside the log-probabilities, and so small that exp and sigmoid of them are 1 and
    one half. Every sum and difference is exact in float32."""
    signs = torch.tensor([1.0, -1.0, 1.0, 1.0, -1.0])
    for family, size, margin in (("close beside large numbers", 2.0**13, 2.0**-8),
                                 ("close to zero and to each other", 2.0**-10, 2.0**-30)):
        low = torch.full((5,), -size)
        yield _case(family, (low + signs.clamp(max=0) * margin, low - signs.clamp(min=0) * margin, low, low.clone()),
                    needs=("close",))


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
             "A tie counts as a preference in yours.", "Which answer does a policy prefer that has not moved at all?"),
        edit("DPO-83 half a point for a tie", {LAST: "((chosen > rejected).double() + 0.5 * (chosen == "
                                               "rejected)).mean().item()"},
             "A tie counts one half in yours.", "What does the exercise say of a tie?"),
        edit("DPO-85 ties are left out", {LAST: "(chosen > rejected).sum().item() / max((chosen != "
                                          "rejected).sum().item(), 1)"},
             "Your share is one of the pairs without ties.", "How many pairs are there?"),
        edit("DPO-87 no reference", {CHOSEN: "policy_chosen", REJECTED: "policy_rejected"},
             "You count how often the chosen answer is likelier, whatever the reference finds.",
             "What is the reward that is implicit in a policy: a probability, or how much it has grown?"),
        edit("DPO-89 chosen and rejected exchanged", {RIGHT: "chosen < rejected"},
             "You count the pairs that go wrong.", "Which answer should have the greater reward?"),
        edit("DPO-91 a number of pairs", {".mean().item()": ".sum().item()"},
             "You count instead of giving a share.", "What is the result if all pairs are right?"),
        edit("DPO-93 in percent", {LAST: "100 * (chosen > rejected).double().mean().item()"},
             "Your share is given in percent.", "What is the result if all pairs are right?"),
        edit("DPO-95 a tensor", {".item()": ""},
             "You return a tensor instead of a float.", "What kind of number did the signature promise?"),
        edit("DPO-95", {LAST: "(chosen > rejected).float().mean()"}),
        edit("DPO-97 the mean reward of all", {LAST: "float(chosen.mean() > rejected.mean())"},
             "You compare the means of all pairs.", "How many pairs are there, and is each right or wrong by itself?"),
        edit("DPO-99 the reference counts the other way", {CHOSEN: CHOSEN.replace("-", "+"), REJECTED:
             REJECTED.replace("-", "+")},
             "An answer that the reference likes has more reward in yours.",
             "If the reference already preferred an answer, has the policy gained more or less?"),
        edit("DPO-101 gained at all", {RIGHT: "chosen > 0"},
             "You count the chosen answers that have gained at all.", "What is each chosen answer compared with?"),
        edit("DPO-117 gained and lost", {RIGHT: "(chosen > 0) & (rejected < 0)"},
             "A pair counts in yours only if one answer has gained and the other has lost.",
             "Can both answers have gained, and one of them more?"),
        edit("DPO-103 the mean probability", {LAST: "torch.sigmoid(0.1 * (chosen - rejected)).double().mean().item()"},
             "You average probabilities.", "Is a pair right or wrong, or something between?"),
        edit("DPO-105 the margin", {LAST: "(chosen - rejected).double().mean().item()"},
             "You average margins.", "Is a pair right or wrong, or something between?"),
        edit("DPO-107 the reference against the policy", {CHOSEN: "reference_chosen", REJECTED: "reference_rejected"},
             "You count how often the reference prefers the chosen answer.", "Whose preference is measured?"),
        edit("DPO-109 divided by one less", {LAST: "(chosen > rejected).sum().item() / max(len(chosen) - 1, 1)"},
             "You divide by one pair less than there are.", "What is the result if all pairs are right?"),
        edit("DPO-111 right pairs minus wrong ones", {LAST: "torch.sign(chosen - rejected).double().mean().item()"},
             "A wrong pair takes away from your result.", "What is the result if all pairs are wrong?"),
        edit("DPO-111", {LAST: "2 * (chosen > rejected).double().mean().item() - 1"}),
        edit("DPO-113 a margin is asked for", {RIGHT: "chosen > rejected + 1"},
             "A pair counts in yours only if it is right by some margin.", "How much greater must the reward be?"),
        edit("DPO-113", {RIGHT: "chosen > rejected + 0.1"}),
        edit("DPO-115 one right pair is enough", {LAST: "float((chosen > rejected).any())"},
             "One right pair is enough for your result to be 1.", "Which share of the pairs is right?"),
    ),
    combinable=(),
    needs={
        "ties": ("You are right, but for ties.", "What is said of two answers that have gained equally?"),
        "close": ("You are right, but for margins that are small and no ties.",
                  "When are two gains equal: if they are close, or if nothing is between them?"),
        "reference": ("Where the reference is undecided you are right; elsewhere you are not.",
                      "What does the reward of an answer measure: how likely it is, or how much likelier it has "
                      "become?"),
        "": ("Where the reference is undecided, your share is already another.",
             "For two pairs, one right and one wrong, which number should come out?"),
    },
    hints=(
        "The reward that is implicit in a policy is how much likelier it finds an answer than the reference does.",
        "A pair is right or it is not. What about one in which both answers have gained equally?",
        "The shape of it: two differences, one comparison, a mean of ones and zeros, a plain float.",
    ),
)
