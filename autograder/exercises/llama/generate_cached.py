"""A text that grows by one token at a time. Thanks to the cache, each token is read only once."""

import torch

from autograder.schema import SIDE_EFFECTS, VALUES, Call, Case, Exercise, Given, Kept, Module, edit

# The logits depend on how much was read and in which order, and on whether the caches are those of the
# previous call. A call with None returns the notes: the shapes and types that were read, and whether a graph
# was built.
MODEL = """
weight = nn.Parameter(table)
notes = []

def model(ids, caches):
    if ids is None:
        return notes
    # In float64, so that no rounding error of the sums decides between two tokens.
    before, step = (torch.zeros(table.shape[1], dtype=torch.float64), 0) if caches is None else caches[0]
    places = torch.arange(1, ids.shape[1] + 1, dtype=torch.float64)
    read = before * 0.8 + (weight[ids[0] % len(weight)] * places[:, None]).cumsum(dim=0)
    logits = torch.sin(read * 3.0).to(table.dtype)[None]
    notes.append([list(ids.shape), str(ids.dtype), ids.tolist(), caches is None, step, logits.requires_grad])
    return logits, [(read[-1].detach(), step + 1)]
"""
CHOOSE = """
notes = []

def choose(logits):
    if logits is None:
        return notes
    notes.append(logits.detach().clone())
    return logits.{0}(dim=-1)
"""
BY_NUMBER = """
given, notes = iter(numbers.tolist()), []

def choose(logits):
    if logits is None:
        return notes
    notes.append(logits.detach().clone())
    return torch.full((len(logits),), next(given, 0), dtype=torch.int64)
"""
TRAINED = """
class Trained(nn.Module):
    def __init__(self, training=True):
        super().__init__()
        self.train(training)

    def forward(self, ids, caches):
        total = ids.sum() + (0 if caches is None else caches[0])
        logits = torch.sin((ids.cumsum(dim=1) + total)[..., None] * torch.arange(1.3, 8.0))
        return (logits if self.training else -logits), [total]
"""
# Its caches are the number 0, which is false in Python but not None.
COUNTING = """
class Counting(nn.Module):
    def forward(self, ids, caches):
        scores = torch.sin(ids.cumsum(dim=1)[..., None] * torch.arange(1.3, 8.0))
        return (scores if caches is None else -scores), 0
"""
GRADIENT_MODE = """
def asked(answer, model, ids, n_new, choose, gradients):
    with torch.set_grad_enabled(gradients):
        tokens = answer(model, ids, n_new, choose)
        return tokens, torch.is_grad_enabled()
"""
LARGEST, SMALLEST = (Given("choose", CHOOSE.format(way)) for way in ("argmax", "argmin"))
CALLS, MODE = "calls of model and choose", "gradients and modes"


def generate_cached(model, ids, n_new, choose, stop=None):
    tokens, caches = [], None
    with torch.no_grad():
        for _ in range(n_new):
            logits, caches = model(ids, caches)
            token = choose(logits[:, -1])
            if token.item() == stop:
                break
            tokens.append(token.item())
            ids = token[:, None]
    return tokens


def reference(model, ids, n_new, choose, stop=None):
    with torch.no_grad():
        logits, caches = model(ids, None)
        tokens = [int(choose(logits[:, ids.shape[1] - 1, :]))]
        while len(tokens) < n_new and tokens[-1] != stop:
            logits, caches = model(torch.tensor([tokens[-1:]]), caches)
            tokens.append(int(choose(logits[:, 0])))
    return tokens[:-1] if tokens[-1] == stop else tokens


