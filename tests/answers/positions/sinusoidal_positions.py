"""Answers to positions.sinusoidal_positions."""

import functools
import math

import numpy as np
import torch


def by_loops(n, d_model):
    if d_model % 2 == 1:
        raise ValueError("d_model must be even")
    rows = []
    for p in range(n):
        row = []
        for i in range(d_model // 2):
            angle = p / 10000 ** (2 * i / d_model)
            row += [math.sin(angle), math.cos(angle)]
        rows.append(row)
    return torch.tensor(rows)


def by_exp(n, d_model):
    if d_model % 2 != 0:
        raise ValueError(f"cannot pair {d_model} features")
    position = torch.arange(n).unsqueeze(1)
    div_term = torch.exp(torch.arange(0, d_model, 2) * (-math.log(10000.0) / d_model))
    pe = torch.zeros(n, d_model)
    pe[:, 0::2] = torch.sin(position * div_term)
    pe[:, 1::2] = torch.cos(position * div_term)
    return pe


def stacked(n, d_model):
    if d_model & 1:
        raise ValueError
    frequencies = torch.pow(10000.0, -torch.arange(0, d_model, 2, dtype=torch.float64) / d_model)
    angles = torch.einsum("n,f->nf", torch.arange(n, dtype=torch.float64), frequencies)
    return torch.stack([angles.sin(), angles.cos()], dim=-1).reshape(n, d_model).float()


def by_shift(n, d_model):
    """A cosine is a sine a quarter turn ahead."""
    if d_model % 2:
        raise ValueError("an even number of features, please")
    feature = torch.arange(d_model)
    rate = 10000.0 ** (-(feature - feature % 2) / d_model)
    return torch.sin(torch.arange(n)[:, None] * rate + feature % 2 * (math.pi / 2))


def by_where(n, d_model):
    if d_model % 2:
        raise ValueError("odd")
    j = torch.arange(d_model)
    angles = torch.arange(n).view(-1, 1) / torch.pow(torch.tensor(10000.0), (j // 2 * 2) / d_model)
    return torch.where(j % 2 == 0, angles.sin(), angles.cos())


def with_numpy(n, d_model):
    if d_model % 2:
        raise ValueError("odd")
    angles = np.arange(n)[:, None] / np.power(10000, np.arange(0, d_model, 2)[None] / d_model)
    table = np.zeros((n, d_model))
    table[:, ::2], table[:, 1::2] = np.sin(angles), np.cos(angles)
    return torch.from_numpy(table).float()


@torch.no_grad()
def complex_numbers(n, d_model):
    if d_model % 2:
        raise ValueError("odd")
    angles = torch.outer(torch.arange(n).float(), 10000 ** (-torch.arange(0, d_model, 2).float() / d_model))
    turned = torch.exp(1j * angles)
    return torch.stack((turned.imag, turned.real), dim=2).flatten(1)


def a_step_at_a_time(n, d_model):
    """Each row is the row before, rotated by one step."""
    if d_model % 2:
        raise ValueError("odd")
    rates = 10000 ** (-torch.arange(0, d_model, 2).double() / d_model)
    sine, cosine, rows = torch.zeros_like(rates), torch.ones_like(rates), []
    for _ in range(n):
        rows.append(torch.stack((sine, cosine), -1).flatten())
        sine, cosine = (
            sine * rates.cos() + cosine * rates.sin(),
            cosine * rates.cos() - sine * rates.sin(),
        )
    return torch.stack(rows).to(torch.float32)


SINES, EXPONENT = "torch.sin(angles)", "(steps / d_model)"
RIGHT = {
    "loops": by_loops,
    "exp of a log": by_exp,
    "stacked in float64": stacked,
    "a quarter turn": by_shift,
    "where": by_where,
    "numpy": with_numpy,
    "complex": complex_numbers,
    "step by step": a_step_at_a_time,
    "cached": functools.lru_cache(stacked),
    "default arguments": {"(n, d_model):": "(n, d_model, base=10000.0):", "/ 10000": "/ base"},
    "meshgrid": {"positions / 10000 ** (steps / d_model)":
                 "torch.ger(positions.squeeze(1), 1.0 / 10000 ** (steps / d_model))"},
}
WRONG = {
    "a last column of zeros": {"return table": "table[:, -1] = 0.0\n    return table"},
    "degrees": {SINES: "torch.sin(angles.deg2rad())", "torch.cos(angles)": "torch.cos(angles.deg2rad())"},
    "shifted by half a position": {"dtype=torch.float32)[:, None]": "dtype=torch.float32)[:, None] + 0.5"},
    "base times two pi": {"/ 10000": "/ 10000 * 2 * torch.pi"},
    "bfloat16 angles": {"= positions / ": "= positions.bfloat16().float() / ",
                        EXPONENT: "(steps / d_model).bfloat16()"},
    "half precision": {"return table": "return table.half().float()", SINES: "torch.sin(angles.half())"},
    "scaled": {"return table": "return table / d_model**0.5"},
    "positions scaled to one": {"positions / 10000": "positions / max(n - 1, 1) / 10000"},
    "negative sines": {SINES: "torch.sin(-angles)"},
    "a list": {"return table": "return table.tolist()"},
    "TypeError for odd": {"ValueError": "TypeError"},
    "even numbers are refused": {"if d_model % 2:": "if d_model % 4:"},
    "cosines roll": {"torch.cos(angles)": "torch.cos(angles).roll(1, 1)"},
    "reversed": {"return table": "return table.flip(0)"},
    "one position more": {"zeros(n,": "zeros(n + 1,", "arange(n,": "arange(n + 1,"},
}
