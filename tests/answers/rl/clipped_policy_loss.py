"""Answers to rl.clipped_policy_loss."""

import torch


def two_losses(log_probs, old_log_probs, advantages, clip=0.2):
    """As in stable-baselines: the larger of two losses."""
    r = (log_probs - old_log_probs.detach()).exp()
    loss1, loss2 = -advantages * r, -advantages * torch.clamp(r, 1.0 - clip, 1.0 + clip)
    return torch.max(loss1, loss2).mean()


def by_sign(log_probs, old_log_probs, advantages, clip=0.2):
    ratio = torch.exp(log_probs - old_log_probs)
    up, down = ratio.clamp(max=1 + clip), ratio.clamp(min=1 - clip)
    return -(torch.where(advantages >= 0, up, down) * advantages).mean()


def stacked(log_probs, old_log_probs, advantages, clip=0.2):
    ratio = (log_probs - old_log_probs).exp()
    both = torch.stack((ratio, ratio.clip(1 - clip, 1 + clip))) * advantages
    return both.amin(0).mean().neg()


def loop(log_probs, old_log_probs, advantages, clip=0.2):
    total = 0
    for new, old, gain in zip(log_probs, old_log_probs, advantages):
        r = torch.exp(new - old)
        total = total + torch.min(r * gain, torch.clamp(r, 1 - clip, 1 + clip) * gain)
    return -total / len(log_probs)


def spinning_up(log_probs, old_log_probs, advantages, clip=0.2):
    ratio = torch.exp(log_probs - old_log_probs)
    bound = torch.where(advantages > 0, (1 + clip) * advantages, (1 - clip) * advantages)
    return -(torch.min(ratio * advantages, bound)).mean()


def expm1(log_probs, old_log_probs, advantages, clip=0.2):
    with torch.no_grad():
        a = advantages.clone()
    r = 1 + torch.expm1(log_probs - old_log_probs)
    return torch.mean(torch.maximum(-r * a, -r.clamp(1 - clip, 1 + clip) * a))


def without_other_gradients(log_probs, old_log_probs, advantages, clip=0.2):
    """A wrong answer that returns the smallest entry of the batch, and sends no gradient to the other inputs.
    """
    a, ratio = advantages.detach(), torch.exp(log_probs - old_log_probs.detach())
    return -torch.minimum(ratio * a, ratio.clamp(1 - clip, 1 + clip) * a).amin()


RIGHT = {kind.__name__: kind for kind in (two_losses, by_sign, stacked, loop, spinning_up, expm1)}
WRONG = {
    "the smallest gain": without_other_gradients,
    "a float": {"-gains.mean()": "-gains.mean().item()"},
    "one entry left": {"-gains.mean()": "-gains.mean(dim=0, keepdim=True)"},
    "float32": {"-gains.mean()": "-gains.float().mean()"},
    "difference cut": {"torch.exp(log_probs - old_log_probs)": "torch.exp((log_probs - old_log_probs).clamp(-10, 10))"},
    "gradient through one branch": {"ratio.clamp(": "ratio.detach().clamp("},
    "advantages without sign": {"ratio * advantages,": "ratio * advantages.abs(),"},
    "base two": {"torch.exp(": "torch.exp2("},
    "ratio squared": {"torch.exp(log_probs - old_log_probs)": "torch.exp(2 * (log_probs - old_log_probs))"},
    "zero below": {"-gains.mean()": "-gains.clamp(min=0).mean()"},
    "in place": {"torch.exp(log_probs - old_log_probs)": "log_probs.detach().sub_(old_log_probs).exp_() + 0 * "
                 "log_probs"},
    "zero advantages do not count": {"-gains.mean()": "-gains.sum() / (advantages != 0).sum().clamp(min=1)"},
    "entropy": {"-gains.mean()": "-gains.mean() + 0.01 * log_probs.mean()"},
}
