"""Answers to fast.tiled_attention."""

import math

import torch
import torch.nn.functional as F
from torch import einsum


def hidden(start, width, queries):
    """Return (N, block): which keys of a block come after a query."""
    return torch.arange(start, start + width) > torch.arange(queries).unsqueeze(1)


def three_running(q, k, v, block, causal=False):
    """Maximum, sum and output without the axis of keys."""
    n, d = q.shape[-2:]
    m = torch.full(q.shape[:-1], -math.inf, dtype=q.dtype)
    s = torch.zeros(q.shape[:-1], dtype=q.dtype)
    o = torch.zeros(*q.shape[:-1], v.shape[-1], dtype=q.dtype)
    for i, (kb, vb) in enumerate(zip(k.split(block, -2), v.split(block, -2), strict=True)):
        x = q @ kb.mT * d**-0.5
        if causal:
            x = torch.where(hidden(i * block, kb.shape[-2], n), -math.inf, x)
        m2 = torch.max(m, x.max(-1).values)
        p = (x - m2[..., None]).exp()
        c = (m - m2).exp()
        s = s * c + p.sum(-1)
        o = o * c[..., None] + p @ vb
        m = m2
    return o / s[..., None]


def merged(q, k, v, block, causal=False):
    """Ordinary attention in each block; the blocks are combined by their logsumexps."""
    out, lse = None, None
    for start in range(0, k.size(-2), block):
        stop = min(start + block, k.size(-2))
        x = einsum("...nd,...md->...nm", q, k[..., start:stop, :]) / math.sqrt(q.size(-1))
        if causal:
            x = x.masked_fill(hidden(start, stop - start, q.size(-2)), float("-inf"))
        new = torch.logsumexp(x.nan_to_num(neginf=-1e30) if causal else x, dim=-1, keepdim=True)
        o = torch.exp(x - new) @ v[..., start:stop, :]
        if lse is None:
            out, lse = o, new
        else:
            both = torch.logaddexp(lse, new)
            out, lse = (lse - both).exp() * out + (new - both).exp() * o, both
    return out


def in_two_passes(q, k, v, block, causal=False):
    """First the logsumexp over all blocks, then the mix."""
    starts, n = range(0, k.shape[-2], block), q.shape[-2]

    def scores(start):
        x = q @ k[..., start : start + block, :].transpose(-1, -2) / math.sqrt(q.shape[-1])
        return x.masked_fill(hidden(start, x.shape[-1], n), -torch.inf) if causal else x

    tops = torch.stack([scores(start).amax(-1) for start in starts]).amax(0)[..., None]
    total = sum((scores(start) - tops).exp().sum(-1, keepdim=True) for start in starts)
    return sum((scores(start) - tops).exp() @ v[..., start : start + block, :] for start in starts) / total


def queries_too(q, k, v, block, causal=False):
    """Blocks of queries as well; blocks that lie wholly in the future are skipped."""
    outputs = []
    for first in range(0, q.shape[-2], block):
        rows = q[..., first : first + block, :] / math.sqrt(q.shape[-1])
        m = rows.new_full((*rows.shape[:-1], 1), -torch.inf)
        s, o = torch.zeros_like(m), rows.new_zeros(*rows.shape[:-1], v.shape[-1])
        last = first + rows.shape[-2] if causal else k.shape[-2]
        for start in range(0, min(last, k.shape[-2]), block):
            kb, vb = (t[..., start : start + block, :] for t in (k, v))
            x = rows @ kb.mT
            if causal:
                later = (start + torch.arange(x.shape[-1])) > (first + torch.arange(x.shape[-2]))[:, None]
                x = x.masked_fill(later, -torch.inf)
            new = torch.maximum(m, x.amax(-1, keepdim=True)).detach()
            p, c = torch.exp(x - new), torch.exp(m - new)
            m, s, o = new, s * c + p.sum(-1, keepdim=True), o * c + p @ vb
        outputs.append(o / s)
    return torch.cat(outputs, dim=-2)


