"""Answers to masking.padding_mask."""

import numpy as np
import torch
import torch.nn.functional as F
from torch import nn


def slices(lengths, max_len):
    mask = torch.zeros(len(lengths), max_len, dtype=torch.bool)
    for i, length in enumerate(lengths):
        mask[i, :length] = True
    return mask


def blocked_from_the_end(lengths, max_len):
    mask = torch.full((lengths.shape[0], max_len), True)
    for i in range(lengths.shape[0]):
        mask[i, lengths[i] :] = False
    return mask


def nested_lists(lengths, max_len):
    return torch.tensor([[1] * int(n) + [0] * (max_len - int(n)) for n in lengths], dtype=torch.bool)


def counted_down(lengths, max_len):
    rest, columns = lengths.clone(), []
    for _ in range(max_len):
        columns.append(rest > 0)
        rest -= 1
    return torch.stack(columns, dim=1)


def scattered_ends(lengths, max_len):
    ends = torch.zeros(len(lengths), max_len + 1, dtype=torch.long)
    ends.scatter_(1, lengths.long()[:, None], 1)
    return ends.cumsum(1)[:, :max_len] == 0


def by_one_hot(lengths, max_len):
    return F.one_hot(lengths.long(), max_len + 1).flip(1).cumsum(1).flip(1)[:, 1:].bool()


def padded(lengths, max_len):
    rows = [torch.ones(int(n)) for n in lengths] + [torch.ones(max_len)]
    return nn.utils.rnn.pad_sequence(rows, batch_first=True)[:-1].bool()


def filled_in_place(lengths, max_len):
    mask = torch.ones(lengths.numel(), max_len)
    mask.masked_fill_(torch.arange(max_len).expand(len(lengths), -1).ge(lengths.unsqueeze(1)), 0)
    return mask == 1


def of_a_triangle(lengths, max_len):
    return torch.tril(torch.ones(max_len + 1, max_len), diagonal=-1).bool()[lengths.long()]


def one_mark(lengths, max_len):
    mask = torch.zeros(len(lengths), max_len, dtype=torch.bool)
    for i, length in enumerate(lengths):
        mask[i, min(length, max_len - 1)] = True
    return mask


def index_of_the_end(lengths, max_len):
    mask = torch.ones(len(lengths), max_len, dtype=torch.bool)
    for i, n in enumerate(lengths):
        mask[i, n] = False
    return mask


def clamped_in_place(lengths, max_len):
    lengths.sub_(1)
    return torch.arange(max_len) <= lengths[:, None]


RIGHT = {
    "compared from the other side": lambda lengths, max_len: lengths[:, None] > torch.arange(max_len),
    "counted from one": lambda lengths, max_len: torch.arange(1, max_len + 1) <= lengths.reshape(-1, 1),
    "negated": lambda lengths, max_len: ~(torch.arange(max_len) >= lengths[:, None]),
    "transposed": lambda lengths, max_len: (torch.arange(max_len)[:, None] < lengths).T,
    "stacked": lambda lengths, max_len: torch.stack([torch.arange(max_len) < n for n in lengths]),
    "vmap": lambda lengths, max_len: torch.vmap(lambda n: torch.arange(max_len) < n)(lengths),
    "NumPy": lambda lengths, max_len: torch.from_numpy(np.arange(max_len)[None] < lengths.numpy()[:, None]),
    "sign": lambda lengths, max_len: (lengths[:, None] - torch.arange(max_len)).clamp(0, 1).bool(),
    "sums of ones": lambda lengths, max_len: torch.ones(len(lengths), max_len).cumsum(dim=1).le(lengths[:, None]),
    "one more argument": lambda lengths, max_len, device="cpu": torch.arange(max_len) < lengths[:, None],
    "rows of a triangle": of_a_triangle,
    "slices": slices,
    "blocked from the end on": blocked_from_the_end,
    "nested lists": nested_lists,
    "counted down": counted_down,
    "scattered ends": scattered_ends,
    "one_hot": by_one_hot,
    "pad_sequence": padded,
    "filled in place": filled_in_place,
}
PAIR, LENGTHS = "position < lengths[:, None]", "lengths[:, None]"
WRONG = {
    "8-bit positions": {"return mask": "return position % 256 < lengths[:, None]"},
    "8-bit lengths": {LENGTHS: "lengths.to(torch.uint8)[:, None]"},
    "positions up to 128": {"torch.arange(max_len)": "torch.arange(128)[:max_len]"},
    "positions up to 299": {"torch.arange(max_len)": "torch.arange(299)[:max_len]"},
    "bfloat16": {"torch.arange(max_len)": "torch.arange(max_len).bfloat16()", LENGTHS: "lengths.bfloat16()[:, None]"},
    "at least one": {LENGTHS: "lengths.clamp(min=1)[:, None]"},
    "sorted": {LENGTHS: "lengths.sort(descending=True).values[:, None]"},
    "shortest for all": {LENGTHS: "lengths.min().expand(len(lengths), 1)"},
    "mean length": {LENGTHS: "lengths.float().mean().expand(len(lengths), 1)"},
    "index instead of length": {LENGTHS: "torch.arange(len(lengths))[:, None]"},
    "compared with each other": {PAIR: "lengths < lengths[:, None]"},
    "equal": {"<": "=="},
    "greater": {"<": ">"},
    "last real one": {PAIR: "position + 1 == lengths[:, None]"},
    "flipped": {"return mask": "return mask.flip(1)"},
    "samples flipped": {"return mask": "return mask.flip(0)"},
    "none": {"return mask": "return mask & ~mask"},
    "squeezed": {"return mask": "return mask.squeeze()"},
    "inverted floats": {"return mask": "return (~mask).float()"},
    "positions kept": {"return mask": "return position * mask"},
    "a tuple": {"return mask": "return mask, lengths"},
    "first sample only": {"return mask": "return mask[:1]"},
    "one too wide": {"arange(max_len)": "arange(max_len + 1)"},
    "ten wide": {"arange(max_len)": "arange(10)"},
    "one mark": one_mark,
    "one index": index_of_the_end,
    "changes lengths": clamped_in_place,
}
