"""Batched generation: several prompts are continued together, and a finished text waits for the others."""

import torch

from autograder.exercises.assistant.pad_left import pad_left
from autograder.schema import SIDE_EFFECTS, VALUES, Call, Case, Exercise, Given, Kept, Module, edit

# The logits depend on what was read, at which positions and under which mask. They are whole numbers plus a
# different fraction for each token, so that no choice of a token depends on rounding. A call with None
# returns the notes: what was read, its types, and whether a graph was built. After a row has stopped, its
# positions may be anything.
MODEL = """
weight, notes = nn.Parameter(one), []

def model(ids, mask, positions, /):
    if ids is None:
        return notes
    read = (table[ids % len(table)] * (1 + positions[..., None]) * mask[..., None]).cumsum(dim=1)
    logits = weight * (read % 101 + torch.arange(table.shape[1]) / table.shape[1])
    width = notes[0]["ids"].shape[1] if notes else ids.shape[1]
    free = ~mask.bool() & (torch.arange(ids.shape[1]) >= width)
    types = " ".join(str(given.dtype) for given in (ids, mask, positions))
    notes.append({"ids": ids.clone(), "mask": mask.clone(), "positions": positions.masked_fill(free, 0),
                  "types": types, "graph": logits.requires_grad})
    return logits
"""
# The results are kept, to show whether the answer has written into them.
CHOOSE = """
notes, results = [], []

def choose(logits):
    if logits is None:
        return notes, results
    notes.append(logits.detach().clone())
    results.append(logits.{0}(dim=-1))
    return results[-1]
"""
BY_NUMBER = """
notes, results = [], []

def choose(logits):
    if logits is None:
        return notes, results
    if len(logits) != len(numbers[0]):
        raise ValueError(f"choose needs the logits of all {len(numbers[0])} rows in every step, not of {len(logits)}")
    notes.append(logits.detach().clone())
    results.append(numbers[min(len(results), len(numbers) - 1)].clone())
    return results[-1]
"""
TRAINED = """
class Trained(nn.Module):
    def __init__(self, training=True):
        super().__init__()
        self.train(training)

    def forward(self, ids, mask, positions):
        read = ((ids + positions) * mask).cumsum(dim=1)[..., None] * torch.arange(1, 8)
        return (1.0 if self.training else -1.0) * (read % 11 + torch.arange(7) / 7)
"""
GRADIENT_MODE = """
def asked(answer, model, prompts, n_new, choose, stop, pad, gradients):
    with torch.set_grad_enabled(gradients):
        texts = answer(model, prompts, n_new, choose, stop, pad)
        return texts, torch.is_grad_enabled()
"""
LARGEST, SMALLEST = (Given("choose", CHOOSE.format(way)) for way in ("argmax", "argmin"))
NEVER = 99
CALLS, MODE = "calls of model and choose", "gradients and modes"


def generate_batch(model, prompts, n_new, choose, stop, pad):
    ids, mask, positions = pad_left(prompts, pad)
    texts, running = [[] for _ in prompts], torch.ones(len(prompts), dtype=torch.bool)
    with torch.no_grad():
        for _ in range(n_new):
            token = choose(model(ids, mask, positions)[:, -1])
            running = running & (token != stop)
            for row in running.nonzero().flatten().tolist():
                texts[row].append(token[row].item())
            if not running.any():
                break
            ids = torch.cat((ids, torch.where(running, token, pad)[:, None]), dim=1)
            mask = torch.cat((mask, running[:, None]), dim=1)
            positions = torch.cat((positions, positions[:, -1:] + 1), dim=1)
    return texts


