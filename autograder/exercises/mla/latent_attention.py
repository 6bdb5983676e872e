"""Attention over a cache of latents that are never projected up: the queries are projected down instead
(DeepSeek-AI 2024).
"""

import math

import torch
import torch.nn.functional as F

from autograder.schema import (
    DTYPES, GRADIENTS, SIDE_EFFECTS, STABILITY, VALUES, Case, Exercise, Rules, Work, edit, samples_apart,
)


def latent_attention(x, latents, keys, values, d_head):
    queries = x.unsqueeze(1) @ keys
    memory = latents.unsqueeze(1)
    scores = queries @ memory.transpose(-2, -1)
    scores = scores / math.sqrt(d_head)
    weights = torch.softmax(scores, dim=-1)
    mixed = weights @ memory
    output = mixed @ values
    return output.sum(dim=1)


def reference(x, latents, keys, values, d_head):
    k, v = torch.einsum("bmc,hec->bhme", latents, keys), torch.einsum("bmc,hce->bhme", latents, values)
    heads = F.scaled_dot_product_attention(x[:, None].expand(-1, len(keys), -1, -1), k, v, scale=d_head**-0.5)
    return heads.sum(dim=1)


def cases(draw):
    batch, queries, tokens, latent = draw.sizes(4, 2, 7)
    n_heads, width = draw.sizes(2, 2, 5)[0], draw.sizes(1, 8, 12)[0]
    several = {"needs": ("heads", "samples", "tokens")}
    yield _case(draw, "all sizes different", batch, queries, tokens, width, latent, n_heads, 3, **several)
    yield _case(draw, "wide heads", 2, 3, 4, 6, 3, 2, 40, **several)
    yield _case(draw, "heads that cut the model's width", 2, 3, 5, 12, 4, 3, 4, **several)
    yield _case(draw, "as many samples as heads", 3, 4, 5, 6, 2, 3, 2, **several)
    yield _case(draw, "latents as wide as the model", 2, 3, 4, 6, 6, 2, 3, **several)
    yield _case(draw, "as many latents as queries", 2, 5, 5, 8, 3, 4, 6, **several)
    yield _case(draw, "four of everything", 4, 4, 4, 4, 4, 4, 4, **several, float64=True)
    many = {"needs": ("heads", "tokens", "many latents"), "gradients": False}
    yield _case(draw, "a new token over 300 latents", 1, 1, 300, 6, 3, 2, 4, **many)
    yield _case(draw, "one head", 3, 4, 5, 6, 2, 1, 5, needs=("samples", "tokens"))
    yield _case(draw, "one sample, one head", 1, 4, 5, 6, 2, 1, 5, needs=("tokens",))
    yield _case(draw, "one latent", 2, 3, 1, 5, 2, 3, 4, needs=("heads", "samples"))
    yield _case(draw, "one of everything", 1, 1, 1, 1, 1, 1, 1)
    # With one sample, two heads, two queries and latents of three numbers, a cache that is projected up is by
    # far the largest tensor.
    yield _case(draw, "narrow latents in a wide model", 1, 2, 64, 64, 3, 2, 4, observe=True, entries=64 * 64,
                needs=("heads", "tokens"))
    # Computing a full key for each latent is most of the work here, whether all at once or a few at a time.
    yield _case(draw, "512 latents in a wide model", 1, 2, 512, 256, 3, 2, 4, observe=True, gradients=False,
                work=Work(512 * 256), needs=("heads", "tokens"))
    first = _case(draw, "two samples", 2, 3, 4, 6, 3, 2, 5, **several)
    yield first
    x, latents, *more = first.args
    other = tuple(torch.cat((one[:1], draw.normal(1, *one.shape[1:]))) for one in (x, latents))
    yield Case("another second sample", (*other, *more), gradients=False, **several)
    same = torch.eye(5)[None]
    shown = draw.normal(1, 4, 5), same.clone(), draw.normal(1, 5, 5), same.clone(), 7
    yield Case("values that show the weights", shown, needs=("tokens",))
    large = [draw.eighths(2, 3, 4), draw.eighths(2, 5, 3), draw.eighths(2, 4, 3, limit=400), draw.normal(2, 3, 4), 4]
    yield Case("large scores", tuple(large), scale=10.0, aspect=STABILITY, gradients=False, **several)


