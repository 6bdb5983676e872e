"""One token after the other, always the likeliest, until every sentence has ended."""

import torch

from autograder.schema import SIDE_EFFECTS, VALUES, Call, Case, Exercise, Given, Kept, Module, edit, wrong


def greedy_decode(model, src, bos, eos, max_new):
    target = torch.full((len(src), 1), bos, device=src.device)
    done = torch.zeros(len(src), dtype=torch.bool, device=src.device)
    with torch.no_grad():
        for _ in range(max_new):
            logits = model(src, target)
            chosen = logits[:, -1].argmax(dim=-1)
            chosen = torch.where(done, eos, chosen)
            target = torch.cat([target, chosen[:, None]], dim=1)
            done = done | (chosen == eos)
            if done.all():
                break
    return target[:, 1:]


def reference(model, src, bos, eos, max_new):
    said = torch.full((src.shape[0], max_new + 1), eos, dtype=torch.int64)
    said[:, 0], length = bos, 0
    with torch.inference_mode():
        while length < max_new and not (said[:, 1 : length + 1] == eos).any(dim=1).all():
            ranked = model(src, said[:, : length + 1].clone())[:, -1].sort(dim=-1, descending=True, stable=True).indices
            going_on = ~(said[:, 1 : length + 1] == eos).any(dim=1)
            length += 1
            said[going_on, length] = ranked[going_on, 0]
    return said[:, 1 : length + 1].clone()


def one_by_one(model, src, bos, eos, max_new):
    rows = [greedy_decode(model, one[None], bos, eos, max_new)[0] for one in src]
    return torch.nn.utils.rnn.pad_sequence(rows, batch_first=True, padding_value=eos)


CALLS, NO_GRADIENTS, MODE = "what the model gets", "without gradients", "the model's mode"
# The first token of a source says how many tokens its translation has; what follows depends on all of both.
# After its end a translation would go on with other tokens.
MODEL = """
def logits_of(src, tgt):
    place = torch.arange(tgt.shape[1])
    history = (tgt * (place + 3)).cumsum(1)[..., None] + src.sum(1)[:, None, None]
    logits = torch.round(steps * torch.sin(history * (torch.arange(words) + 1.3))) / steps
    logits[..., eos] = torch.where(place + 1 == src[:, :1], 5.0, -5.0)
    return logits - low


def model(src, tgt):
    return logits_of(src, tgt)
"""
# Without arguments it tells what it was asked, or whether gradients were on in any call. Tokens after the first end of
# a sentence are nobody's business.
WATCHING = MODEL + """
asked = []


def model(src=None, tgt=None):
    if src is None:
        return any(asked) if gradients else asked
    ended = (tgt[:, 1:] == eos).cumsum(1)[:, :-1] > 0
    heard = tgt.clone()
    heard[:, 2:] = torch.where(ended, eos, heard[:, 2:])
    asked.append(torch.is_grad_enabled() if gradients else (src.clone(), heard))
    return logits_of(src, tgt)
"""
MOODY = """
class Moody(nn.Module):
    def __init__(self, training):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(7))
        self.train(training)

    def forward(self, src, tgt):
        place = torch.arange(tgt.shape[1])
        logits = torch.sin((tgt.cumsum(1) + src.sum(1, keepdim=True))[..., None] * torch.arange(1.3, 8)) * self.weight
        logits[..., 6] = torch.where(place + 1 == src[:, :1], 5.0, -5.0)
        return logits if self.training else -logits + 0.1 * torch.arange(7) - 20.0 * (torch.arange(7) == 6)
"""


def cases(draw):
    yield _case(draw, "sentences of different length", [4, 2, 5, 3], 9, needs=("ends",))
    yield _case(draw, "a sentence that does not end", [4, 12, 2], 6, needs=("ends",))
    yield _case(draw, "no sentence ends", [12, 12], 5)
    yield _case(draw, "all end at once", [3, 3, 3], 8, needs=("all",))
    yield _case(draw, "all end with the first token", [1, 1], 4, needs=("all",))
    yield _case(draw, "one token at most", [3, 1, 4], 1, needs=("ends",))
    yield _case(draw, "one sentence", [4], 7, needs=("all",))
    yield _case(draw, "the last token allowed is the end", [4], 4, needs=("all",))
    yield _case(draw, "eos is 0", [3, 1, 4, 2], 6, eos=0, bos=3, needs=("ends",))
    yield _case(draw, "many ties", [5, 12, 4, 3, 12], 8, steps=1, words=12, needs=("ties", "ends"))
    yield _case(draw, "a large vocabulary", [3, 12], 4, words=300, needs=("ties", "ends"))
    yield _case(draw, "a long translation", [40, 60, 35], 64, needs=("ends", "long"))
    yield _case(draw, "every logit is negative", [3, 12, 5], 6, low=20.0, needs=("negative", "ends"))
    watched = {"code": WATCHING, "script": (Call(tuple(map(Kept, NAMES)), keep="ids"),
                                            Call(to="model", keep="what the model got"))}
    for lengths in ([4, 2, 5, 3], [2, 12], [3, 3]):
        yield _case(draw, CALLS, lengths, 6, aspect=CALLS, **watched)
    still = Given("recording", "def recording():\n    return torch.is_grad_enabled()\n")
    watched["script"] += (Call(to="recording", keep="gradients recorded afterwards"),)
    yield _case(draw, NO_GRADIENTS, [3, 2], 5, aspect=NO_GRADIENTS, told=True, recording=still, **watched)
    for training in (True, False):
        given = _given(draw, [3, 2, 12], 6, 7, 6) | {"model": Module("Moody", {"training": training}, code=MOODY)}
        family = "a model in training mode" if training else "a model in evaluation mode"
        yield Case(family, (), given, gradients=False, modes=True, aspect=MODE, needs=("modes",))