def reference(model, prompts, n_new, choose, stop, pad):
    width = max(map(len, prompts))
    rows = [[(pad, False, 0)] * (width - len(prompt)) for prompt in prompts]
    for row, prompt in zip(rows, prompts, strict=True):
        row.extend((token, True, place) for place, token in enumerate(prompt))
    texts, finished = [[] for _ in rows], set()
    with torch.inference_mode():
        while len(finished) < len(rows) and n_new > 0:
            ids, mask, positions = torch.tensor(rows).unbind(-1)
            logits = model(ids, mask.bool(), positions)
            for number, token in enumerate(choose(logits.select(1, -1)).tolist()):
                finished |= {number} if token == stop else set()
                if number in finished:
                    rows[number].append((pad, False, 0))
                else:
                    texts[number].append(token)
                    rows[number].append((token, True, rows[number][-1][2] + 1))
            n_new -= 1
    return texts


def cases(draw):
    lengths = draw.sizes(3, 1, 6)
    several = ("prompts", "lengths", "text", "steps")
    yield _case(draw, "prompts of different lengths", lengths, 4, needs=several)
    yield _case(draw, "one new token each", (4, 2), 1, needs=("prompts", "lengths", "text"))
    yield _case(draw, "one prompt", (4,), 3, needs=("text", "steps"))
    yield _case(draw, "one prompt of one token, one new one", (1,), 1)
    yield _case(draw, "prompts of one token", (1, 1, 1), 3, needs=("prompts", "steps"))
    yield _case(draw, "prompts of one length", (3, 3), 3, needs=("prompts", "text", "steps"))
    yield _case(draw, "four of everything", (4, 4, 4, 4), 4, words=4, needs=("prompts", "text", "steps"))
    yield _case(draw, "the least likely tokens", (2, 4), 4, choose=SMALLEST, needs=(*several, "choose"))
    yield _case(draw, "many new tokens", (3, 1), 150, needs=(*several, "long"))
    yield _case(draw, "a long prompt", (300, 2), 3, needs=(*several, "long"))
    if draw.hidden:
        yield _case(draw, "a very long prompt", (3, 1100, 700), 3, needs=(*several, "long"))
    stop = {"needs": (*several, "stop")}
    for family, pad in (("stops as they come", 0), ("stops as they come, and pad is the stop", 2)):
        yield _case(draw, family, (3, 1, 5, 2), 14, words=4, stop=2, pad=pad, **stop)
    yield _case(draw, "pad is a token like others", (1, 4, 2), 9, words=3, pad=1, needs=(*several, "pad"))
    yield _case(draw, "prompts that contain pad", (2, 5, 3), 4, pad=0, before=0, needs=(*several, "inside"))
    yield _case(draw, "prompts that contain the stop", (2, 4), 3, stop=NEVER, before=NEVER, words=100,
                needs=(*several, "inside"))
    for family, numbers, ids in _stops():
        yield _numbers(family, numbers, **ids, **stop)
    seen = {"aspect": CALLS, "calls_shown": True}
    yield _case(draw, "what model and choose see", (2, 4, 1), 4, **seen, needs=several)
    yield _case(draw, "what they see for one token", (1,), 1, **seen)
    yield _case(draw, "what they see in one step", (2, 3), 1, **seen, needs=("prompts", "lengths", "text"))
    yield _case(draw, "what they see of prompts that contain pad", (2, 5), 3, pad=0, before=0, **seen,
                needs=(*several, "inside"))
    for family, numbers, ids in _stops():
        yield _numbers(f"what they see: {family}", numbers, **ids, **seen, **stop)
    given = {"prompts": _prompts(draw, (2, 4), 6), "n_new": 3, "choose": LARGEST, "stop": NEVER, "pad": 0}
    for training, mode in ((True, "training"), (False, "evaluation")):
        model = {"model": Module("Trained", {"training": training}, code=TRAINED)}
        yield Case(f"a model in {mode} mode", (), model | given, modes=True, aspect=MODE, gradients=False,
                   needs=several)
    for gradients in (True, False):
        asked = {"asked": Given("asked", GRADIENT_MODE), "model": _model(draw)} | given | {"gradients": gradients}
        call = Call((Kept("answer"), *map(Kept, list(asked)[1:])), to="asked", keep="texts, gradients afterwards")
        yield Case(f"gradients {'on' if gradients else 'off'} before", (), asked, script=(call,), aspect=MODE,
                   gradients=False, repeats=False, needs=several)


