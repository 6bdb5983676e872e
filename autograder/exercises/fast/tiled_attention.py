"""Exact attention, one block of keys at a time, without the full matrix of scores (Dao et al. 2022)."""

import math

import torch
import torch.nn.functional as F

from autograder.exercises._shared.plain_attention import NEEDS, large_scores, low_scores, qkv
from autograder.schema import (
    DTYPES, GRADIENTS, SIDE_EFFECTS, STABILITY, VALUES, Case, Exercise, Rules, Work, edit, past_only, samples_apart,
    shares_sum_to_one,
)


def tiled_attention(q, k, v, block, causal=False):
    largest = q.new_full((*q.shape[:-1], 1), -torch.inf)
    total = torch.zeros_like(largest)
    output = q.new_zeros(*q.shape[:-1], v.shape[-1])
    query = torch.arange(q.shape[-2])[:, None]
    for start in range(0, k.shape[-2], block):
        keys = k[..., start : start + block, :]
        values = v[..., start : start + block, :]
        scores = q @ keys.transpose(-2, -1) / math.sqrt(q.shape[-1])
        if causal:
            key = start + torch.arange(keys.shape[-2])
            scores = scores.masked_fill(key > query, -torch.inf)
        new = torch.maximum(largest, scores.amax(dim=-1, keepdim=True))
        shrink = torch.exp(largest - new)
        grown = torch.exp(scores - new)
        total = total * shrink + grown.sum(dim=-1, keepdim=True)
        output = output * shrink + grown @ values
        largest = new
    return output / total


def reference(q, k, v, block, causal=False):
    return F.scaled_dot_product_attention(q, k, v, is_causal=causal)


CAUSAL = "causal"


def cases(draw):
    batch, queries, width, out = draw.sizes(4, 2, 7)
    front = {"needs": ("several tokens", "several blocks", "axes in front")}
    plain = {"needs": ("several tokens", "several blocks")}
    args = *qkv(draw, (batch,), queries, 11, width, out), 3
    yield Case("a last block that is not full", args, **front)
    yield Case("blocks of one key", (*qkv(draw, (), 4, 5, 3, 2), 1), **plain)
    one_block = {"needs": ("several tokens", "axes in front")}
    yield Case("all keys in one block", (*qkv(draw, (2,), 4, 6, 3, 5), 6), **one_block)
    yield Case("a block larger than the keys", (*qkv(draw, (2,), 3, 5, 4, 2), 16), **one_block)
    yield Case("blocks that come out even", (*qkv(draw, (2,), 5, 8, 6, 3), 4), **front)
    yield Case("batch and heads", (*qkv(draw, (2, 3), 4, 7, 5, 6), 2), needs=(*front["needs"], "heads"))
    yield Case("four of everything", (*qkv(draw, (4, 4), 4, 4, 4, 4), 4), **one_block, float64=True)
    yield Case("a new token over 300 keys", (*qkv(draw, (), 1, 300, 3, 2), 64), gradients=False,
               needs=(*plain["needs"], "many tokens"))
    yield Case("one of everything", (*qkv(draw, (), 1, 1, 1, 1), 1))
    shown = draw.normal(1, 4, 3), draw.normal(1, 5, 3), torch.eye(5)[None], 2
    yield Case("values that show the weights", shown, **plain)
    yield Case("values all one", (draw.normal(4, 3), draw.normal(7, 3), torch.ones(7, 2), 3), gradients=False, **plain)
    # With one sample, one head and widths of two, a full matrix of scores is far larger than any other
    # tensor, even than the outputs of all blocks. If an answer uses a block size of its own, say 64, one
    # block holds all keys here.
    long = {"observe": True, "entries": 32 * 32, "gradients": False}
    yield Case("32 queries and keys", (*qkv(draw, (), 32, 32, 2, 2), 8), **long, **plain)
    # The scores of a block of queries against all keys at once are a full matrix, too: here one block holds
    # all queries. Few tensors need half as many entries as the keys: the scaled keys, and the results of all
    # blocks. An answer that takes the queries one by one, against half of the keys or more, makes such a
    # tensor for each query.
    wide = long | {"entries": 8 * 2048, "work": Work(2 * 8 * 2048, pieces=1024)}
    wide |= {"needs": (*plain["needs"], "many tokens")}
    yield Case("8 queries, 2048 keys", (*qkv(draw, (), 8, 2048, 2, 2), 32), **wide)
    yield from _causal(draw, plain, front, long)
    yield from _far(draw, front)


