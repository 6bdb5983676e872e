"""Prompts of different lengths in one batch, padded on the left so that they all end in the last column."""

import torch

from autograder.schema import REFUSALS, SIDE_EFFECTS, VALUES, Case, Exercise, edit

INSIDE = "prompts that contain pad"


def pad_left(prompts, pad):
    if not prompts or not all(prompts):
        raise ValueError("there must be a prompt, and none may be empty")
    width = max(map(len, prompts))
    ids = torch.tensor([[pad] * (width - len(prompt)) + prompt for prompt in prompts])
    lengths = torch.tensor([len(prompt) for prompt in prompts])
    positions = torch.arange(width) - (width - lengths[:, None])
    mask = positions >= 0
    return ids, mask, positions.clamp(min=0)


def reference(prompts, pad):
    if len(prompts) == 0 or min(map(len, prompts)) == 0:
        raise ValueError("a prompt has at least one token")
    size = len(prompts), max(map(len, prompts))
    ids, positions = torch.full(size, pad), torch.zeros(size, dtype=torch.int64)
    mask = torch.zeros(size, dtype=torch.bool)
    for row, prompt in enumerate(prompts):
        own = slice(size[1] - len(prompt), None)
        ids[row, own], mask[row, own] = torch.tensor(prompt), True
        positions[row, own] = torch.arange(len(prompt))
    return ids, mask, positions


def cases(draw):
    several = {"needs": ("several", "tokens", "lengths")}
    yield _case(draw, "prompts of different lengths", draw.sizes(4, 1, 8), pad=0, **several)
    yield _case(draw, "one token", (1,), pad=0)
    yield _case(draw, "one prompt", (5,), pad=0, needs=("tokens",))
    yield _case(draw, "prompts of one token", (1, 1, 1), pad=0, needs=("several",))
    yield _case(draw, "prompts of one length", (4, 4, 4), pad=0, needs=("several", "tokens"))
    yield _case(draw, "as many prompts as tokens", (2, 4, 1, 3), pad=0, **several)
    yield _case(draw, "the longest first", (6, 3, 1), pad=0, **several)
    yield _case(draw, "the longest last", (2, 5), pad=0, **several)
    yield Case("prompts alike", ([[3, 4], [3, 4], [5, 3, 4]], 0), gradients=False, **several)
    other = {"needs": (*several["needs"], "pad")}
    yield _case(draw, "another pad", (2, 5, 3), pad=77, **other)
    yield _case(draw, "large ids", (3, 1, 4), pad=100_257, low=70_000, high=99_000, **other)
    # float32 holds every whole number up to 2 ** 24 = 16,777,216, and only some of those beyond.
    beyond = {"needs": (*several["needs"], "beyond float32"), "gradients": False}
    yield Case("ids that float32 cannot hold", ([[5, 16_777_217], [33_554_433], [2, 7, 20_000_001]], 0), **beyond)
    yield _case(draw, "many prompts", draw.integers(1, 12, 64).tolist(), pad=0, **several)
    long = {"needs": (*several["needs"], "long")}
    yield _case(draw, "a long prompt", (3, 300, 129), pad=0, **long)
    if draw.hidden:
        yield _case(draw, "a very long prompt", (1100, 1, 257, 1024), pad=2, **long)
    inside = {"aspect": INSIDE, "gradients": False, "needs": (*several["needs"], "inside")}
    prompts = [[7, 2, 8, 4], [2, 9], [5, 2], [2], [2, 2, 2], [6, 1, 2, 2]]
    yield Case("prompts that contain pad", (prompts, 2), **inside)
    yield Case("a longest prompt that begins with pad", ([[0, 0, 5, 6], [0, 7]], 0), **inside)
    yield Case("prompts of pad only", ([[0, 0], [0]], 0), **inside)
    refused = {"raises": "ValueError", "aspect": REFUSALS, "gradients": False}
    yield Case("no prompts", ([], 0), **refused)
    yield Case("an empty prompt", ([[]], 0), **refused)
    yield Case("an empty prompt first", ([[], [5, 6], [7]], 0), **refused)
    yield Case("an empty prompt last", ([[5, 6], [7], []], 3), **refused)


def _case(draw, family, lengths, pad, low=1, high=30, **more):
    prompts = [draw.integers(low, high, length).tolist() for length in lengths]
    return Case(family, (prompts, pad), gradients=False, **more)


REFUSE, WIDTH = "if not prompts or not all(prompts):", "width = max(map(len, prompts))"
IDS = "[[pad] * (width - len(prompt)) + prompt for prompt in prompts]"
POSITIONS = "torch.arange(width) - (width - lengths[:, None])"
MASK, LAST = "positions >= 0", "return ids, mask, positions.clamp(min=0)"

