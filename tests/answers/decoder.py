"""Answers to lesson 06 in other forms: right ones that must pass, wrong ones that must not."""

import functools
import math

import torch
import torch.nn.functional as F
from torch import nn


def _erf_gelu(x):
    return 0.5 * x * (1 + torch.erf(x / math.sqrt(2)))


def _normal_gelu(x):
    return x * torch.distributions.Normal(0.0, 1.0).cdf(x)


def _by_matmul(x, linear1, linear2):
    inner = x @ linear1.weight.T + linear1.bias
    return _erf_gelu(inner) @ linear2.weight.T + linear2.bias


def _by_einsum(x, linear1, linear2):
    inner = F.gelu(torch.einsum("...i,oi->...o", x, linear1.weight) + linear1.bias)
    return torch.einsum("...i,oi->...o", inner, linear2.weight) + linear2.bias


def _token_by_token(x, linear1, linear2):
    tokens = [linear2(F.gelu(linear1(token))) for token in x.reshape(-1, x.shape[-1])]
    return torch.stack(tokens).reshape(*x.shape[:-1], -1)


def _by_addmm(x, linear1, linear2):
    flat = x.reshape(-1, x.shape[-1])
    inner = torch.addmm(linear1.bias, flat, linear1.weight.t())
    return torch.addmm(linear2.bias, F.gelu(inner), linear2.weight.t()).view(*x.shape[:-1], -1)


def _own_work_in_place(x, linear1, linear2):
    hidden = linear1(x)
    hidden = hidden * torch.special.ndtr(hidden)
    out = F.linear(hidden, linear2.weight)
    out += linear2.bias
    return out


def _feature_by_feature(x, linear1, linear2):
    hidden = F.gelu(linear1(x))
    out = linear2.bias.expand(*x.shape[:-1], -1).clone()
    for i in range(hidden.shape[-1]):
        out = out + hidden[..., i : i + 1] * linear2.weight[:, i]
    return out


class _Caller:
    def __init__(self):
        self.activation = nn.GELU()

    def __call__(self, x, linear1, linear2, dropout=0.0):
        return F.dropout(linear2(self.activation(linear1(x))), dropout)


class Layer(nn.Module):
    """GPT's layer as most people write it."""

    def __init__(self, d_model, n_heads, d_ff):
        super().__init__()
        self.self_attn = nn.MultiheadAttention(d_model, n_heads, batch_first=True)
        self.linear1 = nn.Linear(d_model, d_ff)
        self.linear2 = nn.Linear(d_ff, d_model)
        self.norm1 = nn.LayerNorm(d_model)
        self.norm2 = nn.LayerNorm(d_model)

    def attend(self, x):
        n = x.shape[1]
        mask = torch.triu(torch.ones(n, n, device=x.device), diagonal=1).bool()
        out, _ = self.self_attn(x, x, x, attn_mask=mask, need_weights=False)
        return out

    def feed(self, x):
        return self.linear2(F.gelu(self.linear1(x)))

    def forward(self, x):
        x = x + self.attend(self.norm1(x))
        return x + self.feed(self.norm2(x))


class FloatMask(Layer):
    def attend(self, x):
        mask = torch.full((x.size(1), x.size(1)), float("-inf"), device=x.device, dtype=x.dtype).triu(1)
        return self.self_attn(x, x, x, attn_mask=mask)[0]


class Hinted(Layer):
    def attend(self, x):
        mask = nn.Transformer.generate_square_subsequent_mask(x.shape[1], device=x.device, dtype=x.dtype)
        return self.self_attn(x, x, x, attn_mask=mask, is_causal=True, need_weights=False)[0]


class HintedBool(Layer):
    def attend(self, x):
        mask = ~torch.ones(x.shape[1], x.shape[1], dtype=torch.bool).tril()
        return self.self_attn(x, x, x, attn_mask=mask, is_causal=True, average_attn_weights=False)[0]


class MaskForEach(Layer):
    """A mask for every sample and head, (B * H, N, N)."""

    def attend(self, x):
        rows = torch.arange(x.shape[1])
        mask = (rows[None, :] > rows[:, None]).expand(x.shape[0] * self.self_attn.num_heads, -1, -1)
        return self.self_attn(query=x, key=x, value=x, attn_mask=mask)[0]


