"""Answers to tasks.SequenceRegressor."""

import torch
import torch.nn.functional as F
from torch import nn


def layer(d_model, n_heads, d_ff):
    return nn.TransformerEncoderLayer(d_model, n_heads, d_ff, dropout=0, activation=F.gelu, batch_first=True,
                                      norm_first=True)


class Base(nn.Module):
    def __init__(self, length, d_model, n_heads, d_ff, n_layers):
        super().__init__()
        self.input_proj = nn.Linear(1, d_model)
        self.position_embedding = nn.Embedding(length, d_model)
        self.layers = nn.ModuleList()
        for _ in range(n_layers):
            self.layers.append(layer(d_model, n_heads, d_ff))
        self.norm = nn.LayerNorm(d_model)
        self.head = nn.Linear(d_model, 1)

    def tokens(self, x):
        return self.input_proj(x.unsqueeze(2)) + self.position_embedding.weight

    def read(self, x):
        return self.head(x[:, -1, :]).squeeze(-1)

    def forward(self, x):
        x = self.tokens(x)
        for block in self.layers:
            x = block(x)
        return self.read(self.norm(x))


class ReadFirst(Base):
    """The last token chosen before the norm."""

    def forward(self, x):
        x = self.tokens(x)
        for block in self.layers:
            x = block(x)
        return self.head(self.norm(x[:, -1])).flatten()


class ReadLate(Base):
    def read(self, x):
        return self.head(x)[:, -1, 0]


class OuterProduct(Base):
    def tokens(self, x):
        projected = x[..., None] * self.input_proj.weight[:, 0] + self.input_proj.bias
        return projected + self.position_embedding(torch.arange(x.size(1)))[None]


class Backwards(Base):
    """Tokens in the opposite order, each with its own position: attention does not depend on the order."""

    def forward(self, x):
        x = self.tokens(x).flip(1)
        for block in self.layers:
            x = block(x)
        return F.linear(self.norm(x)[:, 0], self.head.weight, self.head.bias).view(-1)


class Functional(Base):
    def forward(self, x):
        x = self.tokens(x)
        for block in self.layers:
            normed = block.norm1(x)
            x = x + block.self_attn(normed, normed, normed, need_weights=False)[0]
            x = x + block.linear2(F.gelu(block.linear1(block.norm2(x))))
        return (self.norm(x)[:, -1] * self.head.weight).sum(-1) + self.head.bias


RIGHT = {kind.__name__: kind for kind in (Base, ReadFirst, ReadLate, OuterProduct, Backwards, Functional)}
LAST = "return self.head(x[:, -1])[:, 0]"
WRONG = {
    "the last but one": {"x[:, -1]": "x[:, max(0, x.shape[1] - 2)]"},
    "exponential": {LAST: LAST + ".exp()"},
    "a float": {LAST: LAST + ".float()"},
    "cut off": {"x = self.input_proj(values)": "x = self.input_proj(values).detach()"},
    "a list": {LAST: LAST + ".tolist()"},
    "no input bias": {"nn.Linear(1, d_model)": "nn.Linear(1, d_model, bias=False)"},
    "padded places": {"nn.Embedding(length, d_model)": "nn.Embedding(length, d_model, padding_idx=0)"},
    "values squared": {"values = x[..., None]": "values = x[..., None] ** 2"},
    "one head": {"d_model, n_heads, d_ff, dropout": "d_model, 1, d_ff, dropout"},
    "noise in training": {"values = x[..., None]": "values = x[..., None] + 0.01 * self.training"},
    "the first and the last": {"x[:, -1]": "(x[:, -1] + x[:, 0])"},
}
