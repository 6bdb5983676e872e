"""Answers to mla.rope_scores."""

import math

import torch
from torch import einsum


def joined(q, k, q_rope, k_rope):
    """Queries and keys as long vectors."""
    shared = k_rope.unsqueeze(1).expand(-1, q.shape[1], -1, -1)
    queries, keys = torch.cat([q, q_rope], dim=-1), torch.cat([k, shared], dim=-1)
    return queries @ keys.transpose(2, 3) / math.sqrt(queries.shape[-1])


def with_einsum(q, k, q_rope, k_rope):
    scores = einsum("bhnd,bhmd->bhnm", q, k) + einsum("bhnr,bmr->bhnm", q_rope, k_rope)
    return scores * (q.shape[-1] + q_rope.shape[-1]) ** -0.5


def head_by_head(q, k, q_rope, k_rope):
    root = (q.size(-1) + q_rope.size(-1)) ** 0.5
    heads = [torch.bmm(q[:, h], k[:, h].mT) + torch.bmm(q_rope[:, h], k_rope.mT) for h in range(q.size(1))]
    return torch.stack(heads, dim=1).div(root)


def rows_of_all_heads(q, k, q_rope, k_rope):
    """The heads of the rotated queries laid end to end, so that one product serves all."""
    b, h, n, r = q_rope.shape
    places = (q_rope.reshape(b, h * n, r) @ k_rope.transpose(1, 2)).view(b, h, n, -1)
    return (q.matmul(k.mT) + places) / math.sqrt(q.shape[-1] + r)


def fused(q, k, q_rope, k_rope):
    """In one call, sums and scale together."""
    b, h, n, d = q.shape
    m, root = k.shape[2], math.sqrt(d + q_rope.shape[-1])
    places = q_rope.flatten(0, 1) @ k_rope.repeat_interleave(h, 0).mT
    return torch.baddbmm(places, q.flatten(0, 1), k.flatten(0, 1).mT, beta=1 / root, alpha=1 / root).view(b, h, n, m)


def scaled_before(q, k, q_rope, k_rope):
    width = q.shape[-1] + q_rope.shape[-1]
    q, q_rope = q / width**0.5, q_rope / width**0.5
    out = torch.matmul(q, k.permute(0, 1, 3, 2))
    out += torch.matmul(q_rope, k_rope[:, None].permute(0, 1, 3, 2))
    return out


CONTENT, PLACES = "q @ k.transpose(-2, -1)", "q_rope @ k_rope.unsqueeze(1).transpose(-2, -1)"
SUM, ROOT, WIDTH = "(content + places)", "math.sqrt(width)", "q.shape[-1] + q_rope.shape[-1]"
RIGHT = {
    "joined": joined,
    "einsum": with_einsum,
    "head by head": head_by_head,
    "rows of all heads": rows_of_all_heads,
    "baddbmm": fused,
    "scaled before, summed in place": scaled_before,
    "transposed first": {PLACES: "q_rope @ k_rope.mT[:, None]"},
    "repeated": {PLACES: "q_rope @ k_rope.unsqueeze(1).repeat(1, q.shape[1], 1, 1).mT"},
    "root of a tensor": {ROOT: "torch.tensor(float(width)).sqrt()"},
}
WRONG = {
    "scale from the keys' number": {WIDTH: "k.shape[-2]"},
    "scale from the product of widths": {WIDTH: "q.shape[-1] * q_rope.shape[-1]"},
    "twice the content's width": {WIDTH: "2 * q.shape[-1]"},
    "whole root": {ROOT: "math.isqrt(width)"},
    "fixed scale": {ROOT: "8"},
    "scaled with the heads": {WIDTH: "(q.shape[-1] + q_rope.shape[-1]) * q.shape[1]"},
    "mean of the parts": {SUM: "(content + places) / 2"},
    "places of the first head": {PLACES: "(q_rope[:, :1] @ k_rope.unsqueeze(1).transpose(-2, -1))"},
    "places over all heads": {PLACES: f"({PLACES}).mean(1, keepdim=True)"},
    "keys of the last token": {PLACES: "q_rope @ k_rope[:, -1:].unsqueeze(1).transpose(-2, -1)"},
    "the last feature is forgotten": {PLACES: "q_rope[..., :-1] @ k_rope[..., :-1].unsqueeze(1).transpose(-2, -1)"},
    "causal": {f"return {SUM} / {ROOT}": f"return ({SUM} / {ROOT}).tril()"},
    "reshaped": {"k.transpose(-2, -1)": "k.reshape(*k.shape[:2], k.shape[-1], k.shape[-2])"},
    "absolute places": {SUM: "(content + places.abs())"},
    "added into the queries": {"content = ": "q.add_(0.1)\n    content = "},
    "the content cut off": {CONTENT: "q.detach() @ k.transpose(-2, -1)"},
    "a pair": {f"return {SUM} / {ROOT}": f"return content / {ROOT}, places / {ROOT}"},
    "half precision": {f"return {SUM}": "return (content + places.half().to(q.dtype))"},
    "one query head": {PLACES: f"({PLACES})[:, :1]"},
}
