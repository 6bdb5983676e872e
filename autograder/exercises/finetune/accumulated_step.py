"""One optimiser step over batches with different numbers of targets; every target counts the same."""

import torch
import torch.nn.functional as F

from autograder.schema import SIDE_EFFECTS, VALUES, Call, Case, Exercise, Given, Kept, Module, Optimizer, edit


def accumulated_step(model, optimizer, batches, ignore=-100):
    count = sum(int((targets != ignore).sum()) for _, targets in batches)
    optimizer.zero_grad()
    total = 0.0
    for inputs, targets in batches:
        logits = model(inputs).flatten(0, 1)
        loss = F.cross_entropy(logits, targets.flatten(), ignore_index=ignore, reduction="sum")
        loss = loss / count
        loss.backward()
        total += loss.item()
    optimizer.step()
    return total


def reference(model, optimizer, batches, ignore=-100):
    logits = torch.cat([model(inputs).flatten(0, 1) for inputs, _ in batches])
    targets = torch.cat([targets.flatten() for _, targets in batches])
    optimizer.zero_grad()
    loss = F.cross_entropy(logits, targets, ignore_index=ignore)
    loss.backward()
    optimizer.step()
    return loss.item()


# A token's logits depend on all tokens before it, and on the mode, so that a change of mode shows.
MODEL = """
class Tiny(nn.Module):
    def __init__(self, n_words, width, training=True, frozen=False):
        super().__init__()
        self.embedding = nn.Embedding(n_words, width)
        self.head = nn.Linear(width, n_words)
        self.embedding.requires_grad_(not frozen)
        self.calls = []
        self.train(training)

    def forward(self, ids):
        self.calls.append(tuple(ids.shape))
        hidden = torch.tanh(self.embedding(ids).cumsum(1))
        return self.head(hidden * 0.5 if self.training else hidden)
"""
CALLS = "def calls(model):\n    return model.calls\n"
EARLIER = "def earlier(model):\n    sum(p.square().sum() for p in model.parameters()).backward()\n"
GROW = "def grow(loss):\n    return loss * 1e6\n"
OTHERS = "old gradients, frozen parameters and the mode"
IGNORE = "another value to ignore"


def cases(draw):
    short, long = draw.sizes(2, 2, 6)
    unequal = ("batches", "unequal")
    yield _case(draw, "batches of different lengths", [(2, short, 2), (3, long, 7)], needs=unequal)
    yield _case(draw, "one batch", [(2, 3, 4)])
    yield _case(draw, "one target", [(1, 1, 1)])
    yield _case(draw, "a large loss", [(2, 3, 4)], bias=-100.0, needs=("large",))
    yield _case(draw, "a tiny loss", [(2, 3, 4)], bias=14.0, grow=True, needs=("tiny",))
    yield _case(draw, "equal batches", [(2, 3, 4), (2, 3, 4)], needs=("batches",))
    yield _case(draw, "one target beside many", [(1, 2, 1), (3, 5, 14), (2, 4, 5)], needs=unequal)
    yield _case(draw, "a batch without targets", [(2, 3, 0), (2, 4, 6)], needs=(*unequal, "empty"))
    yield _case(draw, "the last batch without targets", [(2, 3, 5), (1, 2, 0)], needs=(*unequal, "empty"))
    yield _case(draw, "every token is a target", [(2, 2, 4), (1, 5, 5)], needs=unequal)
    yield _case(draw, "two steps with a memory", [(2, 3, 2), (2, 2, 3)], steps=2, kind="AdamW",
                options={"lr": 0.05, "weight_decay": 0.1}, needs=unequal)
    yield _case(draw, "momentum", [(1, 3, 1), (2, 3, 5)], steps=2, options={"lr": 0.3, "momentum": 0.9}, needs=unequal)
    yield _case(draw, "another value to ignore", [(2, 3, 2), (2, 4, 5)], ignore=-1, aspect=IGNORE, needs=("ignore",))
    yield _case(draw, "an id to ignore", [(2, 3, 2), (2, 4, 5)], ignore=0, aspect=IGNORE, needs=("ignore",))
    others = {"aspect": OTHERS, "needs": unequal}
    yield _case(draw, "gradients from before", [(2, 3, 2), (3, 2, 5)], earlier=True, **others)
    yield _case(draw, "a frozen part", [(2, 3, 2), (3, 2, 5)], frozen=True, **others)
    yield _case(draw, "a model in evaluation mode", [(2, 3, 2), (3, 2, 5)], training=False, **others)


