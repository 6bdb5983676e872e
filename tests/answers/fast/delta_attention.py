"""Answers to fast.delta_attention."""

import torch
from torch import einsum


def with_einsum(q, k, v, beta):
    S = q.new_zeros(*q.shape[:-2], k.shape[-1], v.shape[-1])
    out = torch.empty_like(v)
    for t in range(q.shape[-2]):
        u = beta[..., t, None] * (v[..., t, :] - einsum("...d,...de->...e", k[..., t, :], S))
        S = S + einsum("...d,...e->...de", k[..., t, :], u)
        out[..., t, :] = einsum("...d,...de->...e", q[..., t, :], S)
    return out


def erase_then_write(q, k, v, beta):
    """S (I - beta k k^T) + beta v k^T, as the papers write it."""
    S, rows = torch.zeros((*q.shape[:-2], v.shape[-1], k.shape[-1]), dtype=v.dtype), []
    eye = torch.eye(k.shape[-1], dtype=k.dtype)
    for t in range(k.size(-2)):
        key, b = k[..., t, :, None], beta[..., t, None, None]
        S = S @ (eye - b * key @ key.mT) + b * v[..., t, :, None] @ key.mT
        rows.append((S @ q[..., t, :, None]).squeeze(-1))
    return torch.stack(rows, -2)


def old_and_new_value(q, k, v, beta):
    """The state moves part of the way from the old value to the new one."""
    state, outputs = torch.zeros_like(k[..., 0, :, None] * v[..., 0, None, :]), []
    for query, key, new, rate in zip(q.unbind(-2), k.unbind(-2), v.unbind(-2), beta.unbind(-1), strict=True):
        old = (key[..., None] * state).sum(-2)
        rate = rate[..., None]
        mixed = (1 - rate) * old + rate * new
        state = state - key[..., None] * old[..., None, :] + key[..., None] * mixed[..., None, :]
        outputs.append((query[..., None] * state).sum(dim=-2))
    return torch.stack(outputs, dim=-2)


def in_chunks(q, k, v, beta, size=8):
    """Within a chunk all changes at once, by a small triangular system; the state goes from chunk to chunk."""
    state = torch.zeros(*q.shape[:-2], q.shape[-1], v.shape[-1], dtype=q.dtype)
    parts = []
    for a, b, c, r in zip(q.split(size, -2), k.split(size, -2), v.split(size, -2), beta.split(size, -1), strict=True):
        system = (r[..., None] * (b @ b.mT)).tril(-1) + torch.eye(b.shape[-2], dtype=b.dtype)
        changes = torch.linalg.solve_triangular(system, r[..., None] * (c - b @ state), upper=False)
        parts.append(a @ state + (a @ b.mT).tril() @ changes)
        state = state + b.mT @ changes
    return torch.cat(parts, dim=-2)


def changes_kept(q, k, v, beta):
    """No state: a list of what every token wrote, read by its key."""
    changes, rows = [], []
    for t in range(q.shape[-2]):
        change = v[..., t, :]
        if t:
            written = torch.stack(changes, dim=-2)
            change = change - ((k[..., :t, :] * k[..., t : t + 1, :]).sum(-1, keepdim=True) * written).sum(-2)
        changes.append(beta[..., t : t + 1] * change)
        written = torch.stack(changes, dim=-2)
        rows.append(((k[..., : t + 1, :] * q[..., t : t + 1, :]).sum(-1, keepdim=True) * written).sum(dim=-2))
    return torch.stack(rows, dim=-2)


def sample_by_sample(q, k, v, beta):
    if q.dim() > 2:
        return torch.stack([sample_by_sample(*one) for one in zip(q, k, v, beta, strict=True)])
    S, out = torch.zeros(q.shape[1], v.shape[1], dtype=q.dtype), []
    for query, key, value, rate in zip(q, k, v, beta, strict=True):
        S = S + rate * torch.outer(key, value - key @ S)
        out.append(query @ S)
    return torch.stack(out)


HELD, ERROR = "(key.unsqueeze(-2) @ state).squeeze(-2)", "v[..., t, :] - held"
CHANGE, WRITE = "beta[..., t, None] * error", "state + key.unsqueeze(-1) * change.unsqueeze(-2)"
READ, LAST = "outputs.append((q[..., t, :].unsqueeze(-2) @ state).squeeze(-2))", "return torch.stack(outputs, dim=-2)"
RIGHT = {
    "einsum": with_einsum,
    "erase, then write": erase_then_write,
    "old and new value": old_and_new_value,
    "chunks": in_chunks,
    "changes kept": changes_kept,
    "sample by sample": sample_by_sample,
    "an outer product": {WRITE: "state + key.unsqueeze(-1) @ change.unsqueeze(-2)"},
}


def one_table(q, k, v, beta):
    beta = beta[..., None]
    earlier = (beta * (k @ k.mT)).tril(-1) + torch.eye(k.shape[-2], dtype=k.dtype)
    return (q @ k.mT).tril() @ torch.linalg.solve_triangular(earlier, beta * v, upper=False)


def softmax_attention(q, k, v, beta):
    output = torch.nn.functional.scaled_dot_product_attention(q, k, v * beta[..., None], is_causal=True)
    return output


WRONG = {
    "one table": one_table,
    "softmax attention": softmax_attention,
    "the state is clamped": {WRITE: "(state + key.unsqueeze(-1) * change.unsqueeze(-2)).clamp(-1, 1)"},
    "keys for values": {ERROR: "v[..., t, :] * 0 + k[..., t, :1] - held"},
    "beta of the first token": {CHANGE: "beta[..., :1] * error"},
    "beta squared": {CHANGE: "beta[..., t, None] ** 2 * error"},
    "beta below one": {CHANGE: "beta[..., t, None].clamp(0, 1) * error"},
    "values cut off": {ERROR: "v[..., t, :].detach() - held"},
    "the error through tanh": {CHANGE: "beta[..., t, None] * torch.tanh(error)"},
    "a window of fifty": {"key = k": "state = state * (t % 50 != 0)\n        key = k"},
    "single precision": {LAST: "return torch.stack(outputs, dim=-2).float()"},
    "the state, too": {LAST: "return torch.stack(outputs, dim=-2), state"},
    "tokens in front": {LAST: "return torch.stack(outputs)"},
    "two steps each": {WRITE: f"{WRITE}\n        change = beta[..., t, None] * (v[..., t, :] - {HELD})\n"
                              f"        state = {WRITE}"},
    "v changed": {LAST: "v.mul_(1.5)\n    return torch.stack(outputs, dim=-2)"},
    "keys in the state's place": {HELD: "(key * key).sum(-1, keepdim=True) * v[..., t, :] * 0"},
    "divided by the length of the key": {WRITE: "state + key.unsqueeze(-1) * change.unsqueeze(-2) / "
                                                "(key * key).sum(-1)[..., None, None]"},
    "the mean of the outputs": {LAST: "return torch.stack(outputs, dim=-2).cumsum(-2)"},
    "a list": {LAST: "return outputs"},
}