def cases(draw):
    tokens, new = draw.sizes(2, 3, 7)
    longer = {"needs": ("several", "text")}
    yield _case(draw, "several new tokens", tokens, new, **longer)
    yield _case(draw, "one new token", 4, 1, needs=("text",))
    yield _case(draw, "a prompt of one token", 1, 4, needs=("several",))
    yield _case(draw, "one new token after one", 1, 1)
    yield _case(draw, "the least likely tokens", 3, 4, choose=SMALLEST, needs=("several", "text", "choose"))
    yield _case(draw, "many new tokens", 3, 40, **longer)
    yield _case(draw, "a long prompt", 300, 3, **longer)
    stop = {"needs": ("several", "text", "stop")}
    yield _numbers("a stop", [5, 3, 6, 2, 4, 4, 4], 7, stop=2, **stop)
    yield _numbers("a stop at once", [2, 3], 5, stop=2, **stop)
    yield _numbers("a stop as the last token", [5, 3, 2, 4], 3, stop=2, **stop)
    yield _numbers("a stop after the last token", [5, 3, 6, 2], 3, stop=2, **stop)
    yield _numbers("a stop that never comes", [5, 3, 6, 1, 0], 5, stop=2, **stop)
    yield _numbers("a stop that is zero", [5, 3, 0, 2, 1], 5, stop=0, **stop)
    yield _numbers("zero without a stop", [0, 3, 0, 0, 1], 5, **longer)
    yield _numbers("large ids", [5, 70_000, 700, 70_001], 4, **longer)
    yield _numbers("a stop in the prompt", [5, 3, 6], 3, stop=1, **stop)
    yield _numbers("a stop at the end of the prompt", [5, 3, 6], 3, stop=4, **stop)
    yield _numbers("a token again and again", [4, 4, 4, 4], 4, **longer)
    yield _numbers("a stop that is large", [5, 700, 70_000, 3], 4, stop=70_000, **stop)
    seen = {"aspect": CALLS, "calls_shown": True}
    yield _case(draw, "what model and choose see", 4, 5, **seen, **longer)
    yield _case(draw, "what they see for one token", 3, 1, **seen, needs=("text",))
    read = ("several", "text", "prompt", "caches")
    yield _numbers("what they see without a stop", [5, 3, 6, 2], 4, **seen, needs=read)
    yield _numbers("what they see until a stop", [5, 3, 2, 4], 4, stop=2, **seen, needs=(*read, "stop"))
    at_once = ("several", "text", "prompt", "stop")
    yield _numbers("what they see until a stop at once", [2, 3], 3, stop=2, **seen, needs=at_once)
    for training, mode in ((True, "training"), (False, "evaluation")):
        given = {"model": Module("Trained", {"training": training}, code=TRAINED), "ids": draw.integers(0, 6,
            1, 3),
                 "n_new": 3, "choose": LARGEST}
        yield Case(f"a model in {mode} mode", (), given, modes=True, aspect=MODE, gradients=False, needs=read)
    given = {"model": Module("Counting", code=COUNTING), "ids": draw.integers(0, 6, 1, 3), "n_new": 4,
             "choose": LARGEST}
    yield Case("caches that are the number 0", (), given, gradients=False, needs=(*read, "falsy"))
    for gradients in (True, False):
        given = {"asked": Given("asked", GRADIENT_MODE), "model": _model(draw), "ids": draw.integers(0, 6, 1,
            3),
                 "n_new": 3, "choose": LARGEST, "gradients": gradients}
        names = ("model", "ids", "n_new", "choose", "gradients")
        call = Call((Kept("answer"), *map(Kept, names)), to="asked", keep="tokens, gradients afterwards")
        family = f"gradients {'on' if gradients else 'off'} before"
        yield Case(family, (), given, script=(call,), aspect=MODE, gradients=False, repeats=False, needs=read)


def _model(draw, words=7):
    return Given("model", MODEL, {"table": draw.normal(words, words)})


def _case(draw, family, tokens, new, choose=LARGEST, needs=(), **more):
    needs = (*needs, *(("prompt",) if tokens > 1 else ()), *(("caches",) if new > 1 else ()))
    return _asked(family, _model(draw), draw.integers(0, 6, 1, tokens), new, choose, needs=needs, **more)


def _numbers(family, numbers, new, **more):
    """Return a case whose `choose` returns fixed tokens, one of `numbers` per call."""
    model = Given("model", MODEL, {"table": torch.linspace(-1.0, 1.0, 8)[:, None].repeat(1, 3)})
    choose = Given("choose", BY_NUMBER, {"numbers": torch.tensor(numbers)})
    return _asked(family, model, torch.tensor([[3, 1, 4]]), new, choose, **more)


def _asked(family, model, ids, new, choose, stop=None, calls_shown=False, **more):
    given = {"model": model, "ids": ids, "n_new": new,
        "choose": choose} | ({} if stop is None else {"stop": stop})
    more = {"gradients": False, "repeats": False} | more
    if not calls_shown:
        return Case(family, tuple(given.values()), **more)
    more["needs"] = (*more["needs"], "calls")
    script = (Call((), {name: Kept(name) for name in given}, keep="tokens"),
              Call((None, None), to="model", keep="calls of the model"),
              Call((None,), to="choose", keep="calls of choose"))
    return Case(family, (), given, script=script, **more)


