"""The input of a decoder in training: the target, shifted one position to the right."""

import torch

from autograder.schema import SIDE_EFFECTS, VALUES, Case, Exercise, edit


def shift_right(targets, bos):
    first = torch.full_like(targets[:, :1], bos)
    return torch.cat([first, targets[:, :-1]], dim=1)


def reference(targets, bos):
    shifted = targets.roll(1, 1)
    shifted[:, 0] = bos
    return shifted


def cases(draw):
    batch, tokens = draw.sizes(2, 3, 8)
    several = {"needs": ("several tokens",)}
    yield _case(draw, "all sizes different", batch, tokens, 1, **several)
    yield _case(draw, "one sentence", 1, 6, 0, needs=("bos 0", "several tokens"))
    yield _case(draw, "one token in each", 4, 1, 2)
    yield _case(draw, "one token", 1, 1, 57)
    yield _case(draw, "as many sentences as tokens", 4, 4, 1, **several)
    yield _case(draw, "two tokens", 3, 2, 0, needs=("bos 0", "several tokens"))
    yield _case(draw, "a large vocabulary", 2, 7, 100_000, words=100_000, **several)
    columns = draw.integers(3, 60, 5, 3).T
    yield Case("columns in memory order", (columns, 2), gradients=False, **several)
    # The last token of one sentence is the first of the next, and bos occurs in the middle.
    same = torch.tensor([[5, 1, 6, 7], [7, 7, 8, 1], [1, 9, 9, 5]])
    yield Case("tokens that repeat", (same, 1), gradients=False, needs=("bos", "several tokens"))
    yield Case("sentences that begin with bos", (torch.tensor([[1, 6, 7], [1, 8, 5]]), 1), gradients=False,
               needs=("bos", "several tokens"))
    # The ids 0 and -100 mark padding elsewhere; here they are ordinary tokens.
    padded = torch.tensor([[5, 0, 0, 8, 7], [9, 4, -100, -100, -100], [0, 3, 0, 6, 0]])
    yield Case("0 and -100", (padded, 1), gradients=False, needs=("padding", "several tokens"))


def _case(draw, family, batch, tokens, bos, words=60, **more):
    return Case(family, (draw.integers(3, words, batch, tokens), bos), gradients=False, **more)


FIRST, LAST = "torch.full_like(targets[:, :1], bos)", "torch.cat([first, targets[:, :-1]], dim=1)"

EXERCISE = Exercise(
    number=1, minutes=4, difficulty=1,
    worked=shift_right,
    reference=reference,
    cases=cases,
    standard=("by name",),
    aspects={VALUES: 2, SIDE_EFFECTS: 1},
    shapes={"targets": "B N", "return": "B N"},
    mistakes=(
        edit("SHR-01 shifted to the left", {LAST: "torch.cat([targets[:, 1:], first], dim=1)"},
             "You shift the tokens to the left.",
             "May the decoder read, at position i, the token that it must predict there?"),
        edit("SHR-03 nothing is dropped", {LAST: "torch.cat([first, targets], dim=1)"},
             "Your result is one token longer than the target.", "Which target token does the decoder never read?"),
        edit("SHR-05 the first token is lost", {LAST: "torch.cat([first, targets[:, 1:]], dim=1)"},
             "Your bos replaces the first token, and the others do not move.",
             "At which position of the result should the first token be?"),
        edit("SHR-07 the last token comes first", {LAST: "targets.roll(1, dims=1)"},
             "Your last token has moved to the front.",
             "What should the decoder read when it predicts the first token?"),
        edit("SHR-09 along the batch", {LAST: "torch.cat([torch.full_like(targets[:1], bos), targets[:-1]], dim=0)"},
             "You shift whole sentences.", "Which axis holds the tokens of a sentence?"),
        edit("SHR-11 over the ends of sentences",
             {LAST: "torch.cat([first[:1, 0], targets.flatten()[:-1]]).view_as(targets)"},
             "In your result the last token of a sentence begins the next one.",
             "With which token should every sentence begin?"),
        edit("SHR-11", {LAST: "torch.cat([first.flatten()[:1], targets.flatten()[:-1]]).reshape(targets.shape)"}),
        edit("SHR-13 floats come back", {FIRST: "torch.full(targets[:, :1].shape, float(bos))"},
             "Your tokens are floats.", "What dtype do ids have?"),
        edit("SHR-15 bos for all", {LAST: "torch.full_like(targets, bos)"},
             "All your tokens are bos.", "Which target tokens should the result contain?"),
        edit("SHR-17 nothing is moved", {LAST: "targets.clone()"},
             "You return the target unchanged.",
             "May the decoder read, at position i, the token that it must predict there?"),
        edit("SHR-19 bos at the end", {LAST: "torch.cat([targets[:, :-1], first], dim=1)"},
             "Your bos is at the end.", "What does bos stand for?"),
        edit("SHR-21 a bos of one's own", {FIRST: "torch.full_like(targets[:, :1], 0)"},
             "Your result does not change with bos.", "Which line uses `bos`?"),
        edit("SHR-21", {FIRST: "torch.full_like(targets[:, :1], 1)"}),
        edit("SHR-23 each token is written over the next", {LAST: "torch.cat([first, targets[:, :1].expand(-1, "
             "targets.shape[1] - 1)], dim=1)"},
             "After bos your first token is repeated to the end.",
             "When you copy from left to right within one tensor, which values have been overwritten already?"),
        edit("SHR-25 two places", {LAST: "torch.cat([first, first, targets[:, :-2]], dim=1)[:, : targets.shape[1]]"},
             "You shift the tokens by two positions.", "How many bos tokens should a sentence begin with?"),
        edit("SHR-29 an id taken for padding", {LAST: f"(out := {LAST}).masked_fill(out == 0, bos)"},
             "Your code replaces one id with another.", "Does the exercise treat any id specially?"),
        edit("SHR-29", {LAST: f"(out := {LAST}).masked_fill(out == -100, 0)"}),
        edit("SHR-31 a sentence that begins with bos stays as it is",
             {LAST: f"targets.clone() if (targets[:, 0] == bos).all() else {LAST}"},
             "You do not shift sentences that begin with bos.",
             "Should a first token that equals bos be treated differently?"),
        edit("SHR-27 written into the target", {LAST: "targets.copy_(torch.cat([first, targets[:, :-1]], dim=1))"},
             "After the call the caller's targets are shifted as well.",
             "Which line writes into `targets`?"),
    ),
    needs={
        "bos": ("Your result is right unless bos is among the targets.",
                "Should a target token that equals bos be treated differently?"),
        "bos 0": ("Your result is right unless bos is 0.", "Is `0` true or false in Python?"),
        "padding": ("Your result is right unless 0 or -100 is among the targets.",
                    "Does the exercise treat any id specially?"),
        "several tokens": ("Your result is right for a sentence of one token, and wrong for longer ones.",
                           "For a target of three tokens, what should the decoder read?"),
        "": ("Your result is wrong for a sentence of one token.",
             "What should the decoder read when it predicts the first token?"),
    },
    hints=(
        'When the decoder predicts the first token it has read nothing. Which token stands in for "nothing yet"?',
        "Write the target in one line, and below it what the decoder reads: bos, then the same tokens, one "
        "position to the right. Which token no longer fits?",
        "In outline: make a column of bos, (B, 1), with the dtype of the targets (`torch.full_like` helps); "
        "concatenate it, along the token axis, with all but the last column of the targets.",
    ),
)
