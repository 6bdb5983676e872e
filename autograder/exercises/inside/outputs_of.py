"""The outputs of parts of a model, read with hooks that are removed afterwards."""

from autograder.exercises._shared.inner_parts import HOOK_NEEDS, hook_mistakes, whole, with_looks
from autograder.schema import REFUSALS, SIDE_EFFECTS, VALUES, Call, Exercise, Given, Kept, edit

CLEAN = "nothing is left behind"


def outputs_of(model, names, *inputs):
    parts = dict(model.named_modules())
    for name in names:
        if name not in parts:
            raise ValueError(f"the model has no part called {name!r}")
    found, hooks = {}, []

    def keep(name):
        def hook(part, args, output):
            found[name] = output

        return hook

    try:
        for name in names:
            hooks.append(parts[name].register_forward_hook(keep(name)))
        model(*inputs)
    finally:
        for hook in hooks:
            hook.remove()
    return found


def reference(model, names, *inputs):
    parts = dict.fromkeys(names)
    for name in parts:
        try:
            parts[name] = model.get_submodule(name)
        except AttributeError:
            raise ValueError("there is no such part") from None
    calls = []
    hooks = [part.register_forward_hook(lambda part, args, output: calls.append((part, output)))
             for part in parts.values()]
    try:
        model(*inputs)
    finally:
        for hook in hooks:
            hook.remove()
    return {name: output for one, output in calls for name, part in parts.items() if part is one}


# These return whether each output is the very object that the part returned, and which parameters a gradient
# reaches.
SAME = """
def same(found, model):
    kept = {name: getattr(model.get_submodule(name), "last", None) for name in found}
    return {name: value is kept[name] for name, value in found.items() if kept[name] is not None}
"""
GRADIENTS = """
def flow(found, model):
    total = sum(value.square().sum() for value in found.values() if torch.is_tensor(value))
    total.backward()
    flows = {name: p.grad is not None and bool(p.grad.any()) for name, p in model.named_parameters()}
    model.zero_grad()
    return flows
"""
TRY = """
def attempt(answer, model, names, x):
    try:
        answer(model, names, x)
    except Exception as error:
        return [type(error).__name__, "the model's own" in str(error)]
    return ["none", False]
"""


def cases(draw):
    yield _case(draw, "one part at the top", ["start"])
    deep = {"needs": ("several",)}
    yield _case(draw, "several parts, deep", ["blocks.1.mlp", "start", "blocks.0"], **deep)
    yield _case(draw, "the model itself", ["", "start"], needs=("several", "itself"))
    yield _case(draw, "a part that returns two things", ["blocks.0.attention"], needs=("pairs",))
    yield _case(draw, "a part that is called twice", ["again"], needs=("twice",))
    yield _case(draw, "a part that is not called", ["blocks.0.unused", "blocks.1.mlp"], needs=("several", "unused"))
    yield _case(draw, "a part inside a part", ["blocks.0.mlp.linear", "blocks.0.mlp"], **deep)
    yield _case(draw, "a name twice", ["start", "blocks.0", "start"], **deep)
    yield _case(draw, "two inputs", ["start", "blocks.1"], inputs=2, needs=("several", "inputs"))
    yield _case(draw, "one layer, one sample", ["blocks.0"], n_layers=1, samples=1)
    clean = {"aspect": CLEAN, "needs": ("several", "clean")}
    yield _case(draw, "hooks of others", ["start", "blocks.1.mlp"], marked=True, **clean)
    yield _case(draw, "evaluation mode", ["start", "again"], training=False, **clean)
    yield _flow(draw, ["blocks.1.mlp", "start"], aspect=CLEAN, needs=("several", "flow"))
    yield _raising(draw, "a model that raises", ["start", "blocks.0.mlp"], raises=True, aspect=CLEAN,
                   needs=("raises",))
    yield _raising(draw, "a name that is not there", ["start", "blocks.2"], aspect=REFUSALS, needs=("refused",))
    yield _raising(draw, "a name of no part", ["blocks.0.mlp.linear.weight"], aspect=REFUSALS, needs=("refused",))


def _case(draw, family, names, inputs=1, samples=2, marked=False, n_layers=2, training=True, **more):
    given = {"model": whole(draw, n_layers=n_layers, training=training), "names": names}
    given |= {f"x{i}": draw.normal(samples, 4, 3) for i in range(inputs)} | {"same": Given("same", SAME)}
    call = Call((Kept("model"), Kept("names"), *(Kept(f"x{i}") for i in range(inputs))), keep="outputs")
    same = Call((Kept("outputs"), Kept("model")), to="same", keep="the very objects")
    return with_looks(family, given, call, (same,), marked, gradients=False, repeats=False, **more)


def _flow(draw, names, **more):
    given = {"model": whole(draw), "names": names, "x": draw.normal(2, 4, 3), "flow": Given("flow", GRADIENTS)}
    call = Call((Kept("model"), Kept("names"), Kept("x")), keep="outputs", shown=False)
    flow = Call((Kept("outputs"), Kept("model")), to="flow", keep="parameters that a gradient reaches")
    return with_looks("gradients through the outputs", given, call, (flow,), gradients=False, repeats=False, **more)


def _raising(draw, family, names, raises=False, **more):
    given = {"model": whole(draw, raises=raises), "names": names, "x": draw.normal(2, 4, 3)}
    given["attempt"] = Given("attempt", TRY)
    call = Call((Kept("answer"), Kept("model"), Kept("names"), Kept("x")), to="attempt", keep="error")
    return with_looks(family, given, call, gradients=False, repeats=False, **more)


