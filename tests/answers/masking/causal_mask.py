"""Answers to masking.causal_mask."""

import functools

import numpy as np
import torch
from torch import nn


def by_loops(n):
    mask = torch.zeros(n, n, dtype=torch.bool)
    for i in range(n):
        for j in range(i + 1):
            mask[i, j] = True
    return mask


def by_rows(n):
    mask = torch.zeros((n, n)).bool()
    for i in range(n):
        mask[i, : i + 1] = True
    return mask


def by_indices(n, device=None):
    mask = torch.zeros(n, n, dtype=torch.bool, device=device)
    rows, columns = torch.tril_indices(n, n)
    mask[rows, columns] = True
    return mask


def in_place(n):
    mask = torch.ones(n, n)
    mask.triu_(diagonal=1)
    return mask.eq(0)


def grown(n):
    mask = torch.ones(1, 1, dtype=torch.bool)
    for size in range(1, n):
        mask = torch.cat((mask, torch.zeros(size, 1, dtype=torch.bool)), dim=1)
        mask = torch.cat((mask, torch.ones(1, size + 1, dtype=torch.bool)), dim=0)
    return mask


class CausalMask:
    """A callable object."""

    def __call__(self, n):
        return ~torch.triu(torch.full((n, n), True), diagonal=1)


def from_a_buffer(n, longest):
    return torch.ones(longest, longest, dtype=torch.bool).tril()[:n, :n]


@functools.cache
def cached(n):
    return torch.ones(n, n, dtype=torch.bool).tril()


@torch.jit.script
def scripted(n: int) -> torch.Tensor:
    return torch.ones([n, n]).tril() > 0


def printing(n, verbose=True):
    mask = torch.ones((n, n), dtype=torch.bool)
    print(mask)
    return torch.tril(mask)


RIGHT = {
    "tril of ones": lambda n: torch.tril(torch.ones(n, n)).bool(),
    "triu compared": lambda n: torch.triu(torch.ones(n, n), diagonal=1) == 0,
    "positions, transposed": lambda n: (torch.arange(n)[:, None] <= torch.arange(n)[None, :]).T,
    "a list of lists": lambda n: torch.tensor([[j <= i for j in range(n)] for i in range(n)]),
    "stacked rows": lambda n: torch.stack([torch.arange(n) <= i for i in range(n)]),
    "sums of the identity": lambda n: torch.eye(n).cumsum(1).T > 0,
    "NumPy": lambda n: torch.from_numpy(np.tril(np.ones((n, n), dtype=bool))),
    "PyTorch's own": lambda n: nn.Transformer.generate_square_subsequent_mask(n) == 0,
    "vmap": lambda n: torch.vmap(lambda i: torch.arange(n) <= i)(torch.arange(n)),
    "two loops": by_loops,
    "row by row": by_rows,
    "by indices": by_indices,
    "triu in place": in_place,
    "grown row by row": grown,
    "an object": CausalMask(),
    "a long buffer, partial": functools.partial(from_a_buffer, longest=1024),
    "cached": cached,
    "scripted": scripted,
    "prints": printing,
}
PAIR = "key <= query"
WRONG = {
    "a buffer of 64": functools.partial(from_a_buffer, longest=64),
    "a buffer of 200": functools.partial(from_a_buffer, longest=200),
    "8-bit positions": {"return mask": "return (key % 256) <= (query % 256)"},
    "signed 8-bit positions": {"torch.arange(n)": "torch.arange(n).to(torch.int8)"},
    "half precision positions": {"torch.arange(n)": "torch.arange(n).bfloat16()"},
    "first query patched": {PAIR: "(key < query) | (key + query == 0)"},
    "last row empty": {PAIR: "(key <= query) & (query < n - 1)"},
    "the first token sees all": {PAIR: "(key <= query) | (query == 0)"},
    "first key always": {PAIR: "(key < query) | (key == 0)"},
    "a window of three": {PAIR: "(key <= query) & (key > query - 3)"},
    "every other key": {PAIR: "(key <= query) & (key % 2 == 0)"},
    "flipped": {"return mask": "return mask.flip(1)"},
    "lower and upper": {"return mask": "return mask | mask.T"},
    "none": {"return mask": "return mask & ~mask"},
    "squeezed": {"return mask": "return mask.squeeze()"},
    "flat": {"return mask": "return mask.flatten()"},
    "one row of it": {"return mask": "return mask[-1]"},
    "one larger": {"arange(n)": "arange(n + 1)"},
    "one smaller": {"arange(n)": "arange(n - 1)"},
    "inverted floats": {"return mask": "return (~mask).float()"},
    "additive, low number": {"return mask": "return (~mask) * -1e9"},
    "at random": {"return mask": "return mask & (torch.rand(n, n) > 0.1)"},
    "a NumPy array": {"return mask": "return mask.numpy()"},
    "printed, not returned": {"return mask": "print(mask)"},
    "n as a tensor": {"torch.arange(n)[:, None]": "torch.arange(n.item())[:, None]"},
}