def _case(draw, family, batch, queries, tokens, width, latent, n_heads, d_head, **more):
    """Return a case whose scores have a standard deviation of about 2 once divided by sqrt(d_head)."""
    x, latents = draw.normal(batch, queries, width), draw.normal(batch, tokens, latent)
    keys = draw.normal(n_heads, width, latent, scale=2.0 * (d_head / (width * latent)) ** 0.5)
    return Case(family, (x, latents, keys, draw.normal(n_heads, latent, width), d_head), **more)


QUERIES, MEMORY, PRODUCT = "x.unsqueeze(1) @ keys", "latents.unsqueeze(1)", "queries @ memory.transpose(-2, -1)"
ROOT, SOFTMAX, MIX = "math.sqrt(d_head)", "torch.softmax(scores, dim=-1)", "weights @ memory"
LAST = "return output.sum(dim=1)"
MULTIPLIED_FIRST = (
    "For the scores, which two of x, keys[h] and c do you multiply first? For the output, which two of weights, c "
    "and values[h]?"
)

EXERCISE = Exercise(
    number=3, minutes=15, difficulty=3,
    worked=latent_attention,
    reference=reference,
    cases=cases,
    standard=("float64", "transposed", "by name"),
    aspects={VALUES: 4, STABILITY: 1, GRADIENTS: 1, SIDE_EFFECTS: 1, DTYPES: 1},
    shapes={"x": "B N d_model", "latents": "B M d_latent", "keys": "H d_model d_latent",
            "values": "H d_latent d_model", "return": "B N d_model"},
    rules=Rules(large=(
        "a tensor as large as a key or value of full width for every latent",
        MULTIPLIED_FIRST),
        work=(
            "the work of a key or value of full width for every latent",
            MULTIPLIED_FIRST)),
    invariants=(samples_apart("two samples", "another second sample"),),
    mistakes=(
        edit("MLA-101 no scale", {f"scores / {ROOT}": "scores"},
             "Your scores are not scaled.", "What is the argument d_head for?"),
        edit("MLA-103 scale from the latents", {ROOT: "math.sqrt(latents.shape[-1])"},
             "You scale by the width of the latents.",
             "How wide were the queries and keys of one head before they were absorbed?"),
        edit("MLA-105 scale from the model's width", {ROOT: "math.sqrt(x.shape[-1])"},
             "You scale by the width of the model.",
             "How wide were the queries and keys of one head before they were absorbed?"),
        edit("MLA-107 the width of a head is worked out", {ROOT: "math.sqrt(x.shape[-1] / len(keys))"},
             "You scale by d_model / H.", "Which argument gives the width of a head?"),
        edit("MLA-109 multiplied by the root", {f"/ {ROOT}": f"* {ROOT}"},
             "You multiply the scores by sqrt(d_head) instead of dividing by it.",
             "Should wider heads make attention sharper?"),
        edit("MLA-111 divided by the width", {ROOT: "d_head"},
             "You divide the scores by d_head instead of its square root.",
             "When the width is four times as large, by what factor does the standard deviation of a dot "
             "product grow?"),
        edit("SDPA-07", {SOFTMAX: "torch.softmax(scores, dim=-2)"}),
        edit("SDPA-45", {SOFTMAX: "torch.softmax(scores, dim=1)"},
             "Your weights sum to one over the heads.",
             "Over which axis of the scores should the weights of one query sum to one?"),
        edit("SDPA-19", {SOFTMAX: f"torch.softmax({SOFTMAX}, dim=-1)"}),
        edit("SDPA-31", {SOFTMAX: "scores"}),
        edit("SMX-01", {SOFTMAX: "((grown := torch.exp(scores)) / grown.sum(dim=-1, keepdim=True))"}),
        edit("MLA-113 heads are averaged", {LAST: "return output.mean(dim=1)"},
             "You average the heads.", "How does the formula combine the heads?"),
        edit("MLA-115 heads side by side", {LAST: "return output"},
             "Your result still has an axis for the heads.", "What happens to the heads in the formula?"),
        edit("MLA-117 one head alone", {LAST: "return output[:, 0]"},
             "You return the result of one head only.", "How does the formula combine the heads?"),
        edit("MLA-117", {LAST: "return output[:, -1]"}),
        edit("MLA-119 one pattern of weights for all heads",
             {SOFTMAX: "torch.softmax(scores.mean(dim=1, keepdim=True).expand_as(scores), dim=-1)"},
             "All your heads use the same attention weights.",
             "Which factor inside the softmax of the formula differs from head to head?"),
        edit("MLA-119", {SOFTMAX: f"{SOFTMAX}.mean(dim=1, keepdim=True).expand_as(scores)"}),
        edit("MLA-121 one matrix of values for all heads", {"mixed @ values": "mixed @ values[0]"},
             "All your heads use the first matrix of `values`.",
             "Which matrix of `values` belongs to head 1?"),
        edit("MLA-123 the heads of keys and values are paired otherwise", {"mixed @ values": "mixed @ values.flip(0)"},
             "You combine one head's attention weights with another head's matrix of `values`.",
             "Which matrix of `values` belongs to head 0?"),
        edit("MLA-125 samples and heads change places", {MEMORY: "latents.unsqueeze(0)", "x.unsqueeze(1)":
             "x.unsqueeze(0)"},
             "The samples of your latents line up with the heads.",
             "Line up the shapes from the right. Which axis of the latents meets the heads?"),
        edit("MLA-125", {MEMORY: "latents"}),
        edit("MLA-127 no residual is asked for", {LAST: "return x + output.sum(dim=1)"},
             "You add x to your output.", "Does the formula add anything to the sum over heads?"),
        edit("MLA-129 causal without being asked", {SOFTMAX: "torch.softmax(scores.masked_fill(torch.ones_like(scores)"
             ".triu(1).bool(), -torch.inf), dim=-1)"},
             "Your queries do not see all latents.", "Does this exercise ask for a mask?"),
        edit("MLA-131 the latents are cut off", {MEMORY: "latents.detach().unsqueeze(1)"},
             "The output is right, but the gradient of the latents is missing or incomplete.",
             "Which step detaches the latents?"),
        edit("MLA-131", {MIX: "weights @ memory.detach()"}),
    ),
    needs={
        "many latents": ("Your answer is wrong only when there are hundreds of latents.",
                         "Does a number in your code limit how many latents there may be?"),
        "heads": ("Your answer is wrong only with several heads.",
                  "Which matrices belong to head 1, and how are the heads combined?"),
        "samples": ("Your answer is wrong only for several samples.",
                    "Which axis of each tensor holds the samples?"),
        "tokens": ("Your answer is wrong only when there are several latents.",
                   "How does a score become a weight?"),
        "": ("Your answer is wrong even for a single latent, whose weight is always 1.",
             "Which matrix is the latent multiplied by, and how are the heads combined?"),
    },
    hints=(
        "A score is the product of three factors, x, keys[h] and a latent c. Multiplying keys[h] by c "
        "first makes a full key for every latent; multiplying x by keys[h] first does not.",
        "Multiply x by `keys[h]` first, for each head h. This gives queries as wide as a latent; take their dot "
        "products with the latents themselves. Avoid full values in a similar way: use the attention weights to "
        "mix the latents, and multiply only the mixture by `values`.",
        "In outline: give x and the latents an axis of size 1 for the heads, compute queries (B, H, N, d_latent) "
        "and scores (B, H, N, M), divide the scores by the square root of d_head, apply the softmax, mix the "
        "latents, multiply by `values`, and sum over the heads.",
    ),
)
