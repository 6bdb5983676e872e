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
    """Rates near one, so that a step is as large as a parameter."""
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
    yield _case(draw, "no rate", (2, 3), 3, lr=0.0, needs=("later",))
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
    """Gradients of the size `slope`, or none (`still`); a state of that size, or an empty one (`fresh`)."""
    gradient = torch.zeros(shape) if still else draw.normal(*shape, scale=slope)
    mean = torch.zeros(shape) if fresh else draw.normal(*shape, scale=slope)
    square = torch.zeros(shape) if fresh else (0.2 + draw.normal(*shape).abs()) * slope**2
    options = {"lr": lr, "betas": betas, "eps": eps, "weight_decay": weight_decay}
    options = {name: value for name, value in options.items() if value is not None}
    args = (draw.normal(*shape, scale=size), gradient, mean, square, step)
    if len(options) == 4:  # also by place
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
    """Writes into the results one after the other, and looks at all the others and at the arguments."""
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
        edit("OPT-01 no correction of the start", {MEAN_NOW: "mean", SQUARE_NOW: "square"},
             "Your first steps have another length than they should.",
             "Both averages start from zero: how large are they after one step, and how large should they be?"),
        edit("OPT-03 only the mean is corrected", {SQUARE_NOW: "square"},
             "Your mean is corrected for its start from zero, your square is not.",
             "Which of the two averages starts from zero?"),
        edit("OPT-05 only the square is corrected", {MEAN_NOW: "mean"},
             "Your square is corrected for its start from zero, your mean is not.",
             "Which of the two averages starts from zero?"),
        edit("OPT-07 the corrected averages are carried on", {LAST: "return moved, mean_now, square_now"},
             "The averages that you return are the corrected ones.",
             "Which mean should the next step go on from: the running one, or the corrected one?"),
        edit("OPT-09 the same correction at every step",
             {"betas[0] ** step": "betas[0]", "betas[1] ** step": "betas[1]"},
             "Your correction is the same at every step.",
             "How far from zero is an average after one step, and how far after a hundred?"),
        edit("OPT-11 the step counts from zero", {"betas[0] ** step": "betas[0] ** (step + 1)",
                                                    "betas[1] ** step": "betas[1] ** (step + 1)"},
             "Your correction is that of the next step.", "Does the first step have the number 0 or 1?"),
        edit("OPT-13 decay through the gradient", {"    mean = betas": "    gradient = gradient + weight_decay * "
             "parameter\n    mean = betas", DECAYED: "parameter"},
             "Your weight decay goes through the averages, as in Adam with an L2 penalty.",
             "What does the W in AdamW keep apart from the gradient?"),
        edit("OPT-15 no decay", {DECAYED: "parameter"},
             "Your parameters do not decay.", "Which line uses weight_decay?"),
        edit("OPT-17 decay without the rate", {"lr * weight_decay": "weight_decay"},
             "Your decay does not depend on the rate.", "What should a rate of 0 leave as it is?"),
        edit("OPT-19 the moved parameter decays", {DECAYED: "parameter", MOVED:
             f"(parameter - lr * mean_now / {BELOW}) * (1 - lr * weight_decay)"},
             "What decays in yours is the parameter after its move.",
             "Which comes first in the formula, the decay or the move?"),
        edit("OPT-21 the decay makes parameters larger", {"parameter - lr * weight": "parameter + lr * weight"},
             "Your decay makes the parameters larger.", "In which direction does a weight decay?"),
        edit("OPT-23 eps within the root", {BELOW: "torch.sqrt(square_now + eps)"},
             "Your eps stands within the root.", "Is eps added before the root is taken, or after?"),
        edit("OPT-25 eps before the correction",
             {BELOW: "(torch.sqrt(square) + eps) * (1 - betas[1] ** step) ** 0.5"},
             "Your eps is added before the square is corrected.", "To which root does the formula add eps?"),
        edit("OPT-25", {BELOW: "((torch.sqrt(square) + eps) / (1 - betas[1] ** step) ** 0.5)"}),
        edit("OPT-69 decay after the step, eps before the correction", {DECAYED: "parameter", MOVED:
             "(parameter - lr * (1 - betas[1] ** step) ** 0.5 * mean_now / (torch.sqrt(square) + eps)) "
             "* (1 - lr * weight_decay)"},
             "In yours the parameter decays after its move, and eps is added before the square is corrected.",
             "Which comes first in the formula, the decay or the move?"),
        edit("OPT-27 no eps", {BELOW: "torch.sqrt(square_now)"},
             "If a gradient is zero, your step is NaN.", "What is 0/0, and which argument prevents it?"),
        edit("OPT-29 no root", {BELOW: "(square_now + eps)"},
             "Your steps are long if the gradients are small.",
             "If all gradients were ten times as large, what should happen to the step?"),
        edit("OPT-31 the gradient is not squared", {"gradient**2": "gradient"},
             "Your average of squares holds plain gradients.", "May an average of squares be negative?"),
        edit("OPT-33 the betas are exchanged", {MEAN: MEAN.replace("betas[0]", "betas[1]"),
                                                SQUARE: SQUARE.replace("betas[1]", "betas[0]"),
                                                "betas[0] ** step": "betas[1] ** step",
                                                "mean_now = mean / (1 - betas[0] ** step)":
                                                "mean_now = mean / (1 - betas[1] ** step)",
                                                SQUARE_NOW: "square / (1 - betas[0] ** step)"},
             "Your mean forgets as slowly as your square should.",
             "Which of the two betas belongs to the mean, and which to the square?"),
        edit("OPT-35 uphill", {"decayed - lr": "decayed + lr"},
             "Your step follows the gradient upwards.", "In which direction does the loss fall?"),
        edit("OPT-37 the gradient itself moves", {"lr * mean_now": "lr * gradient"},
             "Your step follows the last gradient, not the mean of the gradients.",
             "What are the means of past gradients kept for?"),
        edit("OPT-39 the gradient counts in full", {MEAN: "betas[0] * mean + gradient"},
             "In your mean the new gradient counts in full.", "What should the two weights of an average add up to?"),
        edit("OPT-41 the square of the new mean", {"gradient**2": "mean**2"},
             "Your average of squares holds the squares of the mean.", "The squares of what are averaged?"),
        edit("OPT-43 the weights of an average exchanged", {MEAN: "(1 - betas[0]) * mean + betas[0] * gradient",
             SQUARE: "(1 - betas[1]) * square + betas[1] * gradient**2"},
             "Your averages forget the past almost at once.",
             "With a beta of 0.9, how much of the old mean should be left?"),
        edit("OPT-45 the averages of before move", {LAST: LAST, MEAN_NOW: "old_mean / (1 - betas[0] ** step)",
             "    mean = betas": "    old_mean = mean\n    mean = betas"},
             "Your step follows the mean from before this gradient.", "Which mean does the formula correct?"),
        edit("OPT-47 only the sign counts", {MOVED: "decayed - lr * torch.sign(mean_now)"},
             "All your steps have the same length.", "What is the mean divided by?"),
        edit("OPT-49 other betas by default", {"(0.9, 0.999), eps": "(0.9, 0.95), eps"},
             "If the caller names no betas, yours are others.", "Which betas does the signature give?"),
        edit("OPT-51 no decay by default", {"weight_decay=0.01": "weight_decay=0.0"},
             "If the caller names no weight decay, yours is another.", "Which weight decay does the signature give?"),
        edit("OPT-53 another rate by default", {"lr=1e-3": "lr=1e-2"},
             "If the caller names no rate, yours is another.", "Which rate does the signature give?"),
        edit("OPT-55 another eps by default", {"eps=1e-8": "eps=1e-6"},
             "If the caller names no eps, yours is another.", "Which eps does the signature give?"),
        edit("OPT-57 the parameter comes last", {LAST: "return mean, square, moved"},
             "Your results stand in another order.", "In which order does the signature promise the three?"),
        edit("OPT-59 the averages of before come back", {LAST: "return moved, old_mean, old_square",
             "    mean = betas": "    old_mean, old_square = mean.clone(), square.clone()\n    mean = betas"},
             "The averages that you return are those that you were given.",
             "What should the next step know of this gradient?"),
        edit("OPT-61 the same mean for all entries", {MOVED: MOVED.replace("square_now", "square_now.mean()")},
             "You divide all entries by one number.", "Does every entry have its own step length?"),
        edit("OPT-65 only the parameter", {LAST: "return moved"},
             "You return only the parameter.", "What does the next step need besides it?"),
        edit("OPT-67 clipped squares", {BELOW: "torch.clamp(torch.sqrt(square_now), min=eps)"},
             "Your eps is a lower bound, not a term of a sum.", "Is eps added, or is it a limit?"),
    ),
    needs={
        "small": ("Ordinary gradients come out right; those that are small or zero do not.",
                  "What does eps do there, and where does it stand?"),
        "decay": ("Without weight decay you are right; with it you are not.",
                  "What is taken off the parameter for the decay, and what does it depend on?"),
        "later": ("The first step is right; later ones are not.",
                  "What is left of the averages from before, and how far are they from zero by now?"),
        "": ("The very first step, from averages of zero, is another than it should be.",
             "After one step, what is the corrected mean, and what the root of the corrected square?"),
    },
    hints=(
        "Two running averages: of the gradients, and of their squares. With which weights do the old average and the "
        "new number enter?",
        "After the first step an average that started from zero holds only 1 - beta of the gradient. What do you "
        "divide by to make up for that, and how does it change with the step?",
        "The shape of it: two averages, both corrected in new variables, the decay of the parameter, the move, and "
        "three new tensors.",
    ),
)
