"""Answers to loops.softmax."""

import functools
import math

import torch
import torch.nn.functional as F
from torch import nn


def through_logarithms(scores):
    shifted = scores - scores.detach().amax(dim=-1, keepdim=True)
    return torch.exp(shifted - shifted.exp().sum(dim=-1, keepdim=True).log())


def rows_in_a_loop(scores):
    rows = []
    for row in scores.reshape(-1, scores.shape[-1]):
        grown = torch.exp(row - row.max())
        rows.append(grown / grown.sum())
    return torch.stack(rows).reshape(scores.shape)


def by_dimension(scores):
    if scores.dim() > 1:
        return torch.stack([by_dimension(part) for part in scores])
    grown = torch.exp(scores - max(scores.tolist()))
    return grown / sum(grown)


def normalised_by_one_norm(scores):
    return F.normalize(math.e ** (scores - scores.amax(-1, keepdim=True)), p=1, dim=-1)


def keys_first(scores):
    moved = scores.movedim(-1, 0).double()
    grown = torch.exp(moved - moved.amax(0))
    return (grown / grown.sum(0)).movedim(0, -1).to(scores.dtype)


def in_place_on_a_copy(scores):
    shifted = scores.clone()
    shifted -= scores.amax(dim=-1, keepdim=True)
    grown = shifted.exp_()
    return grown.div(grown.sum(dim=-1, keepdim=True))


def online(scores):
    highest = torch.full(scores.shape[:-1], -math.inf)
    total = torch.zeros(scores.shape[:-1])
    for key in scores.unbind(-1):
        higher = torch.maximum(highest, key).detach()
        total = total * torch.exp(highest - higher) + torch.exp(key - higher)
        highest = higher
    return torch.exp(scores - highest[..., None]) / total[..., None]


def two_powers(scores):
    grown = torch.exp2((scores - scores.sort(-1).values[..., -1:]) / math.log(2))
    return grown / torch.einsum("...m->...", grown)[..., None]


def above_the_maximum(scores, eps=1e-9):
    grown = torch.expm1(scores + torch.amin(-scores, dim=-1, keepdim=True) + 1.0) + 1
    return grown / (grown.sum(-1, keepdim=True) + eps)


def mapped_rows(scores):
    def one(row):
        grown = torch.exp(row - row.max())
        return grown / grown.cumsum(-1)[-1]

    for _ in range(scores.dim() - 1):
        one = torch.vmap(one)
    return one(scores)


class WithBackward(torch.autograd.Function):
    @staticmethod
    def forward(ctx, scores):
        grown = torch.exp(scores - scores.amax(-1, keepdim=True))
        weights = grown / grown.sum(-1, keepdim=True)
        ctx.save_for_backward(weights)
        return weights

    @staticmethod
    def backward(ctx, grad):
        (weights,) = ctx.saved_tensors
        return weights * (grad - (grad * weights).sum(-1, keepdim=True))


class Softmax(nn.Module):
    def __init__(self, dim=-1):
        super().__init__()
        self.dim = dim

    def forward(self, scores):
        grown = torch.exp(scores - scores.amax(self.dim, keepdim=True))
        return grown * grown.sum(self.dim, keepdim=True).reciprocal()


@torch.jit.script
def scripted(scores: torch.Tensor) -> torch.Tensor:
    grown = torch.exp(scores - torch.amax(scores, [-1], True))
    return grown / grown.sum(-1, True)


@torch.jit.script
def scripted_softmax(scores: torch.Tensor) -> torch.Tensor:
    return torch.softmax(scores, dim=-1)


def sparse(scores):
    flat = scores.reshape(-1, scores.shape[-1])
    everywhere = torch.ones_like(flat).nonzero().T
    full = torch.sparse_coo_tensor(everywhere, flat.flatten(), flat.shape)
    return torch.sparse.softmax(full, 1).to_dense().reshape(scores.shape)


def by_attention(scores):
    rows = scores.reshape(1, -1, scores.shape[-1])
    keys = torch.eye(scores.shape[-1])[None]
    return F.scaled_dot_product_attention(rows, keys, keys, scale=1.0).reshape(scores.shape)


def by_cross_entropy(scores):
    flat = scores.reshape(-1, scores.shape[-1])
    columns = [F.cross_entropy(flat, torch.full((len(flat),), j), reduction="none") for j in range(flat.shape[1])]
    return torch.exp(-torch.stack(columns, -1)).reshape(scores.shape)


