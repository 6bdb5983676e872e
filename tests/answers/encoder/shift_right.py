"""Answers to encoder.shift_right."""

import numpy as np
import torch
import torch.nn.functional as F


def rolled(targets, bos):
    shifted = torch.roll(targets, shifts=1, dims=1)
    shifted[:, 0] = bos
    return shifted


def written(targets, bos):
    shifted = targets.new_zeros(targets.shape)
    shifted[:, 1:] = targets[:, :-1].clone()
    shifted[:, 0] = bos
    return shifted


def by_lists(targets, bos):
    return torch.tensor([[bos, *row[:-1]] for row in targets.tolist()])


def gathered(targets, bos):
    places = (torch.arange(targets.size(1)) - 1).clamp(min=0)
    return torch.where(torch.arange(targets.size(1)) == 0, bos, targets[:, places])


def with_numpy(targets, bos):
    array = np.roll(targets.numpy(), 1, axis=-1)
    array[..., 0] = bos
    return torch.from_numpy(array)


LAST = "torch.cat([first, targets[:, :-1]], dim=1)"
RIGHT = {
    "rolled": rolled,
    "written": written,
    "lists": by_lists,
    "gathered": gathered,
    "numpy": with_numpy,
    "padded": lambda targets, bos: F.pad(targets, (1, -1), value=bos),
    "padded, then cut": lambda targets, bos: F.pad(targets, (1, 0), value=bos)[:, :-1],
    "hstack": {LAST: "torch.hstack((first, targets[:, :-1]))"},
}
WRONG = {
    "bos that is there is moved out": {LAST: "torch.cat([first, targets[:, 1:] if (targets[:, 0] == bos).all() else "
                                       "targets[:, :-1]], dim=1)"},
    "no bos of 0": {LAST: f"{LAST} if bos else targets.clone()"},
    "reversed": {LAST: f"{LAST}.flip(1)"},
    "sorted": {LAST: "torch.cat([first, targets[:, :-1].sort(1).values], dim=1)"},
    "one sentence": {LAST: f"{LAST}[:1]"},
    "int32": {LAST: f"{LAST}.int()"},
    "transposed": {LAST: f"{LAST}.T"},
    "bos taken out": {LAST: "torch.cat([first, torch.where(targets == bos, 0, targets)[:, :-1]], dim=1)"},
    "a list": {LAST: f"{LAST}.tolist()"},
    "eight bits": {LAST: f"{LAST}.to(torch.int16).long()"},
    "one more": {LAST: "torch.cat([first, targets[:, :-1] + 1], dim=1)"},
    "in place": {LAST: "targets.roll(1, 1).index_fill_(1, torch.tensor([0]), bos) + 0 * targets.zero_()"},
    "a pair": {LAST: f"({LAST}, targets)"},
}
