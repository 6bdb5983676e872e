"""Answers to fast.tiled_backward."""

import math

import torch
from torch import einsum


def hidden(start, width, queries, keys):
    """Return (N, block): which keys of a block come after a query."""
    return torch.arange(start, start + width) > torch.arange(keys - queries, keys).unsqueeze(1)


def written_into_slices(q, k, v, out, logsumexp, grad_out, block, causal=False):
    n, m, scale = q.size(-2), k.size(-2), q.size(-1) ** -0.5
    delta = torch.sum(out * grad_out, -1)
    dq, dk, dv = torch.zeros_like(q), torch.empty_like(k), torch.empty_like(v)
    for j in range(math.ceil(m / block)):
        part = slice(j * block, min((j + 1) * block, m))
        kb, vb = k[..., part, :], v[..., part, :]
        s = scale * (q @ kb.mT)
        if causal:
            s = s.masked_fill(hidden(j * block, kb.shape[-2], n, m), -math.inf)
        p = (s - logsumexp[..., None]).exp()
        ds = p * (grad_out @ vb.mT - delta[..., None]) * scale
        dq += ds @ kb
        dk[..., part, :] = ds.mT @ q
        dv[..., part, :] = p.mT @ grad_out
    return dq, dk, dv


def by_einsum(q, k, v, out, logsumexp, grad_out, block, causal=False):
    """The weights of hidden keys are set to 0 after the exponential."""
    root, start, parts = math.sqrt(q.shape[-1]), 0, []
    delta = einsum("...ne,...ne->...n", out, grad_out).unsqueeze(-1)
    for kb, vb in zip(k.split(block, -2), v.split(block, -2), strict=True):
        p = torch.exp(einsum("...nd,...md->...nm", q, kb) / root - logsumexp.unsqueeze(-1))
        if causal:
            p = torch.where(hidden(start, p.shape[-1], q.shape[-2], k.shape[-2]), 0.0, p)
        ds = p * (einsum("...ne,...me->...nm", grad_out, vb) - delta) / root
        parts.append((ds @ kb, einsum("...nm,...nd->...md", ds, q), einsum("...nm,...ne->...me", p, grad_out)))
        start += kb.shape[-2]
    for_q, for_k, for_v = zip(*parts, strict=True)
    return sum(for_q), torch.cat(for_k, -2), torch.cat(for_v, -2)


def queries_too(q, k, v, out, logsumexp, grad_out, block, causal=False):
    """Algorithm 4 as it is written, with tiles of queries; those that see nothing of a block are left out."""
    n, m, scale = q.shape[-2], k.shape[-2], 1 / math.sqrt(q.shape[-1])
    dq, dk, dv = q.new_zeros(q.shape), k.new_zeros(k.shape), v.new_zeros(v.shape)
    delta = (grad_out * out).sum(-1, keepdim=True)
    for start in range(0, m, block):
        end = min(start + block, m)
        kb, vb = k[..., start:end, :], v[..., start:end, :]
        for first in range(0, n, block):
            rows = slice(first, min(first + block, n))
            if causal and start > rows.stop - 1 + m - n:
                continue
            s = q[..., rows, :] @ kb.mT * scale
            if causal:
                query = torch.arange(rows.start, rows.stop)[:, None] + (m - n)
                s = s.masked_fill(torch.arange(start, end) > query, -torch.inf)
            p = torch.exp(s - logsumexp[..., rows, None])
            dv[..., start:end, :] += p.mT @ grad_out[..., rows, :]
            ds = p * (grad_out[..., rows, :] @ vb.mT - delta[..., rows, :])
            dq[..., rows, :] += scale * ds @ kb
            dk[..., start:end, :] += scale * ds.mT @ q[..., rows, :]
    return dq, dk, dv


def each_query_alone(q, k, v, out, logsumexp, grad_out, block, causal=False):
    """The smallest tile of queries: one."""
    n, m = q.shape[-2], k.shape[-2]
    dq, dk, dv = torch.zeros_like(q), torch.zeros_like(k), torch.zeros_like(v)
    for i in range(n):
        seen = i + m - n + 1 if causal else m
        qi, gi = q[..., i : i + 1, :], grad_out[..., i : i + 1, :]
        inner = (gi * out[..., i : i + 1, :]).sum(-1, keepdim=True)
        for j in range(0, seen, block):
            part = slice(j, min(j + block, seen))
            p = (qi @ k[..., part, :].mT / math.sqrt(q.shape[-1]) - logsumexp[..., i, None, None]).exp()
            dv[..., part, :] += p.mT * gi
            ds = p * (gi @ v[..., part, :].mT - inner) / math.sqrt(q.shape[-1])
            dq[..., i : i + 1, :] += ds @ k[..., part, :]
            dk[..., part, :] += ds.mT * qi
    return dq, dk, dv


