"""Answers to llama.LlamaLayer."""

import torch
import torch.nn.functional as F
from torch import nn


class Parts(nn.Module):
    def __init__(self, d_model, d_ff, attention, eps=1e-5):
        super().__init__()
        self.attention = attention
        self.norm1 = nn.RMSNorm(d_model, eps)
        self.norm2 = nn.RMSNorm((d_model,), eps=eps, elementwise_affine=True)
        for name, sizes in {"gate_proj": (d_model, d_ff), "up_proj": (d_model, d_ff), "down_proj": (d_ff,
            d_model)}.items():
            self.add_module(name, nn.Linear(*sizes, bias=False))


class Swiglu(Parts):
    def forward(self, x, cache=None):
        h, new_cache = self.attention(self.norm1(x), cache)
        x = x + h
        return x + self.mlp(self.norm2(x)), new_cache

    def mlp(self, x):
        return self.down_proj(F.silu(self.gate_proj(x)) * self.up_proj(x))


class InSteps(Parts):
    def forward(self, x, cache=None):
        residual = x
        result = self.attention.__call__(self.norm1(x), cache)
        x = torch.add(residual, result[0])
        gate, up = F.linear(self.norm2(x), torch.cat((self.gate_proj.weight, self.up_proj.weight))).chunk(2,
            dim=-1)
        x = x + (F.silu(gate) * up) @ self.down_proj.weight.T
        return x, result[1]


class OwnNorm(nn.RMSNorm):
    def forward(self, x):
        return x / torch.sqrt((x * x).mean(-1, keepdim=True) + self.eps) * self.weight


class NormsOfOurOwn(Parts):
    def __init__(self, d_model, d_ff, attention, eps=1e-5):
        super().__init__(d_model, d_ff, attention, eps)
        self.norm1, self.norm2 = OwnNorm(d_model, eps=eps), OwnNorm(d_model, eps=eps)

    def forward(self, x, cache=None):
        heard, cache = self.attention(self.norm1(x), cache)
        stream = heard + x
        normed = self.norm2(stream)
        gate = self.gate_proj(normed)
        opened = gate * gate.sigmoid()
        return self.down_proj(opened * self.up_proj(normed)) + stream, cache


class AddedInItsOwnMemory(Parts):
    """Writes into tensors that it made itself, which is nobody else's concern."""

    def forward(self, x, cache=None):
        heard, cache = self.attention(self.norm1(x), cache)
        stream = x.clone()
        stream += heard
        hidden = self.gate_proj(self.norm2(stream)).sigmoid() * self.gate_proj(self.norm2(stream))
        hidden = hidden * self.up_proj(self.norm2(stream))
        out = self.down_proj(hidden)
        out += stream
        return out, cache


RIGHT = {
    "swiglu": Swiglu,
    "in steps": InSteps,
    "norms of our own": NormsOfOurOwn,
    "added in its own memory": AddedInItsOwnMemory,
    "a list is unpacked": {"heard, cache = self.attention(self.norm1(x), cache)":
    "(heard, cache) = tuple(self.attention(self.norm1(x), cache))"},
}
WRONG = {
    "the cache given where none comes back": {
        "heard, cache = self.attention(self.norm1(x), cache)": "heard, new = self.attention(self.norm1(x), cache)\n"
        "        cache = cache if new is None else new"},
    "a SiLU that overflows": {"F.silu(self.gate_proj(read))": "self.gate_proj(read) / (1 + torch.exp(-self.gate_proj("
                              "read)))"},
    "a list": {"return x + self.down_proj(hidden), cache": "return [x + self.down_proj(hidden), cache]"},
    "dropout": {"return x + self.down_proj(hidden)":
    "return x + F.dropout(self.down_proj(hidden), 0.1, self.training)"},
    "a scaled residual": {"x = x + heard": "x = x + 0.5 * heard"},
    "the average": {"x = x + heard": "x = (x + heard) / 2"},
    "a norm of the whole": {"return x + self.down_proj(hidden)":
    "return self.norm2(x + self.down_proj(hidden))"},
    "an epsilon outside": {"self.norm1(x), cache)":
    "x / (x.square().mean(-1, keepdim=True).sqrt() + self.norm1.eps) * self.norm1.weight, cache)"},
    "a larger epsilon": {"nn.RMSNorm(d_model, eps=eps)": "nn.RMSNorm(d_model, eps=10 * eps)"},
    "norms that do not learn": {"self.norm1(x), cache)":
    "F.rms_norm(x, x.shape[-1:], eps=self.norm1.eps), cache)"},
    "another network": {"F.silu(self.gate_proj(read)) * self.up_proj(read)":
    "F.relu(self.gate_proj(read)) * self.up_proj(read)"},
    "the attention reads the network": {"self.attention(self.norm1(x), cache)":
    "self.attention(self.norm2(x), cache)"},
    "the attention's gradient is cut": {"x = x + heard": "x = x + heard.detach()"},
    "one cache for ever": {"heard, cache = self.attention(self.norm1(x), cache)":
    "self.__dict__.setdefault('kept', cache)\n"
                           "        heard, cache = self.attention(self.norm1(x), self.__dict__['kept'])"},
    "three arguments": {"self.norm1(x), cache)":
    "self.norm1(x), cache, *[])\n        self.attention(x, None)"},
    "an extra part": {"self.attention = attention":
    "self.attention = attention\n        self.norm3 = nn.RMSNorm(d_model)"},
    "attention by another name": {"self.attention": "self.self_attn"},
    "more than one new module": {"self.attention = attention":
    "self.attention = type(attention)(d_model, attention.kind)"},
    "the attention twice in the state": {"self.attention = attention":
    "self.attention = attention\n        self.also = attention"},
    "the stream before is lost": {"return x + self.down_proj(hidden)":
    "return heard + self.down_proj(hidden)"},
    "written into the cache": {"x = x + heard":
    "x = x + heard\n        cache[0].mul_(2.0) if isinstance(cache, tuple) else None"},
}
