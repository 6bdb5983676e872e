"""Answers to positions.LearnedPositions."""

import torch
import torch.nn.functional as F
from torch import nn


class Base(nn.Module):
    def __init__(self, max_len, d_model):
        super().__init__()
        self.max_len = max_len
        self.embedding = nn.Embedding(max_len, d_model)

    def forward(self, x):
        n = x.size(1)
        if n > self.max_len:
            raise ValueError(f"sequence of {n} is longer than {self.max_len}")
        return x + self.rows(n)

    def rows(self, n):
        return self.embedding.weight[:n]


class Buffered(Base):
    """Positions kept as a buffer."""

    def __init__(self, max_len, d_model):
        super().__init__(max_len, d_model)
        self.register_buffer("places", torch.arange(max_len).expand(1, -1))

    def rows(self, n):
        return self.embedding(self.places[:, :n])


class OneHot(Base):
    def rows(self, n):
        return F.one_hot(torch.arange(n), self.max_len).to(self.embedding.weight.dtype) @ self.embedding.weight


class TokenByToken(Base):
    def forward(self, x):
        if x.shape[1] > self.max_len:
            raise ValueError("too long")
        return torch.stack([token + self.embedding.weight[i] for i, token in enumerate(x.unbind(1))], dim=1)


class OwnTable(nn.Embedding):
    """A subclassed part."""

    def forward(self, n):
        return super().forward(torch.arange(n))


class Subclassed(Base):
    def __init__(self, max_len, d_model):
        super().__init__(max_len, d_model)
        self.embedding = OwnTable(max_len, d_model)

    def rows(self, n):
        return self.embedding(n)


class FromZeros(Base):
    def __init__(self, max_len, d_model):
        super().__init__(max_len, d_model)
        nn.init.zeros_(self.embedding.weight)


class BareParameter(nn.Module):
    def __init__(self, max_len, d_model):
        super().__init__()
        self.embedding = nn.Parameter(torch.zeros(1, max_len, d_model))

    def forward(self, x):
        if x.shape[1] > self.embedding.shape[1]:
            raise ValueError("too long")
        return x + self.embedding[:, : x.shape[1]]


class TooLong(ValueError):
    pass


class OwnError(Base):
    def rows(self, n):
        return self.embedding(torch.cumsum(torch.ones(n, dtype=torch.long), 0) - 1)

    def forward(self, x):
        if x.shape[-2] > self.embedding.weight.shape[0]:
            raise TooLong("too many tokens")
        return self.rows(x.shape[-2])[None] + x


LAST = "return x + self.embedding(places)"
RIGHT = {kind.__name__: kind for kind in (Base, Buffered, OneHot, TokenByToken, Subclassed, FromZeros, OwnError)} | {
    "places of every sample": {"self.embedding(places)": "self.embedding(places.expand(len(x), tokens))"},
    "torch.add": {LAST: "return torch.add(x, F.embedding(places, self.embedding.weight))",
                  "tokens = x.shape[1]": "import torch.nn.functional as F\n        tokens = x.shape[1]"},
    "sparse gradients": {"nn.Embedding(max_len, d_model)": "nn.Embedding(max_len, d_model, sparse=True)"},
    "own copy in place": {LAST: "out = x.clone()\n        out += self.embedding(places)\n        return out"},
}
WRONG = {
    "a parameter instead of a part": BareParameter,
    "rows kept by length": {LAST: "return x + self.__dict__.setdefault(f'rows {tokens}', self.embedding(places))"},
    "places of the first length": {"self.embedding(places)":
                                   "self.embedding(self.__dict__.setdefault('places', places)[:tokens])"},
    "an assertion": {"if tokens": "assert tokens <= self.embedding.num_embeddings\n        if tokens"},
    "nothing beyond": {"raise ValueError(": "return x or (", LAST: LAST},
    "twice": {LAST: "return x + 2 * self.embedding(places)"},
    "mean of the positions": {LAST: "return x + self.embedding(places).mean(0)"},
    "places by features": {"places = torch.arange(tokens": "places = torch.arange(x.shape[-1]"},
    "places cut at 256": {"device=x.device)": "device=x.device).clamp(max=255)"},
    "normed rows": {"nn.Embedding(max_len, d_model)": "nn.Embedding(max_len, d_model, max_norm=1.0)"},
    "one row more": {"nn.Embedding(max_len, d_model)": "nn.Embedding(max_len + 1, d_model)"},
    "part by another name": {"self.embedding": "self.positions"},
    "dropout": {LAST: "return nn.functional.dropout(x + self.embedding(places), 0.1, self.training)"},
    "float32": {LAST: "return x.float() + self.embedding(places).float()"},
    "the first sample only": {LAST: "return torch.cat((x[:1] + self.embedding(places), x[1:]))"},
    "x is cut off": {LAST: "return x.detach() + self.embedding(places)"},
    "scaled grad": {"self.embedding = nn.Embedding(max_len, d_model)":
                    "self.embedding = nn.Embedding(max_len, d_model, scale_grad_by_freq=True); self.embedding.weight"
                    ".register_hook(lambda g: 2 * g)"},
    "in place": {LAST: "return x.add_(self.embedding(places))"},
    "a pair": {LAST: f"{LAST}, places"},
}
