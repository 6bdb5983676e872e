"""Activation patching: a model run with some parts' outputs replaced (Meng et al. 2022; Wang et al. 2023)."""

from autograder.exercises._shared.inner_parts import HOOK_NEEDS, hook_mistakes, whole, with_looks
from autograder.schema import GRADIENTS, REFUSALS, SIDE_EFFECTS, VALUES, Call, Case, Exercise, Given, Kept, edit

CLEAN = "nothing is left behind"


def run_patched(model, replacements, *inputs):
    parts = dict(model.named_modules())
    for name in replacements:
        if name not in parts:
            raise ValueError(f"the model has no part called {name!r}")

    def say(tensor):
        def hook(part, args, output):
            return tensor

        return hook

    hooks = []
    try:
        for name, tensor in replacements.items():
            hooks.append(parts[name].register_forward_hook(say(tensor)))
        return model(*inputs)
    finally:
        for hook in hooks:
            hook.remove()


def reference(model, replacements, *inputs):
    found = {}
    for name in replacements:
        try:
            found[model.get_submodule(name)] = replacements[name]
        except AttributeError:
            raise ValueError("there is no such part") from None
    hooks = [part.register_forward_hook(lambda part, args, output: found[part]) for part in found]
    try:
        return model(*inputs)
    finally:
        for hook in hooks:
            hook.remove()


# Returns the type of the error raised when `name` is one of the replaced parts, and whether the model itself
# raised it.
TRY = """
def attempt(answer, model, name, tensor, x):
    try:
        answer(model, {"start": tensor, name: tensor}, x)
    except Exception as error:
        return [type(error).__name__, "the model's own" in str(error)]
    return ["none", False]
"""


def cases(draw):
    yield _plain(draw, "one part at the top", ["start"])
    several = {"needs": ("several",)}
    yield _plain(draw, "a part inside a part", ["blocks.1.mlp"], **several)
    yield _plain(draw, "several parts", ["blocks.0.mlp", "blocks.1.mlp", "start"], **several)
    yield _plain(draw, "a whole block", ["blocks.0"], needs=("several",))
    yield _plain(draw, "a part inside a part that is replaced", ["blocks.1", "blocks.1.mlp"], **several)
    yield _plain(draw, "a part that is called twice", ["again"], needs=("twice",))
    yield _plain(draw, "a replacement of another shape", ["start"], tokens=1, needs=("shape",))
    yield _plain(draw, "a replacement of zeros", ["blocks.1.mlp"], scale=0.0, needs=("several", "zeros"))
    yield _plain(draw, "a part that returns two things", ["blocks.0.attention"], pair=True, needs=("several", "pairs"))
    yield _plain(draw, "the model itself", [""], needs=("itself",))
    yield _plain(draw, "a part that is not called", ["blocks.0.unused", "start"], needs=("several", "unused"))
    yield _plain(draw, "nothing to replace", [], needs=("none",))
    yield _plain(draw, "two inputs", ["blocks.0.mlp"], inputs=2, needs=("several", "inputs"))
    yield _plain(draw, "one layer, one sample", ["blocks.0.mlp"], n_layers=1, samples=1, **several)
    clean = {"aspect": CLEAN, "needs": ("several", "clean")}
    yield _clean(draw, "hooks of others", ["blocks.0.mlp", "again"], marked=True, aspect=CLEAN,
                 needs=("several", "clean", "twice"))
    yield _clean(draw, "evaluation mode", ["start", "blocks.1.mlp"], training=False, **clean)
    yield _raising(draw, "a model that raises", "blocks.0.mlp", raises=True, aspect=CLEAN, needs=("raises",))
    yield _raising(draw, "a name that is not there", "blocks.2", aspect=REFUSALS, needs=("refused",))
    yield _raising(draw, "a name of no part", "blocks.0.mlp.linear.bias", aspect=REFUSALS, needs=("refused",))


