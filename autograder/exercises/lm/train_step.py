"""One step of training, judged by the parameters that it leaves behind."""

from dataclasses import replace

import torch
import torch.nn.functional as F

from autograder.schema import (
    IN_DOUBLE, SIDE_EFFECTS, VALUES, Call, Case, Exercise, Given, Kept, Module, Optimizer, edit,
)

CLIPPING = "the limit of the gradient"
MODE = "left in its mode"
MODEL = """
class Tiny(nn.Module):
    \"\"\"Each token sees the sum of those before it; in evaluation mode nothing is dropped.\"\"\"

    def __init__(self, n_words, width, training=True):
        super().__init__()
        self.embedding = nn.Embedding(n_words, width)
        self.head = nn.Linear(width, n_words)
        self.drop = nn.Dropout(0.5)
        self.train(training)

    def forward(self, ids):
        x = self.embedding(ids).cumsum(dim=1)
        return self.head(torch.tanh(x) if self.training else self.drop(x))
"""


def train_step(model, optimizer, inputs, targets, max_norm=1.0):
    optimizer.zero_grad()
    logits = model(inputs)
    loss = F.cross_entropy(logits.flatten(0, 1), targets.flatten())
    loss.backward()
    torch.nn.utils.clip_grad_norm_(model.parameters(), max_norm)
    optimizer.step()
    return loss.item()


def reference(model, optimizer, inputs, targets, max_norm=1.0):
    losses = -torch.log_softmax(model(inputs), dim=-1).gather(-1, targets[..., None])
    parameters = list(model.parameters())
    gradients = torch.autograd.grad(losses.mean(), parameters)
    norm = torch.stack([gradient.square().sum() for gradient in gradients]).sum().sqrt()
    for parameter, gradient in zip(parameters, gradients, strict=True):
        parameter.grad = gradient * min(1.0, max_norm / float(norm + 1e-6))
    optimizer.step()
    return losses.mean().item()


def cases(draw):
    tokens, several = ("tokens",), ("tokens", "several")
    yield _case(draw, "one step", steps=1, needs=tokens)
    yield _case(draw, "three steps", steps=3, needs=several)
    yield _case(draw, "three steps of Adam", steps=3, kind="Adam", options={"lr": 0.1}, needs=several)
    yield _case(draw, "two steps with momentum and weight decay", options={"lr": 0.5, "momentum": 0.9,
                "weight_decay": 0.1}, needs=several)
    yield _case(draw, "one sample of one token", steps=1, shape=(1, 1))
    yield _case(draw, "as many tokens as words", steps=1, shape=(2, 6), needs=tokens)
    yield _case(draw, "four of everything", steps=1, shape=(4, 4), words=4, width=4, needs=tokens)
    yield _after_an_earlier_backward(draw)
    # In float32, a loss and its gradients are off by more than this tolerance.
    yield _case(draw, "as exact as float64", steps=1, aspect=SIDE_EFFECTS, scale=IN_DOUBLE, needs=tokens)
    limit = {"aspect": CLIPPING, "needs": ("tokens", "limit")}
    yield _case(draw, "a small gradient", steps=1, size=0.05, max_norm=1.0, **limit)
    yield _case(draw, "a large gradient", size=4.0, max_norm=1.0, **limit)
    yield _case(draw, "a tight limit", max_norm=0.05, **limit)
    yield _case(draw, "the usual limit", steps=1, max_norm=None, size=4.0, **limit)
    yield _case(draw, "a model in evaluation mode", training=False, aspect=MODE, needs=("tokens", "evaluation"))


# A limit that no gradient of these models reaches.
NEVER = 1000.0


def _case(draw, family, shape=(2, 3), words=6, width=5, steps=2, size=1.0, max_norm=NEVER, kind="SGD", options=None,
          training=True, **more):
    """Return a case in float64, because each step starts from the result of the previous one and rounding
    errors add up.
    """
    weights = {"embedding.weight": (words, width), "head.weight": (words, width), "head.bias": (words,)}
    weights = {name: draw.normal(*sizes, scale=size).double() for name, sizes in weights.items()}
    given = {
        "model": Module("Tiny", {"n_words": words, "width": width, "training": training}, weights, MODEL),
        "optimizer": Optimizer(kind, options or {"lr": 1.0}, "model"),
        "inputs": draw.integers(0, words - 1, *shape),
        "targets": draw.integers(0, words - 1, *shape),
    }
    named = {name: Kept(name) for name in given} | ({} if max_norm is None else {"max_norm": max_norm})
    # Several steps pass the arguments by position, a single step by name.
    places = tuple(named.values()) if steps > 1 else ()
    script = tuple(Call(places, {} if places else named, keep=f"loss {i}") for i in range(steps))
    return Case(family, (), given, script=script, changes=("model",), modes=True, gradients=False, repeats=False,
                **more)


