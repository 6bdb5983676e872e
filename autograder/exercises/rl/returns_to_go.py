"""What is still to come: at each step the sum of this and all later rewards."""

import torch

from autograder.schema import DTYPES, GRADIENTS, SIDE_EFFECTS, STABILITY, VALUES, Case, Exercise, edit, samples_apart


def returns_to_go(rewards, discount=1.0):
    to_come = torch.zeros_like(rewards[:, 0])
    returns = []
    for reward in reversed(rewards.unbind(dim=1)):
        to_come = reward + discount * to_come
        returns.append(to_come)
    returns.reverse()
    return torch.stack(returns, dim=1)


def reference(rewards, discount=1.0):
    steps = torch.arange(rewards.shape[1])
    later = steps[:, None] - steps[None, :]
    weights = torch.where(later >= 0, float(discount) ** later.clamp(min=0).to(rewards), 0.0)
    return rewards @ weights


DISCOUNT = "a discount"


def cases(draw):
    batch, steps = draw.sizes(2, 3, 8)
    several, less = ("steps",), ("steps", "discount")
    yield _case(draw, "all sizes different", batch, steps, needs=several)
    yield Case("one reward at the end", (torch.tensor([[0.0, 0, 0, 2], [0, 0, 0, -1]]),), needs=several)
    yield Case("one, two, three", (torch.tensor([[1.0, 2, 3]]),), needs=several)
    yield _case(draw, "as many episodes as steps", 4, 4, needs=several)
    yield _case(draw, "one step", 3, 1)
    yield _case(draw, "one of everything", 1, 1)
    first = _case(draw, "two episodes", 2, 5, needs=several)
    yield first
    yield Case("another second episode", (torch.cat((first.args[0][:1], draw.normal(1, 5))),), gradients=False,
               needs=several)
    for share in (0.9, 0.5):
        yield _case(draw, DISCOUNT, batch, steps, share, aspect=DISCOUNT, needs=less)
    yield _case(draw, "discount by name", 2, 5, by_name=0.75, aspect=DISCOUNT, needs=less)
    yield _case(draw, "a discount of zero", 2, 4, 0.0, aspect=DISCOUNT, needs=less)
    yield _case(draw, "a discount of one", 2, 4, 1.0, needs=several)
    long = {"gradients": False, "repeats": False, "slow": True, "aspect": STABILITY}
    # Not the thousand of the contract: two loops within each other, which are right, would run out of time.
    yield Case("many steps", (draw.eighths(1, 500),), needs=several, **long)
    for share in (0.97, 0.1):
        yield Case("many steps and a discount", (draw.normal(1, 500), share), needs=less, **long)


def _case(draw, family, batch, steps, *discount, by_name=None, **more):
    kwargs = {} if by_name is None else {"discount": by_name}
    return Case(family, (draw.normal(batch, steps), *discount), kwargs, **more)


SUM, BACK, START = "reward + discount * to_come", "reversed(rewards.unbind(dim=1))", "torch.zeros_like(rewards[:, 0])"
TURN, LAST = "    returns.reverse()\n", "torch.stack(returns, dim=1)"

