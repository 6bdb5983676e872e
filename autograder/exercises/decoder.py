"""Lesson 06, decoder layers: attention, a feed-forward network, and what holds them together."""

from dataclasses import replace

import torch
import torch.nn.functional as F
from torch import nn

from autograder.exercises import clues
from autograder.exercises.exercise import (
    DTYPES,
    GRADIENTS,
    SIDE_EFFECTS,
    STABILITY,
    VALUES,
    Case,
    Exercise,
    Module,
    Rules,
)
from autograder.exercises.invariants import past_only, samples_apart
from autograder.exercises.masking import some_mask
from autograder.exercises.mistakes import cross_layer, feed_forward
from autograder.exercises.mistakes import decoder as mistakes

LESSON = "06_decoder_layer"
DOUBLE = torch.float64
BY_HAND = Rules(None, ("PyTorch's own Transformer layer",))


def _feed_forward(x, linear1, linear2):
    return linear2(F.gelu(linear1(x)))


def _feed_forward_cases(values):
    batch, tokens, d_model, d_ff = values.sizes(4)
    yield _two_linears(values, "a batch", (batch, tokens), d_model, d_ff)
    yield _two_linears(values, "one sentence", (tokens,), d_model, d_ff)
    yield _two_linears(values, "all sizes equal", (4, 4), 4, 4)
    yield _two_linears(values, "one of everything", (1, 1), 1, 1)
    yield _curve(values)
    yield _two_linears(values, "large numbers", (2, 5), 4, 12, stretch=20.0, aspect=STABILITY)
    turned = _two_linears(values, "columns in memory order", (2, 3), 4, 6)
    yield replace(turned, args=(values.normal(2, 4, 3).mT, *turned.args[1:]))
    named = _two_linears(values, "linears by name", (2, 3), 4, 6)
    yield Case(named.family, named.args[:1], {"linear1": named.args[1], "linear2": named.args[2]})
    yield _two_linears(values, "float64", (2, 3), 4, 6, dtype=DOUBLE, aspect=DTYPES)


def _curve(values):
    """Two layers that give what they get: the result is the curve between them."""
    same = {"weight": torch.eye(4), "bias": torch.zeros(4)}
    layer = Module("Linear", {"in_features": 4, "out_features": 4}, same)
    return Case(clues.CURVE, (values.normal(2, 5, 4, scale=2.0), layer, layer))


def _two_linears(values, family, lead, d_model, d_ff, stretch=1.0, dtype=torch.float32, **more):
    x = values.normal(*lead, d_model, scale=stretch)
    linears = (_linear(values, d_model, d_ff, dtype), _linear(values, d_ff, d_model, dtype))
    return Case(family, (x.to(dtype), *linears), **more)


def _linear(values, d_in, d_out, dtype):
    weights = {"weight": values.normal(d_out, d_in), "bias": values.normal(d_out)}
    weights = {name: weight.to(dtype) for name, weight in weights.items()}
    return Module("Linear", {"in_features": d_in, "out_features": d_out}, weights)


class _TransformerDecoderLayer(nn.TransformerEncoderLayer):
    def __init__(self, d_model, n_heads, d_ff):
        super().__init__(d_model, n_heads, d_ff, 0.0, "gelu", batch_first=True, norm_first=True)

    def forward(self, x):
        future = torch.full((x.shape[1], x.shape[1]), -torch.inf, dtype=x.dtype).triu(1)
        return super().forward(x, src_mask=future)


class _CrossAttentionDecoderLayer(nn.TransformerDecoderLayer):
    def __init__(self, d_model, n_heads, d_ff):
        super().__init__(d_model, n_heads, d_ff, 0.0, "relu", batch_first=True, norm_first=False)

    def forward(self, x, memory, memory_mask=None):
        future = torch.ones(x.shape[1], x.shape[1], dtype=torch.bool).triu(1)
        blocked = None if memory_mask is None else ~memory_mask
        return super().forward(x, memory, tgt_mask=future, memory_key_padding_mask=blocked)


# What adds to the stream, by the layer that makes its last step.
SUBLAYERS = {
    "self_attn.out_proj": "the self-attention",
    "multihead_attn.out_proj": "the cross-attention",
    "linear2": "the feed-forward network",
}