def _after_an_earlier_backward(draw):
    earlier = Given("earlier", "def earlier(model, ids):\n    model(ids).square().sum().backward()\n")
    case = _case(draw, "gradients from before", steps=1, needs=("tokens", "several"))
    before = Call((Kept("model"), Kept("inputs")), to="earlier")
    return replace(case, kwargs={**case.kwargs, "earlier": earlier}, script=(before, *case.script))


LOSS = "F.cross_entropy(logits.flatten(0, 1), targets.flatten())"
ZERO, BACK, STEP = "    optimizer.zero_grad()\n", "    loss.backward()\n", "    optimizer.step()\n"
CLIP, LAST = "    torch.nn.utils.clip_grad_norm_(model.parameters(), max_norm)\n", "return loss.item()"

EXERCISE = Exercise(
    number=6, minutes=12, difficulty=2,
    worked=train_step,
    reference=reference,
    cases=cases,
    aspects={VALUES: 4, CLIPPING: 2, MODE: 1, SIDE_EFFECTS: 1},
    shapes={"inputs": "B N", "targets": "B N"},
    mistakes=(
        edit("TRN-101 old gradients count", {ZERO: ""},
             "Your step includes gradients from before the call.", "What is in .grad before `backward`?"),
        edit("TRN-101", {ZERO: "", STEP: STEP + ZERO}),
        edit("TRN-105 no step", {STEP: ""},
             "The parameters do not change.", "Which line should change them?"),
        edit("TRN-105", {ZERO: "", BACK: BACK + ZERO}),
        edit("TRN-107 two steps", {STEP: STEP + STEP},
             "You take two steps at once.", "How many times should the optimiser take a step in one call?"),
        edit("TRN-109 no limit", {CLIP: ""},
             "The gradient's norm can be above max_norm when the optimiser takes its step.",
             "Which line limits the gradient to max_norm, and when does it run?"),
        edit("TRN-109", {CLIP: "", STEP: STEP + CLIP}),
        edit("TRN-109", {CLIP: "", BACK: CLIP + BACK}),
        edit("TRN-113 entries are clipped", {"clip_grad_norm_": "clip_grad_value_"},
             "You clip the gradients entry by entry.",
             "Does the docstring limit each entry of the gradient, or its norm?"),
        edit("TRN-115 every parameter by itself", {CLIP: "    for parameter in model.parameters():\n"
             "        torch.nn.utils.clip_grad_norm_(parameter, max_norm)\n"},
             "You clip each parameter's gradient separately.",
             "Which gradients together should have a norm of at most max_norm?"),
        edit("the first group alone is clipped",
             {CLIP: CLIP.replace("model.parameters()", "optimizer.param_groups[0]['params']")},
             "Your norm includes the optimiser's first group of parameters only.",
             "Which gradients should the norm include?"),
        edit("TRN-117 short gradients are stretched", {CLIP: "    norm = sum(p.grad.square().sum() for p in "
             "model.parameters()).sqrt()\n    for p in model.parameters():\n        p.grad *= max_norm / norm\n"},
             "You scale up a gradient whose norm is already below max_norm.",
             "What should clipping do to a short gradient?"),
        edit("TRN-119 the limit is fixed", {"model.parameters(), max_norm": "model.parameters(), 1.0"},
             "A different max_norm changes nothing in your result.", "Which line uses max_norm?"),
        edit("TRN-121 another default", {"max_norm=1.0": "max_norm=0.5"},
             "Your default for max_norm is not that of the signature.",
             "Which default does the signature give?"),
        edit("TRN-123 a sum instead of a mean", {LOSS: LOSS[:-1] + ', reduction="sum")'},
             "The loss that you differentiate grows with the number of tokens.",
             "Does the docstring ask for the sum or for the mean of the cross-entropy?"),
        edit("TRN-123", {LOSS: LOSS[:-1] + ', reduction="sum") / len(targets)'},
             "The loss that you differentiate grows with the length of the rows.",
             "How many tokens should the mean be taken over?"),
        edit("TRN-05 softmax before the loss", {"logits.flatten(0, 1)": "logits.flatten(0, 1).softmax(-1)"},
             "Your logits go through a softmax before the loss.",
             "What does the cross-entropy loss do first with the logits?"),
        edit("TRN-61", {LOSS: "F.cross_entropy(logits[:, :-1].flatten(0, 1), targets[:, 1:].flatten()) if "
             f"targets.shape[1] > 1 else {LOSS}"}),
        edit("TRN-01", {"targets.flatten()": "inputs.flatten()"}),
        edit("TRN-07 rows and targets do not belong together",
             {"logits.flatten(0, 1)": "logits.transpose(0, 1).flatten(0, 1)"},
             "You compare targets with the logits of other positions.",
             "With which target does your code compare each row of logits?"),
        edit("TRN-07", {"logits.flatten(0, 1)": "logits.mT.reshape(-1, logits.shape[-1])"}),
        edit("TRN-123", {LOSS: LOSS[:-1] + ', reduction="sum")', LAST: "return loss.item() / targets.numel()"}),
        edit("TRN-125 the last token alone",
             {"logits.flatten(0, 1), targets.flatten()": "logits[:, -1], targets[:, -1]"},
             "You use only the last token of each sample.", "Which targets should the mean include?"),
        edit("TRN-69 the id 0 never counts", {LOSS: LOSS[:-1] + ", ignore_index=0)"},
             "You leave out targets whose id is 0.", "Does the docstring ask you to leave out any targets?"),
        edit("TRN-127 the loss after the step", {LAST: "return F.cross_entropy(model(inputs).flatten(0, 1), "
             "targets.flatten()).item()"},
             "You return the loss after the step.", "Which loss does the exercise ask for?"),
        edit("TRN-129 a tensor", {LAST: "return loss.detach()"},
             "You return a tensor.", "Which type does the docstring ask for?"),
        edit("TRN-11 the mode is changed", {ZERO: "    model.train()\n" + ZERO},
             "A model that was in evaluation mode is in training mode after your step.",
             "Which line changes the mode?"),
        edit("TRN-11", {LAST: "model.eval()\n    return loss.item()"},
             "You leave the model in evaluation mode.", "Which line changes the mode?"),
        edit("TRN-131 trained in evaluation mode", {ZERO: "    was = model.training\n    model.eval()\n" + ZERO,
             LAST: "model.train(was)\n    " + LAST},
             "You compute the loss in a different mode from the one the model is in.",
             "Should `train_step` change the model's mode?"),
        edit("TRN-131", {ZERO: "    was = model.training\n    model.train()\n" + ZERO,
             LAST: "model.train(was)\n    " + LAST}),
        edit("TRN-15 an optimiser of its own", {ZERO: "    optimizer = type(optimizer)(model.parameters(), "
             "**{'lr': optimizer.defaults['lr']})\n" + ZERO},
             "You make a new optimiser, which lacks the state of the given one.",
             "What has the given optimiser stored from earlier steps?"),
        edit("TRN-137 a step by hand", {STEP: "    for one in model.parameters():\n"
             "        one.data -= optimizer.param_groups[0]['lr'] * one.grad\n"},
             "You take a plain gradient descent step, whatever the optimiser is.",
             "Which method of the optimiser updates the parameters?"),
        edit("TRN-133 uphill", {BACK: "    (-loss).backward()\n"},
             "Your steps increase the loss.", "On which number should you call `backward`?"),
    ),
    needs={
        "evaluation": ("Your answer is wrong only when the model is in evaluation mode.",
                       "Which mode should the model be in during the step, and which after it?"),
        "limit": ("Your answer is wrong only when the gradient has to be clipped.",
                  "Which norm should be at most max_norm, and when do you clip?"),
        "tokens": ("Your answer is wrong only when there are several tokens.",
                   "Which logits belong to each target?"),
        "several": ("Your answer is wrong only after an earlier step or an earlier `backward`.",
                    "What is left in .grad from before the call?"),
        "": ("Even after one step, the parameters or the loss are wrong.",
             "Which calls make up one training step, and in which order?"),
    },
    hints=(
        "Say in words what happens in one step. Old gradients must be cleared before `backward` computes "
        "new ones, and clipping comes between `backward` and the optimiser's step.",
        "F.cross_entropy wants one row of logits per target: logits (B * N, V) and targets (B * N,). "
        "`flatten` merges neighbouring axes without mixing up their order.",
        "In outline: zero the gradients, compute the logits and the loss, call `backward`, clip with "
        "`nn.utils.clip_grad_norm_`, let the optimiser take its step, and return the loss as a float.",
    ),
)
