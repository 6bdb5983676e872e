"""Answers to generation.top_p_logits."""

import torch


def shifted(logits, p):
    """The usual way: what lies beyond p is removed, shifted by one."""
    if p >= 1.0:
        return logits.clone()
    ordered, indices = torch.sort(logits, descending=True, stable=True)
    remove = ordered.softmax(-1).cumsum(-1) >= p
    remove[:, 1:] = remove[:, :-1].clone()
    remove[:, 0] = False
    return logits.masked_fill(remove.scatter(1, indices, remove), float("-inf"))


def sorted_back(logits, p):
    if p >= 1:
        return logits
    order = logits.argsort(dim=-1, descending=True, stable=True)
    probs = logits.softmax(dim=-1).gather(-1, order)
    total = probs.cumsum(-1)
    needed = (total < p).sum(dim=-1, keepdim=True) + 1
    rank = order.argsort(dim=-1)
    return torch.where(rank < needed, logits, -torch.inf)


def rows(logits, p):
    kept = torch.full_like(logits, float("-inf"))
    for i, probs in enumerate(logits.softmax(-1)):
        total = 0.0
        for token in torch.argsort(probs, descending=True, stable=True).tolist():
            kept[i, token] = logits[i, token]
            total += probs[token].item()
            if total >= p and p < 1:
                break
    return kept


def scattered(logits, p):
    if p >= 1:
        return logits
    values, places = logits.sort(dim=-1, descending=True, stable=True)
    probs = torch.softmax(values, -1)
    keep = torch.cat((torch.zeros_like(probs[:, :1]), probs.cumsum(-1)[:, :-1]), -1) < p
    keep = keep | (torch.arange(keep.shape[1]) == 0)
    values = torch.where(keep, values, -torch.inf)
    return torch.full_like(logits, -torch.inf).scatter(1, places, values)


def added(logits, p):
    if not p < 1:
        return logits + 0
    higher = logits[:, None, :] > logits[:, :, None]
    ids = torch.arange(logits.shape[-1])
    equal = (logits[:, None, :] == logits[:, :, None]) & (ids[None, :] < ids[:, None])
    probs = torch.softmax(logits, -1)
    before = ((higher | equal) * probs[:, None, :]).sum(-1)
    dropped = (before >= p) & (higher | equal).any(-1)
    return logits + torch.zeros_like(logits).masked_fill(dropped, -torch.inf)


RIGHT = {
    "shifted": shifted,
    "sorted back": sorted_back,
    "rows": rows,
    "scattered": scattered,
    "added": added,
    "a copy": {"return logits\n": "return logits.clone()\n"},
}
LAST = "return logits.masked_fill(dropped, -torch.inf)"
WRONG = {
    "in place": {LAST: "return logits.masked_fill_(dropped, -torch.inf)"},
    "a pair": {LAST: LAST + ", dropped"},
    "log-probabilities": {LAST: LAST.replace("return ", "return torch.log_softmax(") + ", dim=-1)"},
    "cut off": {LAST: LAST.replace("logits.masked", "logits.detach().masked")},
    "float32": {LAST: LAST + ".float()"},
    "two always stay": {"late[:, 0] = False": "late[:, :2] = False"},
    "a little less": {"before >= p": "before >= p - 0.05"},
    "a little more": {"before >= p": "before >= p + 0.05"},
    "plus infinity": {"-torch.inf": "torch.inf"},
    "refuses nought": {"    ordered, order": "    if p <= 0:\n        raise ValueError\n    ordered, order"},
    "None for one": {"return logits\n": "return None\n"},
    "the largest logit is scaled": {LAST: LAST + " / p"},
    "no largest subtracted": {"torch.softmax(ordered, dim=-1)": "ordered.exp() / ordered.exp().sum(-1, keepdim=True)"},
    "rounded": {"torch.softmax(ordered, dim=-1)": "torch.softmax(ordered, dim=-1).round(decimals=1)"},
}