def _causal(draw, plain, front, long):
    """Yield cases with a causal mask, which hides all keys of the later blocks from the first queries."""
    more = {"aspect": CAUSAL, "needs": (*front["needs"], "causal")}
    q, k, v = qkv(draw, (2,), 7, 7, 3, 4)
    yield Case("causal", (q, k, v, 3, True), **more)
    other = tuple(torch.cat((one[:, :-1], draw.normal(2, 1, one.shape[-1])), dim=1) for one in (q, k, v))
    yield Case("causal, another last token", (*other, 3, True), gradients=False, **more)
    other = tuple(torch.cat((one[:1], draw.normal(1, *one.shape[1:]))) for one in (q, k, v))
    yield Case("causal, another second sample", (*other, 3, True), gradients=False, **more)
    yield Case("causal, batch and heads", (*qkv(draw, (2, 3), 5, 5, 4, 3), 2), {"causal": True}, **more)
    more = more | {"needs": (*plain["needs"], "causal")}
    yield Case("causal, blocks of one key", (*qkv(draw, (), 5, 5, 3, 2), 1, True), **more)
    yield Case("causal, all keys in one block", (*qkv(draw, (), 6, 6, 3, 2), 8, True), aspect=CAUSAL,
               needs=("several tokens", "causal"))
    yield Case("causal, one token", (*qkv(draw, (), 1, 1, 2, 3), 2, True), aspect=CAUSAL, needs=("causal",))
    more |= {"needs": (*more["needs"], "many tokens")}
    yield Case("causal, 96 tokens", (*qkv(draw, (), 96, 96, 2, 2), 8, True), **long | {"entries": 96 * 96}, **more)


def _far(draw, front):
    """Yield cases with scores far from zero: scores with both signs, scores all very low for one query, and
    blocks far above or below the earlier ones.
    """
    stable = {"aspect": STABILITY, **front}
    yield Case("scores in the thousands", (*large_scores(draw, (2,), 4, 7, 6, 2), 3), scale=10.0, **stable)
    yield Case("scores about -200 for one query", (*low_scores(draw, (2,), 3, 5, 2), 2), **stable)
    # Near 300 float32 rounds a logsumexp to 3e-5, which counts 20 times in the gradient of a key.
    stable = stable | {"scale": 10.0}
    for family, ends in (("each block far below the one before", (16.0, -16.0)),
                         ("each block far above the one before", (-16.0, 16.0))):
        q, k = draw.eighths(2, 3, 4, limit=4), draw.eighths(2, 6, 4, limit=4)
        q[..., 0], k[..., 0] = 40.0, torch.linspace(*ends, 3).repeat_interleave(2)
        yield Case(family, (q, k, draw.normal(2, 6, 3), 2), **stable)
    q, k = draw.eighths(2, 6, 4, limit=4), draw.eighths(2, 6, 4, limit=4)
    q[..., 0], k[..., 0] = 40.0, torch.linspace(-16.0, 16.0, 3).repeat_interleave(2)
    stable = stable | {"needs": (*stable["needs"], "causal")}
    yield Case("causal, each block far above the one before", (q, k, draw.normal(2, 6, 3), 2, True), **stable)
    # Each key's score is tens of thousands above the one before: a fill of -1e4 or -1e5 does not hide a later key.
    q, k = q.clone(), k.clone()
    q[..., 0], k[..., 0] = 128.0, torch.linspace(-1600.0, 1600.0, 6)
    args = q, k, draw.normal(2, 6, 3), 2, True
    yield Case("causal, scores that differ by ten thousands", args, gradients=False, **stable)


RANGE, ALL = "range(0, k.shape[-2], block)", "scores.amax(dim=-1, keepdim=True)"
NEW, SHRINK, GROWN = f"torch.maximum(largest, {ALL})", "torch.exp(largest - new)", "torch.exp(scores - new)"
TOTAL, OUTPUT = "total * shrink + grown.sum(dim=-1, keepdim=True)", "output * shrink + grown @ values"
SCALE, HIDDEN, LAST = " / math.sqrt(q.shape[-1])", "key > query", "return output / total"

