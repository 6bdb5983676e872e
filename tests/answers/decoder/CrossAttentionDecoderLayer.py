"""Answers to decoder.CrossAttentionDecoderLayer."""

import torch
import torch.nn.functional as F
from torch import nn

from answers.decoder import shared


class Layer(nn.Module):
    """The encoder-decoder layer in small methods."""

    def __init__(self, d_model, n_heads, d_ff):
        super().__init__()
        self.self_attn = nn.MultiheadAttention(d_model, n_heads, dropout=0.0, batch_first=True)
        self.multihead_attn = nn.MultiheadAttention(d_model, n_heads, dropout=0.0, batch_first=True)
        self.linear1, self.linear2 = nn.Linear(d_model, d_ff), nn.Linear(d_ff, d_model)
        self.norm1, self.norm2, self.norm3 = (nn.LayerNorm(d_model) for _ in range(3))

    def attend(self, x):
        mask = torch.ones(x.shape[1], x.shape[1]).triu(1).bool()
        return self.self_attn(x, x, x, attn_mask=mask, need_weights=False)[0]

    def look(self, x, memory, memory_mask):
        blocked = None if memory_mask is None else ~memory_mask
        return self.multihead_attn(x, memory, memory, key_padding_mask=blocked, need_weights=False)[0]

    def forward(self, x, memory, memory_mask=None):
        x = self.norm1(x + self.attend(x))
        x = self.norm2(x + self.look(x, memory, memory_mask))
        return self.norm3(x + self.linear2(F.relu(self.linear1(x))))


class OnlyWhatMayBeSeen(Layer):
    """Sample by sample, blocked tokens cut out of the memory."""

    def look(self, x, memory, memory_mask=None):
        if memory_mask is None:
            memory_mask = torch.ones(memory.shape[:2], dtype=torch.bool)
        rows = [
            self.multihead_attn(x[i : i + 1], memory[i : i + 1, seen], memory[i : i + 1, seen])[0]
            for i, seen in enumerate(memory_mask)
        ]
        return torch.cat(rows)


class ByHand(Layer):
    """The packed weights of nn.MultiheadAttention, used by F.scaled_dot_product_attention."""

    def look(self, x, memory, memory_mask=None):
        part = self.multihead_attn
        w_q, w_k, w_v = part.in_proj_weight.chunk(3)
        b_q, b_k, b_v = part.in_proj_bias.chunk(3)
        q, k, v = F.linear(x, w_q, b_q), F.linear(memory, w_k, b_k), F.linear(memory, w_v, b_v)
        q, k, v = (t.unflatten(-1, (part.num_heads, -1)).transpose(1, 2) for t in (q, k, v))
        mask = None if memory_mask is None else memory_mask[:, None, None, :]
        out = F.scaled_dot_product_attention(q, k, v, attn_mask=mask)
        return part.out_proj(out.transpose(1, 2).flatten(2))


class TokensFirst(Layer):
    def __init__(self, d_model, n_heads, d_ff, dropout=0.0, eps=1e-5):
        super().__init__(d_model, n_heads, d_ff)
        self.self_attn, self.multihead_attn = (nn.MultiheadAttention(d_model, n_heads, dropout) for _ in range(2))
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


class SampleBySample(Layer):
    def forward(self, x, memory, memory_mask=None):
        masks = [None] * len(x) if memory_mask is None else memory_mask.split(1)
        parts = zip(x.split(1), memory.split(1), masks)
        return torch.cat([super(SampleBySample, self).forward(*part) for part in parts])


class WholeLayer(nn.TransformerDecoderLayer):
    def __init__(self, d_model, n_heads, d_ff):
        super().__init__(d_model, n_heads, d_ff, 0.0, batch_first=True)

    def forward(self, x, memory, memory_mask=None):
        mask = torch.ones(x.shape[1], x.shape[1], dtype=torch.bool).triu(1)
        blocked = None if memory_mask is None else ~memory_mask
        return super().forward(x, memory, mask, memory_key_padding_mask=blocked)


