"""Answers to encoder.TransformerEncoderLayer."""

import torch
import torch.nn.functional as F
from torch import nn

from answers.decoder import shared


class Layer(nn.Module):
    """The encoder layer in small methods."""

    def __init__(self, d_model, n_heads, d_ff):
        super().__init__()
        self.self_attn = nn.MultiheadAttention(d_model, n_heads, dropout=0.0, batch_first=True)
        self.linear1, self.linear2 = nn.Linear(d_model, d_ff), nn.Linear(d_ff, d_model)
        self.norm1, self.norm2 = nn.LayerNorm(d_model), nn.LayerNorm(d_model)

    def attend(self, x, padding):
        mask = None if padding is None else padding.logical_not()
        return self.self_attn(x, x, x, key_padding_mask=mask, need_weights=False)[0]

    def forward(self, x, padding=None):
        x = self.norm1(x + self.attend(x, padding))
        return self.norm2(x + self.linear2(torch.relu(self.linear1(x))))


class ByHand(Layer):
    """The packed weights of nn.MultiheadAttention, used by F.scaled_dot_product_attention."""

    def attend(self, x, padding):
        part = self.self_attn
        q, k, v = F.linear(x, part.in_proj_weight, part.in_proj_bias).chunk(3, dim=-1)
        q, k, v = (t.unflatten(-1, (part.num_heads, -1)).transpose(1, 2) for t in (q, k, v))
        mask = None if padding is None else padding[:, None, None, :]
        out = F.scaled_dot_product_attention(q, k, v, attn_mask=mask)
        return part.out_proj(out.transpose(1, 2).flatten(2))


class ByPairs(Layer):
    """Padded tokens neither attend nor are attended to; their own outputs do not matter."""

    def attend(self, x, padding):
        if padding is None:
            return super().attend(x, None)
        allowed = padding[:, :, None] & padding[:, None, :] | torch.eye(x.shape[1], dtype=torch.bool)
        mask = (~allowed).repeat_interleave(self.self_attn.num_heads, dim=0)
        return self.self_attn(x, x, x, attn_mask=mask)[0]


class RealTokensOnly(Layer):
    """Sample by sample, with the padding cut out and zeros as its output."""

    def forward(self, x, padding=None):
        if padding is None:
            return super().forward(x)
        out = torch.zeros_like(x)
        for i, real in enumerate(padding):
            out[i, real] = super().forward(x[i : i + 1, real])[0]
        return out


class TokensFirst(Layer):
    def __init__(self, d_model, n_heads, d_ff, dropout=0.0):
        super().__init__(d_model, n_heads, d_ff)
        self.self_attn = nn.MultiheadAttention(d_model, n_heads)
        self.drop, self.activation = nn.Dropout(dropout), nn.ReLU()

    def forward(self, x, padding=None):
        x = x.transpose(0, 1)
        mask = None if padding is None else padding == 0
        x = self.norm1(x + self.drop(self.self_attn(x, x, x, mask)[0]))
        x = self.norm2(x + self.drop(self.linear2(self.drop(self.activation(self.linear1(x))))))
        return x.transpose(0, 1)


class ZerosForPadding(Layer):
    def forward(self, x, padding=None):
        out = super().forward(x, padding)
        return out if padding is None else out.masked_fill(~padding[..., None], 0.0)


class WholeLayer(nn.TransformerEncoderLayer):
    def __init__(self, d_model, n_heads, d_ff):
        super().__init__(d_model, n_heads, d_ff, 0.0, batch_first=True)

    def forward(self, x, padding=None):
        return super().forward(x, src_key_padding_mask=None if padding is None else ~padding)


class HeldLayer(Layer):
    def forward(self, x, padding=None):
        layer = nn.TransformerEncoderLayer(x.shape[-1], self.self_attn.num_heads, len(self.linear1.weight), 0.0,
                                           batch_first=True).to(x.dtype)
        mask = None if padding is None else ~padding
        return torch.func.functional_call(layer, dict(self.named_parameters()), (x,), {"src_key_padding_mask": mask})