def _stops():
    """Yield (family, tokens, ids) for cases in which texts stop. Row i of `tokens` holds the tokens chosen in
    step i for the prompts [3, 1, 4], [5] and [2, 2]; `ids` holds the ids `stop` and `pad`.
    """
    other = {"stop": 2, "pad": 0}
    yield "rows finish one after the other", [[5, 2, 6], [3, 4, 1], [2, 4, 4], [1, 5, 2], [4, 4, 4]], other
    yield "a row finishes, and other tokens are chosen for it", [[2, 3, 6], [7, 4, 1], [2, 5, 3], [0, 6, 6]], other
    yield "all finish at once", [[5, 3, 6], [2, 2, 2], [4, 4, 4]], other
    yield "all finish before anything is written", [[2, 2, 2], [3, 3, 3]], other
    yield "all finish with the last token", [[5, 3, 6], [4, 4, 4], [6, 6, 6], [2, 2, 2], [7, 7, 7]], other
    yield "a row finishes with the last token", [[5, 3, 6], [3, 4, 1], [4, 4, 3], [3, 2, 5]], other
    yield "one row goes on", [[2, 3, 2], [1, 3, 1], [2, 3, 2], [6, 4, 5]], other
    yield "a stop that is zero", [[5, 3, 6], [0, 4, 1], [3, 4, 0], [3, 6, 5]], {"stop": 0, "pad": 1}
    yield "pad is the stop", [[5, 2, 6], [3, 4, 1], [2, 4, 4], [1, 5, 2]], {"stop": 2, "pad": 2}
    yield "pad is chosen", [[5, 0, 6], [0, 4, 0], [2, 0, 4], [0, 2, 0]], other
    yield "a large stop", [[5, 700, 70_000], [70_000, 4, 1], [1, 70_001, 4]], {"stop": 70_000, "pad": 70_001}


def _model(draw, words=7):
    return Given("model", MODEL, {"table": draw.integers(1, 100, words, words), "one": torch.ones(())})


def _prompts(draw, lengths, words, before=None):
    """Return random prompts; with `before`, the first and the second-to-last id of each are `before`."""
    prompts = [draw.integers(0, words - 1, length).tolist() for length in lengths]
    return prompts if before is None else [[before, *prompt[1:-1], before, prompt[-1]] for prompt in prompts]


def _case(draw, family, lengths, new, choose=LARGEST, words=7, stop=NEVER, pad=0, before=None, **more):
    return _asked(family, _model(draw, words), _prompts(draw, lengths, words, before), new, choose, stop, pad, **more)


def _numbers(family, numbers, stop, pad, **more):
    """Return a case whose `choose` returns fixed tokens, one row of `numbers` per call."""
    table = (torch.arange(11)[:, None] * torch.tensor([3, 7, 5]) + 2) % 97
    model = Given("model", MODEL, {"table": table, "one": torch.ones(())})
    choose = Given("choose", BY_NUMBER, {"numbers": torch.tensor(numbers)})
    prompts = [[3, 1, 4], [5], [2, 2]]
    return _asked(family, model, prompts, min(len(numbers), 4), choose, stop, pad, **more)


def _asked(family, model, prompts, new, choose, stop, pad, calls_shown=False, **more):
    given = {"model": model, "prompts": prompts, "n_new": new, "choose": choose, "stop": stop, "pad": pad}
    more = {"gradients": False, "repeats": False} | more
    if not calls_shown:
        return Case(family, tuple(given.values()), **more)
    script = (Call((), {name: Kept(name) for name in given}, keep="texts"),
              Call((None, None, None), to="model", keep="calls of the model"),
              Call((None,), to="choose", keep="calls and results of choose"))
    return Case(family, (), given, script=script, **more)