def in_a_module(scores):
    return nn.Sequential(nn.Identity(), nn.LogSoftmax(dim=-1))(scores).exp()


def folded_by_view(scores):
    flat = scores.view(-1, scores.shape[-1])
    grown = torch.exp(flat - flat.amax(1, keepdim=True))
    return (grown / grown.sum(1, keepdim=True)).view(scores.shape)


kept = []


def maximum_kept_between_calls(scores):
    kept.append(float(scores.detach().max()))
    grown = torch.exp(scores - max(kept))
    return grown / grown.sum(-1, keepdim=True)


def numpy_and_back(scores):
    table = scores.detach().numpy()
    grown = 2.718281828459045 ** (table - table.max(-1, keepdims=True))
    return torch.from_numpy(grown / grown.sum(-1, keepdims=True))


def tables_only(scores):
    return torch.stack([F.normalize(torch.exp(row - row.max()), p=1, dim=0) for row in scores])


HIGHEST, TOTAL = "scores.max(dim=-1, keepdim=True).values", "grown.sum(dim=-1, keepdim=True)"
GROWN, RESULT = "torch.exp(scores - highest)", "return grown / total"
RIGHT = {
    "through logarithms": through_logarithms,
    "rows in a loop": rows_in_a_loop,
    "by dimension": by_dimension,
    "one norm": normalised_by_one_norm,
    "keys first, in float64": keys_first,
    "in place on a copy": in_place_on_a_copy,
    "online": online,
    "two powers": two_powers,
    "above the maximum, tiny epsilon": above_the_maximum,
    "mapped rows": mapped_rows,
    "own autograd function": WithBackward.apply,
    "module": Softmax(),
    "scripted": scripted,
    "partial": functools.partial(lambda scores, dim: Softmax(dim)(scores), dim=-1),
}
WRONG = {
    "maximum kept between calls": maximum_kept_between_calls,
    "folded by view": folded_by_view,
    "shift if some score is large": {GROWN: "torch.exp(scores - highest * (scores.max() > 80))"},
    "scores of zero left out": {GROWN: "torch.exp(scores - highest) * (scores != 0)"},
    "in place division": {RESULT: "grown /= total\n    return grown"},
    "sum detached": {RESULT: "return grown / total.detach()"},
    "nan cleaned": {"scores - highest": "scores", RESULT: "return torch.nan_to_num(grown / total)"},
    "overflow cut": {GROWN: "torch.exp(scores).clamp(max=1e30)"},
    "first row's maximum": {HIGHEST: "scores.reshape(-1, scores.shape[-1])[0].max()"},
    "maximum of the last two axes": {HIGHEST: "scores.amax(dim=tuple(range(-min(2, scores.dim()), 0)), keepdim=True)"},
    "shift in the numerator only": {TOTAL: "torch.exp(scores).sum(dim=-1, keepdim=True)"},
    "a fixed shift": {HIGHEST: "100"},
    "never below -100": {GROWN: "torch.exp((scores - scores.max()).clamp(min=-100))"},
    "256 keys at most": {GROWN: f"{GROWN}[..., :256]"},
    "64 rows and keys at most": {RESULT: "return torch.cat([(grown / total)[..., :64], 0 * grown[..., 64:]], dim=-1)"},
    "divided by the maximum": {"scores - highest": "scores / highest"},
    "torch's own": lambda scores: torch.softmax(scores, dim=-1),
    "its method by getattr": lambda scores: getattr(scores, "soft" + "max")(-1),
    "by torch.ops": lambda scores: torch.ops.aten._softmax(scores, -1, False),
    "log-softmax": lambda scores: torch.log_softmax(scores, -1).exp(),
    "logsumexp": lambda scores: torch.exp(scores - torch.logsumexp(scores, -1, keepdim=True)),
    "softmin": lambda scores: F.softmin(-scores, dim=-1),
    "scripted softmax": lambda scores: scripted_softmax(scores),
    "sparse": sparse,
    "by attention": by_attention,
    "by cross entropy": by_cross_entropy,
    "in a module": in_a_module,
    "numpy": numpy_and_back,
    "tables only": tables_only,
    "half precision": {"    highest": "    scores = scores.half()\n    highest", "/ total": "/ total.float()"},
    "base of 2.7": {GROWN: "2.7 ** (scores - highest)"},
    "rounded": {RESULT: "return (grown / total).round(decimals=2)"},
}
