"""Answers to loops.attention_from_loops."""

import functools
import math

import torch
import torch.nn.functional as F


def query_by_query(q, k, v):
    return torch.stack([torch.softmax(k @ query * k.shape[-1] ** -0.5, dim=0) @ v for query in q])


def queries_scaled_first(q, k, v):
    q = q / math.sqrt(q.shape[1])
    rows = [F.softmax(torch.stack([a @ b for b in k]), -1) for a in q]
    return torch.stack([sum(w * x for w, x in zip(row, v, strict=True)) for row in rows])


def keys_scaled_first(q, k, v):
    k = k * torch.rsqrt(torch.tensor(float(k.size(1))))
    return torch.stack([F.softmax((k * a).sum(-1), -1) @ v for a in q])


def both_scaled(q, k, v):
    root = q.shape[1] ** 0.25
    return torch.stack([torch.softmax((k / root) @ (a / root), 0) @ v for a in q])


def softmax_by_hand(q, k, v):
    out = []
    for a in q:
        scores = torch.stack([torch.dot(a, b) for b in k]) / math.sqrt(len(a))
        grown = torch.exp(scores - scores.max().detach())
        out.append((grown[:, None] * v).sum(0) / grown.sum())
    return torch.stack(out)


def online_softmax(q, k, v):
    rows = []
    for a in q:
        highest, total, mixed = torch.tensor(-math.inf), torch.tensor(0.0), torch.zeros(v.shape[1])
        for b, x in zip(k, v, strict=True):
            score = a @ b / math.sqrt(k.shape[1])
            higher = torch.maximum(highest, score)
            shrink, share = torch.exp(highest - higher), torch.exp(score - higher)
            highest, total, mixed = higher, total * shrink + share, mixed * shrink + share * x
        rows.append(mixed / total)
    return torch.stack(rows)


def logarithms(q, k, v):
    rows = []
    for a in q.double():
        scores = torch.mv(k.double(), a) / math.sqrt(k.shape[1])
        rows.append(torch.exp(scores - torch.logsumexp(scores, 0)) @ v.double())
    return torch.stack(rows).to(q.dtype)


def one_row_matrices(q, k, v):
    return torch.cat([torch.softmax(a @ k.T / a.shape[-1] ** 0.5, -1) @ v for a in q.split(1)])


def per_feature_of_the_value(q, k, v):
    out = torch.empty(q.shape[0], v.shape[1])
    for i in range(q.shape[0]):
        weights = torch.softmax((q[i] * k).sum(-1) / torch.tensor(q.shape[1]).sqrt(), -1)
        for f in range(v.shape[1]):
            out[i, f] = (weights * v[:, f]).sum()
    return out


def queries_by_recursion(q, k, v):
    row = torch.softmax(k @ q[0] / math.sqrt(k.shape[1]), 0) @ v
    return row[None] if len(q) == 1 else torch.cat([row[None], queries_by_recursion(q[1:], k, v)])


def fused_by_getattr(q, k, v):
    name = "_dot_product_attention".join(["scaled", ""])
    return torch.stack([getattr(torch._C._nn, name)(a[None], k, v)[0] for a in q])


def queries_looked_up(q, k, v):
    rows, output = q.tolist(), torch.zeros(len(q), v.shape[1])
    for a, row in zip(q, rows, strict=True):
        output[rows.index(row)] = torch.softmax(k @ a / math.sqrt(len(a)), 0) @ v
    return output


def loops_for_the_mix_only(q, k, v):
    weights = torch.softmax(q @ k.T / math.sqrt(q.shape[1]), -1)
    return torch.stack([row @ v for row in weights])


def broadcast(q, k, v):
    scores = (q[:, None] * k[None]).sum(-1) / math.sqrt(q.shape[1])
    return (torch.softmax(scores, -1)[..., None] * v).sum(1)


def softmax_without_shift_in_rows(q, k, v):
    rows = [torch.exp(k @ a / math.sqrt(len(a))) for a in q]
    return torch.stack([grown @ v / grown.sum() for grown in rows])


