"""Replacing linear layers by name anywhere in a model, and freezing the model's original parameters."""

from torch import nn

from autograder.schema import REFUSALS, VALUES, Call, Case, Exercise, Given, Kept, Module, edit, wrong


def replace_linears(model, names, make):
    layers = [(path, part) for path, part in model.named_modules()
              if path and isinstance(part, nn.Linear) and path.split(".")[-1] in names]
    if not layers:
        raise ValueError(f"no linear layer is called {names}")
    for parameter in model.parameters():
        parameter.requires_grad_(False)
    for path, part in layers:
        parent, _, name = path.rpartition(".")
        setattr(model.get_submodule(parent), name, make(part))
    return len(layers)


def reference(model, names, make):
    before, found = list(model.parameters()), []

    def search(module):
        for name, part in module.named_children():
            search(part)
            if isinstance(part, nn.Linear) and name in names:
                found.append((module, name, part))

    search(model)
    if not found:
        raise ValueError("there is no such layer")
    for module, name, part in found:
        module.add_module(name, make(part))
    for parameter in before:
        parameter.requires_grad = False
    return len(found)


MODEL = """
class Own(nn.Linear):
    pass


class Attention(nn.Module):
    def __init__(self, width, kind):
        super().__init__()
        self.q_proj, self.k_proj = kind(width, width), nn.Linear(width, width, bias=False)
        self.my_q_proj = nn.Linear(width, width)

    def forward(self, x):
        return torch.tanh(self.q_proj(x)) * self.k_proj(x) + self.my_q_proj(x)


class Layer(nn.Module):
    def __init__(self, width, kind):
        super().__init__()
        self.norm, self.attention = nn.LayerNorm(width), Attention(width, kind)
        self.up = nn.Sequential(nn.Linear(width, width), nn.Tanh(), nn.Linear(width, width))

    def forward(self, x):
        x = x + self.attention(self.norm(x))
        return x + self.up(x)


class Deep(nn.Module):
    def __init__(self, width, n_layers, own=False):
        super().__init__()
        self.embedding = nn.Embedding(5, width)
        self.layers = nn.ModuleList(Layer(width, Own if own else nn.Linear) for _ in range(n_layers))
        self.linear, self.head = nn.Linear(width, width), nn.Linear(width, 5)

    def forward(self, ids):
        x = self.embedding(ids)
        for layer in self.layers:
            x = layer(x)
        return self.head(self.linear(x))
"""
MAKE = """
class Beside(nn.Module):
    # What is made of a layer: the layer, and a layer of its own beside it.
    def __init__(self, linear):
        super().__init__()
        self.linear = linear
        self.extra = nn.Linear(linear.in_features, linear.out_features, dtype=linear.weight.dtype)
        with torch.no_grad():
            self.extra.weight.copy_(0.3 * linear.weight.cos())
            self.extra.bias.fill_(0.1)

    def forward(self, x):
        return self.linear(x) + self.extra(x)


calls, made = [], []


def make(linear):
    if any(linear is one.extra for one in made) or sum(linear is one for one in calls) > 1:
        raise ValueError("`make` is called with a layer that is inside a module that it has returned")
    calls.append(linear)
    made.append(Beside(linear))
    return made[-1]
"""
# Returns the model's original modules by path.
BEFORE = "def before(model):\n    return dict(model.named_modules())\n"
LOOK = """
def look(model, before, make, names):
    calls = make.__globals__["calls"]
    return {
        "parts": {path: type(part).__name__ for path, part in model.named_modules()},
        "layers given to make": sorted(
            path for path, part in before.items() for one in calls if one is part),
        "old layers inside the new ones": [
            path for path, part in model.named_modules()
            if type(part).__name__ == "Beside" and part.linear is before.get(path)],
        "names": list(names),
    }
"""
LEARNS = "def learns(model):\n    return {name: p.requires_grad for name, p in model.named_parameters()}\n"
RUN = "def run(model, ids):\n    return model(ids).detach()\n"
TRY = """
def attempt(answer, model, names, make):
    # Which error comes, and what it leaves behind.
    try:
        answer(model, names, make)
    except Exception as error:
        kind = type(error).__name__
    else:
        kind = "none"
    learns = {name: p.requires_grad for name, p in model.named_parameters()}
    return {"error": kind, "learns": learns, "parts": {path: type(one).__name__ for path, one in model.named_modules()}}
"""
FROZEN = "what learns afterwards"


