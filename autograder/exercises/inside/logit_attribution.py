"""The contribution of each part of a hidden state to a logit, or to the difference between two logits (Elhage
et al. 2021).
"""

import torch

from autograder.schema import DTYPES, SIDE_EFFECTS, VALUES, Case, Exercise, Module, edit


def logit_attribution(parts, hidden, norm, direction):
    mean_square = hidden.square().mean(dim=-1, keepdim=True)
    scale = torch.rsqrt(mean_square + norm.eps)
    read = direction * norm.weight * scale
    return (parts * read[:, None]).sum(dim=-1)


def reference(parts, hidden, norm, direction):
    width = hidden.shape[-1]
    lengths = torch.linalg.vector_norm(hidden, dim=-1)
    root = (lengths**2 / width + norm.eps) ** 0.5
    return torch.einsum("bkd,d,bd->bk", parts, norm.weight, direction) / root[:, None]


def cases(draw):
    batch, count, width = draw.sizes(3, 2, 6)
    texts = ("texts",)
    yield _case(draw, "all sizes different", batch, count, width, needs=texts)
    yield _case(draw, "one text", 1, 4, 5)
    yield _case(draw, "one part", 3, 1, 4, needs=texts)
    yield _case(draw, "as many parts as texts", 3, 3, 5, needs=texts)
    yield _case(draw, "as many parts as features", 2, 4, 4, needs=texts)
    yield _case(draw, "four of everything", 4, 4, 4, needs=texts, float64=True)
    yield _case(draw, "some of the parts", 2, 3, 6, rest=1.0, needs=("rest", "texts"))
    yield _case(draw, "some of the parts of one text", 1, 2, 5, rest=2.0, needs=("rest",))
    yield _case(draw, "small states", 2, 3, 5, scale=0.1, eps=0.05, needs=("epsilon", "texts"))
    yield _case(draw, "a large epsilon", 1, 3, 5, eps=0.5, needs=("epsilon",))
    yield _case(draw, "large states", 2, 3, 5, scale=100.0, needs=texts)
    yield _case(draw, "a state of zeros", 1, 2, 4, scale=0.0, eps=0.01, needs=("epsilon",))
    yield _case(draw, "one feature", 2, 3, 1, needs=texts)
    yield _case(draw, "one of everything", 1, 1, 1)


def _case(draw, family, batch, count, width, scale=1.0, eps=1e-5, rest=0.0, **more):
    """Return a case whose parts add up to the hidden state, apart from a random remainder with standard
    deviation `rest`. If `scale` is 0, the sum of the parts is left out of the hidden state.
    """
    parts = draw.normal(batch, count, width, scale=scale or 1.0)
    hidden = parts.sum(dim=1) * (scale > 0) + rest * draw.normal(batch, width)
    init = {"normalized_shape": width, "eps": eps}
    norm = Module("RMSNorm", init, {"weight": 1 + draw.normal(width, scale=0.5)})
    return Case(family, (parts, hidden, norm, draw.normal(batch, width)), gradients=False, **more)


SQUARE, SCALE = "hidden.square().mean(dim=-1, keepdim=True)", "torch.rsqrt(mean_square + norm.eps)"
READ, OUT = "direction * norm.weight * scale", "(parts * read[:, None]).sum(dim=-1)"
EACH = "(parts * torch.rsqrt(parts.square().mean(dim=-1, keepdim=True) + norm.eps) * norm.weight"

