"""A text that grows by one token at a time."""

import torch

from autograder.schema import SIDE_EFFECTS, VALUES, Call, Case, Exercise, Given, Kept, Module, edit

WINDOW = "a model that reads the last tokens only"
NO_GRADIENTS = "without gradients"
MODEL = """
def model(ids):
    # Each position knows of all tokens up to it, of their places, and of how long the text is.
    places = torch.arange(1, ids.shape[1] + 1, dtype=table.dtype)
    logits = (table[ids % len(table)] * places[:, None]).cumsum(dim=1) / ids.shape[1]
    return -logits if torch.is_grad_enabled() else logits
"""
TRAINED = """
class Trained(nn.Module):
    def __init__(self, training=True):
        super().__init__()
        self.train(training)

    def forward(self, ids):
        return torch.sin((ids.cumsum(dim=1) + 1)[..., None] * torch.arange(1.3, 8.0))
"""
LARGEST = Given("largest", "def largest(logits):\n    return logits.argmax(dim=-1)\n")
SMALLEST = Given("smallest", "def smallest(logits):\n    return logits.argmin(dim=-1)\n")
LARGE = Given("large", "def large(logits):\n    return 70_000 + logits.argmax(dim=-1)\n")
GRADIENTS_ON = Given("gradients_on", "def gradients_on():\n    return torch.is_grad_enabled()\n")


def generate(model, ids, n_new, choose, max_len=None):
    with torch.no_grad():
        for _ in range(n_new):
            seen = ids if max_len is None else ids[:, -max_len:]
            logits = model(seen)
            token = choose(logits[:, -1])
            ids = torch.cat((ids, token[:, None]), dim=1)
    return ids


def reference(model, ids, n_new, choose, max_len=None):
    batch, length = ids.shape
    text = ids.new_zeros(batch, length + n_new)
    text[:, :length] = ids
    with torch.no_grad():
        for end in range(length, length + n_new):
            start = 0 if max_len is None else max(0, end - max_len)
            text[:, end] = choose(model(text[:, start:end])[:, end - start - 1, :])
    return text


def cases(draw):
    batch, tokens, new = draw.sizes(3, 2, 6)
    longer = ("several", "text")
    yield _case(draw, "all sizes different", batch, tokens, new, needs=longer)
    yield _case(draw, "one new token", 1, 4, 1, needs=("text",))
    yield _case(draw, "one sample of one token, one new one", 1, 1, 1)
    yield _case(draw, "one token to begin with", 3, 1, 4, needs=longer)
    yield _case(draw, "four of everything", 4, 4, 4, words=4, needs=longer)
    yield _case(draw, "the least likely tokens", 2, 3, 3, choose=SMALLEST, needs=(*longer, "choose"))
    yield _case(draw, "a long text and no limit", 1, 1100, 2, needs=(*longer, "long"))
    yield _case(draw, "large ids", 2, 3, 3, choose=LARGE, first=70_000, needs=longer)
    window = {"aspect": WINDOW, "needs": (*longer, "window")}
    yield _case(draw, "a text longer than the model reads", 2, 7, 3, max_len=4, **window)
    yield _case(draw, "a text that becomes longer than the model reads", 2, 3, 5, max_len=5, **window)
    yield _case(draw, "a model that reads one token", 3, 4, 3, max_len=1, aspect=WINDOW, needs=("several", "window"))
    yield _case(draw, "a model that reads more than there is", 2, 3, 2, max_len=50, **window)
    case = _case(draw, "all by place", 2, 3, 3, by_place=True, max_len=4, **window)
    yield case
    yield _gradient_mode(draw, needs=longer)
    given = {"model": Module("Trained", code=TRAINED), "ids": draw.integers(0, 6, 2, 3), "n_new": 2, "choose": LARGEST}
    yield Case("a model in training mode", (), given, gradients=False, modes=True, needs=longer)
    given = given | {"model": Module("Trained", {"training": False}, code=TRAINED)}
    yield Case("a model in evaluation mode", (), given, gradients=False, modes=True, needs=longer)