def cases(draw):
    yield _case(draw, "one layer at the top", ["head"])
    yield _case(draw, "two names at the top", ["linear", "head"])
    deep = {"needs": ("deep",)}
    yield _case(draw, "deep in every layer", ["q_proj"], **deep)
    yield _case(draw, "two names, deep", ["q_proj", "k_proj"], n_layers=3, **deep)
    yield _case(draw, "layers that are called by a number", ["0"], **deep)
    yield _case(draw, "deep and at the top", ["head", "k_proj"], **deep)
    yield _case(draw, "a subclass of nn.Linear", ["q_proj"], own=True, needs=("deep", "subclass"))
    yield _case(draw, "a name that what is made uses, too", ["linear"], n_layers=1, needs=("again",))
    yield _case(draw, "a name that only what is made uses", ["head", "extra"], n_layers=1, needs=("again",))
    yield _case(draw, "a name of no layer beside another", ["head", "lm_head"])
    yield _case(draw, "a name that other parts have, too", ["norm", "up", "2", "k_proj"], needs=("deep", "other parts"))
    yield _case(draw, "all by name", ["k_proj"], by_name=True, **deep)
    frozen = {"aspect": FROZEN, "look": False}
    yield _case(draw, "what learns", ["head"], needs=("learns",), **frozen)
    yield _case(draw, "what learns, deep", ["q_proj", "2"], needs=("deep", "learns"), **frozen)
    for family, names in (("no such layer", ["lm_head"]), ("no names", []), ("a name of other parts only", ["norm"]),
                          ("a part of a name", ["proj", "q_pro", "layers.0.attention.q_proj"])):
        yield _refused(draw, family, names)
    yield _refused(draw, "the model is the layer itself", ["weight", ""], Module(
        "Linear", {"in_features": 3, "out_features": 2}, {"weight": draw.normal(2, 3), "bias": draw.normal(2)}))


def _given(draw, names, width=3, n_layers=2, own=False):
    model = Module("Deep", {"width": width, "n_layers": n_layers, "own": own}, code=MODEL)
    return {"model": model, "names": names, "make": Given("make", MAKE)}


def _case(draw, family, names, n_layers=2, own=False, by_name=False, look=True, needs=(), **more):
    given = _given(draw, names, n_layers=n_layers, own=own)
    named = {name: Kept(name) for name in given}
    call = Call((), named, keep="count") if by_name else Call(tuple(named.values()), keep="count")
    before = Call((Kept("model"),), to="before", keep="parts before", shown=False)
    looks = (Call((Kept("model"), Kept("parts before"), Kept("make"), Kept("names")), to="look", keep="afterwards"),
             Call((Kept("model"), Kept("ids")), to="run", keep="output"))
    learns = (Call((Kept("model"),), to="learns", keep="what learns"),)
    given |= {"ids": draw.integers(0, 4, 2, 3), "before": Given("before", BEFORE), "look": Given("look", LOOK),
              "run": Given("run", RUN), "learns": Given("learns", LEARNS)}
    return Case(family, (), given, script=(before, call, *(looks if look else learns)), changes=("model",),
                modes=True, gradients=False, repeats=False, needs=needs, **more)


def _refused(draw, family, names, model=None):
    given = _given(draw, names) | ({"model": model} if model else {}) | {"attempt": Given("attempt", TRY)}
    arguments = (Kept("answer"), Kept("model"), Kept("names"), Kept("make"))
    script = (Call(arguments, to="attempt", keep="after the error"),)
    return Case(family, (), given, script=script, changes=("model",), gradients=False, repeats=False,
                aspect=REFUSALS, needs=("refused",))


def in_what_was_made(model, names, make):
    before = list(model.parameters())

    def search(module):
        count = 0
        for name, part in list(module.named_children()):
            if isinstance(part, nn.Linear) and name in names:
                setattr(module, name, make(part))
                count += 1
            count += search(getattr(module, name))
        return count

    count = search(model)
    if count == 0:
        raise ValueError(f"no linear layer is called {names}")
    for parameter in before:
        parameter.requires_grad_(False)
    return count


FOUND = 'path.split(".")[-1] in names'
FREEZE = "    for parameter in model.parameters():\n        parameter.requires_grad_(False)\n"
PUT, LAST = "setattr(model.get_submodule(parent), name, make(part))", "return len(layers)"
REFUSE, KIND = "if not layers:", "isinstance(part, nn.Linear)"

