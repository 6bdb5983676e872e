"""The gradients of attention, computed one block of keys at a time without the full matrix of weights (Dao et
al. 2022, algorithm 4).
"""

import math

import torch
import torch.nn.functional as F

from autograder.exercises._shared.plain_attention import NEEDS, qkv
from autograder.schema import DTYPES, SIDE_EFFECTS, STABILITY, VALUES, Case, Exercise, Rules, Work, edit


def tiled_backward(q, k, v, out, logsumexp, grad_out, block, causal=False):
    scale = 1 / math.sqrt(q.shape[-1])
    inner = (out * grad_out).sum(dim=-1, keepdim=True)
    newest = torch.arange(q.shape[-2])[:, None] + k.shape[-2] - q.shape[-2]
    grad_q = torch.zeros_like(q)
    grads_k, grads_v = [], []
    for start in range(0, k.shape[-2], block):
        keys = k[..., start : start + block, :]
        values = v[..., start : start + block, :]
        scores = q @ keys.transpose(-2, -1) * scale
        if causal:
            key = start + torch.arange(keys.shape[-2])
            scores = scores.masked_fill(key > newest, -torch.inf)
        weights = torch.exp(scores - logsumexp.unsqueeze(-1))
        at_weights = grad_out @ values.transpose(-2, -1)
        at_scores = weights * (at_weights - inner) * scale
        grad_q = grad_q + at_scores @ keys
        grads_k.append(at_scores.transpose(-2, -1) @ q)
        grads_v.append(weights.transpose(-2, -1) @ grad_out)
    grad_k = torch.cat(grads_k, dim=-2)
    grad_v = torch.cat(grads_v, dim=-2)
    return grad_q, grad_k, grad_v


def reference(q, k, v, out, logsumexp, grad_out, block, causal=False):
    with torch.enable_grad():
        given = [one.detach().requires_grad_() for one in (q, k, v)]
        result = F.scaled_dot_product_attention(*given, attn_mask=_may_attend(q, k) if causal else None)
        return torch.autograd.grad(result, given, grad_out)


def _may_attend(q, k):
    """Return the causal mask (N, M), in which query i sees the keys j <= i + M - N."""
    queries, keys = q.shape[-2], k.shape[-2]
    return torch.ones(queries, keys).tril(keys - queries).bool()


CAUSAL = "causal"


def cases(draw):
    batch, queries, width, out = draw.sizes(4, 2, 7)
    plain = {"needs": ("several tokens", "several blocks")}
    front = {"needs": (*plain["needs"], "axes in front")}
    one_block = {"needs": ("several tokens", "axes in front")}
    yield _case("a last block that is not full", _inputs(draw, (batch,), queries, 11, width, out), 3, **front)
    yield _case("blocks of one key", _inputs(draw, (), 4, 5, 3, 2), 1, **plain)
    yield _case("all keys in one block", _inputs(draw, (2,), 4, 6, 3, 5), 6, **one_block)
    yield _case("a block larger than the keys", _inputs(draw, (2,), 3, 5, 6, 2), 16, **one_block)
    yield _case("one sentence, one block", _inputs(draw, (), 3, 5, 6, 2), 5, needs=("several tokens",))
    yield _case("blocks that come out even", _inputs(draw, (2,), 5, 8, 6, 3), 4, **front)
    yield _case("batch and heads", _inputs(draw, (2, 3), 4, 7, 5, 6), 2, needs=(*front["needs"], "heads"))
    yield _case("three axes in front", _inputs(draw, (2, 1, 3), 3, 5, 2, 3), 2, needs=(*front["needs"], "heads"))
    yield _case("four of everything", _inputs(draw, (4, 4), 4, 4, 4, 4), 4, needs=(*one_block["needs"], "heads"))
    yield _case("a new token over 300 keys", _inputs(draw, (), 1, 300, 3, 2), 64,
                needs=(*plain["needs"], "many tokens"))
    yield _case("one key", _inputs(draw, (2,), 3, 1, 4, 2), 2, needs=("axes in front",))
    yield _case("one of everything", _inputs(draw, (), 1, 1, 1, 1), 1)
    same = *qkv(draw, (), 4, 7, 3, 2)[:2], torch.ones(7, 2)
    yield _case("values all one", _given(*same, draw.normal(4, 2)), 3, **plain)
    q, k, v = qkv(draw, (), 4, 7, 3, 2)
    single = torch.zeros(4, 2)
    single[1] = torch.tensor([1.0, -2.0])
    yield _case("only the second query counts", _given(q, k, v, single), 3, **plain)
    # With one sample, one head and widths of two, a full matrix is far larger than any other tensor, even
    # than what a block needs for each feature. If an answer uses a block size of its own, say 64, one block
    # holds all keys here.
    long = {"observe": True, "entries": 16 * 32, **plain}
    yield _case("16 queries, 32 keys", _inputs(draw, (), 16, 32, 2, 2), 8, **long)
    # The weights of a block of queries against all keys at once are a full matrix, too: here one block holds
    # all queries. The same holds for queries taken one by one against half of the keys or more: that work
    # grows with the number of queries, in pieces as long as the keys. What every block writes to all keys
    # only grows with the number of blocks.
    wide = long | {"needs": (*plain["needs"], "many tokens")}
    few, more = "4 queries, 256 keys", "7 queries, 256 keys"
    yield _case(few, _inputs(draw, (), 4, 256, 1, 1), 16, **wide | {"entries": 4 * 256})
    work = Work(8 * 1024, beyond=few, pieces=128)
    yield _case(more, _inputs(draw, (), 7, 256, 1, 1), 16, **wide | {"entries": 7 * 256}, work=work)
    yield from _causal(draw, plain, front, long)
    yield from _far(draw, front)
    yield from _double(draw, front)


