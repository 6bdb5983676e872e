"""Answers to encoder.EncoderDecoder."""

import math

import torch
from torch import nn


def sinusoids(n, width):
    angles = torch.arange(n)[:, None] * torch.exp(torch.arange(0, width, 2) * (-math.log(10000.0) / width))
    table = torch.zeros(n, width)
    table[:, 0::2], table[:, 1::2] = angles.sin(), angles.cos()
    return table


class Model(nn.Module):
    """Masks of floats, positions from a function."""

    def __init__(self, src_vocab, tgt_vocab, d_model, n_heads, d_ff, n_layers):
        super().__init__()
        self.scale = d_model**0.5
        self.src_embedding, self.tgt_embedding = nn.Embedding(src_vocab, d_model), nn.Embedding(tgt_vocab, d_model)
        layer = {"d_model": d_model, "nhead": n_heads, "dim_feedforward": d_ff, "dropout": 0.0, "batch_first": True}
        self.encoder = nn.TransformerEncoder(nn.TransformerEncoderLayer(**layer), n_layers, enable_nested_tensor=False)
        self.decoder = nn.TransformerDecoder(nn.TransformerDecoderLayer(**layer), num_layers=n_layers)
        self.head = nn.Linear(d_model, tgt_vocab)

    def positions(self, x):
        return sinusoids(x.shape[1], x.shape[2]).to(x.dtype)

    def forward(self, src, tgt, src_padding=None):
        x, y = self.src_embedding(src) * self.scale, self.tgt_embedding(tgt) * self.scale
        x, y = x + self.positions(x), y + self.positions(y)
        blocked = None
        if src_padding is not None:
            blocked = torch.zeros(src.shape, dtype=x.dtype).masked_fill(~src_padding, -torch.inf)
        memory = self.encoder(x, src_key_padding_mask=blocked)
        future = nn.Transformer.generate_square_subsequent_mask(tgt.size(1), dtype=x.dtype)
        out = self.decoder(y, memory, future, memory_key_padding_mask=blocked, tgt_is_causal=True)
        return self.head(out)


class GrowingTable(Model):
    """A buffer outside the state dict that grows when a longer sentence comes."""

    def __init__(self, *sizes, **named):
        super().__init__(*sizes, **named)
        self.register_buffer("table", torch.zeros(0, self.head.in_features), persistent=False)

    def positions(self, x):
        if len(self.table) < x.shape[1]:
            self.table = sinusoids(2 * x.shape[1], x.shape[2]).to(x)
        return self.table[: x.shape[1]]


class LayerByLayer(Model):
    def forward(self, src, tgt, src_padding=None):
        x, y = self.src_embedding(src) * self.scale, self.tgt_embedding(tgt) * self.scale
        x, y = x + self.positions(x), y + self.positions(y)
        blocked = None if src_padding is None else src_padding.logical_not()
        for layer in self.encoder.layers:
            x = layer(x, src_key_padding_mask=blocked)
        future = torch.arange(tgt.shape[1])[None] > torch.arange(tgt.shape[1])[:, None]
        for layer in self.decoder.layers:
            y = layer(y, x, tgt_mask=future, memory_key_padding_mask=blocked)
        return self.head(y)


class SentenceBySentence(Model):
    """Padding cut out; positions are those of the whole sentence."""

    def forward(self, src, tgt, src_padding=None):
        rows = []
        for i in range(len(src)):
            real = torch.ones_like(src[i], dtype=torch.bool) if src_padding is None else src_padding[i]
            x, y = (self.src_embedding(src[i : i + 1]) * self.scale, self.tgt_embedding(tgt[i : i + 1]) * self.scale)
            memory = self.encoder((x + self.positions(x))[:, real])
            future = torch.ones(tgt.shape[1], tgt.shape[1], dtype=torch.bool).triu(1)
            rows.append(self.decoder(y + self.positions(y), memory, tgt_mask=future))
        return self.head(torch.cat(rows))


class FromTransformer(nn.Module):
    """The two parts of an nn.Transformer without their final norms."""

    def __init__(self, src_vocab, tgt_vocab, d_model, n_heads, d_ff, n_layers):
        super().__init__()
        whole = nn.Transformer(d_model, n_heads, n_layers, n_layers, d_ff, dropout=0.0, batch_first=True)
        self.encoder, self.decoder = whole.encoder, whole.decoder
        self.encoder.norm = self.decoder.norm = None
        self.src_embedding = nn.Embedding(src_vocab, d_model)
        self.tgt_embedding = nn.Embedding(tgt_vocab, d_model)
        self.head = nn.Linear(d_model, tgt_vocab)

    forward = Model.forward
    scale = property(lambda self: math.sqrt(self.head.in_features))
    positions = Model.positions