def normalised_all_along(q, k, v, block, causal=False):
    """The output is divided at every step."""
    m, s, out = None, None, None
    for j in range(math.ceil(k.shape[-2] / block)):
        keys = slice(j * block, (j + 1) * block)
        x = torch.matmul(q, k[..., keys, :].transpose(-2, -1)).div(q.shape[-1] ** 0.5)
        if causal:
            x = x + torch.zeros(x.shape[-2:], dtype=x.dtype).masked_fill(
                hidden(j * block, x.shape[-1], x.shape[-2]), -math.inf)
        top = x.max(dim=-1, keepdim=True)[0] if m is None else torch.maximum(m, x.max(dim=-1, keepdim=True)[0])
        grown = torch.exp(x - top)
        old = 0 if m is None else s * torch.exp(m - top)
        new = old + grown.sum(-1, keepdim=True)
        out = (grown @ v[..., keys, :] + (0 if out is None else out * old)) / new
        m, s = top, new
    return out


def each_query_alone(q, k, v, block, causal=False):
    """The smallest tile of queries: one."""
    rows = [three_running(one, k, v, block) for one in q.split(1, -2)] if not causal else [
        three_running(q[..., i : i + 1, :], k[..., : i + 1, :], v[..., : i + 1, :], block) for i in range(q.shape[-2])]
    return torch.cat(rows, dim=-2)


def results_of_all_blocks(q, k, v, block, causal=False):
    """As for decoding: each block by itself, and all results merged at the end. Keys are scaled beforehand.
    """
    k, tops, sums, outs = k / math.sqrt(q.shape[-1]), [], [], []
    for start in range(0, k.shape[-2], block):
        kb, vb = k[..., start : start + block, :], v[..., start : start + block, :]
        x = (q.unsqueeze(-2) * kb.unsqueeze(-3)).sum(-1)
        if causal:
            x = x.masked_fill(hidden(start, x.shape[-1], x.shape[-2]), -1e30)
        tops.append(x.amax(-1, keepdim=True))
        grown = torch.exp(x - tops[-1])
        sums.append(grown.sum(-1, keepdim=True))
        outs.append(grown @ vb)
    tops, sums, outs = (torch.stack(one) for one in (tops, sums, outs))
    shares = torch.exp(tops - tops.amax(0))
    return (outs * shares).sum(0) / (sums * shares).sum(0)


RANGE, ALL = "range(0, k.shape[-2], block)", "scores.amax(dim=-1, keepdim=True)"
NEW, SHRINK, GROWN = f"torch.maximum(largest, {ALL})", "torch.exp(largest - new)", "torch.exp(scores - new)"
TOTAL, OUTPUT = "total * shrink + grown.sum(dim=-1, keepdim=True)", "output * shrink + grown @ values"
SCALE, HIDDEN, LAST = " / math.sqrt(q.shape[-1])", "key > query", "return output / total"
RIGHT = {
    "three running": three_running,
    "merged": merged,
    "two passes": in_two_passes,
    "queries too": queries_too,
    "normalised all along": normalised_all_along,
    "each query alone": each_query_alone,
    "results of all blocks": results_of_all_blocks,
    "detached maximum": {NEW: f"{NEW}.detach()"},
    "begins very low": {"-torch.inf)\n    total": "-1e30)\n    total"},
    "values of one more feature": {LAST: "return output.div(total)"},
    "fused for the first block, thrown away": {"    for start": "    F.scaled_dot_product_attention(q, "
                                               "k[..., :block, :], v[..., :block, :])\n    for start"},
}


def one_table(q, k, v, block, causal=False):
    x = q @ k.mT / math.sqrt(q.shape[-1])
    if causal:
        x = x.masked_fill(torch.ones_like(x).triu(1).bool(), -torch.inf)
    return torch.softmax(x, -1) @ v


