"""Answers to heads.split_heads."""

import torch
from torch import nn


def filled_by_loops(x, n_heads):
    batch, tokens, width = x.shape
    d_head = width // n_heads
    heads = torch.empty(batch, n_heads, tokens, d_head, dtype=x.dtype)
    for h in range(n_heads):
        heads[:, h] = x[..., h * d_head : (h + 1) * d_head]
    return heads


def by_gather(x, n_heads):
    picks = torch.arange(x.shape[-1]).reshape(n_heads, 1, -1)
    return x[:, torch.arange(x.shape[1])[None, :, None], picks]


def by_identity(x, n_heads):
    picks = torch.eye(x.shape[-1], dtype=x.dtype).view(n_heads, -1, x.shape[-1])
    return torch.einsum("bnf,hdf->bhnd", x, picks)


RIGHT = {
    "view, transpose": lambda x, n_heads: x.view(x.shape[0], x.shape[1], n_heads, -1).transpose(1, 2),
    "reshape, permute": lambda x, n_heads: x.reshape(*x.shape[:2], n_heads, -1).permute(0, 2, 1, 3),
    "contiguous": lambda x, n_heads: x.reshape(*x.shape[:2], n_heads, -1).transpose(1, 2).contiguous(),
    "chunks stacked": lambda x, n_heads: torch.stack(x.chunk(n_heads, dim=-1), dim=1),
    "split stacked": lambda x, n_heads: torch.stack(torch.split(x, x.shape[-1] // n_heads, dim=2), 1),
    "unfold": lambda x, n_heads: x.unfold(-1, x.shape[-1] // n_heads, x.shape[-1] // n_heads).transpose(1, 2),
    "einsum": lambda x, n_heads: torch.einsum("bnhd->bhnd", x.reshape(*x.shape[:2], n_heads, -1)),
    "transposed first": lambda x, n_heads: x.mT.unflatten(1, (n_heads, -1)).mT,
    "vmap": lambda x, n_heads: torch.vmap(lambda one: one.unflatten(-1, (n_heads, -1)).movedim(1, 0))(x),
    "nn.Unflatten": lambda x, n_heads: nn.Unflatten(-1, (n_heads, x.shape[-1] // n_heads))(x).swapaxes(1, 2),
    "a default": lambda x, n_heads=1: x.unflatten(-1, (n_heads, -1)).swapdims(-3, -2),
    "filled by loops": filled_by_loops,
    "by index": by_gather,
    "by an identity": by_identity,
}
CUT, TURN, LAST = "x.unflatten(-1, (n_heads, -1))", "heads.transpose(1, 2)", "return heads"
WRONG = {
    "wrong for more than 5 heads": {LAST: "return heads if n_heads < 4 else heads.flip(1)"},
    "heads reversed": {LAST: "return heads.flip(1)"},
    "features reversed": {LAST: "return heads.flip(-1)"},
    "samples reversed": {LAST: "return heads.flip(0)"},
    "first head for all": {LAST: "return heads[:, :1].expand_as(heads)"},
    "all features for each head": {CUT: "x[:, :, None].expand(-1, -1, n_heads, -1)"},
    "one head": {LAST: "return x[:, None]"},
    "tokens chunked": {CUT: "torch.stack(x.chunk(n_heads, dim=1), 2)"},
    "stacked in front": {LAST: "return heads.movedim(1, 0)"},
    "stacked behind": {LAST: "return heads.movedim(1, -1)"},
    "wrong permutation": {TURN: "heads.permute(0, 2, 3, 1)"},
    "merged again": {LAST: "return heads.transpose(1, 2).flatten(2)"},
    "four heads": {"(n_heads, -1)": "(4, -1)"},
    "a float for a size": {"(n_heads, -1)": "(n_heads, x.shape[-1] / n_heads)"},
    "scaled": {LAST: "return heads / n_heads**0.5"},
    "normed": {LAST: "return heads / heads.norm(dim=-1, keepdim=True)"},
    "detached": {LAST: "return heads.detach()"},
    "detached heads": {LAST: "return torch.cat((heads[:, :1], heads[:, 1:].detach()), dim=1)"},
    "float32": {LAST: "return heads.float()"},
    "a tuple": {LAST: "return heads, n_heads"},
    "nothing": {LAST: "heads"},
}
