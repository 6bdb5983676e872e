"""Mistakes in the steps of scaled dot-product attention, and the inputs that reveal them.

All worked answers write the same step with the same code, so that one table of edits serves them all.
"""

import torch

from autograder.schema import edit
from autograder.schema.draw import Draw

PRODUCT = "scores = q @ k.transpose(-2, -1)"
SCALE = "scores = scores / math.sqrt(q.shape[-1])"
SOFTMAX = "torch.softmax(scores, dim=-1)"
MIX = "output = weights @ v"

SCALES = (
    edit("SDPA-01 no scale", {SCALE: "pass"},
         "Your scores are too large, and more so the wider the vectors.",
         "What happens to the size of a dot product as the vectors get wider?"),
    edit("SDPA-03 multiplied by the root of the width", {"scores / math.sqrt(": "scores * math.sqrt("},
         "Your weights are too sharp, and the error grows with the width of the vectors.",
         "Should wider vectors make attention sharper?"),
    edit("SDPA-05 scale from the width of the values", {SCALE: "scores = scores / math.sqrt(v.shape[-1])"},
         "Your scale is computed from the width of the values.",
         "The scale offsets the size of the dot products. Which vectors do the dot products multiply?"),
    edit("SDPA-13 a fixed scale", {SCALE: "scores = scores / 8"},
         "Your scale does not change with the width of the inputs.",
         "Where does the number that you divide by come from?"),
    edit("SDPA-13", {SCALE: "scores = scores / 2"}),
    edit("SDPA-17 a rounded root", {"/ math.sqrt(": "/ math.isqrt("},
         "Your scale is right for the widths 1, 4, 9 and 16, and wrong for those in between.",
         "Print the number that you divide by for vectors of width 6. Is it an integer?"),
    edit("SDPA-35 divided by the width itself", {"/ math.sqrt(q.shape[-1])": "/ q.shape[-1]"},
         "Your weights are too flat, and the error grows with the width of the vectors.",
         "When the width is four times as large, by what factor does the standard deviation of a dot product grow?"),
    edit("SDPA-37 scale from the number of keys", {SCALE: "scores = scores / math.sqrt(k.shape[-2])"},
         "Your scale is computed from the number of keys.",
         "What makes dot products large: many keys, or wide vectors?"),
)
PRODUCTS = (
    edit("SDPA-09 keys not transposed", {PRODUCT: "scores = q @ k"},
         "Your matrix product sums over the wrong axis of the keys.",
         "Write down the shapes of the two factors. Which axis is summed over?"),
    edit("SDPA-11 a fixed pair of axes", {"k.transpose(-2, -1)": "k.transpose(1, 2)"},
         "Your answer works only for one particular number of axes.",
         "Counted from the end, which two axes must be swapped?"),
    edit("SDPA-25 reshape instead of transpose",
         {"k.transpose(-2, -1)": "k.reshape(*k.shape[:-2], k.shape[-1], k.shape[-2])"},
         "Your keys have the right shape, but their numbers are in the wrong places.",
         "A reshape keeps the numbers in the order of their storage. Does it swap rows and columns?"),
    edit("SDPA-43 all axes reversed", {"k.transpose(-2, -1)": "k.permute(*reversed(range(k.dim())))"},
         "Your transpose reverses all axes, the batch included.",
         "Which axes should be swapped, and which should stay?"),
)
WEIGHTS = (
    edit("SDPA-07 softmax over the queries", {SOFTMAX: "torch.softmax(scores, dim=-2)"},
         "The columns of your weights sum to one; the rows do not.",
         "What should the weights of one query sum to, and over which axis?"),
    edit("SDPA-19 softmax twice", {SOFTMAX: f"torch.softmax({SOFTMAX}, dim=-1)"},
         "Your weights stay within a factor of e of each other, whatever the scores.",
         "How many times is a score exponentiated on its way to the output?"),
    edit("SDPA-31 no softmax", {SOFTMAX: "scores"},
         "Your weights are the raw scores: some are negative, and the rows do not sum to one.",
         "Which step turns scores into weights?"),
    edit("SDPA-33 scale after the softmax", {SCALE: "pass", SOFTMAX: f"({SOFTMAX} / math.sqrt(q.shape[-1]))"},
         "Your rows of weights do not sum to one.",
         "Which comes first, the scale or the softmax?"),
    edit("SDPA-39 takes the best key only",
         {SOFTMAX: "torch.eye(scores.shape[-1], dtype=scores.dtype)[scores.argmax(dim=-1)]"},
         "Each of your outputs is a copy of a single value.",
         "Does softmax give the weight 0 to a key with a slightly lower score?"),
    edit("SMX-01 no maximum subtracted", {SOFTMAX: "((grown := torch.exp(scores)) / grown.sum(dim=-1, keepdim=True))"},
         "For scores in the hundreds your softmax gives NaN.",
         "What is exp(1000) in float32?"),
    edit("SMX-23 one maximum for all queries",
         {SOFTMAX: "((grown := torch.exp(scores - scores.max())) / grown.sum(dim=-1, keepdim=True))"},
         "A row of scores far below another row comes out as NaN.",
         "After your shift, how large is the largest entry of each row?"),
    edit("SMX-33 logarithm of the weights", {SOFTMAX: "torch.log_softmax(scores, dim=-1)"},
         "Your weights are negative: they are logarithms of weights.",
         "What should each row of weights sum to?"),
)
FIXED_AXIS = (
    edit("SDPA-45 softmax over a fixed axis", {SOFTMAX: "torch.softmax(scores, dim=1)"},
         "With a batch axis in front, your softmax runs over the wrong axis.",
         "Counted from the end, which axis holds the keys?"),
)
MIXES = (
    edit("SDPA-15 mixes the keys", {MIX: "output = weights @ k"},
         "Your output is a weighted sum of the keys.",
         "Should the weights be applied to the queries, the keys or the values?"),
    edit("SDPA-23 returns the weights", {MIX: "output = weights"},
         "You return the weights.",
         "Which step is left between the weights and the output?"),
    edit("LOOP-17", {MIX: "output = weights.transpose(-2, -1) @ v"}),
)
LOOPS = (
    edit("LOOP-17 reads the weights by column", {"weights[i, j]": "weights[j, i]"},
         "Your output i uses the weights of column i.",
         "Are the weights of query i in row i of `weights`, or in column i?"),
    edit("LOOP-29 numbers are taken out of PyTorch", {"return output": "return torch.tensor(output.tolist())"},
         "The values are right, but no gradient reaches the inputs.",
         "torch.tensor(...), .item(), .tolist(), .detach() and float() cut a tensor off from its gradient. "
         "Which of them does your code use?"),
    edit("LOOP-35 overwrites instead of adding up", {"= output[i] + ": "= "},
         "Each of your results holds only the last term of its sum.",
         "What happens to the earlier terms when the last one is written?"),
)
ATTENTION = SCALES + PRODUCTS + WEIGHTS + FIXED_AXIS + MIXES

