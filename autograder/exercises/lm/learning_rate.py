"""The learning rate of a step: a linear warmup, then a decay along a cosine (Loshchilov and Hutter 2017)."""

import math

from autograder.schema import VALUES, Call, Case, Exercise, edit

AFTER = "after the last step"


def learning_rate(step, warmup, total, peak):
    if step < warmup:
        return peak * (step + 1) / warmup
    if step >= total:
        return 0.0
    done = (step - warmup) / (total - warmup)
    return peak * (1 + math.cos(math.pi * done)) / 2


def reference(step, warmup, total, peak):
    rising = [peak / warmup * place for place in range(1, warmup + 1)] if warmup else []
    steps = total - warmup
    falling = [peak * math.cos(math.pi * place / steps / 2) ** 2 for place in range(steps)]
    return float([*rising, *falling, *[0.0] * (step + 1)][step])


def cases(draw):
    warmup, more = draw.sizes(2, 4, 9)
    down = ("down",)
    yield _case("warmup and decay", range(warmup + more), warmup, warmup + more, 1.0, needs=down)
    yield _case("another peak", range(0, 12, 2), 3, 11, 2.5, needs=("down", "peak"))
    yield _case("a small peak", (0, 2, 3, 7, 9), 3, 10, 6e-4, needs=("down", "peak"))
    yield _case("a peak that is a whole number", (0, 1, 4, 5), 2, 6, 3, needs=("down", "peak"))
    yield _case("no warmup", range(4), 0, 4, 1.0, needs=("down", "no warmup"))
    yield _case("one step of warmup", range(5), 1, 5, 1.0, needs=down)
    yield _case("one step after the warmup", range(5), 4, 5, 1.0)
    yield _case("many steps", (0, 499, 500, 501, 5000, 9999), 500, 10_000, 1.0, needs=("down", "many"))
    after = {"aspect": AFTER, "needs": ("after",)}
    yield _case("at the last step and later", (10, 11, 15, 29, 1000), 4, 10, 1.0, **after)
    yield _case("later without a warmup", (3, 4, 7), 0, 3, 2.0, **after)
    yield Case("arguments by name", (), {"step": warmup + 1, "warmup": warmup, "total": 20, "peak": 1.5},
               gradients=False, scale=EXACT, needs=("down", "peak"))


# Rates are small numbers, so the tolerance is a hundredth of the usual one, which the rounding of float32
# still meets.
EXACT = 0.01


def _case(family, steps, warmup, total, peak, **more):
    script = tuple(Call((step, warmup, total, peak), keep=f"step {step} of {total}") for step in steps)
    return Case(family, script=script, gradients=False, scale=EXACT, **more)


UP, DONE = "peak * (step + 1) / warmup", "(step - warmup) / (total - warmup)"
DOWN, COS = "peak * (1 + math.cos(math.pi * done)) / 2", "math.cos(math.pi * done)"
FIRST, END = "if step < warmup:", "if step >= total:"