SCALE, ROOT, SOFTMAX = "scores / math.sqrt(q.shape[-1])", "math.sqrt(q.shape[-1])", "torch.softmax(scores, dim=-1)"
PAIR, END, TERM = "q[i] @ k[j]", "return output", "weights[i, j] * v[j]"
SHARES = "grown / grown.sum(dim=-1, keepdim=True)"
RIGHT = {
    "query by query": query_by_query,
    "queries scaled first": queries_scaled_first,
    "keys scaled first": keys_scaled_first,
    "both scaled by the fourth root": both_scaled,
    "softmax by hand": softmax_by_hand,
    "online softmax": online_softmax,
    "logarithms, in float64": logarithms,
    "matrices of one row": one_row_matrices,
    "per feature of the value": per_feature_of_the_value,
    "recursion": queries_by_recursion,
    "sums in place": {"output[i] = output[i] + ": "output[i] += "},
    "partial": functools.partial(
        lambda softmax, q, k, v: torch.stack([softmax(k @ a / math.sqrt(len(a)), dim=0) @ v for a in q]), torch.softmax
    ),
}
WRONG = {
    "64 keys at most": {"k.shape[0]": "min(k.shape[0], 64)"},
    "256 queries at most": {"for i in range(q.shape[0])": "for i in range(min(q.shape[0], 256))"},
    "scores of 128 keys kept": {PAIR: f"{PAIR} if j < 128 else 0"},
    "shift by the mean": {SOFTMAX: f"(grown := torch.exp(scores - scores.mean(dim=-1, keepdim=True))) * 0 + {SHARES}"},
    "nan cleaned": {SOFTMAX: f"torch.nan_to_num((grown := torch.exp(scores)) * 0 + {SHARES})"},
    "clamped": {SOFTMAX: "torch.softmax(scores.clamp(-80, 80), dim=-1)"},
    "tiny sum added": {SOFTMAX: "(grown := torch.exp(scores - scores.max())) / (grown.sum(-1, keepdim=True) + 1e-9)"},
    "no shift, row by row": softmax_without_shift_in_rows,
    "fused": lambda q, k, v: F.scaled_dot_product_attention(q, k, v),
    "fused in a loop": lambda q, k, v: torch.cat([F.scaled_dot_product_attention(a[None], k, v) for a in q]),
    "fused by getattr": fused_by_getattr,
    "matrix products": lambda q, k, v: torch.softmax(q @ k.T / math.sqrt(q.shape[1]), -1) @ v,
    "loops for the scores only": {END: "return weights @ v"},
    "loops for the mix only": loops_for_the_mix_only,
    "broadcast": broadcast,
    "zeros for missing keys": {"for i in range(q.shape[0])": "for i in range(min(q.shape[0], k.shape[0]))"},
    "queries looked up": queries_looked_up,
    "small weights left out": {SOFTMAX: "torch.threshold(torch.softmax(scores, dim=-1), 0.01, 0)"},
    "keys for values where they fit": {TERM: "weights[i, j] * (k if k.shape == v.shape else v)[j]"},
    "values turned": {"* v[j]": "* v[-1 - j]"},
    "scale of the number of queries": {ROOT: "math.sqrt(q.shape[0])"},
    "scale rounded up": {ROOT: f"math.ceil({ROOT})"},
    "scaled twice": {SCALE: "scores / q.shape[-1]"},
    "causal": {SOFTMAX: "torch.softmax(scores + torch.full_like(scores, -torch.inf).triu(1), dim=-1)"},
    "queries used as keys": {PAIR: "q[i] @ q[min(j, len(q) - 1)]"},
    "mean of weighted values": {TERM: f"{TERM} / k.shape[0]"},
    "shares not divided": {SOFTMAX: "torch.exp(scores - scores.amax(dim=-1, keepdim=True))"},
    "distances": {PAIR: "-(q[i] - k[j]).norm()"},
    "sigmoid": {SOFTMAX: "torch.sigmoid(scores)"},
    "weights detached": {SOFTMAX: f"{SOFTMAX}.detach()"},
    "entries in torch.tensor": {END: "return torch.tensor([[entry for entry in row] for row in output])"},
    "output and weights": {END: "return output, weights"},
    "residual where it fits": {END: "return output + q if output.shape == q.shape else output"},
}
