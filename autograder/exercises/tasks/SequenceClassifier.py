"""A text classifier: every token attends to every other; the mean over the real tokens goes to the head."""

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
    """The classifier applied to the real tokens of one text at a time, so that it needs no mask."""

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
    yield _case(draw, "four of everything", 4, 4, (4, 4, 4, 4, 4, 4, 2), gradients=False, float64=True)
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
             "Your result does not depend on `padding`.", "Which lines of your model use `padding`?"),
        edit("CLS-53 padding is attended to", {CALL: "layer(x)"},
             "Your mean leaves padding out, but the real tokens have already attended to it.",
             "How can the layers know which tokens are padding?"),
        edit("CLS-55 padding is in the mean", {POOLED: "x.mean(dim=1)"},
             "Your layers block padding, but your mean includes it.",
             "Which tokens should the mean include?"),
        edit("CLS-57 the mask the other way round", {CALL: "layer(x, src_key_padding_mask=padding)"},
             "Your tokens attend only to padding.", "In src_key_padding_mask, what does True mean?"),
        edit("CLS-57", {CALL: "layer(x, src_key_padding_mask=padding if padding.any() and not padding.all() "
                        "else None)"}),
        edit("CLS-57", {CALL: "layer(x, src_key_padding_mask=padding if not padding.all() else None)"}),
        edit("CLS-85 a mask of numbers", {CALL: "layer(x, src_key_padding_mask=(~padding).to(x.dtype))"},
             "Your mask is made of numbers, which are added to the scores.",
             "With which dtype does src_key_padding_mask block tokens instead of adding to the scores?"),
        edit("CLS-85", {CALL: "layer(x, src_key_padding_mask=padding.to(x.dtype))"}),
        edit("CLS-59 the first token is read", {POOLED: "x[:, 0]"},
             "Your head reads only the first token.", "Which tokens should the mean include?"),
        edit("CLS-03 the last token is read", {POOLED: "x[:, -1]"},
             "Your head reads only the last token.", "Which tokens should the mean include?"),
        edit("CLS-03", {POOLED: "x[torch.arange(len(x)), padding.sum(1) - 1]"}),
        edit("CLS-61 padding moves the places", {PLACES: "self.position_embedding((padding.cumsum(1) - "
                                                 "1).clamp(min=0))"},
             "You count positions over the real tokens only.",
             "Which position does the first real token have after two tokens of padding?"),
        edit("GPT-01 no positions", {f" + {PLACES}": ""},
             "The order of the tokens changes nothing in your result.",
             "Which line of your model adds the position embeddings?"),
        edit("GPT-45 the word is looked up among the positions", {PLACES: "self.position_embedding(ids % "
                                                                  "self.position_embedding.num_embeddings)"},
             "Your position embeddings depend on the token ids.",
             "Do you look up the position by the token's id or by its index in the text?"),
        edit("CLS-65 causal", {CALL: f"layer(x, src_mask={FUTURE}, src_key_padding_mask=~padding)"},
             "Your tokens see only themselves and what comes before them.", "Does the exercise ask for a causal mask?"),
        edit("CLS-67 a softmax at the end", {LAST: "return torch.softmax(self.head(pooled), dim=-1)"},
             "You return probabilities.", "What does the cross-entropy loss do first with the logits?"),
        edit("CLS-67", {LAST: "return torch.log_softmax(self.head(pooled), dim=-1)"},
             "You return logarithms of probabilities.",
             "What does the cross-entropy loss do first with the logits?"),
        edit("CLS-69 the mean before the norm", {NORMED: "pass", LAST: "return self.head(self.norm(pooled))"},
             "You take the mean first and normalise it afterwards.",
             "Should the last norm be applied to the tokens or to their mean?"),
        edit("CLS-71 the largest instead of the mean", {POOLED: "x.masked_fill(~real, -torch.inf).amax(dim=1)"},
             "Your head reads the largest value of each feature.", "What is the mean of 1 and 3?"),
        edit("CLS-73 a sum instead of a mean", {POOLED: "(x * real).sum(dim=1)"},
             "The numbers that your head reads grow with the length of the text.",
             "What is the mean of two equal vectors?"),
        edit("GPT-17 the embeddings are scaled", {EMBED: f"{EMBED} * {EMBED}.shape[-1] ** 0.5"},
             "You multiply the token embeddings by the square root of their width.",
             "Does this exercise ask for such a factor?"),
        edit("CLS-77 padding zeroed instead of blocked", {CALL: "layer(x * padding[..., None])"},
             "You set padded tokens to zero, but they can still be attended to.",
             "Does setting a token to zero make its attention weight zero?"),
        edit("CLS-83 padding is guessed from the ids", {"torch.ones_like(ids, dtype=torch.bool)": "ids != 0"},
             "You treat tokens with the id 0 as padding.",
             "Which tokens are real when no mask is given?"),
        edit("CLS-83", {"if padding is None:": "if True:", "torch.ones_like(ids, dtype=torch.bool)": "ids != 0"}),
        edit("CLS-79 a mask is needed", {"if padding is None:": "if False:"},
             "Without a mask your model stops with an error.",
             "Which tokens are real when `padding` is None?"),
        edit("CLS-81 a class for every token", {LAST: "return self.head(x)"},
             "Your result has a row for every token.", "How many rows of logits should a text have?"),
    ),
    needs=NEEDS | {
        "padding": ("Your answer is wrong only when there is padding.",
                    "A padded token can have an effect through attention and through the mean; which of "
                    "the two have you blocked?"),
        "tokens": ("Your answer is wrong only when a text has several tokens.",
                   "Which tokens may attend to which, and which of them does the mean include?"),
        "": ("Your answer is wrong even for a text of one token.",
             "Which steps does a single token go through, from its id to the logits?"),
    },
    hints=(
        "Compared with GPT two things change: there is no causal mask, and the whole text gets one row of "
        "logits, from the mean of its tokens.",
        "Padding must be excluded twice. The layers take it as src_key_padding_mask, in which True means "
        "hidden, so invert the mask; in the mean, do what you did in `masked_mean`. Without a mask every "
        "token is real.",
        "In outline: add token and position embeddings, go through the layers with the inverted mask, "
        "apply the norm, average the real tokens to (B, d_model), and apply the head.",
    ),
)
