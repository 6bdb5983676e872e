"""The logits of each layer, computed as if it were the last layer (nostalgebraist 2020)."""

import torch
from torch import nn  # noqa: F401 (the mistakes use it)

from autograder.schema import DTYPES, GRADIENTS, SIDE_EFFECTS, VALUES, Case, Exercise, Module, edit


def logit_lens(hiddens, norm, unembedding):
    rows = []
    for hidden in hiddens:
        normed = norm(hidden)
        rows.append(normed @ unembedding.T)
    return torch.stack(rows)


def reference(hiddens, norm, unembedding):
    return torch.einsum("lbnd,vd->lbnv", norm(torch.stack(tuple(hiddens))), unembedding)


# A norm that computes none of PyTorch's formulas, so that the answer has to call the module.
OWN = """
class Squash(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(width))

    def forward(self, x):
        return torch.tanh(x * self.weight) + 0.1 * x
"""


def cases(draw):
    layers, batch, tokens, width = draw.sizes(4, 2, 6)
    several = ("layers", "norm")
    yield _case(draw, "all sizes different", layers, batch, tokens, width, 7, needs=several)
    yield _case(draw, "one layer", 1, 2, 3, 4, 5, needs=("norm",))
    yield _case(draw, "as many words as features", 3, 2, 4, 5, 5, needs=several)
    yield _case(draw, "one token, one sample", 3, 1, 1, 4, 6, needs=several)
    yield _case(draw, "four of everything", 4, 4, 4, 4, 4, needs=several, float64=True)
    yield _case(draw, "one feature", 2, 2, 3, 1, 4, kind="Squash", needs=several)
    yield _case(draw, "a LayerNorm", 3, 2, 3, 5, 4, kind="LayerNorm", needs=several)
    yield _case(draw, "a norm of its own", 3, 2, 3, 5, 4, kind="Squash", needs=(*several, "own norm"))
    yield _case(draw, "another epsilon", 2, 2, 3, 5, 4, eps=0.5, needs=(*several, "own norm"))
    yield _case(draw, "a LayerNorm with another epsilon", 2, 2, 3, 5, 4, kind="LayerNorm", eps=0.5,
                needs=(*several, "own norm"))
    yield _case(draw, "large numbers", 2, 2, 3, 5, 4, scale=100.0, needs=several)


def _case(draw, family, layers, batch, tokens, width, words, kind="RMSNorm", scale=1.0, eps=1e-5, **more):
    hiddens = [draw.normal(batch, tokens, width, scale=scale) for _ in range(layers)]
    weights = {"weight": 1 + draw.normal(width, scale=0.5)}
    if kind == "LayerNorm":
        weights["bias"] = draw.normal(width)
    init = {"width": width} if kind == "Squash" else {"normalized_shape": width, "eps": eps}
    norm = Module(kind, init, weights, OWN if kind == "Squash" else "")
    return Case(family, (hiddens, norm, draw.normal(words, width)), **more)


NORMED, SAID, LAST = "norm(hidden)", "normed @ unembedding.T", "torch.stack(rows)"

