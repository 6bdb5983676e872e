"""Wrong answers to lesson 04, heads: the three classes."""

import math
from functools import partial

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


def _context_in_place(module, x, context):
    q, k, v = project(module, x, context)
    context *= 0.5
    return q, k, v


def _mask_in_place(scores, mask):
    return scores.masked_fill(mask.logical_not_(), LOWEST)


def _samples_together(module, x, context):
    return tuple(t.reshape(1, -1, t.shape[-1]) for t in project(module, x, context))


def _weights_only(module, x, context):
    parts = (module.q_proj, x), (module.k_proj, context), (module.v_proj, context)
    return tuple(source @ part.weight.T for part, source in parts)


def _made_anew(module, x, context):
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
        known("HEAD-39", variant(inputs=_weights_only)),
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
    known("HEAD-01", head_with(inputs=_made_anew)),
    known("HEAD-21", head_with(after=lambda output, x: output + x)),
    known("HEAD-27", head_with(width=lambda d_model, d_head: d_head)),
    known("HEAD-29", head_with(width=lambda d_model, d_head: d_model)),
    known("HEAD-33", _OneLayer),
    known("HEAD-35", _OutputLayer),
    known("HEAD-35", _WideOutputLayer),
)


def split(x, n_heads):
    """(B, N, d_model) -> (B, H, N, d_head)."""
    return x.unflatten(-1, (n_heads, -1)).transpose(1, 2)


def merge(x):
    """(B, H, N, d_head) -> (B, N, d_model)."""
    return x.transpose(1, 2).flatten(2)


def _must_divide(d_model, n_heads):
    if d_model % n_heads:
        raise ValueError("n_heads must divide d_model")


def multihead_with(
    cross=False, layer=linear, check=_must_divide, inputs=project, cut=split, join=merge, out=None, after=None,
    **steps
):  # fmt: skip
    """A MultiheadSelfAttention, or with `cross` a MultiheadCrossAttention, in which single steps can be made
    wrong."""

    class Multihead(nn.Module):
        def __init__(self, d_model, n_heads):
            super().__init__()
            check(d_model, n_heads)
            self.n_heads = n_heads
            self.q_proj, self.k_proj, self.v_proj, self.out_proj = (layer(d_model, d_model) for _ in range(4))

        def attend(self, x, context, mask):
            q, k, v = (cut(t, self.n_heads) for t in inputs(self, x, context))
            merged = join(weigh_and_mix(x, q, k, v, mask, **steps))
            output = out(self, merged, mask) if out else self.out_proj(merged)
            return after(output, x) if after else output

    class MultiheadSelfAttention(Multihead):
        def forward(self, x, mask=None):
            return self.attend(x, x, mask)

    class MultiheadCrossAttention(Multihead):
        def forward(self, x, context, mask=None):
            return self.attend(x, context, mask)

    return MultiheadCrossAttention if cross else MultiheadSelfAttention


def viewed(x, n_heads):
    """Heads of the right shape, cut across tokens."""
    return x.reshape(x.shape[0], n_heads, x.shape[1], -1)


def in_turn(x, n_heads):
    """Head h gets every n_heads-th feature."""
    return x.unflatten(-1, (-1, n_heads)).permute(0, 3, 1, 2)


def overlapping(x, n_heads):
    """Head h starts at feature h."""
    width = x.shape[-1] // n_heads
    return torch.stack([x[..., h : h + width] for h in range(n_heads)], dim=1)


def _tokens_outside(x, n_heads):
    return x.unflatten(-1, (n_heads, -1))


def in_memory_order(x):
    """Merged head after head."""
    return x.reshape(x.shape[0], x.shape[2], -1)


def back_in_turn(x):
    """Merged feature by feature, the heads taking turns."""
    return x.permute(0, 2, 3, 1).flatten(2)


def _last_head_only(x):
    return merge(x[:, -1:].expand_as(x))


def _mean_of_heads(x):
    return merge(x.mean(dim=1, keepdim=True).expand_as(x))


def _unfolded_the_other_way(x):
    folded = x.reshape(-1, *x.shape[2:])
    return merge(folded.view(x.shape[1], x.shape[0], *x.shape[2:]).transpose(0, 1))


def _slices_of_the_input(module, x, context):
    heads = module.n_heads

    def by_slices(part, source):
        width = part.out_features // heads
        weight = torch.block_diag(
            *(part.weight[h * width : (h + 1) * width, h * width : (h + 1) * width] for h in range(heads))
        )
        return source @ weight.T + part.bias

    return by_slices(module.q_proj, x), by_slices(module.k_proj, context), by_slices(module.v_proj, context)


def _zeros_at_the_end(module, merged, mask):
    output = module.out_proj(merged)
    if mask is None:
        return output
    batch, tokens, _ = output.shape
    some = mask.expand(batch, module.n_heads, tokens, mask.shape[-1]).any(dim=-1).any(dim=1)
    return output * some[..., None]


def _no_output_bias(module, merged, mask):
    return merged @ module.out_proj.weight.T


class _HeadsOfTheirOwn(nn.Module):
    """A list of heads, each with its projections."""

    def __init__(self, d_model, n_heads):
        super().__init__()
        _must_divide(d_model, n_heads)
        width = d_model // n_heads
        self.heads = nn.ModuleList(
            nn.ModuleDict({name: nn.Linear(d_model, width) for name in ("q_proj", "k_proj", "v_proj")})
            for _ in range(n_heads)
        )
        self.out_proj = nn.Linear(d_model, d_model)


