"""Wrong answers to lesson 04, heads: splitting and merging heads, copying weights."""

import torch
from torch import nn

from autograder.exercises.mistakes import from_variants, known
from autograder.exercises.mistakes.multihead import (
    back_in_turn,
    in_memory_order,
    in_turn,
    merge,
    overlapping,
    split,
    viewed,
)


def split_with(cut=split, after=None):
    """split_heads in which the cut or what comes after it can be made wrong."""

    def answer(x, n_heads):
        heads = cut(x, n_heads)
        return after(heads) if after else heads

    return answer


SPLIT_HEADS = from_variants(
    split_with,
    {
        "MHA-01": {"cut": viewed},
        "MHA-23": {"cut": overlapping},
        "MHA-37": {"cut": in_turn},
        "MHA-57": {"cut": lambda x, n_heads: x.unflatten(-1, (-1, n_heads)).transpose(1, 2)},
        "MHA-49": {"after": lambda heads: heads.transpose(1, 2)},
        "MHA-53": {"after": lambda heads: heads.transpose(2, 3)},
        "SDPA-29": {"after": torch.detach},
        "SDPA-49": {"after": lambda heads: heads.float()},
        "HEAD-13": {"after": lambda heads: None},
    },
) + (
    known("MHA-49", split_with(after=lambda heads: heads.transpose(0, 1))),
    known("MHA-49", split_with(after=lambda heads: heads.flatten(0, 1))),
    known("MHA-55", split_with(after=lambda heads: heads.unbind(dim=1))),
    known("MHA-55", split_with(after=lambda heads: list(heads.unbind(dim=1)))),
    known("MHA-55", lambda x, n_heads: x.chunk(n_heads, dim=-1)),
    known("MHA-57", lambda x, n_heads: x.reshape(*x.shape[:2], -1, n_heads)),
    known("MHA-37", split_with(cut=lambda x, n: x.reshape(len(x), -1, n, x.shape[1]).transpose(1, 2).mT)),
)


def merge_with(join=merge, after=None):
    """merge_heads in which the merging or what comes after it can be made wrong."""

    def answer(x):
        merged = join(x)
        return after(merged) if after else merged

    return answer


MERGE_HEADS = from_variants(
    merge_with,
    {
        "MHA-33": {"join": in_memory_order},
        "MHA-37": {"join": back_in_turn},
        "MHA-47": {"join": lambda x: x.mean(dim=1)},
        "MHA-25": {"join": lambda x: x[:, -1]},
        "MHA-03": {"join": lambda x: x.transpose(1, 2).view(x.shape[0], x.shape[2], -1)},
        "MHA-49": {"after": lambda merged: merged.transpose(0, 1)},
        "MHA-53": {"after": lambda merged: merged.transpose(1, 2)},
        "SDPA-29": {"after": torch.detach},
        "SDPA-49": {"after": lambda merged: merged.float()},
        "HEAD-13": {"after": lambda merged: None},
    },
) + (
    known("MHA-33", lambda x: x.flatten(1, 2)),
    known("MHA-33", lambda x: x.transpose(1, 2)),
    known("MHA-37", lambda x: x.transpose(2, 3).reshape(x.shape[0], x.shape[2], -1)),
    known("MHA-37", lambda x: x.transpose(1, 3).reshape(x.shape[0], x.shape[2], -1)),
    known("MHA-25", lambda x: x[:, 0]),
    known("MHA-25", merge_with(join=lambda x: merge(x[:, -1:].expand_as(x)))),
    known("MHA-47", lambda x: x.sum(dim=1)),
)


ORDER = ("q_proj", "k_proj", "v_proj")


def _write(part, name, value):
    with torch.no_grad():
        getattr(part, name).copy_(value)


def copy_with(order=ORDER, cut=None, turn=None, biases=True, out=True, out_bias=True, write=_write):
    """copy_weights in which single steps can be made wrong."""

    def answer(source, target):
        blocks = cut(source.in_proj_weight) if cut else source.in_proj_weight.chunk(3)
        for name, weight, bias in zip(order, blocks, source.in_proj_bias.chunk(3), strict=True):
            write(getattr(target, name), "weight", turn(weight) if turn else weight)
            if biases:
                write(getattr(target, name), "bias", bias)
        if out:
            write(target.out_proj, "weight", source.out_proj.weight)
            if out_bias:
                write(target.out_proj, "bias", source.out_proj.bias)

    return answer


def _shared_memory(part, name, value):
    getattr(part, name).data = value.data


def _shared_parameter(part, name, value):
    setattr(part, name, nn.Parameter(value.detach()))


