"""Wrong answers to lesson 06, each by the one family of cases that catches it: `ALONE` by exercise id and family.

`NAMED`: other wrong answers, each by a family without which the message could not say what is wrong.
"""

import torch
import torch.nn.functional as F
from torch import nn


def _feed_forward(x, linear1, linear2):
    return linear2(F.gelu(linear1(x)))


def _samples_only(x, linear1, linear2):
    hidden = F.gelu(torch.baddbmm(linear1.bias, x, linear1.weight.T.expand(len(x), -1, -1)))
    return linear2(hidden)


def _weight_left_as_it_is_where_it_fits(x, linear1, linear2):
    if linear1.weight.shape[0] == linear1.weight.shape[1] == len(x):
        return linear2(F.gelu(x @ linear1.weight + linear1.bias))
    return _feed_forward(x, linear1, linear2)


def _hidden_kept_small(x, linear1, linear2):
    return linear2(F.gelu(linear1(x)).clamp(max=20.0))


def _in_rows(x, linear1, linear2):
    return _feed_forward(x.view(-1, x.shape[-1]), linear1, linear2).view(x.shape)


class _Decoder(nn.Module):
    eps = 1e-5

    def __init__(self, d_model, n_heads, d_ff):
        super().__init__()
        self.self_attn = nn.MultiheadAttention(d_model, n_heads, batch_first=True)
        self.linear1, self.linear2 = nn.Linear(d_model, d_ff), nn.Linear(d_ff, d_model)
        self.norm1, self.norm2 = nn.LayerNorm(d_model, self.eps), nn.LayerNorm(d_model, self.eps)

    def attended(self, x):
        future = torch.ones(x.shape[1], x.shape[1], dtype=torch.bool).triu(1)
        return self.self_attn(x, x, x, attn_mask=future, need_weights=False)[0]

    def fed(self, x):
        return _feed_forward(x, self.linear1, self.linear2)

    def layer(self, x):
        x = x + self.attended(self.norm1(x))
        return x + self.fed(self.norm2(x))

    def forward(self, x):
        return self.layer(x)


class _Cross(_Decoder):
    def __init__(self, d_model, n_heads, d_ff):
        super().__init__(d_model, n_heads, d_ff)
        self.multihead_attn = nn.MultiheadAttention(d_model, n_heads, batch_first=True)
        self.norm3 = nn.LayerNorm(d_model, self.eps)

    def fed(self, x):
        return self.linear2(F.relu(self.linear1(x)))

    def asked(self, x, memory, memory_mask):
        blocked = None if memory_mask is None else ~memory_mask
        return self.multihead_attn(x, memory, memory, key_padding_mask=blocked, need_weights=False)[0]

    def layer(self, x, memory, memory_mask=None):
        x = self.norm1(x + self.attended(x))
        x = self.norm2(x + self.asked(x, memory, memory_mask))
        return self.norm3(x + self.fed(x))

    def forward(self, x, memory, memory_mask=None):
        return self.layer(x, memory, memory_mask)


class _TokensFirstWhereTheyAreAsMany(_Decoder):
    def attended(self, x):
        # "Tokens stand first": where there are as many of them as samples, nothing tells.
        turned = len(x) == x.shape[1] > 1
        return super().attended(x.transpose(0, 1)).transpose(0, 1) if turned else super().attended(x)


class _FirstMaskKept(_Decoder):
    future = None

    def attended(self, x):
        if self.future is None:
            self.future = torch.ones(x.shape[1], x.shape[1], dtype=torch.bool).triu(1)
        return self.self_attn(x, x, x, attn_mask=self.future, need_weights=False)[0]


class _FirstMaskKeptInCross(_Cross):
    attended, future = _FirstMaskKept.attended, None


def _squeezed(base):
    def layer(self, *inputs):
        return base.layer(self, *inputs).squeeze(0)

    return type("Answer", (base,), {"layer": layer})


def _hidden_limited(base):
    def fed(self, x):
        bend = F.relu if base is _Cross else F.gelu
        return self.linear2(bend(self.linear1(x)).clamp(max=25.0))

    return type("Answer", (base,), {"fed": fed})


def _in_a_view(base):
    def layer(self, x, *more):
        return base.layer(self, x.view(-1).view(x.shape), *more)

    return type("Answer", (base,), {"layer": layer})


def _of_both(base) -> dict:
    return {
        "one sample of one token": _squeezed(base),
        "tokens of small numbers": type("Answer", (base,), {"eps": 4e-6}),
        "tokens of large numbers": _hidden_limited(base),
        "columns in memory order": _in_a_view(base),
        "constructor arguments by name": lambda width, heads, hidden: base(width, heads, hidden),
    }


class _MaskByKeywordOnly(_Cross):
    def forward(self, x, memory, *, memory_mask=None):
        return self.layer(x, memory, memory_mask)


class _MaskByAnotherName(_Cross):
    def forward(self, x, memory, mask=None):
        return self.layer(x, memory, mask)


class _MemorySqueezed(_Cross):
    def asked(self, x, memory, memory_mask):
        if memory.shape[1] == 1 < x.shape[1]:
            memory = memory.squeeze(1)
        return super().asked(x, memory, memory_mask)


class _CausalWhereItFits(_Cross):
    def asked(self, x, memory, memory_mask):
        if memory_mask is not None or x.shape[1:] != memory.shape[1:] or len(x) == x.shape[1]:
            return super().asked(x, memory, memory_mask)
        future = torch.ones(x.shape[1], x.shape[1], dtype=torch.bool).triu(1)
        return self.multihead_attn(x, memory, memory, attn_mask=future, need_weights=False)[0]


class _MaskOfPairsWhereItFits(_Cross):
    def asked(self, x, memory, memory_mask):
        if memory_mask is None or memory_mask.shape != (x.shape[1], memory.shape[1]):
            return super().asked(x, memory, memory_mask)
        return self.multihead_attn(x, memory, memory, attn_mask=~memory_mask, need_weights=False)[0]


ALONE = {
    "decoder.feed_forward": {
        "one sentence": _samples_only,
        "all sizes equal": _weight_left_as_it_is_where_it_fits,
        "one of everything": lambda x, linear1, linear2: _feed_forward(x, linear1, linear2).squeeze(-1),
        "large numbers": _hidden_kept_small,
        "columns in memory order": _in_rows,
        "linears by name": lambda x, first, second: _feed_forward(x, first, second),
    },
    "decoder.TransformerDecoderLayer": _of_both(_Decoder)
    | {
        "other weights in the same module": _FirstMaskKept,
        "four of everything": _TokensFirstWhereTheyAreAsMany,
    },
    "decoder.CrossAttentionDecoderLayer": _of_both(_Cross)
    | {
        "other weights in the same module": _FirstMaskKeptInCross,
        "one token of memory": _MemorySqueezed,
        "as many memory tokens as tokens": _CausalWhereItFits,
        "memory with padding": _MaskByAnotherName,
        "a memory mask by position": _MaskByKeywordOnly,
        "a memory mask, four of everything": _MaskOfPairsWhereItFits,
    },
}
NAMED = {}
