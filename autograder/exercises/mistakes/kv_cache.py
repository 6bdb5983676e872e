"""Wrong answers to lesson 05: the size of a cache, and pooled heads."""

import functools
import math

import torch

from autograder.exercises.mistakes import known


def _bytes(*factors):
    """A kv_cache_bytes that multiplies these arguments (by position) and numbers."""

    def kv_cache_bytes(batch, seq_len, n_layers, n_kv_heads, d_head, bytes_per_element=2):
        given = dict(zip("bslgde", (batch, seq_len, n_layers, n_kv_heads, d_head, bytes_per_element)))
        return math.prod(given.get(factor, factor) for factor in factors)

    return kv_cache_bytes


def _after(product, step):
    """That product, with a last step."""
    return functools.wraps(product)(lambda *args, **kwargs: step(product(*args, **kwargs)))


def _four_by_default(batch, seq_len, n_layers, n_kv_heads, d_head, bytes_per_element=4):
    return 2 * batch * seq_len * n_layers * n_kv_heads * d_head * bytes_per_element


KV_CACHE_BYTES = (
    known("MQA-51", _bytes("b", "s", "l", "g", "d", "e")),
    known("MQA-53", _bytes(2, "b", "s", "g", "d", "e")),
    known("MQA-55", _bytes(2, "b", "s", "l", "d", "e")),
    known("MQA-57", _bytes(2, "b", "s", "l", "g", "e")),
    known("MQA-59", _bytes(2, "s", "l", "g", "d", "e")),
    known("MQA-61", _bytes(2, "b", "l", "g", "d", "e")),
    known("MQA-63", _bytes(2, "b", "s", "l", "g", "d")),
    known("MQA-65", _bytes(2, "b", "s", "l", "g", "d", 2)),
    known("MQA-67", _bytes(2, "b", "s", "l", "g", "d", "e", 8)),
    known("MQA-69", _after(_bytes(2, "b", "s", "l", "g", "d", "e"), lambda total: total / 1)),
    known("MQA-71", _bytes(2, "b", "s", "s", "l", "g", "d", "e")),
    known("MQA-73", _bytes(4, "b", "s", "l", "g", "d", "e")),
    known("MQA-75", _after(_bytes(2, "b", "s", "l", "g", "d", "e"), lambda total: total // 1024)),
    known("MQA-79", _four_by_default),
    known("MQA-77", _after(_bytes(2, "b", "s", "l", "g", "d", "e"), lambda total: int(torch.tensor(float(total))))),
)


def _pooled(weight, n_heads, n_kv_heads):
    return weight.unflatten(0, (n_kv_heads, n_heads // n_kv_heads, -1))


def _pool_in_place(weight, n_heads, n_kv_heads):
    heads = _pooled(weight, n_heads, n_kv_heads)
    for i in range(1, heads.shape[1]):
        heads[:, 0] += heads[:, i]
    return (heads[:, 0] / heads.shape[1]).flatten(0, 1)


def _last_term(weight, n_heads, n_kv_heads):
    return _pooled(weight, n_heads, n_kv_heads)[:, -1].flatten(0, 1) / (n_heads // n_kv_heads)


def _pool_columns(weight, n_heads, n_kv_heads):
    pooled = weight.reshape(weight.shape[0], n_kv_heads, n_heads // n_kv_heads, -1).mean(dim=2)
    return pooled.flatten(1)


def _repeated_back(weight, n_heads, n_kv_heads):
    mean = _pooled(weight, n_heads, n_kv_heads).mean(dim=1, keepdim=True)
    return mean.expand(-1, n_heads // n_kv_heads, -1, -1).flatten(0, 2)


def _all_heads(weight, n_heads, n_kv_heads):
    return weight.unflatten(0, (n_heads, -1)).mean(dim=0).repeat(n_kv_heads, 1)


def _pool(change):
    """A pool_kv_heads that does `change` with weight, n_heads and n_kv_heads."""

    def pool_kv_heads(weight, n_heads, n_kv_heads):
        return change(weight, n_heads, n_kv_heads)

    return pool_kv_heads


POOL_KV_HEADS = (
    known("MQA-81", _pool(lambda w, h, g: w.unflatten(0, (h // g, g, -1)).mean(dim=0).flatten(0, 1))),
    known("MQA-83", _pool(lambda w, h, g: _pooled(w, h, g).sum(dim=1).flatten(0, 1))),
    known("MQA-85", _pool(lambda w, h, g: _pooled(w, h, g)[:, 0].flatten(0, 1))),
    known("MQA-85", _pool(lambda w, h, g: _pooled(w, h, g)[:, -1].flatten(0, 1))),
    known("LOOP-35", _pool(_last_term)),
    known("MQA-87", _pool(lambda w, h, g: w.unflatten(0, (-1, h // g)).mean(dim=1))),
    known("MQA-89", _pool(lambda w, h, g: _pooled(w, h, g).mean(dim=1))),
    known("MQA-91", _pool(lambda w, h, g: w[: w.shape[0] // h * g])),
    known("MQA-107", _pool(lambda w, h, g: w[-(w.shape[0] // h * g) :])),
    known("MQA-93", _pool(_all_heads)),
    known("MQA-95", _pool(lambda w, h, g: _pooled(w, h, g).sum(dim=1).flatten(0, 1) / h)),
    known("MQA-97", _pool(_pool_columns)),
    known("MQA-99", _pool(_repeated_back)),
    known("MQA-101", _pool(lambda w, h, g: _pooled(w, h, g).amax(dim=1).flatten(0, 1))),
    known("MQA-105", _pool(lambda w, h, g: _pooled(w, h, g).median(dim=1).values.flatten(0, 1))),
    known("MQA-103", _pool(lambda w, h, g: w.unflatten(0, (h // g, g, -1)).mean(dim=1).flatten(0, 1))),
    known("SDPA-49", _pool(lambda w, h, g: _pooled(w, h, g).mean(dim=1).flatten(0, 1).float())),
    known("LOOP-19", _pool(_pool_in_place)),
)
