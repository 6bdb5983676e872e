"""Answers to lm.GPT."""

import copy

import torch
from torch import nn


class Parts(nn.Module):
    def __init__(self, vocab_size, max_len, d_model, n_heads, d_ff, n_layers):
        super().__init__()
        self.token_embedding = nn.Embedding(vocab_size, d_model)
        self.position_embedding = nn.Embedding(max_len, d_model)
        layer = nn.TransformerEncoderLayer(
            d_model, n_heads, dim_feedforward=d_ff, dropout=0.0, activation=nn.functional.gelu, batch_first=True,
            norm_first=True,
        )
        self.layers = nn.ModuleList([copy.deepcopy(layer) for _ in range(n_layers)])
        self.norm = nn.LayerNorm(d_model)
        self.head = nn.Linear(d_model, vocab_size, bias=False)
        self.head.weight = self.token_embedding.weight

    def embed(self, ids):
        n = ids.size(1)
        if n > self.position_embedding.num_embeddings:
            raise ValueError("too long")
        return self.token_embedding(ids) + self.position_embedding.weight[:n]


class FloatMask(Parts):
    def forward(self, ids):
        x = self.embed(ids)
        mask = nn.Transformer.generate_square_subsequent_mask(ids.shape[1], dtype=x.dtype)
        for layer in self.layers:
            x = layer(x, mask, is_causal=True)
        return self.head(self.norm(x))


class Buffer(Parts):
    """A mask of full size, kept outside of the state dict."""

    def __init__(self, vocab_size, max_len, d_model, n_heads, d_ff, n_layers):
        super().__init__(vocab_size, max_len, d_model, n_heads, d_ff, n_layers)
        mask = torch.full((max_len, max_len), True).triu(1)
        self.register_buffer("mask", mask, persistent=False)

    def forward(self, ids):
        n = ids.shape[-1]
        x = self.embed(ids)
        for i in range(len(self.layers)):
            x = self.layers[i](x, src_mask=self.mask[:n, :n])
        return self.norm(x) @ self.token_embedding.weight.T


class TiedFirst(Parts):
    """The embedding takes the head's parameter."""

    def __init__(self, vocab_size, max_len, d_model, n_heads, d_ff, n_layers):
        super().__init__(vocab_size, max_len, d_model, n_heads, d_ff, n_layers)
        self.head = nn.Linear(d_model, vocab_size, bias=False)
        self.token_embedding.weight = self.head.weight

    def forward(self, ids):
        x = self.embed(ids)
        blocked = ~torch.ones(ids.shape[1], ids.shape[1], dtype=torch.bool).tril()
        x = torch.stack([self.through(row, blocked) for row in x])
        return self.head(x)

    def through(self, row, blocked):
        row = row[None]
        for layer in self.layers:
            row = layer(row, blocked)
        return self.norm(row)[0]


class Encoder(nn.TransformerEncoder):
    """A subclass of PyTorch's encoder, which already calls its parts `layers` and `norm`."""

    def __init__(self, vocab_size, max_len, d_model, n_heads, d_ff, n_layers):
        layer = nn.TransformerEncoderLayer(
            d_model, n_heads, d_ff, dropout=0.0, activation="gelu", batch_first=True, norm_first=True
        )
        super().__init__(layer, n_layers, norm=nn.LayerNorm(d_model), enable_nested_tensor=False)
        self.token_embedding = nn.Embedding(vocab_size, d_model)
        self.position_embedding = nn.Embedding(max_len, d_model)
        self.head = nn.Linear(d_model, vocab_size, bias=False)
        self.head.weight = self.token_embedding.weight

    def forward(self, ids):
        n = ids.shape[1]
        if n > len(self.position_embedding.weight):
            raise ValueError(n)
        places = torch.arange(n).expand_as(ids)
        x = self.token_embedding(ids) + self.position_embedding(places)
        mask = torch.triu(torch.full((n, n), float("-inf"), dtype=x.dtype), diagonal=1)
        return self.head(super().forward(x, mask=mask, is_causal=True))


