"""Wrong answers to lesson 04, each by the one family of cases that catches it: `ALONE` by exercise id and family.

`NAMED`: other wrong answers, each by a family without which the message could not say what is wrong.
"""

import torch
from torch import nn

from answers.steps import ALONE as ALONE_UNDER_MASKS
from answers.steps import ALONE_IN_HEADS, Attention, sample_by_sample

PARTS = ("q_proj", "k_proj", "v_proj", "out_proj")


class _Head(Attention, nn.Module):
    def __init__(self, d_model, d_head=None):
        super().__init__()
        self.q_proj, self.k_proj, self.v_proj = (nn.Linear(d_model, d_head or d_model) for _ in range(3))

    def split(self, x):
        return x

    def merge(self, x):
        return x

    def forward(self, x, mask=None):
        return self.result(x, x, mask)


class _Parts(Attention, nn.Module):
    def __init__(self, d_model, n_heads):
        super().__init__()
        if d_model % n_heads:
            raise ValueError("n_heads must divide d_model")
        self.n_heads = n_heads
        self.q_proj, self.k_proj, self.v_proj, self.out_proj = (nn.Linear(d_model, d_model) for _ in PARTS)


class _Self(_Parts):
    def forward(self, x, mask=None):
        return self.result(x, x, mask)


class _Cross(_Parts):
    def forward(self, x, context, mask=None):
        return self.result(x, context, mask)


BASES = {
    "heads.SelfAttentionHead": _Head,
    "heads.MultiheadSelfAttention": _Self,
    "heads.MultiheadCrossAttention": _Cross,
}


def _renamed(exercise_id):
    if exercise_id == "heads.SelfAttentionHead":

        class Renamed(_Head):
            def forward(self, x, allowed=None):
                return self.result(x, x, allowed)

    elif exercise_id == "heads.MultiheadSelfAttention":

        class Renamed(_Self):
            def forward(self, x, allowed=None):
                return self.result(x, x, allowed)

    else:

        class Renamed(_Cross):
            def forward(self, x, context, allowed=None):
                return self.result(x, context, allowed)

    return Renamed


def _changed(exercise_id, **methods):
    return type("Answer", (BASES[exercise_id],), methods)


def _all_changed(exercise_id, changes) -> dict:
    answers = {family: _changed(exercise_id, **methods) for family, methods in changes.items()}
    return answers | {"a mask for each sample": _renamed(exercise_id)}


def _with_heads(exercise_id) -> dict:
    by_name = {"constructor arguments by name": lambda width, heads: BASES[exercise_id](width, heads)}
    return _all_changed(exercise_id, ALONE_IN_HEADS) | by_name


class _NoneIsZero(_Head):
    def __init__(self, d_model, d_head=0):
        super().__init__(d_model, d_model if d_head == 0 else len(range(d_head)))


class _WidthNeeded(_Head):
    def __init__(self, d_model, d_head):
        super().__init__(d_model, d_head)


class _Unchecked(_Self):
    def __init__(self, d_model, n_heads):
        super().__init__(d_model, 1)
        self.n_heads = n_heads


def _split(x, n_heads):
    return x.reshape(*x.shape[:2], n_heads, -1).transpose(1, 2)


def _split_in_rows(x, n_heads):
    return x.view(-1, n_heads, x.shape[2] // n_heads).unflatten(0, x.shape[:2]).transpose(1, 2)


def _split_where_not_split(x, n_heads):
    # "Heads stand first already": where there are as many tokens.
    cut = x.reshape(*x.shape[:2], n_heads, -1)
    return cut if cut.shape[1] == n_heads > 1 else cut.transpose(1, 2)


def _merge(x):
    return x.transpose(1, 2).flatten(2)


def _merge_where_heads_stand_first(x):
    return x.flatten(2) if x.shape[1] == x.shape[2] else _merge(x)


@torch.no_grad()
def _copy(source, target, parts=PARTS):
    weights = dict(zip(PARTS, (*source.in_proj_weight.chunk(3), source.out_proj.weight), strict=True))
    biases = dict(zip(PARTS, (*source.in_proj_bias.chunk(3), source.out_proj.bias), strict=True))
    for name, part in zip(PARTS, parts, strict=True):
        getattr(target, part).weight.copy_(weights[name])
        getattr(target, part).bias.copy_(biases[name])


def _copy_in_the_order_of_the_parts(source, target):
    _copy(source, target, [name for name, _ in target.named_children()])


def _copy_of_numbers(source, target):
    _copy(source, target)
    for part in PARTS:
        layer = getattr(target, part)
        layer.weight = nn.Parameter(torch.tensor(layer.weight.tolist()))


def _copy_that_empties_the_source(source, target):
    _copy(source, target)
    nn.init.zeros_(source.out_proj.bias)


def _copy_that_shares_the_output(source, target):
    _copy(source, target)
    target.out_proj = source.out_proj


def _copy_that_freezes(source, target):
    _copy(source, target)
    target.requires_grad_(False)


ALONE = {
    "heads.SelfAttentionHead": _all_changed("heads.SelfAttentionHead", ALONE_UNDER_MASKS)
    | {
        "no d_head": _WidthNeeded,
        "d_head is None": _NoneIsZero,
        "one mask for all samples": _changed("heads.SelfAttentionHead", mask=sample_by_sample),
    },
    "heads.MultiheadSelfAttention": _with_heads("heads.MultiheadSelfAttention")
    | {"ten features, three heads": _Unchecked},
    "heads.MultiheadCrossAttention": _with_heads("heads.MultiheadCrossAttention"),
    "heads.split_heads": {
        "all sizes different": lambda x, heads: _split(x, heads),
        "four of everything": _split_where_not_split,
        "one of everything": lambda x, n_heads: _split(x, n_heads).squeeze(),
        "columns in memory order": _split_in_rows,
        "float64": lambda x, n_heads: _split(x, n_heads).float(),
    },
    "heads.merge_heads": {
        "all sizes different": lambda x: x.transpose(1, 2).view(len(x), x.shape[2], -1),
        "four of everything": _merge_where_heads_stand_first,
        "one of everything": lambda x: _merge(x).squeeze(),
        "float64": lambda x: _merge(x).float(),
    },
    "heads.copy_weights": {
        "parts in another order": _copy_in_the_order_of_the_parts,
        "float64": _copy_of_numbers,
        "the source afterwards": _copy_that_empties_the_source,
        "later changes": _copy_that_shares_the_output,
        "learning after the copy": _copy_that_freezes,
    },
}
NAMED = {
    "heads.SelfAttentionHead": {"values that show the weights": "head_tanh"},
    "heads.MultiheadSelfAttention": {"values that show the weights": "learned_scale"},
    "heads.MultiheadCrossAttention": {"values that show the weights": "learned_scale"},
}
