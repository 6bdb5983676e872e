"""Every linear layer of some names replaced, deep in a model; what the model had before is frozen."""

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


calls = []


def make(linear):
    calls.append(linear)
    return Beside(linear)
"""
# The layers as they were, by path, in a memory that nobody touches.
BEFORE = "def before(model):\n    return dict(model.named_modules())\n"
LOOK = """
def look(model, before, make, names):
    calls = make.__globals__["calls"]
    return {
        "parts": {path: type(part).__name__ for path, part in model.named_modules()},
        "the layers that `make` was given are those of the model": sorted(
            path for path, part in before.items() for one in calls if one is part),
        "each inside what was made of it": [
            path for path, part in model.named_modules()
            if type(part).__name__ == "Beside" and part.linear is before[path]],
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
    yield _case(draw, "a name of no layer beside another", ["head", "lm_head"])
    yield _case(draw, "a name that other parts have, too", ["norm", "up", "2", "k_proj"], needs=("deep", "other parts"))
    yield _case(draw, "all by name", ["k_proj"], by_name=True, **deep)
    frozen = {"aspect": FROZEN, "look": False}
    yield _case(draw, "what learns", ["head"], **frozen)
    yield _case(draw, "what learns, deep", ["q_proj", "2"], needs=("deep",), **frozen)
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
    looks = (Call((Kept("model"), Kept("parts before"), Kept("make"), Kept("names")), to="look", keep="the model"),
             Call((Kept("model"), Kept("ids")), to="run", keep="output"))
    learns = (Call((Kept("model"),), to="learns", keep="what learns"),)
    given |= {"ids": draw.integers(0, 4, 2, 3), "before": Given("before", BEFORE), "look": Given("look", LOOK),
              "run": Given("run", RUN), "learns": Given("learns", LEARNS)}
    return Case(family, (), given, script=(before, call, *(looks if look else learns)), changes=("model",),
                modes=True, gradients=False, repeats=False, needs=needs, **more)


def _refused(draw, family, names, model=None):
    given = _given(draw, names) | ({"model": model} if model else {}) | {"attempt": Given("attempt", TRY)}
    arguments = (Kept("answer"), Kept("model"), Kept("names"), Kept("make"))
    script = (Call(arguments, to="attempt", keep="error, and the model after it"),)
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
             "Only layers that are the model's own parts are replaced.",
             "Where are the layers of a layer: does named_children go that deep?"),
        edit("REP-03 ends of names", {FOUND: "any(path.endswith(name) for name in names)"},
             "A layer is replaced whose name only ends like one of `names`.",
             "Is `my_q_proj` called `q_proj`?"),
        edit("REP-05 parts of names", {FOUND: "any(name in path for name in names)"},
             "A layer is replaced because a name stands somewhere in its path.",
             "Which part of `layers.0.attention.q_proj` is the layer's own name?"),
        edit("REP-07 whole paths", {FOUND: "path in names"},
             "Deep layers are not found by their last name.",
             "What does named_modules call the q_proj of the second layer?"),
        edit("REP-09 subclasses are left out", {KIND: "type(part) is nn.Linear"},
             "A layer whose class comes from nn.Linear is left as it was.",
             "Is a module of a subclass an nn.Linear, too?"),
        edit("REP-11 nothing is frozen", {FREEZE: ""},
             "The parameters that the model had before still ask for gradients.",
             "Which parameters should a step change, and which should it leave alone?"),
        edit("REP-13 what was made is frozen, too", {FREEZE: "", LAST: FREEZE.strip("\n")[4:] + "\n    " + LAST},
             "The parameters that `make` added do not ask for gradients.",
             "When do you freeze: what is in the model by then?"),
        edit("REP-15 only the replaced layers are frozen",
             {FREEZE: "    for _, part in layers:\n        part.requires_grad_(False)\n"},
             "Parts that were not replaced still ask for gradients.",
             "Which parameters had the model before, besides those of the replaced layers?"),
        edit("REP-15", {FREEZE: "    kept = {id(p) for _, part in layers for p in part.parameters()}\n"
                                "    for parameter in model.parameters():\n"
                                "        parameter.requires_grad_(id(parameter) in kept)\n"},
             "The replaced layers still ask for gradients.",
             "Are the weights of a replaced layer among those that the model had before?"),
        wrong("REP-17 replaced in what was made, too", in_what_was_made,
              "A layer inside what `make` made is replaced as well.",
              "While you go through the modules, which new ones come under way?"),
        edit("REP-19 made twice", {PUT: "make(part)\n        " + PUT},
             "`make` is called more than once for a layer.", "How many new layers does each old one need?"),
        edit("REP-21 the count is missing", {LAST: "return None"},
             "The count does not come back.", "What does the signature promise to return?"),
        edit("REP-23 the number of names", {LAST: "return len(names)"},
             "You return how many names there are.", "How many layers did you replace?"),
        edit("REP-25 no layer, and no error", {REFUSE: "if False:"},
             "If no layer has one of the names, nothing is said.",
             "What happens to somebody who mistypes a name?"),
        edit("REP-27 frozen before the error", {f"    {REFUSE}": FREEZE + f"    {REFUSE}"},
             "When no layer has one of the names, the model is frozen although nothing was replaced.",
             "What should be true of the model after a ValueError?"),
        edit("REP-29 every name must have a layer", {REFUSE: 'if len({path.split(".")[-1] for path, _ in layers}) < '
             "len(names):"},
             "A name without a layer is refused even beside others.",
             "Which of several names must have a layer?"),
        edit("REP-31 other parts are replaced", {KIND: "not isinstance(part, (nn.ModuleList, nn.Embedding))"},
             "Parts are replaced that are no linear layers.", "Which parts of that name are nn.Linear?"),
        edit("REP-33 a copy is given to make", {"make(part)": "make(__import__('copy').deepcopy(part))"},
             "`make` gets a copy of the layer.", "Which layer should live on inside the new one?"),
        edit("REP-35 one new layer for all", {"    for path, part in layers:": "    made = make(layers[0][1])\n"
             "    for path, part in layers:", "make(part))": "made)"},
             "All layers are replaced by one and the same.", "What is `make` called with, and how often?"),
        edit("REP-37 only the first is replaced",
             {"    for path, part in layers:": "    for path, part in layers[:1]:"},
             "Only the first layer is replaced.", "How many layers have one of the names?"),
        edit("REP-39 the model itself counts", {"if path and ": "if "},
             "The model itself is taken for one of its layers.", "Which name does the model have in named_modules?"),
    ),
    combinable=("REP-01", "REP-09", "REP-11", "REP-23"),
    needs={
        "subclass": ("Plain layers are replaced; one whose class comes from nn.Linear is not.",
                     "Is a module of a subclass an nn.Linear, too?"),
        "again": ("You are wrong where the new layer has a part of the same name.",
                  "While you go through the modules, which new ones come under way?"),
        "other parts": ("You are wrong where parts that are no linear layers have one of the names.",
                        "Which parts of that name are nn.Linear?"),
        "deep": ("Layers at the top of the model are right in yours; those deep in it are not.",
                 "What does named_modules call the q_proj of the second layer, and whose part is it?"),
        "refused": ("You are right while some layer has one of the names; else you are not.",
                    "Which error should come, and what should be true of the model after it?"),
        "": ("Even one layer at the top is not replaced as it should be.",
             "Which module's attribute has to become the new layer, and what learns afterwards?"),
    },
    hints=(
        "`named_modules` gives every part with its path. For `layers.1.attention.q_proj`: what is the layer's own "
        "name, and whose attribute is it?",
        "Make the list of layers before you change anything: what is replaced may hold linear layers itself. And "
        "think about when to freeze.",
        "The shape of it: a list of (path, layer); an error if it is empty; freeze all there is; for each, the parent "
        "by its path and `setattr`; the length of the list.",
    ),
)
