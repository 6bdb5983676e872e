"""How far a policy has moved from its reference, estimated from its own tokens (Schulman 2020)."""

import torch

from autograder.schema import VALUES, Case, Exercise


def kl_penalty(log_probs, reference_log_probs, mask):
    d = (reference_log_probs.detach() - log_probs).where(mask, 0.0)
    penalties = torch.expm1(d) - d
    return penalties.sum() / mask.sum().clamp(min=1)


def reference(log_probs, reference_log_probs, mask):
    d = (reference_log_probs.detach() - log_probs).where(mask, 0.0)
    penalties = torch.expm1(d) - d
    return penalties.sum() / mask.sum().clamp(min=1)


def cases(draw):
    yield Case("all tokens", (draw.normal(2, 3), draw.normal(2, 3), torch.ones(2, 3).bool()))


EXERCISE = Exercise(
    number=6, minutes=10, difficulty=2,
    worked=kl_penalty,
    reference=reference,
    cases=cases,
    aspects={VALUES: 4},
    mistakes=(),
    hints=(),
)
