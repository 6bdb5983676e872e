"""Wrong answers to lesson 05: the two classes, multi-query and grouped-query attention."""

import math

import torch
import torch.nn.functional as F
from torch import nn

from autograder.exercises.mistakes import known
from autograder.exercises.mistakes.masking import MASK_USE, added, filled, only_causal


def shared_heads_with(
    parts=None, check=None, project=None, split=None, share=None, scale=None, see=None, block=None, weigh=None,
    mix=None, merge=None, finish=None,
):  # fmt: skip
    """A GroupedQueryAttention in which single steps can be made wrong; with one key/value head, if none is
    asked for, it is a MultiQueryAttention."""

    class SharedHeads(nn.Module):
        def __init__(self, d_model, n_heads, n_kv_heads=1):
            super().__init__()
            (check or _check)(d_model, n_heads, n_kv_heads)
            self.n_heads, self.n_kv_heads, self.d_head = n_heads, n_kv_heads, d_model // n_heads
            kv_width = n_kv_heads * self.d_head
            self.q_proj, self.out_proj = nn.Linear(d_model, d_model), nn.Linear(d_model, d_model)
            self.k_proj, self.v_proj = nn.Linear(d_model, kv_width), nn.Linear(d_model, kv_width)
            if parts:
                parts(self, d_model, kv_width)

        def forward(self, x, mask=None):
            q, k, v = project(self, x) if project else (self.q_proj(x), self.k_proj(x), self.v_proj(x))
            cut = split or _split
            q, k, v = cut(q, self.n_heads), cut(k, self.n_kv_heads), cut(v, self.n_kv_heads)
            k, v = (share or _share)(k, v, self.n_heads // self.n_kv_heads)
            scores = q @ k.transpose(-2, -1)
            scores = scale(scores, q, x) if scale else scores / math.sqrt(q.shape[-1])
            mask = see(mask, scores) if see else mask
            if mask is not None:
                scores = block(scores, mask) if block else scores.masked_fill(~mask, -torch.inf)
            weights = weigh(scores, mask) if weigh else torch.softmax(scores, dim=-1).nan_to_num()
            output = mix(weights, k, v) if mix else weights @ v
            merged = merge(output) if merge else output.transpose(1, 2).flatten(2)
            return finish(self, merged, x) if finish else self.out_proj(merged)

    return SharedHeads


def _check(d_model, n_heads, n_kv_heads):
    if d_model % n_heads or n_heads % n_kv_heads:
        raise ValueError("the sizes do not divide")


def _split(x, n_heads):
    return x.unflatten(-1, (n_heads, -1)).transpose(1, 2)


def _share(k, v, repeats):
    return k.repeat_interleave(repeats, dim=1), v.repeat_interleave(repeats, dim=1)


def _in_turn(x, repeats):
    return x.repeat(1, repeats, 1, 1)


def _averaged(k, v, repeats):
    return tuple(x.mean(dim=1, keepdim=True).expand(-1, x.shape[1] * repeats, -1, -1) for x in (k, v))


def _first_only(k, v, repeats):
    return tuple(x[:, :1].expand(-1, x.shape[1] * repeats, -1, -1) for x in (k, v))


def _as_many_as_key_heads(k, v, repeats):
    return tuple(x.repeat_interleave(x.shape[1], dim=1) for x in (k, v))


def _along_time(k, v, repeats):
    return k.repeat(1, 1, repeats, 1), v.repeat(1, 1, repeats, 1)


def _without_head_axis(k, v, repeats):
    return (k[:, 0], v[:, 0]) if k.shape[1] == 1 else _share(k, v, repeats)


def _folded_mask(scores, mask):
    # The heads were laid end to end (head by head), the mask is laid token by token.
    batch, heads, tokens, keys = scores.shape
    mask = mask.expand(scores.shape).transpose(1, 2).reshape(batch, heads * tokens, keys)
    return scores.reshape(mask.shape).masked_fill(~mask, -torch.inf).reshape(scores.shape)


def _blocks_its_mask(scores, mask):
    mask.logical_not_()
    return scores.masked_fill(mask, -torch.inf)


def _wrong_way_round(output):
    return output.transpose(1, 2).transpose(2, 3).flatten(2)


def _parts(**made):
    """Replaces parts by what `made` says of (d_model, kv_width)."""

    def replace(module, d_model, kv_width):
        for name, make in made.items():
            setattr(module, name, make(d_model, kv_width))

    return replace


def _plain(d_in, d_out):
    return nn.Linear(d_in, d_out, bias=False)


def _no_biases(module, d_model, kv_width):
    module.q_proj, module.out_proj = _plain(d_model, d_model), _plain(d_model, d_model)
    module.k_proj, module.v_proj = _plain(d_model, kv_width), _plain(d_model, kv_width)


def _other_names(module, d_model, kv_width):
    module.W_query, module.W_key, module.W_value = module.q_proj, module.k_proj, module.v_proj
    del module.q_proj, module.k_proj, module.v_proj


def _made_in_forward(module, x):
    layers = (module.q_proj, module.k_proj, module.v_proj)
    return tuple(nn.Linear(x.shape[-1], layer.out_features).to(x.dtype)(x) for layer in layers)


def _asserts(d_model, n_heads, n_kv_heads):
    assert d_model % n_heads == 0 and n_heads % n_kv_heads == 0, "the sizes do not divide"


def _checks_width_only(d_model, n_heads, n_kv_heads):
    _check(d_model, n_heads, 1)


def _checks_groups_only(d_model, n_heads, n_kv_heads):
    _check(n_heads, n_heads, n_kv_heads)


def _input_in_place(module, x):
    x *= 1.5
    return tuple(layer(x / 1.5) for layer in (module.q_proj, module.k_proj, module.v_proj))


def _keys_and_values_swapped(module, x):
    return module.q_proj(x), module.v_proj(x), module.k_proj(x)


def _with_relu(module, x):
    return tuple(torch.relu(layer(x)) for layer in (module.q_proj, module.k_proj, module.v_proj))


def _queries_dealt_out(module, x):
    return _dealt_out(module.q_proj(x), module.n_heads), module.k_proj(x), module.v_proj(x)


def _keys_and_values_dealt_out(module, x):
    k, v = (_dealt_out(layer(x), module.n_kv_heads) for layer in (module.k_proj, module.v_proj))
    return module.q_proj(x), k, v


def _dealt_out(x, n_heads):
    return x.unflatten(-1, (-1, n_heads)).transpose(-2, -1).flatten(-2)


def _detached(module, x):
    return module.q_proj(x), module.k_proj(x).detach(), module.v_proj(x).detach()


def _raw_exp(scores, mask):
    exps = torch.exp(scores)
    return exps / exps.sum(dim=-1, keepdim=True).clamp(min=1e-30)


# What both classes get wrong: scale, softmax, masks, roles, heads, output.
COMMON = MASK_USE | {
    "SDPA-01": {"scale": lambda s, q, x: s},
    "SDPA-03": {"scale": lambda s, q, x: s * math.sqrt(q.shape[-1])},
    "MHA-05": {"scale": lambda s, q, x: s / math.sqrt(x.shape[-1])},
    "SDPA-13": {"scale": lambda s, q, x: s / 8},
    "SDPA-17": {"scale": lambda s, q, x: s / int(math.sqrt(q.shape[-1]))},
    "SDPA-35": {"scale": lambda s, q, x: s / q.shape[-1]},
    "SDPA-37": {"scale": lambda s, q, x: s / math.sqrt(x.shape[-2])},
    "SDPA-07": {"weigh": lambda s, mask: torch.softmax(s, dim=-2).nan_to_num()},
    "SDPA-45": {"weigh": lambda s, mask: torch.softmax(s, dim=1).nan_to_num()},
    "SMX-01": {"weigh": _raw_exp},
    "SDPA-19": {"weigh": lambda s, mask: torch.softmax(torch.softmax(s, dim=-1).nan_to_num(), dim=-1)},
    "SDPA-31": {"weigh": lambda s, mask: s},
    "SDPA-39": {"weigh": lambda s, mask: F.one_hot(s.argmax(dim=-1), s.shape[-1]).to(s.dtype)},
    "SMX-27": {"weigh": lambda s, mask: torch.exp(s - s.amax(dim=-1, keepdim=True)).nan_to_num()},
    "SMX-29": {"scale": lambda s, q, x: -s / math.sqrt(q.shape[-1])},
    "MQA-41": {"weigh": lambda s, mask: torch.log_softmax(s, dim=-1)},
    "SMX-35": {"weigh": lambda s, mask: torch.sigmoid(s)},
    "SDPA-15": {"mix": lambda w, k, v: w @ k},
    "LOOP-17": {"mix": lambda w, k, v: w.transpose(-2, -1) @ v},
    "QKV-13": {"project": _keys_and_values_swapped},
    "HEAD-11": {"project": _with_relu},
    "MHA-01": {"split": lambda x, n_heads: x.reshape(x.shape[0], n_heads, x.shape[1], -1)},
    "MHA-33": {"merge": lambda output: output.reshape(output.shape[0], output.shape[2], -1)},
    "MHA-25": {"merge": lambda output: output[:, -1].repeat(1, 1, output.shape[1])},
    "MHA-37": {"split": lambda x, n_heads: x.unflatten(-1, (-1, n_heads)).permute(0, 3, 1, 2)},
    "MHA-47": {"merge": lambda output: output.mean(dim=1).repeat(1, 1, output.shape[1])},
    "MQA-37": {"merge": _wrong_way_round},
    "MHA-07": {"finish": lambda module, merged, x: merged},
    "HEAD-21": {"finish": lambda module, merged, x: module.out_proj(merged) + x},
}
# Frequent enough to be made in twos.
FREQUENT = {
    "SDPA-01",
    "MHA-05",
    "SDPA-07",
    "MSK-01",
    "MSK-69",
    "MSK-09",
    "QKV-13",
    "MHA-33",
    "MHA-07",
    "MQA-01",
}

ONE_BY_ONE = {
    "MQA-39": {"project": lambda module, x: (module.q_proj(x), module.v_proj(x), module.v_proj(x))},
    "SDPA-23": {"finish": lambda module, merged, x: (module.out_proj(merged), None)},
    "SDPA-49": {"finish": lambda module, merged, x: module.out_proj(merged).float()},
    "HEAD-13": {"finish": lambda module, merged, x: None},
    "SDPA-29": {"finish": lambda module, merged, x: module.out_proj(merged).detach()},
    "HEAD-15": {"project": _detached},
    "HEAD-01": {"project": _made_in_forward},
    "LOOP-19": {"project": _input_in_place},
    "MSK-19": {"block": _blocks_its_mask},
    "MQA-05": {"parts": _parts(v_proj=lambda d_model, width: nn.Linear(d_model, d_model))},
    "MQA-17": {"parts": _parts(out_proj=lambda d_model, width: nn.Linear(width, d_model))},
    "MQA-29": {"parts": _parts(
        k_proj=lambda d_model, width: nn.Linear(d_model, d_model),
        v_proj=lambda d_model, width: nn.Linear(d_model, d_model),
    )},
    "MQA-31": {"parts": _no_biases},
    "MQA-33": {"parts": _other_names},
}  # fmt: skip


class _CleansItsOutput(shared_heads_with(weigh=lambda s, mask: torch.softmax(s, dim=-1))):
    """NaN is cleaned out of the result, so that it is still there on the way back."""

    def forward(self, x, mask=None):
        clean = super().forward(x, mask)
        return torch.where(clean.isnan(), self.out_proj.bias, clean)


def _mistakes(changes_by_id):
    found = []
    for mistake_id, changes in changes_by_id.items():
        answer = shared_heads_with(**changes)
        found.append(known(mistake_id, answer, changes if mistake_id in FREQUENT else None))
    return (
        *found,
        known("MSK-35", _CleansItsOutput),
        known("MSK-35", shared_heads_with(block=lambda s, mask: s + torch.zeros(()).masked_fill(~mask, -torch.inf))),
        known("MSK-07", shared_heads_with(block=filled(-10.0))),
        known("MSK-33", shared_heads_with(block=added(-1e9))),
        known("MSK-85", shared_heads_with(see=only_causal)),
        known("MSK-85", shared_heads_with(
            see=lambda mask, scores: None if mask is None else only_causal(mask, scores)
        )),
        known("SDPA-31", shared_heads_with(block=filled(0.0), weigh=lambda s, mask: s)),
        known("MHA-47", shared_heads_with(merge=lambda output: output.sum(dim=1).repeat(1, 1, output.shape[1]))),
        known("SDPA-33", shared_heads_with(
            scale=lambda s, q, x: s, mix=lambda w, k, v: w / math.sqrt(v.shape[-1]) @ v
        )),
    )  # fmt: skip


MULTI_QUERY = _mistakes(
    COMMON
    | {
        "MQA-09": {"share": _without_head_axis},
        "MQA-11": {"share": _along_time},
        "MQA-13": {"block": _folded_mask},
    }
    | ONE_BY_ONE
)

GROUPED_QUERY = (
    *_mistakes(
        COMMON
        | {
            "MQA-01": {"share": lambda k, v, n: (_in_turn(k, n), _in_turn(v, n))},
            "MQA-03": {"share": lambda k, v, n: (k.repeat_interleave(n, dim=1), _in_turn(v, n))},
            "MQA-19": {"share": lambda k, v, n: (_in_turn(k, n), v.repeat_interleave(n, dim=1))},
            "MQA-07": {"share": _averaged},
            "MQA-11": {"share": _along_time},
            "MQA-13": {"block": _folded_mask},
            "MQA-21": {"share": _first_only},
            "MQA-23": {"share": _as_many_as_key_heads},
            "MQA-15": {"check": _checks_width_only},
            "MQA-25": {"check": _checks_groups_only},
            "MQA-27": {"check": _asserts},
        }
        | ONE_BY_ONE
    ),
    known("MQA-15", shared_heads_with(check=lambda *sizes: None)),
    known("MHA-37", shared_heads_with(project=_queries_dealt_out)),
    known("MHA-37", shared_heads_with(project=_keys_and_values_dealt_out)),
)