EXERCISE = Exercise(
    number=8, minutes=12, difficulty=3,
    worked=logit_attribution,
    reference=reference,
    cases=cases,
    standard=("float64", "by name"),
    aspects={VALUES: 4, SIDE_EFFECTS: 1, DTYPES: 1},
    shapes={"parts": "B K D", "hidden": "B D", "direction": "B D", "return": "B K"},
    mistakes=(
        edit("no norm", {READ: "direction + 0 * scale"},
             "You leave out the norm.", "What does the model apply to the hidden state before the unembedding?"),
        edit("each part has its own scale", {OUT: f"{EACH} * direction[:, None]).sum(dim=-1)"},
             "You normalise each part by itself, so your shares do not add up to the logit.",
             "Which vector does the model normalise: each part, or the whole hidden state?"),
        edit("each part has its own scale", {OUT: "(norm(parts) * direction[:, None]).sum(dim=-1)"}),
        edit("the scale of a single part", {SQUARE: "parts[:, -1].square().mean(dim=-1, keepdim=True)"},
             "You take the scale from one of the parts.", "Which vector does the model normalise?"),
        edit("the scale of a single part", {SQUARE: "parts[:, 0].square().mean(dim=-1, keepdim=True)"}),
        edit("the norm without its weight", {READ: "direction * scale"},
             "You leave out the weight of the norm.", "Which two steps does an RMSNorm have?"),
        edit("the scale of the parts' sum", {SQUARE: "parts.sum(dim=1).square().mean(dim=-1, keepdim=True)"},
             "You take the scale from the sum of the parts that you are given.",
             "Are all parts of the hidden state among `parts`?"),
        edit("no root", {SCALE: "1 / (mean_square + norm.eps)"},
             "You divide by the mean square.", "Which step of the RMSNorm comes after the mean?"),
        edit("a length instead of a root mean square", {SQUARE: "hidden.square().sum(dim=-1, keepdim=True)"},
             "You divide by the length of the hidden state.",
             "Does an RMSNorm take the sum of the squares, or their mean?"),
        edit("multiplied by the root", {SCALE: "torch.sqrt(mean_square + norm.eps)"},
             "You multiply by the root mean square.", "Does a norm make large states larger, or smaller?"),
        edit("a standard deviation", {SQUARE: "hidden.var(dim=-1, keepdim=True, unbiased=False)"},
             "Your scale comes from the variance, which subtracts the mean.", "Is this a LayerNorm or an RMSNorm?"),
        edit("no epsilon", {"mean_square + norm.eps": "mean_square.clamp(min=1e-30)"},
             "Your norm has no epsilon.", "What does the norm add to the mean square?"),
        edit("a usual epsilon", {"norm.eps": "1e-5"},
             "You use an epsilon of your own.", "Which attribute of the norm holds its epsilon?"),
        edit("the epsilon outside the root", {SCALE: "1 / (mean_square.sqrt() + norm.eps)"},
             "You add the epsilon after the root.", "Does the epsilon belong inside the root, or outside?"),
        edit("one scale for all texts", {SQUARE: "hidden.square().mean()"},
             "You use the same scale for all texts.", "Over which axis should the norm take its mean?"),
        edit("the direction of the first text", {"= direction *": "= direction[:1] *"},
             "You use the first text's direction for all texts.",
             "Which direction belongs to the second text?"),
        edit("the state of the first text", {SQUARE: "hidden[:1].square().mean(dim=-1, keepdim=True)"},
             "You use the first text's hidden state for all texts.",
             "Which hidden state belongs to the second text?"),
        edit("the direction is normalised", {READ: "norm(direction) * scale"},
             "You normalise the direction.", "What does the model normalise: the hidden state or the unembedding?"),
        edit("the direction of length one", {"= direction *": "= torch.nn.functional.normalize(direction, dim=-1) *"},
             "You divide by the length of the direction.", "What should all shares together add up to?"),
        edit("shares of one", {OUT: f"({OUT} / {OUT}.sum(dim=-1, keepdim=True))"},
             "Your shares add up to 1.", "Does the docstring ask for a fraction, or for a part of the logit?"),
        edit("absolute values", {OUT: f"{OUT}.abs()"},
             "You take absolute values.", "Can a part also lower a word's logit?"),
        edit("the sum over the parts", {OUT: f"{OUT}.sum(dim=-1)"},
             "You add up all parts.", "What shape does the docstring give?"),
        edit("features stay", {OUT: "parts * read[:, None]"},
             "You do not sum over the features.", "What shape does the docstring give?"),
        edit("every direction for every text", {OUT: "torch.einsum('bkd,cd->bkc', parts, read)"},
             "You measure each text along the directions of all texts.",
             "Which direction belongs to the second text?"),
        edit("parts before texts", {OUT: f"{OUT}.T"},
             "The parts come before the texts in your result.",
             "In which order does the docstring list the axes?"),
        edit("running sums", {OUT: f"{OUT}.cumsum(dim=-1)"},
             "Each of your shares includes the parts before it.",
             "How much does the second part add without the first?"),
    ),
    needs={
        "rest": ("Your answer is wrong only when the parts do not add up to the hidden state.",
                 "Which vector does the norm's scale come from?"),
        "epsilon": ("Your answer is wrong only when the norm's epsilon matters.",
                    "What does the norm add to the mean square, and before which step?"),
        "texts": ("Your answer is wrong only with several texts.",
                  "Which hidden state and which direction belong to the second text?"),
        "": ("Your answer is wrong even for one part of one text.",
             "Which steps lead from the hidden state to the logit?"),
    },
    hints=(
        "Start from the dot product of `direction` and norm(hidden). Here norm(hidden) is `hidden` times one number "
        "per text and, feature by feature, times the weight. With that number fixed, the dot product is a sum over the "
        "parts.",
        "RMSNorm multiplies `hidden` by one number per text: take the mean square of `hidden`, add `norm.eps`, and "
        "take one over the square root (`torch.rsqrt`). All parts of a text share this number.",
        "In outline: for each text, compute from `hidden` the number by which the norm multiplies it; multiply the "
        "direction by that number and by the norm's weight; multiply each part by the result, and sum over the "
        "features.",
    ),
)