class TokensFirst(Layer):
    """Without batch_first, the axes turned by hand."""

    def __init__(self, d_model, n_heads, d_ff):
        super().__init__(d_model, n_heads, d_ff)
        self.self_attn = nn.MultiheadAttention(d_model, n_heads)

    def attend(self, x):
        x = x.transpose(0, 1)
        mask = torch.ones(len(x), len(x)).triu(1) == 1
        return self.self_attn(x, x, x, attn_mask=mask)[0].permute(1, 0, 2)


class ByHand(Layer):
    """The packed weights of nn.MultiheadAttention, used by F.scaled_dot_product_attention."""

    def attend(self, x):
        attention = self.self_attn
        b, n, d = x.shape
        packed = F.linear(x, attention.in_proj_weight, attention.in_proj_bias)
        q, k, v = (t.view(b, n, attention.num_heads, -1).transpose(1, 2) for t in packed.chunk(3, dim=-1))
        out = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        return attention.out_proj(out.transpose(1, 2).reshape(b, n, d))


class WithDropout(Layer):
    """Dropout of zero in every place, activation as a module, extra arguments."""

    def __init__(self, d_model, n_heads, d_ff, dropout=0.0):
        super().__init__(d_model, n_heads, d_ff)
        self.self_attn = nn.MultiheadAttention(d_model, n_heads, dropout=dropout, batch_first=True)
        self.dropout, self.dropout1, self.activation = nn.Dropout(dropout), nn.Dropout(p=0.0), nn.GELU()

    def forward(self, x, verbose=False):
        x = x + self.dropout1(self.attend(self.norm1(x)))
        return x + self.dropout(self.linear2(self.dropout(self.activation(self.linear1(self.norm2(x))))))


class WithBuffer(Layer):
    """A mask for 64 tokens kept outside the state dict."""

    def __init__(self, d_model, n_heads, d_ff):
        super().__init__(d_model, n_heads, d_ff)
        self.register_buffer("mask", torch.ones(64, 64, dtype=torch.bool).triu(1), persistent=False)

    def attend(self, x):
        n = x.shape[1]
        return self.self_attn(x, x, x, attn_mask=self.mask[:n, :n])[0]


class WithAttribute(Layer):
    def __init__(self, d_model, n_heads, d_ff):
        super().__init__(d_model, n_heads, d_ff)
        self.low = torch.full((64, 64), -torch.inf).triu(1)
        self.kept = {"heads": n_heads}

    def attend(self, x):
        n = x.shape[1]
        return self.self_attn(x, x, x, attn_mask=self.low[:n, :n].to(x))[0]


class OwnNorms(Layer):
    def norm(self, layer, x):
        mean = x.mean(dim=-1, keepdim=True)
        var = x.var(dim=-1, keepdim=True, correction=0)
        return (x - mean) / torch.sqrt(var + layer.eps) * layer.weight + layer.bias

    def forward(self, x):
        h = self.norm(self.norm1, x)
        x = x + self.attend(h)
        h = F.layer_norm(x, [x.shape[-1]], self.norm2.weight, self.norm2.bias)
        out = self.linear2(_erf_gelu(self.linear1(h)))
        out += x
        return out


class CausalAttention(nn.MultiheadAttention):
    def forward(self, x):
        mask = torch.ones(x.shape[1], x.shape[1], dtype=torch.bool).triu(1)
        return super().forward(x, x, x, attn_mask=mask, need_weights=False)[0]


class SubclassedPart(Layer):
    def __init__(self, d_model, n_heads, d_ff):
        super().__init__(d_model, n_heads, d_ff)
        self.self_attn = CausalAttention(d_model, n_heads, batch_first=True)

    def attend(self, x):
        return self.self_attn(x)


class SampleBySample(Layer):
    def forward(self, x):
        return torch.stack([super(SampleBySample, self).forward(sample[None])[0] for sample in x.unbind(0)])


class Growing(Layer):
    """Token i attends to the tokens up to i: no mask at all."""

    def attend(self, x):
        rows = [self.self_attn(x[:, i : i + 1], x[:, : i + 1], x[:, : i + 1])[0] for i in range(x.shape[1])]
        return torch.cat(rows, dim=1)


