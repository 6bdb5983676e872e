"""Answers to tasks.standardise."""

import torch


def by_hand(series, n_train):
    train = series[:n_train]
    mu = train.sum() / n_train
    sigma = torch.sqrt(((train - mu) ** 2).sum() / n_train)
    return (series - mu) / sigma, mu, sigma


def var_mean(series, n_train):
    var, mean = torch.var_mean(series[:n_train], unbiased=False)
    return (series - mean) * var.rsqrt(), mean, var.sqrt()


def std_mean(series, n_train):
    std, mean = torch.std_mean(series[:n_train], correction=0)
    return torch.div(series - mean, std), mean, std


def rescaled(series, n_train):
    """The unbiased standard deviation, scaled down."""
    first = torch.split(series, [n_train, len(series) - n_train])[0]
    mean, std = torch.mean(first), torch.std(first) * ((n_train - 1) / n_train) ** 0.5
    return (series - mean) / std, mean, std


def powers(series, n_train):
    mean = torch.mean(series[:n_train], dim=0)
    centred = series - mean
    std = centred[:n_train].pow(2).mean().pow(0.5)
    return centred / std, mean, std


def masked(series, n_train):
    known = (torch.arange(len(series)) < n_train).to(series.dtype)
    mean = (series * known).sum() / known.sum()
    std = ((series - mean).square() * known).sum().div(known.sum()).sqrt()
    return (series - mean) / std, mean, std


RIGHT = {f.__name__: f for f in (by_hand, var_mean, std_mean, rescaled, powers, masked)} | {
    "unbiased": {"std(correction=0)": "std(unbiased=False)"},
    "own copy in place": {"(series - mean) / std,": "series.clone().sub_(mean).div_(std),"},
}
WRONG = {
    "a list": {"return (series - mean) / std, mean, std": "return [(series - mean) / std, mean, std]"},
    "median": {"known.mean()": "known.quantile(0.5)"},
    "an axis": {"known.mean()": "known.mean().reshape(1)"},
    "no gradient at all": {"(series - mean) / std, mean, std": "((series - mean) / std).detach(), "
                           "mean.detach(), std.detach()"},
    "spread cut off": {" / std,": " / std.detach(),"},
    "float32": {"(series - mean) / std,": "((series - mean) / std).float(),"},
    "squared": {"(series - mean) / std,": "((series - mean) / std) ** 2,"},
    "in place": {"(series - mean) / std,": "series.sub_(mean).div_(std),"},
    "the end is forgotten": {"(series - mean) / std,": "torch.cat(((known - mean) / std, series[n_train:])),"},
    "clipped": {"(series - mean) / std,": "((series - mean) / std).clamp(-3, 3),"},
    "at least two hundred": {"known = series[:n_train]": "known = series[: min(n_train, 512)]"},
}
