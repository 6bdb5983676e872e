"""What parts of a model returned, read by hooks that do not stay."""

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


# Whether what came back is the very object, and whether a gradient reaches the model through it.
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
             "After your call, hooks of yours are still on the model.",
             "What happens at the next call of the model, and the one after it?"),
        edit("HOOK-03 hooks stay after an error", {FINALLY: "    finally:\n        pass\n    for hook in hooks:\n"
             "        hook.remove()\n"},
             "If the model raises, hooks of yours stay on it.", "Which lines run after an error?"),
        edit("HOOK-07 what goes in instead of what comes out", {KEEP: "found[name] = args[0]"},
             "You keep what the parts were given.", "Which of a hook's arguments is the output?"),
        edit("HOOK-09 the first call instead of the last", {KEEP: "found.setdefault(name, output)"},
             "Of a part that is called twice you keep the first output.", "Which of several calls counts?"),
        edit("HOOK-11 a list of all calls", {KEEP: "found.setdefault(name, []).append(output)"},
             "You keep a list for each part.", "What should stand under each name?"),
        edit("HOOK-13 copies", {KEEP: "found[name] = output.clone() if hasattr(output, 'clone') else output"},
             "You keep copies of what the parts returned.", "Is a clone the object that the part returned?"),
        edit("HOOK-15 cut off from gradients", {KEEP: "found[name] = output.detach() if hasattr(output, 'detach') "
             "else output"},
             "What you keep has lost its way back to the model.", "What does detach take away from a tensor?"),
        edit("HOOK-17 run without gradients", {"        model(*inputs)\n":
             "        with __import__('torch').no_grad():\n            model(*inputs)\n"},
             "You run the model without gradients.", "Who decides whether gradients are recorded?"),
        edit("HOOK-19 only the first of two outputs",
             {KEEP: "found[name] = output[0] if isinstance(output, tuple) else output"},
             "Of a part that returns two things you keep one.", "What did the part return?"),
        edit("HOOK-21 an entry for a part that was not called",
             {"found, hooks = {}": "found, hooks = dict.fromkeys(names)"},
             "A part that was not called has an entry.", "Which names should be missing?"),
        *hook_mistakes("HOOK-05", "HOOK-23", "HOOK-25", "HOOK-27", "HOOK-31", "HOOK-33", "HOOK-35"),
        edit("HOOK-25", {REFUSE: "if name not in parts:\n            break"}),
        edit("HOOK-29 the model is called twice", {"        model(*inputs)\n": "        model(*inputs)\n"
             "        model(*inputs)\n"},
             "Your model is called twice.", "How often must it run for the hooks to see everything?"),
        edit("HOOK-37 every hook keeps the last name", {HOOK: "register_forward_hook(lambda part, args, output: "
             "found.__setitem__(name, output))"},
             "All your hooks write under the last name.",
             "When does a function look up the name that it uses: when it is made, or when it runs?"),
        edit("HOOK-39 the output of the model", {"        model(*inputs)\n": "        result = model(*inputs)\n",
             "return found": "return dict.fromkeys(found, result)"},
             "Every name holds the model's own output.", "What did the part return?"),
        edit("HOOK-41 a list instead of a dict", {"return found": "return list(found.values())"},
             "You return a list.", "How does the caller find the part that it asked for?"),
    ),
    combinable=("HOOK-01", "HOOK-07", "HOOK-13"),
    needs=HOOK_NEEDS | {
        "clean": ("The outputs are right; the model is another afterwards.",
                  "What on the model have you changed, and who set it back?"),
        "flow": ("The outputs are right, but no gradient flows back through them.",
                 "What takes a tensor's way back to the model away?"),
        "twice": ("Parts that are called once are right; one that is called twice is not.",
                  "Which of several calls counts?"),
        "pairs": ("Parts that return a tensor are right; one that returns two things is not.",
                  "What did the part return?"),
        "unused": ("Parts that are called are right; with one that is not, you are not.",
                   "Which names should be missing?"),
        "several": ("One part at the top is right in yours; several, or deep ones, are not.",
                    "Which name does each hook write under, and which names does named_modules give?"),
        "": ("Even one part at the top comes out wrong.", "Which of a hook's arguments is the output?"),
    },
    hints=(
        "A hook is called as hook(part, args, output) each time its part has run. What should it do with `output`, and "
        "under which name?",
        "register_forward_hook gives back a handle. Who calls its remove(), also if the model raises?",
        "The shape of it: check the names; a hook for each, which knows its own name; one call in a `try`; the handles "
        "removed in its `finally`; the dict.",
    ),
)
