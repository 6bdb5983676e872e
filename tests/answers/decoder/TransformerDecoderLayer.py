"""Answers to decoder.TransformerDecoderLayer."""

import functools

import torch
import torch.nn.functional as F
from torch import nn

from answers.decoder import shared


class Layer(nn.Module):
    """GPT's layer in small methods."""

    def __init__(self, d_model, n_heads, d_ff):
        super().__init__()
        self.self_attn = nn.MultiheadAttention(d_model, n_heads, batch_first=True)
        self.linear1, self.linear2 = nn.Linear(d_model, d_ff), nn.Linear(d_ff, d_model)
        self.norm1, self.norm2 = nn.LayerNorm(d_model), nn.LayerNorm(d_model)

    def attend(self, x):
        n = x.shape[1]
        mask = torch.triu(torch.ones(n, n, device=x.device), diagonal=1).bool()
        return self.self_attn(x, x, x, attn_mask=mask, need_weights=False)[0]

    def feed(self, x):
        return self.linear2(F.gelu(self.linear1(x)))

    def forward(self, x):
        x = x + self.attend(self.norm1(x))
        return x + self.feed(self.norm2(x))


class TokensFirst(Layer):
    """Without batch_first, the axes swapped by hand."""

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


class WholeLayer(nn.TransformerEncoderLayer):
    def __init__(self, d_model, n_heads, d_ff):
        super().__init__(d_model, n_heads, d_ff, 0.0, "gelu", batch_first=True, norm_first=True)

    def forward(self, x):
        mask = nn.Transformer.generate_square_subsequent_mask(x.shape[1], dtype=x.dtype)
        return super().forward(x, mask, is_causal=True)


class InheritsOnly(WholeLayer):
    attend, feed, forward = Layer.attend, Layer.feed, Layer.forward


class Inside(Layer):
    """PyTorch's own layer, built from the parts in forward."""

    def forward(self, x):
        d_ff, d_model = self.linear1.weight.shape
        how = {"dropout": 0.0, "activation": "gelu", "batch_first": True, "norm_first": True}
        inner = nn.TransformerEncoderLayer(d_model, self.self_attn.num_heads, d_ff, **how).to(x.dtype)
        mask = nn.Transformer.generate_square_subsequent_mask(x.shape[1], dtype=x.dtype)
        return torch.func.functional_call(inner, dict(self.named_parameters()), (x,), {"src_mask": mask})


ATTEND = "attended, _ = self.self_attn(normed, normed, normed, attn_mask=blocked)"
JOIN, LAST = "x = x + attended", "return x + self.linear2(inner)"
KINDS = (Layer, TokensFirst, ByHand, WithDropout, SubclassedPart, SampleBySample, Growing)
RIGHT = shared.RIGHT | {kind.__name__: kind for kind in KINDS} | {
    "partial": functools.partial(WithDropout, dropout=0.0),
    "sum in place": {LAST: "output = self.linear2(inner)\n        output += x\n        return output"},
}
WRONG = shared.WRONG | {
    "weights for output": {ATTEND: ATTEND.replace("attended, _", "_, attended")},
    "tuple for output": {ATTEND: ATTEND.replace("attended, _", "attended")},
    "float32 attention": {ATTEND: ATTEND.replace("normed,", "normed.float(),")},
    "pre, then post": {"self.norm2(x)": "x", LAST: "return self.norm2(x + self.linear2(inner))"},
    "sandwich": {JOIN: "x = self.norm1(x + attended)", LAST: "return self.norm2(x + self.linear2(inner))"},
    "scaled residuals": {JOIN: "x = (x + attended) * 0.5**0.5"},
    "dropout": {JOIN: "x = x + F.dropout(attended, 0.1, self.training)"},
    "second norm twice": {"self.norm1(x)": "self.norm2(x)"},
    "a minus": {JOIN: "x = x - attended"},
    "a product": {JOIN: "x = x * attended"},
    "attention twice": {JOIN: "x = x + attended + attended"},
    "values not normed": {"normed, normed, normed": "normed, normed, x"},
    "keys not normed": {"normed, normed, normed": "normed, x, normed"},
    "network reads the attention": {"self.norm2(x)": "self.norm2(attended)"},
    "hidden normed": {"self.linear1(normed)": "F.normalize(self.linear1(normed), dim=-1)"},
    "relu6": {"F.gelu": "F.relu6"},
    "leaky": {"F.gelu": "F.leaky_relu"},
    "relu, no mask": {"F.gelu": "F.relu", "attn_mask=blocked": "attn_mask=None"},
    "tanh GELU, another eps": {"F.gelu(inner)": "nn.GELU('tanh')(inner)",
                               "nn.LayerNorm(d_model)": "nn.LayerNorm(d_model, eps=1e-6)"},
    "eight tokens at most": {"attn_mask=blocked": "attn_mask=blocked | torch.ones_like(blocked).tril(-8)"},
    "stream cut off": {"self.norm2(x)": "self.norm2(x.detach())"},
    "PyTorch's layer": WholeLayer,
    "inherits from PyTorch's layer": InheritsOnly,
    "PyTorch's layer inside": Inside,
}