EXERCISE = Exercise(
    number=3, minutes=10, difficulty=2,
    worked=pad_left,
    reference=reference,
    cases=cases,
    standard=("by name",),
    aspects={VALUES: 4, INSIDE: 1, REFUSALS: 1, SIDE_EFFECTS: 1},
    shapes={"return": "B N"},
    mistakes=(
        edit("padded on the right", {IDS: "[prompt + [pad] * (width - len(prompt)) for prompt in prompts]",
             POSITIONS: "torch.arange(width).expand(len(prompts), -1)", MASK: "positions < lengths[:, None]",
             LAST: "return ids, mask, positions * mask"},
             "Your prompts are at the left end of their rows.",
             "At which end must the last token of each prompt be, so that new tokens can follow?"),
        edit("padded on the right", {IDS: "[prompt + [pad] * (width - len(prompt)) for prompt in prompts]"}),
        edit("padded on the right", {IDS: "[prompt + [pad] * (width - len(prompt)) for prompt in prompts]",
             POSITIONS: "torch.arange(width).expand(len(prompts), -1)", MASK: "positions < lengths[:, None]",
             LAST: "return ids, mask, positions"}),
        edit("the mask from the ids", {MASK: "ids != pad"},
             "When a prompt contains the id `pad`, you take that token for padding.",
             "How do you know where a prompt begins, without looking at its ids?"),
        edit("the mask from the ids", {POSITIONS: "(ids != pad).cumsum(dim=1) - 1", MASK: "ids != pad"}),
        edit("the mask from the ids", {POSITIONS: "(ids != pad).cumsum(dim=1) - 1"}),
        edit("the mask from the ids", {MASK: "(ids != pad).cumsum(dim=1) > 0"}),
        edit("the mask from the ids", {MASK: "(ids != pad).cumsum(dim=1) > 0",
             LAST: "return ids, mask, (mask.cumsum(dim=1) - 1).clamp(min=0)"}),
        edit("the mask is inverted", {MASK: "positions < 0"},
             "Your mask is True for the padding.", "What does True mean in this course's masks?"),
        edit("positions of the row", {LAST: "return ids, mask, torch.arange(width).expand(len(prompts), -1)"},
             "Your positions count the padding as well.",
             "Which position does the first token of a short prompt have?"),
        edit("positions of the row", {LAST: "return ids, mask, torch.arange(width) * mask"}),
        edit("negative positions", {LAST: "return ids, mask, positions"},
             "Your positions are negative in the padding.", "Which position does the docstring assign to padding?"),
        edit("minus one in the padding", {"positions.clamp(min=0)": "positions.clamp(min=-1)"},
             "Your positions are -1 in the padding.", "Which position does the docstring assign to padding?"),
        edit("one in the padding", {"positions.clamp(min=0)": "positions.masked_fill(~mask, 1)"},
             "Your positions are 1 in the padding.", "Which position does the docstring assign to padding?"),
        edit("positions from one", {"positions.clamp(min=0)": "(positions + 1).clamp(min=0)"},
             "Your positions begin at 1.", "Which position does the first token of a prompt have?"),
        edit("positions from one", {"positions.clamp(min=0)": "mask.cumsum(dim=1)"}),
        edit("positions from the end", {"positions.clamp(min=0)": "(torch.arange(width).flip(0) * mask)"},
             "Your positions count backwards.", "Which position does the first token of a prompt have?"),
        edit("one fixed pad", {"[pad]": "[0]"},
             "You pad with 0, whatever `pad` is.", "Which id goes before a short prompt?"),
        edit("as wide as the shortest", {WIDTH: "width = min(map(len, prompts))",
             "+ prompt for": "+ prompt[-width:] for", "len(prompt) for prompt in prompts]": "min(len(prompt), "
             "width) for prompt in prompts]"},
             "You cut off part of the long prompts.", "How wide is the batch if the longest prompt has 5 tokens?"),
        edit("one column more", {WIDTH: f"{WIDTH} + 1"},
             "Your batch is wider than the longest prompt.", "How much padding does the longest prompt need?"),
        edit("one column more", {WIDTH: "width = -(-max(map(len, prompts)) // 8) * 8"}),
        edit("prompts backwards", {"+ prompt for": "+ prompt[::-1] for"},
             "Your prompts are reversed.", "Which token of a prompt is the last in its row?"),
        edit("sorted by length", {"    width": "    prompts = sorted(prompts, key=len)\n    width"},
             "You change the order of the prompts.", "Which prompt belongs in the first row?"),
        edit("sorted by length", {"    width": "    prompts = sorted(prompts, key=len, reverse=True)\n    width"}),
        edit("written into the prompts", {"    ids =": "    for prompt in prompts:\n        "
             "prompt[:0] = [pad] * (width - len(prompt))\n    ids =", "    lengths": "    return ids, ids != pad, "
             "((ids != pad).cumsum(dim=1) - 1).clamp(min=0)\n    lengths"},
             "After the call, the caller's prompts begin with padding.",
             "Which line changes a list that was passed in?"),
        edit("written into the prompts", {"    return ids": "    for prompt in prompts:\n        "
             "prompt[:0] = [pad] * (width - len(prompt))\n    return ids"}),
        edit("no prompts are not foreseen", {REFUSE: "if not all(prompts):", "max(map(len, prompts))":
             "max(map(len, prompts), default=0)"},
             "You raise no ValueError for an empty list of prompts.", "What is the width of a batch without prompts?"),
        edit("empty prompts are taken", {REFUSE: "if not prompts:"},
             "You raise no ValueError for an empty prompt.",
             "From which position would the first new token of an empty prompt be predicted?"),
        edit("empty prompts are taken", {REFUSE: "if not any(prompts):"}),
        edit("empty prompts are taken", {REFUSE: "if not prompts or not prompts[0]:"}),
        edit("another error", {"raise ValueError": "raise IndexError"},
             ("Without prompts, or for an empty one, you raise an error of the "
              "wrong type."), "Which error does the docstring name?"),
        edit("a mask of numbers", {MASK: "(positions >= 0).long()"},
             "Your mask is not Boolean.", "What dtype do this course's masks have?"),
        edit("a mask of numbers", {MASK: "(positions >= 0).float()"}),
        edit("ids of 32 bits", {"for prompt in prompts])\n    lengths": "for prompt in prompts], "
             "dtype=torch.int32)\n    lengths"},
             "Your ids are int32.", "What dtype does the docstring give?"),
        edit("floats", {"for prompt in prompts])\n    lengths": "for prompt in prompts], dtype=torch.float32)\n    "
             "lengths"},
             "Your ids are floats.", "What dtype does the docstring give?"),
        edit("positions of 32 bits", {"positions.clamp(min=0)": "positions.clamp(min=0).int()"},
             "Your positions are int32.", "What dtype does the docstring give?"),
        edit("ids and positions of 32 bits", {LAST: "return ids.int(), mask, positions.clamp(min=0).int()"},
             "Your ids and your positions are int32.", "What dtype does the docstring give?"),
        edit("positions as floats", {"positions.clamp(min=0)": "positions.clamp(min=0).float()"},
             "Your positions are floats.", "What dtype does the docstring give?"),
        edit("ids and mask alone", {LAST: "return ids, mask"},
             "You return two tensors.", "Which three tensors does the docstring ask for?"),
        edit("mask and positions exchanged", {LAST: "return ids, positions.clamp(min=0), mask"},
             "You return the positions before the mask.", "In which order does the docstring give the three tensors?"),
    ),
    needs={
        "beyond float32": ("Your answer is wrong only for ids above 16,777,216.",
                           "Which step turns the ids into float32?"),
        "inside": ("Your answer is wrong only when a prompt contains the id `pad`.",
                   "How do you know where a prompt begins, without looking at its ids?"),
        "pad": ("Your answer is wrong only when `pad` is not 0.", "Which id goes before a short prompt?"),
        "long": ("Your answer is wrong only for long prompts.",
                 "Does a number in your code limit the length of a prompt?"),
        "lengths": ("Your answer is wrong only when the prompts have different lengths.",
                    "How much padding does each prompt need, and what should mask and positions hold there?"),
        "tokens": ("Your answer is wrong only when a prompt has several tokens.",
                   "Which positions do the tokens of a prompt have?"),
        "several": ("Your answer is wrong only when there are several prompts.",
                    "Which axis of the results belongs to the prompts?"),
        "": ("Even for a single prompt of one token, your result is wrong.",
        "What should ids, mask and positions hold for this prompt?"),
    },
    hints=(
        "Write the prompts [5, 6, 7] and [8] as two rows of three, so that the last token of each is in the last "
        "column. Below them write the mask, and below that the position of each token within its own prompt.",
        "The length of a prompt says how much padding it needs; its ids say nothing about that. In Python, "
        "[pad] * 3 is a list of three, and + joins two lists into a new one.",
        "In outline: raise ValueError if there are no prompts or one of them is empty. Find the length of the "
        "longest prompt, put the padding that each prompt needs before it, and make one tensor of all rows. For "
        "the positions, subtract each row's amount of padding from 0, 1, 2, ...; the mask is True where the "
        "difference is not negative, and negative positions become 0.",
    ),
)
