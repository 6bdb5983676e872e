"""A small model with nested parts, functions that inspect it after a call, and mistakes with hooks (for
lesson 21).
"""

from autograder.schema import Call, Case, Given, Kept, Module, edit

# The model counts its calls, keeps what each part returned, and raises if it is asked to.
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
# Hooks that someone else has left on two parts, and that must stay there.
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
    """Return the small model, to be passed as an argument in a case."""
    weights, rows = {}, [f"blocks.{i}.{part}" for i in range(n_layers) for part in ("attention", "mlp", "unused")]
    for part in ("start", "again", *rows):
        weights[f"{part}.linear.weight"] = draw.normal(width, width)
        weights[f"{part}.linear.bias"] = draw.normal(width)
    init = {"width": width, "n_layers": n_layers, "training": training, "raises": raises}
    return Module("Whole", init, weights, MODEL)


def with_looks(family, given, call, more=(), marked=False, **fields):
    """Return a case that makes `call`, then the calls in `more`, and then inspects the model. If `marked`,
    the model already has hooks before `call`.
    """
    given = given | {"look": Given("look", LOOK), "mark": Given("mark", MARK)}
    first = (Call((Kept("model"),), to="mark"),) if marked else ()
    return Case(family, (), given, script=(*first, call, *more, LOOKING), modes=True, **fields)


# Mistakes for worked answers that contain these lines. They have no ids yet, because the ids differ between
# exercises.
_REMOVE, _MISSING = "            hook.remove()\n", "if name not in parts:"
_REFUSE = _MISSING + '\n            raise ValueError(f"the model has no part called {name!r}")'
_HOOK_MISTAKES = (
    ("hooks of others are removed, too",
     {_REMOVE: "            pass\n        for part in model.modules():\n"
      "            part._forward_hooks.clear()\n            part._forward_pre_hooks.clear()\n"},
     "You also remove hooks that were on the model before your call.", "Which hooks may you remove: all, or your own?"),
    ("unknown names are left out",
     {_REFUSE: _MISSING + "\n            parts[name] = __import__('torch').nn.Identity()"},
     "You silently ignore a name that no part has.", "What should happen when the caller mistypes a name?"),
    ("another error", {"raise ValueError(": "raise KeyError("},
     "For an unknown name you raise an error of the wrong type.", "Which error does the exercise ask for?"),
    ("the model runs before the names are looked at", {"    parts = dict": "    model(*inputs)\n    parts = dict"},
     "You call the model more than once, or before you have checked the names.",
     "How many times should the model run, and what must be checked before it does?"),
    ("evaluation mode", {"    try:\n": "    model.eval()\n    try:\n"},
     "You put the model into evaluation mode.", "Should your function change the mode of the model?"),
    ("only the first input", {"model(*inputs)": "model(inputs[0])"},
     "You pass only the first input to the model.",
     "What does the star in `*inputs` mean, in the signature and in a call?"),
    ("only the top", {"model.named_modules()": "model.named_children()"},
     "You do not find parts that are inside other parts.",
     "Does named_children also list parts inside other parts?"),
    ("a tuple of inputs", {"model(*inputs)": "model(inputs)"},
     "You pass all inputs to the model as a single tuple.",
     "What does the star in `*inputs` mean, in the signature and in a call?"),
)
HOOK_NEEDS = {
    "refused": ("Your answer is wrong only for a name that no part has.",
                "Which error should you raise, and may the model run before that?"),
    "raises": ("Your answer is wrong only when the model raises an error.",
               "Which of your lines still run after an error?"),
    "itself": ("Your answer is wrong only when the model itself is named.",
               "Which name does named_modules give to the model itself?"),
    "inputs": ("Your answer is wrong only for a model with two inputs.",
               "What does the star in `*inputs` mean, in the signature and in a call?"),
}


def hook_mistakes(*ids):
    """Return the mistakes with hooks, which several exercises share, and give them these ids in order."""
    return tuple(edit(f"{one} {title}", *words) for one, (title, *words) in zip(ids, _HOOK_MISTAKES, strict=True))
