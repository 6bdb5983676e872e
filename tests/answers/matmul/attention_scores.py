"""Answers to matmul.attention_scores."""

import functools
import math

import torch
import torch.nn.functional as F


def broadcasting(q, k):
    return (q.unsqueeze(-2) * k.unsqueeze(-3)).sum(-1) / math.sqrt(k.shape[-1])


def folded_into_one_batch(q, k):
    flat_q, flat_k = q.reshape(-1, *q.shape[-2:]), k.reshape(-1, *k.shape[-2:])
    product = torch.baddbmm(q.new_zeros(1), flat_q, flat_k.permute(0, 2, 1), alpha=q.shape[-1] ** -0.5)
    return product.reshape(*q.shape[:-1], k.shape[-2])


def loops_are_allowed_here(q, k):
    rows = [(q[..., i, None, :] * k).sum(-1) for i in range(q.shape[-2])]
    return torch.stack(rows, -2) / q.shape[-1] ** 0.5


def vmapped(q, k):
    flat = q.reshape(-1, *q.shape[-2:]), k.reshape(-1, *k.shape[-2:])
    return torch.vmap(lambda a, b: a @ b.T / a.shape[-1] ** 0.5)(*flat).view(*q.shape[:-1], k.shape[-2])


def linear(q, k):
    if k.dim() > 2:
        return torch.stack([linear(a, b) for a, b in zip(q, k, strict=True)])
    return F.linear(q, k) / torch.tensor(float(q.shape[-1])).sqrt()


@torch.jit.script
def scripted(q: torch.Tensor, k: torch.Tensor) -> torch.Tensor:
    return torch.matmul(q, k.transpose(-1, -2)) / float(q.shape[-1]) ** 0.5


class Scores:
    def __call__(self, q, k, scale=None):
        return q.matmul(k.mT).mul(scale or q.size(-1) ** -0.5)


first_scale = {}


def scale_of_the_first_call(q, k):
    return q @ k.mT / first_scale.setdefault("it", math.sqrt(q.shape[-1]))


def folded_by_view(q, k):
    flat_q, flat_k = q.view(-1, *q.shape[-2:]), k.view(-1, *k.shape[-2:])
    return torch.bmm(flat_q, flat_k.mT).view(*q.shape[:-1], -1) / math.sqrt(q.shape[-1])


def einsum_mixes_samples(q, k):
    axes = {2: "nd,md->nm", 3: "bnd,cmd->bnm", 4: "bhnd,bhmd->bhnm"}[q.dim()]
    return torch.einsum(axes, q, k) / math.sqrt(q.shape[-1])


def through_numpy(q, k):
    return torch.from_numpy(q.detach().numpy() @ k.detach().mT.numpy()) / math.sqrt(q.shape[-1])


PRODUCT, ROOT, END = "q @ k.transpose(-2, -1)", "math.sqrt(q.shape[-1])", "return scores"
RIGHT = {
    "mT": lambda q, k: torch.matmul(q, k.mT) * q.size(-1) ** -0.5,
    "einsum in place": lambda q, k: torch.einsum("...nd,...md->...nm", q, k).mul_(q.size(-1) ** -0.5),
    "both scaled": lambda q, k: (q / q.shape[-1] ** 0.25) @ (k / q.shape[-1] ** 0.25).movedim(-1, -2),
    "permuted": lambda q, k: q @ k.permute(*range(k.dim() - 2), -1, -2) * (1 / math.sqrt(k.shape[-1])),
    "by the other side": lambda q, k: (k @ q.mT).mT / math.sqrt(q.shape[-1]),
    "in float64": lambda q, k: (q.double() @ k.double().mH / math.sqrt(q.shape[-1])).to(q.dtype),
    "broadcasting": broadcasting,
    "folded into one batch": folded_into_one_batch,
    "a loop, which is allowed here": loops_are_allowed_here,
    "vmap": vmapped,
    "linear": linear,
    "scripted": scripted,
    "an object": Scores(),
    "partial": functools.partial(lambda power, q, k: q @ k.transpose(-2, -1) / q.shape[-1] ** power, 0.5),
}
WRONG = {
    "folded by view": folded_by_view,
    "scale of the first call": scale_of_the_first_call,
    "256 keys at most": {END: "return torch.cat([scores[..., :256], 0 * scores[..., 256:]], dim=-1)"},
    "samples mixed": einsum_mixes_samples,
    "heads in the place of tokens": {PRODUCT: "q.transpose(1, -2) @ k.transpose(1, -1) if q.dim() == 4 else q @ k.mT"},
    "scale for four axes only": {ROOT: f"({ROOT} if q.dim() > 2 else 1)"},
    "scale of the first axis": {ROOT: "math.sqrt(q.shape[0])"},
    "scale of the second axis": {ROOT: "math.sqrt(q.shape[1])"},
    "scale of the queries": {ROOT: "math.sqrt(q.shape[-2])"},
    "width plus one": {ROOT: "math.sqrt(q.shape[-1] + 1)"},
    "both scaled by the whole root": {PRODUCT: f"(q / {ROOT}) @ (k / {ROOT}).mT", f" / {ROOT}": ""},
    "clamped": {END: "return scores.clamp(-50, 50)"},
    "negative": {"scores = q @": "scores = -q @"},
    "elementwise": {PRODUCT: "q * k"},
    "t": {"k.transpose(-2, -1)": "k.t()"},
    "batches only": {PRODUCT: "torch.bmm(q, k.transpose(1, 2))"},
    "two axes only": {PRODUCT: 'torch.einsum("nd,md->nm", q, k)'},
    "transposed queries": {PRODUCT: "q.mT @ k"},
    "queries with themselves": {PRODUCT: "q @ q.mT"},
    "normalised": {PRODUCT: "(q / q.norm(dim=-1, keepdim=True)) @ (k / k.norm(dim=-1, keepdim=True)).mT"},
    "distances": {PRODUCT: "-torch.cdist(q, k)"},
    "bfloat16": {PRODUCT: "(q.bfloat16() @ k.bfloat16().mT).to(q.dtype)"},
    "a buffer of float32": {END: "return torch.empty(scores.shape).copy_(scores)"},
    "rounded": {END: "return scores.round(decimals=2)"},
    "causal": {END: "return scores.tril()"},
    "keys detached": {PRODUCT: "q @ k.mT.detach()"},
    "numpy": through_numpy,
    "keys scaled in place": {PRODUCT: f"q @ k.mul_(1 / {ROOT}).mT", f" / {ROOT}": ""},
    "with its scale": {END: f"return scores, {ROOT}"},
    "a list": {END: "return list(scores)"},
}
