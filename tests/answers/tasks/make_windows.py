"""Answers to tasks.make_windows."""

import torch


def unfolded(series, length, horizon):
    if series.shape[0] < length + horizon:
        raise ValueError("too short")
    windows = series.unfold(0, length + horizon, 1)
    return windows[:, :length], windows[:, length:]


def indices(series, length, horizon):
    n = series.numel() - length - horizon + 1
    if n <= 0:
        raise ValueError("no window fits")
    start = torch.arange(n).unsqueeze(1)
    return series[start + torch.arange(length)], series[start + length + torch.arange(horizon)]


def split(series, length, horizon):
    total = length + horizon
    if len(series) - total < 0:
        raise ValueError()
    inputs, targets = series.unfold(0, total, 1).split([length, horizon], dim=1)
    return inputs.contiguous(), targets.contiguous()


def two_unfolds(series, length, horizon):
    n = len(series) - length - horizon + 1
    if n < 1:
        raise ValueError
    return series.unfold(0, length, 1)[:n], series[length:].unfold(0, horizon, 1)


def strided(series, length, horizon):
    n = len(series) - (length + horizon - 1)
    if n < 1:
        raise ValueError("short")
    series = series.contiguous()
    both = torch.as_strided(series, (n, length + horizon), (1, 1))
    return both[:, :length], both[:, length:]


def gathered(series, length, horizon):
    pairs = [(series[i : i + length], series[i + length : i + length + horizon])
             for i in range(len(series) - length - horizon + 1)]
    if not pairs:
        raise ValueError("no windows")
    inputs, targets = zip(*pairs)
    return torch.stack(inputs), torch.stack(targets)


def filled(series, length, horizon):
    n = len(series) - length - horizon + 1
    if not n > 0:
        raise ValueError
    inputs, targets = series.new_empty(n, length), series.new_empty(n, horizon)
    for i in range(n):
        inputs[i], targets[i] = series[i : i + length], series[i + length : i + length + horizon]
    return inputs, targets


def columns(series, length, horizon):
    n = len(series) - length - horizon + 1
    if n < 1:
        raise ValueError
    shifted = [series[i : i + n] for i in range(length + horizon)]
    return torch.stack(shifted[:length], 1), torch.stack(shifted[length:], 1)


KINDS = (unfolded, indices, split, two_unfolds, strided, gathered, filled, columns)
RIGHT = {kind.__name__: kind for kind in KINDS}
WRONG = {
    "an assertion": {"if n < 1:": "assert n >= 1\n    if n < 1:"},
    "a list of two": {"return inputs, targets": "return [inputs, targets]"},
    "copied by hand": {"return inputs, targets": "return torch.tensor(inputs.tolist()), "
                       "torch.tensor(targets.tolist())"},
    "differences": {"return inputs, targets": "return inputs, targets - inputs[:, -1:]"},
    "no gradient of the targets": {"return inputs, targets": "return inputs, targets.detach()"},
    "targets without an axis": {"return inputs, targets": "return inputs, targets.squeeze(1)"},
    "centred windows": {"return inputs, targets": "return inputs - inputs.mean(1, keepdim=True), targets"},
    "an axis for features": {"return inputs, targets": "return inputs[..., None], targets"},
    "at most 500 windows": {"range(n)": "range(min(n, 500))"},
    "no window refused from six on": {"if n < 1:": "if n < 1 and len(series) < 5:"},
    "whole numbers as floats": {"return inputs, targets": "return inputs * 1.0, targets * 1.0"},
}
