"""Answers to tasks.SequenceClassifier."""

import copy

import torch
import torch.nn.functional as F
from torch import nn


class Base(nn.Module):
    def __init__(self, vocab_size, n_classes, max_len, d_model, n_heads, d_ff, n_layers):
        super().__init__()
        self.n_heads = n_heads
        self.token_embedding = nn.Embedding(vocab_size, d_model)
        self.position_embedding = nn.Embedding(max_len, d_model)
        layer = nn.TransformerEncoderLayer(d_model, n_heads, d_ff, 0.0, "gelu", batch_first=True, norm_first=True)
        self.layers = nn.ModuleList(copy.deepcopy(layer) for _ in range(n_layers))
        self.norm = nn.LayerNorm(d_model)
        self.head = nn.Linear(d_model, n_classes)

    def embed(self, ids):
        return self.token_embedding(ids) + self.position_embedding.weight[: ids.shape[1]]

    def encode(self, x, padding):
        for layer in self.layers:
            x = layer(x, src_key_padding_mask=None if padding is None else padding.logical_not())
        return self.norm(x)

    def forward(self, ids, padding=None):
        x = self.encode(self.embed(ids), padding)
        if padding is None:
            return self.head(x.mean(1))
        return self.head(x.masked_fill(~padding[:, :, None], 0).sum(1) / padding.sum(1, keepdim=True))


class SquareMask(Base):
    """A mask for each head of each sample."""

    def encode(self, x, padding):
        mask = None
        if padding is not None:
            mask = ~padding[:, None, None].expand(-1, self.n_heads, x.shape[1], -1).flatten(0, 1)
        for layer in self.layers:
            x = layer(x, src_mask=mask)
        return self.norm(x)


class FloatMask(Base):
    def encode(self, x, padding):
        low = None
        if padding is not None:
            low = torch.zeros(padding.shape, dtype=x.dtype).masked_fill(~padding, -torch.inf)
        for layer in self.layers:
            x = layer(x, src_key_padding_mask=low)
        return self.norm(x)


class HeadFirst(Base):
    """Classes of every token, then the mean."""

    def forward(self, ids, padding=None):
        if padding is None:
            padding = ids == ids
        scores = self.head(self.encode(self.embed(ids), padding))
        weights = padding.to(scores.dtype) / padding.sum(1, keepdim=True)
        return torch.einsum("bn,bnc->bc", weights, scores)


class OneByOne(Base):
    def forward(self, ids, padding=None):
        padding = torch.ones(ids.shape, dtype=torch.bool) if padding is None else padding
        out = []
        for x, real in zip(self.embed(ids), padding):
            out.append(self.encode(x[real][None], None)[0].mean(0))
        return self.head(torch.stack(out))


class ByHand(Base):
    """The layers' own parts, used one by one."""

    def encode(self, x, padding):
        mask = None if padding is None else padding[:, None, None]
        for layer in self.layers:
            attention = layer.self_attn
            packed = F.linear(layer.norm1(x), attention.in_proj_weight, attention.in_proj_bias)
            q, k, v = (t.unflatten(-1, (self.n_heads, -1)).transpose(1, 2) for t in packed.chunk(3, -1))
            heads = F.scaled_dot_product_attention(q, k, v, attn_mask=mask)
            x = x + attention.out_proj(heads.transpose(1, 2).flatten(2))
            x = x + layer.linear2(F.gelu(layer.linear1(layer.norm2(x))))
        return self.norm(x)


class Wrapped(Base):
    """PyTorch's own stack, its layers shared."""

    def encode(self, x, padding):
        stack = nn.TransformerEncoder(self.layers[0], 1, enable_nested_tensor=False)
        stack.layers, stack.norm = self.layers, self.norm
        stack.num_layers = len(self.layers)
        return stack(x, src_key_padding_mask=None if padding is None else ~padding)


KINDS = (Base, SquareMask, FloatMask, HeadFirst, OneByOne, ByHand, Wrapped)
RIGHT = {kind.__name__: kind for kind in KINDS} | {
    "kept places": {"self.head = ": "self.register_buffer('places', torch.arange(max_len), persistent=False)\n  "
                    "      self.head = ",
                    "torch.arange(ids.shape[1], device=ids.device)": "self.places[: ids.shape[1]]"},
}
CALL = "layer(x, src_key_padding_mask=~padding)"
WRONG = {
    "a padding of one more": {CALL: "layer(x, src_key_padding_mask=~(padding | padding.roll(1, 1)))"},
    "masked in the first layer": {CALL: "layer(x, src_key_padding_mask=~padding if layer is self.layers[0] else None)"},
    "places of the first text": {"        x = self.token": "        self.places = places = getattr(self, 'places', "
                                 "places)[: ids.shape[1]]\n        x = self.token"},
    "places backwards": {"(places)": "(places.flip(0))"},
    "places from one": {"torch.arange(ids.shape[1],": "torch.arange(1, ids.shape[1] + 1,"},
    "dropout before the head": {"self.head(pooled)": "self.head(F.dropout(pooled, 0.2, self.training))"},
    "ReLU before the head": {"self.head(pooled)": "self.head(F.relu(pooled))"},
    "embeddings cut off": {"x = self.token_embedding(ids)": "x = self.token_embedding(ids).detach()"},
    "id 0 is padding": {"nn.Embedding(vocab_size, d_model)": "nn.Embedding(vocab_size, d_model, padding_idx=0)"},
    "256 places": {"torch.arange(ids.shape[1], device=ids.device)": "torch.arange(ids.shape[1]).clamp(max=255)"},
    "no head bias": {"nn.Linear(d_model, n_classes)": "nn.Linear(d_model, n_classes, bias=False)"},
    "the mask is changed": {"if padding is None:": "if padding is not None:\n            padding[:, 0] = True\n "
                            "       if padding is None:"},
    "float32": {"self.head(pooled)": "self.head(pooled).float()"},
    "norm left at its start": {"x = self.norm(x)": "x = F.layer_norm(x, x.shape[-1:])"},
    "tokens first": {"batch_first=True, ": "",
                     CALL: CALL.replace("~padding", "None if padding.all() else ~padding")},
    "residual around the stack": {"x = self.norm(x)": "x = self.norm(x) + self.token_embedding(ids)"},
}
