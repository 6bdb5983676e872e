"""Wrong answers to lesson 04, heads: one head, and what the classes of several heads have in common with it."""

import math

import torch
from torch import nn

from autograder.exercises.mistakes import from_variants, known
from autograder.exercises.mistakes.masking import (
    LOWEST,
    MASK_USE,
    added,
    additive,
    causal_anyway,
    cut_afterwards,
    filled,
    only_causal,
    zero_empty,
)


def project(module, x, context):
    """Queries of x, keys and values of the context."""
    return module.q_proj(x), module.k_proj(context), module.v_proj(context)


def weigh_and_mix(x, q, k, v, mask, scale=None, see=None, block=None, weigh=None, mix=None):
    """Attention in which single steps can be made wrong."""
    scores = q @ k.transpose(-2, -1)
    scores = scale(scores, x, q) if scale else scores / math.sqrt(q.shape[-1])
    mask = see(mask, scores) if see else mask
    if mask is not None:
        scores = block(scores, mask) if block else scores.masked_fill(~mask, LOWEST)
    weights = weigh(scores, mask) if weigh else torch.softmax(scores, dim=-1).nan_to_num()
    return mix(weights, k, v) if mix else weights @ v


def linear(d_in, d_out):
    """A projection as it should be."""
    return nn.Linear(d_in, d_out)


def head_with(layer=linear, width=None, inputs=project, after=None, **steps):
    """A SelfAttentionHead in which single steps can be made wrong."""

    class SelfAttentionHead(nn.Module):
        def __init__(self, d_model, d_head=None):
            super().__init__()
            d_head = width(d_model, d_head) if width else d_head or d_model
            self.q_proj, self.k_proj, self.v_proj = (layer(d_model, d_head) for _ in range(3))

        def forward(self, x, mask=None):
            output = weigh_and_mix(x, *inputs(self, x, x), mask, **steps)
            return after(output, x) if after else output

    return SelfAttentionHead


def _without_bias(d_in, d_out):
    return nn.Linear(d_in, d_out, bias=False)


def _rectified(module, x, context):
    return tuple(torch.relu(projected) for projected in project(module, x, context))


def _swapped(module, x, context):
    q, k, v = project(module, x, context)
    return k, q, v


def _values_as_keys(module, x, context):
    q, k, v = project(module, x, context)
    return q, v, k


def _cut_off(module, x, context):
    q, k, v = project(module, x, context)
    return q.detach(), k.detach(), v


def _queries_as_keys(module, x, context):
    return module.q_proj(x), module.q_proj(context), module.v_proj(context)


def _input_in_place(module, x, context):
    q, k, v = project(module, x, context)
    x *= 0.5
    return q, k, v


def _mask_in_place(scores, mask):
    return scores.masked_fill(mask.logical_not_(), LOWEST)


def _samples_together(module, x, context):
    return tuple(t.reshape(1, -1, t.shape[-1]) for t in project(module, x, context))


def weights_only(module, x, context):
    """Projections without their biases."""
    parts = (module.q_proj, x), (module.k_proj, context), (module.v_proj, context)
    return tuple(source @ part.weight.T for part, source in parts)


def made_anew(module, x, context):
    """Projections that are made in every call."""
    d_in, d_out = x.shape[-1], module.q_proj.out_features
    q, k, v = (nn.Linear(d_in, d_out, dtype=x.dtype) for _ in range(3))
    return q(x), k(context), v(context)


class _OutputLayer(head_with()):
    def __init__(self, d_model, d_head=None):
        super().__init__(d_model, d_head)
        self.out_proj = nn.Linear(d_head or d_model, d_head or d_model)

    def forward(self, x, mask=None):
        return self.out_proj(super().forward(x, mask))


class _WideOutputLayer(_OutputLayer):
    def __init__(self, d_model, d_head=None):
        super().__init__(d_model, d_head)
        self.out_proj = nn.Linear(d_head or d_model, d_model)


class _OneLayer(nn.Module):
    def __init__(self, d_model, d_head=None):
        super().__init__()
        self.qkv_proj = nn.Linear(d_model, 3 * (d_head or d_model))

    def forward(self, x, mask=None):
        return weigh_and_mix(x, *self.qkv_proj(x).chunk(3, dim=-1), mask)


