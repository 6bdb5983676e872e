"""Answers to lm.split_into_windows."""

import torch


def by_loop(ids, length):
    inputs, targets = [], []
    for start in range(0, len(ids) - length, length):
        inputs.append(ids[start : start + length])
        targets.append(ids[start + 1 : start + 1 + length])
    return torch.stack(inputs), torch.stack(targets)


def by_index(ids, length):
    starts = torch.arange((ids.numel() - 1) // length) * length
    places = starts[:, None] + torch.arange(length)
    return ids[places], ids[places + 1]


def with_one_more(ids, length):
    windows = ids.unfold(0, length + 1, length)
    return windows[:, :-1], windows[:, 1:]


def lists(ids, length):
    text = ids.tolist()
    n = (len(text) - 1) // length
    rows = [text[i * length : i * length + length + 1] for i in range(n)]
    return torch.tensor([row[:-1] for row in rows]), torch.tensor([row[1:] for row in rows])


def by_view(ids, length):
    x, y = ids[:-1].contiguous(), ids[1:].contiguous()
    keep = x.size(0) - x.size(0) % length
    return x[:keep].view(-1, length), y[:keep].view(-1, length)


RIGHT = {
    "loop": by_loop,
    "index": by_index,
    "one token more": with_one_more,
    "lists": lists,
    "view": by_view,
    "chunks": {
        "ids[: n * length].reshape(n, length)": "torch.stack(ids[: n * length].split(length))",
        "ids[1 : n * length + 1].reshape(n, length)": "torch.stack(ids[1 : n * length + 1].chunk(n))",
    },
}
LAST = "return inputs, targets"
WRONG = {
    "a list": {LAST: "return [inputs, targets]"},
    "floats": {LAST: "return inputs.float(), targets.float()"},
    "int32": {LAST: "return inputs.int(), targets.int()"},
    "windows in reverse": {LAST: "return inputs.flip(0), targets.flip(0)"},
    "shuffled": {LAST: "order = torch.randperm(n)\n    return inputs[order], targets[order]"},
    "a list of windows": {LAST: "return list(inputs), list(targets)"},
    "in place": {LAST: "ids[0] = 0\n    return inputs, targets"},
    "the targets alone": {LAST: "return targets"},
    "targets one longer": {"ids[1 : n * length + 1].reshape(n, length)": "torch.cat((inputs, ids[length : n * "
        "length + 1 "
                           ": length, None]), 1)"},
    "at most ten": {LAST: "return inputs[:10], targets[:10]"},
    "an axis for the batch": {LAST: "return inputs[None], targets[None]"},
    "last target unknown": {LAST: "targets = targets.clone()\n    targets[:, -1] = -100\n    return inputs, targets"},
}
