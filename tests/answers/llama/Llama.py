"""Answers to llama.Llama."""

import torch
import torch.nn.functional as F
from torch import nn


class Parts(nn.Module):
    def __init__(self, vocab_size, d_model, layers, eps=1e-5):
        super().__init__()
        self.norm = nn.RMSNorm(d_model, eps=eps)
        self.layers = nn.ModuleList()
        for layer in layers:
            self.layers.append(layer)
        self.token_embedding = nn.Embedding(vocab_size, d_model)


class Zipped(Parts):
    def forward(self, ids, caches=None):
        if caches is None:
            caches = [None] * len(self.layers)
        x, new_caches = self.token_embedding(ids), []
        for layer, cache in zip(self.layers, caches, strict=True):
            x, new_cache = layer(x, cache)
            new_caches.append(new_cache)
        return F.linear(self.norm(x), self.token_embedding.weight), new_caches


class Copied(Parts):
    def forward(self, ids, caches=None):
        caches = [None for _ in self.layers] if caches is None else list(caches)
        x = self.token_embedding.weight[ids]
        for i in range(len(caches)):
            x, caches[i] = self.layers[i](x, caches[i])
        return torch.einsum("bnd,vd->bnv", self.norm(x), self.token_embedding.weight), caches


class OneHot(Parts):
    def forward(self, ids, caches=None):
        table = self.token_embedding.weight
        stream = F.one_hot(ids, len(table)).to(table.dtype) @ table
        after = dict.fromkeys(range(len(self.layers)))
        for k, layer in enumerate(self.layers.children()):
            stream, after[k] = layer(stream, None if caches is None else caches[k])
        return torch.matmul(self.norm(stream), table.t()), list(after.values())


class ItselfAgain(Parts):
    def forward(self, ids, caches=None):
        x, new = self.through(self.token_embedding(ids), caches, 0)
        return self.norm(x) @ self.token_embedding.weight.mT, new

    def through(self, x, caches, k):
        if k == len(self.layers):
            return x, []
        x, cache = self.layers[k](x, caches[k] if caches is not None else None)
        x, others = self.through(x, caches, k + 1)
        return x, [cache, *others]


class HookedTable(Parts):
    """A head that is not a submodule and uses the embedding's own weight."""

    def __init__(self, vocab_size, d_model, layers, eps=1e-5):
        super().__init__(vocab_size, d_model, layers, eps)
        self.head = lambda x: x @ self.token_embedding.weight.T

    def forward(self, ids, caches=None):
        x, new = self.token_embedding(ids), []
        for k, layer in enumerate(self.layers):
            x, cache = layer(x, caches and caches[k])
            new += [cache]
        return self.head(self.norm(x)), new


RIGHT = {
    "zipped": Zipped,
    "copied": Copied,
    "one hot": OneHot,
    "itself again": ItselfAgain,
    "a head that is no part": HookedTable,
}
WRONG = {
    "a list of two": {"weight.T, new": "weight.T, new][:]", "return x @": "return [x @"},
    "log probabilities": {"return x @ self.token_embedding.weight.T":
    "return (x @ self.token_embedding.weight.T).log_softmax(-1)"},
    "scaled logits": {"return x @ self.token_embedding.weight.T":
    "return x @ self.token_embedding.weight.T / x.shape[-1] ** 0.5"},
    "positions": {"x = self.token_embedding(ids)":
    "x = self.token_embedding(ids) + torch.arange(ids.shape[1])[:, None] / 100"},
    "the norm after every layer": {"            new.append":
    "            x = self.norm(x)\n            new.append"},
    "a norm twice": {"x = self.norm(x)": "x = self.norm(self.norm(x))"},
    "dropout": {"x = self.token_embedding(ids)":
    "x = F.dropout(self.token_embedding(ids), 0.1, self.training)"},
    "all but the last layer": {"in enumerate(self.layers):":
    "in enumerate(list(self.layers)[:-1] or self.layers):"},
    "layers twice": {"in enumerate(self.layers):": "in list(enumerate(self.layers)) * 2:"},
    "caches for the first layer": {"caches[k]": "(caches[k] if k == 0 else None)"},
    "caches backwards": {"return x @ self.token_embedding.weight.T, new":
    "return x @ self.token_embedding.weight.T, new[::-1]"},
    "caches of before are appended": {"new = []": "new = list(caches or [])"},
    "a dict of caches": {"weight.T, new": "weight.T, dict(enumerate(new))"},
    "the caller's list": {"            new.append(cache)":
    "            new.append(cache)\n            if caches is not None:\n                caches[k] = cache"},
    "an embedding that is frozen": {"self.token_embedding(ids)": "self.token_embedding(ids).detach()"},
    "a padding index": {"nn.Embedding(vocab_size, d_model)":
    "nn.Embedding(vocab_size, d_model, padding_idx=0)"},
    "a head of its own by another name": {"self.norm = nn":
    "self.lm_head = nn.Parameter(torch.zeros(vocab_size, d_model))\n        self.norm = nn"},
    "a larger epsilon": {"nn.RMSNorm(d_model, eps=eps)": "nn.RMSNorm(d_model, eps=1e-3)"},
    "layers by another name": {"self.layers": "self.blocks"},
    "the last cache alone": {"return x @ self.token_embedding.weight.T, new":
    "return x @ self.token_embedding.weight.T, new[-1:]"},
    "a norm without a weight": {"x = self.norm(x)": "x = F.rms_norm(x, x.shape[-1:], eps=self.norm.eps)"},
}
