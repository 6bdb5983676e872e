"""Answers to masking.combine_masks."""

import torch


def by_loops(causal, padding):
    batch, n = padding.shape
    mask = torch.zeros(batch, 1, n, n, dtype=torch.bool)
    for b in range(batch):
        for i in range(n):
            for j in range(n):
                mask[b, 0, i, j] = causal[i, j] and padding[b, j]
    return mask


def by_samples(causal, padding):
    out = torch.empty(len(padding), 1, *causal.shape, dtype=torch.bool)
    for b, real in enumerate(padding):
        out[b, 0] = causal.logical_and(real)
    return out


def in_place_on_its_own(causal, padding):
    mask = causal.clone().unsqueeze(0).unsqueeze(0).repeat(padding.shape[0], 1, 1, 1)
    mask &= padding.unsqueeze(1).unsqueeze(2)
    return mask


def of_additive_masks(causal, padding):
    a = torch.zeros(causal.shape).masked_fill(~causal, -torch.inf)
    b = torch.zeros(padding.shape).masked_fill(~padding, -torch.inf)
    return (a + b[:, None, None, :]) == 0


def in_place(causal, padding):
    causal &= padding[0]
    return (causal & padding[:, None, None, :]).clone()


RIGHT = {
    "logical_and": lambda causal, padding: torch.logical_and(causal[None, None], padding.unsqueeze(1).unsqueeze(1)),
    "de Morgan": lambda causal, padding: ~(~causal | ~padding[:, None, None, :]),
    "a product": lambda causal, padding: causal * padding[:, None, None, :],
    "a product of floats": lambda causal, padding: causal.float() * padding[:, None, None, :].float() > 0,
    "einsum": lambda causal, padding: torch.einsum("nm,bm->bnm", causal.float(), padding.float())[:, None] == 1,
    "where": lambda causal, padding: torch.where(padding[:, None, None, :], causal, False),
    "both in a sum": lambda causal, padding: causal.long() + padding.long()[:, None, None] == 2,
    "expanded": lambda causal, padding: (
        causal.expand(len(padding), 1, -1, -1) & padding[:, None, None, :].expand(-1, 1, padding.shape[1], -1)
    ),
    "reshaped": lambda causal, padding: causal & padding.reshape(padding.shape[0], 1, 1, padding.shape[1]),
    "filled": lambda causal, padding: causal.repeat(len(padding), 1, 1, 1).masked_fill(~padding[:, None, None], False),
    "stacked": lambda causal, padding: torch.stack([causal & row for row in padding])[:, None],
    "vmap": lambda causal, padding: torch.vmap(lambda row: (causal & row)[None])(padding),
    "diagonal matrices": lambda causal, padding: (causal.float() @ torch.diag_embed(padding.float()))[:, None] > 0,
    "one more argument": lambda causal, padding, n_heads=1: causal & padding[:, None, None, :],
    "loops": by_loops,
    "sample by sample": by_samples,
    "in place on its own": in_place_on_its_own,
    "sum of additive masks": of_additive_masks,
}
BOTH, KEYS = "causal & keys", "padding[:, None, None, :]"
WRONG = {
    "changes causal": in_place,
    "implies": {BOTH: "~causal | keys"},
    "neither": {BOTH: "~(causal | keys)"},
    "blocked by either": {BOTH: "~causal | ~keys"},
    "diagonal kept": {BOTH: "causal & keys | torch.eye(len(causal)).bool()"},
    "diagonal only": {BOTH: "torch.eye(len(causal)).bool() & keys"},
    "changes causal for one sample": {
        BOTH: "(causal.logical_and_(padding[0]) if len(padding) == 1 else causal) & keys"},
    "the middle sample for all": {KEYS: "padding[len(padding) // 2].expand(len(padding), 1, 1, -1)"},
    "any sample": {KEYS: "padding.any(0).expand(len(padding), 1, 1, -1)"},
    "all samples": {KEYS: "padding.all(0).expand(len(padding), 1, 1, -1)"},
    "padding flipped": {KEYS: "padding.flip(1)[:, None, None, :]"},
    "a batch of one": {KEYS: "padding[:1, None, None, :]"},
    "causal only": {BOTH: "causal.expand(len(padding), 1, -1, -1)"},
    "padding not expanded": {BOTH: "keys.clone()"},
    "ones": {"return mask": "return torch.ones_like(mask)"},
    "heads first": {"return mask": "return mask.transpose(0, 1)"},
    "heads last": {"return mask": "return mask[:, 0, :, :, None]"},
    "five axes": {"return mask": "return mask[None]"},
    "two heads": {"return mask": "return mask.expand(-1, 2, -1, -1)"},
    "maximum of numbers": {BOTH: "torch.maximum(causal.int(), keys.int()).bool()"},
    "added": {BOTH: "(causal.int() + keys.int()).bool()"},
    "doubles": {"return mask": "return mask.double()"},
    "a tuple": {"return mask": "return causal, padding"},
    "a list": {"return mask": "return [causal & row for row in padding]"},
    "Python's and": {BOTH: "causal and padding"},
    "causal as a number": {BOTH: "torch.ones(causal, causal).tril().bool() & padding"},
}