class _HeadWide(nn.Module):
    """Projections as wide as one head."""

    def __init__(self, d_model, n_heads):
        super().__init__()
        _must_divide(d_model, n_heads)
        self.q_proj, self.k_proj, self.v_proj = (nn.Linear(d_model, d_model // n_heads) for _ in range(3))
        self.out_proj, self.n_heads = nn.Linear(d_model, d_model), n_heads

    def forward(self, x, context=None, mask=None):
        head = weigh_and_mix(x, *project(self, x, x if context is None else context), mask)
        return self.out_proj(head.repeat(1, 1, self.n_heads))


class _OneStackedLayer(nn.Module):
    def __init__(self, d_model, n_heads):
        super().__init__()
        _must_divide(d_model, n_heads)
        self.qkv_proj, self.out_proj = nn.Linear(d_model, 3 * d_model), nn.Linear(d_model, d_model)


class _NoOutputPart(nn.Module):
    def __init__(self, d_model, n_heads):
        super().__init__()
        _must_divide(d_model, n_heads)
        self.q_proj, self.k_proj, self.v_proj = (nn.Linear(d_model, d_model) for _ in range(3))


def _output_turned(module, merged, mask):
    return merged @ module.out_proj.weight + module.out_proj.bias


def _mean_weights(scores, mask):
    weights = torch.softmax(scores, dim=-1).nan_to_num()
    return weights.mean(dim=1, keepdim=True).expand_as(weights)


def _weights_of_summed_scores(scores, mask):
    return torch.softmax(scores.mean(dim=1, keepdim=True).expand_as(scores), dim=-1).nan_to_num()


HEADS = {
    "MHA-01": {"cut": viewed},
    "MHA-05": {"scale": lambda s, x, q: s / math.sqrt(x.shape[-1])},
    "MHA-07": {"out": lambda module, merged, mask: merged},
    "MHA-11": {"inputs": _slices_of_the_input},
    "MHA-23": {"cut": overlapping},
    "MHA-25": {"join": _last_head_only},
    "MHA-31": {"join": _unfolded_the_other_way},
    "MHA-33": {"join": in_memory_order},
    "MHA-37": {"cut": in_turn, "join": back_in_turn},
    "MHA-39": {"cut": _tokens_outside, "join": lambda x: x.flatten(2)},
    "MHA-47": {"join": _mean_of_heads},
    "MHA-87": {"out": _output_turned},
    "MHA-89": {"weigh": _mean_weights},
    "MHA-35": {"weigh": lambda s, m: torch.softmax(s, dim=1).nan_to_num()},
    "SDPA-07": {"weigh": lambda s, m: torch.softmax(s, dim=-2).nan_to_num()},
    "SDPA-15": {"mix": lambda w, k, v: w @ k},
    "MSK-87": {"out": _zeros_at_the_end},
}


def heads_fingerprints(variant, causal="MSK-85"):
    """Mistakes of both classes that are not a change of one step."""
    return (
        *more_fingerprints(variant, causal),
        known("MHA-01", variant(cut=viewed, join=in_memory_order)),
        known("MHA-37", variant(cut=in_turn)),
        known("HEAD-39", variant(out=_no_output_bias)),
        known("HEAD-39", variant(inputs=_weights_only, out=_no_output_bias)),
        known("MHA-25", variant(join=lambda x: merge(x[:, :1].expand_as(x)))),
        known("MHA-47", variant(join=lambda x: merge(x.sum(dim=1, keepdim=True).expand_as(x)))),
        known("MHA-03", variant(join=lambda x: x.transpose(1, 2).view(x.shape[0], x.shape[2], -1))),
        known(
            "MSK-35", variant(weigh=lambda s, m: s.softmax(-1), after=lambda output, x: output.nan_to_num())
        ),
        known("SDPA-23", variant(after=lambda output, x: (output, x))),
        known("HEAD-01", variant(inputs=_made_anew)),
        known("HEAD-21", variant(after=lambda output, x: output + x)),
        known("MHA-89", variant(weigh=_weights_of_summed_scores)),
        known("MHA-13", _HeadsOfTheirOwn),
        known("MHA-13", _HeadWide),
        known("MHA-07", _NoOutputPart),
        known("HEAD-33", _OneStackedLayer),
    )


MULTIHEAD_SELF_ATTENTION = from_variants(multihead_with, SCALES | ROLES | MASKS | HEADS) + (
    *heads_fingerprints(multihead_with),
    known("MHA-41", multihead_with(check=lambda d_model, n_heads: None)),
)


cross_with = partial(multihead_with, cross=True)


def _roles_swapped(module, x, context):
    return project(module, context, x)


def _context_unused(module, x, context):
    return project(module, x, x)


def _keys_of_x(module, x, context):
    return module.q_proj(x), module.k_proj(x), module.v_proj(context)


def _values_of_x(module, x, context):
    return module.q_proj(x), module.k_proj(context), module.v_proj(x)


def _both(module, x, context):
    return project(module, x, torch.cat((context, x), dim=1))


class _ShapedByX(cross_with()):
    """Every projection is shaped with the length of x."""

    def attend(self, x, context, mask):
        batch, tokens, width = x.shape
        shape = batch, tokens, self.n_heads, width // self.n_heads
        q, k, v = (t.view(shape).transpose(1, 2) for t in project(self, x, context))
        return self.out_proj(merge(weigh_and_mix(x, q, k, v, mask)))


MULTIHEAD_CROSS_ATTENTION = from_variants(
    cross_with,
    SCALES
    | ROLES
    | MASKS
    | HEADS
    | {
        "XATT-01": {"inputs": _roles_swapped},
        "XATT-03": {"inputs": _context_unused},
        "XATT-11": {"inputs": _keys_of_x},
        "XATT-13": {"inputs": _values_of_x},
        "XATT-15": {"inputs": _both},
    },
) + (
    *heads_fingerprints(cross_with, "XATT-05"),
    known("LOOP-19", cross_with(inputs=_context_in_place)),
    known("MHA-29", _ShapedByX),
)
