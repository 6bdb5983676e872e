"""A small model with nested parts, checks on it by its callers, and mistakes with hooks, for lesson 21."""

from autograder.schema import Call, Case, Given, Kept, Module, edit

# It counts its calls, keeps what each part returned, and raises if it is asked to.
MODEL = """
class Part(nn.Module):
    # It remembers the very object that it returned.
    def __init__(self, width, pair=False, **more):
        super().__init__()
        self.linear, self.pair, self.last = nn.Linear(width, width, **more), pair, None

    def forward(self, x):
        out = torch.tanh(self.linear(x))
        self.last = (out, out.sum(-1)) if self.pair else out
        return self.last


class Block(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.attention, self.mlp = Part(width, pair=True), Part(width)
        self.unused, self.calls = Part(width), 0

    def forward(self, x):
        self.calls += 1
        x = x + self.attention(x)[0]
        return x + self.mlp(x)


class Whole(nn.Module):
    def __init__(self, width, n_layers=2, training=True, raises=False):
        super().__init__()
        self.start, self.again = Part(width), Part(width)
        self.blocks = nn.ModuleList(Block(width) for _ in range(n_layers))
        self.raises, self.calls, self.last = raises, 0, None
        self.train(training)
        self.graded = []

    def forward(self, x, scale=None):
        self.calls += 1
        self.graded.append(torch.is_grad_enabled())
        x = self.start(x) if scale is None else self.start(x) * scale
        for block in self.blocks:
            x = block(x)
        if self.raises:
            raise KeyError("the model's own error")
        # Called twice: the last call counts.
        self.last = self.again(self.again(x) * (0.5 if self.training else 1.0))
        return self.last
"""
PARTS = ("start", "again", *(f"blocks.{i}.{part}" for i in range(2) for part in ("attention", "mlp", "unused")))
# Another hook, which someone else has left on a part, and which stays there.
MARK = """
def mark(model):
    seen = model.__dict__.setdefault("seen", [])
    model.get_submodule("start").register_forward_hook(lambda part, args, output: seen.append(list(output.shape)))
    model.get_submodule("blocks.1.mlp").register_forward_pre_hook(lambda part, args: seen.append(len(args)))
"""
LOOK = """
def look(model):
    seen, calls, graded = list(model.__dict__.get("seen", [])), model.calls, list(model.graded)
    weight = model.start.linear.weight
    x = torch.linspace(-1.0, 1.0, len(weight), dtype=weight.dtype).repeat(2, 4, 1)
    try:
        said = model(x).detach()
    except KeyError:
        said = None
    kinds = ("_forward_hooks", "_forward_pre_hooks", "_backward_hooks", "_backward_pre_hooks")
    return {
        "calls of the model": calls,
        "hooks left": {f"{path or 'the model'}{kind}": len(getattr(part, kind)) for path, part in model.named_modules()
                       for kind in kinds if len(getattr(part, kind))},
        "hooks on all modules": len(nn.modules.module._global_forward_hooks),
        "seen by another's hook": seen,
        "modes": [part.training for part in model.modules()],
        "gradients were on": graded,
        "parts": sorted(model._modules),
        "all learns": all(p.requires_grad for p in model.parameters()),
        "what it says afterwards": said,
    }
"""
LOOKING = Call((Kept("model"),), to="look", keep="the model afterwards")


def whole(draw, width=3, n_layers=2, training=True, raises=False):
    """Return the model as a case's argument."""
    weights, rows = {}, [f"blocks.{i}.{part}" for i in range(n_layers) for part in ("attention", "mlp", "unused")]
    for part in ("start", "again", *rows):
        weights[f"{part}.linear.weight"] = draw.normal(width, width)
        weights[f"{part}.linear.bias"] = draw.normal(width)
    init = {"width": width, "n_layers": n_layers, "training": training, "raises": raises}
    return Module("Whole", init, weights, MODEL)


def with_looks(family, given, call, more=(), marked=False, **fields):
    """Return a case of one call, after which the model is inspected; with `marked`, it also has someone
    else's hooks.
    """
    given = given | {"look": Given("look", LOOK), "mark": Given("mark", MARK)}
    first = (Call((Kept("model"),), to="mark"),) if marked else ()
    return Case(family, (), given, script=(*first, call, *more, LOOKING), modes=True, **fields)


# Of worked answers with these lines: the words about each, without its id, which differs from exercise to
# exercise.
_REMOVE, _MISSING = "            hook.remove()\n", "if name not in parts:"
_REFUSE = _MISSING + '\n            raise ValueError(f"the model has no part called {name!r}")'
_HOOK_MISTAKES = (
    ("hooks of others are removed, too",
     {_REMOVE: "            pass\n        for part in model.modules():\n"
      "            part._forward_hooks.clear()\n            part._forward_pre_hooks.clear()\n"},
     "Hooks that others have left on the model are gone.", "Whose hooks do you remove?"),
    ("unknown names are left out",
     {_REFUSE: _MISSING + "\n            parts[name] = __import__('torch').nn.Identity()"},
     "A name that is not there is passed over.", "What happens to somebody who mistypes a name?"),
    ("another error", {"raise ValueError(": "raise KeyError("},
     "A name that is not there gives another error than a ValueError.", "Which error does the exercise ask for?"),
    ("the model runs before the names are looked at", {"    parts = dict": "    model(*inputs)\n    parts = dict"},
     "Your model is called more than once, or before the names are looked at.",
     "How often may the model be called, and when is it known that a name is wrong?"),
    ("evaluation mode", {"    try:\n": "    model.eval()\n    try:\n"},
     "You put the model into evaluation mode.", "Who decides in which mode a model computes?"),
    ("only the first input", {"model(*inputs)": "model(inputs[0])"},
     "Your model gets its first input only.", "What does the star before `inputs` stand for?"),
    ("only the top", {"model.named_modules()": "model.named_children()"},
     "Parts inside parts are not found.", "How deep does named_children go?"),
)
HOOK_NEEDS = {
    "refused": ("Parts that are there come out right; a name that is not there does not.",
                "Which error should come, and has the model run by then?"),
    "raises": ("While the model runs through you are right; if it raises you are not.",
               "Which lines run after an error?"),
    "itself": ("Parts are right in yours; the model itself is not.", "Which name does named_modules give it?"),
    "inputs": ("With one input you are right; with two you are not.", "What does the star before `inputs` stand for?"),
}


def hook_mistakes(*ids):
    """Return these mistakes, each under the id that it has in an exercise."""
    return tuple(edit(f"{one} {title}", *words) for one, (title, *words) in zip(ids, _HOOK_MISTAKES, strict=True))
