"""One step of Adam with decoupled weight decay (Kingma and Ba 2015, algorithm 1; Loshchilov and Hutter 2019)."""

import torch

from autograder.schema import (
    DTYPES, FROM_TABLES, SIDE_EFFECTS, VALUES, Call, Case, Exercise, Given, Kept, Rules, edit,
)

DECAY, DEFAULTS = "weight decay", "the values by default"


def adamw_step(parameter, gradient, mean, square, step, lr=1e-3, betas=(0.9, 0.999), eps=1e-8, weight_decay=0.01):
    mean = betas[0] * mean + (1 - betas[0]) * gradient
    square = betas[1] * square + (1 - betas[1]) * gradient**2
    mean_now = mean / (1 - betas[0] ** step)
    square_now = square / (1 - betas[1] ** step)
    decayed = parameter - lr * weight_decay * parameter
    moved = decayed - lr * mean_now / (torch.sqrt(square_now) + eps)
    return moved, mean, square


def reference(parameter, gradient, mean, square, step, lr=1e-3, betas=(0.9, 0.999), eps=1e-8, weight_decay=0.01):
    new = parameter.detach().clone().requires_grad_()
    optimizer = torch.optim.AdamW([new], lr, betas, eps, weight_decay, foreach=False)
    new.grad = gradient.clone()
    before = {"step": torch.tensor(float(step - 1)), "exp_avg": mean.clone(), "exp_avg_sq": square.clone()}
    optimizer.state[new] = before
    optimizer.step()
    return new.detach(), before["exp_avg"], before["exp_avg_sq"]


def cases(draw):
    """Yield cases, mostly with a large learning rate, so that a step is about as large as a parameter."""
    rows, columns = draw.sizes(2)
    large = {"lr": 0.5}
    yield _case(draw, "all sizes different", (rows, columns), 3, lr=0.5, betas=(0.8, 0.95), eps=1e-3, weight_decay=0.2,
                observe=True, needs=("later", "decay"))
    yield _case(draw, "the first step, without decay", (4, 3), fresh=True, lr=0.5, weight_decay=0.0)
    yield _case(draw, "a single number", (), 2, lr=0.5, weight_decay=0.0, needs=("later",))
    yield _case(draw, "a vector", (5,), 4, lr=0.3, betas=(0.5, 0.9), weight_decay=0.0, needs=("later",))
    yield _case(draw, "three axes", (2, 3, 4), 11, lr=0.3, weight_decay=0.0, needs=("later",))
    yield _case(draw, "one of everything", (1,), fresh=True, lr=0.2, weight_decay=0.0)
    yield _case(draw, "after many steps", (3, 4), 10_000, lr=0.5, weight_decay=0.0, needs=("later",))
    yield _case(draw, "nothing is remembered", (3, 4), 5, betas=(0.0, 0.0), lr=0.5, weight_decay=0.0, needs=("later",))
    yield _case(draw, "only the mean is remembered", (3, 4), 5, betas=(0.7, 0.0), lr=0.5, weight_decay=0.0,
                needs=("later",))
    yield _case(draw, "a learning rate of 0", (2, 3), 3, lr=0.0, needs=("later",))
    decay = {"aspect": DECAY, "needs": ("decay",)}
    still = {"still": True, "fresh": True}
    yield _case(draw, "decay and nothing else", (3, 2), lr=0.5, weight_decay=0.4, **still, **decay)
    yield _case(draw, "strong decay at the first step", (3, 2), fresh=True, lr=0.5, weight_decay=0.6, **decay)
    yield _case(draw, "strong decay", (2, 5), 6, lr=0.7, weight_decay=0.9, aspect=DECAY, needs=("decay", "later"))
    yield _case(draw, "large parameters", (4,), 3, size=30.0, lr=0.1, weight_decay=0.3, aspect=DECAY,
                needs=("decay", "later"))
    small = {"needs": ("small", "later")}
    yield _case(draw, "gradients of zero", (2, 3), fresh=True, still=True, lr=0.5, weight_decay=0.0, needs=("small",))
    yield _case(draw, "gradients as small as eps", (3, 4), 2, slope=1e-3, eps=1e-3, weight_decay=0.0, **large, **small)
    yield _case(draw, "a large eps", (3, 4), 3, eps=0.5, weight_decay=0.0, **large, **small)
    yield _case(draw, "large gradients", (3, 4), 2, slope=1e3, lr=0.5, weight_decay=0.0, needs=("later",))
    yield _three_steps(draw)
    yield _nothing_shared(draw)
    default = {"aspect": DEFAULTS}
    yield _case(draw, "the usual betas", (3, 4), 3, lr=0.5, eps=1e-8, weight_decay=0.0, needs=("later",), **default)
    yield _case(draw, "the usual rate", (3, 4), fresh=True, betas=(0.9, 0.999), eps=1e-8, weight_decay=0.0, **default)
    yield _case(draw, "the usual decay", (3, 4), 3, lr=1.0, betas=(0.9, 0.999), needs=("later", "decay"), **default)
    yield _case(draw, "the usual eps", (3, 4), fresh=True, slope=3e-8, lr=1.0, weight_decay=0.0, needs=("small",),
                **default)