ATTEND = "self.self_attn(x, x, x, key_padding_mask=blocked)"
FIRST, LAST, INNER = "self.norm1(x + attended)", "self.norm2(x + self.linear2(inner))", "F.relu(self.linear1(x))"
FILL = "torch.zeros(padding.shape, dtype=x.dtype).masked_fill(~padding, {})"
SHARED = ("own kind of norm", "one eps for all")
KINDS = (Layer, ByHand, ByPairs, RealTokensOnly, TokensFirst, ZerosForPadding)
RIGHT = {name: shared.RIGHT[name] for name in SHARED} | {kind.__name__: kind for kind in KINDS} | {
    "function": lambda d_model, n_heads, d_ff: Layer(d_model, n_heads, d_ff),
    "keys as low numbers": {"~padding": FILL.format("-torch.inf")},
    "minus a billion": {"~padding": FILL.format("-1e9")},
    "ReLU by clamp": {INNER: "self.linear1(x).clamp(min=0)"},
    "buffer outside the state dict": {"super().__init__()": "super().__init__()\n        self.register_buffer('one', "
                                      "torch.ones(1), persistent=False)", FIRST: "self.norm1(x + attended * self.one)"},
    "more arguments": {"padding=None)": "padding=None, verbose=False, **more)"},
}
WITHOUT_MASK = (
    "eps of 1e-8", "eps outside the root", "spread over one less", "centred over the samples", "scale without shift",
    "norm of the whole batch", "one head", "a zero key", "linears without bias", "d_ff ignored", "softmax inside",
    "second bias left out", "parts in a sequence as well",
)
WRONG = {name: shared.WRONG[name] for name in WITHOUT_MASK} | {
    "padding only if the first sentence has some": {"padding is None else": "padding is None or padding[0].all() else"},
    "padding only if the last sentence has some": {"padding is None else": "padding is None or padding[-1].all() else"},
    "padding only if the first and the last have some": {"padding is None else": "padding is None or padding[0].all() "
                                                         "or padding[-1].all() else"},
    "no padding in a single sentence": {"padding is None else": "padding is None or len(x) == 1 else"},
    "PyTorch's layer": WholeLayer,
    "padding as a bias in float32": {"~padding": "torch.zeros(padding.shape).masked_fill(~padding, -torch.inf)"},
    "PyTorch's layer inside": HeldLayer,
    "a fill of -3": {"~padding": FILL.format("-3.0")},
    "padding by another name": {"padding=None)": "padding_mask=None)", "padding is None else ~padding":
                                "padding_mask is None else ~padding_mask"},
    "padding in place": {"~padding": "padding.logical_not_()"},
    "padding as attn_mask": {"key_padding_mask=blocked": "attn_mask=blocked"},
    "padding cut off at the end": {"~padding": "(torch.arange(x.shape[1]) >= padding.sum(1, keepdim=True))"},
    "padded queries": {ATTEND: "self.self_attn(x, x, x)", FIRST: "self.norm1(x + (attended if padding is None else "
                       "attended * padding[..., None]))"},
    "normed twice": {LAST: f"self.norm2({LAST})"},
    "first norm of the branch": {FIRST: "x + self.norm1(attended)"},
    "attention used again": {LAST: "self.norm2(x + attended + self.linear2(inner))"},
    "relu6": {"F.relu": "F.relu6"},
    "mean of all tokens": {ATTEND: "(x.mean(1, keepdim=True).expand_as(x), None)"},
    "values from the first": {ATTEND: "self.self_attn(x, x, x[:, :1].expand_as(x), key_padding_mask=blocked)"},
    "buffer in the state dict": {"super().__init__()": "super().__init__()\n        self.register_buffer('one', "
                                 "torch.ones(1))"},
    "a third norm": {"self.norm2 = nn": "self.norm3 = nn.LayerNorm(d_model); self.norm2 = nn"},
    "float32": {LAST: f"{LAST}.float()"},
}