class ByHand(Parts):
    """Through the parts of each layer."""

    def forward(self, ids):
        x = self.embed(ids)
        n = ids.shape[1]
        blocked = torch.arange(n)[None, :] > torch.arange(n)[:, None]
        for layer in self.layers:
            y = layer.norm1(x)
            x = x + layer.self_attn(y, y, y, attn_mask=blocked, need_weights=False)[0]
            x = x + layer.linear2(nn.functional.gelu(layer.linear1(layer.norm2(x))))
        return self.head(self.norm(x))


NAMED = '''
class GPT(nn.Module):
    def __init__(self, vocab_size, max_len, d_model, n_heads, d_ff, n_layers):
        super().__init__()
        self.token_embedding = nn.Embedding(vocab_size, d_model)
        self.position_embedding = nn.Embedding(max_len, d_model)
        self.layers = nn.ModuleList()
        for i in range(n_layers):
            self.layers.append(nn.TransformerEncoderLayer(d_model, n_heads, d_ff, 0.0, "gelu", 1e-5, True, True))
        self.norm = nn.LayerNorm(d_model)
        self.head = nn.Linear(d_model, vocab_size, bias=False)
        nn.init.normal_(self.token_embedding.weight, std=0.02)
        self.head.weight = self.token_embedding.weight
        self.max_len = max_len

    def forward(self, ids):
        B, N = ids.shape
        if N > self.max_len:
            raise ValueError(f"sequence length {N} > {self.max_len}")
        pos = torch.arange(N, device=ids.device).unsqueeze(0)
        x = self.token_embedding(ids) + self.position_embedding(pos)
        mask = nn.Transformer.generate_square_subsequent_mask(N, device=ids.device).to(x.dtype)
        for layer in self.layers:
            x = layer(x, src_mask=mask)
        return self.head(self.norm(x))
'''
RIGHT = {
    "a mask of floats": FloatMask,
    "a buffer": Buffer,
    "tied the other way round": TiedFirst,
    "PyTorch's encoder": Encoder,
    "by hand": ByHand,
    "named": NAMED,
    "max_len from the table": {"self.max_len = max_len": "pass",
    "> self.max_len": "> len(self.position_embedding.weight)", "{self.max_len}": "few"},
}
LAST = "return self.head(x)"
WRONG = {
    "no residual around the model": {"x = self.norm(x)": "x = self.norm(x) + x"},
    "another epsilon": {"nn.LayerNorm(d_model)": "nn.LayerNorm(d_model, eps=0.1)"},
    "another epsilon in the layers": {"more = {": 'more = {"layer_norm_eps": 1e-6, '},
    "all heads in one": {"d_model, n_heads, d_ff, **more": "d_model, 1, d_ff, **more"},
    "positions do not learn": {"self.position_embedding(places)": "self.position_embedding(places).detach()"},
    "a pair": {LAST: "return self.head(x), x"},
    "tokens do not learn at the input": {"self.token_embedding(ids) +": "self.token_embedding(ids).detach() +"},
    "the embedding does not learn at the output": {LAST: "return x @ self.head.weight.detach().T"},
    "the first sample for all": {"x = self.norm(x)": "x = self.norm(x[:1].expand_as(x))"},
    "transposed logits": {LAST: "return self.head(x).mT"},
    "an untied third": {"self.head.weight = self": "self.extra = nn.Linear(d_model, d_model)\n        "
                                                   "self.head.weight = self"},
    "sinusoids": {"self.position_embedding(places)": "torch.sin(places[:, None] / 10000 ** (torch.arange(x_width) / "
                  "x_width)).to(self.norm.weight)".replace("x_width", "self.head.in_features")},
    "padding in the embedding": {"nn.Embedding(vocab_size, d_model)": "nn.Embedding(vocab_size, d_model, "
        "padding_idx=0)"},
    "logits scaled": {LAST: "return self.head(x) / x.shape[-1] ** 0.5"},
    "normed positions": {"+ self.position_embedding(places)": "+ self.norm(self.position_embedding(places))"},
}
