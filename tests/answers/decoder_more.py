"""More answers to lesson 06, as text: whole classes as people write them, and small changes of them."""

import torch.nn.functional as F
from worked import answer_in

IMPORTS = """import math

import torch
import torch.nn.functional as F
from torch import nn
"""

DECODER = """
class TransformerDecoderLayer(nn.Module):
    def __init__(self, d_model, n_heads, d_ff):
        super().__init__()
        self.self_attn = nn.MultiheadAttention(d_model, n_heads, batch_first=True)
        self.linear1 = nn.Linear(d_model, d_ff)
        self.linear2 = nn.Linear(d_ff, d_model)
        self.norm1 = nn.LayerNorm(d_model)
        self.norm2 = nn.LayerNorm(d_model)

    def forward(self, x):
        N = x.size(1)
        mask = torch.triu(torch.ones(N, N, dtype=torch.bool, device=x.device), diagonal=1)
        h = self.norm1(x)
        a, _ = self.self_attn(h, h, h, attn_mask=mask)
        x = x + a
        h = self.norm2(x)
        f = self.linear2(F.gelu(self.linear1(h)))
        return x + f
"""
CROSS = """
class CrossAttentionDecoderLayer(nn.Module):
    def __init__(self, d_model, n_heads, d_ff):
        super().__init__()
        self.self_attn = nn.MultiheadAttention(d_model, n_heads, batch_first=True)
        self.multihead_attn = nn.MultiheadAttention(d_model, n_heads, batch_first=True)
        self.linear1 = nn.Linear(d_model, d_ff)
        self.linear2 = nn.Linear(d_ff, d_model)
        self.norm1 = nn.LayerNorm(d_model)
        self.norm2 = nn.LayerNorm(d_model)
        self.norm3 = nn.LayerNorm(d_model)

    def forward(self, x, memory, memory_mask=None):
        N = x.size(1)
        mask = torch.triu(torch.ones(N, N, dtype=torch.bool, device=x.device), diagonal=1)
        a, _ = self.self_attn(x, x, x, attn_mask=mask)
        x = self.norm1(x + a)
        padding = None if memory_mask is None else ~memory_mask
        c, _ = self.multihead_attn(x, memory, memory, key_padding_mask=padding)
        x = self.norm2(x + c)
        f = self.linear2(F.relu(self.linear1(x)))
        return self.norm3(x + f)
"""
MASK = "torch.triu(torch.ones(N, N, dtype=torch.bool, device=x.device), diagonal=1)"
ATTEND, LOOK = (
    "self.self_attn(h, h, h, attn_mask=mask)",
    "self.multihead_attn(x, memory, memory, key_padding_mask=padding)",
)
FEED, LAST = "self.linear2(F.gelu(self.linear1(h)))", "return self.norm3(x + f)"
RIGHT_CHANGES = {
    "as written": (),
    "minus a billion": ((MASK, "torch.triu(torch.full((N, N), -1e9, dtype=x.dtype), diagonal=1)"),),
    "generated mask": ((MASK, "nn.Transformer.generate_square_subsequent_mask(N, dtype=x.dtype)"),),
    "compared positions": ((MASK, "torch.arange(N)[None, :] > torch.arange(N)[:, None]"),),
    "one eps for all": (
        ("d_ff):", "d_ff, eps=1e-5):"),
        ("nn.LayerNorm(d_model)", "nn.LayerNorm(d_model, eps)"),
    ),
    "own kind of norm": (("self.norm1 = nn.LayerNorm", "self.norm1 = type('Norm', (nn.LayerNorm,), {})"),),
    "mask kept by length": (
        ("    def __init__", "    masks = {}\n\n    def __init__"),
        (MASK, f"self.masks.setdefault(N, {MASK})"),
    ),
    "other names for sizes": (("N = x.size(1)", "B, N, D = *x.shape[:2], x.shape[-1]"),),
}
DECODER_WRONG = {
    "relu6": (("F.gelu", "F.relu6"),),
    "leaky": (("F.gelu", "F.leaky_relu"),),
    "sandwich": (("x = x + a", "x = self.norm1(x + a)"), ("return x + f", "return self.norm2(x + f)")),
    "second norm twice": (("h = self.norm1(x)", "h = self.norm2(x)"),),
    "centred over the samples": (("h = self.norm1(x)", "h = self.norm1(x - x.mean(0))"),),
    "a minus": (("x = x + a", "x = x - a"),),
    "a product": (("x = x + a", "x = x * a"),),
    "attention twice": (("x = x + a", "x = x + a + a"),),
    "values not normed": ((ATTEND, "self.self_attn(h, h, x, attn_mask=mask)"),),
    "one head": (("nn.MultiheadAttention(d_model, n_heads", "nn.MultiheadAttention(d_model, 1"),),
    "a zero key": (("batch_first=True", "add_zero_attn=True, batch_first=True"),),
    "one norm object": (("self.norm2 = nn.LayerNorm(d_model)", "self.norm2 = self.norm1"),),
    "spread of the sample": (
        ("h = self.norm1(x)", "h = self.norm1((x - x.mean(-1, keepdim=True)) / x.std(-1, keepdim=True) / 2)"),
        ("nn.LayerNorm(d_model)", "nn.LayerNorm(d_model, eps=1e-3)"),
    ),
    "network reads the attention": (("h = self.norm2(x)", "h = self.norm2(a)"),),
    "softmax inside": (("F.gelu(self.linear1(h))", "torch.softmax(self.linear1(h), dim=-1)"),),
}
CROSS_WRONG = {
    "relu6": (("F.relu", "F.relu6"),),
    "float mask kept": (("~memory_mask", "memory_mask.to(x.dtype)"),),
    "mask in another order": (
        (
            LOOK,
            "self.multihead_attn(x, memory, memory, attn_mask=None if padding is None else "
            "padding[:, None].expand(-1, N, -1).repeat(self.multihead_attn.num_heads, 1, 1))",
        ),
    ),
    "attentions change places": (
        ("self.self_attn(x", "self.other(x"),
        ("self.multihead_attn(x", "self.self_attn(x"),
        ("self.other(x", "self.multihead_attn(x"),
    ),
    "first norm of the branch": (("self.norm1(x + a)", "x + self.norm1(a)"),),
    "centred over the samples": (("self.self_attn(x, x, x", "self.self_attn(x - x.mean(0), x, x"),),
    "stream twice": (("self.norm2(x + c)", "self.norm2(x + x + c)"),),
    "normed twice": ((LAST, "return self.norm3(self.norm3(x + f))"),),
    "network reads the memory's part": (("self.linear1(x)", "self.linear1(c)"),),
    "no self-attention": (("self.norm1(x + a)", "self.norm1(x)"),),
    "last of the memory": ((LOOK, "self.multihead_attn(x, memory[:, -1:], memory[:, -1:])"),),
    "attention used again": ((LAST, "return self.norm3(x + c + f)"),),
    "one norm object": (("self.norm3 = nn.LayerNorm(d_model)", "self.norm3 = self.norm2"),),
    "biases left out": (("self.linear1(x)", "F.linear(x, self.linear1.weight)"),),
}


def _changed(name, text, changes):
    """`text` with each (old, new) replaced, run: the class of that name, by what was changed."""
    found = {}
    for label, pairs in changes.items():
        changed = text
        for old, new in pairs:
            assert old in changed, (label, old)
            changed = changed.replace(old, new)
        found[label] = answer_in(IMPORTS + changed, name)
    return found


def _bias_twice(x, linear1, linear2):
    return linear2(F.gelu(linear1(x))) + linear2.bias


def _hidden_normed(x, linear1, linear2):
    return linear2(F.normalize(F.gelu(linear1(x)), dim=-1))


RIGHT, WRONG = {}, {"decoder.feed_forward": {"bias twice": _bias_twice, "hidden normed": _hidden_normed}}
for _text, _wrong in ((DECODER, DECODER_WRONG), (CROSS, CROSS_WRONG)):
    _name = _text.split()[1].partition("(")[0]
    RIGHT[f"decoder.{_name}"] = _changed(_name, _text, RIGHT_CHANGES)
    WRONG[f"decoder.{_name}"] = _changed(_name, _text, _wrong)
