"""What each layer would say if it were the last (nostalgebraist 2020)."""

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


# A norm of its own, which no formula of PyTorch's gives: the module must be called.
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
             "Your hidden states meet the vocabulary without the norm.",
             "What does the model's last layer pass before its logits are made?"),
        edit("LENS-03 only the last layer is normed", {NORMED: "norm(hidden) if hidden is hiddens[-1] else hidden"},
             "Only your last layer is normed.", "What does a layer pass if it pretends to be the last?"),
        edit("LENS-35 the last layer is not normed", {NORMED: "hidden if hidden is hiddens[-1] else norm(hidden)"},
             "Your last layer is not normed.", "Who would have normed the last hidden state before you?"),
        edit("LENS-05 normed afterwards", {NORMED: "hidden", SAID: "nn.functional.layer_norm(normed @ unembedding.T, "
             "[len(unembedding)])"},
             "Your norm comes after the vocabulary.", "Over which axis does the norm run: features, or words?"),
        edit("LENS-07 a norm without its weights",
             {NORMED: "hidden * (hidden.square().mean(-1, keepdim=True) + 1e-5).rsqrt()"},
             "Your norm has no weights.", "Which module holds the weights that the model was trained with?"),
        edit("LENS-07", {NORMED: "nn.functional.layer_norm(hidden, hidden.shape[-1:])"}),
        edit("LENS-09 a norm by its weight alone",
             {NORMED: "nn.functional.rms_norm(hidden, hidden.shape[-1:], norm.weight, 1e-5)"},
             "You compute a norm by hand where the module should be called.",
             "What else than its weight may this module use?"),
        edit("LENS-11 normed twice", {NORMED: "norm(norm(hidden))"},
             "Your hidden states are normed twice.", "How often does the model norm before its logits?"),
        edit("LENS-13 the table is not transposed",
             {SAID: "normed @ (unembedding if len(unembedding) == unembedding.shape[1] else unembedding.T)"},
             "If there are as many words as features, your table stands the wrong way round.",
             "Row v of the table belongs to word v: which axis of it meets the features?"),
        edit("LENS-15 probabilities", {SAID: "(normed @ unembedding.T).softmax(-1)"},
             "Your result holds probabilities.", "What is asked for: logits, or what a softmax makes of them?"),
        edit("LENS-15", {SAID: "(normed @ unembedding.T).log_softmax(-1)"}),
        edit("LENS-17 layers beside samples", {LAST: "torch.stack(rows, dim=1)"},
             "Your layers are the second axis.", "In which order does the exercise name the axes?"),
        edit("LENS-17", {LAST: "torch.stack(rows, dim=2)"}),
        edit("LENS-19 layers put behind each other", {LAST: "torch.cat(rows)"},
             "Your layers have no axis of their own.", "How many axes should the result have?"),
        edit("LENS-21 a list", {LAST: "rows"},
             "You return a list.", "What kind of thing did the signature promise?"),
        edit("LENS-23 the first layer is left out", {"in hiddens:": "in hiddens[1:] or hiddens:"},
             "Your first layer is missing.", "How many hidden states are there, and how many rows of yours?"),
        edit("LENS-25 layers add up", {NORMED: "norm(sum(hiddens[: len(rows) + 1]))"},
             "Each of your rows holds all layers before it.",
             "The hidden state after layer 3: does it hold what layers 1 and 2 have added, already?"),
        edit("LENS-27 no gradient for the norm's weights", {NORMED: "norm(hidden).detach()"},
             "The values are right, but no gradient reaches the hidden states.",
             "Which step cuts them off from the result?"),
        edit("LENS-29 the last layer everywhere", {NORMED: "norm(hiddens[-1])"},
             "All your layers say the same.", "Which hidden state does row l come from?"),
        edit("LENS-31 centred logits", {SAID: "(normed @ unembedding.T) - (normed @ unembedding.T).mean(-1, "
             "keepdim=True)"},
             "The logits of each of your tokens have the mean 0.", "Which two steps does the model itself make?"),
        edit("LENS-33 the table is normed, too", {SAID: "normed @ norm(unembedding).T"},
             "Your table goes through the norm as well.", "What is normed in the model: hidden states, or the table?"),
    ),
    combinable=("LENS-01", "LENS-11", "LENS-13", "LENS-23"),
    needs={
        "own norm": ("With the usual norm you are right; with another module you are not.",
                     "Who computes the norm: the module that was given, or a formula of yours?"),
        "layers": ("One layer is right in yours; several are not.", "Which axis do the layers become?"),
        "norm": ("Even one layer comes out wrong.", "Which two steps lead from a hidden state to logits?"),
        "": ("Even the smallest case comes out wrong.", "Which two steps lead from a hidden state to logits?"),
    },
    hints=(
        "How does the model itself get from its last hidden state to logits? Do that with every hidden state.",
        "Two steps: the norm as it is, and a product with the table. Which axis of the table are the features?",
        "The shape of it: L times (B, N, D), normed, times (D, V), and the L results stacked in front.",
    ),
)