EXERCISE = Exercise(
    number=1, minutes=8, difficulty=1,
    worked=returns_to_go,
    reference=reference,
    cases=cases,
    standard=("float64", "transposed", "by name"),
    aspects={VALUES: 3, DISCOUNT: 1, STABILITY: 1, GRADIENTS: 1, SIDE_EFFECTS: 1, DTYPES: 1},
    shapes={"rewards": "B T", "return": "B T"},
    invariants=(samples_apart("two episodes", "another second episode"),),
    mistakes=(
        edit("DT-03 the rewards so far", {BACK: "rewards.unbind(dim=1)", TURN: ""},
             "Your sums run over this and all earlier rewards.",
             "For rewards 1, 2, 3: what is still to come at the first step?"),
        edit("DT-03", {LAST: "rewards.cumsum(dim=1)"}),
        edit("DT-05 the whole return at every step", {LAST: "returns[0][:, None].expand_as(rewards).clone()"},
             "Every step has the return of the whole episode in yours.",
             "For rewards 1, 2, 3: what is still to come at the last step?"),
        edit("DT-11 turned once too seldom", {TURN: ""},
             "Your numbers are right, and stand in the opposite order.",
             "At which step is the most still to come, if every reward is 1?"),
        edit("DT-11", {BACK: "rewards.unbind(dim=1)"}),
        edit("DT-13 sums over the episodes", {LAST: "rewards.flip(0).cumsum(0).flip(0)"},
             "Your sums run from episode to episode.", "Which axis of the rewards is time?"),
        edit("DT-15 this reward is left out", {"returns.append(to_come)": "returns.append(to_come - reward)"},
             "The reward of the step itself is missing in yours.",
             "For rewards 1, 2, 3: what is still to come at the last step, before its reward?"),
        edit("DT-17 the discount is ignored", {SUM: "reward + to_come"},
             "A discount changes nothing in yours.",
             "How much does the next reward count if the discount is one half?"),
        edit("DT-19 discounted from the start of the episode",
             {LAST: "(rewards * discount ** torch.arange(rewards.shape[1]).to(rewards)).flip(1).cumsum(1).flip(1)"},
             "A reward is discounted by its place in the episode in yours, not by how far away it is.",
             "Seen from step 5, how far away is the reward of step 5?"),
        edit("DT-21 this reward is discounted, too", {SUM: "discount * (reward + to_come)"},
             "The reward of the step itself is discounted in yours.", "How far away is the reward of this very step?"),
        edit("DT-23 discounted once", {SUM: "reward + to_come", "returns.append(to_come)":
             "returns.append(reward + discount * (to_come - reward))"},
             "All later rewards have the same discount in yours.",
             "How much does the reward after the next one count?"),
        edit("DT-25 another discount unless one is given", {"discount=1.0": "discount=0.99"},
             "Unless a discount is given, yours is not 1.", "What does the signature say?"),
        edit("DT-37 a discount of zero counts as none", {"    to_come = torch": "    discount = discount or 1.0\n"
                                                         "    to_come = torch"},
             "With a discount of zero your sums are those of no discount.",
             "If the discount is zero, how much do later rewards count?"),
        edit("DT-27 each reward with the next alone", {SUM: "reward", LAST: "torch.stack(returns, dim=1)\n    "
                                                       "return rewards + "
             "discount * torch.cat((rewards[:, 1:], torch.zeros_like(rewards[:, :1])), 1)"},
             "Your sums end after the next reward.", "Which rewards come after the next one?"),
        edit("DT-29 means instead of sums", {LAST: f"{LAST} / torch.arange(rewards.shape[1], 0, -1).to(rewards)"},
             "You divide by the number of steps to come.", "Does the exercise ask for a sum or for a mean?"),
        edit("DT-31 steps are rows", {LAST: "torch.stack(returns, dim=0)"},
             "Your first axis counts steps.", "Which axis comes first in this course?"),
        edit("DT-33 a division that ends in zero by zero",
             {TURN: "    powers = discount ** torch.arange(rewards.shape[1]).to(rewards)\n",
              LAST: "(rewards * powers).flip(1).cumsum(1).flip(1) / powers"},
             "Right for a few steps; after many, or with a discount of zero, you divide by zero.",
             "How large is one tenth to the power of a thousand?"),
        edit("DT-35 one return after the other", {SUM: "reward + discount * to_come.sum()"},
             "Every episode goes on with what is to come in all episodes together.",
             "In which step do numbers of two episodes meet?"),
    ),
    combinable=("DT-03", "DT-15", "DT-21", "DT-31"),
    needs={
        "discount": ("Without a discount you are right; with one you are not.",
                     "From one step to the next, what becomes of all that is still to come?"),
        "steps": ("With a single step you are right; with several you are not.",
                  "For rewards 1, 2, 3: which three numbers should come out?"),
        "": ("With a single step your result is already another.",
             "What is still to come before the only reward of an episode?"),
    },
    hints=(
        "Rewards 1, 2, 3. What is still to come before the first step, before the second, before the last?",
        "Every entry follows from the one after it. So at which end is it easiest to begin?",
        "The shape of it: from the last step backwards, one running number for each episode, kept at every step.",
    ),
)