class CrossLayer(nn.Module):
    """The encoder-decoder layer as most people write it."""

    def __init__(self, d_model, n_heads, d_ff):
        super().__init__()
        self.self_attn = nn.MultiheadAttention(d_model, n_heads, dropout=0.0, batch_first=True)
        self.multihead_attn = nn.MultiheadAttention(d_model, n_heads, dropout=0.0, batch_first=True)
        self.linear1, self.linear2 = nn.Linear(d_model, d_ff), nn.Linear(d_ff, d_model)
        self.norm1, self.norm2, self.norm3 = (nn.LayerNorm(d_model) for _ in range(3))

    attend = Layer.attend

    def look(self, x, memory, memory_mask):
        blocked = None if memory_mask is None else ~memory_mask
        return self.multihead_attn(x, memory, memory, key_padding_mask=blocked, need_weights=False)[0]

    def forward(self, x, memory, memory_mask=None):
        x = self.norm1(x + self.attend(x))
        x = self.norm2(x + self.look(x, memory, memory_mask))
        return self.norm3(x + self.linear2(F.relu(self.linear1(x))))


class LogicalNot(CrossLayer):
    attend = Hinted.attend

    def look(self, x, memory, memory_mask=None):
        if memory_mask is not None:
            memory_mask = memory_mask.logical_not()
        out, _ = self.multihead_attn(query=x, key=memory, value=memory, key_padding_mask=memory_mask)
        return out


class FloatKeys(CrossLayer):
    attend = FloatMask.attend

    def look(self, x, memory, memory_mask=None):
        low = None
        if memory_mask is not None:
            low = torch.zeros(memory_mask.shape, dtype=x.dtype).masked_fill(memory_mask == 0, float("-inf"))
        return self.multihead_attn(x, memory, memory, key_padding_mask=low)[0]


class MaskOfPairs(CrossLayer):
    attend = MaskForEach.attend

    def look(self, x, memory, memory_mask=None):
        if memory_mask is None:
            return self.multihead_attn(x, memory, memory)[0]
        heads = self.multihead_attn.num_heads
        blocked = (memory_mask == False)[:, None, None, :].expand(-1, heads, x.shape[1], -1)  # noqa: E712
        return self.multihead_attn(x, memory, memory, attn_mask=blocked.flatten(0, 1))[0]


class OnlyWhatMayBeSeen(CrossLayer):
    """Sample by sample, blocked tokens cut out of the memory."""

    def look(self, x, memory, memory_mask=None):
        if memory_mask is None:
            memory_mask = torch.ones(memory.shape[:2], dtype=torch.bool)
        rows = [
            self.multihead_attn(x[i : i + 1], memory[i : i + 1, seen], memory[i : i + 1, seen])[0]
            for i, seen in enumerate(memory_mask)
        ]
        return torch.cat(rows)


class CrossByHand(CrossLayer):
    attend = ByHand.attend

    def look(self, x, memory, memory_mask=None):
        part = self.multihead_attn
        w_q, w_k, w_v = part.in_proj_weight.chunk(3)
        b_q, b_k, b_v = part.in_proj_bias.chunk(3)
        q, k, v = F.linear(x, w_q, b_q), F.linear(memory, w_k, b_k), F.linear(memory, w_v, b_v)
        q, k, v = (t.unflatten(-1, (part.num_heads, -1)).transpose(1, 2) for t in (q, k, v))
        mask = None if memory_mask is None else memory_mask[:, None, None, :]
        out = F.scaled_dot_product_attention(q, k, v, attn_mask=mask)
        return part.out_proj(out.transpose(1, 2).flatten(2))


class CrossTokensFirst(CrossLayer):
    def __init__(self, d_model, n_heads, d_ff, dropout=0.0, eps=1e-5):
        super().__init__(d_model, n_heads, d_ff)
        self.self_attn, self.multihead_attn = (
            nn.MultiheadAttention(d_model, n_heads, dropout) for _ in range(2)
        )
        self.norm1, self.norm2, self.norm3 = (nn.LayerNorm(d_model, eps=eps) for _ in range(3))
        self.drop, self.activation = nn.Dropout(dropout), nn.ReLU()

    def forward(self, x, memory, memory_mask=None):
        x, memory = x.transpose(0, 1), memory.transpose(0, 1)
        future = torch.full((len(x), len(x)), -torch.inf, dtype=x.dtype).triu(1)
        x = self.norm1(x + self.drop(self.self_attn(x, x, x, attn_mask=future)[0]))
        blocked = None if memory_mask is None else memory_mask < 1
        x = self.norm2(self.drop(self.multihead_attn(x, memory, memory, blocked)[0]) + x)
        hidden = self.activation(self.linear1(x))
        return self.norm3(x + self.drop(self.linear2(hidden))).transpose(0, 1)