class _Maker:
    """Makes the cases of one of the two layers; the second attends to a memory as well."""

    def __init__(self, values, cross):
        self.values, self.cross = values, cross
        self.sublayers = [name for part, name in SUBLAYERS.items() if cross or "multihead" not in part]

    def case(self, family, batch, tokens, sizes, memory=0, mask=None, by_name=False, stretch=1.0,
             dtype=torch.float32, named_init=False, **more):  # fmt: skip
        """`sizes` is (d_head, n_heads, d_ff); `memory` counts the tokens of the memory."""
        d_head, heads, d_ff = sizes
        width = d_head * heads
        init = {"d_model": width, "n_heads": heads, "d_ff": d_ff}
        args = [self.values.normal(batch, tokens, width, scale=stretch).to(dtype)]
        if self.cross:
            args.append(self.values.normal(batch, memory or tokens + 1, width).to(dtype))
        kwargs = {"memory_mask": mask} if by_name else {}
        args += [] if mask is None or by_name else [mask]
        weights = {name: weight.to(dtype) for name, weight in self.weights(width, d_ff).items()}
        init = init if named_init else tuple(init.values())
        return Case(family, tuple(args), kwargs, init, weights, whole=True, **more)

    def weights(self, width, d_ff):
        """All parameters, none of them at its start: no norm scale is 1, no bias 0."""
        draw = self.values.normal
        weights = {}
        for name in ("self_attn", "multihead_attn") if self.cross else ("self_attn",):
            weights[f"{name}.in_proj_weight"] = draw(3 * width, width, scale=1.2 / width**0.5)
            weights[f"{name}.in_proj_bias"] = draw(3 * width, scale=0.5)
            weights[f"{name}.out_proj.weight"] = draw(width, width, scale=1 / width**0.5)
            weights[f"{name}.out_proj.bias"] = draw(width, scale=0.5)
        weights |= {"linear1.weight": draw(d_ff, width, scale=1 / width**0.5), "linear1.bias": draw(d_ff)}
        weights |= {"linear2.weight": draw(width, d_ff), "linear2.bias": draw(width)}
        for name in ("norm1", "norm2", "norm3") if self.cross else ("norm1", "norm2"):
            weights[f"{name}.weight"] = 1.2 + draw(width, scale=0.5)
            weights[f"{name}.bias"] = draw(width, scale=0.5)
        return weights

    def adding(self, family, *adding):
        """A layer in which only these sublayers add something: the last step of the others gives zeros."""
        case = self.case(family, 2, 4, (3, 2, 5), gradients=False)
        for part, name in SUBLAYERS.items():
            if name not in adding:
                for weight in (f"{part}.weight", f"{part}.bias"):
                    case.weights.get(weight, torch.zeros(0)).zero_()
        return case

    def replaced(self, case, family, *args):
        """The same weights, other inputs."""
        return Case(family, args, init=case.init, weights=case.weights, whole=True, gradients=False)


def _shared_by_both(make):
    values = make.values
    batch, tokens, d_head, heads = values.sizes(4, 2, 6)
    sizes = (d_head, heads, d_head * heads + 3)
    yield make.case("all sizes different", batch, tokens, sizes, observe=True)
    yield make.case("other weights in the same module", batch + 1, tokens + 2, sizes)
    yield from _pairs(make)
    if not make.cross:
        yield make.case("four of everything", 4, 4, (4, 4, 16), gradients=False)
    yield make.case("one sample of one token", 1, 1, (3, 2, 4), 1)
    yield _small_numbers(make)
    yield make.adding(clues.NOTHING_ADDED)
    yield from (make.adding(f"only {name} adds", name) for name in make.sublayers)
    yield _large_numbers(make)
    turned = make.case("columns in memory order", 2, 4, (3, 2, 5), gradients=False)
    yield replace(turned, args=(values.normal(2, 6, 4).mT, *turned.args[1:]))
    yield make.case("constructor arguments by name", 2, 3, (2, 4, 5), named_init=True, gradients=False)
    yield make.case("float64", 2, 4, (3, 2, 5), dtype=DOUBLE, aspect=DTYPES)


def _large_numbers(make):
    """Large tokens, and large numbers inside the feed-forward network."""
    # subtle: where no norm stands before the attention, scores grow with the square of the tokens; in the
    # thousands, their float32 rounding would show in the weights.
    stretch = 6.0 if make.cross else 50.0
    case = make.case("tokens of large numbers", 2, 4, (3, 2, 5), stretch=stretch, aspect=STABILITY)
    case.weights["linear1.weight"].mul_(40)
    return case


def _small_numbers(make):
    """Tokens so small, also after the attention, that a norm's epsilon shows."""
    case = make.case("tokens of small numbers", 2, 4, (3, 2, 5), stretch=0.002)
    for part in ("self_attn.out_proj.weight", "self_attn.out_proj.bias"):
        case.weights[part].mul_(0.002)
    return case


def _pairs(make):
    """One case, then another last token, and another second sample, with the same weights."""
    case, draw = make.case("two samples of five tokens", 2, 5, (3, 4, 7)), make.values.normal
    yield case
    x, *memory = case.args
    yield make.replaced(case, "another last token", torch.cat((x[:, :-1], draw(2, 1, 12)), dim=1), *memory)
    other = [torch.cat((arg[:1], draw(1, *arg.shape[1:]))) for arg in case.args]
    yield make.replaced(case, "another second sample", *other)


