"""Answers to assistant.kl_penalty."""

import torch


def selected(log_probs, reference_log_probs, mask):
    d = reference_log_probs.detach()[mask] - log_probs[mask]
    return (torch.expm1(d) - d).sum() / max(d.numel(), 1)


def filled(log_probs, reference_log_probs, mask):
    new, old = log_probs.masked_fill(~mask, 0), reference_log_probs.detach().masked_fill(~mask, 0)
    d = old - new
    return torch.sum(d.expm1() - d).div(mask.sum().clamp_min(1))


def in_double(log_probs, reference_log_probs, mask):
    d = torch.where(mask, reference_log_probs.detach().double() - log_probs.double(), 0.0)
    return ((d.exp() - 1 - d).sum() / mask.sum().clamp(min=1)).to(log_probs.dtype)


def series(log_probs, reference_log_probs, mask):
    """The first terms of the series where d is small."""
    d = torch.where(mask, reference_log_probs.detach() - log_probs, torch.zeros_like(log_probs))
    small = d.abs() < 0.02
    s = torch.where(small, d, 0.0)
    near = s**2 / 2 + s**3 / 6 + s**4 / 24 + s**5 / 120
    return torch.where(small, near, d.exp() - d - 1).sum() / max(1, mask.sum().item())


def loop(log_probs, reference_log_probs, mask):
    total = torch.where(mask, log_probs, 0.0).sum() * 0
    for row, column in mask.nonzero().tolist():
        d = reference_log_probs[row, column].detach() - log_probs[row, column]
        total = total + torch.expm1(d) - d
    return total / max(int(mask.sum()), 1)


RIGHT = {kind.__name__: kind for kind in (selected, filled, in_double, series, loop)} | {
    "NaN by nan_to_num": {".where(mask, 0.0)": ".nan_to_num() * mask"},
}
LAST = "return penalties.sum() / mask.sum().clamp(min=1)"
WRONG = {
    "one entry": {LAST: "return (penalties.sum() / mask.sum().clamp(min=1))[None]"},
    "float32": {LAST: "return (penalties.sum() / mask.sum().clamp(min=1)).float()"},
    "divided by one more": {LAST: "return penalties.sum() / (mask.sum() + 1)"},
    "twice": {LAST: "return 2 * penalties.sum() / mask.sum().clamp(min=1)"},
    "magnitudes": {"torch.expm1(d) - d": "torch.expm1(d.abs()) - d.abs()"},
    "base two": {"torch.expm1(d) - d": "torch.exp2(d) - 1 - d"},
    "both detached": {"- log_probs)": "- log_probs.detach())"},
    "root": {LAST: "return (penalties.sum() / mask.sum().clamp(min=1)).clamp(min=1e-12).sqrt()"},
    "half of both directions": {"torch.expm1(d) - d": "(torch.expm1(d) + torch.expm1(-d)) / 2"},
    "small differences are none": {"torch.expm1(d) - d": "torch.where(d.abs() < 0.02, d * 0, torch.expm1(d) - d)"},
    "the first answer": {LAST: "return penalties[0].sum() / mask[0].sum().clamp(min=1)"},
}