def _given(draw, names, inputs=1, samples=2, n_layers=2, training=True, pair=False, tokens=4, scale=1.0):
    # With `pair`, the part returns a pair, of which the first item is read; a tensor with one more axis also
    # has a first item.
    shape = (1, samples, tokens, 3) if pair else (samples, tokens, 3)
    replacements = {name: draw.normal(*shape, scale=scale) for name in names}
    given = {"model": whole(draw, n_layers=n_layers, training=training), "replacements": replacements}
    return given | {f"x{i}": draw.normal(samples, 4, 3) for i in range(inputs)}


def _plain(draw, family, names, **more):
    sizes = {key: more.pop(key) for key in ("inputs", "samples", "n_layers", "pair", "tokens", "scale") if key in more}
    return Case(family, tuple(_given(draw, names, **sizes).values()), modes=True, **more)


def _clean(draw, family, names, marked=False, training=True, **more):
    given = _given(draw, names, training=training)
    call = Call((Kept("model"), Kept("replacements"), Kept("x0")), keep="output")
    return with_looks(family, given, call, (), marked, gradients=False, repeats=False, **more)


def _raising(draw, family, name, raises=False, **more):
    given = {"model": whole(draw, raises=raises), "name": name, "tensor": draw.normal(2, 4, 3),
             "x": draw.normal(2, 4, 3), "attempt": Given("attempt", TRY)}
    call = Call((Kept("answer"), *map(Kept, ("model", "name", "tensor", "x"))), to="attempt", keep="error")
    return with_looks(family, given, call, gradients=False, repeats=False, **more)


SAY, RUN = "return tensor\n", "        return model(*inputs)\n"
CHECK = """    for name in replacements:
        if name not in parts:
            raise ValueError(f"the model has no part called {name!r}")
"""
ADD = """    try:
        for name, tensor in replacements.items():
            hooks.append(parts[name].register_forward_hook(say(tensor)))
"""
ADD_EACH = """    for name, tensor in replacements.items():
        if name not in parts:
            raise ValueError(name)
        hooks.append(parts[name].register_forward_hook(say(tensor)))
    try:
"""
REMOVE = "        for hook in hooks:\n            hook.remove()\n"
TO_EACH = "register_forward_hook(say(tensor))"