MANY_TOKENS = {
    "many tokens": ("Your result is right for short inputs, and wrong for long ones.",
                    "Does a number in your code limit how many tokens there may be?"),
}
A_BATCH = MANY_TOKENS | {
    "axes in front": ("Your result is right for one sentence, and wrong for a batch.",
                      "Which axes do your steps use, counted from the end?"),
}
NEEDS = A_BATCH | {
    "heads": ("Your result is right for a batch, and wrong for a batch with heads.",
              "Which axes do your steps use, counted from the end?"),
}


def qkv(draw: Draw, lead: tuple, queries: int, keys: int, width: int, out: int) -> tuple:
    """Return random queries (*lead, queries, width), keys (*lead, keys, width), values (*lead, keys, out)."""
    return draw.normal(*lead, queries, width), draw.normal(*lead, keys, width), draw.normal(*lead, keys, out)


def low_scores(draw: Draw, lead: tuple, queries: int, keys: int, out: int) -> tuple:
    """Return queries and keys of width 4, and values. All scores of the first query are about -200; all
    others are near zero.
    """
    q, k = draw.eighths(*lead, queries, 4, limit=4), draw.eighths(*lead, keys, 4, limit=4)
    q[..., 0, 0], k[..., :, 0] = 40.0, k[..., :, 0] / 4 - 10.0
    return q, k, draw.normal(*lead, keys, out)


def large_scores(draw: Draw, lead: tuple, queries: int, keys: int, width: int, out: int) -> tuple:
    """Return queries, keys and values that give scores in the thousands."""
    q, k = draw.eighths(*lead, queries, width, limit=400), draw.eighths(*lead, keys, width, limit=400)
    return q, k, draw.normal(*lead, keys, out)


def heads_just_split(draw: Draw, heads: int, tokens: int, width: int) -> torch.Tensor:
    """Return a tensor (2, heads, tokens, width) in whose storage the token axis comes before the head axis,
    so that `view` cannot merge the heads.
    """
    return draw.normal(2, tokens, heads, width).transpose(1, 2)
