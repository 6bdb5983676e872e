"""Greedy decoding: the likeliest token at each step, until every sentence has ended."""

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
# The first token of a source is the length of its translation; each logit depends on all tokens of source and
# target. A translation that is not stopped at its end goes on with other tokens.
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
# When called without arguments, it returns the arguments of its earlier calls, or whether gradients were on
# in any of them. Tokens after the first end of a sentence may be anything.
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
    yield _case(draw, "a large vocabulary", [3, 12], 4, words=70_000, eos=69_999, needs=("ties", "ends"))
    yield _case(draw, "a long translation", [40, 60, 35], 64, needs=("ends", "long"))
    yield _case(draw, "a very long translation", [290, 12], 300, needs=("ends", "long"), repeats=False)
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
             "Your result begins with bos.", "Which tokens were chosen by the model?"),
        edit("GRD-03 a sentence goes on after its end", {KEPT: "chosen"},
             "Your sentences go on after their eos.",
             "What should a row contain after its first eos?"),
        wrong("GRD-43 one sentence at a time", one_by_one,
              "You write one sentence after the other.", "How many sentences can the model read in one call?"),
        edit("GRD-05 it never stops early", {STOP: "if False:"},
             "When every sentence has ended, your loop goes on until max_new.",
             "How can your loop tell that every sentence has ended?"),
        edit("GRD-07 it stops at the first end", {"done.all()": "done.any()"},
             "When one sentence ends, you end all of them.",
             "Which sentences must have ended before the loop may stop?"),
        edit("GRD-45 the loop waits until all end in one step",
             {KEPT: "chosen", "done = done | (chosen == eos)": "done = chosen == eos"},
             "Your loop forgets which sentences have ended.", "Must all sentences end in the same step?"),
        edit("GRD-45", {KEPT: "chosen", "done = done | (chosen == eos)": "done = chosen == eos",
                        LAST: "said = target[:, 1:]\n    return said.masked_fill((said == eos).cumsum(1) > 0, eos)"}),
        edit("GRD-09 the first place is read", {"logits[:, -1]": "logits[:, 0]"},
             "You read the logits of the first position in every step.",
             "Which position's logits predict the next token?"),
        edit("GRD-11 the unlikeliest", {"argmax": "argmin"},
             "You take the least likely token.", "Should the chosen token have the largest or the smallest logit?"),
        edit("GRD-13 ties go to the highest id",
             {CHOSEN: "logits.shape[-1] - 1 - logits[:, -1].flip(-1).argmax(dim=-1)"},
             "When several tokens are equally likely, you take the last of them.",
             "Of equally likely tokens, which id should be chosen?"),
        edit("GRD-15 the model hears the last token only", {"model(src, target)": "model(src, target[:, -1:])"},
             "Your model receives only the last token.", "Which tokens should the model receive in step i?"),
        edit("GRD-17 the model is never told what it said", {"model(src, target)": "model(src, target[:, :1])"},
             "Your model receives only bos in every step.", "Which tokens should the model receive in step i?"),
        edit("GRD-19 gradients are recorded", {"with torch.no_grad():": "if True:"},
             "You call the model with gradients switched on.",
             "How do you tell PyTorch not to record gradients for a few lines?"),
        edit("GRD-41 gradients stay off", {"with torch.no_grad():": "torch.set_grad_enabled(False)\n    if True:"},
             "After your call PyTorch no longer records gradients for any code.",
             "Which line switches recording on again?"),
        edit("GRD-21 the model is switched to evaluation",
             {"    done = torch": "    getattr(model, 'eval', int)()\n    done = torch"},
             "A model that is in training mode before your call is in evaluation mode during or after it.",
             "What does the exercise say about the model's mode?"),
        edit("GRD-23 one call too many", {LAST: "model(src, target)\n    return target[:, 1:]"},
             "You call the model once more after the last token is written.",
             "How many times must the model be called to choose n tokens?"),
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
             "Your last eos is missing.", "Is eos part of the result?"),
        edit("GRD-31 always max_new tokens",
             {LAST: "ends = target.new_full((len(src), max_new + 1 - target.shape[1]), eos)\n"
             "    return torch.cat((target, ends), 1)[:, 1:]"},
             "Your result is padded to max_new.",
             "What is L, the length of the result, when all rows have ended?"),
        edit("GRD-33 bos after the end", {KEPT: "torch.where(done, bos, chosen)"},
             "After its eos, a row of your result is padded with the wrong token.", "Which token should follow eos?"),
        edit("GRD-33", {KEPT: "torch.where(done, 0, chosen)"}),
        edit("GRD-35 a list of lists", {LAST: "return target[:, 1:].tolist()"},
             "You return lists.", "What type should the result have?"),
        edit("GRD-37 a sentence begins with what it was given", {"torch.full((len(src), 1), bos, device=src.device)":
             "src[:, :1].clone()"},
             "You start each translation from a source token.", "Which token should every translation start from?"),
        edit("GRD-47 an end of 0 is ignored", {"(chosen == eos)": "(chosen == eos) & bool(eos)"},
             "You ignore an eos with the id 0.", "Is `0` true or false in Python?"),
        edit("GRD-49 bos ends a sentence, too", {"(chosen == eos)": "(chosen == eos) | (chosen == bos)"},
             "Your sentences also end when the model chooses bos.", "Which token ends a sentence?"),
        edit("GRD-51 a limit besides max_new", {"range(max_new)": "range(min(max_new, 50))"},
             "Your result is right as far as it goes, but it ends before max_new.",
             "Which number besides max_new limits the length of a translation?"),
        *(edit("GRD-51", {"range(max_new)": f"range(min(max_new, {limit}))"})
          for limit in ("100", "256", "src.shape[1]", "2 * src.shape[1]")),
        edit("GRD-39 a model that is told of those alone who go on",
             {"logits = model(src, target)": "logits = model(src[~done], target[~done])",
              CHOSEN: "target.new_full((len(src),), eos).masked_scatter(~done, logits[:, -1].argmax(-1))"},
             "You leave finished sentences out of the model's input.",
             "Which rows should the model receive in every step?"),
    ),
    needs={
        "ties": ("Your result is right when one token is the most likely, and wrong when several are "
                 "equally likely.",
                 "Of equally likely tokens, which id should be chosen?"),
        "negative": ("Your result is right when the largest logit is above 0, and wrong when all logits are below 0.",
                     "Which number does your search for the largest logit start from?"),
        "ends": ("Your result is right when no sentence ends before another, and wrong when one does.",
                 "What should a finished row contain while the others go on?"),
        "all": ("Your result is right when some sentence never ends, and wrong when all of them end.",
                "When should the loop stop?"),
        "long": ("Your result is right for short translations, and wrong for long ones.",
                 "Does a number in your code limit the length of a translation?"),
        "modes": ("Your result is right except for a model that behaves differently in training and in evaluation.",
                  "What does the exercise say about the model's mode?"),
        "": ("Even while no sentence has ended, your tokens are wrong.",
             "Which tokens does the model receive in the second call, and which of its logits do you read?"),
    },
    hints=(
        "Begin with a column of bos, (B, 1), and call the model on it. What does the model return, and which of "
        "its logits predict the next token?",
        "Some sentences end before others. How do you keep track of finished rows, and what do you append to them "
        "afterwards? A Boolean tensor (B,) and `torch.where` help.",
        "In outline: without recording gradients, repeat at most max_new times: call the model on the tokens so "
        "far, take the logits at the last position, (B, V), choose each row's likeliest token, (B,), replace it "
        "by eos in finished rows, and append the chosen tokens; stop when all rows have ended. Return everything "
        "after bos.",
    ),
)
