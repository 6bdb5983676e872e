"""Answers to lm.learning_rate."""

import math

import numpy as np
import torch


def clamped(step, warmup, total, peak):
    if step < warmup:
        return peak / warmup * (step + 1)
    share = min(1.0, (step - warmup) / (total - warmup))
    return 0.5 * peak * (1.0 + math.cos(math.pi * share))


def by_torch(step, warmup, total, peak):
    if step < warmup:
        return float(peak * (step + 1) / warmup)
    share = torch.tensor(step - warmup, dtype=torch.float64).div(total - warmup).clamp(max=1)
    return (peak * (1 + torch.cos(torch.pi * share)) / 2).item()


def float32(step, warmup, total, peak):
    if step < warmup:
        return peak * (step + 1) / warmup
    return float(peak * (1 + torch.cos(torch.tensor(math.pi * min(step - warmup,
    total - warmup) / (total - warmup)))) / 2)


def halves(step, warmup, total, peak):
    """The square of a cosine of half the angle."""
    if step >= total:
        return 0.0
    if step < warmup:
        return (step + 1) / warmup * peak
    return peak * math.cos(math.pi / 2 * (step - warmup) / (total - warmup)) ** 2


def by_numpy(step, warmup, total, peak):
    rates = [peak * (1 + i) / warmup for i in range(warmup)]
    rates += [peak * (1 + np.cos(np.pi * i / (total - warmup))) / 2 for i in range(total - warmup)]
    return float(rates[step]) if step < len(rates) else 0.0


RIGHT = {
    "clamped": clamped,
    "PyTorch": by_torch,
    "float32": float32,
    "halves": halves,
    "NumPy": by_numpy,
    "NumPy's number, which is a float": {
        "return peak * (1 +": "import numpy as np\n    return np.float64(1.0) * peak * (1 +",
    },
    "one expression": {"if step >= total:": "if not step < total:"},
}
WRONG = {
    "a tensor": {"return peak * (1 +": "import torch\n    return torch.tensor(1.0) * peak * (1 +"},
    "NumPy's float32": {"return peak * (1 +": "import numpy as np\n    return np.float32(1.0) * peak * (1 +"},
    "rounded": {"return peak * (1 +": "return round(peak, 3) * (1 +"},
    "percent": {"return 0.0": "return 0.0", "peak * (1 +": "100 * peak * (1 +"},
    "no division by nought": {"if step < warmup:": "rate = peak / warmup\n    if step < warmup:"},
    "None after the end": {"return 0.0": "return None"},
    "later by one": {"if step >= total:": "if step > total + 1:"},
    "a list": {"return peak * (1 +": "return [peak] * (1 +"},
    "squared": {"math.cos(math.pi * done)": "math.cos(math.pi * done**2)"},
    "no smaller than a little": {"return 0.0": "return 1e-5"},
    "an exponential": {"peak * (1 + math.cos(math.pi * done)) / 2": "peak * math.exp(-5 * done)"},
    "falls to its half": {"/ 2": "/ 4 + peak / 2"},
}