class CrossOwnNorms(CrossLayer):
    attend = HintedBool.attend

    def forward(self, x, memory, memory_mask=None, **more):
        x = OwnNorms.norm(self, self.norm1, x + self.attend(x))
        y = x.clone()
        y += self.look(x, memory, memory_mask)
        y = OwnNorms.norm(self, self.norm2, y)
        out = self.linear2(self.linear1(y).clamp(min=0))
        return OwnNorms.norm(self, self.norm3, y + out)


class CrossBuffer(CrossLayer):
    def __init__(self, d_model, n_heads, d_ff):
        super().__init__(d_model, n_heads, d_ff)
        self.register_buffer("mask", torch.ones(32, 32, dtype=torch.bool).triu(1), persistent=False)

    attend = WithBuffer.attend


class CrossSampleBySample(CrossLayer):
    def forward(self, x, memory, memory_mask=None):
        masks = [None] * len(x) if memory_mask is None else memory_mask.split(1)
        parts = zip(x.split(1), memory.split(1), masks)
        return torch.cat([super(CrossSampleBySample, self).forward(*part) for part in parts])


def _names(*classes):
    return {kind.__name__: kind for kind in classes}


RIGHT = {
    "decoder.feed_forward": {
        "as written": lambda x, linear1, linear2: linear2(F.gelu(linear1(x))),
        "nn.GELU": lambda x, linear1, linear2: linear2(nn.GELU()(linear1(x))),
        "nn.Sequential": lambda x, linear1, linear2: nn.Sequential(linear1, nn.GELU(), linear2)(x),
        "erf": lambda x, linear1, linear2: linear2(_erf_gelu(linear1(x))),
        "cumulated normal": lambda x, linear1, linear2: linear2(_normal_gelu(linear1(x))),
        "matmul": _by_matmul,
        "einsum": _by_einsum,
        "token by token": _token_by_token,
        "addmm": _by_addmm,
        "own work in place": _own_work_in_place,
        "feature by feature": _feature_by_feature,
        "callable object": _Caller(),
        "partial": functools.partial(lambda act, x, linear1, linear2: linear2(act(linear1(x))), F.gelu),
        "evaluation mode": lambda x, linear1, linear2: linear2.eval()(F.gelu(linear1.eval()(x))),
    },
    "decoder.TransformerDecoderLayer": _names(
        Layer, FloatMask, Hinted, HintedBool, MaskForEach, TokensFirst, ByHand, WithDropout, WithBuffer,
        WithAttribute, OwnNorms, SubclassedPart, SampleBySample, Growing,
    ) | {"partial": functools.partial(WithDropout, dropout=0.0)},
    "decoder.CrossAttentionDecoderLayer": _names(
        CrossLayer, LogicalNot, FloatKeys, MaskOfPairs, OnlyWhatMayBeSeen, CrossByHand, CrossTokensFirst,
        CrossOwnNorms, CrossBuffer, CrossSampleBySample,
    ) | {"function": lambda d_model, n_heads, d_ff: CrossLayer(d_model, n_heads, d_ff)},
}  # fmt: skip


def _built(kind, build):
    """`kind` with parts changed by `build(self, d_model, n_heads, d_ff)`."""

    class Changed(kind):
        def __init__(self, d_model, n_heads, d_ff):
            super().__init__(d_model, n_heads, d_ff)
            build(self, d_model, n_heads, d_ff)

    return Changed


def _persistent_mask(self, d_model, n_heads, d_ff):
    self.register_buffer("mask", torch.ones(32, 32, dtype=torch.bool).triu(1))


def _unbiased(self, d_model, n_heads, d_ff):
    self.linear1, self.linear2 = nn.Linear(d_model, d_ff, bias=False), nn.Linear(d_ff, d_model, bias=False)