def in_two_passes(q, k, v, out, logsumexp, grad_out, block, causal=False):
    """The inner product from the weights, in a loop of its own; the output is not used."""
    n, m = q.shape[-2], k.shape[-2]
    scaled = k / math.sqrt(q.shape[-1])

    def block_at(start):
        s = q @ scaled[..., start : start + block, :].transpose(-1, -2)
        if causal:
            s = s + torch.zeros_like(s).masked_fill(hidden(start, s.shape[-1], n, m), -torch.inf)
        return torch.exp(s - logsumexp[..., None]), grad_out @ v[..., start : start + block, :].transpose(-1, -2)

    starts = range(0, m, block)
    delta = sum((p * dp).sum(-1, keepdim=True) for p, dp in map(block_at, starts))
    dq, dk, dv = 0, [], []
    for start in starts:
        p, dp = block_at(start)
        ds = p * (dp - delta)
        dq = dq + ds @ scaled[..., start : start + block, :]
        dk.append(ds.transpose(-1, -2) @ q / math.sqrt(q.shape[-1]))
        dv.append(p.transpose(-1, -2) @ grad_out)
    return dq, torch.cat(dk, dim=-2), torch.cat(dv, dim=-2)


def products_by_hand(q, k, v, out, logsumexp, grad_out, block, causal=False):
    """Without a matrix product: entry by entry, summed over an axis."""
    scale, n, m = q.shape[-1] ** -0.5, q.shape[-2], k.shape[-2]
    inner = (out * grad_out).sum(-1)
    dq, dk, dv = [], [], []
    for start in range(0, m, block):
        kb, vb = k[..., None, start : start + block, :], v[..., None, start : start + block, :]
        s = (q[..., :, None, :] * kb).sum(-1) * scale
        if causal:
            s = s.masked_fill(hidden(start, s.shape[-1], n, m), -torch.inf)
        p = torch.exp(s - logsumexp[..., :, None])
        ds = p * ((grad_out[..., :, None, :] * vb).sum(-1) - inner[..., :, None]) * scale
        dq.append((ds[..., None] * kb).sum(-2))
        dk.append((ds[..., None] * q[..., :, None, :]).sum(-3))
        dv.append((p[..., None] * grad_out[..., :, None, :]).sum(-3))
    return torch.stack(dq).sum(0), torch.cat(dk, -2), torch.cat(dv, -2)


def written_to_all_keys(q, k, v, out, logsumexp, grad_out, block, causal=False):
    """Each block's part is added at the block's indices, by operations that return the whole gradient."""
    scale, m = 1 / q.shape[-1] ** 0.5, k.shape[-2]
    delta = (out * grad_out).sum(-1, keepdim=True)
    dq, dk, dv = torch.zeros_like(q), torch.zeros_like(k), torch.zeros_like(v)
    for keys in torch.arange(m).split(block):
        kb, vb = k.index_select(-2, keys), v.index_select(-2, keys)
        s = torch.matmul(q, kb.mT) * scale - logsumexp[..., None]
        if causal:
            s = s.masked_fill(keys > torch.arange(m - q.shape[-2], m)[:, None], float("-inf"))
        p = s.exp()
        ds = p * (torch.matmul(grad_out, vb.mT) - delta)
        dq = dq + torch.matmul(ds, kb) * scale
        dk = dk.index_add(-2, keys, torch.matmul(ds.mT, q) * scale)
        dv.index_add_(-2, keys, torch.matmul(p.mT, grad_out))
    return dq, dk, dv