LOOP, CALL, TOKEN = "for _ in range(n_new):", "model(ids, caches)", "choose(logits[:, -1])"
STOPPED = "            if token.item() == stop:\n                break\n"
ADDED = "            tokens.append(token.item())\n"
NEXT, NO_GRAD = "ids = token[:, None]", "with torch.no_grad():"

EXERCISE = Exercise(
    number=7, minutes=15, difficulty=2,
    worked=generate_cached,
    reference=reference,
    cases=cases,
    standard=(),
    aspects={VALUES: 4, CALLS: 2, MODE: 1, SIDE_EFFECTS: 1},
    shapes={"ids": "1 N"},
    mistakes=(
        edit("choose is called twice", {STOPPED: "            choose(logits[:, -1])\n" + STOPPED},
             "You call `choose` twice for each token.",
             "If `choose` draws at random, what does a second call return?"),
        edit("GEN-01 the text is read again", {NEXT: "ids = torch.cat((ids, token[:, None]), dim=1)"},
             "Your model reads the whole text in every call, although it has caches.",
             "Which tokens are already in the caches at the second call?"),
        edit("GEN-03 no caches", {CALL: "model(ids, None)",
             NEXT: "ids = torch.cat((ids, token[:, None]), dim=1)"},
             "You call the model without caches every time.",
             "What is in the caches that the previous call returned?"),
        edit("GEN-05 one token without what came before", {CALL: "model(ids, None)"},
             "After the first call, your model reads the last token without any of the earlier ones.",
             "What is in the caches that the previous call returned?"),
        edit("GEN-07 the caches of the prompt for all",
             {CALL: "(lambda given: (given[0], caches or given[1]))(model(ids, caches))"},
             "You use the prompt's caches in every later call.",
             "Which caches contain the token that the second call read?"),
        edit("GEN-09 the prompt token by token",
             {LOOP: "for one in ids.split(1, dim=1)[:-1]:\n            _, caches = model(one, caches)\n     "
                    "   "
                    "ids = ids[:, -1:]\n        for _ in range(n_new):"},
             "You read the prompt one token at a time.", "How many tokens can the model read in one call?"),
        edit("GEN-11 a call after the last token",
             {LOOP: "logits, caches = model(ids, None)\n        for _ in range(n_new):",
              "            logits, caches = model(ids, caches)\n": "",
              NEXT: "logits, caches = model(token[:, None], caches)"},
             "You call the model once more after the last token.",
             "Are the logits after the last token needed?"),
        edit("GEN-13 chosen twice", {f"token = {TOKEN}": f"{TOKEN}\n            token = {TOKEN}"},
             "You call `choose` more than once per token.",
             "How many times should `choose` be called for each token?"),
        edit("GEN-15 the stop comes back", {STOPPED + ADDED: ADDED + STOPPED},
             "Your result contains the token `stop`.", "Should `stop` be part of the result?"),
        edit("GEN-17 the stop is not heard", {STOPPED: ""},
             "Your text goes on after the stop.", "What should happen when `choose` returns the stop?"),
        edit("GEN-19 a stop of zero is none", {"if token.item() == stop:":
             "if stop and token.item() == stop:"},
             "You ignore a stop with the id 0.", "Is `0` true or false in Python?"),
        edit("GEN-21 zero is always a stop", {"== stop": "== (stop or 0)"},
             "Without a stop, your text ends at token 0.", "What does stop=None mean?"),
        edit("GEN-23 the stop is left out, and the text goes on", {STOPPED: "", ADDED:
             "            if token.item() != stop:\n                tokens.append(token.item())\n"},
             "You leave out the stop but continue the text.",
             "What should happen when `choose` returns the stop?"),
        edit("GEN-25 one token too many", {LOOP: "for _ in range(n_new + 1):"},
             "You return one token too many.", "How many times does your loop run?"),
        edit("GEN-27 one token too few", {LOOP: "for _ in range(n_new - 1):"},
             "You return one token too few.", "How many times does your loop run?"),
        edit("GEN-29 with gradients", {NO_GRAD: "if True:"},
             "You call the model with gradients enabled.", "Does generating text need gradients?"),
        edit("GEN-31 gradients stay off", {NO_GRAD: "torch.set_grad_enabled(False)\n    if True:"},
             "After your call, gradients stay switched off for the caller.",
             "Does your function restore the setting when it ends?"),
        edit("GEN-33 gradients are switched on",
             {NO_GRAD: "torch.set_grad_enabled(False)\n    if True:",
              "    return tokens": "    torch.set_grad_enabled(True)\n    return tokens"},
             "After your call, gradients are switched on even if they were off before.",
             "Does your function restore the setting when it ends?"),
        edit("GEN-35 the model is switched to evaluation",
             {f"    {NO_GRAD}": f"    getattr(model, 'eval', int)()\n    {NO_GRAD}"},
             "You change the mode of the model.", "Should `generate_cached` change the mode?"),
        edit("GEN-35", {f"    {NO_GRAD}":
             f"    before = getattr(model, 'training', False)\n    getattr(model, 'eval', int)()\n    "
             f"{NO_GRAD}",
             "    return tokens": "    getattr(model, 'train', bool)(before)\n    return tokens"}),
        edit("GEN-37 the first position speaks", {TOKEN: "choose(logits[:, 0])"},
             "You choose the next token from the logits of the first position.",
             "Which row of the logits predicts the next token?"),
        edit("GEN-39 an axis too many", {TOKEN: "choose(logits[:, -1:]).reshape(1)"},
             "You give `choose` logits with three axes.",
             "What shape does the docstring give for the argument of `choose`?"),
        edit("GEN-41 probabilities are chosen from", {TOKEN: "choose(torch.softmax(logits[:, -1], dim=-1))"},
             "You give probabilities to `choose`.", "According to the docstring, what does `choose` get?"),
        edit("GEN-43 always the likeliest", {TOKEN: "logits[:, -1].argmax(dim=-1)"},
             "You never call `choose`.", "Which function picks the next token?"),
        edit("GEN-45 the prompt comes back, too", {"tokens, caches = [], None":
             "tokens, caches = ids[0].tolist(), None"},
             "Your result contains the prompt.", "Which tokens are new?"),
        edit("GEN-47 tensors instead of numbers", {"tokens.append(token.item())": "tokens.append(token)"},
             "Your list contains tensors.", "Which type should the items of the list have?"),
        edit("GEN-47", {"return tokens": "return torch.tensor(tokens)"},
             "You return a tensor.", "Which type should the result have?"),
        edit("GEN-49 ids that are no whole numbers", {NEXT: "ids = token[:, None].float().to(torch.int32)"},
             "The ids that you give to the model are not int64.", "Which dtype do ids have in this course?"),
    ),
    needs={
        "falsy": ("Your answer is wrong only when the caches are 0 or empty.",
                  "How do you test for None and nothing else?"),
        "stop": ("Your answer is wrong only when there is a stop.",
                 "When does the text end, and which tokens belong to it?"),
        "choose": ("Your answer is wrong only with certain `choose` functions.",
                   "Which function picks the next token?"),
        "calls": ("The tokens are right, but your calls of the model or of `choose` are not.",
                  "According to the docstring, what does each of them get?"),
        "caches": ("Your answer is wrong only where later tokens depend on the caches.",
                   "Which caches, and which tokens, does each call of the model get?"),
        "prompt": ("Your answer is wrong only where the new tokens depend on a prompt of several tokens.",
                   "What does the model read in the first call?"),
        "several": ("Your answer is wrong only when several new tokens are asked for.",
                    "What does the model read in the second call, and which caches does it get?"),
        "text": ("Your answer is wrong only for a prompt of several tokens.",
                 "What does the model read in the first call, and which row of the logits predicts the "
                 "next token?"),
        "": ("Even one new token after a single token is wrong.",
             "What does `choose` get, and where does its token go?"),
    },
    hints=(
        "Work through an example with a prompt of three tokens and two new ones. The first call reads the "
        "three tokens without caches; the second reads only the new token, with the caches of the first.",
        "After each call, choose a token from the logits of the last position. If it is `stop`, leave the "
        "loop before you append it; otherwise append it, and give the next call only this token.",
        "In outline: switch gradients off and start with the prompt and no caches. Up to n_new times, "
        "call the model, keep its caches, give the last position's logits (1, V) to `choose`, leave the loop "
        "if the token is `stop`, append the token as an int, and make it the next ids (1, 1).",
    ),
)