KEEP, HOOK, REMOVE = "found[name] = output", "register_forward_hook(keep(name))", "            hook.remove()\n"
FINALLY = "    finally:\n        for hook in hooks:\n            hook.remove()\n"
REFUSE = 'if name not in parts:\n            raise ValueError(f"the model has no part called {name!r}")'

EXERCISE = Exercise(
    number=1, minutes=15, difficulty=3,
    worked=outputs_of,
    reference=reference,
    cases=cases,
    aspects={VALUES: 3, CLEAN: 2, REFUSALS: 1, SIDE_EFFECTS: 1},
    mistakes=(
        edit("HOOK-01 hooks stay", {REMOVE: "            pass\n"},
             "After your call, your hooks are still on the model.", "Which line removes a hook?"),
        edit("HOOK-03 hooks stay after an error", {FINALLY: "    finally:\n        pass\n    for hook in hooks:\n"
             "        hook.remove()\n"},
             "If the model raises an error, your hooks stay on it.",
             "Which of your lines still run after an error?"),
        edit("HOOK-07 what goes in instead of what comes out", {KEEP: "found[name] = args[0]"},
             "You keep the inputs of the parts.", "Which of a hook's arguments is the output?"),
        edit("HOOK-09 the first call instead of the last", {KEEP: "found.setdefault(name, output)"},
             "You keep the first output of a part that is called twice.",
             "Which of several calls counts, according to the docstring?"),
        edit("HOOK-11 a list of all calls", {KEEP: "found.setdefault(name, []).append(output)"},
             "You keep a list of outputs for each part.", "What should the value for each name be?"),
        edit("HOOK-13 copies", {KEEP: "found[name] = output.clone() if hasattr(output, 'clone') else output"},
             "You keep copies of the outputs.", "Is a clone the very object that the part returned?"),
        edit("HOOK-15 cut off from gradients", {KEEP: "found[name] = output.detach() if hasattr(output, 'detach') "
             "else output"},
             "You detach the outputs that you keep.", "Should gradients be able to flow through them?"),
        edit("HOOK-17 run without gradients", {"        model(*inputs)\n":
             "        with __import__('torch').no_grad():\n            model(*inputs)\n"},
             "You run the model without gradients.", "Does the exercise ask you to switch gradients off?"),
        edit("HOOK-19 only the first of two outputs",
             {KEEP: "found[name] = output[0] if isinstance(output, tuple) else output"},
             "When a part returns two things, you keep only one of them.", "Which object did the part return?"),
        edit("HOOK-21 an entry for a part that was not called",
             {"found, hooks = {}": "found, hooks = dict.fromkeys(names)"},
             "Your result has an entry for a part that was not called.", "Which names should be missing?"),
        *hook_mistakes("HOOK-05", "HOOK-23", "HOOK-25", "HOOK-27", "HOOK-31", "HOOK-33", "HOOK-35", "HOOK-43"),
        edit("HOOK-45 forward is called", {"        model(*inputs)\n": "        model.forward(*inputs)\n"},
             "You call `forward` directly, so a hook on the model itself never runs.",
             "Which call runs the hooks of a module: model(x) or model.forward(x)?"),
        edit("HOOK-25", {REFUSE: "if name not in parts:\n            break"}),
        edit("HOOK-29 the model is called twice", {"        model(*inputs)\n": "        model(*inputs)\n"
             "        model(*inputs)\n"},
             "You call the model twice.", "How many runs of the model do the hooks need?"),
        edit("HOOK-37 every hook keeps the last name", {HOOK: "register_forward_hook(lambda part, args, output: "
             "found.__setitem__(name, output))"},
             "All your hooks write under the last name.",
             "Does a function in a loop look up `name` when it is defined or when it is called?"),
        edit("HOOK-39 the output of the model", {"        model(*inputs)\n": "        result = model(*inputs)\n",
             "return found": "return dict.fromkeys(found, result)"},
             "You store the model's own output under every name.", "Which output belongs to each name?"),
        edit("HOOK-41 a list instead of a dict", {"return found": "return list(found.values())"},
             "You return a list.", "How can the caller find the output of a certain part?"),
    ),
    needs=HOOK_NEEDS | {
        "clean": ("The outputs are right, but your call leaves the model changed.",
                  "What have you added to the model, and where do you remove it?"),
        "flow": ("The outputs are right, but no gradient flows back through them.",
                 "Which step detaches an output or switches gradients off?"),
        "twice": ("Your answer is wrong only for a part that is called twice.",
                  "Which of several calls counts, according to the docstring?"),
        "pairs": ("Your answer is wrong only for a part that returns two things.",
                  "Which object did the part return?"),
        "unused": ("Your answer is wrong only when a part is not called.", "Which names should be missing?"),
        "several": ("Your answer is wrong only for several parts or nested ones.",
                    "Which name does each hook write under, and how does named_modules name a nested part?"),
        "": ("Your answer is wrong even for one part at the top level.",
             "Which of a hook's arguments is the output?"),
    },
    hints=(
        "PyTorch calls a forward hook as hook(part, args, output) each time its part has run. The hook "
        "should store `output` under the name of its part and return nothing.",
        "register_forward_hook returns a handle, whose remove() takes the hook off again. Call it in a `finally`, "
        "so that the hook is removed even if the model raises. In a loop, bind each part's name to its hook, for "
        "example as a default argument; otherwise every hook stores its output under the last name.",
        "In outline: check the names against those of named_modules and raise ValueError for an unknown "
        "one; in a `try`, register a hook for each name and call the model once; in `finally`, remove the "
        "hooks; return the dict.",
    ),
)
