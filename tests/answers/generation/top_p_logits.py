"""Answers to generation.top_p_logits."""

import math

import torch
import torch.nn.functional as F


def shifted(logits, p):
    """The usual way: the tokens after the one that reaches p are removed, by a mask shifted by one."""
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


def in_double(logits, p):
    """The sum in double precision; p = 1 is beyond any sum."""
    values, order = logits.sort(dim=-1, descending=True, stable=True)
    before = F.pad(values.double().softmax(-1).cumsum(-1)[:, :-1], (1, 0))
    kept = before < (math.inf if p >= 1 else p)
    kept[:, 0] = True
    return logits.masked_fill(~kept.gather(1, order.argsort(-1)), -torch.inf)


def counted(logits, p):
    """As many tokens as are needed, one row at a time; all of them for p = 1."""
    out = torch.full_like(logits, -torch.inf)
    values, order = logits.sort(dim=-1, descending=True, stable=True)
    for row, probs in enumerate(values.softmax(-1)):
        count = next((n for n in range(1, len(probs)) if p < 1 and probs[:n].sum() >= p), len(probs))
        out[row, order[row, :count]] = values[row, :count]
    return out


def filtered(sums, kept="sums - probs < p"):
    """Return the text of an answer that trusts its sums of probabilities even at p = 1."""
    return f"""
def top_p_logits(logits, p):
    probs, order = logits.softmax(-1).sort(dim=-1, descending=True, stable=True)
    sums = {sums}
    kept = {kept}
    kept[:, 0] = True
    return logits.masked_fill(~kept.gather(1, order.argsort(-1)), -torch.inf)
"""


PADDED = "F.pad(sums[:, :-1], (1, 0)) < p"
ROUNDED = {
    "trusts the sum": filtered("probs.cumsum(-1)"),
    "trusts the sum before": filtered("probs.cumsum(-1)", PADDED),
    "trusts a rounded sum": filtered("probs.cumsum(-1).round(decimals=4)", PADDED),
    "trusts a sum that ends at one": filtered("probs.cumsum(-1) / probs.sum(-1, keepdim=True)", PADDED),
    "trusts a clamped sum": filtered("probs.cumsum(-1).clamp(max=1)", PADDED),
    "trusts a sum in double": filtered("probs.double().cumsum(-1)", PADDED),
    "trusts a sum of logarithms": filtered("torch.logcumsumexp(probs.log(), -1).exp()", PADDED),
    "exceeds p where it should reach it": filtered("probs.cumsum(-1)", f"({PADDED.replace('<', '<=')}) & (p > 0)"),
}
RIGHT = {
    "in double": in_double,
    "counted": counted,
    "shifted": shifted,
    "sorted back": sorted_back,
    "rows": rows,
    "scattered": scattered,
    "added": added,
    "a copy": {"return logits\n": "return logits.clone()\n"},
}
LAST = "return logits.masked_fill(dropped, -torch.inf)"
WRONG = ROUNDED | {
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
