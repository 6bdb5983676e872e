"""Answers to mqa.kv_cache_bytes."""

import functools
import itertools
import math
import operator

import numpy as np
import torch


def of_product(change):
    """Return an answer that applies `change` to the six numbers."""

    def kv_cache_bytes(batch, seq_len, n_layers, n_kv_heads, d_head, bytes_per_element=2):
        return change(batch, seq_len, n_layers, n_kv_heads, d_head, bytes_per_element)

    return kv_cache_bytes


def keys_then_values(batch, seq_len, n_layers, n_kv_heads, d_head, bytes_per_element=2):
    total = 0
    for _ in ("keys", "values"):
        total += batch * seq_len * n_layers * n_kv_heads * d_head * bytes_per_element
    return total


class Counts:
    def __call__(self, batch, seq_len, n_layers, n_kv_heads, d_head, bytes_per_element=2, **more):
        per_token = 2 * n_layers * n_kv_heads * d_head * bytes_per_element
        return int(per_token * seq_len) * batch


LAST, NUMBERS = "return numbers * bytes_per_element", "2 * batch * seq_len * n_layers * n_kv_heads * d_head"
RIGHT = {
    "prod": of_product(lambda *factors: math.prod((*factors, 2))),
    "reduce": of_product(lambda *factors: functools.reduce(operator.mul, factors, 2)),
    "accumulate": of_product(lambda *factors: list(itertools.accumulate((*factors, 2), operator.mul))[-1]),
    "keys, then values": keys_then_values,
    "callable object": Counts(),
    "through float and back": of_product(lambda b, s, n, g, d, e: int(math.exp(0) * 2 * b * s * n * g * d * e)),
    "numpy of objects": of_product(lambda *factors: int(np.prod(np.array((2, *factors), dtype=object)))),
    "numpy's 64 bits": of_product(lambda *factors: int(np.prod([2, *factors]))),
    "torch's 64 bits": of_product(lambda *factors: torch.tensor([2, *factors]).prod().item()),
    "shape of a tensor": of_product(lambda b, s, n, g, d, e: 2 * torch.Size((b, s, n, g, d)).numel() * e),
    "shifted": {NUMBERS: "batch * seq_len * n_layers * n_kv_heads * d_head << 1"},
}
WRONG = {
    "added up": {NUMBERS: "2 * (batch + seq_len + n_layers + n_kv_heads + d_head)"},
    "true division": {LAST: f"{LAST} * 8 / 8"},
    "through float32": of_product(lambda *factors: int(torch.tensor([2.0, *factors]).prod())),
    "32 bits": of_product(lambda *factors: int(np.prod(np.array([2, *factors]), dtype=np.int32))),
    "one token fewer": {"seq_len * n": "(seq_len - 1) * n"},
    "a layer more": {"* n_layers": "* (n_layers + 1)"},
    "a query head as well": {"* n_kv_heads": "* (n_kv_heads + 1)"},
    "two bytes more per element": {LAST: "return numbers * (bytes_per_element + 2)"},
    "scores": {NUMBERS: "batch * seq_len * seq_len * n_layers * n_kv_heads"},
    "queries too": {NUMBERS: NUMBERS.replace("2", "3")},
    "megabytes": {LAST: f"{LAST} // 10**6"},
    "rounded up to a power of two": {LAST: "return 1 << (numbers * bytes_per_element - 1).bit_length()"},
    "squared head width": {NUMBERS: f"{NUMBERS} * d_head"},
    "a tensor": {LAST: "return torch.tensor(numbers * bytes_per_element)"},
    "text": {LAST: 'return f"{numbers * bytes_per_element} bytes"'},
    "nothing": {LAST: "print(numbers)"},
    "size of an element required": {"bytes_per_element=2": "bytes_per_element"},
}
