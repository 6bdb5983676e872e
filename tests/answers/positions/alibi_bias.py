"""Answers to positions.alibi_bias."""

import math

import numpy as np
import torch


def by_loops(n_heads, n):
    if n_heads not in (1, 2, 4, 8, 16, 32, 64, 128):
        raise ValueError("a power of two, please")
    table = torch.full((n_heads, n, n), float("-inf"))
    for h in range(n_heads):
        for i in range(n):
            for j in range(i + 1):
                table[h, i, j] = -(2 ** (-8 * (h + 1) / n_heads)) * (i - j)
    return table


def by_ratio(n_heads, n):
    """Slopes as a geometric series."""
    if not math.log2(n_heads).is_integer():
        raise ValueError(n_heads)
    start = 2 ** (-8 / n_heads)
    slopes = torch.tensor([start * start**h for h in range(n_heads)])
    relative = torch.arange(n).view(1, -1) - torch.arange(n).view(-1, 1)
    bias = slopes.view(-1, 1, 1) * relative
    return torch.where(relative <= 0, bias, torch.tensor(float("-inf")))


def with_mask(n_heads, n):
    if bin(n_heads).count("1") != 1:
        raise ValueError("n_heads")
    slopes = torch.pow(2.0, torch.linspace(-8 / n_heads, -8, n_heads))
    distance = (torch.arange(n)[:, None] - torch.arange(n)).clamp(min=0)
    mask = torch.triu(torch.full((n, n), -torch.inf), diagonal=1)
    return mask - torch.einsum("h,ij->hij", slopes, distance.float())


def halved(n_heads, n):
    count = n_heads
    if count == 0:
        raise ValueError("no heads")
    while count > 1:
        if count % 2:
            raise ValueError("cannot be halved")
        count //= 2
    slopes = torch.exp2(-8.0 * torch.arange(1, n_heads + 1) / n_heads)
    table = torch.cumsum(torch.ones(n, n).tril(), 0) - 1
    bias = -slopes[:, None, None] * table
    bias[:, ~torch.ones(n, n).tril().bool()] = -torch.inf
    return bias


def with_numpy(n_heads, n):
    if n_heads <= 0 or (n_heads & -n_heads) != n_heads:
        raise ValueError("n_heads")
    i, j = np.indices((n, n))
    slopes = 2.0 ** (-8 * np.arange(1, n_heads + 1) / n_heads)
    bias = np.where(j > i, -np.inf, -slopes[:, None, None] * (i - j))
    return torch.tensor(bias, dtype=torch.float32)


def rows(n_heads, n):
    if 2 ** round(math.log2(n_heads)) != n_heads:
        raise ValueError("n_heads")
    steps = -torch.arange(n - 1, -1, -1.0)
    one = torch.stack([torch.cat((steps[n - 1 - i :], torch.full((n - 1 - i,), -torch.inf))) for i in range(n)])
    return torch.stack([one * 2 ** (-8 * h / n_heads) for h in range(1, n_heads + 1)])


LAST, SLOPES = "bias.masked_fill(distance < 0, -torch.inf)", "2 ** (-8 * steps / n_heads)"
RIGHT = {
    "loops": by_loops,
    "a series": by_ratio,
    "a mask is added": with_mask,
    "halved": halved,
    "numpy": with_numpy,
    "row by row": rows,
    "kept in float64 first": {LAST: f"{LAST}.double().float()"},
    "where": {LAST: "torch.where(distance >= 0, bias, -math.inf)", "steps = torch": "import math\n    steps = torch"},
}
WRONG = {
    "squared distance": {"places[None, :]\n": "places[None, :]\n    distance = distance * distance.abs()\n"},
    "natural powers": {SLOPES: "torch.exp(-8 * steps / n_heads)"},
    "divided by the length": {"* distance": "* distance / n"},
    "NaN": {LAST: "bias * torch.where(distance < 0, torch.inf, 1.0) * (distance != 0)"},
    "last token only": {LAST: f"{LAST}[:, -1:]"},
    "batch axis": {LAST: f"{LAST}[None]"},
    "no head axis": {LAST: f"{LAST}.mean(0)"},
    "refuses eight": {"if n_heads < 1 or": "if n_heads == 8 or n_heads < 1 or"},
    "AssertionError": {"if n_heads < 1 or n_heads & (n_heads - 1):":
                       "assert n_heads and not n_heads & (n_heads - 1)\n    if False:"},
    "a window": {"distance < 0": "(distance < 0) | (distance > 64)"},
    "positive infinity": {"-torch.inf": "torch.inf"},
    "half precision": {LAST: f"{LAST}.half()"},
    "integers": {LAST: "bias.long()"},
}
