"""A text classified: every token looks at every other, and the mean over the real ones is read."""

import torch
import torch.nn.functional as F  # noqa: F401 (the mistakes use it)
from torch import nn

from autograder.exercises._shared.gpt_layers import NEEDS, STACK, layer_weights, linear, needs_of
from autograder.schema import (
    DTYPES, GRADIENTS, SIDE_EFFECTS, VALUES, Case, Exercise, edit, fitting, samples_apart, standard_cases,
)


class SequenceClassifier(nn.Module):
    def __init__(self, vocab_size, n_classes, max_len, d_model, n_heads, d_ff, n_layers):
        super().__init__()
        self.token_embedding = nn.Embedding(vocab_size, d_model)
        self.position_embedding = nn.Embedding(max_len, d_model)
        self.layers = nn.ModuleList([
            nn.TransformerEncoderLayer(
                d_model, n_heads, d_ff, dropout=0.0, activation="gelu", batch_first=True, norm_first=True
            )
            for _ in range(n_layers)
        ])
        self.norm = nn.LayerNorm(d_model)
        self.head = nn.Linear(d_model, n_classes)

    def forward(self, ids, padding=None):
        if padding is None:
            padding = torch.ones_like(ids, dtype=torch.bool)
        places = torch.arange(ids.shape[1], device=ids.device)
        x = self.token_embedding(ids) + self.position_embedding(places)
        for layer in self.layers:
            x = layer(x, src_key_padding_mask=~padding)
        x = self.norm(x)
        real = padding[..., None]
        pooled = (x * real).sum(dim=1) / real.sum(dim=1)
        return self.head(pooled)


class Reference(SequenceClassifier):
    """Takes the real tokens of each text out, and needs no mask."""

    def forward(self, ids, padding=None):
        padding = ids >= 0 if padding is None else padding
        return torch.stack([self._one(tokens, real.nonzero()[:, 0]) for tokens, real in zip(ids, padding, strict=True)])

    def _one(self, ids, places):
        x = (self.token_embedding.weight[ids[places]] + self.position_embedding.weight[places])[None]
        for layer in self.layers:
            x = layer(x)
        return self.head(self.norm(x[0])).mean(dim=0)


PADDING = "padding"


def cases(draw):
    batch, tokens, classes = draw.sizes(3, 3, 6)
    yield _case(draw, "all sizes different", batch, tokens, (9, classes, 8, 12, 3, 7, 2), observe=True)
    yield _case(draw, "other weights in the same module", batch + 1, tokens + 1, (9, classes, 8, 12, 3, 7, 2),
                gradients=False)
    yield _case(draw, "one layer of one head", 2, 4, (6, 3, 4, 4, 1, 5, 1))
    yield _case(draw, "texts of one token", 3, 1, (6, 3, 4, 6, 1, 5, 1))
    yield _case(draw, "one of everything", 1, 1, (1, 1, 1, 1, 1, 1, 1), gradients=False)
    yield _case(draw, "four of everything", 4, 4, (4, 4, 4, 4, 4, 4, 2), gradients=False)
    yield _case(draw, "a long text", 1, 300, (6, 3, 320, 4, 2, 3, 1), gradients=False, repeats=False)
    named = dict(zip(("vocab_size", "n_classes", "max_len", "d_model", "n_heads", "d_ff", "n_layers"),
                     (6, 3, 7, 8, 2, 9, 2), strict=True))
    yield _case(draw, "constructor arguments by name", 2, 3, (6, 3, 7, 8, 2, 9, 2), init=named, gradients=False)
    same = draw.integers(0, 5, 1, 5).repeat(2, 1)
    moved = _case(draw, "the same words in another order", 2, 5, (6, 3, 5, 8, 2, 9, 2), gradients=False)
    same[1] = same[1].roll(1)
    yield Case(moved.family, (same,), init=moved.init, weights=moved.weights, gradients=False, needs=moved.needs)
    sizes = (8, 3, 9, 8, 2, 6, 2)
    at_end = torch.arange(7) < torch.tensor([[4], [7], [1]])
    yield _case(draw, "padding at the end", 3, 7, sizes, padding=at_end)
    yield _case(draw, "padding at the beginning", 3, 7, sizes, padding=at_end.flip(1), gradients=False)
    some = draw.integers(0, 1, 2, 6) > 0
    some[:, 2], some[:, 4], some[0, 1] = True, False, True
    first = _case(draw, "padding anywhere", 2, 6, sizes, padding=some)
    yield first
    yield from standard_cases([first], ("float64",))
    ids = torch.cat((first.args[0][:1], (first.args[0][1:] + 3) % 8))
    same = {"init": first.init, "weights": first.weights, "gradients": False, "aspect": PADDING, "needs": first.needs}
    yield Case("another second text", (ids, torch.cat((some[:1], ~some[1:]))), **same)
    yield _case(draw, "padding of one layer", 3, 5, (8, 3, 9, 6, 1, 6, 1),
                padding=torch.arange(5) < torch.tensor([[2], [5], [3]]))
    yield Case("padding by name", first.args[:1], {"padding": some}, **same)
    yield _case(draw, "a mask that hides nothing", 2, 5, sizes, padding=torch.ones(2, 5, dtype=torch.bool),
                gradients=False)