def _causal(draw, plain, front, long):
    """Yield cases with a causal mask: some with as many keys as queries, some with cached keys as well."""
    more = {"aspect": CAUSAL, "causal": True, "needs": (*front["needs"], "causal")}
    yield _case("causal", _inputs(draw, (2,), 7, 7, 3, 4, causal=True), 3, **more)
    yield _case("causal, batch and heads", _inputs(draw, (2, 3), 5, 5, 4, 3, causal=True), 2, **more)
    past = more | {"needs": (*more["needs"], "past")}
    yield _case("causal, four keys before the first query", _inputs(draw, (2,), 3, 7, 5, 2, causal=True), 2, **past)
    yield _case("causal, a new token", _inputs(draw, (2,), 1, 7, 3, 4, causal=True), 3, **past)
    more = more | {"needs": (*plain["needs"], "causal")}
    yield _case("causal, blocks of one key", _inputs(draw, (), 5, 5, 3, 2, causal=True), 1, **more)
    yield _case("causal, all keys in one block", _inputs(draw, (), 6, 6, 3, 2, causal=True), 8, aspect=CAUSAL,
                causal=True, needs=("several tokens", "causal"))
    yield _case("causal, one token", _inputs(draw, (), 1, 1, 2, 3, causal=True), 2, aspect=CAUSAL, causal=True,
                needs=("causal",))
    yield _case("causal, 40 tokens", _inputs(draw, (), 40, 40, 2, 2, causal=True), 8,
                **long | more | {"entries": 40 * 40})
    yield _case("causal, 20 of 40 tokens", _inputs(draw, (), 20, 40, 2, 2, causal=True), 8,
                **long | more | {"entries": 20 * 40, "needs": (*more["needs"], "past")})


def _far(draw, front):
    """Yield cases with scores far from zero, of both signs: up to 30 in float32, beyond 10 000 in float64."""
    stable = {"aspect": STABILITY, "needs": (*front["needs"], "far")}
    q, k = draw.eighths(2, 4, 4, limit=8), draw.eighths(2, 7, 4, limit=8)
    q[..., 0], k[..., 0] = 8.0, torch.linspace(-6.0, 6.0, 7)
    yield _case("scores within 30", _given(q, k, draw.normal(2, 7, 3), draw.normal(2, 4, 3)), 3, scale=3.0, **stable)
    k = k.clone()
    k[..., 0] = draw.eighths(2, 7, limit=4) - 6.5
    args = _given(q, k, draw.normal(2, 7, 3), draw.normal(2, 4, 3))
    yield _case("all scores about -26", args, 3, scale=3.0, **stable)
    # In float64 a right answer is exact to 1e-8.
    stable |= {"scale": 1e-4}
    q, k = (draw.eighths(2, n, 4, limit=4, dtype=torch.float64) for n in (6, 6))
    v, grad_out = (draw.normal(2, 6, 3, dtype=torch.float64) for _ in range(2))
    q[..., 0] = torch.tensor([160.0, -160.0, 160.0, 1.0, -160.0, 160.0])
    k[..., 0] += 160.0
    yield _case("scores beyond ten thousand", _given(q, k, v, grad_out), 4, **stable)
    q, k = q.clone(), k.clone()
    q[..., 0] = 128.0
    k[..., 0] = torch.linspace(-600.0, 600.0, 6, dtype=torch.float64)
    yield _case("blocks that lie ten thousands apart", _given(q, k, v, grad_out), 2, **stable)
    # Each key's score is thousands above the one before: the exponentials of hidden scores are infinite.
    stable |= {"causal": True, "needs": (*stable["needs"], "causal")}
    yield _case("causal, hidden scores far above", _given(q, k, v, grad_out, causal=True), 2, **stable)
    q, k = q.clone(), k.clone()
    q[..., 0] = -160.0
    k[..., 0] = 160.0 + draw.eighths(2, 6, limit=1, dtype=torch.float64)
    yield _case("causal, all scores below minus ten thousand", _given(q, k, v, grad_out, causal=True), 4, **stable)


