"""Answers to mla.latent_attention."""

import math

import torch
import torch.nn.functional as F
from torch import einsum


def with_einsum(x, latents, keys, values, d_head):
    q = einsum("bnd,hdc->bhnc", x, keys)
    weights = torch.softmax(einsum("bhnc,bmc->bhnm", q, latents) / d_head**0.5, dim=-1)
    mixed = einsum("bhnm,bmc->bhnc", weights, latents)
    return einsum("bhnc,hcd->bnd", mixed, values)


def three_at_once(x, latents, keys, values, d_head):
    weights = (einsum("bnd,hdc,bmc->bhnm", x, keys, latents) / math.sqrt(d_head)).softmax(-1)
    return einsum("bhnm,bmc,hce->bne", weights, latents, values)


def fused(x, latents, keys, values, d_head):
    """Latents are keys and values of a single head that all share."""
    memory = latents[:, None].expand(-1, len(keys), -1, -1)
    mixed = F.scaled_dot_product_attention(x[:, None] @ keys, memory, memory, scale=1 / math.sqrt(d_head))
    return (mixed @ values).sum(1)


def head_by_head(x, latents, keys, values, d_head):
    output = torch.zeros_like(x)
    for key, value in zip(keys, values, strict=True):
        weights = F.softmax((x @ key) @ latents.mT / math.sqrt(d_head), dim=-1)
        output = output + (weights @ latents) @ value
    return output


def rows_of_all_heads(x, latents, keys, values, d_head):
    """The queries of all heads laid end to end; values as one flat matrix."""
    b, n, _ = x.shape
    h, _, c = keys.shape
    q = (x @ keys.permute(1, 0, 2).flatten(1)).view(b, n * h, c)
    mixed = torch.softmax(q @ latents.mT * d_head**-0.5, dim=-1) @ latents
    return mixed.view(b, n, h * c) @ values.reshape(h * c, -1)


def sample_by_sample(x, latents, keys, values, d_head):
    rows = []
    for one, cache in zip(x, latents, strict=True):
        scores = one @ keys @ cache.T / math.sqrt(d_head)
        shares = torch.exp(scores - scores.amax(-1, keepdim=True))
        shares = shares / shares.sum(-1, keepdim=True)
        rows.append((shares @ cache @ values).sum(0))
    return torch.stack(rows)


def query_by_query(x, latents, keys, values, d_head):
    rows = []
    for one in x.unbind(1):
        q = einsum("bd,hdc->bhc", one, keys)
        weights = torch.softmax((q @ latents.mT) / math.sqrt(d_head), dim=-1)
        rows.append(einsum("bhc,hcd->bd", weights @ latents, values))
    return torch.stack(rows, dim=1)


QUERIES, MEMORY, PRODUCT = "x.unsqueeze(1) @ keys", "latents.unsqueeze(1)", "queries @ memory.transpose(-2, -1)"
ROOT, SOFTMAX, MIX = "math.sqrt(d_head)", "torch.softmax(scores, dim=-1)", "weights @ memory"
LAST = "return output.sum(dim=1)"
RIGHT = {
    "einsum": with_einsum,
    "einsum of three": three_at_once,
    "fused over the latents": fused,
    "head by head": head_by_head,
    "rows of all heads": rows_of_all_heads,
    "sample by sample": sample_by_sample,
    "query by query": query_by_query,
    "scaled queries": {QUERIES: "(x / math.sqrt(d_head)).unsqueeze(1) @ keys", f"scores / {ROOT}": "scores"},
    "unbound heads": {LAST: "return sum(output.unbind(1))"},
}


def widened(x, latents, keys, values, d_head):
    k, v = latents[:, None] @ keys.mT, latents[:, None] @ values
    return F.scaled_dot_product_attention(x[:, None].expand(-1, len(keys), -1, -1), k, v, scale=d_head**-0.5).sum(1)


def widened_head_by_head(x, latents, keys, values, d_head):
    heads = []
    for key, value in zip(keys, values, strict=True):
        weights = torch.softmax(x @ (latents @ key.T).mT / math.sqrt(d_head), dim=-1)
        heads.append(weights @ (latents @ value))
    return torch.stack(heads).sum(0)


def widened_in_blocks(x, latents, keys, values, d_head):
    """A block of full keys at a time, never all."""
    scores = [x[:, None] @ (keys @ block.mT[:, None]) for block in latents.split(4, dim=1)]
    weights = torch.softmax(torch.cat(scores, dim=-1) / math.sqrt(d_head), dim=-1)
    return ((weights @ latents[:, None]) @ values).sum(dim=1)


WRONG = {
    "full keys in blocks": widened_in_blocks,
    "full keys and values": widened,
    "full keys and values, head by head": widened_head_by_head,
    "full values": {"mixed = weights @ memory": "pass", "mixed @ values": "weights @ (memory @ values)"},
    "scale from the heads": {ROOT: "math.sqrt(len(keys))"},
    "scale from the latents' number": {ROOT: "math.sqrt(latents.shape[1])"},
    "whole root": {ROOT: "math.isqrt(d_head)"},
    "fourth root": {ROOT: "d_head ** 0.25"},
    "values by the keys": {"mixed @ values": "mixed @ keys.transpose(1, 2)"},
    "keys by the values": {QUERIES: "x.unsqueeze(1) @ values.transpose(1, 2)"},
    "the best latent only": {SOFTMAX: "F.one_hot(scores.argmax(-1), scores.shape[-1]).to(x.dtype)"},
    "softmax over the samples": {SOFTMAX: "torch.softmax(scores, dim=0)"},
    "the first token's query": {QUERIES: "x[:, :1].expand_as(x).unsqueeze(1) @ keys"},
    "latents in reverse": {MIX: "weights @ memory.flip(2)"},
    "a token forgotten": {MIX: "weights[..., 1:] @ memory[:, :, 1:]"},
    "100 latents at most": {MEMORY: "latents[:, :100].unsqueeze(1)"},
    "log of the weights": {SOFTMAX: "torch.log_softmax(scores, dim=-1)"},
    "x is scaled in place": {QUERIES: "x.mul_(d_head**-0.5).unsqueeze(1) @ keys", f"scores / {ROOT}": "scores"},
    "a pair": {LAST: "return output.sum(dim=1), weights"},
    "single precision": {LAST: "return output.sum(dim=1).float()"},
    "keys cut off": {QUERIES: "x.unsqueeze(1) @ keys.detach()"},
    "d_head unnamed": {", d_head)": ", width)", ROOT: "math.sqrt(width)"},
}
