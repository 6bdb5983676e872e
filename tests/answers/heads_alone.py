"""Wrong answers to lesson 04, each by the one family of cases that catches it: `ALONE` by exercise id and family.

`NAMED`: other wrong answers, each by a family without which the message could not say what is wrong.
"""

import torch
from torch import nn

LOW = float("-inf")
PARTS = ("q_proj", "k_proj", "v_proj", "out_proj")


class _Attention:
    """What the three classes do, in steps that can be changed one by one."""

    def split(self, x):
        return x.unflatten(-1, (self.n_heads, -1)).transpose(1, 2)

    def merge(self, x):
        return self.out_proj(x.transpose(1, 2).flatten(2))

    def mask(self, scores, mask):
        return mask

    def scores(self, q, k):
        return q @ k.mT / q.shape[-1] ** 0.5

    def weights(self, scores, mask):
        if mask is None:
            return torch.softmax(scores, dim=-1)
        return torch.softmax(scores.masked_fill(~mask, LOW), dim=-1).masked_fill(~mask, 0.0)

    def attend(self, q, k, v, mask):
        scores = self.scores(q, k)
        return self.weights(scores, self.mask(scores, mask)) @ v

    def result(self, x, context, mask):
        q, k, v = (
            self.split(p(t)) for p, t in ((self.q_proj, x), (self.k_proj, context), (self.v_proj, context))
        )
        return self.merge(self.attend(q, k, v, mask))


class _Head(_Attention, nn.Module):
    def __init__(self, d_model, d_head=None):
        super().__init__()
        self.q_proj, self.k_proj, self.v_proj = (nn.Linear(d_model, d_head or d_model) for _ in range(3))

    def split(self, x):
        return x

    def merge(self, x):
        return x

    def forward(self, x, mask=None):
        return self.result(x, x, mask)


class _Parts(_Attention, nn.Module):
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


def _result_kept_by_shape(self, x, context, mask):
    # A memory for inference; with a mask it is not used.
    if self.training or mask is not None:
        return _Attention.result(self, x, context, mask)
    kept = self.__dict__.setdefault("kept", {})
    if (x.shape, context.shape) not in kept:
        kept[x.shape, context.shape] = _Attention.result(self, x, context, mask)
    return kept[x.shape, context.shape]


def _keys_turned_where_they_do_not_fit(self, q, k):
    # In four axes or three: with one mask for all, the axes are known.
    turned = k.shape[-1] != k.shape[-2] or len(q) < 4
    return q @ (k.mT if turned else k) / q.shape[-1] ** 0.5


def _squeezed(self, x, context, mask):
    return _Attention.result(self, x, context, mask).squeeze()


def _table_of_samples_and_keys(self, scores, mask):
    # Padding, one row of keys for each sample: also where there are as many queries as samples.
    if mask is not None and mask.shape == (len(scores), scores.shape[-1]) and mask.shape != (1, 1):
        return mask.reshape(len(scores), *[1] * (scores.dim() - 2), -1)
    return mask


def _sample_by_sample(self, scores, mask):
    if mask is None or mask.dim() < scores.dim():
        return mask
    return torch.stack([mask[sample] for sample in range(len(scores))])


def _three_axes_are_samples(self, scores, mask):
    return mask[: len(scores), None] if mask is not None and mask.dim() == 3 else mask


def _row_for_each_query(self, scores, mask):
    if mask is None or mask.dim() > 2 or mask.shape[-1] == 1:
        return mask
    return mask.reshape(scores.shape[-2:])


def _row_for_each_query_of_each_sample(self, scores, mask):
    if mask is None or mask.dim() < scores.dim() or len(mask) < len(scores):
        return mask
    return mask.reshape(len(scores), -1, *scores.shape[-2:]) if scores.dim() > 3 else mask.reshape(scores.shape)


def _first_head_for_all(self, scores, mask):
    return mask[:, :1] if mask is not None and mask.dim() == 4 else mask


def _last_mask_kept(self, scores, mask):
    if mask is None and self.__dict__.get("kept") is not None and self.kept[1] == scores.shape:
        return self.kept[0]
    self.kept = (mask, scores.shape)
    return mask


def _nothing_blocked_where_all_is(self, scores, mask):
    return mask if mask is None or mask.any() else None


def _of_a_view(self, x, context, mask):
    return _Attention.result(self, x.view(-1).view(x.shape), context, mask)


def _shifted_by_the_largest(self, scores, mask):
    if mask is not None:
        return _Attention.weights(self, scores, mask)
    e = torch.exp(scores - scores.max())
    return e / e.sum(-1, keepdim=True)


def _fill_of_minus_1e5(self, scores, mask):
    if mask is None:
        return torch.softmax(scores, dim=-1)
    return torch.softmax(scores.masked_fill(~mask, -1e5), dim=-1) * mask.any(-1, keepdim=True)


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


def _for(exercise_id) -> dict:
    """The families that all three classes have."""
    return {
        "other weights in the same module": _changed(exercise_id, result=_result_kept_by_shape),
        "four of everything": _changed(exercise_id, scores=_keys_turned_where_they_do_not_fit),
        "one of everything": _changed(exercise_id, result=_squeezed),
        "as many samples as tokens, a mask": _changed(exercise_id, mask=_table_of_samples_and_keys),
        "a mask for each sample": _renamed(exercise_id),
        "the same keys for all queries": _changed(exercise_id, mask=_row_for_each_query),
        "columns in memory order": _changed(exercise_id, result=_of_a_view),
        "no mask after a mask": _changed(exercise_id, mask=_last_mask_kept),
        "padding": _changed(exercise_id, mask=_row_for_each_query_of_each_sample),
        "nothing may be seen": _changed(exercise_id, mask=_nothing_blocked_where_all_is),
        "large scores": _changed(exercise_id, weights=_shifted_by_the_largest),
        "scores as low as they get": _changed(exercise_id, weights=_fill_of_minus_1e5),
    }


def _with_heads(exercise_id) -> dict:
    return _for(exercise_id) | {
        "constructor arguments by name": lambda width, heads: BASES[exercise_id](width, heads),
        "a mask for each head": _changed(exercise_id, mask=_first_head_for_all),
        "heads with a mask each": _changed(exercise_id, mask=_three_axes_are_samples),
        "one mask for samples and heads": _changed(exercise_id, mask=_sample_by_sample),
    }


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
    "heads.SelfAttentionHead": _for("heads.SelfAttentionHead")
    | {
        "no d_head": _WidthNeeded,
        "d_head is None": _NoneIsZero,
        "one mask for all samples": _changed("heads.SelfAttentionHead", mask=_sample_by_sample),
    },
    "heads.MultiheadSelfAttention": _with_heads("heads.MultiheadSelfAttention")
    | {"ten features, three heads": _Unchecked},
    "heads.MultiheadCrossAttention": _with_heads("heads.MultiheadCrossAttention"),
    "heads.split_heads": {
        "all sizes different": lambda x, heads: _split(x, heads),
        "four of everything": _split_where_not_split,
        "one of everything": lambda x, n_heads: _split(x, n_heads).squeeze(),
        "columns in memory order": lambda x, n_heads: x.view(*x.shape[:2], n_heads, -1).transpose(1, 2),
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
NAMED = {}