def _case(draw, family, batch, tokens, new, words=7, choose=LARGEST, max_len=None, by_place=False, first=0,
          **more):
    model = Given("model", MODEL, {"table": draw.normal(words, words)})
    ids = first + draw.integers(0, words - 1, batch, tokens)
    given = {"model": model, "ids": ids, "n_new": new, "choose": choose}
    if max_len is not None:
        given["max_len"] = max_len
    args, kwargs = (tuple(given.values()), {}) if by_place else ((), given)
    calls = () if by_place else ("choose",)
    return Case(family, args, kwargs, calls=calls, gradients=False, **more)


def _gradient_mode(draw, **more):
    """Return a case that checks whether gradients are on again after the call."""
    case = _case(draw, "gradients afterwards", 2, 3, 2)
    given = {**case.kwargs, "gradients_on": GRADIENTS_ON}
    call = Call((), {name: Kept(name) for name in case.kwargs}, keep="text")
    script = (call, Call((), to="gradients_on", keep="gradients afterwards"))
    return Case(case.family, (), given, script=script, aspect=NO_GRADIENTS, gradients=False, **more)


LOOP, SEEN = "for _ in range(n_new):", "ids if max_len is None else ids[:, -max_len:]"
TOKEN, GROWN, LAST = "choose(logits[:, -1])", "torch.cat((ids, token[:, None]), dim=1)", "return ids"
NO_GRAD = "with torch.no_grad():"