def _case(draw, family, batches, words=6, width=4, steps=1, kind="SGD", options=None, ignore=None, training=True,
          frozen=False, earlier=False, bias=0.0, grow=False, **more):
    """Return a case in float64, because each step starts from the result of the previous one and rounding
    errors add up. A batch is given by its numbers of samples, tokens and targets.
    """
    weights = {"embedding.weight": (words, width), "head.weight": (words, width), "head.bias": (words,)}
    weights = {name: draw.normal(*shape).double() for name, shape in weights.items()}
    if bias:
        # The loss is about -bias, or exp(-bias) if bias is positive.
        weights["head.bias"][1] = bias
    init = {"n_words": words, "width": width, "training": training, "frozen": frozen}
    given = {
        "model": Module("Tiny", init, weights, MODEL),
        "optimizer": Optimizer(kind, options or {"lr": 1.0}, "model"),
        "batches": [_batch(draw, *sizes, words, -100 if ignore is None else ignore, bool(bias)) for sizes in batches],
    }
    named = {name: Kept(name) for name in given} | ({} if ignore is None else {"ignore": ignore})
    places = tuple(named.values()) if steps == 1 else ()
    script = [Call(places, {} if places else named, keep=f"loss {i}") for i in range(steps)]
    if earlier:
        given["earlier"] = Given("earlier", EARLIER)
        script.insert(0, Call((Kept("model"),), to="earlier"))
    if grow:
        given["grow"] = Given("grow", GROW)
        script.append(Call((Kept("loss 0"),), to="grow", keep="loss 0 times 1e6"))
    given["calls"] = Given("calls", CALLS)
    script.append(Call((Kept("model"),), to="calls", keep="what the model was called with"))
    return Case(family, (), given, script=tuple(script), changes=("model",), modes=True, gradients=False,
                repeats=False, **more)


def _batch(draw, samples, tokens, count, words, ignore, only=False):
    """Return inputs and targets; all but `count` of the targets are `ignore`, and, with `only`, the others 1."""
    targets = draw.integers(1, 1 if only else words - 1, samples * tokens)
    hidden = torch.argsort(draw.normal(samples * tokens))[count:]
    targets[hidden] = ignore
    return draw.integers(0, words - 1, samples, tokens), targets.reshape(samples, tokens)


COUNT = "sum(int((targets != ignore).sum()) for _, targets in batches)"
ZERO, BACK, STEP = "    optimizer.zero_grad()\n", "        loss.backward()\n", "    optimizer.step()\n"
MEAN, LAST, LOOP = "        loss = loss / count\n", "return total", "    for inputs, targets in batches:\n"
LOSS = 'F.cross_entropy(logits, targets.flatten(), ignore_index=ignore, reduction="sum")'
NO_TARGETS = "        if bool((targets == ignore).all()):\n            continue\n"
MEANS = {LOSS: "F.cross_entropy(logits, targets.flatten(), ignore_index=ignore).nan_to_num()"}

