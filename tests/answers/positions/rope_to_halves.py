"""Answers to positions.rope_to_halves."""

import numpy as np
import torch


def by_index(weight, n_heads):
    d_head = weight.shape[0] // n_heads
    order = list(range(0, d_head, 2)) + list(range(1, d_head, 2))
    return weight[[h * d_head + i for h in range(n_heads) for i in order]]


def transposed(weight, n_heads):
    rows, width = weight.shape
    return weight.view(n_heads, rows // n_heads // 2, 2, width).transpose(1, 2).reshape(rows, width)


def filled(weight, n_heads):
    new = torch.empty_like(weight)
    d = len(weight) // n_heads
    for h in range(n_heads):
        for i in range(d // 2):
            new[h * d + i] = weight[h * d + 2 * i]
            new[h * d + i + d // 2] = weight[h * d + 2 * i + 1]
    return new


def by_chunks(weight, n_heads):
    return torch.cat([torch.cat([head[::2], head[1::2]]) for head in weight.chunk(n_heads)])


def by_matrix(weight, n_heads):
    d = weight.shape[0] // n_heads
    move = torch.eye(d, dtype=weight.dtype)[torch.arange(d).view(-1, 2).T.flatten()]
    return torch.block_diag(*[move] * n_heads) @ weight


def with_numpy(weight, n_heads):
    heads = weight.detach().numpy().reshape(n_heads, -1, 2, weight.shape[1])
    return torch.from_numpy(np.swapaxes(heads, 1, 2).reshape(weight.shape).copy())


def sorted_rows(weight, n_heads):
    rows = torch.arange(weight.shape[0])
    d = weight.shape[0] // n_heads
    return weight.index_select(0, torch.argsort(rows // d * 2 * d + rows % 2 * d + rows % d // 2))


@torch.no_grad()
def scattered(weight, n_heads):
    rows, d = torch.arange(len(weight)), len(weight) // n_heads
    target = rows // d * d + rows % d // 2 + rows % 2 * (d // 2)
    return torch.zeros_like(weight).index_copy_(0, target, weight)


HALVES, LAST = "torch.cat((heads[:, 0::2], heads[:, 1::2]), dim=1)", "return halves.flatten(0, 1)"
RIGHT = {
    "by index": by_index,
    "transposed": transposed,
    "filled": filled,
    "chunks": by_chunks,
    "matrix": by_matrix,
    "numpy": with_numpy,
    "argsort": sorted_rows,
    "index_copy": scattered,
    "unbind": {HALVES: "torch.cat(heads.unflatten(1, (-1, 2)).unbind(2), 1)"},
}
WRONG = {
    "every head but the last": {LAST: "return torch.cat((halves[:-1], heads[-1:])).flatten(0, 1)"},
    "sorted rows": {LAST: "return halves.flatten(0, 1).sort(dim=0).values"},
    "transposed result": {LAST: "return halves.flatten(0, 1).T"},
    "thirds": {HALVES: "torch.cat((heads[:, 0::3], heads[:, 1::3], heads[:, 2::3]), dim=1)"},
    "heads backwards": {LAST: "return halves.flip(0).flatten(0, 1)"},
    "first head only": {HALVES: "torch.cat((torch.cat((heads[:1, 0::2], heads[:1, 1::2]), 1), heads[1:]), 0)"},
    "rows backwards": {LAST: "return halves.flatten(0, 1).flip(0)"},
    "mean of the pair": {HALVES: "torch.cat([(heads[:, 0::2] + heads[:, 1::2]) / 2] * 2, dim=1)"},
    "pairs doubled": {HALVES: "torch.cat((heads[:, 0::2], heads[:, 0::2]), dim=1)"},
    "float32": {LAST: "return halves.flatten(0, 1).float()"},
    "in place as well": {LAST: "return weight.copy_(halves.flatten(0, 1)).clone()"},
    "two of them": {LAST: "return heads[:, 0::2], heads[:, 1::2]"},
    "sign of the second": {HALVES: "torch.cat((heads[:, 0::2], -heads[:, 1::2]), dim=1)"},
}