def flattened(q, k, v, out, logsumexp, grad_out, block, causal=False):
    """All axes in front as one, and torch.bmm."""
    shapes = q.shape, k.shape, v.shape
    q, k, v, out, grad_out = (t.reshape(-1, *t.shape[-2:]) for t in (q, k, v, out, grad_out))
    lse, n, m = logsumexp.reshape(-1, q.shape[1], 1), q.shape[1], k.shape[1]
    dq, dk, dv = torch.zeros_like(q), torch.zeros_like(k), torch.zeros_like(v)
    with torch.no_grad():
        for start in range(0, m, block):
            kb, vb = (t[:, start : start + block].transpose(1, 2) for t in (k, v))
            s = torch.bmm(q, kb).div(math.sqrt(q.shape[-1]))
            if causal:
                s[:, hidden(start, s.shape[-1], n, m)] = -torch.inf
            p = s.sub(lse).exp()
            ds = (torch.bmm(grad_out, vb) - (out * grad_out).sum(-1, keepdim=True)).mul(p).div(math.sqrt(q.shape[-1]))
            dq.baddbmm_(ds, kb.transpose(1, 2))
            dk[:, start : start + block] = torch.bmm(ds.transpose(1, 2), q)
            dv[:, start : start + block] = torch.bmm(p.transpose(1, 2), grad_out)
    return dq.reshape(shapes[0]), dk.reshape(shapes[1]), dv.reshape(shapes[2])


RIGHT = {
    "written into slices": written_into_slices,
    "einsum": by_einsum,
    "queries too": queries_too,
    "each query alone": each_query_alone,
    "two passes": in_two_passes,
    "products by hand": products_by_hand,
    "written to all keys": written_to_all_keys,
    "flattened": flattened,
    "tril": {"scores = scores.masked_fill(key > newest, -torch.inf)": "pass",
             "weights = torch.exp(scores - logsumexp.unsqueeze(-1))": "weights = torch.exp(scores - logsumexp.unsqueeze"
             "(-1))\n        if causal:\n            weights = weights.tril(k.shape[-2] - q.shape[-2] - start)"},
    "a low number": {"-torch.inf": "torch.finfo(q.dtype).min"},
}


def one_table(q, k, v, out, logsumexp, grad_out, block, causal=False):
    s = q @ k.mT / math.sqrt(q.shape[-1])
    if causal:
        s = s.masked_fill(hidden(0, k.shape[-2], q.shape[-2], k.shape[-2]), -torch.inf)
    p = torch.exp(s - logsumexp[..., None])
    ds = p * (grad_out @ v.mT - (out * grad_out).sum(-1, keepdim=True)) / math.sqrt(q.shape[-1])
    return ds @ k, ds.mT @ q, p.mT @ grad_out


def table_of_truth(q, k, v, out, logsumexp, grad_out, block, causal=False):
    """Scores block by block, but one mask for all keys."""
    mask = hidden(0, k.shape[-2], q.shape[-2], k.shape[-2])
    inner, scale = (out * grad_out).sum(-1, keepdim=True), q.shape[-1] ** -0.5
    dq, dk, dv = torch.zeros_like(q), torch.zeros_like(k), torch.zeros_like(v)
    for i in range(0, k.shape[-2], block):
        part = slice(i, i + block)
        s = q @ k[..., part, :].mT * scale
        if causal:
            s = s.masked_fill(mask[:, part], -torch.inf)
        p = torch.exp(s - logsumexp[..., None])
        ds = p * (grad_out @ v[..., part, :].mT - inner) * scale
        dq, dk[..., part, :], dv[..., part, :] = dq + ds @ k[..., part, :], ds.mT @ q, p.mT @ grad_out
    return dq, dk, dv


def weights_of_all_blocks(q, k, v, out, logsumexp, grad_out, block, causal=False):
    """Weights block by block, put together for one product."""
    parts = [q @ kb.mT / math.sqrt(q.shape[-1]) for kb in k.split(block, -2)]
    if causal:
        parts = [s.masked_fill(hidden(i * block, s.shape[-1], q.shape[-2], k.shape[-2]), -torch.inf)
                 for i, s in enumerate(parts)]
    p = torch.cat([torch.exp(s - logsumexp[..., None]) for s in parts], -1)
    ds = p * (grad_out @ v.mT - (out * grad_out).sum(-1, keepdim=True)) / math.sqrt(q.shape[-1])
    return ds @ k, ds.mT @ q, p.mT @ grad_out