EXERCISE = Exercise(
    number=5, minutes=8, difficulty=1,
    worked=logit_lens,
    reference=reference,
    cases=cases,
    standard=("float64", "by name"),
    aspects={VALUES: 3, GRADIENTS: 1, SIDE_EFFECTS: 1, DTYPES: 1},
    shapes={"unembedding": "V D", "return": "L B N V"},
    mistakes=(
        edit("LENS-01 no norm", {NORMED: "hidden"},
             "You do not normalise the hidden states.",
             "What does the model apply between its last layer and the logits?"),
        edit("LENS-03 only the last layer is normed", {NORMED: "norm(hidden) if hidden is hiddens[-1] else hidden"},
             "You normalise only the hidden state of the last layer.",
             "Which hidden states should be normalised?"),
        edit("LENS-35 the last layer is not normed", {NORMED: "hidden if hidden is hiddens[-1] else norm(hidden)"},
             "You do not normalise the hidden state of the last layer.",
             "Has the last hidden state already been through the norm?"),
        edit("LENS-05 normed afterwards", {NORMED: "hidden", SAID: "nn.functional.layer_norm(normed @ unembedding.T, "
             "[len(unembedding)])"},
             "You normalise the logits.", "Does the norm come before or after the product?"),
        edit("LENS-07 a norm without its weights",
             {NORMED: "hidden * (hidden.square().mean(-1, keepdim=True) + 1e-5).rsqrt()"},
             "Your norm does not use the module's weights.",
             "Which module holds the trained weights of the norm?"),
        edit("LENS-07", {NORMED: "nn.functional.layer_norm(hidden, hidden.shape[-1:])"}),
        edit("LENS-09 a norm by its weight alone",
             {NORMED: "nn.functional.rms_norm(hidden, hidden.shape[-1:], norm.weight, 1e-5)"},
             "You compute the norm yourself instead of calling the module.",
             "Could the module compute something other than your formula?"),
        edit("LENS-11 normed twice", {NORMED: "norm(norm(hidden))"},
             "You normalise the hidden states twice.",
             "How many times does the model apply its norm before the logits?"),
        edit("LENS-13 the table is not transposed",
             {SAID: "normed @ (unembedding if len(unembedding) == unembedding.shape[1] else unembedding.T)"},
             "When there are as many words as features, your unembedding is not transposed.",
             "Which axis of the unembedding holds the features?"),
        edit("LENS-15 probabilities", {SAID: "(normed @ unembedding.T).softmax(-1)"},
             "You return probabilities.", "Does the docstring ask for logits or for probabilities?"),
        edit("LENS-15", {SAID: "(normed @ unembedding.T).log_softmax(-1)"},
             "You return log-probabilities.", "Does the docstring ask for logits or for log-probabilities?"),
        edit("LENS-17 layers beside samples", {LAST: "torch.stack(rows, dim=1)"},
             "The layers are not the first axis of your result.",
             "In which order does the docstring list the axes?"),
        edit("LENS-17", {LAST: "torch.stack(rows, dim=2)"}),
        edit("LENS-19 layers put behind each other", {LAST: "torch.cat(rows)"},
             "The layers in your result have no axis of their own.",
             "How many axes should the result have?"),
        edit("LENS-21 a list", {LAST: "rows"},
             "You return a list.", "What type should the result have?"),
        edit("LENS-23 the first layer is left out", {"in hiddens:": "in hiddens[1:] or hiddens:"},
             "You leave out the first layer.", "How many hidden states are in the list?"),
        edit("LENS-25 layers add up", {NORMED: "norm(sum(hiddens[: len(rows) + 1]))"},
             "You add up the hidden states of all layers so far.",
             "Does the hidden state after layer 3 already contain what layers 1 and 2 added?"),
        edit("LENS-27 no gradient for the norm's weights", {NORMED: "norm(hidden).detach()"},
             "The values are right, but no gradient reaches the hidden states.",
             "Which step detaches the hidden states?"),
        edit("LENS-29 the last layer everywhere", {NORMED: "norm(hiddens[-1])"},
             "All your layers give the same logits.", "Which hidden state do the first layer's logits come from?"),
        edit("LENS-31 centred logits", {SAID: "(normed @ unembedding.T) - (normed @ unembedding.T).mean(-1, "
             "keepdim=True)"},
             "You subtract the mean from the logits.", "Which two steps does the docstring name?"),
        edit("LENS-33 the table is normed, too", {SAID: "normed @ norm(unembedding).T"},
             "You apply the norm to the unembedding as well.",
             "What does the model normalise: the hidden states or the unembedding?"),
    ),
    needs={
        "own norm": ("Your answer is wrong only with an unusual norm.",
                     "Do you call the norm that you are given?"),
        "layers": ("Your answer is wrong only when there are several layers.",
                   "Which axis of the result belongs to the layers?"),
        "norm": ("Your answer is wrong even for one layer.",
                 "Which two steps lead from a hidden state to its logits?"),
        "": ("Your answer is wrong even in the smallest case.",
             "Which two steps lead from a hidden state to its logits?"),
    },
    hints=(
        "Think of how the model gets from its last hidden state to the logits: the final norm, then a "
        "product with the unembedding. Do the same with every hidden state.",
        "Call `norm` on each hidden state. The features are the second axis of the unembedding (V, D), so transpose it "
        "for the product.",
        "In outline: for each of the L hidden states, apply the norm and multiply by the transposed "
        "unembedding, then stack the results along a new first axis.",
    ),
)