EXERCISE = Exercise(
    number=7, minutes=12, difficulty=3,
    worked=run_patched,
    reference=reference,
    cases=cases,
    standard=("float64",),
    aspects={VALUES: 3, CLEAN: 2, REFUSALS: 1, GRADIENTS: 1, SIDE_EFFECTS: 1},
    mistakes=(
        edit("PATCH-01 nothing is replaced", {SAY: "pass\n"},
             "Your model runs as if nothing had been replaced.",
             "What must a hook return to replace an output?"),
        edit("PATCH-03 added instead of replaced",
             {SAY: "return (output + tensor) if hasattr(output, 'shape') else output\n"},
             "You add the tensor to the part's own output.",
             "Should anything of the part's own output remain?"),
        edit("PATCH-05 the input is replaced", {"def hook(part, args, output)": "def hook(part, args)",
             "register_forward_hook": "register_forward_pre_hook"},
             "You replace the input of the part.", "Should the input of a part be replaced, or its output?"),
        edit("PATCH-07 every hook says the last tensor", {TO_EACH: "register_forward_hook(lambda part, args, output: "
             "tensor)"},
             "All your parts return the last tensor.",
             "Does a function in a loop look up `tensor` when it is defined or when it is called?"),
        edit("PATCH-09 only the first part is replaced", {"in replacements.items():": "in "
             "list(replacements.items())[:1]:"},
             "You replace only one of the parts.", "How many parts does the dict name?"),
        edit("PATCH-11 hooks stay", {REMOVE: "        pass\n"},
             "After your call, the parts of the model still return the replacements.", "Which line removes a hook?"),
        edit("PATCH-13 hooks stay after an error", {RUN + "    finally:\n" + REMOVE:
             "        result = model(*inputs)\n    finally:\n        pass\n    for hook in hooks:\n"
             "        hook.remove()\n    return result\n"},
             "If the model raises an error, your hooks stay on it.",
             "Which of your lines still run after an error?"),
        edit("PATCH-39 hooks stay after a wrong name", {CHECK: "", ADD: ADD_EACH},
             "If a name is not there, the hooks that you added before stay on the model.",
             "Which of the names should be looked up before the first hook is added?"),
        edit("PATCH-17 cut off from gradients", {SAY: "return tensor.detach()\n"},
             "The output is right, but no gradient reaches the replacement.", "Which step detaches the replacement?"),
        edit("PATCH-19 run without gradients", {RUN: "        with __import__('torch').no_grad():\n"
             "            return model(*inputs)\n"},
             "The output is right, but no gradient reaches anything.",
             "Does the exercise ask you to switch gradients off?"),
        edit("PATCH-21 pairs stay pairs",
             {SAY: "return (tensor, *output[1:]) if isinstance(output, tuple) else tensor\n"},
             "In your run, a part that normally returns two things does not return the replacement itself.",
             "When such a part is replaced, should it return the tensor, or a pair that contains it?"),
        edit("PATCH-21", {SAY: "return output if isinstance(output, tuple) else tensor\n"}),
        *hook_mistakes("PATCH-15", "PATCH-23", "PATCH-25", "PATCH-27", "PATCH-29", "PATCH-31", "PATCH-33", "PATCH-41"),
        edit("PATCH-43 the model is called twice", {RUN: "        model(*inputs)\n" + RUN},
             "You call the model twice.", "How many runs of the model do you need?"),
        edit("PATCH-43", {"    hooks = []\n": "    hooks = []\n    model(*inputs)\n"}),
        edit("PATCH-45 forward is called", {RUN: "        return model.forward(*inputs)\n"},
             "You call `forward` directly, so a hook on the model itself never runs.",
             "Which call runs the hooks of a module: model(x) or model.forward(x)?"),
        edit("PATCH-35 the replacement is returned", {RUN: "        model(*inputs)\n"
             "        return next(reversed(list(replacements.values())), None)\n"},
             "You return the replacement.", "Should you return a part's output or the model's?"),
        edit("PATCH-37 a part that is not called is an error",
             {"    hooks = []\n": "    hooks, said = [], []\n", SAY: "said.append(part)\n            return tensor\n",
              RUN: "        result = model(*inputs)\n        if not set(said) >= {parts[n] for n in replacements}:\n"
              "            raise ValueError('a part was not called')\n        return result\n"},
             "You raise an error for a part that is not called.",
             "What does the docstring say about such a part?"),
    ),
    needs=HOOK_NEEDS | {
        "clean": ("The output is right, but your call leaves the model changed.",
                  "What have you added to the model, and where do you remove it?"),
        "twice": ("Your answer is wrong only for a part that is called twice.",
                  "In how many calls does your hook replace the output?"),
        "shape": ("Your answer is wrong only when a replacement has another shape than the part's own output.",
                  "Should your hook use anything of the part's own output?"),
        "zeros": ("Your answer is wrong only when a replacement is all zeros.",
                  "How do you decide whether there is a replacement?"),
        "pairs": ("Your answer is wrong only for a part that returns two things.",
                  "When such a part is replaced, should it return the tensor, or a pair that contains it?"),
        "unused": ("Your answer is wrong only when a part is not called.",
                   "What does the docstring say about such a part?"),
        "none": ("Your answer is wrong only when nothing is replaced.",
                 "What should the model return when nothing is replaced?"),
        "several": ("Your answer is wrong only for several parts or nested ones.",
                    "Which tensor does each hook return, and how does named_modules name a nested part?"),
        "": ("Your answer is wrong even for one part at the top level.",
             "What must a hook return to replace an output?"),
    },
    hints=(
        "When a forward hook returns something other than None, PyTorch uses that in place of the part's "
        "output. Try it with one part and a tensor of zeros.",
        "Each name needs a hook that knows its own tensor, for example through a default argument. Remove all hooks in "
        "a `finally`, so that none stays even if the model raises.",
        "In outline: check the names and raise ValueError for an unknown one; in a `try`, register for each name "
        "a hook that returns the tensor given for that name; after this loop, still in the `try`, call the model "
        "and return its output; in `finally`, remove the hooks.",
    ),
)