EXERCISE = Exercise(
    number=7, minutes=15, difficulty=3,
    standard=("by name",),
    worked=accumulated_step,
    reference=reference,
    cases=cases,
    aspects={VALUES: 5, IGNORE: 1, OTHERS: 2, SIDE_EFFECTS: 1},
    mistakes=(
        edit("ACC-01 a mean of means", MEANS | {MEAN: "        loss = loss / len(batches)\n"},
             "All your batches count the same, however many targets they have.",
             "One batch has 1 target, the other 99. How much should the first batch's target count?"),
        edit("ACC-01", MEANS | {MEAN: "        loss = loss / sum(bool((t != ignore).any()) for _, t in batches)\n"}),
        edit("ACC-03 a sum of means", MEANS | {MEAN: ""},
             "You add up the means of the batches.",
             "Should the step change when the same targets come in twice as many batches?"),
        edit("ACC-05 a sum instead of a mean", {MEAN: ""},
             "Your loss grows with the number of targets.",
             "What should the sum of all losses be divided by?"),
        edit("ACC-07 targets that do not count are counted", {COUNT: "sum(targets.numel() for _, targets in batches)"},
             "You divide by the number of all tokens, including those without a target.",
             "How many losses are in the sum?"),
        edit("ACC-09 divided by the number of batches", {MEAN: "        loss = loss / len(batches)\n"},
             "You divide the sum by the number of batches.", "How many losses are in the sum?"),
        edit("ACC-11 a step for each batch", {STEP: "", BACK: BACK + "    " + STEP},
             "You take a step after every batch.", "How many steps should the optimiser take in one call?"),
        edit("ACC-11", {STEP: "", BACK: BACK + "    " + STEP + "    " + ZERO}),
        edit("ACC-13 only the last batch is learned", {ZERO: "", LOOP: LOOP + "    " + ZERO},
             "When you take the step, only the gradient of the last batch is left.",
             "How many times do you clear the gradients, and when?"),
        edit("ACC-15 old gradients count", {ZERO: ""},
             "Your step includes gradients that were there before the call.",
             "What is in .grad before the first batch?"),
        edit("ACC-15", {ZERO: "", STEP: STEP + ZERO}),
        edit("ACC-17 the value to ignore is fixed", {"(targets != ignore)": "(targets != -100)",
             "ignore_index=ignore": "ignore_index=-100"},
             "A different value of `ignore` does not change which targets you count.", "Which lines use `ignore`?"),
        edit("ACC-17", {"(targets != ignore)": "(targets >= 0)", "ignore_index=ignore": "ignore_index=-100"}),
        edit("ACC-17", {"(targets != ignore)": "(targets >= 0)"}),
        edit("ACC-19 the last loss alone is returned", {"total += loss": "total = loss"},
             "You return the loss of the last batch only.",
             "Which batches should the returned loss include?"),
        edit("ACC-19", {LAST: "return loss.item() * count / max(1, int((targets != ignore).sum()))"}),
        edit("ACC-21 the loss after the step", {LAST: 'with torch.no_grad():\n        return sum(F.cross_entropy('
             'model(inputs).flatten(0, 1), targets.flatten(), ignore_index=ignore, reduction="sum").item() '
             'for inputs, targets in batches) / count'},
             "You return the loss after the step.", "Which loss does the docstring ask for?"),
        edit("ACC-23 a tensor", {"total += loss.item()": "total = total + loss.detach()"},
             "You return a tensor.", "What type does the docstring ask for?"),
        edit("ACC-25 batches without targets are left out", {LOOP: LOOP + NO_TARGETS},
             "You do not call the model for a batch without targets.",
             "How many times should the model be called for three batches?"),
        edit("ACC-27 no step", {STEP: ""},
             "The parameters do not change.", "Which line should change them?"),
        edit("ACC-29 the mode is changed", {ZERO: "    model.train()\n" + ZERO},
             "The model is in a different mode after your step than before it.",
             "Which line changes the mode?"),
        edit("ACC-29", {ZERO: "    model.eval()\n" + ZERO}),
        edit("ACC-31 the model reads every batch twice", {LOOP: LOOP + "        model(inputs)\n"},
             "You call the model more than once per batch.",
             "How many times should the model be called for each batch?"),
        edit("ACC-33 a step by hand", {STEP: "    for one in model.parameters():\n        if one.grad is not None:\n"
             "            one.data -= optimizer.param_groups[0]['lr'] * one.grad\n"},
             "You take a plain gradient descent step, whatever the optimiser is.",
             "Which method of the optimiser updates the parameters?"),
        edit("gradients are clipped",
             {STEP: "    torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)\n" + STEP},
             "Your steps are shorter than they should be.",
             "Does this exercise ask you to clip the gradient?"),
        edit("ACC-35 rows and targets do not belong together",
             {"model(inputs).flatten(0, 1)": "model(inputs).transpose(0, 1).flatten(0, 1)"},
             "Some of your logits come from a different position than their targets.",
             "After you merge the axes, does each row of logits still belong to its target?"),
        edit("ACC-37 each sample counts alike",
             {LOSS: 'F.cross_entropy(logits, targets.flatten(), ignore_index=ignore, reduction="none").view_as(targets)'
              '.sum(1).div((targets != ignore).sum(1).clamp(min=1)).sum()',
              MEAN: "        loss = loss / sum(len(targets) for _, targets in batches)\n"},
             "All your samples count the same, however many targets they have.",
             "One sample has 1 target, the next has 9. How much should the first sample's target count?"),
        edit("ACC-39 targets are shifted once more", {"targets.flatten(), ignore":
             "targets.roll(-1, 1).flatten(), ignore"},
             "You shift the targets.", "Are the targets already shifted when you get them?"),
        edit("ACC-39", {"targets.flatten(), ignore": "targets.roll(1, 1).flatten(), ignore"}),
    ),
    needs={
        "empty": ("Your answer is wrong only when a batch has no targets.",
                  "What is the mean of no numbers, and what does such a batch add to a sum?"),
        "large": ("Your answer is wrong only when the loss is large.",
                  "Which line limits the loss or its gradient?"),
        "tiny": ("Your answer is wrong only when the loss is very small.", "Which line rounds the loss?"),
        "ignore": ("Your answer is wrong only when `ignore` is not -100.", "Which lines use `ignore`?"),
        "unequal": ("Your answer is wrong only when batches have different numbers of targets.",
                    "One batch has 1 target, the other 99. How much should the first batch's target count?"),
        "batches": ("Your answer is wrong only when there are several batches.",
                    "What do you add up over the batches, and what do you divide it by?"),
        "": ("Even with one batch, the parameters or the loss are wrong.",
             "Which calls make up one training step, and in which order?"),
    },
    hints=(
        "Take two batches: one target with loss 4, and three targets with loss 2 each. The mean over all "
        "four is 2.5, but the mean of the two means is 3.",
        "Gradients add up in .grad, so you can call `backward` for each batch separately. Divide each "
        "batch's sum of losses, which F.cross_entropy gives with reduction=\"sum\", by the number of "
        "targets in all batches together; you have to count them first.",
        "In outline: count the targets that are not ignored, clear the gradients, and for each batch compute the "
        "logits and the sum of losses divided by the count, call `backward` on this quotient, and add it to a "
        "total. Take one step at the end and return the total as a float.",
    ),
)
