"""Answers to loops.weighted_sum."""

import functools
import itertools

import torch
import torch.nn.functional as F
from torch import nn


def all_three_loops(weights, values):
    n, m, e = *weights.shape, values.shape[1]
    out = torch.zeros(n, e, dtype=values.dtype, device=values.device)
    for i in range(n):
        for f in range(e):
            for j in range(m):
                out[i, f] += weights[i, j] * values[j, f]
    return out


def sum_of_generators(weights, values):
    return torch.stack([sum(w * v for w, v in zip(row, values, strict=True)) for row in weights])


def one_row_at_a_time(weights, values):
    return torch.cat([weights[i : i + 1] @ values for i in range(len(weights))])


def row_by_broadcasting(weights, values):
    return torch.stack([(row[:, None] * values).mean(0) * len(values) for row in weights.unbind()])


def by_key(weights, values):
    out = values.new_zeros(weights.shape[0], values.shape[1])
    for w, v in zip(weights.T, values, strict=True):
        out += torch.outer(w, v)
    return out


def by_feature(weights, values):
    return torch.hstack([weights @ values[:, f : f + 1] for f in range(values.size(1))])


def dots(weights, values):
    return torch.stack([torch.stack([torch.dot(w, v) for v in values.T]) for w in weights])


def accumulated(weights, values):
    rows = [list(itertools.accumulate(w * v for w, v in zip(r, values, strict=True)))[-1] for r in weights]
    return torch.stack(rows)


def by_reduce(weights, values):
    rows = [[w * v for w, v in zip(row, values, strict=True)] for row in weights]
    return torch.stack([functools.reduce(torch.add, row) for row in rows])


def fills_an_empty_table(weights, values, verbose=False):
    out, i = torch.empty(len(weights), values.shape[-1]), 0
    while i < len(weights):
        out[i] = torch.einsum("m,me->e", weights[i], values)
        i += 1
    return out


class Mix(nn.Module):
    def forward(self, weights, values):
        return torch.baddbmm(torch.zeros(1), weights[None], values[None])[0]


def product_inside_a_loop(weights, values):
    return torch.stack([(weights @ values)[i] for i in range(len(weights))])


def table_grows(weights, values, rows=[]):  # noqa: B006 - the mistake
    for row in weights:
        rows.append(row @ values)
    return torch.stack(rows[-len(weights) :] if len(rows) < 20 else rows[: len(weights)])


def numbers_out(weights, values):
    out = torch.zeros(len(weights), values.shape[1])
    for i, row in enumerate(weights.tolist()):
        for j, w in enumerate(row):
            out[i] += w * values[j]
    return out


TABLE, WEIGHT = "torch.zeros(weights.shape[0], values.shape[1])", "weights[i, j]"
TERM, SUM, END = "weights[i, j] * values[j]", "output[i] + weights[i, j] * values[j]", "return output"
RIGHT = {
    "all three loops": all_three_loops,
    "sum of generators": sum_of_generators,
    "one row at a time": one_row_at_a_time,
    "row by broadcasting": row_by_broadcasting,
    "by key": by_key,
    "by feature": by_feature,
    "dots": dots,
    "accumulated": accumulated,
    "reduce": by_reduce,
    "an empty table filled": fills_an_empty_table,
    "partial": functools.partial(lambda start, weights, values: torch.stack([start + w @ values for w in weights]), 0),
}
WRONG = {
    "table grows": table_grows,
    "64 keys at most": {"range(values.shape[0])": "range(min(values.shape[0], 64))"},
    "256 queries at most": {"range(weights.shape[0])": "range(min(weights.shape[0], 256))"},
    "as many queries as keys": {"range(weights.shape[0])": "range(min(weights.shape))"},
    "as many keys as queries": {"range(values.shape[0])": "range(min(weights.shape))"},
    "product": lambda weights, values: weights @ values,
    "product by einsum": lambda weights, values: torch.einsum("nm,me->ne", weights, values),
    "product by linear": lambda weights, values: F.linear(weights, values.T),
    "product by torch.ops": lambda weights, values: torch.ops.aten.mm.default(weights, values),
    "product by addmm": lambda weights, values: torch.addmm(torch.zeros(1), weights, values),
    "product in a module": Mix(),
    "product inside a loop": product_inside_a_loop,
    "broadcast": lambda weights, values: (weights[:, :, None] * values[None]).sum(1),
    "first key left out": {"for j in range(": "for j in range(1, "},
    "adds the value without weight": {TERM: "(weights[i, j] + values[j])"},
    "sums over features": {TERM: "weights[i, j] * values[j].sum()"},
    "absolute weights": {WEIGHT: "weights[i, j].abs()"},
    "negative weights left out": {WEIGHT: "weights[i, j].relu()"},
    "stops at a weight of zero": {TERM: f"{TERM}\n            if weights[i, j] == 0:\n                break"},
    "small weights left out": {WEIGHT: "weights[i, j] * (weights[i, j].abs() > 0.01)"},
    "read by column if square": {WEIGHT: "weights[(j, i) if weights.shape[0] == weights.shape[1] else (i, j)]"},
    "squared weights": {WEIGHT: "weights[i, j] ** 2"},
    "first query for all": {WEIGHT: "weights[0, j]"},
    "largest product": {SUM: f"torch.maximum(output[i], {TERM})"},
    "best value only": {END: "return torch.stack([values[row.argmax()] for row in weights])"},
    "starts from the first value": {TABLE: f"{TABLE} + values[0]"},
    "transposed result": {END: "return output.T"},
    "returns after the first row": {TERM: f"{TERM}\n        return output"},
    "values as scratch": {"        for j": "        values *= 1.001\n        for j"},
    "numbers out of PyTorch": numbers_out,
    "values detached": {"* values[j]": "* values[j].detach()"},
    "bfloat16": {TERM: f"({TERM}).bfloat16()"},
}
