"""The real model, written with PyTorch's own functions and without a cache.

Each part takes and returns one tensor, so a hook on any part sees its whole output. Lesson 20 builds the same
model by hand, with a cache.
"""

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from autograder.notebook.real_model.file import ModelFile, Sizes, open_file


def plain_model(file: ModelFile | None = None) -> nn.Module:
    """Return the real model with its weights, frozen, in evaluation mode. Pass `file` if it is open already.

    Raises UserError if the file has to be opened here and cannot be (see `open_file`).
    """
    file = open_file() if file is None else file
    with torch.device("meta"):  # skip the random initialisation, which is overwritten
        model = Model(file.sizes)
    model.load_state_dict(file.state_dict(), assign=True)
    return model.eval().requires_grad_(False)


def turned(x: Tensor, base: float) -> Tensor:
    """Apply RoPE: rotate each pair of neighbouring features (2i, 2i + 1), as a complex number, by position *
    base^(-2i/d).
    """
    places = torch.arange(x.shape[-2], dtype=torch.float32, device=x.device)
    rates = base ** (-torch.arange(0, x.shape[-1], 2, device=x.device) / x.shape[-1])
    rotation = torch.polar(torch.ones((), device=x.device), places[:, None] * rates)
    pairs = torch.view_as_complex(x.float().unflatten(-1, (-1, 2)).contiguous())
    return torch.view_as_real(pairs * rotation).flatten(-2).to(x.dtype)


class Attention(nn.Module):
    """Causal attention with n_heads heads of queries and n_kv_heads heads of keys and values: x (B, N,
    d_model) -> the same shape.
    """

    def __init__(self, sizes: Sizes):
        super().__init__()
        self.sizes, d_head = sizes, sizes.d_model // sizes.n_heads
        width = sizes.n_kv_heads * d_head
        self.q_proj = nn.Linear(sizes.d_model, sizes.d_model, bias=False)
        self.k_proj = nn.Linear(sizes.d_model, width, bias=False)
        self.v_proj = nn.Linear(sizes.d_model, width, bias=False)
        self.out_proj = nn.Linear(sizes.d_model, sizes.d_model, bias=False)
        self.mixed = nn.Identity()  # the joined heads' output, input of out_proj: a target for hooks

    def queries_and_keys(self, q: Tensor, k: Tensor) -> tuple[Tensor, Tensor]:
        """Split outputs of q_proj and k_proj, (B, N, width), into heads and rotate them; return queries and
        keys, each (B, n_heads, N, d_head). The heads of the keys are repeated until there are n_heads.
        """
        heads = self.sizes.n_heads, self.sizes.n_kv_heads
        q, k = (t.unflatten(-1, (n, -1)).transpose(1, 2) for t, n in zip((q, k), heads))
        q, k = turned(q, self.sizes.base), turned(k, self.sizes.base)
        return q, k.repeat_interleave(heads[0] // heads[1], dim=1)

    def forward(self, x: Tensor) -> Tensor:
        q, k = self.queries_and_keys(self.q_proj(x), self.k_proj(x))
        v = self.v_proj(x).unflatten(-1, (self.sizes.n_kv_heads, -1)).transpose(1, 2)
        v = v.repeat_interleave(self.sizes.n_heads // self.sizes.n_kv_heads, dim=1)
        mixed = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        return self.out_proj(self.mixed(mixed.transpose(1, 2).flatten(2)))


class Layer(nn.Module):
    """Pre-norm attention and a gated feed-forward network, each with a residual connection."""

    def __init__(self, sizes: Sizes):
        super().__init__()
        self.norm1, self.norm2 = (nn.RMSNorm(sizes.d_model, sizes.eps) for _ in range(2))
        self.attention = Attention(sizes)
        self.gate_proj = nn.Linear(sizes.d_model, sizes.d_ff, bias=False)
        self.up_proj = nn.Linear(sizes.d_model, sizes.d_ff, bias=False)
        self.down_proj = nn.Linear(sizes.d_ff, sizes.d_model, bias=False)

    def forward(self, x: Tensor) -> Tensor:
        x = x + self.attention(self.norm1(x))
        h = self.norm2(x)
        return x + self.down_proj(F.silu(self.gate_proj(h)) * self.up_proj(h))


class Model(nn.Module):
    """The language model: ids (B, N) -> logits (B, N, vocab_size). The embedding and the output layer share
    one weight.
    """

    def __init__(self, sizes: Sizes):
        super().__init__()
        self.sizes = sizes
        self.token_embedding = nn.Embedding(sizes.vocab_size, sizes.d_model)
        self.layers = nn.ModuleList(Layer(sizes) for _ in range(sizes.n_layers))
        self.norm = nn.RMSNorm(sizes.d_model, sizes.eps)

    def forward(self, ids: Tensor) -> Tensor:
        x = self.token_embedding(ids)
        for layer in self.layers:
            x = layer(x)
        return F.linear(self.norm(x), self.token_embedding.weight)
