"""Answers to fast.linear_attention."""

import torch
import torch.nn.functional as F
from torch import einsum


def phi(x):
    return F.elu(x) + 1


def token_by_token(q, k, v):
    """Two sums carried along, as a recurrent network would."""
    q, k = phi(q), phi(k)
    s = q.new_zeros(*q.shape[:-2], q.shape[-1], v.shape[-1])
    z = q.new_zeros(*q.shape[:-2], q.shape[-1])
    out = []
    for i in range(q.shape[-2]):
        s = s + k[..., i, :, None] * v[..., i, None, :]
        z = z + k[..., i, :]
        out.append(einsum("...d,...de->...e", q[..., i, :], s) / (q[..., i, :] * z).sum(-1, keepdim=True))
    return torch.stack(out, dim=-2)


def with_einsum(q, k, v):
    q, k = phi(q), phi(k)
    s = torch.cumsum(einsum("...nd,...ne->...nde", k, v), dim=-3)
    z = torch.cumsum(k, dim=-2)
    return einsum("...nd,...nde->...ne", q, s) / einsum("...nd,...nd->...n", q, z)[..., None]


def ones_beside_values(q, k, v):
    """The sum of weights as one more value feature, which is 1 for every token."""
    q, k = phi(q), phi(k)
    v = torch.cat((v, torch.ones_like(v[..., :1])), dim=-1)
    both = torch.einsum("...nd,...nde->...ne", q, (k[..., None] * v[..., None, :]).cumsum(-3))
    return both[..., :-1] / both[..., -1:]


def in_chunks(q, k, v, size=8):
    """A small table within each chunk, sums of all chunks before."""
    q, k = F.elu(q).add(1), F.elu(k).add(1)
    s, z = 0.0, torch.zeros_like(k[..., :1, :])
    s = torch.zeros(*q.shape[:-2], q.shape[-1], v.shape[-1], dtype=q.dtype)
    parts = []
    for qc, kc, vc in zip(q.split(size, -2), k.split(size, -2), v.split(size, -2), strict=True):
        local = (qc @ kc.mT).tril()
        above, below = qc @ s + local @ vc, (qc * z).sum(-1, keepdim=True) + local.sum(-1, keepdim=True)
        parts.append(above / below)
        s, z = s + kc.mT @ vc, z + kc.sum(-2, keepdim=True)
    return torch.cat(parts, dim=-2)


def feature_by_feature(q, k, v):
    q, k = phi(q), phi(k)
    above, below = torch.zeros_like(v), torch.zeros_like(v[..., :1])
    for d in range(q.shape[-1]):
        above = above + q[..., d, None] * (k[..., d, None] * v).cumsum(-2)
        below = below + q[..., d, None] * k[..., d, None].cumsum(-2)
    return above / below


def by_where(q, k, v):
    """phi by its two cases, without elu."""

    def exact(x):
        return torch.where(x > 0, x + 1, torch.exp(x.clamp(max=0)))

    q, k = exact(q), exact(k)
    sums = torch.cumsum(k.unsqueeze(-1) @ v.unsqueeze(-2), dim=-3)
    return (q.unsqueeze(-2) @ sums).squeeze(-2) / (q.unsqueeze(-2) @ k.cumsum(-2).unsqueeze(-1)).squeeze(-1)


def rows_appended(q, k, v):
    """Each row is appended to those before it."""
    q, k = phi(q), phi(k)
    s, z, out = 0.0, 0.0, q.new_zeros(*v.shape[:-2], 0, v.shape[-1])
    for qi, ki, vi in zip(q.split(1, -2), k.split(1, -2), v.split(1, -2), strict=True):
        s, z = s + ki.mT @ vi, z + ki
        out = torch.cat((out, qi @ s / (qi * z).sum(-1, keepdim=True)), dim=-2)
    return out


def in_large_chunks(q, k, v):
    return in_chunks(q, k, v, 64)


PHI_Q, PHI_K = "q = F.elu(q) + 1", "k = F.elu(k) + 1"
PAIRS, SUMS, TOTALS = "k.unsqueeze(-1) * v.unsqueeze(-2)", "pairs.cumsum(dim=-3)", "k.cumsum(dim=-2)"
ABOVE, BELOW = "(q.unsqueeze(-2) @ sums).squeeze(-2)", "(q * totals).sum(dim=-1, keepdim=True)"
LAST = "return above / below"
RIGHT = {
    "token by token": token_by_token,
    "einsum": with_einsum,
    "ones beside the values": ones_beside_values,
    "chunks": in_chunks,
    "feature by feature": feature_by_feature,
    "where": by_where,
    "rows appended": rows_appended,
    "large chunks": in_large_chunks,
    "queries shared out first": {ABOVE: "((q / (q * totals).sum(-1, keepdim=True)).unsqueeze(-2) @ sums).squeeze(-2)",
                                 LAST: "return above"},
}