def query_by_query(q, k, v, out, logsumexp, grad_out, block, causal=False):
    """One query after the other, each against all keys at once."""
    n, m = q.shape[-2], k.shape[-2]
    dq, dk, dv = torch.zeros_like(q), torch.zeros_like(k), torch.zeros_like(v)
    for i in range(n):
        seen = i + m - n + 1 if causal else m
        qi, gi, kb, vb = q[..., i, :, None], grad_out[..., i, :, None], k[..., :seen, :], v[..., :seen, :]
        p = torch.exp((kb @ qi) / math.sqrt(q.shape[-1]) - logsumexp[..., i, None, None])
        ds = p * (vb @ gi - (out[..., i, :, None] * gi).sum(-2, keepdim=True)) / math.sqrt(q.shape[-1])
        dq[..., i, :] = (ds.mT @ kb)[..., 0, :]
        dk[..., :seen, :] += ds @ qi.mT
        dv[..., :seen, :] += p @ gi.mT
    return dq, dk, dv


def halves_of_the_keys(q, k, v, out, logsumexp, grad_out, block, causal=False):
    """Blocks are half of all keys, whatever `block` says, and queries come one by one."""
    if causal:
        return query_by_query(q, k, v, out, logsumexp, grad_out, block, causal)
    half = math.ceil(k.shape[-2] / 2)
    parts = [written_into_slices(q[..., i : i + 1, :], k, v, out[..., i : i + 1, :], logsumexp[..., i : i + 1],
                                 grad_out[..., i : i + 1, :], half) for i in range(q.shape[-2])]
    dq, dk, dv = zip(*parts, strict=True)
    return torch.cat(dq, -2), sum(dk), sum(dv)