# Hiding the future unasked has another name in cross-attention: see `more_fingerprints`.
MASKS = {name: changes for name, changes in MASK_USE.items() if name != "MSK-85"}
SCALES = {
    "SDPA-01": {"scale": lambda s, x, q: s},
    "SDPA-03": {"scale": lambda s, x, q: s * math.sqrt(q.shape[-1])},
    "SDPA-13": {"scale": lambda s, x, q: s / 8},
    "SDPA-17": {"scale": lambda s, x, q: s / int(math.sqrt(q.shape[-1]))},
    "SDPA-35": {"scale": lambda s, x, q: s / q.shape[-1]},
    "SDPA-37": {"scale": lambda s, x, q: s / math.sqrt(s.shape[-1])},
}
ROLES = {
    "SDPA-41": {"inputs": _swapped},
    "HEAD-09": {"inputs": _queries_as_keys},
    "HEAD-11": {"inputs": _rectified},
    "HEAD-15": {"inputs": _cut_off},
    "HEAD-37": {"inputs": _values_as_keys},
    "LOOP-19": {"inputs": _input_in_place},
}


def one_layer_for(*names):
    """A way to make parts that are all one layer."""

    def shared(cls):
        class Shared(cls):
            def __init__(self, *args, **kwargs):
                super().__init__(*args, **kwargs)
                for name in names[1:]:
                    setattr(self, name, getattr(self, names[0]))

        return Shared

    return shared


def more_fingerprints(variant, causal="MSK-85"):
    """Mistakes of all three classes; `causal` names the one that hides the future unasked."""
    return (
        known(
            "MSK-01", variant(block=lambda s, m: s.masked_fill(m, LOWEST), weigh=lambda s, m: s.softmax(-1))
        ),
        known("MSK-07", variant(block=filled(-1e4), weigh=zero_empty)),
        known("MSK-07", variant(block=filled(-1e4), weigh=cut_afterwards)),
        known("MSK-07", variant(block=filled(-10.0))),
        known("MSK-07", variant(block=added(-1e4))),
        known("MSK-33", variant(block=added(-1e9))),
        known("MSK-35", variant(block=lambda s, m: s + additive(m))),
        known("MSK-83", variant(see=lambda mask, scores: ~~mask)),
        known("MSK-83", variant(see=lambda mask, scores: mask.bool())),
        known(causal, variant(see=only_causal)),
        known(causal, variant(see=causal_anyway)),
        known("MSK-19", variant(block=_mask_in_place)),
        known("HEAD-25", variant(layer=_without_bias)),
        known("HEAD-09", one_layer_for("q_proj", "k_proj")(variant())),
        known("HEAD-09", one_layer_for("k_proj", "v_proj")(variant())),
        known("HEAD-09", one_layer_for("q_proj", "k_proj", "v_proj")(variant())),
        known("HEAD-39", variant(inputs=weights_only)),
        known("HEAD-13", variant(after=lambda output, x: None)),
        known("SDPA-49", variant(after=lambda output, x: output.float())),
        known("SDPA-29", variant(after=lambda output, x: output.detach())),
    )


SELF_ATTENTION_HEAD = from_variants(
    head_with,
    SCALES
    | ROLES
    | MASKS
    | {
        "HEAD-03": {"scale": lambda s, x, q: s / math.sqrt(x.shape[-1])},
        "SDPA-07": {"weigh": lambda s, m: torch.softmax(s, dim=-2).nan_to_num()},
        "SDPA-15": {"mix": lambda w, k, v: w @ k},
        "SDPA-23": {"mix": lambda w, k, v: w},
    },
) + (
    *more_fingerprints(head_with),
    known("MSK-35", head_with(weigh=lambda s, m: s.softmax(-1), after=lambda output, x: output.nan_to_num())),
    known("SDPA-23", head_with(mix=lambda w, k, v: (w @ v, w))),
    known("SDPA-21", head_with(inputs=_samples_together, after=lambda o, x: o.reshape(*x.shape[:2], -1))),
    known("HEAD-01", head_with(inputs=made_anew)),
    known("HEAD-21", head_with(after=lambda output, x: output + x)),
    known("HEAD-27", head_with(width=lambda d_model, d_head: d_head)),
    known("HEAD-29", head_with(width=lambda d_model, d_head: d_model)),
    known("HEAD-33", _OneLayer),
    known("HEAD-35", _OutputLayer),
    known("HEAD-35", _WideOutputLayer),
)