def _dropout_in_attention(self, d_model, n_heads, d_ff):
    self.self_attn = nn.MultiheadAttention(d_model, n_heads, dropout=0.1, batch_first=True)


def _four_times_as_wide(self, d_model, n_heads, d_ff):
    self.linear1, self.linear2 = nn.Linear(d_model, 4 * d_model), nn.Linear(4 * d_model, d_model)


def _own_eps(self, d_model, n_heads, d_ff):
    self.norm1 = nn.LayerNorm(d_model, eps=1e-6)
    self.norm2 = nn.LayerNorm(d_model, eps=1e-6)


def _in_a_sequence(self, d_model, n_heads, d_ff):
    self.ff = nn.Sequential(self.linear1, nn.GELU(), self.linear2)


class _WholeLayer(nn.TransformerEncoderLayer):
    def __init__(self, d_model, n_heads, d_ff):
        super().__init__(d_model, n_heads, d_ff, 0.0, "gelu", batch_first=True, norm_first=True)

    def forward(self, x):
        mask = nn.Transformer.generate_square_subsequent_mask(x.shape[1], dtype=x.dtype)
        return super().forward(x, mask, is_causal=True)


class _InheritsOnly(nn.TransformerEncoderLayer):
    def __init__(self, d_model, n_heads, d_ff):
        super().__init__(d_model, n_heads, d_ff, 0.0, "gelu", batch_first=True, norm_first=True)

    attend, feed, forward = Layer.attend, Layer.feed, Layer.forward


class _WholeCrossLayer(nn.TransformerDecoderLayer):
    def __init__(self, d_model, n_heads, d_ff):
        super().__init__(d_model, n_heads, d_ff, 0.0, batch_first=True)

    def forward(self, x, memory, memory_mask=None):
        mask = torch.ones(x.shape[1], x.shape[1], dtype=torch.bool).triu(1)
        return super().forward(
            x, memory, mask, memory_key_padding_mask=None if memory_mask is None else ~memory_mask
        )


class _Hidden(Layer):
    """PyTorch's layer made in forward from the parts."""

    def forward(self, x):
        d_ff, d_model = self.linear1.weight.shape
        inner = nn.TransformerEncoderLayer(
            d_model, self.self_attn.num_heads, d_ff, 0.0, "gelu", batch_first=True, norm_first=True
        ).to(x.dtype)
        mask = nn.Transformer.generate_square_subsequent_mask(x.shape[1], dtype=x.dtype)
        return torch.func.functional_call(inner, dict(self.named_parameters()), (x,), {"src_mask": mask})


def _layer(**methods):
    return type("TransformerDecoderLayer", (Layer,), methods)


def _cross(**methods):
    return type("CrossAttentionDecoderLayer", (CrossLayer,), methods)


def _unmasked(self, x):
    return self.self_attn(x, x, x)[0]


def _tril_mask(self, x):
    mask = torch.tril(torch.ones(x.shape[1], x.shape[1], dtype=torch.bool))
    return self.self_attn(x, x, x, attn_mask=mask, need_weights=False)[0]


def _diagonal_blocked(self, x):
    mask = torch.triu(torch.full((x.shape[1], x.shape[1]), float("-inf"))).to(x)
    return self.self_attn(x, x, x, attn_mask=mask)[0]


def _hint_only(self, x):
    return self.self_attn(x, x, x, is_causal=True)[0]


def _small_fill(self, x):
    mask = torch.full((x.shape[1], x.shape[1]), -3.0).triu(1).to(x)
    return self.self_attn(x, x, x, attn_mask=mask)[0]


def _weights_for_output(self, x):
    return self.self_attn(x, x, x)[1]


def _tuple_for_output(self, x):
    mask = torch.ones(x.shape[1], x.shape[1], dtype=torch.bool).triu(1)
    return self.self_attn(x, x, x, attn_mask=mask)


def _feed(activation):
    return lambda self, x: self.linear2(activation(self.linear1(x)))


def _twice(self, x):
    return Layer.forward(self, Layer.forward(self, x))


def _only_last_residual(self, x):
    return x + self.feed(self.norm2(self.attend(self.norm1(x))))


def _post_norm(self, x):
    x = self.norm1(x + self.attend(x))
    return self.norm2(x + self.feed(x))


