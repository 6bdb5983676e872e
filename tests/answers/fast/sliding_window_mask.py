"""Answers to fast.sliding_window_mask."""

import numpy as np
import torch


def two_triangles(n, window):
    causal = torch.ones(n, n).tril()
    return (causal - torch.ones(n, n).tril(-window)).bool()


def loops(n, window):
    return torch.tensor([[0 <= i - j < window for j in range(n)] for i in range(n)])


def rows(n, window):
    mask = torch.zeros(n, n, dtype=torch.bool)
    for i in range(n):
        mask[i, max(0, i - window + 1) : i + 1] = True
    return mask


def diagonals(n, window):
    mask = torch.zeros(n, n)
    for d in range(min(n, window)):
        mask += torch.diag(torch.ones(n - d), diagonal=-d)
    return mask > 0


def with_numpy(n, window):
    return torch.from_numpy(np.tri(n, dtype=bool) & ~np.tri(n, k=-window, dtype=bool))


def unfolded(n, window):
    line = torch.cat((torch.zeros(n), torch.ones(window), torch.zeros(n))).bool()
    start = torch.arange(n)
    return line[n + window - 1 + start[None, :] - start[:, None]]


def kept_for_a_length(n, window, kept={}):  # noqa: B006
    """A mask made once for each length, whatever the window."""
    if n not in kept:
        kept.clear()
        kept[n] = two_triangles(n, window)
    return kept[n]


NOT_LATER, NEAR, LAST = "(back >= 0)", "(back < window)", "return mask"
BOTH = f"{NOT_LATER} & {NEAR}"
RIGHT = {
    "two triangles": two_triangles,
    "loops": loops,
    "rows": rows,
    "diagonals": diagonals,
    "numpy": with_numpy,
    "one line shifted": unfolded,
    "clamped": {BOTH: "back == back.clamp(0, window - 1)"},
    "logical_and": {BOTH: f"torch.logical_and({NOT_LATER}, {NEAR})"},
}
WRONG = {
    "kept for a length": kept_for_a_length,
    "either": {" & ": " | "},
    "self and the first of the window": {BOTH: "(back == 0) | (back == window - 1)"},
    "every window-th": {BOTH: f"{NOT_LATER} & (back % window == 0)"},
    "one token only": {BOTH: "back == 0"},
    "one of the future": {NOT_LATER: "(back >= -1)"},
    "the first token always": {BOTH: f"({BOTH}) | (key == 0)"},
    "strided rows": {BOTH: f"{NOT_LATER} & (back < window * 2)"},
    "in a list": {LAST: "return [mask]"},
    "window by window": {LAST: "return mask[:, -window:]"},
    "all": {BOTH: "back < n"},
    "not for one token": {BOTH: f"({BOTH}) & (n > 1)"},
    "window squared": {NEAR: "(back < window**2)"},
    "another name": {"(n, window)": "(n, width)", NEAR: "(back < width)"},
    "transposed": {LAST: "return mask.T"},
    "50 tokens at most": {NEAR: "(back < min(window, 50))"},
}
