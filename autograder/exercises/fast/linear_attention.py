"""Causal attention whose weights are products of features, so that sums can be carried along (Katharopoulos 2020)."""

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
    # One sample, one head, widths of two: a table is far larger than the sums of all tokens.
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
    # elu(-8) + 1 is 3e-4, which float32 knows to four digits; a product of two such numbers is 1e-7.
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
    """Edits of both running sums."""
    return {SUMS: f"pairs{sums}", TOTALS: f"k{totals}"}


def softmax_attention(q, k, v):
    # In two lines: no mistake may stand, line for line, in what students get.
    output = F.scaled_dot_product_attention(q, k, v, is_causal=True)
    return output


EXERCISE = Exercise(
    number=4, minutes=15, difficulty=3,
    worked=linear_attention,
    reference=reference,
    cases=cases,
    standard=("float64", "transposed", "by name"),
    aspects={VALUES: 4, STABILITY: 1, GRADIENTS: 1, SIDE_EFFECTS: 1, DTYPES: 1},
    shapes={"q": "... N D", "k": "... N D", "v": "... N E", "return": "... N E"},
    rules=Rules(large=(
        "a table of all queries and all keys",
        "Which product can be taken first, so that a query meets one small matrix instead of all keys before it?"),
        work=(
            "as much work as a table of all queries and all keys",
            "How much more does your last token cost than your first, and which sum could it be handed?")),
    invariants=(
        samples_apart("two samples", "another second sample"),
        past_only("two samples", "another last token"),
        shares_sum_to_one("values all one"),
    ),
    mistakes=(
        edit("LIN-01 the future counts", on_both(".sum(dim=-3, keepdim=True)", ".sum(dim=-2, keepdim=True)"),
             "All your tokens share one sum, over the future as well.",
             "What does the first token know of the second?"),
        edit("LIN-03 a token does not see itself", on_both(".cumsum(dim=-3) - pairs", ".cumsum(dim=-2) - k"),
             "Your sums leave out the token itself.", "Does the sum run up to i, or up to the token before it?"),
        edit("LIN-05 the past is left out",
             on_both(".flip(-3).cumsum(dim=-3).flip(-3)", ".flip(-2).cumsum(dim=-2).flip(-2)"),
             "Your tokens see themselves and what comes after them.", "From which end does the sum run?"),
        edit("LIN-07 one is not added", {PHI_Q: "q = F.elu(q)", PHI_K: "k = F.elu(k)"},
             "Some of your weights are negative.", "How low is elu, and which numbers may a weight be?"),
        edit("LIN-07", {PHI_Q: "q = F.elu(q)"}),
        edit("LIN-07", {PHI_K: "k = F.elu(k)"}),
        edit("LIN-09 relu for elu", {PHI_Q: "q = F.relu(q) + 1", PHI_K: "k = F.relu(k) + 1"},
             "All your negative inputs count the same.", "What does elu do below zero that relu does not?"),
        edit("LIN-09", {PHI_Q: "q = F.relu(q)", PHI_K: "k = F.relu(k)"}),
        edit("LIN-11 exp for elu", {PHI_Q: "q = torch.exp(q)", PHI_K: "k = torch.exp(k)"},
             "Your features grow like exp.", "What is phi(2) in the formula?"),
        edit("LIN-13 no features at all", {PHI_Q: "pass", PHI_K: "pass"},
             "Your weights are the bare products of queries and keys.", "Which numbers may a weight be?"),
        edit("LIN-15 features of the keys alone", {PHI_Q: "pass"},
             "Your queries have no features.", "To which of q, k and v is phi applied?"),
        edit("LIN-17 features of the queries alone", {PHI_K: "pass"},
             "Your keys have no features.", "To which of q, k and v is phi applied?"),
        edit("LIN-19 features of the values as well", {PHI_K: f"{PHI_K}\n    v = F.elu(v) + 1"},
             "None of your outputs is negative.", "To which of q, k and v is phi applied?"),
        edit("LIN-21 nothing is divided", {LAST: "return above"},
             "The weights of your rows do not sum to one.", "What turns positive numbers into shares of a whole?"),
        edit("LIN-23 divided by the number of tokens",
             {LAST: "return above / torch.arange(1, q.shape[-2] + 1)[:, None]"},
             "You divide by how many tokens there are.", "What should the weights of a query add up to?"),
        edit("LIN-25 divided by the sum over all keys", {TOTALS: "k.sum(dim=-2, keepdim=True)"},
             "You divide by a sum that knows the future.", "Which keys belong to the sum of token i?"),
        edit("LIN-27 divided by the keys alone", {BELOW: "totals.sum(dim=-1, keepdim=True)"},
             "You divide by a sum of keys that no query has met.", "Which product stands under the line?"),
        edit("LIN-29 a small number under the line", {LAST: "return above / (below + 1e-6)"},
             "If queries and keys are very negative, your weights sum to less than one.",
             "How small can phi(q) z become, and how small is your constant compared with it?"),
        edit("LIN-29", {LAST: "return above / below.clamp(min=1e-6)"}),
        edit("LIN-29", {LAST: "return above / (below + 1e-8)"}),
        edit("LIN-31 scaled", {PHI_Q: "q = F.elu(q / q.shape[-1] ** 0.5) + 1"},
             "Your queries are scaled before phi.", "Does this formula have a scale?"),
        edit("LIN-31", {PHI_Q: "q = F.elu(q / q.shape[-1] ** 0.25) + 1",
                        PHI_K: "k = F.elu(k / k.shape[-1] ** 0.25) + 1"}),
        edit("LIN-33 softmax for phi", {PHI_Q: "q = torch.softmax(q, dim=-1)", PHI_K: "k = torch.softmax(k, dim=-1)"},
             "Your features are shares over the width.", "Which function is phi here?"),
        edit("LIN-35 sums over samples or heads", on_both(".cumsum(dim=0)", ".cumsum(dim=0)"),
             "Your running sums go from sample to sample.", "Counted from the end, which axis are the tokens?"),
        edit("LIN-37 sums along a fixed axis", on_both(".cumsum(dim=1)", ".cumsum(dim=1)"),
             "Your answer works for one number of axes only.", "Counted from the end, which axis are the tokens?"),
        edit("LIN-39 the sums are cut off", {PAIRS: "k.detach().unsqueeze(-1) * v.unsqueeze(-2)", TOTALS:
             "k.detach().cumsum(dim=-2)"},
             "The values are right, but no gradient reaches the keys.", "Which step cuts the sums off from the keys?"),
        wrong("LIN-41 softmax attention", softmax_attention,
             "Your weights come from a softmax.",
             "Which function makes a weight here: exp of a product, or a product of phi?"),
    ),
    combinable=("LIN-01", "LIN-03", "LIN-05", "LIN-07", "LIN-09", "LIN-21", "LIN-25", "LIN-27"),
    needs={
        "many tokens": ("Short inputs come out right, long ones do not.",
                        "Which number in your code decides how many tokens there may be?"),
        "heads": NEEDS["heads"],
        "axes in front": NEEDS["axes in front"],
        "several tokens": ("A single token comes out right, with several the weights are wrong.",
                           "Which keys and values are in the sums of the second token?"),
        "": ("Even a single token, whose only weight is one, comes out wrong.",
             "What stands above the line, what below, and what is left of the key?"),
    },
    hints=(
        "Without an exponential, (q k) v is q (k v). Which of the two products can be carried from token to token?",
        "Two running sums: one of matrices, one of vectors. What is added to each of them when a token comes?",
        "The shape of it: phi(k) v pairs (..., N, D, E) summed over the tokens, phi(k) (..., N, D) likewise; a query "
        "times the one, over a query times the other.",
    ),
)