def _case(draw, family, batch, tokens, sizes, padding=None, **more):
    vocab, classes, max_len, width, heads, d_ff, layers = sizes
    weights = {"token_embedding.weight": draw.normal(vocab, width),
               "position_embedding.weight": draw.normal(max_len, width)}
    weights |= layer_weights(draw, layers, width, d_ff) | linear(draw, "head", classes, width)
    args = (draw.integers(0, vocab - 1, batch, tokens),) if padding is None else (
        draw.integers(0, vocab - 1, batch, tokens), padding)
    needs = needs_of(layers=layers, heads=heads, tokens=tokens) + (() if padding is None else ("padding",))
    aspect = VALUES if padding is None else PADDING
    return Case(family, args, **{"init": sizes, "weights": weights, "needs": needs, "aspect": aspect} | more)


CALL, EMBED = "layer(x, src_key_padding_mask=~padding)", "self.token_embedding(ids)"
PLACES = "self.position_embedding(places)"
POOLED, NORMED, LAST = "(x * real).sum(dim=1) / real.sum(dim=1)", "x = self.norm(x)", "return self.head(pooled)"
FUTURE = "torch.ones(x.shape[1], x.shape[1], dtype=torch.bool).triu(1)"

EXERCISE = Exercise(
    number=2, minutes=20, difficulty=3,
    worked=SequenceClassifier,
    reference=Reference,
    cases=cases,
    standard=("float64", "by name"),
    aspects={VALUES: 4, PADDING: 2, GRADIENTS: 1, SIDE_EFFECTS: 1, DTYPES: 1},
    shapes={"ids": "B N", "padding": "B N", "return": "B n_classes"},
    invariants=(samples_apart("padding anywhere", "another second text"),),
    mistakes=(
        *fitting(SequenceClassifier, STACK),
        edit("CLS-51 padding is forgotten", {"if padding is None:": "if True:"},
             "A mask changes nothing in yours.", "Where in the model could a padded token still be heard?"),
        edit("CLS-53 padding is attended to", {CALL: "layer(x)"},
             "Your mean leaves padding out, but the real tokens have already looked at it.",
             "By which way does a padded token reach a real one?"),
        edit("CLS-55 padding is in the mean", {POOLED: "x.mean(dim=1)"},
             "Nobody attends to padding in yours, but it is part of the mean.",
             "Which tokens should the head hear of?"),
        edit("CLS-57 the mask the other way round", {CALL: "layer(x, src_key_padding_mask=padding)"},
             "Your tokens attend to padding and nothing else.", "In src_key_padding_mask, what does True mean?"),
        edit("CLS-57", {CALL: "layer(x, src_key_padding_mask=padding if padding.any() and not padding.all() "
                        "else None)"}),
        edit("CLS-57", {CALL: "layer(x, src_key_padding_mask=padding if not padding.all() else None)"}),
        edit("CLS-85 a mask of numbers", {CALL: "layer(x, src_key_padding_mask=(~padding).to(x.dtype))"},
             "Your mask is made of numbers, which are added to the scores.",
             "What does src_key_padding_mask do with True and False, and what with 1 and 0?"),
        edit("CLS-85", {CALL: "layer(x, src_key_padding_mask=padding.to(x.dtype))"}),
        edit("CLS-59 the first token is read", {POOLED: "x[:, 0]"},
             "Your head sees only the first token.", "Which tokens does the mean run over?"),
        edit("CLS-03 the last token is read", {POOLED: "x[:, -1]"},
             "Your head sees only the last token.", "Which tokens does the mean run over?"),
        edit("CLS-03", {POOLED: "x[torch.arange(len(x)), padding.sum(1) - 1]"}),
        edit("CLS-61 padding moves the places", {PLACES: "self.position_embedding((padding.cumsum(1) - "
                                                 "1).clamp(min=0))"},
             "Your places count real tokens only.", "Which position has the first real token after two of padding?"),
        edit("GPT-01 no positions", {f" + {PLACES}": ""},
             "The order of the words changes nothing in yours.", "Does word order matter to your model?"),
        edit("GPT-45 the word is looked up among the positions", {PLACES: "self.position_embedding(ids % "
                                                                  "self.position_embedding.num_embeddings)"},
             "What you look up as a place follows from the word.", "What do you look up: the word, or its place?"),
        edit("CLS-65 causal", {CALL: f"layer(x, src_mask={FUTURE}, src_key_padding_mask=~padding)"},
             "Your tokens see only what comes before them.",
             "Must the first word of a finished text wait for the last?"),
        edit("CLS-67 a softmax at the end", {LAST: "return torch.softmax(self.head(pooled), dim=-1)"},
             "Your results are probabilities.", "What does the loss do to logits first?"),
        edit("CLS-67", {LAST: "return torch.log_softmax(self.head(pooled), dim=-1)"},
             "Your results are logarithms of probabilities.", "What does the loss do to logits first?"),
        edit("CLS-69 the mean before the norm", {NORMED: "pass", LAST: "return self.head(self.norm(pooled))"},
             "You take the mean first and norm it.", "What does the last norm read: tokens, or their mean?"),
        edit("CLS-71 the largest instead of the mean", {POOLED: "x.masked_fill(~real, -torch.inf).amax(dim=1)"},
             "Your head hears of the largest number of each feature.", "What is the mean of 1 and 3?"),
        edit("CLS-73 a sum instead of a mean", {POOLED: "(x * real).sum(dim=1)"},
             "What your head hears grows with the length of the text.", "What is the mean of two equal vectors?"),
        edit("GPT-17 the embeddings are scaled", {EMBED: f"{EMBED} * {EMBED}.shape[-1] ** 0.5"},
             "Your word vectors are too long by the root of their width.", "Does this exercise ask for a factor?"),
        edit("CLS-77 padding zeroed instead of blocked", {CALL: "layer(x * padding[..., None])"},
             "Your padded tokens are zeros, which can still be attended to.", "Which weight does a key of zeros get?"),
        edit("CLS-83 padding is guessed from the ids", {"torch.ones_like(ids, dtype=torch.bool)": "ids != 0"},
             "Without a mask, tokens whose id is 0 are padding in yours.",
             "If no mask is given, which tokens are real?"),
        edit("CLS-83", {"if padding is None:": "if True:", "torch.ones_like(ids, dtype=torch.bool)": "ids != 0"}),
        edit("CLS-79 a mask is needed", {"if padding is None:": "if False:"},
             "Without a mask your model stops.", "What is padding when none is given?"),
        edit("CLS-81 a class for every token", {LAST: "return self.head(x)"},
             "Your result has a row for every token.", "How many answers has a text?"),
    ),
    needs=NEEDS | {
        "padding": ("Without padding you are right; with it you are not.",
                    "Padded tokens can be heard in two ways: by attention, and in the mean. Which of them is open?"),
        "tokens": ("With one token you are right; with several you are not.",
                   "What do tokens tell each other, and what does the head hear of them?"),
        "": ("For a text of one token your numbers are already wrong.",
             "Which steps does a single token go through from its id to the classes?"),
    },
    hints=(
        "Two things are new compared with GPT: no token is kept from looking ahead, and one answer is read for the "
        "whole text.",
        "Padding must be silenced in two places. In src_key_padding_mask True means blocked; in the mean you "
        "have done it before.",
        "The shape of it: ids (B, N) to vectors plus places, through the layers with the mask, the norm, the "
        "mean over real "
        "tokens (B, d_model), the head.",
    ),
)
