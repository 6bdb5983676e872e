"""A text that grows by one token at a time."""

import torch

from autograder.schema import SIDE_EFFECTS, VALUES, Call, Case, Exercise, Given, Kept, Module, edit

WINDOW = "a model that reads the last tokens only"
NO_GRADIENTS = "without gradients"
MODEL = """
def model(ids):
    # Each position knows of all tokens up to it, of their places, and of how long the text is.
    places = torch.arange(1, ids.shape[1] + 1, dtype=table.dtype)
    logits = (table[ids] * places[:, None]).cumsum(dim=1) / ids.shape[1]
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


def _case(draw, family, batch, tokens, new, words=7, choose=LARGEST, max_len=None, by_place=False, **more):
    model = Given("model", MODEL, {"table": draw.normal(words, words)})
    ids = draw.integers(0, words - 1, batch, tokens)
    given = {"model": model, "ids": ids, "n_new": new, "choose": choose}
    if max_len is not None:
        given["max_len"] = max_len
    args, kwargs = (tuple(given.values()), {}) if by_place else ((), given)
    calls = () if by_place else ("choose",)
    return Case(family, args, kwargs, calls=calls, gradients=False, **more)


def _gradient_mode(draw, **more):
    """Gradients are on before the call, off in it, and on again after it."""
    case = _case(draw, "gradients afterwards", 2, 3, 2)
    given = {**case.kwargs, "gradients_on": GRADIENTS_ON}
    call = Call((), {name: Kept(name) for name in case.kwargs}, keep="text")
    script = (call, Call((), to="gradients_on", keep="gradients afterwards"))
    return Case(case.family, (), given, script=script, aspect=NO_GRADIENTS, gradients=False, **more)


LOOP, SEEN = "for _ in range(n_new):", "ids if max_len is None else ids[:, -max_len:]"
TOKEN, GROWN, LAST = "choose(logits[:, -1])", "torch.cat((ids, token[:, None]), dim=1)", "return ids"
NO_GRAD = "with torch.no_grad():"

EXERCISE = Exercise(
    number=5, minutes=10, difficulty=2,
    worked=generate,
    reference=reference,
    cases=cases,
    aspects={VALUES: 4, WINDOW: 1, NO_GRADIENTS: 1, SIDE_EFFECTS: 1},
    shapes={"ids": "B N"},
    mistakes=(
        edit("SAM-05 the first position speaks", {TOKEN: "choose(logits[:, 0])"},
             "Your next token comes from the first position.",
             "Which row of the logits speaks about the next token?"),
        edit("SAM-119 the position before the last speaks",
             {TOKEN: "choose(logits[:, -2 if logits.shape[1] > 1 else -1])"},
             "Your next token comes from the position before the last.",
             "Which row of the logits speaks about the next token?"),
        edit("SAM-121 all positions speak", {TOKEN: "choose(logits.mean(dim=1))"},
             "Your next token comes from all positions together.",
             "Which row of the logits speaks about the next token?"),
        edit("SAM-123 all positions are chosen from",
             {TOKEN: "choose(logits.flatten(0, 1)).reshape(len(ids), -1)[:, -1]"},
             "You choose a token for every position.", "For how many rows is a token needed in one step?"),
        edit("SAM-23 the wrong end of the text", {SEEN: "ids if max_len is None else ids[:, :max_len]"},
             "The model reads the beginning of a long text in yours.", "Which end of the text is recent?"),
        edit("SAM-125 the whole text is read", {SEEN: "ids"},
             "The model reads more than max_len tokens in yours.", "Which line uses max_len?"),
        edit("SAM-127 the text is cut off", {GROWN: "torch.cat((seen, token[:, None]), dim=1)"},
             "Tokens that the model no longer reads are missing in your text.",
             "What is the model given, and what is kept?"),
        edit("SAM-129 one token too few is read",
             {"ids[:, -max_len:]": "ids[:, -(max_len - 1) :] if max_len > 1 else "
             "ids[:, -1:]"},
             "Your model reads one token less than it may.", "How many tokens does a slice from -n on hold?"),
        edit("SAM-131 a window even without a limit", {SEEN: "ids[:, -(max_len or 3) :]"},
             "Without a limit, your model does not read the whole text.", "What does None for max_len say?"),
        edit("SAM-133 the last token alone is read", {SEEN: "ids[:, -1:]"},
             "Your model reads only the last token.", "What does the next word depend on?"),
        edit("SAM-135 always the likeliest", {TOKEN: "logits[:, -1].argmax(dim=-1)"},
             "You never ask `choose`.", "Who decides on the next token?"),
        edit("SAM-137 probabilities are chosen from", {TOKEN: "choose(torch.softmax(logits[:, -1], dim=-1))"},
             "`choose` gets probabilities from you.", "What does the exercise promise to `choose`?"),
        edit("SAM-139 chosen twice", {"token = choose": "choose(logits[:, -1])\n            token = choose"},
             "You call `choose` twice for one token.", "How often is a number drawn for one token?"),
        edit("SAM-141 one token too many", {LOOP: "for _ in range(n_new + 1):"},
             "Your text is one token too long.", "How many tokens does your loop add?"),
        edit("SAM-141", {LOOP: "for _ in range(n_new - 1):"},
             "Your text is one token too short.", "How many tokens does your loop add?"),
        edit("SAM-143 the new tokens alone", {"    with torch": "    length = ids.shape[1]\n    with torch", LAST:
             "return ids[:, length:]"},
             "You return the new tokens without the text before them.", "Which shape does the exercise promise?"),
        edit("SAM-145 the new token in front", {GROWN: "torch.cat((token[:, None], ids), dim=1)"},
             "Your new tokens stand before the text.", "At which end does a text grow?"),
        edit("SAM-147 every new token from the same text", {SEEN: "start", "    with torch":
             "    start = ids if max_len is None else ids[:, -max_len:]\n    with torch"},
             "Each of your new tokens is chosen as if it were the first.",
             "What does the model know of the token before?"),
        edit("SAM-149 with gradients", {NO_GRAD: "if True:"},
             "The model is called with gradients on.", "What would gradients of a text be good for?"),
        edit("SAM-151 gradients stay off", {NO_GRAD: "torch.set_grad_enabled(False)\n    if True:"},
             "After your call gradients are off for the caller too.",
             "What is left as it was when your function ends?"),
        edit("SAM-159 the model is switched to evaluation",
             {f"    {NO_GRAD}": f"    getattr(model, 'eval', int)()\n    {NO_GRAD}"},
             "A model that came in training mode is in evaluation mode afterwards.",
             "Who decides in which mode the model is?"),
        edit("SAM-153 the first sample's token for all",
             {GROWN: "torch.cat((ids, token[:1, None].expand(len(ids), 1)), dim=1)"},
             "All your samples go on with the token of the first.", "How many tokens does `choose` give?"),
        edit("SAM-155 ends with a token that was there",
             {"            ids = torch.cat": "            if bool((token == ids[:, -1])"
             ".all()):\n                break\n            ids = torch.cat"},
             "Your text may end early.", "How many new tokens does the caller want?"),
    ),
    combinable=("SAM-05", "SAM-23", "SAM-125", "SAM-137", "SAM-143", "SAM-149"),
    needs={
        "window": ("Without a limit you are right; with max_len you are not.",
        "What is the model given, and what is kept?"),
        "long": ("You are right for short texts; for a long one you are not.",
                 "How much does the model read if max_len is not given?"),
        "choose": ("With one way to choose you are right; with another you are not.",
        "Who decides on the next token?"),
        "text": ("After a single token you are right; after several you are not.",
                 "What does the model read, and which row of the logits speaks about the next token?"),
        "several": ("One new token is right in yours; several are not.",
        "What does the model read in the second step?"),
        "": ("Already one new token after one other is wrong.",
             "What is `choose` given, and where does its token go?"),
    },
    hints=(
        "One step by hand: three tokens, and logits for each of them. Whose logits say what comes fourth?",
        "The loop changes one thing from step to step. The model may read less of it than there is: where do you "
        "cut, and "
        "what do you go on with?",
        "The shape of it: (B, N) ids, (B, N, V) logits, (B, V) for `choose`, (B,) tokens, and (B, N + 1) ids for "
        "the next "
        "round.",
    ),
)
