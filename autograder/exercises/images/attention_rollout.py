"""Attention rollout: how much each output token draws from each input token, traced through all layers (Abnar
and Zuidema 2020).
"""

import torch

from autograder.schema import DTYPES, GRADIENTS, SIDE_EFFECTS, VALUES, Case, Exercise, edit, samples_apart


def attention_rollout(weights):
    same = torch.eye(weights[0].shape[-1]).to(weights[0])
    rolled = same
    for layer in weights:
        mixed = 0.5 * layer.mean(dim=1) + 0.5 * same
        rolled = mixed @ rolled
    return rolled


def reference(weights):
    steps = [(layer.sum(1) / layer.shape[1]).diagonal_scatter(
        layer.diagonal(dim1=2, dim2=3).mean(1) + 1, dim1=1, dim2=2) / 2 for layer in weights]
    rows = [torch.linalg.multi_dot([*one[::-1], torch.eye(one[0].shape[0], dtype=one[0].dtype)])
            for one in zip(*steps, strict=True)]
    return torch.stack(rows)


def cases(draw):
    batch, heads, tokens, layers = draw.sizes(4, 2, 6)
    deep, several = ("tokens", "layers"), ("tokens", "layers", "heads")
    yield _case(draw, "all sizes different", layers, batch, heads, tokens, needs=several)
    yield _case(draw, "one layer of one head", 1, 2, 1, 4, needs=("tokens",))
    yield _case(draw, "one layer", 1, 2, 3, 4, needs=("tokens", "heads"))
    yield _case(draw, "one head", 3, 2, 1, 5, needs=deep)
    yield _case(draw, "two layers", 2, 1, 2, 3, needs=several)
    yield _case(draw, "three of everything", 3, 3, 3, 3, needs=several)
    yield _case(draw, "one token", 2, 2, 2, 1, needs=("layers", "heads"))
    yield _case(draw, "one of everything", 1, 1, 1, 1)
    yield _case(draw, "twelve layers", 12, 1, 2, 6, gradients=False, needs=several)
    weights = [layer.mT.contiguous().mT for layer in _weights(draw, 3, 2, 2, 4)]
    yield Case("columns in memory order", (weights,), gradients=False, needs=several)
    # Rows of zeros, as of fully masked queries, and rows that sum to two.
    blocked = _weights(draw, 3, 2, 2, 4)
    blocked[0][0, :, 1] = blocked[1][1, 0] = 0
    yield Case("fully masked queries", (blocked,), needs=(*several, "rows"))
    yield Case("rows that do not sum to one", ([2 * layer for layer in _weights(draw, 2, 2, 1, 3)],),
               needs=("tokens", "layers", "rows"))
    first = _weights(draw, 2, 2, 2, 3)
    yield Case("two samples", (first,), gradients=False, needs=several)
    second = [torch.cat((one[:1], other[1:])) for one, other in zip(first, _weights(draw, 2, 2, 2, 3), strict=True)]
    yield Case("another second sample", (second,), gradients=False, needs=several)


def _weights(draw, layers, batch, heads, tokens):
    return [torch.softmax(2 * draw.normal(batch, heads, tokens, tokens), dim=-1) for _ in range(layers)]


def _case(draw, family, layers, batch, heads, tokens, **more):
    return Case(family, (_weights(draw, layers, batch, heads, tokens),), **more)


MIXED, NEXT, LAST = "0.5 * layer.mean(dim=1) + 0.5 * same", "mixed @ rolled", "return rolled"
FIRST = "rolled = same\n"

