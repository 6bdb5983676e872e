"""Returns to go: at each step, the sum of the current and all later rewards."""

import torch

from autograder.schema import DTYPES, GRADIENTS, SIDE_EFFECTS, VALUES, Case, Exercise, edit, samples_apart


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


DISCOUNT, LONG = "a discount", "long episodes"


def cases(draw):
    batch, steps = draw.sizes(2, 3, 8)
    several, less = ("steps",), ("steps", "discount")
    yield _case(draw, "all sizes different", batch, steps, needs=several)
    yield Case("one reward at the end", (torch.tensor([[0.0, 0, 0, 2], [0, 0, 0, -1]]),), needs=several)
    yield Case("rewards 1, 2, 3", (torch.tensor([[1.0, 2, 3]]),), needs=several)
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
    long = {"gradients": False, "repeats": False, "slow": True, "aspect": LONG}
    # No more than 500 steps, because two nested loops are right as well and would run out of time.
    yield Case("many steps", (draw.eighths(1, 500),), needs=(*several, "long"), **long)
    for share in (0.97, 0.1):
        yield Case("many steps and a discount", (draw.normal(1, 500), share), needs=(*less, "long"), **long)


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
    aspects={VALUES: 3, DISCOUNT: 1, LONG: 1, GRADIENTS: 1, SIDE_EFFECTS: 1, DTYPES: 1},
    shapes={"rewards": "B T", "return": "B T"},
    invariants=(samples_apart("two episodes", "another second episode"),),
    mistakes=(
        edit("DT-03 the rewards so far", {BACK: "rewards.unbind(dim=1)", TURN: ""},
             "You add up this and all earlier rewards.",
             "For rewards 1, 2, 3, what is the return to go at the first step?"),
        edit("DT-03", {LAST: "rewards.cumsum(dim=1)"}),
        edit("DT-05 the whole return at every step", {LAST: "returns[0][:, None].expand_as(rewards).clone()"},
             "You give every step the return of the whole episode.",
             "For rewards 1, 2, 3, what is the return to go at the last step?"),
        edit("DT-11 turned once too seldom", {TURN: ""},
             "Your numbers are right but in reverse order.",
             "When every reward is 1, which step has the largest return to go?"),
        edit("DT-11", {BACK: "rewards.unbind(dim=1)"},
             "You add up the rewards from the first step on and then reverse the order of the sums.",
             "For rewards 1, 2, 3, what is the return to go at the last step?"),
        edit("DT-13 sums over the episodes", {LAST: "rewards.flip(0).cumsum(0).flip(0)"},
             "Your sums run over the episodes.", "Which axis of the rewards counts the time steps?"),
        edit("DT-15 this reward is left out", {"returns.append(to_come)": "returns.append(to_come - reward)"},
             "You leave out the reward of the step itself.",
             "For rewards 1, 2, 3, what is the return to go at the last step?"),
        edit("DT-17 the discount is ignored", {SUM: "reward + to_come"},
             "A discount changes nothing in your result.",
             "How much does the next reward count when the discount is one half?"),
        edit("DT-19 discounted from the start of the episode",
             {LAST: "(rewards * discount ** torch.arange(rewards.shape[1]).to(rewards)).flip(1).cumsum(1).flip(1)"},
             "You discount a reward by its position in the episode, not by its distance from the current step.",
             "Seen from step 5, how far away is the reward of step 5?"),
        edit("DT-21 this reward is discounted, too", {SUM: "discount * (reward + to_come)"},
             "You discount the reward of the step itself.", "How many steps away is a step's own reward?"),
        edit("DT-23 discounted once", {SUM: "reward + to_come", "returns.append(to_come)":
             "returns.append(reward + discount * (to_come - reward))"},
             "You discount all later rewards equally.",
             "How much does the reward after the next one count?"),
        edit("DT-25 another discount unless one is given", {"discount=1.0": "discount=0.99"},
             "Your default discount is not 1.", "Which default does the signature give?"),
        edit("DT-37 a discount of zero counts as none", {"    to_come = torch": "    discount = discount or 1.0\n"
                                                         "    to_come = torch"},
             "You treat a discount of zero as no discount.",
             "How much do later rewards count when the discount is zero?"),
        edit("DT-27 each reward with the next alone", {SUM: "reward", LAST: "torch.stack(returns, dim=1)\n    "
                                                       "return rewards + "
             "discount * torch.cat((rewards[:, 1:], torch.zeros_like(rewards[:, :1])), 1)"},
             "You add up only this reward and the next.", "Which rewards come after the next one?"),
        edit("DT-29 means instead of sums", {LAST: f"{LAST} / torch.arange(rewards.shape[1], 0, -1).to(rewards)"},
             "You divide by the number of remaining steps.",
             "Does the exercise ask for a sum or for a mean?"),
        edit("DT-31 steps are rows", {LAST: "torch.stack(returns, dim=0)"},
             "The first axis of your result counts steps.",
             "Which axis comes first in the shape that the docstring gives?"),
        edit("DT-33 a division that ends in zero by zero",
             {TURN: "    powers = discount ** torch.arange(rewards.shape[1]).to(rewards)\n",
              LAST: "(rewards * powers).flip(1).cumsum(1).flip(1) / powers"},
             "You divide by zero when there are many steps or the discount is zero.",
             "What is 0.1 to the power of 500 in float32?"),
        edit("DT-35 one return after the other", {SUM: "reward + discount * to_come.sum()"},
             "You add the later rewards of all episodes together.",
             "Which line of your code combines numbers from different episodes?"),
    ),
    needs={
        "long": ("Your answer is right for short episodes, and wrong for long ones.",
                 "Which step of your code limits how many rewards can be added up?"),
        "discount": ("Your answer is wrong only when there is a discount.",
                     "How does a step's return to go follow from that of the next step?"),
        "steps": ("Your answer is wrong only when there are several steps.",
                  "For rewards 1, 2, 3, which three returns to go should come out?"),
        "": ("Your answer is wrong even for a single step.",
             "What is the return to go at the only step of an episode?"),
    },
    hints=(
        "Take the rewards 1, 2, 3 without a discount. At the last step, 3 is still to come; at the second, 2 + 3; "
        "at the first, 1 + 2 + 3.",
        "Each return follows from the next one: this reward plus the discount times the next return. "
        "After the last step there is nothing, so start there with zero and go backwards in time.",
        "In outline: start with zero for each episode, go through the time steps from last to first, compute "
        "each return from the one that you computed just before it, collect them, and stack them along the "
        "time axis in the right order.",
    ),
)
