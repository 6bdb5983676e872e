"""A forecast of several steps, in which each predicted value is fed back as if it had happened."""

import torch

from autograder.schema import (
    DTYPES, SIDE_EFFECTS, VALUES, Call, Case, Exercise, Given, Kept, Module, edit, samples_apart,
)


def forecast(model, history, steps):
    window, values = history, []
    with torch.no_grad():
        for _ in range(steps):
            value = model(window)
            values.append(value)
            window = torch.cat((window[:, 1:], value[:, None]), dim=1)
    return torch.stack(values, dim=1)


def reference(model, history, steps):
    known, width = history.detach(), history.shape[1]
    for step in range(steps):
        with torch.no_grad():
            known = torch.column_stack((known, model(known[:, step : step + width])))
    return known[:, width:]


# The older a value, the less it counts; a longer window has more values that count.
MODEL = """
def model(window):
    ages = torch.arange(window.shape[1] - 1, -1, -1).to(window)
    return torch.tanh(window @ (scale.to(window) * (-0.3 * ages).exp() * torch.cos(ages + 1))) + 0.1 * window[:, -1]
"""
LAYER = """
class Last(nn.Module):
    def __init__(self, length):
        super().__init__()
        self.layer = nn.Linear(length, 1)

    def forward(self, window):
        return self.layer(window)[:, 0]
"""
LOOK = """
def look(answer, model, history, steps):
    \"\"\"Whether gradients are kept, and which mode is left, in either mode.\"\"\"
    seen = {}
    for on in (True, False):
        with torch.set_grad_enabled(on):
            made = answer(model, history.clone().requires_grad_(), steps)
            seen[f"gradients {on}"] = [made.requires_grad, torch.is_grad_enabled()]
    return seen
"""
PLAIN = "no gradient, and no mode left behind"


def cases(draw):
    batch, length, steps = draw.sizes(3, 3, 7)
    several = ("fed back",)
    yield _case(draw, "all sizes different", batch, length, steps, needs=several)
    yield _case(draw, "one step", 3, 5, 1)
    yield _case(draw, "two steps", 2, 4, 2, needs=several)
    yield _case(draw, "more steps than the window is long", 2, 3, 8, needs=several)
    yield _case(draw, "a window of one value", 3, 1, 4, needs=several)
    yield _case(draw, "four of everything", 4, 4, 4, needs=several, float64=True)
    yield _case(draw, "one sample, one value, one step", 1, 1, 1)
    yield _case(draw, "many steps", 2, 5, 150, repeats=False, slow=True, needs=several)
    first = _case(draw, "two samples", 2, 4, 3, needs=several)
    yield first
    model, history, steps = first.args
    other = torch.cat((history[:1], draw.normal(1, 4)))
    yield Case("another second sample", (model, other, steps), gradients=False, needs=several)
    layer = Module("Last", {"length": 4}, {"layer.weight": draw.normal(1, 4), "layer.bias": draw.normal(1)}, LAYER)
    yield Case("a module as the model", (layer, draw.normal(3, 4), 3), gradients=False, needs=several)
    given = {"model": layer, "history": draw.normal(2, 4), "steps": 3, "look": Given("look", LOOK)}
    script = (Call(tuple(map(Kept, ("answer", "model", "history", "steps"))), to="look", keep="seen"),)
    yield Case(PLAIN, (), given, script=script, gradients=False, aspect=PLAIN, repeats=False)


def _case(draw, family, batch, length, steps, **more):
    model = Given("model", MODEL, {"scale": 1.0 + draw.normal(1).abs()})
    return Case(family, (model, draw.normal(batch, length), steps), gradients=False, **more)


NEXT, LAST = "torch.cat((window[:, 1:], value[:, None]), dim=1)", "torch.stack(values, dim=1)"
QUIET, START = "with torch.no_grad():", "window, values = history, []"