EXERCISE = Exercise(
    number=5, minutes=8, difficulty=2,
    worked=attention_rollout,
    reference=reference,
    cases=cases,
    standard=("float64", "by name"),
    aspects={VALUES: 4, GRADIENTS: 1, SIDE_EFFECTS: 1, DTYPES: 1},
    shapes={"return": "B N N"},
    invariants=(samples_apart("two samples", "another second sample"),),
    mistakes=(
        edit("ROLL-01 the first layer on the left", {NEXT: "rolled @ mixed"},
             "You multiply the layers in the wrong order.",
             "Which layer's rows should be the rows of the result?"),
        edit("ROLL-03 no residual", {MIXED: "layer.mean(dim=1)"},
             "You leave out the residual connections.",
             "How does a token reach the next layer without attention?"),
        edit("ROLL-05 the identity in full", {MIXED: "layer.mean(dim=1) + same"},
             "Your row sums double with every layer.",
             "What share of a token comes from attention, and what share from the token itself?"),
        edit("ROLL-35 another share", {MIXED: "0.5 * layer.mean(dim=1) + same"},
             "Your two shares do not add up to one.",
             "What share of a token comes from attention, and what share from the token itself?"),
        edit("ROLL-35", {MIXED: "layer.mean(dim=1) + 0.5 * same"}),
        edit("ROLL-07 the largest head", {MIXED: MIXED.replace("mean(", "amax(")},
             "You take the largest of the heads at each entry.",
             "How does the formula combine the heads?"),
        edit("ROLL-07", {MIXED: MIXED.replace("mean(", "amax("),
             NEXT: "(mixed / mixed.sum(-1, keepdim=True)) @ rolled"}),
        edit("ROLL-07", {MIXED: MIXED.replace("mean(", "amin(")},
             "You take the smallest of the heads at each entry.",
             "How does the formula combine the heads?"),
        edit("ROLL-09 a sum over heads", {MIXED: MIXED.replace("mean(", "sum(")},
             "Your rows grow with the number of heads.", "What is the average of two equal heads?"),
        edit("ROLL-37 one head", {MIXED: MIXED.replace("layer.mean(dim=1)", "layer[:, 0]")},
             "You use only one head.", "How does the formula combine the heads?"),
        edit("ROLL-11 rows made to sum to one", {NEXT: "(mixed / mixed.sum(-1, keepdim=True)) @ rolled"},
             "You scale rows so that they sum to one.", "Does the docstring ask for normalised rows?"),
        edit("ROLL-11", {LAST: "return rolled / rolled.sum(-1, keepdim=True)"}),
        edit("ROLL-13 columns made to sum to one", {NEXT: "(mixed / mixed.sum(-2, keepdim=True)) @ rolled"},
             "You scale columns so that they sum to one.", "In attention, do the rows sum to one, or the columns?"),
        edit("ROLL-15 an average over layers", {FIRST: "rolled = 0\n", NEXT: "rolled + mixed / len(weights)"},
             "You average the layers.",
             "What does the second layer attend to: patches, or the outputs of the first layer?"),
        edit("ROLL-17 entry by entry", {FIRST: "rolled = 1\n", NEXT: "mixed * rolled"},
             "You multiply the layers entry by entry.",
             "Which kind of product sums over the tokens in between?"),
        edit("ROLL-19 the last layer alone", {NEXT: "mixed"},
             "Only your last layer counts.", "What have the earlier layers already mixed?"),
        edit("ROLL-39 the first layer alone", {LAST: "return 0.5 * weights[0].mean(dim=1) + 0.5 * same"},
             "Only your first layer counts.", "What do the later layers mix?"),
        edit("ROLL-21 head by head", {MIXED: "0.5 * layer + 0.5 * same", LAST: "return rolled.mean(dim=1)"},
             "You multiply the layers head by head and average at the end.",
             "Does head 0 of the second layer read only what head 0 of the first has written?"),
        edit("ROLL-23 averaged over the samples", {MIXED: MIXED.replace("dim=1", "dim=0")},
             "You average over the samples.", "Which axis holds the heads?"),
        edit("ROLL-25 rows and columns exchanged", {LAST: "return rolled.mT"},
             "Your result is transposed.", "In attention, is a row a query or a key?"),
        edit("ROLL-27 no residual in the first layer", {NEXT: "mixed @ rolled if rolled is not same else "
                                                        "layer.mean(dim=1)"},
             "You leave out the residual connection of the first layer.",
             "Does the formula treat the first layer differently from the others?"),
        edit("no residual for a single layer", {LAST: "return layer.mean(dim=1) if len(weights) == 1 else rolled"},
             "With a single layer, you leave out the residual connection.",
             "Does the formula treat the first layer differently from the others?"),
        edit("the identity is added to the product", {NEXT: "0.5 * layer.mean(dim=1) @ rolled + 0.5 * same"},
             "You add the identity to the product instead of to each layer's weights.",
             "What does the formula multiply by the product so far?"),
        edit("ROLL-29 the class token's row alone", {LAST: "return rolled[:, 0]"},
             "You return only one row.", "What shape should the result have?"),
        edit("ROLL-31 the identity once, at the end", {MIXED: "layer.mean(dim=1)", LAST: "return 0.5 * rolled + "
                                                       "0.5 * same"},
             "You add the identity once, after all layers.",
             "How many residual connections does a model of three layers have?"),
        edit("ROLL-33 heads keep their axis", {MIXED: MIXED.replace("dim=1", "dim=1, keepdim=True")},
             "Your result has an axis for the heads.", "What shape should the result have?"),
        edit("ROLL-41 one layer too few", {"in weights:": "in weights[1:] or weights:"},
             "You leave out the first layer.", "With three layers, how many factors should the product have?"),
        edit("ROLL-41", {"in weights:": "in weights[:-1] or weights:"},
             "You leave out one of the layers.", "With three layers, how many factors should the product have?"),
        edit("ROLL-43 the list is changed", {"layer in weights:": "layer in [weights.pop(0) for _ in "
                                             "range(len(weights))]:"},
             "You change the caller's list.", "Which line changes the argument?"),
    ),
    needs={
        "rows": ("Your answer is wrong only where rows do not sum to one.",
                 "Does the docstring ask for normalised rows?"),
        "heads": ("Your answer is wrong only when there are several heads.",
                  "How does the formula combine the heads?"),
        "layers": ("Your answer is wrong only when there are several layers.",
                   "How do you combine two layers, and in which order?"),
        "tokens": ("Your answer is wrong only when there are several tokens.",
                   "What share of a token comes from attention, and what share from the token itself?"),
        "": ("Your answer is wrong even for one token, one layer and one head.",
             "What is 0.5 * 1 + 0.5 * 1?"),
    },
    hints=(
        "In one layer, half of a token comes from itself, through the residual connection, and half from "
        "attention. This is one (N, N) matrix: half the mean of the heads plus half the identity.",
        "Two layers in a row correspond to a matrix product, which adds up all paths through the tokens in "
        "between. The later layer goes on the left.",
        "In outline: start with the identity; for each layer, average the heads over axis 1, mix the result half "
        "and half with the identity, and multiply this mixture by the product so far, with the mixture on the "
        "left.",
    ),
)