NAMES = ("model", "src", "bos", "eos", "max_new")


def _given(draw, lengths, max_new, words, eos, bos=1):
    src = torch.cat((torch.tensor(lengths)[:, None], draw.integers(0, 50, len(lengths), 3)), dim=1)
    return dict(zip(NAMES, (None, src, bos, eos, max_new), strict=True))


def _case(draw, family, lengths, max_new, code=MODEL, words=9, eos=2, bos=1, steps=1000, low=0.0, told=False,
          recording=None, **more):
    values = {"words": words, "eos": eos, "steps": steps, "low": low, "gradients": told}
    given = _given(draw, lengths, max_new, words, eos, bos) | {"model": Given("model", code, values)}
    given |= {"recording": recording} if recording else {}
    return Case(family, () if "script" in more else tuple(given.values()), given if "script" in more else {},
                gradients=False, **more)


CHOSEN, KEPT = "logits[:, -1].argmax(dim=-1)", "torch.where(done, eos, chosen)"
STOP, LAST = "if done.all():", "return target[:, 1:]"

EXERCISE = Exercise(
    number=4, minutes=15, difficulty=2,
    worked=greedy_decode,
    reference=reference,
    cases=cases,
    standard=("by name",),
    aspects={VALUES: 4, CALLS: 1, NO_GRADIENTS: 1, MODE: 1, SIDE_EFFECTS: 1},
    shapes={"src": "B M", "return": "B L"},
    mistakes=(
        edit("GRD-01 bos comes back as well", {LAST: "return target"},
             "Your result begins with bos.", "Which of your tokens did the model choose?"),
        edit("GRD-03 a sentence goes on after its end", {KEPT: "chosen"},
             "After its eos a sentence of yours goes on.",
             "What should follow the end of a sentence that others outlive?"),
        wrong("GRD-43 one sentence at a time", one_by_one,
              "Yours writes one sentence after the other.", "How many sentences can one call of the model read?"),
        edit("GRD-05 it never stops early", {STOP: "if False:"},
             "When every sentence has ended, yours go on until max_new.", "When is there nothing left to say?"),
        edit("GRD-07 it stops at the first end", {"done.all()": "done.any()"},
             "When one sentence ends, all of yours end.", "Which sentences must have ended before the loop may?"),
        edit("GRD-45 the loop waits until all end in one step",
             {KEPT: "chosen", "done = done | (chosen == eos)": "done = chosen == eos"},
             "Your loop forgets which sentences have ended.", "Must all sentences end in one and the same step?"),
        edit("GRD-45", {KEPT: "chosen", "done = done | (chosen == eos)": "done = chosen == eos",
                        LAST: "said = target[:, 1:]\n    return said.masked_fill((said == eos).cumsum(1) > 0, eos)"}),
        edit("GRD-09 the first place is read", {"logits[:, -1]": "logits[:, 0]"},
             "You read the logits of the first place again and again.",
             "Which place of the logits tells the next token?"),
        edit("GRD-11 the unlikeliest", {"argmax": "argmin"},
             "You take the unlikeliest token.", "Which logit should the chosen token have?"),
        edit("GRD-13 ties go to the highest id",
             {CHOSEN: "logits.shape[-1] - 1 - logits[:, -1].flip(-1).argmax(dim=-1)"},
             "Of tokens that are equally likely you take the last.", "Which id does the exercise ask for in a tie?"),
        edit("GRD-15 the model hears the last token only", {"model(src, target)": "model(src, target[:, -1:])"},
             "Your model is told the last token only.", "What must the model know of what it has said before?"),
        edit("GRD-17 the model is never told what it said", {"model(src, target)": "model(src, target[:, :1])"},
             "Your model is told bos only, again and again.", "What must the model know of what it has said before?"),
        edit("GRD-19 gradients are recorded", {"with torch.no_grad():": "if True:"},
             "Your model is called with gradients on.", "Is anything learned here, and what does recording cost?"),
        edit("GRD-41 gradients stay off", {"with torch.no_grad():": "torch.set_grad_enabled(False)\n    if True:"},
             "After the call PyTorch no longer records gradients, for any code.",
             "Who switches the recording on again?"),
        edit("GRD-21 the model is switched to evaluation",
             {"    done = torch": "    getattr(model, 'eval', int)()\n    done = torch"},
             "A model that came in training mode is in evaluation mode afterwards, or while you call it.",
             "Who decides in which mode the model is?"),
        edit("GRD-23 one call too many", {LAST: "model(src, target)\n    return target[:, 1:]"},
             "The model is called once more when all is said.", "How many calls do so many tokens take?"),
        edit("GRD-23",
             {"            if done.all():\n                break\n": "", "            logits = model": "            "
             "before = done\n            logits = model", "done = done |": "if before.all():\n                target = "
             "target[:, :-1]\n                break\n            done = done |"}),
        edit("GRD-23", {"        for _ in range(max_new):\n            logits = model(src, target)\n":
                        "        logits = model(src, target)\n        for _ in range(max_new):\n",
                        "break": "break\n            logits = model(src, target)"}),
        edit("GRD-25 one token too many", {"range(max_new)": "range(max_new + 1)"},
             "Your sentences may be one token longer than max_new.", "Does max_new count bos?"),
        edit("GRD-27 one token too few", {"range(max_new)": "range(max_new - 1)"},
             "Your sentences end one token before max_new.", "Does max_new count bos?"),
        edit("GRD-29 the end itself is left out", {LAST: "return target[:, 1:-1] if done.all() else target[:, 1:]"},
             "Your last eos is missing.", "Is eos a token of the result?"),
        edit("GRD-31 always max_new tokens",
             {LAST: "ends = target.new_full((len(src), max_new + 1 - target.shape[1]), eos)\n"
             "    return torch.cat((target, ends), 1)[:, 1:]"},
             "Your result is filled up to max_new.", "How long is the longest sentence?"),
        edit("GRD-33 bos after the end", {KEPT: "torch.where(done, bos, chosen)"},
             "After its eos a sentence of yours is filled with something else.", "Which token should follow eos?"),
        edit("GRD-33", {KEPT: "torch.where(done, 0, chosen)"}),
        edit("GRD-35 a list of lists", {LAST: "return target[:, 1:].tolist()"},
             "You return lists.", "What did the signature promise?"),
        edit("GRD-37 a sentence begins with what it was given", {"torch.full((len(src), 1), bos, device=src.device)":
             "src[:, :1].clone()"},
             "Your translation begins with a word of the source.", "From which token does every translation start?"),
        edit("GRD-39 a model that is told of those alone who go on",
             {"logits = model(src, target)": "logits = model(src[~done], target[~done])",
              CHOSEN: "target.new_full((len(src),), eos).masked_scatter(~done, logits[:, -1].argmax(-1))"},
             "Your model is not told of the sentences that have ended.",
             "Which rows does the exercise want the model to get?"),
    ),
    combinable=("GRD-01", "GRD-03", "GRD-05", "GRD-13", "GRD-25"),
    needs={
        "ties": ("You are right where one token is the likeliest; where several are, you are not.",
                 "Which id does the exercise ask for in a tie?"),
        "negative": ("You are right where the largest logit is above 0; where all are below, you are not.",
                     "With which number does your search for the largest logit begin?"),
        "ends": ("Where no sentence ends before another you are right; where one does you are not.",
                 "What should a sentence hold while others go on?"),
        "all": ("Where some sentence goes on to the end you are right; where all have ended you are not.",
                "When should the loop end, and what should be in the result by then?"),
        "long": ("Short translations come out right, a long one does not.",
                 "Which number in your code says how long a translation may be?"),
        "modes": ("You are right except for a model that does something else in training than in evaluation.",
                  "Who decides in which mode the model is?"),
        "": ("Where no sentence ends your tokens are already wrong.",
             "What does the model get in the second call, and which of its numbers tell the next token?"),
    },
    hints=(
        "Begin with a column of bos. What does the model make of it, and which of its logits say the next token?",
        "Some sentences end before others. How do you remember which, and what do they say from then on?",
        "The shape of it: call the model on (B, n), read (B, V) at the last place, choose (B,), append it; stop when "
        "all have ended; bos is not part of the result.",
    ),
)
