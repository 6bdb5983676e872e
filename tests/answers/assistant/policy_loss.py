"""Answers to assistant.policy_loss."""

import torch


def selected(log_probs, old_log_probs, advantages, mask, low=0.2, high=0.2):
    """Only the tokens that count."""
    change = log_probs[mask] - old_log_probs[mask].detach()
    gain = advantages.detach()[:, None].expand(mask.shape)[mask]
    ratio = change.clamp(max=40.0).exp()
    losses = torch.maximum(-ratio * gain, -ratio.clamp(1 - low, 1 + high) * gain)
    return losses.sum() / max(1, losses.numel())


def by_sign(log_probs, old_log_probs, advantages, mask, low=0.2, high=0.2):
    a = advantages.detach().unsqueeze(1)
    d = torch.where(mask, log_probs - old_log_probs.detach(), torch.zeros_like(log_probs))
    up, down = d.clamp(max=30).exp().clamp(max=1 + high), d.clamp(max=30).exp().clamp(min=1 - low)
    gains = torch.where(a >= 0, up, down) * a * mask
    return gains.sum().neg() / torch.clamp(mask.sum(), min=1)


def loop(log_probs, old_log_probs, advantages, mask, low=0.2, high=0.2):
    total, count = torch.where(mask, log_probs, 0.0).sum() * 0, 0
    for row in range(len(mask)):
        for t in range(mask.shape[1]):
            if mask[row, t]:
                r = (log_probs[row, t] - old_log_probs[row, t].detach()).clamp(max=60.0).exp()
                a = advantages[row].item()
                total = total - torch.min(r * a, r.clamp(1 - low, 1 + high) * a)
                count += 1
    return total / max(count, 1)


def filled(log_probs, old_log_probs, advantages, mask, low=0.2, high=0.2):
    new, old = log_probs.masked_fill(~mask, 0.0), old_log_probs.detach().masked_fill(~mask, 0.0)
    ratio = torch.exp(torch.clamp(new - old, -60.0, 60.0))
    a = advantages.detach().reshape(-1, 1)
    both = torch.stack((ratio * a, ratio.clip(1 - low, 1 + high) * a)).amin(0)
    return -(both * mask).sum() / mask.sum().clamp_min(1)


def in_double(log_probs, old_log_probs, advantages, mask, low=0.2, high=0.2):
    change = torch.where(mask, log_probs.double() - old_log_probs.detach().double(), 0.0)
    ratio, a = change.clamp(max=700).exp(), advantages.detach().double()[:, None]
    gains = torch.minimum(ratio * a, ratio.clamp(1 - low, 1 + high) * a)
    return (-(gains * mask).sum() / max(int(mask.sum()), 1)).to(log_probs.dtype)


RIGHT = {kind.__name__: kind for kind in (selected, by_sign, loop, filled, in_double)} | {
    "NaN by nan_to_num": {".where(mask, 0.0)\n    ratio": ".nan_to_num() * mask\n    ratio"},
}
LAST, CLIPPED = "return -total / mask.sum().clamp(min=1)", "ratio.clamp(1 - low, 1 + high)"


def filled_after_exp(log_probs, old_log_probs, advantages, mask, low=0.2, high=0.2):
    ratio = torch.exp(log_probs - old_log_probs.detach()).masked_fill(~mask, 0)
    a = advantages.detach()[:, None]
    gains = torch.min(ratio * a, ratio.clamp(1 - low, 1 + high) * a).masked_fill(~mask, 0)
    return -gains.sum() / mask.sum().clamp(min=1)


def repeated(log_probs, old_log_probs, advantages, mask, low=0.2, high=0.2):
    ratio = torch.exp((log_probs - old_log_probs.detach()).masked_fill(~mask, 0).clamp(max=50))
    a = advantages.detach().repeat(1, log_probs.shape[1]).view(log_probs.shape)
    gains = torch.min(ratio * a, ratio.clamp(1 - low, 1 + high) * a).masked_fill(~mask, 0)
    return -gains.sum() / mask.sum().clamp(min=1)


WRONG = {kind.__name__: kind for kind in (filled_after_exp, repeated)} | {
    "a float": {LAST: "return (-total / mask.sum().clamp(min=1)).item()"},
    "one entry": {LAST: "return (-total / mask.sum().clamp(min=1))[None]"},
    "float32": {LAST: "return (-total / mask.sum().clamp(min=1)).float()"},
    "divided by one more": {LAST: "return -total / (mask.sum() + 1)"},
    "base two": {".exp()": ".exp2()"},
    "ratio squared": {".exp()": ".exp().square()"},
    "gradient through one branch": {CLIPPED: "ratio.detach().clamp(1 - low, 1 + high)"},
    "magnitudes of advantages": {"advantages.detach()[:, None]": "advantages.detach().abs()[:, None]"},
    "no defaults": {"low=0.2, high=0.2": "low, high"},
    "bounds by division": {CLIPPED: "ratio.clamp(1 / (1 + high), 1 + high)"},
    "entropy": {LAST: "return -total / mask.sum().clamp(min=1) + 0.01 * log_probs.where(mask, 0.0).mean()"},
}