class TokensFirst(Model):
    def __init__(self, src_vocab, tgt_vocab, d_model, n_heads, d_ff, n_layers):
        super().__init__(src_vocab, tgt_vocab, d_model, n_heads, d_ff, n_layers)
        self.encoder = nn.TransformerEncoder(nn.TransformerEncoderLayer(d_model, n_heads, d_ff, 0.0), n_layers)
        self.decoder = nn.TransformerDecoder(nn.TransformerDecoderLayer(d_model, n_heads, d_ff, 0.0), n_layers)

    def forward(self, src, tgt, src_padding=None):
        x, y = self.src_embedding(src) * self.scale, self.tgt_embedding(tgt) * self.scale
        x, y = ((t + self.positions(t)).transpose(0, 1) for t in (x, y))
        blocked = None if src_padding is None else src_padding == 0
        memory = self.encoder(x, None, blocked)
        future = torch.ones(len(y), len(y)).triu(1).bool()
        return self.head(self.decoder(y, memory, future, None, None, blocked)).transpose(0, 1)


KINDS = (Model, GrowingTable, LayerByLayer, SentenceBySentence, FromTransformer, TokensFirst)
PADDED = "padded = None if src_padding is None else ~src_padding"
EMBEDDED = "table(ids) * math.sqrt(width) + sinusoids"
RIGHT = {kind.__name__: kind for kind in KINDS} | {
    "function": lambda *sizes, **named: Model(*sizes, **named),
    "always a mask": {PADDED: "padded = ~(torch.ones_like(src).bool() if src_padding is None else src_padding)"},
    "more arguments": {"src_padding=None)": "src_padding=None, verbose=False)"},
    "float64 positions": {"device=ids.device)[:, None]": "device=ids.device, dtype=torch.float64)[:, None]",
                          EMBEDDED: EMBEDDED.replace("sinusoids", "sinusoids.to(table.weight)")},
}
WRITE = "self.decoder(x, memory, tgt_mask=future, memory_key_padding_mask=padded)"
WRONG = {
    "positions of the first length": {EMBEDDED: "table(ids) * math.sqrt(width) + self.__dict__.setdefault("
                                                "'table', sinusoids)[: ids.shape[1]]"},
    "padding only if the last sentence has some": {"src_padding is None else": "src_padding is None or "
                                                   "src_padding[-1].all() else"},
    "no padding in a single sentence": {"src_padding is None else": "src_padding is None or len(src) == 1 else"},
    "padding of the target": {"tgt_mask=future": "tgt_mask=future, tgt_key_padding_mask=padded if padded is not None "
                                                 "and padded.shape == tgt.shape else None"},
    "positions of the source for both": {"x = self.embed(tgt, self.tgt_embedding)":
                                         "x = self.embed(tgt, self.tgt_embedding).roll(1, 1)"},
    "another base": {"10000 **": "1000 **"},
    "exponent doubled": {"ids.device) / width)": "ids.device) * 2 / width)"},
    "a trained table": {"self.head = nn": "self.positions = nn.Embedding(512, d_model)\n        self.head = nn"},
    "the decoder twice": {"return self.head(x)": "return self.head(self.decoder(x, memory, tgt_mask=future))"},
    "the encoder twice": {"x = self.embed(tgt": "memory = self.encoder(memory, src_key_padding_mask=padded)\n        "
                                                "x = self.embed(tgt"},
    "head of the embedding": {"return self.head(x)": "return x @ self.tgt_embedding.weight.T"},
    "last token only": {"return self.head(x)": "return self.head(x[:, -1:])"},
    "memory cut off": {WRITE: WRITE.replace("memory,", "memory.detach(),")},
    "memory of the first": {WRITE: WRITE.replace("memory,", "memory[:1].expand_as(memory),")},
    "padding anywhere but at the end": {"~src_padding": "(torch.arange(src.shape[1]) >= src_padding.sum(1)[:, None])"},
    "padded tokens zeroed": {PADDED: "padded = None\n        src = src if src_padding is None else src * src_padding"},
    "src_mask": {"src_padding=None)": "src_mask=None)", PADDED: "padded = None if src_mask is None else ~src_mask"},
    "a tuple": {"return self.head(x)": "return self.head(x), memory"},
    "the feed-forward width ignored": {"n_heads, d_ff, dropout": "n_heads, dropout"},
    "normed head": {"return self.head(x)": "return self.head(nn.functional.layer_norm(x, x.shape[-1:]))"},
    "cosines with an odd step": {"torch.cos(places * rates)": "torch.cos((places + 1) * rates)"},
}
