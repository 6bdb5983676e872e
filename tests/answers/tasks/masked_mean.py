"""Answers to tasks.masked_mean."""

import torch


def einsum(x, padding):
    mask = padding.to(x.dtype)
    return torch.einsum("bnd,bn->bd", x, mask) / mask.sum(1, keepdim=True).clamp(min=1e-9)


def filled(x, padding):
    return x.masked_fill(~padding.unsqueeze(-1), 0.0).sum(1) / padding.sum(1).clamp_min(1).unsqueeze(-1)


def where(x, padding):
    kept = torch.where(padding[:, :, None], x, torch.zeros_like(x))
    n = padding.sum(dim=1, keepdim=True)
    return kept.sum(-2) / torch.where(n == 0, 1, n)


def product(x, padding):
    """The weights of a mean, times the tokens."""
    weights = padding.to(x.dtype)
    weights = weights / weights.sum(-1, keepdim=True).clamp(min=1.0)
    return (weights[:, None] @ x)[:, 0]


def loop(x, padding):
    out = []
    for tokens, real in zip(x, padding):
        chosen = tokens[real]
        out.append(chosen.mean(0) if len(chosen) else torch.zeros(x.shape[-1], dtype=x.dtype))
    return torch.stack(out)


def added_up(x, padding):
    rows = padding.nonzero()[:, 0]
    total = torch.zeros(len(x), x.shape[2], dtype=x.dtype).index_add(0, rows, x[padding])
    return total / torch.bincount(rows, minlength=len(x)).clamp(min=1)[:, None]


def small_number(x, padding):
    m = padding.float().unsqueeze(-1).to(x.dtype)
    return (x * m).sum(1) / (m.sum(1) + 1e-9)


def softmaxed(x, padding):
    """Equal scores on real tokens."""
    scores = torch.zeros(padding.shape, dtype=x.dtype).masked_fill(~padding, -torch.inf)
    return torch.einsum("bn,bnd->bd", torch.softmax(scores, -1).nan_to_num(), x)


RIGHT = {f.__name__: f for f in (einsum, filled, where, product, loop, added_up, small_number, softmaxed)} | {
    "maximum": {".clamp(min=1)": ".maximum(torch.ones(()).to(x))"},
    "count first": {"total / count": "(x * (real / count[:, None])).sum(1)"},
}
WRONG = {
    "median": {"total / count": "x.masked_fill(~real, torch.nan).nanmedian(dim=1).values.nan_to_num()"},
    "float32": {"total / count": "total.float() / count"},
    "weights instead of a mask": {"(x * real)": "(x * (real + 0.1))"},
    "cut off": {"total / count": "(total / count).detach()"},
    "two dimensions": {"dim=1).clamp": "dim=(1, 2)).clamp"},
    "in place": {"(x * real)": "x.mul_(real)"},
    "ones for an empty row": {"total / count": "(total + (real.sum(dim=1) == 0)) / count"},
    "norm": {"total / count": "torch.nn.functional.normalize(total, dim=-1)"},
    "a pair": {"return total / count": "return total / count, count"},
    "at most 256 tokens": {"(x * real)": "(x * real)[:, :256]"},
}
