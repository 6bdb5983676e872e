"""Answers to rl.group_advantages."""

import torch


def by_hand(rewards):
    mu = rewards.sum(1) / rewards.shape[1]
    var = ((rewards - mu[:, None]) ** 2).mean(1)
    return (rewards - mu[:, None]) / (var.sqrt()[:, None] + 1e-8)


def std_mean(rewards):
    std, mean = torch.std_mean(rewards, dim=-1, unbiased=False, keepdim=True)
    return (rewards - mean).div(std.add(1e-8))


def rows(rewards):
    out = []
    for group in rewards:
        out.append((group - group.mean()) / (group.std(unbiased=False) + 1e-8))
    return torch.stack(out)


def transposed(rewards):
    r = rewards.T
    return ((r - r.mean(0)) / (r.var(0, correction=0) ** 0.5 + 1e-8)).T


def filled(rewards):
    out = torch.zeros_like(rewards)
    for g in range(len(rewards)):
        d = rewards[g] - rewards[g].mean()
        out[g] = d / (d.square().mean().sqrt() + 1e-8)
    return out


def without_gradients(rewards):
    with torch.no_grad():
        out = rewards.clone()
        out -= out.mean(dim=1, keepdim=True)
        out /= out.pow(2).mean(1, keepdim=True).sqrt() + 1e-8
    return out


RIGHT = {kind.__name__: kind for kind in (by_hand, std_mean, rows, transposed, filled, without_gradients)}
WRONG = {
    "in place": {"(rewards - mean) /": "rewards.sub_(mean) /"},
    "float32": {"(rewards - mean) / (std + 1e-8)": "((rewards - mean) / (std + 1e-8)).float()"},
    "clipped": {"(rewards - mean) / (std + 1e-8)": "((rewards - mean) / (std + 1e-8)).clamp(-1, 1)"},
    "rank": {"(rewards - mean) / (std + 1e-8)": "rewards.argsort(1).argsort(1).to(rewards)"},
    "mean distance": {"rewards.std(dim=1, correction=0, keepdim=True)": "(rewards - mean).abs().mean(1, keepdim=True)"},
    "against the best": {"rewards.mean(dim=1, keepdim=True)": "rewards.amax(dim=1, keepdim=True)"},
    "ones for equal rewards": {"(std + 1e-8)": "(std + 1e-8) + (std == 0)"},
    "a pair": {"/ (std + 1e-8)": "/ (std + 1e-8), mean"},
    "an axis": {"/ (std + 1e-8)": "/ (std + 1e-8)[..., None]"},
    "groups flattened": {"(rewards - mean) / (std + 1e-8)": "((rewards - mean) / (std + 1e-8)).flatten()"},
}
