"""Three sequences made one: return, state and action of step 0, then of step 1, and so on."""

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
             "All your returns come first, then all states, then all actions.",
             "What should stand next to the state of step 3?"),
        edit("DT-41 state before return", {STACK: "torch.stack((states, returns, actions), dim=2)"},
             "Each of your steps begins with its state.", "What is the model told before it sees the state?"),
        edit("DT-43 action before state", {STACK: "torch.stack((returns, actions, states), dim=2)"},
             "In each of your steps the action comes before the state.",
             "May the model see the action before it has to choose it?"),
        edit("DT-43", {STACK: "torch.stack((actions, returns, states), dim=2)"}),
        edit("DT-43", {STACK: "torch.stack((actions, states, returns), dim=2)"}),
        edit("DT-45 features of one step are mixed", {STACK: "torch.stack((returns, states, actions), dim=3)",
             LAST: "steps.reshape(len(returns), -1, returns.shape[2])"},
             "Each of your tokens has features of all three.",
             "Follow the first state: do all its numbers stay together?"),
        edit("DT-47 side by side", {LAST: "torch.cat((returns, states, actions), dim=2)"},
             "Each of your steps is one wide token.", "How many tokens should a step become?"),
        edit("DT-49 an axis is left", {LAST: "steps"},
             "Your three kinds have their own axis.", "Which two axes become one, and in which order?"),
        edit("DT-51 samples are dealt out, too", {STACK: "torch.stack((returns, states, actions), dim=0)",
             LAST: "steps.transpose(0, 2).reshape(len(returns), -1, returns.shape[2])"},
             "Your steps of different episodes are mixed.", "In which step do numbers of two episodes meet?"),
        edit("DT-51", {STACK: "torch.stack((returns, states, actions), dim=0)",
             LAST: "steps.reshape(len(returns), -1, returns.shape[2])"}),
        edit("DT-51", {STACK: "torch.stack((returns, states, actions), dim=1)",
             LAST: "steps.transpose(0, 2).reshape(len(returns), -1, returns.shape[2])"}),
        edit("DT-53 the actions are left out", {STACK: "torch.stack((returns, states), dim=2)"},
             "Your steps have two tokens.", "What did the model do in each step?"),
        edit("DT-55 added up", {LAST: "returns + states + actions"},
             "Each of your steps is the sum of its three.", "How many tokens should a step become?"),
        edit("DT-57 one step off", {STACK: "torch.stack((returns, states, actions.roll(1, 1)), dim=2)"},
             "Beside each state stands the action of the step before.", "Which action belongs to step 0?"),
        edit("DT-59 steps backwards", {LAST: "steps.flip(1).flatten(1, 2)"},
             "Your last step comes first.", "Which token is the first of the sequence?"),
    ),
    combinable=(),
    needs={
        "steps": ("With one step you are right; with several you are not.",
                  "Which token comes fourth: what kind, and of which step?"),
        "": ("With one step, your three tokens are already wrong.", "In which order do return, state and "
             "action come?"),
    },
    hints=(
        "Write down the tokens of two steps in a row: six of them. Which kind, and of which step, is each?",
        "Two axes will become one: steps and kinds. The one on the right runs faster. Which is that?",
        "The shape of it: pile the three up along a new axis after the steps, (B, T, 3, D), and join two axes.",
    ),
)