def _frozen(part, name, value):
    setattr(part, name, nn.Parameter(value.detach().clone(), requires_grad=False))


def _into_a_copy(part, name, value):
    getattr(part, name).data.clone().copy_(value.data)


def _with_gradients(part, name, value):
    getattr(part, name).copy_(value)


def _other_direction(source, target):
    with torch.no_grad():
        parts = [getattr(target, name) for name in ORDER]
        source.in_proj_weight.copy_(torch.cat([part.weight for part in parts]))
        source.in_proj_bias.copy_(torch.cat([part.bias for part in parts]))
        source.out_proj.load_state_dict(target.out_proj.state_dict())


def _shares_the_output_part(source, target):
    copy_with()(source, target)
    target.out_proj = source.out_proj


def _source_changed(source, target):
    copy_with()(source, target)
    with torch.no_grad():
        source.in_proj_weight.zero_()


def _biases_zero(source, target):
    copy_with()(source, target)
    with torch.no_grad():
        for name in (*ORDER, "out_proj"):
            getattr(target, name).bias.zero_()


def _output_turned(source, target):
    copy_with(turn=lambda weight: weight.T)(source, target)
    _write(target.out_proj, "weight", source.out_proj.weight.T)


def _only_output_turned(source, target):
    copy_with()(source, target)
    _write(target.out_proj, "weight", source.out_proj.weight.T)


def _biases_in_order(*order):
    def answer(source, target):
        copy_with()(source, target)
        for name, bias in zip(order, source.in_proj_bias.chunk(3), strict=True):
            _write(getattr(target, name), "bias", bias)

    return answer


def _keys_twice(source, target):
    copy_with()(source, target)
    target.v_proj.load_state_dict(target.k_proj.state_dict())


def _head_by_head(source, target):
    heads = source.num_heads
    weights = source.in_proj_weight.unflatten(0, (heads, 3, -1)).transpose(0, 1).flatten(1, 2)
    biases = source.in_proj_bias.unflatten(0, (heads, 3, -1)).transpose(0, 1).flatten(1, 2)
    copy_with()(source, target)
    for name, weight, bias in zip(ORDER, weights, biases, strict=True):
        _write(getattr(target, name), "weight", weight)
        _write(getattr(target, name), "bias", bias)


def _queries_scaled(source, target):
    copy_with()(source, target)
    scale = (source.embed_dim / source.num_heads) ** -0.5
    for value in target.q_proj.parameters():
        value.data.mul_(scale)


COPY_WEIGHTS = from_variants(
    copy_with,
    {
        "MHA-15": {"order": ("q_proj", "v_proj", "k_proj")},
        "MHA-17": {"biases": False},
        "MHA-63": {"out": False},
        "MHA-65": {"write": _shared_memory},
        "MHA-67": {"write": _frozen},
        "MHA-69": {"cut": lambda weight: [weight[i::3] for i in range(3)]},
        "MHA-71": {"turn": lambda weight: weight.T},
        "MHA-75": {"write": _into_a_copy},
        "MHA-77": {"cut": lambda weight: [weight[: weight.shape[1]]] * 3},
        "MHA-79": {"write": _with_gradients},
    },
) + (
    known("MHA-15", copy_with(order=("k_proj", "q_proj", "v_proj"))),
    known("MHA-15", copy_with(order=("v_proj", "k_proj", "q_proj"))),
    known("MHA-15", copy_with(order=("k_proj", "v_proj", "q_proj"))),
    known("MHA-15", copy_with(order=("v_proj", "q_proj", "k_proj"))),
    known("MHA-17", copy_with(biases=False, out_bias=False)),
    known("MHA-17", copy_with(out_bias=False)),
    known("MHA-65", copy_with(write=_shared_parameter)),
    known("MHA-65", _shares_the_output_part),
    known("MHA-17", _biases_zero),
    known("MHA-71", _output_turned),
    known("MHA-71", _only_output_turned),
    known("MHA-15", _biases_in_order("v_proj", "k_proj", "q_proj")),
    known("MHA-15", _biases_in_order("q_proj", "v_proj", "k_proj")),
    known("MHA-15", _biases_in_order("k_proj", "v_proj", "q_proj")),
    known("MHA-77", _keys_twice),
    known("MHA-91", _head_by_head),
    known("MHA-93", _queries_scaled),
    known("MHA-73", _other_direction),
    known("MHA-81", _source_changed),
    known("MHA-83", lambda source, target: target.load_state_dict(source.state_dict(), strict=False)),
)
