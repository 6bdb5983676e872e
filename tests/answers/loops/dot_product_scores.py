"""Answers to loops.dot_product_scores."""

import functools
import itertools
import operator

import torch
from torch import nn


def half_and_mirror(x):
    n = len(x)
    scores = torch.empty(n, n, dtype=x.dtype, device=x.device)
    for i, a in enumerate(x):
        for j in range(i + 1):
            scores[i][j] = scores[j][i] = torch.dot(a, x[j])
    return scores


def adds_up_in_the_buffer(x):
    n, d = x.shape
    scores = x.new_zeros(n, n)
    for i in range(n):
        for j in range(n):
            for f in range(d):
                scores[i, j] += x[i, f] * x[j, f]
    return scores


def rows_kept_two_dimensional(x):
    return torch.cat([x[i : i + 1] @ x.T for i in range(x.shape[0])])


def flat_pairs(x):
    flat = [torch.inner(a, b) for a, b in itertools.product(x, repeat=2)]
    return torch.stack(flat).reshape(len(x), len(x))


def python_sum(x):
    def dot(a, b):
        return functools.reduce(operator.add, (p * q for p, q in zip(a, b, strict=True)))

    return torch.stack([torch.stack([dot(u, v) for v in x]) for u in x])


def outer_products_as_matrices(x):
    return sum(x[:, f : f + 1] @ x[:, f : f + 1].T for f in range(x.shape[1]))


def while_loop(x):
    i, rows = 0, []
    while i < x.shape[0]:
        rows.append(torch.einsum("d,md->m", x[i], x))
        i += 1
    return torch.stack(rows, dim=1)


def by_recursion(x, i=0):
    row = (x * x[i]).sum(1, keepdim=True).T
    return row if i == len(x) - 1 else torch.cat([row, by_recursion(x, i + 1)])


def by_map(x):
    return torch.stack(list(map(lambda row: torch.mv(x, row), x)))  # noqa: C417


def in_float64_and_back(x):
    wide = x.double()
    return torch.stack([torch.stack([a @ b for b in wide]) for a in wide]).to(x.dtype)


class Scores(nn.Module):
    def forward(self, x):
        print("scores of", tuple(x.shape))
        table = [[(a * b).sum() for b in x] for a in x]
        return torch.stack([torch.stack(row) for row in table])


def product_of_halves(x):
    half = (len(x) + 1) // 2
    return torch.cat([part @ x.T for part in (x[:half], x[half:])])


def product_after_a_loop_for_show(x):
    for i in range(len(x)):
        x[i] + 1
    return x @ x.T


class Product(nn.Module):
    def forward(self, x):
        return torch.bmm(x[None], x.T[None])[0]


seen = {}


def cached_by_shape(x):
    if x.shape not in seen:
        seen[x.shape] = torch.stack([x.detach() @ a for a in x.detach()])
    return seen[x.shape]


def features_with_features(x):
    n, d = x.shape
    scores = torch.zeros(n, n)
    for i in range(d):
        for j in range(d):
            scores[i, j] = x[:, i] @ x[:, j]
    return scores


def tokens_looked_up(x):
    rows, scores = x.tolist(), torch.zeros(len(x), len(x))
    for a, row in zip(x, rows, strict=True):
        for b, other in zip(x, rows, strict=True):
            scores[rows.index(row), rows.index(other)] = a @ b
    return scores


def numbers_with_requires_grad(x):
    return torch.tensor([[(a @ b).item() for b in x] for a in x], requires_grad=True)


def through_numpy(x):
    x = x.detach().numpy()
    return torch.tensor([[a @ b for b in x] for a in x])


PAIR, BUFFER, END = "x[i] @ x[j]", "torch.zeros(x.shape[0], x.shape[0])", "return scores"
RIGHT = {
    "half and mirror": half_and_mirror,
    "adds up in the buffer": adds_up_in_the_buffer,
    "rows kept two-dimensional": rows_kept_two_dimensional,
    "flat pairs": flat_pairs,
    "python sum": python_sum,
    "outer products as matrices": outer_products_as_matrices,
    "while loop": while_loop,
    "recursion": by_recursion,
    "map": by_map,
    "float64 and back": in_float64_and_back,
    "a module that prints": Scores(),
    "a partial": functools.partial(lambda scale, x: torch.stack([(x * row * scale).sum(1) for row in x]), 1.0),
}
WRONG = {
    "cached by shape": cached_by_shape,
    "tokens looked up": tokens_looked_up,
    "features of zero left out": {PAIR: "sum(a * b for a, b in zip(x[i], x[j], strict=True) if a and b)"},
    "64 tokens at most": {PAIR: f"{PAIR} if max(i, j) < 64 else 0"},
    "stops at 50 tokens": {"range(x.shape[0])": "range(min(x.shape[0], 50))"},
    "buffer never filled": {BUFFER: "torch.empty(x.shape[0], x.shape[0])", "scores[i, j] =": "scores[i, j] +="},
    "product": lambda x: x @ x.T,
    "product by getattr": lambda x: getattr(torch, "mat" + "mul")(x, x.mT),
    "product by torch.ops": lambda x: torch.ops.aten.mm(x, x.t()),
    "product by einsum": lambda x: torch.einsum("id,jd->ij", x, x),
    "product by tensordot": lambda x: torch.tensordot(x, x, dims=([1], [1])),
    "product by inner": lambda x: torch.inner(x, x),
    "product by linear": lambda x: torch.nn.functional.linear(x, x),
    "product in a module": Product(),
    "product of halves": product_of_halves,
    "product after a loop for show": product_after_a_loop_for_show,
    "broadcast": lambda x: (x.unsqueeze(1) * x.unsqueeze(0)).sum(dim=-1),
    "features with features": features_with_features,
    "numbers that require a gradient": numbers_with_requires_grad,
    "numpy": through_numpy,
    "one factor off, detached": {PAIR: f"({PAIR}).detach() * 1.001"},
    "detached": {PAIR: f"({PAIR}).item()"},
    "half precision": {PAIR: "(x[i].half() * x[j].half()).sum()"},
    "float64": {BUFFER: f"{BUFFER}.double()"},
    "rounded": {END: "return scores.round(decimals=3)"},
    "clamped": {END: "return scores.clamp(-50, 50)"},
    "mean instead of sum": {PAIR: "(x[i] * x[j]).mean()"},
    "cosines times norms": {PAIR: "(x[i] / x[i].norm() * (x[j] / x[j].norm())).sum() * x[i].norm() * x[j].norm()"},
    "absolute products": {PAIR: "(x[i] * x[j]).abs().sum()"},
    "softmax already": {END: "return torch.softmax(scores, dim=-1)"},
    "first row missing": {"for i in range(": "for i in range(1, "},
    "returns in the loop": {PAIR: f"{PAIR}\n        return scores"},
    "sorts its input": {"    scores = torch": "    x[:] = x.sort(dim=0).values\n    scores = torch"},
}