NAMES = ("parameter", "gradient", "mean", "square")


def _case(draw, family, shape, step=1, size=1.0, slope=1.0, fresh=False, still=False, lr=None, betas=None, eps=None,
          weight_decay=None, **more):
    """Return a case with normal random gradients of standard deviation `slope`, or gradients of zero if
    `still`. The running averages are drawn to match `slope`, or are zero if `fresh`.
    """
    gradient = torch.zeros(shape) if still else draw.normal(*shape, scale=slope)
    mean = torch.zeros(shape) if fresh else draw.normal(*shape, scale=slope)
    square = torch.zeros(shape) if fresh else (0.2 + draw.normal(*shape).abs()) * slope**2
    options = {"lr": lr, "betas": betas, "eps": eps, "weight_decay": weight_decay}
    options = {name: value for name, value in options.items() if value is not None}
    args = (draw.normal(*shape, scale=size), gradient, mean, square, step)
    if len(options) == 4:  # pass all options by position
        args, options = (*args, *options.values()), {}
    return Case(family, args, options, gradients=False, **more)


def _three_steps(draw):
    given = {"parameter": draw.normal(3, 4), "mean": torch.zeros(3, 4), "square": torch.zeros(3, 4)}
    given |= {f"gradient {i}": draw.normal(3, 4) for i in (1, 2, 3)}
    options, script = {"lr": 0.3, "betas": (0.8, 0.9), "weight_decay": 0.1}, []
    state = (Kept("parameter"), Kept("mean"), Kept("square"))
    for i in (1, 2, 3):
        args = (state[0], Kept(f"gradient {i}"), *state[1:], i)
        script.append(Call(args, options, keep=f"after step {i}"))
        state = tuple(Kept(f"after step {i}", item) for item in range(3))
    return Case("three steps", (), given, script=tuple(script), gradients=False, repeats=False,
                needs=("later", "decay"))


def _nothing_shared(draw):
    """Return a case that overwrites each result in turn and checks that the other results and the arguments
    do not change.
    """
    code = ("def written(results, *arguments):\n    seen = []\n    for result in results:\n"
            "        result.add_(1000.0)\n        seen += [one.clone() for one in (*results, *arguments)]\n"
            "    return seen\n")
    given = {name: draw.normal(2, 3) for name in NAMES}
    given["square"] = given["square"].abs() + 0.2
    arguments = tuple(map(Kept, NAMES))
    script = (Call((*arguments, 2), {"lr": 0.0, "betas": (0.9, 0.99)}, keep="results", shown=False),
              Call((Kept("results"), *arguments), to="written", keep="after writing into the results"))
    return Case("results that share no memory", (), given | {"written": Given("written", code)}, script=script,
                aspect=SIDE_EFFECTS, gradients=False, repeats=False, needs=("later", "decay"))


MEAN = "betas[0] * mean + (1 - betas[0]) * gradient"
SQUARE = "betas[1] * square + (1 - betas[1]) * gradient**2"
MEAN_NOW, SQUARE_NOW = "mean / (1 - betas[0] ** step)", "square / (1 - betas[1] ** step)"
DECAYED, BELOW = "parameter - lr * weight_decay * parameter", "(torch.sqrt(square_now) + eps)"
MOVED, LAST = f"decayed - lr * mean_now / {BELOW}", "return moved, mean, square"
SIGNATURE = "lr=1e-3, betas=(0.9, 0.999), eps=1e-8, weight_decay=0.01"

