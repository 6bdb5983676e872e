"""Wrong answers to lesson 04, heads: several heads, and what self- and cross-attention have in common."""

import math

import torch
from torch import nn

from autograder.exercises.mistakes import from_variants, known
from autograder.exercises.mistakes.one_head import (
    MASKS,
    ROLES,
    SCALES,
    linear,
    made_anew,
    more_fingerprints,
    project,
    weigh_and_mix,
    weights_only,
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
        known("HEAD-39", variant(inputs=weights_only, out=_no_output_bias)),
        known("MHA-25", variant(join=lambda x: merge(x[:, :1].expand_as(x)))),
        known("MHA-47", variant(join=lambda x: merge(x.sum(dim=1, keepdim=True).expand_as(x)))),
        known("MHA-03", variant(join=lambda x: x.transpose(1, 2).view(x.shape[0], x.shape[2], -1))),
        known(
            "MSK-35", variant(weigh=lambda s, m: s.softmax(-1), after=lambda output, x: output.nan_to_num())
        ),
        known("SDPA-23", variant(after=lambda output, x: (output, x))),
        known("HEAD-01", variant(inputs=made_anew)),
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