EXERCISE = Exercise(
    number=5, minutes=6, difficulty=1,
    worked=learning_rate,
    reference=reference,
    cases=cases,
    aspects={VALUES: 1, AFTER: 1},
    mistakes=(
        edit("LR-01 the first step has the rate zero", {UP: "peak * step / warmup"},
             "Your first step has a learning rate of 0.",
             "What does the model learn in a step of length 0?"),
        edit("the first two steps alike", {UP: "peak * max(step, 1) / warmup"},
             "Your first two steps have the same rate.",
             "If the first of four warmup steps has a quarter of the peak, what does the second have?"),
        edit("LR-03 no warmup", {FIRST: "if False:", DONE: f"max(0.0, {DONE})"},
             "Your rate starts at its peak.", "What should the rate be at step 0?"),
        edit("LR-05 the way down begins at step 0", {DONE: "step / total"},
             "Right after the warmup your rate is already below the peak.",
             "At which step does the cosine start?"),
        edit("LR-05", {DONE: "step / (total - warmup)"}),
        edit("LR-07 the way down is as long as everything", {DONE: "(step - warmup) / total"},
             "Your decay is too slow: it would reach zero only after step = total.",
             "How many steps should the decay take?"),
        edit("LR-09 a straight line down", {DOWN: "peak * (1 - done)"},
             "Your rate falls in a straight line.", "Which curve does the formula name?"),
        edit("LR-11 a quarter of the wave", {DOWN: "peak * math.cos(math.pi * done / 2)"},
             "Your rate falls slowly at first and fast at the end.",
             "Which part of a cosine goes from 1 to -1?"),
        edit("LR-13 twice the peak", {" / 2": ""},
             "After the warmup your rate is twice the peak.", "How large is 1 + cos(0)?"),
        edit("LR-15 the cosine alone", {DOWN: f"peak * {COS}"},
             "Your rate becomes negative.", "What is the smallest value of a cosine?"),
        edit("LR-17 a sine", {"math.cos": "math.sin"},
             "Your decay does not start at the peak.", "What is the sine of 0?"),
        edit("LR-19 degrees", {"math.pi * done": "180 * done"},
             "Your rate goes up and down many times.", "Does math.cos take degrees or radians?"),
        edit("LR-21 the wave begins anew after the end", {END: "if False:"},
             "After the last step your rate rises again.", "What should the rate be from step = total on?"),
        edit("LR-23 the peak again after the end", {"return 0.0": "return float(peak)"},
             "After the last step your rate is back at the peak.",
             "What should the rate be after the last step?"),
        edit("LR-25 a whole number", {"return 0.0": "return 0"},
             "After the last step you return an int.", "Which type does the docstring ask for?"),
        edit("LR-27 the way up ends too late", {FIRST: "if step <= warmup:"},
             "At the first step after the warmup your rate is above the peak.",
             "How large is (step + 1) / warmup there?"),
        edit("LR-29 whole numbers on the way up", {UP: "peak * ((step + 1) // max(warmup, 1))"},
             "During the warmup your rate is zero until the last step.", "What is 1 // 4?"),
        edit("LR-31 the peak is left out", {"peak * (step": "(step", "peak * (1": "(1"},
             "Your rate rises to 1, whatever the peak is.", "Which of your lines uses the peak?"),
        edit("LR-33 the way down goes up", {"(1 + math": "(1 - math"},
             "After the warmup your rate starts at zero and rises.", "How large is 1 - cos(0)?"),
        edit("LR-35 the warmup never counts as done", {DONE: "(step - warmup + 1) / (total - warmup)"},
             "Your decay is one step ahead.", "What should the rate be at the first step after the warmup?"),
        edit("LR-35", {DONE: "(step - warmup) / max(total - warmup - 1, 1)"},
             "Your decay reaches zero one step too early.", "How many steps does the decay take in the formula?"),
        edit("LR-37 a tenth of the peak is left", {DOWN: f"max({DOWN}, 0.1 * peak)"},
             "Your rate never falls below a certain fraction of the peak.", "At which rate should the decay end?"),
        edit("LR-37", {DOWN: f"0.1 * peak + 0.9 * {DOWN}", "return 0.0": "return 0.1 * peak"}),
        edit("LR-41 one step of warmup too many", {UP: "peak * (step + 1) / (warmup + 1)"},
             "Your rate reaches its peak one step after the warmup.",
             "What should the rate be at the last step of the warmup?"),
        edit("LR-39 the way up stands still", {UP: "peak / warmup"},
             "Your rate does not change during the warmup.",
             "What should the rate be at the first and at the last step of the warmup?"),
    ),
    needs={
        "no warmup": ("Your answer is wrong only without a warmup.",
        "Do you divide by the warmup even when it is 0?"),
        "after": ("Your answer is wrong only after the last step.", "What should the rate be there?"),
        "many": ("Your answer is wrong only for many steps.",
                 "Does a number in your code limit the number of steps?"),
        "peak": ("Your answer is wrong only when the peak is not 1.", "Which of your lines use the peak?"),
        "down": ("Your answer is wrong only after the warmup, while the rate decays.",
                 "By the formula, the cosine of which angle is taken halfway through the decay, and what is it?"),
        "": ("Your rate is wrong even during the warmup or at the first step after it.",
             "What should the rates be at step 0, at the last step of the warmup, and at the step after it?"),
    },
    hints=(
        "Draw the curve for 4 steps of warmup and 8 steps in all. It has three parts: a straight line up, "
        "half a cosine down, and zero.",
        "After the warmup, first compute the fraction of the decay that is done, which goes from 0 to 1. "
        "Multiplied by pi, it is the angle of the cosine.",
        "In outline: while step is below warmup, return the value on the straight line; from step = total "
        "onwards, return zero; otherwise compute the fraction and put it into the cosine formula in the "
        "docstring.",
    ),
)