LOOK = "self.multihead_attn(x, memory, memory, key_padding_mask=padding)"
PADDING = "None if memory_mask is None else ~memory_mask"
FIRST, SECOND, LAST = "self.norm1(x + attended)", "self.norm2(x + gathered)", "self.norm3(x + self.linear2(inner))"
OTHER_NAME = {"memory_mask=None": "padding_mask=None", PADDING: PADDING.replace("memory_mask", "padding_mask")}
HEADS = "self.multihead_attn.num_heads"
PAIRS = "memory_mask[:, None].expand(-1, tokens, -1).{}, need_weights=False)"
BY_PAIRS = f"self.multihead_attn(x, memory, memory, attn_mask=None if memory_mask is None else {PAIRS}"
KINDS = (Layer, OnlyWhatMayBeSeen, ByHand, TokensFirst, SampleBySample)
RIGHT = shared.RIGHT | {kind.__name__: kind for kind in KINDS} | {
    "function": lambda d_model, n_heads, d_ff: Layer(d_model, n_heads, d_ff),
    "logical_not": {"~memory_mask": "memory_mask.logical_not()"},
    "keys as low numbers": {"~memory_mask": "torch.zeros_like(memory[..., 0]).masked_fill(~memory_mask, -torch.inf)"},
    "mask of pairs": {LOOK: BY_PAIRS.format(f"repeat_interleave({HEADS}, 0).logical_not()")},
    "ReLU by clamp": {"F.relu(self.linear1(x))": "self.linear1(x).clamp(min=0)"},
    "more arguments": {"memory_mask=None)": "memory_mask=None, verbose=False, **more)"},
}
WRONG = shared.WRONG | {
    "inverted, NaN cleaned": {"~memory_mask": "memory_mask", SECOND: "self.norm2(x + gathered.nan_to_num())"},
    "inverted, finite fill": {"~memory_mask": "memory[..., 0].new_zeros(()).where(~memory_mask, -1e9)"},
    "inverted by pairs": {LOOK: BY_PAIRS.format(f"repeat_interleave({HEADS}, 0)")},
    "both masks inverted": {"~memory_mask": "memory_mask", "attn_mask=blocked": "attn_mask=~blocked"},
    "float mask": {"~memory_mask": "memory_mask.to(x.dtype)"},
    "mask of pairs in another order": {LOOK: BY_PAIRS.format(f"repeat({HEADS}, 1, 1).logical_not()")},
    "memory mask as attn_mask": {"key_padding_mask=padding": "attn_mask=padding"},
    "the first sample's mask": {"~memory_mask": "(~memory_mask[:1]).expand(len(x), -1)"},
    "mask in place": {"~memory_mask": "memory_mask.logical_not_()"},
    "~ on an int mask": {"~memory_mask": "(~memory_mask.int()).bool()"},
    "mask by another name": OTHER_NAME,
    "no memory mask": {", memory_mask=None": "", PADDING: "None"},
    "memory asks": {LOOK: "self.multihead_attn(memory, x, x)", SECOND: "self.norm2(x + gathered[:, :tokens])"},
    "mean of the memory": {LOOK: "self.multihead_attn(x, *[memory.mean(dim=1, keepdim=True)] * 2)"},
    "last of the memory": {LOOK: "self.multihead_attn(x, memory[:, -1:], memory[:, -1:])"},
    "the first 64 of the memory": {LOOK: LOOK.replace("memory, memory, key", "memory[:, :64], memory[:, :64], key")},
    "memory in place": {LOOK: LOOK.replace("memory, memory", "memory.mul_(1.0001), memory")},
    "attentions change places": {"self.self_attn(": "self.multihead_attn(", "self.multihead_attn(": "self.self_attn("},
    "norms in another order": {"norm1(": "norm3(", "norm2(": "norm1(", "norm3(": "norm2("},
    "first norm of the branch": {FIRST: "x + self.norm1(attended)"},
    "eps of the second norm": {"self.norm2 = nn.LayerNorm(d_model)": "self.norm2 = nn.LayerNorm(d_model, eps=1e-6)"},
    "eps of the last norm": {"self.norm3 = nn.LayerNorm(d_model)": "self.norm3 = nn.LayerNorm(d_model, eps=1e-12)"},
    "normed twice": {LAST: f"self.norm3({LAST})"},
    "stream thrice": {SECOND: "self.norm2(x + x + x + gathered)"},
    "network reads the memory's part": {"self.linear1(x)": "self.linear1(gathered)"},
    "attention used again": {LAST: "self.norm3(x + gathered + self.linear2(inner))"},
    "no self-attention": {FIRST: "self.norm1(x)"},
    "relu6": {"F.relu": "F.relu6"},
    "biases left out": {"self.linear1(x)": "F.linear(x, self.linear1.weight)"},
    "PyTorch's layer": WholeLayer,
}