def _mixed_norms(self, x):
    x = x + self.attend(self.norm1(x))
    return self.norm2(x + self.feed(x))


def _relu_and_post(self, x):
    x = self.norm1(x + self.attend(x))
    return self.norm2(x + self.linear2(torch.relu(self.linear1(x))))


def _scaled_residual(self, x):
    x = (x + self.attend(self.norm1(x))) * 0.5**0.5
    return (x + self.feed(self.norm2(x))) * 0.5**0.5


def _in_place(self, x):
    x.add_(self.attend(self.norm1(x)))
    return x + self.feed(self.norm2(x))


def _dropped(self, x):
    x = x + F.dropout(self.attend(self.norm1(x)), 0.1, self.training)
    return x + F.dropout(self.feed(self.norm2(x)), 0.1, self.training)


def _keeps_the_first_mask(self, x):
    if not hasattr(self, "mask"):
        self.mask = torch.ones(x.shape[1], x.shape[1], dtype=torch.bool).triu(1)
    return self.self_attn(x, x, x, attn_mask=self.mask)[0]


def _float_mask(self, x):
    mask = torch.full((x.shape[1], x.shape[1]), -torch.inf).triu(1)
    return self.self_attn(x.float(), x.float(), x.float(), attn_mask=mask)[0]


def _no_final_norm(self, x, memory, memory_mask=None):
    x = self.norm1(x + self.attend(x))
    x = self.norm2(x + self.look(x, memory, memory_mask))
    return x + self.linear2(F.relu(self.linear1(x)))


def _norms_of_other_order(self, x, memory, memory_mask=None):
    x = self.norm3(x + self.attend(x))
    x = self.norm1(x + self.look(x, memory, memory_mask))
    return self.norm2(x + self.linear2(F.relu(self.linear1(x))))


def _memory_as_query(self, x, memory, memory_mask=None):
    return self.multihead_attn(memory, x, x)[0][:, : x.shape[1]]


def _mask_as_pairs(self, x, memory, memory_mask=None):
    return self.multihead_attn(x, memory, memory, attn_mask=memory_mask)[0]


def _mask_kept(self, x, memory, memory_mask=None):
    return self.multihead_attn(x, memory, memory, key_padding_mask=memory_mask)[0]


def _zeroed_memory(self, x, memory, memory_mask=None):
    memory = memory if memory_mask is None else memory * memory_mask[..., None]
    return self.multihead_attn(x, memory, memory)[0]


def _first_sample_only(self, x, memory, memory_mask=None):
    blocked = None if memory_mask is None else (~memory_mask[:1]).expand(len(x), -1)
    return self.multihead_attn(x, memory, memory, key_padding_mask=blocked)[0]


def _mean_memory(self, x, memory, memory_mask=None):
    mean = memory.mean(dim=1, keepdim=True)
    return self.multihead_attn(x, mean, mean)[0]


def _memory_in_place(self, x, memory, memory_mask=None):
    memory.mul_(1.0001)
    return CrossLayer.look(self, x, memory, memory_mask)


def _mask_in_place(self, x, memory, memory_mask=None):
    if memory_mask is not None:
        memory_mask.logical_not_()
    return self.multihead_attn(x, memory, memory, key_padding_mask=memory_mask)[0]


def _not_an_int_mask(self, x, memory, memory_mask=None):
    blocked = None if memory_mask is None else ~memory_mask.int()
    return self.multihead_attn(
        x, memory, memory, key_padding_mask=None if blocked is None else blocked.bool()
    )[0]


class _OtherMaskName(CrossLayer):
    def forward(self, x, memory, memory_key_padding_mask=None):
        return super().forward(x, memory, memory_key_padding_mask)


class _NoMask(CrossLayer):
    def forward(self, x, memory):
        return super().forward(x, memory)


