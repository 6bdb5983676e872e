"""The query and key projections of each head multiplied into one matrix, which projects a query's token to
the width of the latents (DeepSeek-AI 2024).
"""

import torch

from autograder.schema import DTYPES, GRADIENTS, SIDE_EFFECTS, VALUES, Case, Exercise, edit


def absorb_keys(q_weight, k_up_weight, n_heads):
    q_heads = q_weight.unflatten(0, (n_heads, -1))
    k_heads = k_up_weight.unflatten(0, (n_heads, -1))
    absorbed = q_heads.transpose(1, 2) @ k_heads
    return absorbed


def reference(q_weight, k_up_weight, n_heads):
    q_heads, k_heads = (weight.reshape(n_heads, -1, weight.shape[-1]) for weight in (q_weight, k_up_weight))
    return torch.einsum("hki,hkj->hij", q_heads, k_heads)


def cases(draw):
    n_heads, d_head, latent = draw.sizes(3, 2, 7)
    several = {"needs": ("heads", "wide")}
    yield _case(draw, "all sizes different", n_heads, d_head, latent, observe=True, **several)
    yield _case(draw, "one head", 1, 5, 3, needs=("wide",))
    yield _case(draw, "heads of one feature", 4, 1, 3, needs=("heads",))
    yield _case(draw, "as many heads as features in one", 3, 3, 4, **several)
    yield _case(draw, "latents as wide as the model", 2, 3, 6, **several)
    yield _case(draw, "latents of one number", 2, 4, 1, **several)
    yield _case(draw, "four of everything", 4, 4, 4, **several, float64=True)
    yield _case(draw, "one of everything", 1, 1, 1)


def _case(draw, family, n_heads, d_head, latent, **more):
    d_model = n_heads * d_head
    return Case(family, (draw.normal(d_model, d_model), draw.normal(d_model, latent), n_heads), **more)


Q, K = "q_weight.unflatten(0, (n_heads, -1))", "k_up_weight.unflatten(0, (n_heads, -1))"
PRODUCT, LAST = "q_heads.transpose(1, 2) @ k_heads", "return absorbed"
OF_COLUMNS = "q_weight.unflatten(1, (n_heads, -1)).transpose(0, 1)"
IN_TURN = ".unflatten(0, (-1, n_heads)).transpose(0, 1)"

EXERCISE = Exercise(
    number=2, minutes=10, difficulty=3,
    worked=absorb_keys,
    reference=reference,
    cases=cases,
    standard=("float64", "transposed", "by name"),
    aspects={VALUES: 4, GRADIENTS: 1, SIDE_EFFECTS: 1, DTYPES: 1},
    shapes={"q_weight": "d_model d_model", "k_up_weight": "d_model d_latent", "return": "H d_model d_latent"},
    mistakes=(
        edit("MLA-31 the query's weight is not transposed", {Q: OF_COLUMNS, PRODUCT: "q_heads @ k_heads"},
             "You split q_weight into heads along its columns.",
             "nn.Linear stores its weight as (out, in); along which axis are the heads?"),
        edit("MLA-33 rows dealt out in turn", {Q: f"q_weight{IN_TURN}", K: f"k_up_weight{IN_TURN}"},
             "Your head h takes every H-th row of the weights.",
             "Does head 0 own the first d_head rows, or every H-th row?"),
        edit("MLA-35 the two weights are cut in different orders", {K: f"k_up_weight{IN_TURN}"},
             "You split the two weights into heads in different ways.",
             "Which rows of k_up_weight belong to head h?"),
        edit("MLA-35", {Q: f"q_weight{IN_TURN}"}),
        edit("MLA-37 heads and features change places", {Q: "q_weight.unflatten(0, (-1, n_heads))",
             K: "k_up_weight.unflatten(0, (-1, n_heads))"},
             "You have as many matrices as a head has features.",
             "In `unflatten`, which of the two new sizes should be n_heads?"),
        edit("MLA-39 scaled", {PRODUCT: f"{PRODUCT} / q_heads.shape[1] ** 0.5"},
             "You divide your matrices by the square root of a width.",
             "Is the score in the docstring already scaled?"),
        edit("MLA-39", {PRODUCT: f"{PRODUCT} / len(q_weight) ** 0.5"}),
        edit("MLA-41 the other way round", {LAST: "return absorbed.transpose(1, 2)"},
             "Your matrices map latents to tokens.", "In x @ A[h] @ c, which axis of A[h] meets x?"),
        edit("MLA-41", {PRODUCT: "k_heads.transpose(1, 2) @ q_heads"}),
        edit("MLA-43 one matrix for all heads", {LAST: "return absorbed.sum(dim=0)"},
             "You return a single matrix for all heads.", "Should each head have its own matrix?"),
        edit("MLA-43", {LAST: "return q_weight.T @ k_up_weight"}),
        edit("MLA-45 the same matrix for every head", {PRODUCT: "(q_weight.T @ k_up_weight).expand(n_heads, -1, -1)"},
             "All your matrices are the same.", "Which rows of the weights belong to a single head?"),
        edit("MLA-45", {PRODUCT: "(q_weight.T @ k_up_weight / n_heads).expand(n_heads, -1, -1)"}),
        edit("MLA-47 heads as an axis in the middle", {LAST: "return absorbed.transpose(0, 1)"},
             "The heads are the second axis of your result.",
             "Which axis comes first in the shape that the docstring gives?"),
        edit("MLA-49 heads side by side", {LAST: "return absorbed.flatten(0, 1)"},
             ("In your result, the heads share an axis with the rows of their "
              "matrices."), "How many axes should the result have?"),
        edit("MLA-51 every query meets every key head", {PRODUCT: "torch.einsum('aki,bkj->aij', q_heads, k_heads)"},
             "In your product, the queries of one head meet the keys of all heads.",
             "Which keys belong to the queries of head 2?"),
        edit("MLA-53 one weight is cut off", {PRODUCT: "q_heads.transpose(1, 2) @ k_heads.detach()"},
             "The values are right, but no gradient reaches k_up_weight.",
             "Which step detaches that weight?"),
    ),
    needs={
        "heads": ("Your answer is wrong only with several heads.",
                  "Which rows of each weight belong to the second head?"),
        "wide": ("Your answer is wrong only when heads are wider than one feature.",
                 "Which axis does the product of the two weights sum over?"),
        "": ("Your answer is wrong even for one head of one feature.",
             "When each weight is a single number, what should the result be?"),
    },
    hints=(
        "Write the score of one head with both weights in it: (x W_q^T) (c W_k^T)^T = x W_q^T W_k c^T. "
        "The two matrices in the middle can be multiplied in advance.",
        "nn.Linear stores a weight as (out, in), and the heads lie along `out`. Use `unflatten` on that "
        "axis to get (H, d_head, ...) for both weights; then each head has its own two matrices.",
        "In outline: split the first axis of both weights into heads and features, swap the last two axes of the "
        "query weight, and multiply the result by the key weight, so that the product sums over the d_head "
        "features.",
    ),
)
