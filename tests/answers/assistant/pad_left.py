"""Answers to assistant.pad_left."""

import numpy as np
import torch
from torch.nn.utils.rnn import pad_sequence


def filled(prompts, pad):
    if not prompts or any(len(prompt) == 0 for prompt in prompts):
        raise ValueError("empty")
    n = max(len(prompt) for prompt in prompts)
    ids = torch.full((len(prompts), n), pad, dtype=torch.int64)
    mask, positions = torch.zeros_like(ids, dtype=torch.bool), torch.zeros_like(ids)
    for i, prompt in enumerate(prompts):
        ids[i, n - len(prompt) :] = torch.tensor(prompt)
        mask[i, -len(prompt) :] = True
        positions[i, -len(prompt) :] = torch.arange(len(prompt))
    return ids, mask, positions


def lists(prompts, pad):
    if len(prompts) < 1 or min(len(p) for p in prompts) < 1:
        raise ValueError
    ids, mask, positions = [], [], []
    width = len(max(prompts, key=len))
    for p in prompts:
        gap = width - len(p)
        ids.append([pad for _ in range(gap)] + list(p))
        mask.append([False] * gap + [True] * len(p))
        positions.append([0] * gap + list(range(len(p))))
    return torch.tensor(ids), torch.tensor(mask), torch.tensor(positions)


def cumulated(prompts, pad):
    if not prompts or not all(prompts):
        raise ValueError("empty")
    n = max(map(len, prompts))
    ids = torch.tensor([[pad] * (n - len(p)) + p for p in prompts])
    mask = torch.tensor([[0] * (n - len(p)) + [1] * len(p) for p in prompts]).bool()
    positions = (mask.long().cumsum(-1) - 1).masked_fill(~mask, 0)
    return ids, mask, positions


def flipped(prompts, pad):
    """Reversed prompts are padded on the right by PyTorch's own function, and the result is flipped."""
    if [] in prompts or prompts == []:
        raise ValueError("empty")
    backwards = [torch.tensor(prompt[::-1]) for prompt in prompts]
    ids = pad_sequence(backwards, batch_first=True, padding_value=pad).flip(1)
    sizes = torch.tensor([len(prompt) for prompt in prompts]).unsqueeze(1)
    from_end = torch.arange(ids.shape[1]).flip(0)
    mask = from_end < sizes
    return ids, mask, torch.where(mask, sizes - 1 - from_end, 0)


def padded(prompts, pad):
    if not prompts:
        raise ValueError("no prompts")
    width = max(len(p) for p in prompts)
    out = []
    for p in prompts:
        if not p:
            raise ValueError("an empty prompt")
        row, gap = torch.tensor(p), (width - len(p), 0)
        out.append((torch.nn.functional.pad(row, gap, value=pad),
                    torch.nn.functional.pad(torch.ones(len(p), dtype=torch.bool), gap, value=False),
                    torch.nn.functional.pad(torch.arange(len(p)), gap)))
    return tuple(torch.stack(one) for one in zip(*out))


def left_side(prompts, pad):
    if not prompts or not all(prompts):
        raise ValueError("empty")
    return pad_sequence([torch.tensor(p) for p in prompts], True, pad, "left"), *(
        pad_sequence(rows, True, 0, "left")
        for rows in ([torch.ones(len(p)).bool() for p in prompts], [torch.arange(len(p)) for p in prompts]))


def with_numpy(prompts, pad):
    if len(prompts) == 0 or 0 in map(len, prompts):
        raise ValueError("empty")
    sizes = np.array([len(p) for p in prompts])
    places = np.arange(sizes.max())[None] - (sizes.max() - sizes)[:, None]
    ids = np.full(places.shape, pad, dtype=np.int64)
    ids[places >= 0] = np.concatenate(prompts)
    return torch.from_numpy(ids), torch.from_numpy(places >= 0), torch.from_numpy(np.maximum(places, 0))


def scattered(prompts, pad):
    if not prompts or not all(prompts):
        raise ValueError("empty")
    lengths = torch.tensor([len(p) for p in prompts])
    n = int(lengths.max())
    mask = torch.arange(n, 0, -1) <= lengths[:, None]
    ids = torch.full(mask.shape, pad).masked_scatter(mask, torch.tensor([token for p in prompts for token in p]))
    return ids, mask, (mask.cumsum(1) - 1).relu()