WRONG = {
    "decoder.feed_forward": {
        "tanh form by hand": lambda x, linear1, linear2: linear2(
            (h := linear1(x)) * 0.5 * (1 + torch.tanh((2 / math.pi) ** 0.5 * (h + 0.044715 * h**3)))
        ),
        "nn.GELU('tanh')": lambda x, linear1, linear2: linear2(nn.GELU("tanh")(linear1(x))),
        "leaky ReLU": lambda x, linear1, linear2: linear2(F.leaky_relu(linear1(x))),
        "ELU": lambda x, linear1, linear2: linear2(F.elu(linear1(x))),
        "gelu before": lambda x, linear1, linear2: linear2(linear1(F.gelu(x))),
        "linear after linear": lambda x, linear1, linear2: linear2(linear1(x)),
        "residual": lambda x, linear1, linear2: x + linear2(F.gelu(linear1(x))),
        "dropout": lambda x, linear1, linear2: linear2(F.dropout(F.gelu(linear1(x)), 0.1)),
        "second first": lambda x, linear1, linear2: linear1(F.gelu(linear2(x))),
        "erf without root": lambda x, linear1, linear2: linear2((h := linear1(x)) * 0.5 * (1 + torch.erf(h))),
        "erf without half": lambda x, linear1, linear2: linear2(
            (h := linear1(x)) * (1 + torch.erf(h / 2**0.5))
        ),
        "no_grad": torch.no_grad()(lambda x, linear1, linear2: linear2(F.gelu(linear1(x)))),
        "in place on x": lambda x, linear1, linear2: x.copy_(linear2(F.gelu(linear1(x)))),
    },
    "decoder.TransformerDecoderLayer": {
        "no mask": _layer(attend=_unmasked),
        "tril mask": _layer(attend=_tril_mask),
        "diagonal blocked": _layer(attend=_diagonal_blocked),
        "hint only": _layer(attend=_hint_only),
        "a fill of -3": _layer(attend=_small_fill),
        "weights for output": _layer(attend=_weights_for_output),
        "tuple for output": _layer(attend=_tuple_for_output),
        "relu": _layer(feed=_feed(torch.relu)),
        "tanh gelu": _layer(feed=_feed(nn.GELU("tanh"))),
        "silu": _layer(feed=_feed(F.silu)),
        "no activation": _layer(feed=_feed(lambda inner: inner)),
        "twice": _layer(forward=_twice),
        "last residual only": _layer(forward=_only_last_residual),
        "post-norm": _layer(forward=_post_norm),
        "post-norm and relu": _layer(forward=_relu_and_post),
        "pre, then post": _layer(forward=_mixed_norms),
        "scaled residuals": _layer(forward=_scaled_residual),
        "in place": _layer(forward=_in_place),
        "dropout": _layer(forward=_dropped),
        "the first mask for all": _layer(attend=_keeps_the_first_mask),
        "float32 attention": _layer(attend=_float_mask),
        "relu, no mask": _layer(attend=_unmasked, feed=_feed(torch.relu)),
        "mask in the state dict": _built(Layer, _persistent_mask),
        "linears without bias": _built(Layer, _unbiased),
        "dropout in the attention": _built(Layer, _dropout_in_attention),
        "d_ff ignored": _built(Layer, _four_times_as_wide),
        "another eps": _built(Layer, _own_eps),
        "parts in a sequence as well": _built(Layer, _in_a_sequence),
        "PyTorch's layer": _WholeLayer,
        "inherits from PyTorch's layer": _InheritsOnly,
        "PyTorch's layer inside": _Hidden,
    },
    "decoder.CrossAttentionDecoderLayer": {
        "no mask": _cross(attend=_unmasked),
        "tril mask": _cross(attend=_tril_mask),
        "no final norm": _cross(forward=_no_final_norm),
        "norms in another order": _cross(forward=_norms_of_other_order),
        "memory asks": _cross(look=_memory_as_query),
        "mask of pairs": _cross(look=_mask_as_pairs),
        "mask kept as it is": _cross(look=_mask_kept),
        "zeroed memory": _cross(look=_zeroed_memory),
        "the first sample's mask": _cross(look=_first_sample_only),
        "mean of the memory": _cross(look=_mean_memory),
        "memory in place": _cross(look=_memory_in_place),
        "mask in place": _cross(look=_mask_in_place),
        "~ on an int mask": _cross(look=_not_an_int_mask),
        "mask by another name": _OtherMaskName,
        "no memory mask": _NoMask,
        "mask in the state dict": _built(CrossLayer, _persistent_mask),
        "dropout in the attention": _built(CrossLayer, _dropout_in_attention),
        "another eps": _built(CrossLayer, _own_eps),
        "PyTorch's layer": _WholeCrossLayer,
    },
}