EXERCISE = Exercise(
    number=4, minutes=12, difficulty=2,
    worked=adamw_step,
    reference=reference,
    cases=cases,
    standard=(FROM_TABLES, "transposed", "by name"),
    aspects={VALUES: 4, DECAY: 1, DEFAULTS: 1, SIDE_EFFECTS: 1, DTYPES: 1},
    rules=Rules(forbidden=("PyTorch's own optimisers",)),
    mistakes=(
        edit("no decay for vectors", {"parameter - lr * weight_decay * parameter": "parameter - lr * weight_decay * "
             "parameter * (parameter.dim() > 1)"},
             "You do not decay a parameter with one axis.", "Does the formula make an exception for vectors?"),
        edit("nothing moves where the gradient is zero", {
             "return moved": "moved = torch.where(gradient == 0, parameter, moved)\n    return moved"},
             "You leave a parameter unchanged where its gradient is zero.",
             "Which part of the step does not depend on the gradient?"),
        edit("OPT-01 no correction of the start", {MEAN_NOW: "mean", SQUARE_NOW: "square"},
             "Your first steps have the wrong length.",
             "Both averages start at zero; how large are they after the first step?"),
        edit("OPT-03 only the mean is corrected", {SQUARE_NOW: "square"},
             "You correct the mean for its start at zero, but not the square.",
             "Which of the two averages starts at zero?"),
        edit("OPT-05 only the square is corrected", {MEAN_NOW: "mean"},
             "You correct the square for its start at zero, but not the mean.",
             "Which of the two averages starts at zero?"),
        edit("OPT-07 the corrected averages are carried on", {LAST: "return moved, mean_now, square_now"},
             "You return the corrected averages.",
             "Should the next step continue from the running averages or from the corrected ones?"),
        edit("OPT-09 the same correction at every step",
             {"betas[0] ** step": "betas[0]", "betas[1] ** step": "betas[1]"},
             "Your bias correction is the same at every step.",
             "How far below its true value is an average after one step, and after a hundred?"),
        edit("OPT-11 the step counts from zero", {"betas[0] ** step": "betas[0] ** (step + 1)",
                                                    "betas[1] ** step": "betas[1] ** (step + 1)"},
             "You use the bias correction of the next step.", "Is the first step numbered 0 or 1?"),
        edit("OPT-13 decay through the gradient", {"    mean = betas": "    gradient = gradient + weight_decay * "
             "parameter\n    mean = betas", DECAYED: "parameter"},
             "Your weight decay goes through the averages, as in Adam with an L2 penalty.",
             "What does AdamW keep separate from the gradient?"),
        edit("OPT-15 no decay", {DECAYED: "parameter"},
             "Your parameters do not decay.", "Which line uses weight_decay?"),
        edit("OPT-17 decay without the rate", {"lr * weight_decay": "weight_decay"},
             "Your decay does not depend on the learning rate.",
             "Should a step with a learning rate of 0 change anything?"),
        edit("OPT-19 the moved parameter decays", {DECAYED: "parameter", MOVED:
             f"(parameter - lr * mean_now / {BELOW}) * (1 - lr * weight_decay)"},
             "You decay the parameter after its update.",
             "Which parameter does the formula decay: the old one or the updated one?"),
        edit("OPT-21 the decay makes parameters larger", {"parameter - lr * weight": "parameter + lr * weight"},
             "Your decay makes the parameters larger.",
             "Should weight decay move a weight towards zero or away from it?"),
        edit("OPT-23 eps within the root", {BELOW: "torch.sqrt(square_now + eps)"},
             "You add eps inside the square root.",
             "Does the formula add eps before or after it takes the root?"),
        edit("OPT-25 eps before the correction",
             {BELOW: "(torch.sqrt(square) + eps) * (1 - betas[1] ** step) ** 0.5"},
             "You add eps before the square is corrected.",
             "Does the formula add eps to the root of `square`, or to the root of the corrected square?"),
        edit("OPT-25", {BELOW: "((torch.sqrt(square) + eps) / (1 - betas[1] ** step) ** 0.5)"}),
        edit("OPT-69 decay after the step, eps before the correction", {DECAYED: "parameter", MOVED:
             "(parameter - lr * (1 - betas[1] ** step) ** 0.5 * mean_now / (torch.sqrt(square) + eps)) "
             "* (1 - lr * weight_decay)"},
             "You decay the parameter after its update, and you add eps before the square is corrected.",
             "Which parameter does the formula decay: the old one or the updated one?"),
        edit("OPT-27 no eps", {BELOW: "torch.sqrt(square_now)"},
             "A gradient of zero makes your step NaN.", "What is 0/0, and which argument prevents it?"),
        edit("OPT-29 no root", {BELOW: "(square_now + eps)"},
             "Your steps are long when the gradients are small.",
             "If all gradients were ten times as large, how should the step change?"),
        edit("OPT-31 the gradient is not squared", {"gradient**2": "gradient"},
             "Your average of squares contains gradients that are not squared.",
             "Can an average of squares be negative?"),
        edit("OPT-33 the betas are exchanged", {MEAN: MEAN.replace("betas[0]", "betas[1]"),
                                                SQUARE: SQUARE.replace("betas[1]", "betas[0]"),
                                                "betas[0] ** step": "betas[1] ** step",
                                                "mean_now = mean / (1 - betas[0] ** step)":
                                                "mean_now = mean / (1 - betas[1] ** step)",
                                                SQUARE_NOW: "square / (1 - betas[0] ** step)"},
             "Your running mean changes as slowly as the running square should.",
             "Which of the two betas belongs to the mean?"),
        edit("OPT-35 uphill", {"decayed - lr": "decayed + lr"},
             "Your step goes up the gradient.", "In which direction does the loss fall?"),
        edit("OPT-37 the gradient itself moves", {"lr * mean_now": "lr * gradient"},
             "Your step follows the new gradient instead of the running mean.",
             "What does the formula divide by sqrt(s) + eps: the gradient, or the corrected mean?"),
        edit("OPT-39 the gradient counts in full", {MEAN: "betas[0] * mean + gradient"},
             "The new gradient enters your mean with weight 1.",
             "What should the two weights of an average add up to?"),
        edit("OPT-41 the square of the new mean", {"gradient**2": "mean**2"},
             "You average the squares of the mean.", "What does the formula square?"),
        edit("OPT-43 the weights of an average exchanged", {MEAN: "(1 - betas[0]) * mean + betas[0] * gradient",
             SQUARE: "(1 - betas[1]) * square + betas[1] * gradient**2"},
             "Your averages forget the past almost at once.",
             "With a beta of 0.9, how much of the old mean should remain?"),
        edit("OPT-45 the averages of before move", {LAST: LAST, MEAN_NOW: "old_mean / (1 - betas[0] ** step)",
             "    mean = betas": "    old_mean = mean\n    mean = betas"},
             "Your step uses the old running mean, without this gradient.",
             "Does the formula correct the old mean or the new one?"),
        edit("OPT-47 only the sign counts", {MOVED: "decayed - lr * torch.sign(mean_now)"},
             "All your steps have the same length.", "What does the formula divide the corrected mean by?"),
        edit("OPT-49 other betas by default", {"(0.9, 0.999), eps": "(0.9, 0.95), eps"},
             "Your default betas are not those of the signature.", "Which betas does the signature give?"),
        edit("OPT-51 no decay by default", {"weight_decay=0.01": "weight_decay=0.0"},
             "Your default weight decay is not that of the signature.",
             "Which weight decay does the signature give?"),
        edit("OPT-53 another rate by default", {"lr=1e-3": "lr=1e-2"},
             "Your default learning rate is not that of the signature.",
             "Which learning rate does the signature give?"),
        edit("OPT-55 another eps by default", {"eps=1e-8": "eps=1e-6"},
             "Your default eps is not that of the signature.", "Which eps does the signature give?"),
        edit("OPT-57 the parameter comes last", {LAST: "return mean, square, moved"},
             "Your results are in the wrong order.", "In which order does the docstring list the three?"),
        edit("OPT-59 the averages of before come back", {LAST: "return moved, old_mean, old_square",
             "    mean = betas": "    old_mean, old_square = mean.clone(), square.clone()\n    mean = betas"},
             "You return the averages that were passed in.",
             "What does the next step need to know about this gradient?"),
        edit("OPT-61 the same mean for all entries", {MOVED: MOVED.replace("square_now", "square_now.mean()")},
             "You divide all entries by one number.", "Should every entry have its own step length?"),
        edit("OPT-65 only the parameter", {LAST: "return moved"},
             "You return only the parameter.", "What else does the next step need?"),
        edit("OPT-67 clipped squares", {BELOW: "torch.clamp(torch.sqrt(square_now), min=eps)"},
             "You use eps as a lower bound for sqrt(s).", "What does the formula do with eps?"),
    ),
    needs={
        "small": ("Your answer is wrong only where gradients are zero or not much larger than eps.",
                  "What does eps do there, and where does the formula add it?"),
        "decay": ("Your answer is wrong only with weight decay.",
                  "By what factor does the decay multiply the old parameter in the formula?"),
        "later": ("Your answer is wrong only after the first step.",
                  "In the second step, how much of the old averages remains, and how large is the correction?"),
        "": ("Even the very first step, from averages of zero, is wrong.",
             "After one step, what are the corrected mean and the root of the corrected square?"),
    },
    hints=(
        "Start with the two running averages, one of the gradients and one of their squares. In each, the "
        "old average has weight beta and the new number weight 1 - beta.",
        "After the first step, an average that started at zero is only 1 - beta times the first number; after "
        "step t, the weights of all numbers so far add up to 1 - beta^t. Divide the average by that sum.",
        "In outline: update both averages; correct each of them in a new variable; shrink the parameter by the "
        "decay; take the root of the corrected average of squares, and add eps; divide the corrected mean by that "
        "sum, multiply by lr, and subtract the result from the parameter. Return the parameter and the two "
        "uncorrected averages as new tensors.",
    ),
)
