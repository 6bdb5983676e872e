"""Causal attention whose weights are products of features, so that running sums replace the matrix of weights
(Katharopoulos et al. 2020).
"""

import torch
import torch.nn.functional as F

from autograder.exercises._shared.plain_attention import NEEDS
from autograder.schema import (
    DTYPES, GRADIENTS, SIDE_EFFECTS, STABILITY, VALUES, Case, Exercise, Rules, Work, edit, past_only,
    samples_apart, shares_sum_to_one, wrong,
)


def linear_attention(q, k, v):
    q = F.elu(q) + 1
    k = F.elu(k) + 1
    pairs = k.unsqueeze(-1) * v.unsqueeze(-2)
    sums = pairs.cumsum(dim=-3)
    totals = k.cumsum(dim=-2)
    above = (q.unsqueeze(-2) @ sums).squeeze(-2)
    below = (q * totals).sum(dim=-1, keepdim=True)
    return above / below


def reference(q, k, v):
    q, k = (torch.where(t > 0, t + 1, t.clamp(max=0).exp()) for t in (q, k))
    weights = torch.einsum("...nd,...md->...nm", q, k).tril()
    return (weights / weights.sum(dim=-1, keepdim=True)) @ v


def cases(draw):
    batch, tokens, width, out = draw.sizes(4)
    front = {"needs": ("several tokens", "axes in front")}
    yield Case("all sizes different", _qkv(draw, (batch,), tokens, width, out), **front)
    yield Case("no axes in front", _qkv(draw, (), 5, 3, 4), needs=("several tokens",))
    yield Case("batch and heads", _qkv(draw, (2, 3), 4, 5, 6), needs=(*front["needs"], "heads"))
    yield Case("as many tokens as features", _qkv(draw, (3,), 5, 5, 5), **front)
    yield Case("four of everything", _qkv(draw, (4, 4), 4, 4, 4), needs=(*front["needs"], "heads"),
               float64=True)
    yield Case("one token", _qkv(draw, (2,), 1, 3, 4), needs=("axes in front",))
    yield Case("one of everything", _qkv(draw, (), 1, 1, 1))
    q, k, v = _qkv(draw, (2,), 6, 3, 4)
    yield Case("two samples", (q, k, v), **front)
    other = tuple(torch.cat((one[:, :-1], draw.normal(2, 1, one.shape[-1])), dim=1) for one in (q, k, v))
    yield Case("another last token", other, gradients=False, **front)
    other = tuple(torch.cat((one[:1], draw.normal(1, *one.shape[1:]))) for one in (q, k, v))
    yield Case("another second sample", other, gradients=False, **front)
    shown = draw.normal(5, 3), draw.normal(5, 3), torch.eye(5)
    yield Case("values that show the weights", shown, needs=("several tokens",))
    yield Case("values all one", (draw.normal(6, 3), draw.normal(6, 3), torch.ones(6, 2)), needs=("several tokens",))
    # With one sample, one head and widths of two, a matrix of weights is far larger than the sums of all
    # tokens.
    many = {"needs": ("several tokens", "many tokens")}
    yield Case("96 tokens", _qkv(draw, (), 96, 2, 2), observe=True, entries=96 * 96, **many)
    # Twice as many tokens: a row of weights for each token is four times the work.
    long = many | {"observe": True, "gradients": False}
    yield Case("128 tokens", _qkv(draw, (), 128, 2, 3), **long)
    twice = Work(128 * 128 // 2, beyond="128 tokens", times=2)
    yield Case("256 tokens", _qkv(draw, (), 256, 2, 3), work=twice, **long)
    stable = {"aspect": STABILITY, **front}
    q, k, v = _qkv(draw, (2,), 5, 3, 4)
    yield Case("large inputs", ((q * 300).clamp(min=-7.0), (k * 300).clamp(min=-7.0), v), gradients=False, **stable)
    # elu(-8) + 1 is 3e-4, which float32 holds to four digits; a product of two such numbers is 1e-7.
    q, k, v = (draw.weights(2, 5, 3) - 8.0), (draw.weights(2, 5, 3) - 8.0), draw.normal(2, 5, 4)
    yield Case("inputs near -8", (q, k, v), gradients=False, scale=10.0, **stable)
    yield Case("queries near -8", (q, draw.normal(2, 5, 3), v), gradients=False, scale=10.0, **stable)


def _qkv(draw, lead, tokens, width, out):
    return draw.normal(*lead, tokens, width), draw.normal(*lead, tokens, width), draw.normal(*lead, tokens, out)


PHI_Q, PHI_K = "q = F.elu(q) + 1", "k = F.elu(k) + 1"
PAIRS, SUMS, TOTALS = "k.unsqueeze(-1) * v.unsqueeze(-2)", "pairs.cumsum(dim=-3)", "k.cumsum(dim=-2)"
ABOVE, BELOW = "(q.unsqueeze(-2) @ sums).squeeze(-2)", "(q * totals).sum(dim=-1, keepdim=True)"
LAST = "return above / below"


def on_both(sums, totals):
    """Return edits that replace the two running sums: the first with `pairs` followed by the code in `sums`,
    the second with `k` followed by the code in `totals`.
    """
    return {SUMS: f"pairs{sums}", TOTALS: f"k{totals}"}


def softmax_attention(q, k, v):
    # In two lines, because no mistake may appear line for line in the files that students get.
    output = F.scaled_dot_product_attention(q, k, v, is_causal=True)
    return output


EXERCISE = Exercise(
    number=5, minutes=15, difficulty=3,
    worked=linear_attention,
    reference=reference,
    cases=cases,
    standard=("float64", "transposed", "by name"),
    aspects={VALUES: 4, STABILITY: 1, GRADIENTS: 1, SIDE_EFFECTS: 1, DTYPES: 1},
    shapes={"q": "... N D", "k": "... N D", "v": "... N E", "return": "... N E"},
    rules=Rules(large=(
        "a matrix of all queries and all keys",
        "Which product can you compute first, so that a query meets one small matrix instead of all "
        "earlier keys?"),
        work=(
            "as much work as a matrix of all queries and all keys",
            "Which sum could your last token take over from the token before it?")),
    invariants=(
        samples_apart("two samples", "another second sample"),
        past_only("two samples", "another last token"),
        shares_sum_to_one("values all one"),
    ),
    mistakes=(
        edit("LIN-01 the future counts", on_both(".sum(dim=-3, keepdim=True)", ".sum(dim=-2, keepdim=True)"),
             "All your tokens use the same sum, which includes the future.",
             "May the first token know about the second?"),
        edit("LIN-03 a token does not see itself", on_both(".cumsum(dim=-3) - pairs", ".cumsum(dim=-2) - k"),
             "Your sums leave out the token itself.",
             "Does the sum run up to token i, or up to the one before it?"),
        edit("LIN-05 the past is left out",
             on_both(".flip(-3).cumsum(dim=-3).flip(-3)", ".flip(-2).cumsum(dim=-2).flip(-2)"),
             "Your tokens see themselves and what comes after them.", "At which end does the sum start?"),
        edit("LIN-07 one is not added", {PHI_Q: "q = F.elu(q)", PHI_K: "k = F.elu(k)"},
             "Some of your weights are negative.",
             "What is the smallest value of elu(x), and of elu(x) + 1?"),
        edit("LIN-07", {PHI_Q: "q = F.elu(q)"}),
        edit("LIN-07", {PHI_K: "k = F.elu(k)"}),
        edit("LIN-09 relu for elu", {PHI_Q: "q = F.relu(q) + 1", PHI_K: "k = F.relu(k) + 1"},
             "All negative inputs have the same effect in your result.",
             "How does elu differ from relu below zero?"),
        edit("LIN-09", {PHI_Q: "q = F.relu(q)", PHI_K: "k = F.relu(k)"}),
        edit("LIN-11 exp for elu", {PHI_Q: "q = torch.exp(q)", PHI_K: "k = torch.exp(k)"},
             "Your features grow exponentially.", "What is phi(2) in the formula?"),
        edit("LIN-13 no features at all", {PHI_Q: "pass", PHI_K: "pass"},
             "Your weights are the plain products of queries and keys.",
             "What does the formula apply to queries and keys first?"),
        edit("LIN-15 features of the keys alone", {PHI_Q: "pass"},
             "You do not apply phi to the queries.", "To which of q, k and v does the formula apply phi?"),
        edit("LIN-17 features of the queries alone", {PHI_K: "pass"},
             "You do not apply phi to the keys.", "To which of q, k and v does the formula apply phi?"),
        edit("LIN-19 features of the values as well", {PHI_K: f"{PHI_K}\n    v = F.elu(v) + 1"},
             "None of your outputs is negative.", "To which of q, k and v does the formula apply phi?"),
        edit("LIN-21 nothing is divided", {LAST: "return above"},
             "In your result, the weights of a query do not sum to one.", "What does the formula divide by?"),
        edit("LIN-23 divided by the number of tokens",
             {LAST: "return above / torch.arange(1, q.shape[-2] + 1)[:, None]"},
             "You divide by the number of tokens.", "What should the weights of a query add up to?"),
        edit("LIN-25 divided by the sum over all keys", {TOTALS: "k.sum(dim=-2, keepdim=True)"},
             "You divide by a sum that includes the future.", "Which keys belong to the sum of token i?"),
        edit("LIN-27 divided by the keys alone", {BELOW: "totals.sum(dim=-1, keepdim=True)"},
             "You divide by a sum of keys that does not involve the query.",
             "What is the denominator in the formula?"),
        edit("LIN-29 a small number under the line", {LAST: "return above / (below + 1e-6)"},
             "When queries and keys are very negative, your weights sum to less than one.",
             "How small can the denominator become, compared with your small constant?"),
        edit("LIN-29", {LAST: "return above / below.clamp(min=1e-6)"}),
        edit("LIN-29", {LAST: "return above / (below + 1e-8)"}),
        edit("LIN-31 scaled", {PHI_Q: "q = F.elu(q / q.shape[-1] ** 0.5) + 1"},
             "You scale the queries before you apply phi.", "Does this formula have a scale?"),
        edit("LIN-31", {PHI_Q: "q = F.elu(q / q.shape[-1] ** 0.25) + 1",
                        PHI_K: "k = F.elu(k / k.shape[-1] ** 0.25) + 1"}),
        edit("LIN-33 softmax for phi", {PHI_Q: "q = torch.softmax(q, dim=-1)", PHI_K: "k = torch.softmax(k, dim=-1)"},
             "You use a softmax as phi.", "Which function is phi in the formula?"),
        edit("LIN-35 sums over samples or heads", on_both(".cumsum(dim=0)", ".cumsum(dim=0)"),
             "You take the running sums along the samples.", "Counted from the end, which axis holds the tokens?"),
        edit("LIN-37 sums along a fixed axis", on_both(".cumsum(dim=1)", ".cumsum(dim=1)"),
             "Your answer works only for one particular number of axes.",
             "Counted from the end, which axis holds the tokens?"),
        edit("LIN-39 the sums are cut off", {PAIRS: "k.detach().unsqueeze(-1) * v.unsqueeze(-2)", TOTALS:
             "k.detach().cumsum(dim=-2)"},
             "The values are right, but no gradient reaches the keys.", "Which step detaches the keys?"),
        wrong("LIN-41 softmax attention", softmax_attention,
             "Your weights come from a softmax.",
             "How does the formula compute the weight that a query gives to a key?"),
    ),
    needs={
        "many tokens": ("Your answer is wrong only for long inputs.",
                        "Does a number in your code limit how many tokens there may be?"),
        "heads": NEEDS["heads"],
        "axes in front": NEEDS["axes in front"],
        "several tokens": ("Your answer is wrong only when there are several tokens.",
                           "Which keys and values are in the sums of the second token?"),
        "": ("Your answer is wrong even for a single token, whose weight is always 1.",
             "What are the numerator and the denominator for a single token?"),
    },
    hints=(
        "Without an exponential, (q k^T) v equals q (k^T v). The product k^T v does not involve the query, "
        "so it can be accumulated from token to token.",
        "Keep two running sums with `cumsum` over the token axis: one that adds up the D x E matrices phi(k)^T v, "
        "and one that adds up the vectors phi(k). Give phi(k) a new last axis and v a new second-to-last axis: "
        "their product holds all the matrices.",
        "In outline: apply phi to q and k, form the matrices (..., N, D, E), take the running sums of the "
        "matrices and of phi(k) over the tokens, multiply phi(q) of each query by the running sum of the matrices "
        "at its position, and divide by the dot product of phi(q) with the running sum of phi(k) there.",
    ),
)
