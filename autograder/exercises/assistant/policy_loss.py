"""The loss of a policy over tokens, with two bounds (Shao et al. 2024; Yu et al. 2025)."""

import torch

from autograder.schema import VALUES, Case, Exercise


def policy_loss(log_probs, old_log_probs, advantages, mask, low=0.2, high=0.2):
    change = (log_probs - old_log_probs.detach()).where(mask, 0.0)
    ratio = change.clamp(max=80.0).exp()
    clipped = ratio.clamp(1 - low, 1 + high)
    advantage = advantages.detach()[:, None]
    gains = torch.minimum(ratio * advantage, clipped * advantage)
    total = gains.where(mask, 0.0).sum()
    return -total / mask.sum().clamp(min=1)


def reference(log_probs, old_log_probs, advantages, mask, low=0.2, high=0.2):
    change = (log_probs - old_log_probs.detach()).where(mask, 0.0)
    ratio = change.clamp(max=80.0).exp()
    clipped = ratio.clamp(1 - low, 1 + high)
    advantage = advantages.detach()[:, None]
    gains = torch.minimum(ratio * advantage, clipped * advantage)
    total = gains.where(mask, 0.0).sum()
    return -total / mask.sum().clamp(min=1)


def cases(draw):
    yield Case("all tokens", (draw.normal(2, 3), draw.normal(2, 3), draw.normal(2), torch.ones(2, 3).bool()))


EXERCISE = Exercise(
    number=5, minutes=10, difficulty=2,
    worked=policy_loss,
    reference=reference,
    cases=cases,
    aspects={VALUES: 4},
    mistakes=(),
    hints=(),
)