EXERCISE = Exercise(
    number=4, minutes=15, difficulty=3,
    worked=replace_linears,
    reference=reference,
    cases=cases,
    aspects={VALUES: 4, FROZEN: 2, REFUSALS: 1},
    mistakes=(
        edit("REP-01 only the top is searched", {"model.named_modules()": "model.named_children()"},
             "You replace only layers that are direct children of the model.",
             "Does named_children also list parts inside other parts?"),
        edit("REP-03 ends of names", {FOUND: "any(path.endswith(name) for name in names)"},
             "You replace a layer whose name merely ends with one of `names`.",
             "Is `my_q_proj` the same name as `q_proj`?"),
        edit("REP-05 parts of names", {FOUND: "any(name in path for name in names)"},
             "You replace a layer because one of `names` occurs somewhere in its path.",
             "Which part of `layers.0.attention.q_proj` is the layer's own name?"),
        edit("REP-07 whole paths", {FOUND: "path in names"},
             "You do not find nested layers by the last part of their path.",
             "Which name does named_modules give to `model.layers[1].attention.q_proj`?"),
        edit("REP-09 subclasses are left out", {KIND: "type(part) is nn.Linear"},
             "You leave out a layer whose class is a subclass of nn.Linear.",
             "Is an object of a subclass an nn.Linear as well?"),
        edit("REP-11 nothing is frozen", {FREEZE: ""},
             "The parameters that the model had before still require gradients.",
             "Which parameters should learn afterwards?"),
        edit("REP-13 what was made is frozen, too", {FREEZE: "", LAST: FREEZE.strip("\n")[4:] + "\n    " + LAST},
             "After your call, the parameters that `make` added do not require gradients.",
             "Do you freeze the model before or after you replace its layers?"),
        edit("REP-15 only the replaced layers are frozen",
             {FREEZE: "    for _, part in layers:\n        part.requires_grad_(False)\n"},
             "Parts that were not replaced still require gradients.",
             "Which parameters did the model have besides those of the replaced layers?"),
        edit("REP-15", {FREEZE: "    kept = {id(p) for _, part in layers for p in part.parameters()}\n"
                                "    for parameter in model.parameters():\n"
                                "        parameter.requires_grad_(id(parameter) in kept)\n"},
             "The replaced layers still require gradients.",
             "Are their weights among the parameters that the model had before?"),
        wrong("REP-17 replaced in what was made, too", in_what_was_made,
              "You also replace a layer inside the module that `make` returned.",
              "Does the model change while you are looping over its modules?"),
        edit("REP-19 made twice", {PUT: "make(part)\n        " + PUT},
             "You call `make` more than once for a layer.",
             "How many times should `make` be called for each layer?"),
        edit("REP-21 the count is missing", {LAST: "return None"},
             "You do not return the number of replaced layers.",
             "According to the docstring, what does the function return?"),
        edit("REP-23 the number of names", {LAST: "return len(names)"},
             "You return the number of names.", "How many layers did you replace?"),
        edit("REP-25 no layer, and no error", {REFUSE: "if False:"},
             "When no layer has one of the names, you raise no ValueError.",
             "What should happen when the caller mistypes a name?"),
        edit("REP-27 frozen before the error", {f"    {REFUSE}": FREEZE + f"    {REFUSE}"},
             "When no layer has one of the names, you freeze the model before the error.",
             "What may have changed after a ValueError?"),
        edit("REP-29 every name must have a layer", {REFUSE: 'if len({path.split(".")[-1] for path, _ in layers}) < '
             "len(names):"},
             "You raise an error for a name without a layer although another name has one.",
             "When does the docstring ask for an error?"),
        edit("REP-31 other parts are replaced", {KIND: "not isinstance(part, (nn.ModuleList, nn.Embedding))"},
             "You replace parts that are not linear layers.",
             "Parts of which class should be replaced?"),
        edit("REP-33 a copy is given to make", {"make(part)": "make(__import__('copy').deepcopy(part))"},
             "You give `make` a copy of the layer.", "Which layer should `make` be called with?"),
        edit("REP-35 one new layer for all", {"    for path, part in layers:": "    made = make(layers[0][1])\n"
             "    for path, part in layers:", "make(part))": "made)"},
             "You replace all layers with the same new one.",
             "How many times should `make` be called, and with which layers?"),
        edit("REP-37 only the first is replaced",
             {"    for path, part in layers:": "    for path, part in layers[:1]:"},
             "You replace only the first layer.", "How many layers have one of the names?"),
        edit("REP-39 the model itself counts", {"if path and ": "if "},
             "You treat the model itself as one of its layers.",
             "Which name does named_modules give to the model itself?"),
    ),
    needs={
        "subclass": ("Your answer is wrong only for a layer whose class is a subclass of nn.Linear.",
                     "Is an object of a subclass an nn.Linear as well?"),
        "again": ("Your answer is wrong only when the new layer contains a part of the same name.",
                  "Does the model change while you are looping over its modules?"),
        "other parts": ("Your answer is wrong only when parts other than linear layers have one of the names.",
                        "Parts of which class should be replaced?"),
        "learns": ("You replace the right layers, but not the right parameters require gradients afterwards.",
                   "Which parameters does the docstring freeze, and which not?"),
        "deep": ("Your answer is wrong only for nested layers.",
                 "Which name does named_modules give to `model.layers[1].attention.q_proj`?"),
        "refused": ("Your answer is wrong only when no layer has one of the names.",
                    "Which error does the docstring ask for, and what may have changed by then?"),
        "": ("Even one layer at the top level is not replaced correctly.",
             "Which attribute must become the new layer, and which parameters learn afterwards?"),
    },
    hints=(
        "`named_modules` gives every part with its path. In `layers.1.attention.q_proj` the layer's own "
        "name is q_proj, and it is an attribute of the module with the path layers.1.attention.",
        "Make the list of layers before you change anything, because the new parts may contain linear "
        "layers themselves. Freeze the model after that and before you call `make`, so that only the parts "
        "that `make` adds are trained. `get_submodule` finds a parent, `setattr` puts in the new part.",
        "In outline: collect (path, layer) for every nn.Linear whose name, the last part of its path, is in "
        "`names`, raise ValueError if there are none, freeze the model, replace each layer on its parent by "
        "what `make` returns for it, and return how many there were.",
    ),
)
