"""Three sequences interleaved into one: return, state and action of step 0, then of step 1, and so on."""

import torch

from autograder.schema import DTYPES, GRADIENTS, SIDE_EFFECTS, VALUES, Case, Exercise, edit


def interleave(returns, states, actions):
    steps = torch.stack((returns, states, actions), dim=2)
    return steps.flatten(1, 2)


def reference(returns, states, actions):
    tokens = [part[:, step] for step in range(returns.shape[1]) for part in (returns, states, actions)]
    return torch.stack(tokens, dim=1)


def cases(draw):
    batch, steps, width = draw.sizes(3, 4, 7)
    several = ("steps",)
    yield _case(draw, "all sizes different", batch, steps, width, needs=several)
    yield _case(draw, "one episode", 1, 5, 4, needs=several)
    yield _case(draw, "one feature", 2, 4, 1, needs=several)
    yield _case(draw, "two steps", 3, 2, 5, needs=several)
    yield _case(draw, "three of everything", 3, 3, 3, needs=several)
    yield _case(draw, "one step", 2, 1, 4)
    yield _case(draw, "one of everything", 1, 1, 1)
    yield _case(draw, "a long episode", 1, 300, 2, gradients=False, repeats=False, needs=several)
    same = draw.normal(2, 4, 3)
    yield Case("three times the same", (same, same.clone(), same.clone()), gradients=False, needs=several)
    whole = tuple(draw.integers(-9, 9, 2, 3, 4) for _ in range(3))
    yield Case("whole numbers", whole, gradients=False, aspect=DTYPES, needs=several)


def _case(draw, family, batch, steps, width, **more):
    return Case(family, tuple(draw.normal(batch, steps, width) for _ in range(3)), **more)


STACK, LAST = "torch.stack((returns, states, actions), dim=2)", "steps.flatten(1, 2)"

EXERCISE = Exercise(
    number=2, minutes=6, difficulty=1,
    worked=interleave,
    reference=reference,
    cases=cases,
    standard=("float64", "transposed", "by name"),
    aspects={VALUES: 3, GRADIENTS: 1, SIDE_EFFECTS: 1, DTYPES: 1},
    shapes={"returns": "B T D", "states": "B T D", "actions": "B T D", "return": "B 3T D"},
    mistakes=(
        edit("DT-01 one kind after the other", {LAST: "torch.cat((returns, states, actions), dim=1)"},
             "You put all returns first, then all states, then all actions.",
             "Which tokens should be next to the state of step 3?"),
        edit("DT-41 state before return", {STACK: "torch.stack((states, returns, actions), dim=2)"},
             "Each of your steps starts with its state.", "Which of the three comes first in a step?"),
        edit("DT-43 action before state", {STACK: "torch.stack((returns, actions, states), dim=2)"},
             "In each of your steps the action comes before the state.",
             "May the model see the action before it chooses it?"),
        edit("DT-43", {STACK: "torch.stack((actions, returns, states), dim=2)"}),
        edit("DT-43", {STACK: "torch.stack((actions, states, returns), dim=2)"}),
        edit("DT-45 features of one step are mixed", {STACK: "torch.stack((returns, states, actions), dim=3)",
             LAST: "steps.reshape(len(returns), -1, returns.shape[2])"},
             "You mix the features of return, state and action within a token.",
             "Do all the features of the first state stay together?"),
        edit("DT-47 side by side", {LAST: "torch.cat((returns, states, actions), dim=2)"},
             "You make one wide token of each step.", "How many tokens should a step become?"),
        edit("DT-49 an axis is left", {LAST: "steps"},
             "Your result still has an axis of size 3 for return, state and action.",
             "Which two axes should be merged?"),
        edit("DT-51 samples are dealt out, too", {STACK: "torch.stack((returns, states, actions), dim=0)",
             LAST: "steps.transpose(0, 2).reshape(len(returns), -1, returns.shape[2])"},
             "You mix time steps from different episodes.",
             "Which line of your code combines numbers from different episodes?"),
        edit("DT-51", {STACK: "torch.stack((returns, states, actions), dim=0)",
             LAST: "steps.reshape(len(returns), -1, returns.shape[2])"}),
        edit("DT-51", {STACK: "torch.stack((returns, states, actions), dim=1)",
             LAST: "steps.transpose(0, 2).reshape(len(returns), -1, returns.shape[2])"}),
        edit("an axis recognised by its size", {STACK: "torch.stack((returns, states, actions), dim=1)",
             LAST: "(steps.transpose(1, 2) if steps.shape[2] != 3 else steps).flatten(1, 2)"},
             "When there are three steps, you swap the steps and the three kinds of token.",
             "Does the size of an axis say what it stands for?"),
        edit("DT-53 the actions are left out", {STACK: "torch.stack((returns, states), dim=2)"},
             "Your steps have two tokens.", "Which of return, state and action is missing?"),
        edit("DT-55 added up", {LAST: "returns + states + actions"},
             "You add up the return, the state and the action of each step.",
             "How many tokens should a step become?"),
        edit("DT-57 one step off", {STACK: "torch.stack((returns, states, actions.roll(1, 1)), dim=2)"},
             "You put the action of the previous step next to each state.",
             "Which action belongs to step 0?"),
        edit("DT-59 steps backwards", {LAST: "steps.flip(1).flatten(1, 2)"},
             "Your steps are in reverse order.", "Which token should be the first of the sequence?"),
    ),
    needs={
        "steps": ("Your answer is wrong only when there are several steps.",
                  "Which token should be the fourth: which kind, and of which step?"),
        "": ("Your answer is wrong even for a single step.",
             "In which order do return, state and action come?"),
    },
    hints=(
        "Write down the six tokens of two steps: return, state and action of step 0, then return, state "
        "and action of step 1.",
        "Make a new axis for the three kinds with torch.stack, then merge it with the step axis. When two "
        "axes are merged, the second of them changes faster, so the kind must come second.",
        "In outline: stack the three along a new axis after the steps, which gives (B, T, 3, D), and "
        "flatten the step axis and the new one into a single axis.",
    ),
)