ATTEND = """
def attend(q, k, v, block, causal):
    outs, lses, n, m = [], [], q.shape[-2], k.shape[-2]
    for start in range(0, m, block):
        s = q @ k[..., start : start + block, :].mT / math.sqrt(q.shape[-1])
        if causal:
            later = torch.arange(start, start + s.shape[-1]) > torch.arange(m - n, m)[:, None]
            s = s.masked_fill(later, -1e30)
        lses.append(s.logsumexp(-1))
        outs.append(torch.softmax(s, -1) @ v[..., start : start + block, :])
    shares = torch.softmax(torch.stack(lses), 0)
    return (shares[..., None] * torch.stack(outs)).sum(0)
"""
ARGUMENTS = "q, k, v, out, logsumexp, grad_out, block, causal=False"
BY_BACKWARD = f"""{ATTEND}
def tiled_backward({ARGUMENTS}):
    q, k, v = (t.detach().clone().requires_grad_() for t in (q, k, v))
    (attend(q, k, v, block, causal) * grad_out).sum().backward()
    return q.grad, k.grad, v.grad
"""
BY_GRAD = f"""{ATTEND}
def tiled_backward({ARGUMENTS}):
    given = [t.detach().requires_grad_() for t in (q, k, v)]
    return torch.autograd.grad(attend(*given, block, causal), given, grad_out)
"""
BY_VJP = f"""{ATTEND}
def tiled_backward({ARGUMENTS}):
    _, back = torch.func.vjp(lambda *given: attend(*given, block, causal), q, k, v)
    return back(grad_out)
"""
BY_ENGINE = f"""{ATTEND}
from torch.autograd.graph import _engine_run_backward as go
def tiled_backward({ARGUMENTS}):
    given = [t.detach().requires_grad_() for t in (q, k, v)]
    return go((attend(*given, block, causal),), (grad_out,), False, False, tuple(given), False, accumulate_grad=False)
"""
BY_FUSED = f"""
def tiled_backward({ARGUMENTS}):
    given = [t.detach().requires_grad_() for t in (q, k, v)]
    mask = torch.ones(q.shape[-2], k.shape[-2]).tril(k.shape[-2] - q.shape[-2]).bool() if causal else None
    return torch.autograd.grad(F.scaled_dot_product_attention(*given, attn_mask=mask), given, grad_out)
"""
RANGE, LAST = "range(0, k.shape[-2], block)", "return grad_q, grad_k, grad_v"
SCALE, INNER = "1 / math.sqrt(q.shape[-1])", "(out * grad_out).sum(dim=-1, keepdim=True)"
WEIGHTS, AT_WEIGHTS = "torch.exp(scores - logsumexp.unsqueeze(-1))", "grad_out @ values.transpose(-2, -1)"
AT_SCORES, FOR_Q = "weights * (at_weights - inner) * scale", "grad_q = grad_q + at_scores @ keys"
FOR_K, FOR_V = "at_scores.transpose(-2, -1) @ q", "weights.transpose(-2, -1) @ grad_out"
WRONG = {
    "one table": one_table,
    "table of truth values": table_of_truth,
    "weights of all blocks": weights_of_all_blocks,
    "query by query": query_by_query,
    "halves of the keys": halves_of_the_keys,
    "backward": BY_BACKWARD,
    "autograd.grad": BY_GRAD,
    "func.vjp": BY_VJP,
    "the engine itself": BY_ENGINE,
    "fused": BY_FUSED,
    "blocks of its own size": {"    scale = ": "    block = 64\n    scale = "},
    "a block is skipped": {RANGE: "range(0, k.shape[-2], block + 1)"},
    "two blocks at most": {RANGE: "range(0, min(k.shape[-2], 2 * block), block)"},
    "the block refuses to be larger": {"    scale = ": "    assert block <= k.shape[-2]\n    scale = "},
    "the block must divide": {"    scale = ": "    assert k.shape[-2] % block == 0\n    scale = "},
    "the gradient of q in single precision": {
        "torch.zeros_like(q)": "torch.zeros(q.shape)", FOR_Q: "grad_q += at_scores.float() @ keys.float()",
        LAST: "return grad_q.to(q.dtype), grad_k, grad_v"},
    "weights in single precision": {WEIGHTS: f"{WEIGHTS}.float().to(q.dtype)"},
    "single precision": {LAST: "return grad_q.float(), grad_k.float(), grad_v.float()"},
    "four axes": {"    scale = ": "    batch, heads, n, d = q.shape\n    scale = "},
    "three axes": {"    scale = ": "    batch, n, d = q.shape\n    scale = "},
    "values as wide as keys": {"torch.cat(grads_v, dim=-2)": "torch.cat(grads_v, dim=-2) + torch.zeros_like(k)"},
    "heads mixed": {"torch.cat(grads_k, dim=-2)": "torch.cat(grads_k, dim=-2)\n    if q.dim() > 3:\n        "
                    "grad_k = grad_k.mean(dim=-3, keepdim=True).expand_as(grad_k)"},
    "samples summed": {"torch.cat(grads_v, dim=-2)": "torch.cat(grads_v, dim=-2)\n    if v.dim() > 2:\n        "
                       "grad_v = grad_v.sum(dim=0, keepdim=True).expand_as(grad_v)"},
    "the sign of the gradient": {LAST: "return -grad_q, -grad_k, -grad_v"},
    "keys for queries": {FOR_Q: "grad_q = grad_q + at_scores.transpose(-2, -1) @ keys "
                                "if q.shape[-2] == keys.shape[-2] else grad_q + at_scores @ keys"},
    "the inner product detached from the block": {AT_SCORES: "weights * (at_weights - inner / len(range(0, "
                                                             "k.shape[-2], block))) * scale"},
    "the inner product with the values": {INNER: "grad_out.sum(dim=-1, keepdim=True)"},
    "the output squared": {INNER: "(out * out).sum(dim=-1, keepdim=True)"},
    "weights squared": {AT_SCORES: "weights * weights * (at_weights - inner) * scale"},
    "the gradient at the weights": {AT_SCORES: "(at_weights - inner) * scale"},
    "a logsumexp of base two": {WEIGHTS: "torch.exp2(scores - logsumexp.unsqueeze(-1))"},
    "the largest score instead": {WEIGHTS: "torch.exp(scores - scores.amax(dim=-1, keepdim=True))"},
    "clamped": {WEIGHTS: "torch.exp((scores - logsumexp.unsqueeze(-1)).clamp(min=-20))"},
    "causal by blocks": {"key > newest": "key // block > newest // block"},
    "two gradients": {LAST: "return grad_q, grad_k"},
    "a dict": {LAST: "return {'q': grad_q, 'k': grad_k, 'v': grad_v}"},
    "q and k exchanged": {LAST: "return grad_k, grad_q, grad_v"},
    "written into q": {"torch.zeros_like(q)": "torch.zeros_like(q)\n    q.mul_(scale)",
                       "@ keys.transpose(-2, -1) * scale": "@ keys.transpose(-2, -1)"},
    "written into grad_out": {"inner = ": "grad_out *= 1.5\n    inner = "},
    "logsumexp shifted in place": {"inner = ": "logsumexp -= 1e-3\n    inner = "},
    "a later block counts less": {FOR_V: f"{FOR_V} / (1 + start)"},
    "ones in the logsumexp": {WEIGHTS: "torch.exp(scores - logsumexp.unsqueeze(-1)) + 1e-3"},
}