def _double(draw, front):
    """Yield cases in float64. The answer is passed an output and a logsumexp as precise as float64 allows."""
    double = {"aspect": DTYPES, "scale": 10.0, "needs": front["needs"]}
    args = _inputs(draw, (2,), 5, 9, 4, 3, dtype=torch.float64)
    yield _case("float64", args, 4, **double)
    args = _inputs(draw, (2,), 5, 9, 16, 3, causal=True, dtype=torch.float64)
    yield _case("float64, causal", args, 4, causal=True, **double | {"needs": (*front["needs"], "causal", "past")})


def _case(family, given, block, causal=False, **more):
    return Case(family, (*given, block, True) if causal else (*given, block), gradients=False, **more)


def _inputs(draw, lead, queries, keys, width, out, causal=False, dtype=torch.float32):
    drawn = (*qkv(draw, lead, queries, keys, width, out), draw.normal(*lead, queries, out))
    return _given(*(one.to(dtype) for one in drawn), causal)


def _given(q, k, v, grad_out, causal=False):
    """Return q, k, v, the output of attention, the logsumexp of its scores, and the gradient of the loss with
    respect to the output.
    """
    scores = q.double() @ k.double().mT / math.sqrt(q.shape[-1])
    if causal:
        scores = scores.masked_fill(~_may_attend(q, k), -torch.inf)
    output = torch.softmax(scores, dim=-1) @ v.double()
    return q, k, v, output.to(q.dtype), scores.logsumexp(dim=-1).to(q.dtype), grad_out


RANGE, LAST = "range(0, k.shape[-2], block)", "return grad_q, grad_k, grad_v"
SCALE, INNER = "1 / math.sqrt(q.shape[-1])", "(out * grad_out).sum(dim=-1, keepdim=True)"
SCORES, HIDDEN = "scores = q @ keys.transpose(-2, -1) * scale", "key > newest"
WEIGHTS, AT_WEIGHTS = "torch.exp(scores - logsumexp.unsqueeze(-1))", "grad_out @ values.transpose(-2, -1)"
AT_SCORES, FOR_Q = "weights * (at_weights - inner) * scale", "grad_q = grad_q + at_scores @ keys"
FOR_K, FOR_V = "at_scores.transpose(-2, -1) @ q", "weights.transpose(-2, -1) @ grad_out"
NEWEST = " + k.shape[-2] - q.shape[-2]"