def _decoder_layer_cases(values):
    yield from _shared_by_both(_Maker(values, cross=False))


def _cross_layer_cases(values):
    make = _Maker(values, cross=True)
    yield from _shared_by_both(make)
    yield make.case("one token of memory", 3, 4, (2, 3, 5), 1, gradients=False)
    yield make.case("as many memory tokens as tokens", 3, 5, (2, 2, 7), 5, gradients=False)
    yield make.case("memory with padding", 3, 4, (3, 2, 5), 6, some_mask(values, (3, 6)), by_name=True)
    yield make.case(
        "a memory mask by position", 2, 4, (3, 2, 5), 5, some_mask(values, (2, 5)), gradients=False
    )
    square = torch.tensor([[1, 1, 0, 0], [0, 1, 1, 1], [1, 0, 0, 1], [1, 1, 1, 0]]).bool()
    sizes = (4, 4, (4, 4, 5), 4, square)
    yield make.case("a memory mask, four of everything", *sizes, by_name=True, gradients=False)


LAYER_ASPECTS = {VALUES: 5, STABILITY: 1, GRADIENTS: 1, SIDE_EFFECTS: 1, DTYPES: 1}
INVARIANTS = (
    samples_apart("two samples of five tokens", "another second sample"),
    past_only("two samples of five tokens", "another last token"),
)

EXERCISES = (
    Exercise(
        id="decoder.feed_forward",
        lesson=LESSON,
        minutes=4,
        difficulty=1,
        reference=_feed_forward,
        cases=_feed_forward_cases,
        aspects={VALUES: 2, STABILITY: 1, GRADIENTS: 1, SIDE_EFFECTS: 1, DTYPES: 1},
        shapes={"x": "... N d_model", "return": "... N d_model"},
        mistakes=feed_forward.FEED_FORWARD,
        variant=feed_forward.feed_forward_with,
        clues=clues.feed_forward("a batch"),
        hints=(
            "Three steps, each on one token alone: wider, bent, back to the width of the model. Which of them "
            "do the two layers do?",
            "Two linear layers in a row can do no more than one. Where must the bend stand so that they can?",
            "The shape of it: (..., d_model) to (..., d_ff), the exact GELU, and back to (..., d_model).",
        ),
    ),
    Exercise(
        id="decoder.TransformerDecoderLayer",
        lesson=LESSON,
        minutes=25,
        difficulty=3,
        reference=_TransformerDecoderLayer,
        cases=_decoder_layer_cases,
        procedure="class",
        aspects=LAYER_ASPECTS,
        shapes={"x": "B N d_model", "return": "B N d_model"},
        rules=BY_HAND,
        mistakes=mistakes.DECODER_LAYER,
        variant=mistakes.decoder_layer_with,
        invariants=INVARIANTS,
        clues=clues.sublayers("all sizes different", "the self-attention", "the feed-forward network"),
        hints=(
            "Draw the stream of a token from x to the output as a straight line. Two things are added to it: "
            "where does each read, and where is its norm?",
            "The attention asks which pairs are blocked: in nn.MultiheadAttention's mask, what does True mean, "
            "and is its batch first unless you say so?",
            "The shape of it: norm, attention, plus; norm, feed-forward network, plus. Each plus adds to the "
            "stream that has not been through the norm.",
        ),
    ),
    Exercise(
        id="decoder.CrossAttentionDecoderLayer",
        lesson=LESSON,
        minutes=25,
        difficulty=3,
        reference=_CrossAttentionDecoderLayer,
        cases=_cross_layer_cases,
        procedure="class",
        aspects=LAYER_ASPECTS,
        shapes={
            "x": "B N d_model",
            "memory": "B M d_model",
            "memory_mask": "B M",
            "return": "B N d_model",
        },
        rules=BY_HAND,
        mistakes=cross_layer.CROSS_LAYER,
        variant=cross_layer.cross_layer_with,
        invariants=INVARIANTS,
        clues=(
            clues.MEMORY_MASK,
            *clues.sublayers("all sizes different", *SUBLAYERS.values()),
        ),
        hints=(
            "Three sublayers: to itself, to the memory, for itself. Each is followed by a plus and a norm. Which "
            "norm belongs to which?",
            "In the second sublayer, who asks and who is asked? How many rows must come out?",
            "True in memory_mask means that a token may be seen. Which argument of nn.MultiheadAttention takes "
            "a mask of keys, (B, M), and what does True mean there?",
            "The shape of it: three times the same, x plus what a sublayer gives, and the norm of that sum; "
            "(B, N, d_model) from the beginning to the end.",
        ),
    ),
)