def one_table(q, k, v):
    weights = (phi(q) @ phi(k).transpose(-2, -1)).tril()
    return weights / weights.sum(-1, keepdim=True) @ v


def masked_table(q, k, v):
    mask = torch.ones(q.shape[-2], q.shape[-2], dtype=torch.bool).tril()
    weights = (phi(q) @ phi(k).transpose(-2, -1)).masked_fill(~mask, 0.0)
    return weights @ v / weights.sum(-1, keepdim=True)


def row_by_row(q, k, v):
    """Weights of one query at a time."""
    q, k = phi(q), phi(k)
    rows = []
    for i in range(q.shape[-2]):
        weights = q[..., i : i + 1, :] @ k[..., : i + 1, :].transpose(-1, -2)
        rows.append(weights / weights.sum(-1, keepdim=True) @ v[..., : i + 1, :])
    return torch.cat(rows, dim=-2)


def sums_from_scratch(q, k, v):
    """No weights, but for each token the sums over all earlier tokens are computed from scratch."""
    q, k = phi(q), phi(k)
    rows = []
    for i in range(q.shape[-2]):
        before, query = k[..., : i + 1, :], q[..., i : i + 1, :]
        rows.append(query @ (before.mT @ v[..., : i + 1, :]) / (query @ before.sum(-2, keepdim=True).mT))
    return torch.cat(rows, dim=-2)


def many_rows_by_ballast(q, k, v):
    """Rows of weights next to other work that grows with the tokens, so that twice as many tokens cost about
    twice as much.
    """
    ballast = sum((q * number).sum() for number in range(500))
    return row_by_row(q, k, v) + 0 * ballast


WRONG = {
    "row by row": row_by_row,
    "sums from scratch": sums_from_scratch,
    "rows beside ballast": many_rows_by_ballast,
    "one table": one_table,
    "masked table": masked_table,
    "fused, then nothing": {LAST: "return above / below + 0 * torch.ones(q.shape[-2], q.shape[-2]).sum().to(q)"},
    "two is added": {PHI_Q: "q = F.elu(q) + 2", PHI_K: "k = F.elu(k) + 2"},
    "softplus": {PHI_Q: "q = F.softplus(q)", PHI_K: "k = F.softplus(k)"},
    "squares": {PHI_Q: "q = q.square()", PHI_K: "k = k.square()"},
    "elu of half the slope": {PHI_Q: "q = F.elu(q, 0.5) + 1", PHI_K: "k = F.elu(k, 0.5) + 1"},
    "sigmoid": {PHI_Q: "q = q.sigmoid()", PHI_K: "k = k.sigmoid()"},
    "features twice": {PHI_Q: "q = F.elu(F.elu(q) + 1) + 1"},
    "exp cut off": {PHI_K: "k = F.elu(k.clamp(min=-4)) + 1"},
    "sums of values not divided": {LAST: "return above / below.detach()"},
    "divided by the first token's sum": {BELOW: "(q[..., :1, :] * totals[..., :1, :]).sum(dim=-1, keepdim=True)"},
    "a window of sixty": {PAIRS: "(k * (torch.arange(q.shape[-2]) < 60)[:, None]).unsqueeze(-1) * v.unsqueeze(-2)"},
    "keys for queries": {ABOVE: "(k.unsqueeze(-2) @ sums).squeeze(-2)"},
    "values cut off": {PAIRS: "k.unsqueeze(-1) * v.detach().unsqueeze(-2)"},
    "single precision": {LAST: "return (above / below).float()"},
    "q changed": {PHI_Q: "q.add_(0.0).mul_(0.5)\n    q = F.elu(q) + 1"},
    "the sums, too": {LAST: "return above / below, sums"},
    "an axis too many": {ABOVE: "q.unsqueeze(-2) @ sums"},
    "cumulative mean": {LAST: "return v.cumsum(-2) / torch.arange(1, v.shape[-2] + 1)[:, None].to(v)"},
}