def indexed(prompts, pad):
    if not prompts or not all(prompts):
        raise ValueError("empty")
    n = max(map(len, prompts))
    rows = torch.tensor([i for i, p in enumerate(prompts) for _ in p])
    columns = torch.tensor([n - len(p) + j for p in prompts for j in range(len(p))])
    ids = torch.full((len(prompts), n), pad)
    ids[rows, columns] = torch.tensor([token for p in prompts for token in p])
    mask = torch.zeros(len(prompts), n, dtype=torch.bool)
    mask[rows, columns] = True
    positions = torch.zeros(len(prompts), n, dtype=torch.long)
    positions[rows, columns] = torch.tensor([j for p in prompts for j in range(len(p))])
    return ids, mask, positions


def where(prompts, pad):
    if not prompts or not all(prompts):
        raise ValueError("empty")
    n, sizes = max(map(len, prompts)), torch.tensor([[len(p)] for p in prompts])
    right = torch.tensor([(p + [0] * n)[:n] for p in prompts])
    place = torch.arange(n) - n + sizes
    mask = place >= 0
    return torch.where(mask, right.gather(1, place.clamp(min=0)), pad), mask, torch.where(mask, place, 0)


KINDS = (filled, lists, cumulated, flipped, padded, left_side, with_numpy, scattered, indexed, where)
RIGHT = {kind.__name__: kind for kind in KINDS} | {
    "relu": {"positions.clamp(min=0)": "positions.relu()"},
    "a loop over the checks": {"if not prompts or not all(prompts):": "if not (prompts and min(map(len, prompts))):"},
}

LAST, LENGTHS = "return ids, mask, positions.clamp(min=0)", "    lengths = torch.tensor([len(prompt) for prompt in "
"prompts])\n"
WRONG = {
    "all of 32 bits": {LAST: "return ids.to(torch.int32), mask, positions.clamp(min=0).to(torch.int32)"},
    "floats for positions": {LAST: "return ids, mask, torch.relu(positions.float())"},
    "a dict": {LAST: "return {'ids': ids, 'mask': mask, 'positions': positions.clamp(min=0)}"},
    "a list": {LAST: "return [ids, mask, positions.clamp(min=0)]"},
    "one position for the batch": {LAST: "return ids, mask, positions[:1].clamp(min=0).expand_as(ids).clone()"},
    "positions modulo 256": {LAST: "return ids, mask, positions.clamp(min=0) % 256"},
    "at most 512 tokens": {LAST: "return ids[:, -128:], mask[:, -128:], positions.clamp(min=0)[:, -128:]"},
    "ids of sixteen bits": {LAST: "return ids % 32768, mask, positions.clamp(min=0)"},
    "ids of sixteen bits without a sign": {LAST: "return ids % 65536, mask, positions.clamp(min=0)"},
    "pad in a prompt is taken out": {"    width": "    prompts = [[t for t in p if t != pad] or p for p in "
    "prompts]\n    width"},
    "leading pads are padding": {LAST: "mask &= (ids != pad).cumsum(1) > 0\n    return ids, mask, (mask.cumsum(1) - 1)"
                                 ".clamp(min=0)"},
    "four axes": {LAST: "return ids, mask[:, None, None], positions.clamp(min=0)"},
    "a causal mask": {LAST: "return ids, mask[:, None] & torch.ones(width, width).bool().tril(), "
    "positions.clamp(min=0)"},
    "positions of all tokens": {LAST: "return ids, mask, torch.arange(ids.numel()).reshape(ids.shape) * mask"},
    "empty prompts are dropped": {"    if not prompts or not all(prompts):": "    prompts = [p for p in prompts if "
    "p]\n"
                                  "    if not prompts:"},
    "half of the positions": {LAST: "return ids, mask, positions.clamp(min=0).half()"},
    "the first prompt's length for all": {"lengths[:, None]": "lengths[:1, None].expand(len(prompts), 1)"},
    "transposed": {LAST: "return ids.T, mask.T, positions.clamp(min=0).T"},
    "the middle": {"[[pad] * (width - len(prompt)) + prompt for prompt in prompts]":
        "[[pad] * ((width - len(prompt)) // 2) + prompt + [pad] * ((width - len(prompt) + 1) // 2) for prompt in "
        "prompts]"},
    "assert": {"        raise ValueError(": "        raise AssertionError("},
    "separate rows": {LAST: "return list(zip(ids, mask, positions.clamp(min=0)))"},
    "ids through float32": {"return ids, mask": "return ids.float().long(), mask"},
}
