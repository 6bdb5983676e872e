"""Answers to images.attention_rollout."""

from functools import reduce

import torch


def reduced(weights):
    n = weights[0].size(-1)
    eye = torch.eye(n, dtype=weights[0].dtype)
    layers = [(w.mean(1) + eye) / 2 for w in weights]
    return reduce(lambda below, above: above @ below, layers)


def backwards(weights):
    """The product from the last layer to the first."""
    out = None
    for w in reversed(weights):
        a = 0.5 * w.mean(dim=1) + 0.5 * torch.eye(w.shape[-1], dtype=w.dtype)[None]
        out = a if out is None else torch.bmm(out, a)
    return out


def stacked(weights):
    a = torch.stack(weights).mean(dim=2)
    a = 0.5 * a + 0.5 * torch.eye(a.shape[-1]).to(a)
    result = a[0]
    for i in range(1, len(a)):
        result = torch.matmul(a[i], result)
    return result


def without_identity(weights):
    """The residual connection as half of the product so far, without an identity matrix."""
    b, _, n, _ = weights[0].shape
    rolled = torch.eye(n, dtype=weights[0].dtype).repeat(b, 1, 1)
    for w in weights:
        rolled = 0.5 * (w.mean(1) @ rolled + rolled)
    return rolled


def einsum(weights):
    eye = torch.eye(weights[0].shape[2]).type_as(weights[0])
    rolled = eye.expand(len(weights[0]), -1, -1)
    for w in weights:
        rolled = torch.einsum("bij,bjk->bik", torch.einsum("bhij->bij", w) / w.shape[1] / 2 + eye / 2, rolled)
    return rolled


def diagonal(weights):
    out = []
    for w in weights:
        a = w.mean(1) / 2
        a.diagonal(dim1=1, dim2=2).add_(0.5)
        out = [a @ out[0]] if out else [a]
    return out[0]


RIGHT = {kind.__name__: kind for kind in (reduced, backwards, stacked, without_identity, einsum, diagonal)}
WRONG = {
    "float32": {"return rolled": "return rolled.float()"},
    "cut off": {"return rolled": "return rolled.detach()"},
    "nine tenths": {"0.5 * layer.mean(dim=1) + 0.5 * same": "0.9 * layer.mean(dim=1) + 0.1 * same"},
    "attention raised to a power": {"layer.mean(dim=1)": "layer.mean(dim=1) ** 2"},
    "residual in the first layer": {"0.5 * layer.mean(dim=1) + 0.5 * same": "layer.mean(dim=1) if layer is not "
                                    "weights[0] else 0.5 * layer.mean(dim=1) + 0.5 * same"},
    "only ten layers": {"in weights:": "in weights[:10]:"},
    "in place": {"layer.mean(dim=1)": "layer.mul_(1.01).mean(dim=1)"},
    "the diagonal is emptied": {"return rolled": "return rolled * (1 - same)"},
    "weak ones left out": {"layer.mean(dim=1)": "layer.mean(dim=1).where(layer.mean(dim=1) > 0.1, 0)"},
    "one sample": {"return rolled": "return rolled[:1]"},
    "all steps": {"return rolled": "return [rolled]"},
    "gradients of the last layer only": {"mixed @ rolled": "mixed @ rolled.detach()"},
}
