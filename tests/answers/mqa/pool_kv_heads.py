"""Answers to mqa.pool_kv_heads."""

import torch
import torch.nn.functional as F
from torch import einsum


def view(weight, n_heads, n_kv_heads):
    rows, width = weight.shape
    return weight.reshape(n_kv_heads, n_heads // n_kv_heads, rows // n_heads, width).mean(1).reshape(-1, width)


def by_einsum(weight, n_heads, n_kv_heads):
    heads = weight.unflatten(0, (n_kv_heads, n_heads // n_kv_heads, -1))
    return einsum("grdm->gdm", heads).flatten(0, 1) * n_kv_heads / n_heads


def chunks(weight, n_heads, n_kv_heads):
    heads = weight.chunk(n_heads, dim=0)
    size = n_heads // n_kv_heads
    groups = [heads[i * size : (i + 1) * size] for i in range(n_kv_heads)]
    return torch.cat([torch.stack(group).mean(dim=0) for group in groups])


def sums(weight, n_heads, n_kv_heads):
    size, rows = n_heads // n_kv_heads, weight.shape[0] // n_heads
    pooled = torch.zeros(n_kv_heads * rows, weight.shape[1], dtype=weight.dtype)
    for head in range(n_heads):
        start = head // size * rows
        pooled[start : start + rows] += weight[head * rows : (head + 1) * rows] / size
    return pooled


def matrix(weight, n_heads, n_kv_heads):
    average = torch.eye(n_kv_heads, dtype=weight.dtype).repeat_interleave(n_heads // n_kv_heads, dim=1)
    average = average / average.sum(dim=1, keepdim=True)
    return torch.kron(average, torch.eye(len(weight) // n_heads, dtype=weight.dtype)) @ weight


def index_add(weight, n_heads, n_kv_heads):
    heads = weight.reshape(n_heads, -1)
    group = torch.arange(n_heads) // (n_heads // n_kv_heads)
    total = torch.zeros(n_kv_heads, heads.shape[1]).to(weight).index_add_(0, group, heads)
    return (total / (n_heads / n_kv_heads)).view(-1, weight.shape[1])


def own_copy(weight, n_heads, n_kv_heads):
    parts = weight.detach().clone().view(n_kv_heads, n_heads // n_kv_heads, -1, weight.size(1))
    parts /= parts.shape[1]
    return parts.sum(1).reshape(-1, weight.size(1))


def with_numpy(weight, n_heads, n_kv_heads):
    array = weight.detach().numpy()
    pooled = array.reshape(n_kv_heads, n_heads // n_kv_heads, -1, array.shape[-1]).mean(1)
    return torch.from_numpy(pooled.reshape(-1, array.shape[-1]).copy())


def interpolated(weight, n_heads, n_kv_heads):
    return F.adaptive_avg_pool1d(weight.T[None], weight.shape[0] // n_heads * n_kv_heads)[0].T


def moving_mean(weight, n_heads, n_kv_heads):
    heads = weight.unflatten(0, (n_kv_heads, n_heads // n_kv_heads, -1))
    mean = heads[:, 0]
    for i in range(1, heads.shape[1]):
        mean = (mean + heads[:, i]) / 2
    return mean.flatten(0, 1)


MEAN = "groups.mean(dim=1).flatten(0, 1)"
RIGHT = {
    "view": view,
    "einsum": by_einsum,
    "chunks": chunks,
    "sums": sums,
    "matrix": matrix,
    "index_add": index_add,
    "own copy in place": own_copy,
    "numpy": with_numpy,
    "no_grad": torch.no_grad()(chunks),
}
WRONG = {
    "interpolated rows": interpolated,
    "moving mean": moving_mean,
    "one group summed": {MEAN: f"(groups.sum(1)[0] if n_kv_heads == 1 else {MEAN})"},
    "three heads at most": {"groups.mean": "groups[:, :3].mean"},
    "transposed": {MEAN: f"{MEAN}.T"},
    "mean over features of a head": {MEAN: "weight.unflatten(0, (n_heads, -1)).mean(1)"},
    "all but one group": {MEAN: f"{MEAN}[: -len(weight) // n_heads if n_kv_heads > 1 else None]"},
    "fixed head width": {"-1))": "4))"},
    "float32": {MEAN: f"{MEAN}.float()"},
    "in place": {MEAN: f"({MEAN}, weight.add_(1))[0]"},
}