def table_of_truth(q, k, v, block, causal=False):
    mask = torch.ones(q.shape[-2], k.shape[-2], dtype=torch.bool).tril()
    out, m, s = 0.0, torch.full((*q.shape[:-1], 1), -1e30, dtype=q.dtype), 0.0
    for i in range(0, k.shape[-2], block):
        x = q @ k[..., i : i + block, :].mT / math.sqrt(q.shape[-1])
        if causal:
            x = x.masked_fill(~mask[:, i : i + block], -torch.inf)
        new = torch.maximum(m, x.amax(-1, keepdim=True))
        p, c = (x - new).exp(), (m - new).exp()
        out, s, m = out * c + p @ v[..., i : i + block, :], s * c + p.sum(-1, keepdim=True), new
    return out / s


def blocks_side_by_side(q, k, v, block, causal=False):
    """Scores block by block, but all of them kept."""
    parts = [q @ kb.mT / math.sqrt(q.shape[-1]) for kb in k.split(block, -2)]
    if causal:
        parts = [x.masked_fill(hidden(i * block, x.shape[-1], q.shape[-2]), -torch.inf) for i, x in enumerate(parts)]
    weights = torch.softmax(torch.cat(parts, -1), -1)
    return sum(w @ vb for w, vb in zip(weights.split(block, -1), v.split(block, -2), strict=True))


def query_by_query(q, k, v, block, causal=False):
    rows = []
    for i in range(q.shape[-2]):
        seen = i + 1 if causal else k.shape[-2]
        x = (k[..., :seen, :] @ q[..., i, :, None]).squeeze(-1) / math.sqrt(q.shape[-1])
        rows.append((torch.softmax(x, -1)[..., None, :] @ v[..., :seen, :]).squeeze(-2))
    return torch.stack(rows, dim=-2)


def halves_of_the_keys(q, k, v, block, causal=False):
    """Blocks are half of all keys, whatever `block` says, and queries come one by one."""
    half = math.ceil(k.shape[-2] / 2)
    if causal:
        return query_by_query(q, k, v, block, causal)
    return torch.cat([three_running(one, k, v, half) for one in q.split(1, -2)], dim=-2)


WRONG = {
    "query by query": query_by_query,
    "halves of the keys": halves_of_the_keys,
    "one table": one_table,
    "table of truth values": table_of_truth,
    "all blocks kept": blocks_side_by_side,
    "fused": lambda q, k, v, block, causal=False: F.scaled_dot_product_attention(q, k, v, is_causal=causal),
    "blocks of its own size": lambda q, k, v, block, causal=False: three_running(q, k, v, 64, causal),
    "a block is skipped": {RANGE: "range(0, k.shape[-2], block + 1)"},
    "two blocks at most": {RANGE: "range(0, min(k.shape[-2], 2 * block), block)"},
    "blocks overlap": {RANGE: "range(0, k.shape[-2], max(1, block - 1))"},
    "the smallest score": {"torch.maximum": "torch.minimum", "amax": "amin",
                           "-torch.inf)\n    total": "1e30)\n    total"},
    "the mean score": {ALL: "scores.mean(dim=-1, keepdim=True)"},
    "halved instead of shrunk": {SHRINK: "torch.full_like(new, 0.5)"},
    "divided by the blocks": {LAST: "return output / total / len(range(0, k.shape[-2], block))"},
    "divided twice": {LAST: "return output / total / total"},
    "sum of the last block": {TOTAL: "grown.sum(dim=-1, keepdim=True)"},
    "shrunk twice": {"output * shrink": "output * shrink * shrink"},
    "causal by blocks": {HIDDEN: "key // block > query // block"},
    "causal with a jump": {"start + torch.arange": "start + 1 + torch.arange"},
    "a small number": {LAST: "return output / (total + 1e-2)"},
    "relu": {GROWN: "torch.relu(scores)"},
    "q is scaled in place": {"    largest = q.new": "    q.mul_(1.0).div_(math.sqrt(q.shape[-1]))\n    largest = q.new",
                             SCALE: ""},
    "single precision": {LAST: "return (output / total).float()"},
    "maximum returned too": {LAST: "return output / total, largest"},
    "block has a default, causal none": {"block, causal=False)": "block=2, is_causal=False)",
                                         "if causal": "if is_causal"},
    "values cut off": {"grown @ values": "grown @ values.detach()"},
}