EXERCISE = Exercise(
    number=6, minutes=12, difficulty=2,
    worked=forecast,
    reference=reference,
    cases=cases,
    standard=("float64", "transposed", "by name"),
    aspects={VALUES: 4, PLAIN: 1, SIDE_EFFECTS: 1, DTYPES: 1},
    shapes={"history": "B N", "return": "B T"},
    invariants=(samples_apart("two samples", "another second sample"),),
    mistakes=(
        edit("SER-81 the window grows", {NEXT: "torch.cat((window, value[:, None]), dim=1)"},
             "Your window grows with every step.",
             "How many values should the model read at the third step?"),
        edit("SER-83 nothing is fed back", {NEXT: "history"},
             "All your steps give the same forecast.", "What should the model read at the second step?"),
        edit("SER-85 the new value comes first", {NEXT: "torch.cat((value[:, None], window[:, 1:]), dim=1)"},
             "You put the new value at the beginning of the window.",
             "Is the newest value at the beginning or at the end of a window?"),
        edit("SER-85", {NEXT: "torch.cat((value[:, None], window[:, :-1]), dim=1)"}),
        edit("SER-87 the newest value is dropped", {NEXT: "torch.cat((window[:, :-1], value[:, None]), dim=1)"},
             "You drop the newest value of the window.",
             "Which value should leave the window?"),
        edit("SER-89 gradients are kept", {QUIET: "if True:"},
             "Your forecast is still attached to the autograd graph.",
             "Does the exercise ask for a result with gradients?"),
        edit("SER-89", {QUIET: "with torch.enable_grad():"}),
        edit("SER-91 gradients stay off", {QUIET: "torch.set_grad_enabled(False)\n    if True:"},
             "After your call, gradients stay switched off everywhere.",
             "How can you switch gradients off for a few lines only?"),
        edit("SER-91", {QUIET: "torch.set_grad_enabled(False)\n    if True:", "    return":
             "    torch.set_grad_enabled(True)\n    return"},
             "After your call, gradients are switched on even if they were off before.",
             "How can you switch gradients off for a few lines only?"),
        edit("SER-93 steps come first", {LAST: "torch.stack(values, dim=0)"},
             "The first axis of your result counts steps.",
             "In the shape that the docstring gives, which axis comes first?"),
        edit("SER-95 the history comes back, too", {LAST: "torch.cat((history, torch.stack(values, dim=1)), dim=1)"},
             "Your result starts with the history.", "Which values does the caller not know yet?"),
        edit("SER-95", {LAST: "torch.cat((history, torch.stack(values, dim=1)), dim=1)[:, -history.shape[1]:]"},
             "You return the last window.", "How many values did the caller ask for?"),
        edit("SER-97 one step too few", {"range(steps)": "range(max(steps - 1, 1))"},
             "Your last step is missing.", "How many times should the model be called?"),
        edit("SER-99 one step too many", {"range(steps)": "range(steps + 1)"},
             "You forecast one step too many.", "How many times should the model be called?"),
        edit("SER-101 added to the last value", {"model(window)": "model(window) + window[:, -1]"},
             "You add each forecast to the value before it.",
             "Does the model forecast the next value or the change?"),
        edit("SER-103 an axis too many", {LAST: "torch.stack(values, dim=1)[..., None]"},
             "Your result has an extra axis at the end.", "What shape should the result have?"),
        edit("SER-105 one sample's forecast for all", {"value[:, None]), dim=1)": "value[:1, "
                                                       "None].expand(len(window), 1)), dim=1)"},
             "You continue every sample with the first sample's forecast.",
             "Which forecast belongs to the second row?"),
        edit("SER-107 the last forecast alone", {LAST: "value[:, None]"},
             "You return only the last step.", "How many values did the caller ask for?"),
        edit("SER-109 the history is written over", {START: "window, values = history.detach(), []", NEXT:
             "window.copy_(torch.cat((window[:, 1:], value[:, None]), dim=1))"},
             "You overwrite the caller's history with your forecasts.",
             "Which line writes into an argument?"),
        edit("SER-111 the steps backwards", {LAST: "torch.stack(values, dim=1).flip(1)"},
             "Your steps are in reverse order.", "Which step should come first?"),
    ),
    needs={
        "fed back": ("Your answer is wrong only for several steps.",
                     "Which values does the model read at the second step, and in which order?"),
        "": ("Your answer is wrong even for a single step.",
             "What does the model read, and what does it return?"),
    },
    hints=(
        "After the first step you have a forecast. Treat it as if it had been observed: append it to the "
        "series before you ask for the next one.",
        "The model always reads a window as long as the history. When you append a new value at the end, "
        "the oldest one drops out at the beginning.",
        "In outline: switch gradients off, and repeat `steps` times: call the model on the last N values, keep its "
        "forecast, and append it. Return the forecasts as (B, steps).",
    ),
)