EXERCISE = Exercise(
    number=2, minutes=25, difficulty=3,
    worked=tiled_attention,
    reference=reference,
    cases=cases,
    standard=("float64", "transposed", "by name"),
    aspects={VALUES: 2, CAUSAL: 1, STABILITY: 4, GRADIENTS: 1, SIDE_EFFECTS: 1, DTYPES: 1},
    shapes={"q": "... N D", "k": "... M D", "v": "... M E", "return": "... N E"},
    rules=Rules(None, ("fused attention",), large=(
        "a matrix that spans many blocks of keys",
        "Which of your tensors, scores and masks included, has an entry for every query and every key?"),
        work=(
            "products over many blocks of keys at a time",
            "Which argument says how many keys one product may see?")),
    invariants=(
        samples_apart("causal", "causal, another second sample"),
        past_only("causal", "causal, another last token"),
        shares_sum_to_one("values all one"),
    ),
    mistakes=(
        edit("FLA-01 nothing is rescaled", {"total * shrink": "total", "output * shrink": "output"},
             "When a larger score appears, your earlier sums are not rescaled.",
             "If the largest score is in the last block, how should the earlier sums change?"),
        edit("FLA-61 the output is not rescaled", {"output * shrink": "output"},
             "When a larger score appears, you rescale the sum of weights but not the sum of values.",
             "Which of your running sums were computed with the old maximum?"),
        edit("FLA-63 the sum of weights is not rescaled", {"total * shrink": "total"},
             "When a larger score appears, you rescale the sum of values but not the sum of weights.",
             "Which of your running sums were computed with the old maximum?"),
        edit("FLA-03 the maximum of the block alone", {NEW: ALL},
             "When the scores of a block lie far below those of the block before, or are all hidden, your result is "
             "NaN or infinite.",
             "Should the maximum ever decrease from block to block?"),
        edit("FLA-05 the last block is left out", {RANGE: "range(0, k.shape[-2] - block + 1, block)"},
             "You leave out the keys that do not fill a block.", "How many keys are in the last block?"),
        edit("FLA-05", {RANGE: "range(0, max(k.shape[-2] - block + 1, 1), block)"}),
        edit("FLA-07", {LAST: "return output"},
             "In your result, the weights of a query do not sum to one.", "What do you divide by at the end?"),
        edit("FLA-09 the maximum is not kept", {"largest = new": "pass"},
             "You do not keep the maximum from block to block.",
             "Which maximum should the third block be compared with?"),
        edit("FLA-11", {NEW: f"{ALL}", SHRINK: "torch.exp(largest - new).nan_to_num(0.0)"},
             "A query from which a whole block is hidden comes out as NaN.",
             "What is the maximum of a block of scores that are all -inf?"),
        edit("FLA-65 a softmax in each block", {GROWN: "torch.softmax(scores, dim=-1)", TOTAL: "total + 1",
             OUTPUT: "output + grown @ values"},
             "All your blocks count the same, whatever their scores.",
             "If a block's scores are far below the others, how much should it count?"),
        edit("FLA-67 the last block alone", {"output * shrink + ": "", "total * shrink + ": ""},
             "Your result contains only the last block.",
             "What happens to your sums when the next block comes?"),
        edit("FLA-69 shrinks the wrong way", {SHRINK: "torch.exp(new - largest).nan_to_num(0.0, 0.0, 0.0)"},
             "When a larger score appears, your earlier sums grow.",
             "By what factor must you multiply exp(s - 3) to get exp(s - 5)?"),
        edit("FLA-71 no maximum taken off", {NEW: "torch.zeros_like(largest)"},
             "For scores in the hundreds your result is NaN or infinite.", "What is exp(1000) in float32?"),
        edit("FLA-73 the maximum begins at zero", {"-torch.inf)\n    total": "0.0)\n    total"},
             "A query whose scores are all far below zero comes out as NaN.",
             "Which initial value of the running maximum is below every score?"),
        edit("FLA-75 one maximum for all queries", {ALL: "scores.amax().expand_as(largest)"},
             "A query whose scores lie far below those of another comes out wrong.",
             "Should each query have its own maximum?"),
        edit("FLA-77 hidden keys are counted from the block", {"key = start + ": "key = "},
             "Under a causal mask, you number the keys of every block from 0.",
             "Which token is the first key of the second block?"),
        edit("FLA-79 the diagonal is hidden", {HIDDEN: "key >= query"},
             "Under a causal mask, your tokens do not see themselves.", "Should a token attend to itself?"),
        edit("FLA-79", {HIDDEN: "key >= query", "-torch.inf)\n    total": "-1e30)\n    total",
                        LAST: "return output / total.clamp(min=1e-9)"}),
        edit("FLA-81 one token of the future", {HIDDEN: "key > query + 1"},
             "Under a causal mask, your tokens see the one after them.",
             "How many keys should the first token see?"),
        edit("FLA-83 the past is hidden", {HIDDEN: "key < query"},
             "Under a causal mask, your tokens see what comes after them.",
             "Which token should see the whole sentence?"),
        edit("FLA-85 causal or not, all the same", {"if causal:": "if False:"},
             "Your result is the same with and without `causal`.", "Which of your lines uses `causal`?"),
        edit("FLA-87 causal without being asked", {"if causal:": "if k.shape[-2] == q.shape[-2]:"},
             "You apply a causal mask without being asked to.", "Which of your lines uses `causal`?"),
        edit("FLA-89 hidden scores are zero", {"-torch.inf)\n        new": "0.0)\n        new"},
             "You set hidden scores to 0, so hidden keys still get a weight.",
             "Which score does softmax turn into a weight of exactly 0?"),
        edit("FLA-91 a fill that is not low enough", {"-torch.inf)\n        new": "-100.0)\n        new"},
             "Where the allowed scores are very negative, hidden keys get a weight.",
             "Can an allowed score lie below the number that you fill in?"),
        edit("FLA-91", {"-torch.inf)\n        new": "-1e4)\n        new"}),
        edit("SDPA-01", {SCALE: ""}),
        edit("SDPA-03", {SCALE: " * math.sqrt(q.shape[-1])"}),
        edit("SDPA-05", {SCALE: " / math.sqrt(v.shape[-1])"}),
        edit("SDPA-35", {SCALE: " / q.shape[-1]"}),
        edit("FLA-93 scale from the block", {SCALE: " / math.sqrt(block)"},
             "You scale by the size of a block.", "Which width does the formula scale by?"),
        edit("SDPA-15", {"grown @ values": "grown @ keys[..., : v.shape[-1]]"}),
        edit("SDPA-11", {"keys.transpose(-2, -1)": "keys.transpose(1, 2)"}),
        edit("FLA-95 values of other keys", {"v[..., start : start + block, :]": "v[..., : keys.shape[-2], :]"},
             "You combine every block of keys with the values of the first block.",
             "Which values belong to the keys of the second block?"),
        edit("FLA-97 the weights are cut off", {GROWN: f"{GROWN}.detach()"},
             "The values are right, but no gradient flows through your weights.",
             "Which step detaches the weights?"),
    ),
    needs={
        "causal": ("Your answer is wrong only when `causal` is True.",
                   "Which keys of a block may a query see?"),
        "many tokens": ("Your answer is wrong only for long inputs.",
                        "Does a number in your code limit how many tokens there may be?"),
        "several blocks": ("Your answer is wrong only when there are several blocks.",
                           "What do you keep from block to block, and how does it change when a larger "
                           "score comes?"),
        "axes in front": NEEDS["axes in front"],
        "heads": NEEDS["heads"],
        "several tokens": ("Your answer is wrong only when there are several keys.",
                           "How does a score become a weight?"),
        "": ("Your answer is wrong even for a single key, whose weight is always 1.",
             "What do you divide by at the end?"),
    },
    hints=(
        "Go through the blocks of keys once. For each query, three things are kept from block to block: "
        "the largest score so far, the sum of the weights, and the weighted sum of the values.",
        "When a later block has a larger score, everything you have added up was computed with the old "
        "maximum. Multiply both sums by exp(old maximum - new maximum); start with a maximum of -inf.",
        "In outline: for each block, compute the scaled scores (..., N, block), hide later keys if causal, update "
        "the maximum with torch.maximum, correct both sums, add the block's exponentials to the sum of the "
        "weights, and add their product with the values to the weighted sum. Divide the weighted sum by the sum "
        "of the weights once, at the end.",
    ),
)
