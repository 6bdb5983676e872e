"""Router inputs for which the choice of experts does not depend on how a logit is rounded."""

import torch

GAP = 1e-3  # a thousand times the rounding of a float32 logit of size one


def logits_apart(draw, *shape: int) -> torch.Tensor:
    """Return normal random logits in which no two logits of the same token are closer than GAP."""
    logits = draw.normal(*shape)
    while bool((close := _gaps(logits) < GAP).any()):
        logits[close] = draw.normal(int(close.sum()), shape[-1])
    return logits


def scores_apart(draw, bias: torch.Tensor, *lead: int, scale: float = 1.0, shift: float = 0.0) -> torch.Tensor:
    """Return random logits between -10 and 10 such that, for each token, no two of the sums sigmoid(logit) +
    `bias` are closer than GAP.
    """
    def drawn(*shape: int) -> torch.Tensor:
        return (draw.normal(*shape, len(bias), scale=scale) + shift).clamp(-10.0, 10.0)

    logits = drawn(*lead)
    while bool((close := _gaps(torch.sigmoid(logits) + bias) < GAP).any()):
        logits[close] = drawn(int(close.sum()))
    return logits


def tokens_apart(draw, router: torch.Tensor, batch: int, tokens: int) -> torch.Tensor:
    """Return normal random tokens (batch, tokens, d_model) such that no two router logits of the same token
    are closer than GAP; `router` is the router's weight.
    """
    x = draw.normal(batch, tokens, router.shape[1])
    while bool((close := _gaps(x.double() @ router.double().T) < GAP).any()):
        x[close] = draw.normal(int(close.sum()), router.shape[1])
    return x


def _gaps(logits):
    """Return, for each token, the smallest difference between two of its logits, but at most 1."""
    ordered = logits.sort(dim=-1).values
    return torch.cat((ordered.diff(dim=-1), torch.ones_like(ordered[..., :1])), dim=-1).amin(dim=-1)
