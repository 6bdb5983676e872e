"""A hand-written softmax over the last axis that works for scores of any size."""

import torch

from autograder.exercises._shared.plain_attention import heads_just_split
from autograder.schema import GRADIENTS, SIDE_EFFECTS, STABILITY, VALUES, Case, Exercise, Rules, edit


def softmax(scores):
    highest = scores.max(dim=-1, keepdim=True).values
    grown = torch.exp(scores - highest)
    total = grown.sum(dim=-1, keepdim=True)
    return grown / total


def reference(scores):
    return torch.softmax(scores, dim=-1)


def cases(draw):
    rows, keys = draw.sizes(2)
    yield Case("a table", (draw.normal(rows, keys),), observe=True, needs=("rows",))
    yield Case("one row", (draw.normal(keys),))
    yield Case("300 keys", (draw.normal(2, 300),), gradients=False, needs=("rows", "many keys"))
    heads = heads_just_split(draw, 3, 4, 5)
    yield Case("batch, heads, table, in another order in memory", (heads,), needs=("rows", "axes in front"))
    yield Case("one row of one key", (draw.normal(1, 1),))
    zeros = draw.normal(4)
    zeros[1] = 0.0
    yield Case("a score of exactly zero", (zeros,))
    # Some rows have differences that are lost if the scores are shifted by the largest of all rows, by a sum
    # or by a mean; others are far below zero throughout.
    large = draw.eighths(6, 6, limit=80000)
    large[0] = torch.tensor([1e4, 1e4, -1e4, 0.0, 9999.0, 9998.0])
    large[1] = torch.tensor([-1e4, -9999.0, -9998.5, -1e4, -9999.5, -1e4])
    large[2] = torch.tensor([0.0, -1.5, 0.25, 400.0, -0.75, 399.0])
    large[3] = torch.tensor([-200.0, -201.5, -199.75, -200.5, -202.0, -200.25])
    yield Case("scores up to 10 000", (large,), aspect=STABILITY)
    yield Case("scores that are all very low", (draw.eighths(5, limit=8) - 1000.0,), aspect=STABILITY)


HIGHEST, TOTAL = "scores.max(dim=-1, keepdim=True).values", "grown.sum(dim=-1, keepdim=True)"
RESULT = "return grown / total"

EXERCISE = Exercise(
    number=2, minutes=10, difficulty=2,
    worked=softmax,
    reference=reference,
    cases=cases,
    standard=("transposed",),
    aspects={VALUES: 3, STABILITY: 2, GRADIENTS: 1, SIDE_EFFECTS: 1},
    shapes={"scores": "... M", "return": "... M"},
    rules=Rules(None, ("torch's softmax family",)),
    mistakes=(
        edit("SMX-01", {"scores - highest": "scores"}),
        edit("SMX-03 maximum over the wrong axis", {HIGHEST: "scores.max(dim=0, keepdim=True).values"},
             "The number that you subtract is not the same for all entries of a row.",
             "All entries that share a sum must be shifted by the same number. Which entries share a sum?"),
        edit("SMX-05 sum without its axis kept", {TOTAL: "grown.sum(dim=-1)"},
             "Your rows are divided by the sums of other rows.",
             "For a 4 x 4 input, what are the shapes of your numerator and denominator?"),
        edit("SMX-07 a fixed axis", {"dim=-1": "dim=0"},
             "Your entries sum to one over the wrong axis.",
             "Counted from the end, which axis holds the keys?"),
        edit("SMX-37 axis 1, whatever the axes",
             {"dim=-1": "dim=min(1, scores.dim() - 1)"},
             "Your weights sum to one along axis 1.", "Counted from the end, which axis holds the keys?"),
        edit("SMX-39 a single key is a special case",
             {RESULT: "return torch.sigmoid(scores) if scores.shape[-1] == 1 else grown / total"},
             "Your result is wrong where a row has a single score.",
             "What is exp(s) divided by its own sum?"),
        edit("SMX-09 mean instead of maximum", {HIGHEST: "scores.mean(dim=-1, keepdim=True)"},
             "With one score far above the others your softmax gives NaN.",
             "After your shift, how large is the row's largest score?"),
        edit("SMX-11 a large epsilon", {RESULT: "return grown / (total + 1e-3)"},
             "Your rows sum to less than one.",
             "What do you add to the sum that you divide by?"),
        edit("SMX-13 no exponential", {"torch.exp(scores - highest)": "scores"},
             "Some of your weights are negative.",
             "Which step makes every score positive?"),
        edit("SMX-15 another base", {"torch.exp(": "torch.exp2("},
             "Your weights are flatter or sharper than they should be.",
             "Which base does the formula use?"),
        edit("SMX-19 numbers leave PyTorch", {RESULT: "return torch.tensor((grown / total).tolist())"},
             "The values are right, but no gradient reaches the scores.",
             "torch.tensor(...), .item(), .detach() and numpy cut a tensor off from its gradient. Which of "
             "them does your code use?"),
        edit("SMX-21 one sum for the whole table", {TOTAL: "grown.sum()"},
             "Your entries sum to one over the whole table, not over each row.",
             "Along which axis should each sum run?"),
        edit("SMX-23", {HIGHEST: "scores.max()"}),
        edit("SMX-27 not divided by the sum", {RESULT: "return grown"},
             "Your rows do not sum to one.",
             "Which step makes positive numbers sum to one?"),
        edit("SMX-29 the sign is flipped", {"    highest": "    scores = -scores\n    highest"},
             "Your largest weight is where the smallest score is.",
             "Should a larger score give a larger or a smaller weight?"),
        edit("SMX-31 scores are clamped", {"scores - highest": "scores.clamp(-80, 80)"},
             "You give equal weights to scores that are large but different.",
             "What does your first step turn the scores 1000 and 2000 into?"),
        edit("SMX-33", {RESULT: "return torch.log(grown / total)"}),
        edit("SMX-35 sigmoid instead of softmax", {RESULT: "return torch.sigmoid(scores)"},
             "Each of your entries depends on its own score alone.",
             "If one score of a row rises, what should happen to the other weights in that row?"),
    ),
    needs={
        "many keys": ("Your result is right for short rows, and wrong for long ones.",
                      "Does a number in your code limit how long a row may be?"),
        "axes in front": ("Your result is right for a table, and wrong with further axes in front.",
                          "Counted from the end, along which axis does each step run?"),
        "rows": ("Your result is right for a single row, and wrong for several.",
                 "Which entries should share a maximum and a sum?"),
    },
    hints=(
        "Softmax treats each row on its own: it makes every score positive, then divides by the row's sum. Both "
        "operations are in the formula.",
        "In float32 exp(1000) overflows to infinity. Subtracting one number from all scores of a row leaves its "
        "weights as they are. Which number keeps exp from overflowing?",
        "In outline: subtract each row's maximum (`amax` finds it), exponentiate, divide by each row's sum. "
        "Reduce along the last axis with keepdim=True, so that the results broadcast against the rows.",
    ),
)