EXERCISE = Exercise(
    number=3, minutes=25, difficulty=3,
    worked=tiled_backward,
    reference=reference,
    cases=cases,
    standard=("transposed", "by name"),
    aspects={VALUES: 4, CAUSAL: 1, STABILITY: 2, SIDE_EFFECTS: 1, DTYPES: 1},
    shapes={"q": "... N D", "k": "... M D", "v": "... M E", "out": "... N E", "logsumexp": "... N",
            "grad_out": "... N E"},
    rules=Rules(None, ("autograd", "fused attention"), large=(
        "a matrix of all queries and all keys",
        "Which of your tensors, scores and masks included, has an entry for every query and every key?"),
        work=(
            "products over many blocks of keys at a time",
            "Which argument says how many keys one product may see?")),
    mistakes=(
        edit("no scale anywhere", {SCALE: "1.0"},
             "Neither your scores nor your gradients are scaled.",
             "Was the given logsumexp computed from scaled scores, or from unscaled ones?"),
        edit("no scale on the way to q", {FOR_Q: "grad_q = grad_q + at_scores @ keys / scale"},
             "Your gradient of q lacks the scale.", "By how much does a score change when q . k grows by 1?"),
        edit("no scale on the way to k", {FOR_K: "at_scores.transpose(-2, -1) @ q / scale"},
             "Your gradient of k lacks the scale.", "By how much does a score change when q . k grows by 1?"),
        edit("no scale on the way back", {AT_SCORES: "weights * (at_weights - inner)"},
             "Your gradients of q and k lack the scale.", "By how much does a score change when q . k grows by 1?"),
        edit("the scale twice", {AT_SCORES: "weights * (at_weights - inner) * scale * scale"},
             "Your gradients of q and k contain the scale twice.", "How many times does the scale occur in a score?"),
        edit("the scale in the gradient of v", {FOR_V: "weights.transpose(-2, -1) @ grad_out * scale"},
             "Your gradient of v contains the scale.", "What multiplies the values: scores or weights?"),
        edit("no inner product", {AT_SCORES: "weights * at_weights * scale"},
             "You treat each weight as if it depended on its own score alone.",
             "When one score grows, what happens to the other weights of its row?"),
        edit("the inner product of one block", {AT_SCORES: "weights * (at_weights - (weights * at_weights).sum(dim=-1, "
                                                "keepdim=True)) * scale"},
             "You take the inner product of the weights and their gradients over the keys of one block only.",
             "From which two arguments can you compute the inner product over all keys at once?"),
        edit("the inner product without the weight", {AT_SCORES: "(weights * at_weights - inner) * scale"},
             "You do not multiply the inner product by the weight.",
             "If a weight is 0, what should the gradient of its score be?"),
        edit("the inner product is added", {AT_SCORES: "weights * (at_weights + inner) * scale"},
             "Your inner product has the wrong sign.",
             "If all scores of a query grow by the same number, what happens to its weights?"),
        edit("the mean of the product", {INNER: "(out * grad_out).mean(dim=-1, keepdim=True)"},
             "Your inner product is divided by the width of the values.", "Is a dot product a sum or a mean?"),
        edit("the products of all queries", {INNER: "(out * grad_out).sum(dim=(-2, -1), keepdim=True)"},
             "All your queries share one inner product.", "How many inner products do N queries have?"),
        edit("weights without the logsumexp", {WEIGHTS: "torch.exp(scores)"},
             "Your weights are exponentials of scores and do not sum to 1.",
             "What is a weight, in terms of its score and the logsumexp of its row?"),
        edit("a softmax in each block", {WEIGHTS: "torch.softmax(scores, dim=-1)"},
             "Your weights sum to 1 in every block.", "Over which keys should the weights of a query sum to 1?"),
        edit("exp over exp", {WEIGHTS: "torch.exp(scores) / torch.exp(logsumexp.unsqueeze(-1))"},
             "For scores in the thousands your weights are NaN.",
             "What is exp(1000) in float32, and what is that divided by itself?"),
        edit("FLA-05", {RANGE: "range(0, max(k.shape[-2] - block + 1, 1), block)", LAST:
             "rest = k.shape[-2] - grad_k.shape[-2]\n    return grad_q, F.pad(grad_k, (0, 0, 0, rest)), "
             "F.pad(grad_v, (0, 0, 0, rest))"}),
        edit("FLA-05", {RANGE: "range(0, max(k.shape[-2] - block + 1, 1), block)"}),
        edit("the last block's gradient of q", {FOR_Q: "grad_q = at_scores @ keys"},
             ("Your gradient of q contains only the last block's "
              "contribution."), "Which gradients get a contribution from every block?"),
        edit("q gets a mean over the blocks", {LAST: "return grad_q / len(grads_k), grad_k, grad_v"},
             "You divide the gradient of q by the number of blocks.",
             "Should the contributions of the blocks be added or averaged?"),
        edit("FLA-77", {"key = start + ": "key = "}),
        edit("FLA-79", {HIDDEN: "key >= newest"}),
        edit("FLA-81", {HIDDEN: "key > newest + 1"}),
        edit("FLA-83", {HIDDEN: "key < newest"}),
        edit("FLA-85", {"if causal:": "if False:"}),
        edit("FLA-87", {"if causal:": "if k.shape[-2] == q.shape[-2]:"}),
        edit("the triangle begins at the upper left", {NEWEST: ""},
             "When there are more keys than queries, your first query sees only the first key.",
             "With three queries and seven keys, how many keys may the first query see?"),
        edit("the triangle is moved the wrong way", {NEWEST: " - k.shape[-2] + q.shape[-2]"},
             "When there are more keys than queries, you shift the causal mask in the wrong direction.",
             "With three queries and seven keys, how many keys may the first query see?"),
        edit("hidden weights are multiplied by zero", {
             "scores = scores.masked_fill(key > newest, -torch.inf)": "hidden = key > newest",
             WEIGHTS: f"{WEIGHTS} * ((~hidden).to(q.dtype) if causal else 1)"},
             "Where a hidden score is very large, you get NaN.", "What is infinity times 0?"),
        edit("FLA-89", {"-torch.inf": "0.0"}),
        edit("FLA-91", {"-torch.inf": "-100.0"}),
        edit("FLA-91", {"-torch.inf": "-1e4"}),
        edit("SDPA-01", {SCORES: "scores = q @ keys.transpose(-2, -1)"}),
        edit("SDPA-05", {SCALE: "1 / math.sqrt(v.shape[-1])"}),
        edit("SDPA-35", {SCALE: "1 / q.shape[-1]"}),
        edit("FLA-93", {SCALE: "1 / math.sqrt(block)"}),
        edit("SDPA-11", {"keys.transpose(-2, -1)": "keys.transpose(1, 2)"}),
        edit("FLA-95", {"v[..., start : start + block, :]": "v[..., : keys.shape[-2], :]"}),
        edit("gradients in float32", {LAST: "return grad_q, grad_k.float(), grad_v.float()"},
             "With float64 inputs, you return float32 gradients.",
             "Which of your lines makes a tensor without the dtype of q?"),
        edit("gradients in float32", {LAST: "return grad_q.float(), grad_k.float(), grad_v.float()"}),
        edit("gradients in float32", {LAST: "return grad_q.float(), grad_k, grad_v"}),
        edit("k and v exchanged", {LAST: "return grad_q, grad_v, grad_k"},
             "You return the gradient of v before that of k.", "In which order does the docstring list the three?"),
        edit("a list", {LAST: "return [grad_q, grad_k, grad_v]"},
             "You return a list.", "What type does the docstring ask for?"),
        edit("weights of a block in the gradient of v",
             {FOR_V: "(weights / weights.sum(dim=-1, keepdim=True)).transpose(-2, -1) @ grad_out"},
             "In the gradient of v your weights sum to 1 in every block.",
             "Over which keys should the weights of a query sum to 1?"),
        edit("the output's gradient as a value", {FOR_V: "weights.transpose(-2, -1) @ out"},
             "Your gradient of v is made from the output instead of the gradient of the output.",
             "What does the chain rule multiply the weights by?"),
    ),
    needs={
        "past": ("Your answer is wrong only when there are more keys than queries under a causal mask.",
                 "With three queries and seven keys, how many keys may the first query see?"),
        "causal": ("Your answer is wrong only when `causal` is True.",
                   "Which keys of a block may a query see?"),
        "many tokens": ("Your answer is wrong only for long inputs.",
                        "Does a number in your code limit how many tokens there may be?"),
        "far": ("Your answer is wrong only where scores are far from 0.",
                "What is the largest number that you exponentiate?"),
        "several blocks": ("Your answer is wrong only when there are several blocks.",
                           "Which of your sums run over the keys of one block, and which over all keys?"),
        "axes in front": NEEDS["axes in front"],
        "heads": NEEDS["heads"],
        "several tokens": ("Your answer is wrong only when there are several keys.",
                           "When one score grows, what happens to the other weights of its row?"),
        "": ("Your answer is wrong even for a single key, whose weight is always 1.",
             "If the weight is 1, what is the output, and what is the gradient of v?"),
    },
    hints=(
        "Within a block, compute the weights a second time, as exp(score - logsumexp). The gradient of the values "
        "is then the product of the transposed weights and the gradient of the output, as for any matrix product.",
        "The gradient of a score is its weight times (the weight's gradient minus the weighted mean of all "
        "gradients in its row). That mean runs over all blocks, but it equals the dot product of the output and "
        "its gradient: one number per query, which you can compute before the loop begins.",
        "In outline: compute once, for each query, the dot product of its output and that output's gradient. For "
        "each block, compute the scaled scores (hide keys after i + M - N if causal), the weights, the gradient "
        "with respect to the weights (gradient of the output times transposed values), and G, the gradient with "
        "respect to the unscaled scores: subtract the query's dot product from the gradient with respect to the "
        "weights, multiply by the weights, then by the scale. Add G times the keys to the gradient of q. This "
        "block's part of the gradient of k is G transposed, times q; its part of the gradient of v is the "
        "transposed weights times the gradient of the output.",
    ),
)