PADDED, TEXTS = "pad_left(prompts, pad)", "[[] for _ in prompts]"
LOOP, CALL = "for _ in range(n_new):", "model(ids, mask, positions)"
TOKEN = f"choose({CALL}[:, -1])"
RUNNING = "running = running & (token != stop)"
ROWS, ADDED = "running.nonzero().flatten().tolist()", "texts[row].append(token[row].item())"
END = "            if not running.any():\n                break\n"
FILLED, LONGER = "torch.where(running, token, pad)[:, None]", "torch.cat((mask, running[:, None]), dim=1)"
NEXT, NO_GRAD, LAST = "positions[:, -1:] + 1", "with torch.no_grad():", "return texts"
RIGHT_PADDED = """pad_left(prompts, pad)
    order = (torch.arange(ids.shape[1]) + (~mask).sum(dim=1, keepdim=True)).remainder(ids.shape[1])
    ids, mask, positions = (one.gather(1, order) for one in (ids, mask, positions))"""

EXERCISE = Exercise(
    number=4, minutes=25, difficulty=3,
    worked=generate_batch,
    reference=reference,
    cases=cases,
    standard=(),
    aspects={VALUES: 4, CALLS: 2, MODE: 1, SIDE_EFFECTS: 1},
    mistakes=(
        edit("padded on the right", {PADDED: RIGHT_PADDED},
             "Your short prompts end in padding, and you choose from the logits of that padding.",
             "At which end must the last token of every prompt be?"),
        edit("padded on the right",
             {PADDED: f"{RIGHT_PADDED}\n    positions = torch.arange(ids.shape[1]).expand_as(ids)"}),
        edit("the first position is read", {"[:, -1])\n": "[:, 0])\n"},
             "You choose from the logits of the first position.",
             "Which row of the logits predicts the next token?"),
        edit("all positions are read", {TOKEN: "choose(model(ids, mask, positions).mean(dim=1))"},
             "You choose from the logits of all positions together.",
             "Which row of the logits predicts the next token?"),
        edit("the stop comes back", {RUNNING: "before = running\n            " + RUNNING,
             ROWS: "before.nonzero().flatten().tolist()"},
             "Your texts contain the stop.", "Should `stop` be part of the result?"),
        edit("the stop is not heard", {RUNNING: ""},
             "Your texts go on after `stop`.", "What should happen to a row once `stop` has been chosen for it?"),
        edit("a stop ends all rows", {"if not running.any():": "if not running.all():"},
             "All your rows end as soon as one of them is finished.",
             "Which rows should go on when one is finished?"),
        edit("a stop ends all rows", {RUNNING: f"{RUNNING}\n            if not running.all():\n                break"}),
        edit("a finished row goes on", {RUNNING: "running = token != stop"},
             "In your code, a finished row goes on when something other than the stop is chosen for it.",
             "Once a row is finished, does it matter what is chosen for it?"),
        edit("a finished row goes on", {RUNNING: "running = token != stop", NEXT: "(mask.sum(dim=1) - 1)[:, None]"}),
        edit("what is chosen for a finished row counts", {FILLED: "token[:, None]"},
             "You write what is chosen for a finished row into that row.",
             "What should fill a finished row?"),
        edit("rows go on to the end and are cut at the stop",
             {FILLED: "token[:, None]", LONGER: LONGER.replace("running", "torch.ones_like(running)")},
             "Your finished rows go on, and their texts are cut at the stop.",
             "After its stop, what should fill a row, and what should its mask be?"),
        edit("finished rows filled with the stop", {FILLED: "torch.where(running, token, stop)[:, None]"},
             "You fill finished rows with the stop.", "Which id should fill a finished row?"),
        edit("finished rows filled with the stop", {FILLED: "torch.where(running, token, 0)[:, None]"},
             "You fill finished rows with 0, whatever `pad` is.", "Which id should fill a finished row?"),
        edit("the stop is kept in its row",
             {RUNNING: "before = running\n            " + RUNNING, FILLED: "torch.where(before, token, pad)[:, None]"},
             "You keep the stop in its row.",
             "Which id should the row hold at the position for which the stop is chosen?"),
        edit("the stop is kept in its row",
             {RUNNING: "before = running\n            " + RUNNING, FILLED: "torch.where(before, token, pad)[:, None]",
              LONGER: LONGER.replace("running", "before")}),
        edit("the stop may be attended to", {RUNNING: "before = running\n            " + RUNNING,
             LONGER: LONGER.replace("running", "before")},
             "Your mask is True at the position of the stop.", "From which position on is the mask of a finished "
             "row False?"),
        edit("finished rows are read", {LONGER: LONGER.replace("running[:, None]",
             "torch.ones_like(running)[:, None]")},
             "Your mask is True where a finished row is filled.",
             "Are the tokens that fill a finished row part of its text?"),
        edit("the mask from the ids", {LONGER: "ids != pad"},
             "Your mask treats tokens of a text as padding if they have the id `pad`.",
             "How do you know that a token belongs to a text, without looking at its id?"),
        edit("the mask from the ids", {PADDED: f"{PADDED}\n    mask = ids != pad\n    positions = "
             f"(mask.cumsum(dim=1) - 1).clamp(min=0)"}),
        edit("the mask from the ids", {PADDED: f"{PADDED}\n    mask = ids != pad\n    positions = "
             f"(mask.cumsum(dim=1) - 1).clamp(min=0)",
             LONGER: "ids != pad"}),
        edit("the mask from the ids", {LONGER: LONGER.replace("running[:, None]", "ids[:, -1:] != pad")}),
        edit("the mask from the ids", {PADDED: f"{PADDED}\n    mask = ids != pad"}),
        edit("new tokens are not read", {LONGER: LONGER.replace("running[:, None]",
             "torch.zeros_like(running)[:, None]")},
             "Your mask is False for the new tokens.", "May the second new token attend to the first?"),
        edit("positions stand still", {NEXT: "positions[:, -1:]"},
             "Your new tokens have the position of the last token of the prompt.",
             "Which position follows that of the last token?"),
        edit("positions begin again", {NEXT: "torch.zeros_like(positions[:, -1:])"},
             "Your new tokens have the position 0.", "Which position follows that of the last token?"),
        edit("positions from one", {CALL: "model(ids, mask, mask.cumsum(dim=1))"},
             "Your positions begin at 1.", "Which position does `pad_left` give the first token of a prompt?"),
        edit("positions of the row", {NEXT: "torch.full_like(positions[:, -1:], positions.shape[1])"},
             "You compute the positions of new tokens from the width of the batch.",
             "A prompt of 2 tokens is in a row of 5. Which position does its first new token have?"),
        edit("positions of the row", {PADDED: f"{PADDED}\n    positions = torch.arange(ids.shape[1]).expand_as(ids)"},
             "Your positions count the padding.",
             "A prompt of 2 tokens is in a row of 5. Which position does its first token have?"),
        edit("positions of the row", {PADDED: f"{PADDED}\n    positions = torch.arange(ids.shape[1]) * mask"}),
        edit("positions of the first row", {NEXT: "(mask.sum(dim=1) - 1)[:1, None].expand(len(mask), 1)"},
             "All your new tokens get the positions of the first row.",
             "Which position does the first new token of each prompt have?"),
        edit("a pad that is chosen finishes the row", {RUNNING: f"{RUNNING} & (token != pad)"},
             "You finish a row when `pad` is chosen, though `pad` is not the stop.",
             "Which id finishes a row?"),
        edit("a pad that is chosen is left out", {ROWS: "(running & ((token != pad) | (pad == "
             "stop))).nonzero().flatten().tolist()"},
             "You leave out a token that has the id `pad`.", "Which tokens of a text belong in the result?"),
        edit("a stop in the prompt", {PADDED: f"{PADDED}\n    stopped = [stop in prompt for prompt in prompts]",
             "dtype=torch.bool)\n": "dtype=torch.bool)\n    running = running & ~torch.tensor(stopped)\n"},
             "You add no new tokens to a prompt that contains the stop.",
             "Should a stop in the prompt end the row?"),
        edit("a stop of zero is none", {RUNNING: "running = running & (token != (stop or NEVER))"},
             "You ignore a stop with the id 0.", "Is `0` true or false in Python?"),
        edit("called after all are finished", {END: ""},
             "You still call the model when all rows are finished.", "When is there nothing left to choose?"),
        edit("a call after the last token", {LAST: f"with torch.no_grad():\n        {CALL}\n    {LAST}"},
             "You call the model once more after the last token.", "Are the logits after the last token needed?"),
        edit("a call after the last token", {END: END.replace("break", f"{CALL}\n                break")}),
        edit("a call after the last token", {LAST: f"with torch.no_grad():\n        if running.any():\n            "
             f"{CALL}\n    {LAST}"}),
        edit("chosen row by row", {TOKEN: "torch.cat([choose(one[None]) for one in model(ids, mask, positions)[:, "
             "-1]])"},
             "You call `choose` once for each row.", "How many times should `choose` be called in one step?"),
        edit("read row by row", {CALL: "torch.cat([model(*one) for one in zip(ids.split(1), mask.split(1), "
             "positions.split(1))])"},
             "You call the model once for each row.", "How many times should the model be called in one step?"),
        edit("read twice", {CALL: f"({CALL} + 0 * {CALL})"},
             "You call the model more than once in a step.", "How many times should the model be called in one step?"),
        edit("chosen twice", {f"token = {TOKEN}": f"token = {TOKEN}\n            token = {TOKEN}"},
             "You call the model or `choose` more than once in a step.",
             "How many times should each of the two be called in one step?"),
        edit("the last token alone is read", {CALL: "model(ids[:, -1:], mask[:, -1:], positions[:, -1:])"},
             "You give the model only the last token.", "Which tokens does the next one depend on?"),
        edit("the last token alone is read",
             {CALL: "model(*(given[:, 0 if not any(texts) else -1:] for given in (ids, mask, positions)))"},
             "After the first step, you give the model only the last token.",
             "Does the model remember what it read in the step before?"),
        edit("finished rows are taken out",
             {TOKEN: "torch.full((len(prompts),), stop)\n            "
                     "token[running] = choose(model(ids[running], mask[running], positions[running])[:, -1])"},
             "You leave out finished rows.", "How many rows should the model and `choose` see in every step?"),
        edit("finished rows are taken out",
             {TOKEN: "torch.full((len(prompts),), stop)\n            "
                     "token[running] = choose(model(ids, mask, positions)[running, -1])"}),
        edit("finished rows are taken out",
             {PADDED: f"{PADDED}\n    rows = torch.arange(len(prompts))",
              RUNNING: "rows, ids, mask, positions, token = (one[token != stop] for one in (rows, ids, mask, "
              "positions, token))", ROWS: "range(len(token))", ADDED: "texts[rows[row]].append(token[row].item())",
              "if not running.any()": "if not len(token)", FILLED: "token[:, None]",
              LONGER: LONGER.replace("running[:, None]", "torch.ones_like(mask[:, :1])")}),
        edit("one prompt after the other",
             {PADDED: "pad_left(prompts, pad)\n    if len(prompts) > 1:\n        return [generate_batch(model, "
             "[one], n_new, choose, stop, pad)[0] for one in prompts]"},
             "You continue one prompt after the other.",
             "How many rows should the model and `choose` see in every step?"),
        edit("padded again in every step",
             {CALL: "model(*pad_left([prompt + text for prompt, text in zip(prompts, texts)], pad))"},
             "You pad all rows again in every step, so that finished rows move to the right.",
             "Which column does a step add to ids, to mask and to positions?"),
        edit("always the likeliest", {TOKEN: "model(ids, mask, positions)[:, -1].argmax(dim=-1)"},
             "You never call `choose`.", "Which function picks the next token?"),
        edit("probabilities are chosen from", {TOKEN: "choose(torch.softmax(model(ids, mask, positions)[:, -1], "
             "dim=-1))"},
             "You give probabilities to `choose`.", "According to the docstring, what does `choose` get?"),
        edit("read at the number of tokens",
             {TOKEN: "choose(model(ids, mask, positions)[torch.arange(len(prompts)), mask.sum(dim=1) - 1])"},
             "You look for a row's last token by counting its tokens from the left.",
             "At which end of its row is the last token of a short prompt?"),
        edit("an axis too many", {TOKEN: "choose(model(ids, mask, positions)[:, -1:]).flatten()"},
             "You give `choose` logits with three axes.", "What shape does the docstring give for the argument of "
             "`choose`?"),
        edit("one token too many", {LOOP: "for _ in range(n_new + 1):"},
             "You return one token too many.", "How many times does your loop run?"),
        edit("one token too few", {LOOP: "for _ in range(n_new - 1):"},
             "You return one token too few.", "How many times does your loop run?"),
        edit("with gradients", {NO_GRAD: "if True:"},
             "You call the model with gradients enabled.", "Does generating a text need gradients?"),
        edit("gradients stay off", {NO_GRAD: "torch.set_grad_enabled(False)\n    if True:"},
             "After your call, gradients stay switched off for the caller.",
             "Does your function restore the setting when it ends?"),
        edit("gradients are switched on", {NO_GRAD: "torch.set_grad_enabled(False)\n    if True:",
             LAST: f"torch.set_grad_enabled(True)\n    {LAST}"},
             "After your call, gradients are switched on even if they were off before.",
             "Does your function restore the setting when it ends?"),
        edit("the model is switched to evaluation",
             {f"    {NO_GRAD}": f"    getattr(model, 'eval', int)()\n    {NO_GRAD}"},
             "You change the mode of the model.", "In which mode should the model run?"),
        edit("the model is switched to evaluation",
             {f"    {NO_GRAD}": f"    before = getattr(model, 'training', False)\n    getattr(model, 'eval', "
             f"int)()\n    {NO_GRAD}",
              LAST: f"getattr(model, 'train', bool)(before)\n    {LAST}"}),
        edit("written into what was chosen", {RUNNING: f"{RUNNING}\n            token[~running] = pad",
             FILLED: "token[:, None]"},
             "You write into the tensor that `choose` returned.",
             "Could `choose` return the same tensor again later?"),
        edit("written into what was chosen", {RUNNING: f"{RUNNING}\n            token.masked_fill_(~running, pad)"}),
        edit("written into what was chosen", {FILLED: "token.masked_fill_(~running, pad)[:, None]"}),
        edit("written into what was chosen", {RUNNING: f"token[~running] = pad\n            {RUNNING}"}),
        edit("written into the prompts", {ADDED: "prompts[row].append(token[row].item())",
             TEXTS: "list(map(len, prompts))",
             LAST: "return [prompt[length:] for prompt, length in zip(prompts, texts)]"},
             "After the call, the caller's prompts are longer.", "Which line changes a list that was passed in?"),
        edit("the prompts come back, too", {TEXTS: "[list(prompt) for prompt in prompts]"},
             "Your texts begin with their prompts.", "Which tokens are new?"),
        edit("three arguments by position", {CALL: "model(ids, mask=mask, positions=positions)"},
             "You do not give the model three arguments by position.",
             "Which three arguments does the model get, and may your code rely on their names?"),
        edit("three arguments by position", {CALL: "model(ids, attention_mask=mask, position_ids=positions)"}),
        edit("mask and positions exchanged", {CALL: "model(ids, positions, mask)"},
             "You give the model the positions before the mask.",
             "In which order does the docstring give the arguments?"),
        edit("three arguments by position", {CALL: "model(ids, mask)"}),
        edit("three arguments by position", {CALL: "model(ids)"}),
        edit("tensors instead of numbers", {ADDED: "texts[row].append(token[row])"},
             "Your lists contain tensors.", "What type should the items of the lists have?"),
        edit("one tensor", {LAST: "return torch.tensor([text + [pad] * (n_new - len(text)) for text in texts])"},
             "You return a tensor.", "What type should the result have?"),
        edit("padded lists", {ROWS: "range(len(texts))",
             ADDED: "texts[row].append(token[row].item() if running[row] else pad)"},
             "Your texts go on with `pad` after the stop.",
             "If the first token chosen for a row is the stop, how long is the list for this row?"),
        edit("padded lists", {LAST: "return [text + [pad] * (max(map(len, texts)) - len(text)) for text in texts]"},
             "You pad the texts of rows that finished early.",
             "If the first token chosen for a row is the stop, how long is the list for this row?"),
        edit("sorted by length", {PADDED: "pad_left(sorted(prompts, key=len), pad)"},
             "You change the order of the prompts.", "Which prompt's text comes first in the result?"),
        edit("a mask of numbers", {CALL: "model(ids, mask.long(), positions)"},
             "The mask that you give to the model is not Boolean.", "What dtype do this course's masks have?"),
        edit("ids of 32 bits", {CALL: "model(ids.int(), mask, positions)"},
             "The ids that you give to the model are not int64.", "What dtype do ids have in this course?"),
        edit("positions of 32 bits", {CALL: "model(ids, mask, positions.int())"},
             "The positions that you give to the model are not int64.", "What dtype does `pad_left` give them?"),
    ),
    needs={
        "stop": ("Your answer is wrong only when the stop is chosen.",
                 "When is a row finished, and what goes into its row from then on?"),
        "pad": ("Your answer is wrong only when `pad` is an id that can be chosen.",
                "What distinguishes a token with the id `pad` from padding?"),
        "inside": ("Your answer is wrong only when a prompt contains `pad` or the stop.",
                   "Should an id in a prompt have any effect besides being read by the model?"),
        "choose": ("Your answer is wrong only with certain `choose` functions.",
                   "Which function picks the next token?"),
        "long": ("Your answer is wrong only for a long text.",
        "Does a number in your code limit the length of a text?"),
        "lengths": ("Your answer is wrong only when the prompts have different lengths.",
                    "Where do the prompts end, and which positions do their tokens have?"),
        "prompts": ("Your answer is wrong only when there are several prompts.",
                    "Which axis of the logits belongs to the prompts?"),
        "steps": ("Your answer is wrong only when several new tokens are asked for.",
                  "What do ids, mask and positions look like in the second step?"),
        "text": ("Your answer is wrong only for prompts of several tokens.",
                 "Which row of the logits predicts the next token?"),
        "": ("Even a single new token after a prompt of one token is wrong.",
             "What should `choose` get, and where does the token that it returns go?"),
    },
    hints=(
        "Work through an example: the prompts are [1, 2, 3] and [6], and the second one stops at once. Write "
        "down ids, mask and positions before the first step and before the second.",
        "`pad_left` makes the batch. Keep one Boolean for each row that says whether it is still running; "
        "torch.where picks for each row the chosen token or `pad`, and the same Booleans are the new column "
        "of the mask.",
        "In outline: switch gradients off and repeat n_new times: call the model, give the last position's "
        "logits to `choose`, update which rows are running, append the tokens of the running rows to their "
        "lists, and stop if no row is running. Otherwise append a column to ids, mask and positions.",
    ),
)