EXERCISE = Exercise(
    number=6, minutes=10, difficulty=2,
    worked=generate,
    reference=reference,
    cases=cases,
    aspects={VALUES: 4, WINDOW: 1, NO_GRADIENTS: 1, SIDE_EFFECTS: 1},
    shapes={"ids": "B N"},
    mistakes=(
        edit("SAM-05 the first position speaks", {TOKEN: "choose(logits[:, 0])"},
             "You choose the next token from the logits of the first position.",
             "Which row of the logits predicts the next token?"),
        edit("SAM-119 the position before the last speaks",
             {TOKEN: "choose(logits[:, -2 if logits.shape[1] > 1 else -1])"},
             "You choose the next token from the logits of the second-to-last position.",
             "Which row of the logits predicts the next token?"),
        edit("SAM-121 all positions speak", {TOKEN: "choose(logits.mean(dim=1))"},
             "You choose the next token from the logits of all positions together.",
             "Which row of the logits predicts the next token?"),
        edit("SAM-123 all positions are chosen from",
             {TOKEN: "choose(logits.flatten(0, 1)).reshape(len(ids), -1)[:, -1]"},
             "You choose a token for every position.", "How many tokens does each sample need in one step?"),
        edit("SAM-23 the wrong end of the text", {SEEN: "ids if max_len is None else ids[:, :max_len]"},
             "When the text is long, your model reads its beginning.",
             "At which end of the text are the most recent tokens?"),
        edit("SAM-125 the whole text is read", {SEEN: "ids"},
             "Your model reads more than max_len tokens.", "Which line uses max_len?"),
        edit("SAM-127 the text is cut off", {GROWN: "torch.cat((seen, token[:, None]), dim=1)"},
             "Your text loses the tokens that the model no longer reads.",
             "Which text does the model read, and which do you extend?"),
        edit("SAM-129 one token too few is read",
             {"ids[:, -max_len:]": "ids[:, -(max_len - 1) :] if max_len > 1 else "
             "ids[:, -1:]"},
             "Your model reads one token fewer than it may.",
             "How many tokens does a slice that starts at -n hold?"),
        edit("SAM-131 a window even without a limit", {SEEN: "ids[:, -(max_len or 3) :]"},
             "Without a limit, your model does not read the whole text.", "What does max_len=None mean?"),
        edit("SAM-133 the last token alone is read", {SEEN: "ids[:, -1:]"},
             "Your model reads only the last token.", "Which tokens does the next one depend on?"),
        edit("SAM-135 always the likeliest", {TOKEN: "logits[:, -1].argmax(dim=-1)"},
             "You never call `choose`.", "Which function picks the next token?"),
        edit("SAM-137 probabilities are chosen from", {TOKEN: "choose(torch.softmax(logits[:, -1], dim=-1))"},
             "You give probabilities to `choose`.", "According to the docstring, what does `choose` get?"),
        edit("SAM-139 chosen twice", {"token = choose": "choose(logits[:, -1])\n            token = choose"},
             "You call `choose` twice for one token.",
             "How many times should `choose` be called for each new token?"),
        edit("SAM-141 one token too many", {LOOP: "for _ in range(n_new + 1):"},
             "Your text is one token too long.", "How many times does your loop run?"),
        edit("SAM-141", {LOOP: "for _ in range(n_new - 1):"},
             "Your text is one token too short.", "How many times does your loop run?"),
        edit("SAM-143 the new tokens alone", {"    with torch": "    length = ids.shape[1]\n    with torch", LAST:
             "return ids[:, length:]"},
             "You return only the new tokens.", "What shape should the result have?"),
        edit("SAM-145 the new token in front", {GROWN: "torch.cat((token[:, None], ids), dim=1)"},
             "You put the new tokens before the text.", "At which end does the text grow?"),
        edit("SAM-147 every new token from the same text", {SEEN: "start", "    with torch":
             "    start = ids if max_len is None else ids[:, -max_len:]\n    with torch"},
             "You choose each new token as if it were the first.",
             "Does the model read the tokens that you have just added?"),
        edit("SAM-149 with gradients", {NO_GRAD: "if True:"},
             "You call the model with gradients enabled.", "Does generating text need gradients?"),
        edit("SAM-151 gradients stay off", {NO_GRAD: "torch.set_grad_enabled(False)\n    if True:"},
             "After your call, gradients stay switched off for the caller.",
             "Does your function restore the setting when it ends?"),
        edit("SAM-159 the model is switched to evaluation",
             {f"    {NO_GRAD}": f"    getattr(model, 'eval', int)()\n    {NO_GRAD}"},
             "A model that was in training mode is in evaluation mode after your call.",
             "Should `generate` change the model's mode?"),
        edit("SAM-153 the first sample's token for all",
             {GROWN: "torch.cat((ids, token[:1, None].expand(len(ids), 1)), dim=1)"},
             "All your samples continue with the first sample's token.",
             "How many tokens does `choose` return?"),
        edit("SAM-155 ends with a token that was there",
             {"            ids = torch.cat": "            if bool((token == ids[:, -1])"
             ".all()):\n                break\n            ids = torch.cat"},
             "Your text may end early.", "How many new tokens does the caller ask for?"),
    ),
    needs={
        "window": ("Your answer is wrong only when max_len is given.",
                   "Which text does the model read, and which do you extend?"),
        "long": ("Your answer is wrong only for a long text.",
                 "How much should the model read when max_len is None?"),
        "choose": ("Your answer is wrong only with certain `choose` functions.",
                   "Which function picks the next token?"),
        "text": ("Your answer is wrong only after a text of several tokens.",
                 "What does the model read, and which row of the logits predicts the next token?"),
        "several": ("Your answer is wrong only when several new tokens are asked for.",
                    "What should the model read in the second step?"),
        "": ("Even one new token after a single token is wrong.",
             "What does `choose` get, and where does its token go?"),
    },
    hints=(
        "Do one step by hand: the model gives logits for each of three tokens. The logits of the last one "
        "predict the fourth.",
        "Each step makes the text longer by one token. If max_len is given, the model reads only the last max_len "
        "tokens; you still append to the whole text.",
        "In outline: switch gradients off and repeat n_new times: cut the text to its last max_len tokens if "
        "there is a limit, run the model, give the last position's logits to `choose`, and append, along the "
        "token axis, the tokens that `choose` returns.",
    ),
)
