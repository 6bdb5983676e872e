"""Answers to generation.min_p_logits."""

import math

import torch


def by_probabilities(logits, p):
    probs = torch.softmax(logits, dim=-1)
    return torch.where(probs >= p * probs.amax(-1, keepdim=True), logits, float("-inf"))


def by_quotients(logits, p):
    probs = logits.softmax(-1)
    return logits.masked_fill(probs / probs.max(dim=-1, keepdim=True).values < p, -math.inf)


def by_log_probabilities(logits, p):
    logs = torch.log_softmax(logits, -1)
    top, _ = logs.max(-1, keepdim=True)
    kept = logits.clone()
    kept[logs < top + math.log(p)] = -torch.inf
    return kept


def by_exponentials(logits, p):
    """No softmax: the largest exponential is 1."""
    grown = (logits - torch.amax(logits, -1, True)).exp()
    return torch.where(torch.lt(grown, p), torch.full_like(logits, -torch.inf), logits)


def row_by_row(logits, p):
    done = []
    for row in logits.reshape(-1, logits.shape[-1]):
        best = max(row.tolist())
        done.append(torch.stack([z if z.item() - best >= math.log(p) else z.new_tensor(-math.inf) for z in row]))
    return torch.stack(done).reshape(logits.shape)


def sorted_first(logits, p):
    """Tokens sorted by decreasing probability; the mask is scattered back to their positions."""
    ordered, order = logits.sort(dim=-1, descending=True)
    kept = ordered - ordered[..., :1] >= math.log(p)
    return logits.masked_fill(~torch.zeros_like(kept).scatter(-1, order, kept), -torch.inf)


def counted(logits, p):
    """Top-k with a separate k for each row."""
    stay = (logits.softmax(-1) >= p * logits.softmax(-1).max(-1, keepdim=True)[0]).sum(-1, keepdim=True)
    least = logits.sort(-1, descending=True).values.gather(-1, stay - 1)
    return torch.where(logits >= least, logits, -torch.inf)


def in_place(logits, p):
    return logits.clone().masked_fill_(logits - logits.amax(-1, keepdim=True) < math.log(p), float("-inf"))


RIGHT = {
    "probabilities": by_probabilities,
    "quotients": by_quotients,
    "log-probabilities": by_log_probabilities,
    "exponentials": by_exponentials,
    "row by row": row_by_row,
    "sorted first": sorted_first,
    "counted": counted,
    "a copy in place": in_place,
    "in double": {"logits < limit": "logits.double() < logits.double().amax(dim=-1, keepdim=True) + math.log(p)"},
}
LAST, LIMIT, DROPPED = "return logits.masked_fill(dropped, -torch.inf)", "largest + math.log(p)", "logits < limit"
PROBS = "torch.softmax(logits, dim=-1)"
WRONG = {
    "in place": {LAST: "return logits.masked_fill_(dropped, -torch.inf)"},
    "a pair": {LAST: LAST + ", dropped"},
    "renormalised": {LAST: LAST.replace("return ", "return torch.log_softmax(") + ", dim=-1)"},
    "cut off": {LAST: LAST.replace("logits.masked", "logits.detach().masked")},
    "float32": {LAST: LAST + ".float()"},
    "nan": {"-torch.inf": "torch.nan"},
    "plus infinity": {"-torch.inf": "torch.inf"},
    "half precision": {DROPPED: "logits.half() < limit.half()"},
    "a rounded logarithm": {"math.log(p)": "round(math.log(p), 2)"},
    "the softmax over the samples": {DROPPED: "(s := torch.softmax(logits, dim=0)) < p * s.amax(dim=0)"},
    "the softmax over the first axis": {
        DROPPED: "(s := torch.softmax(logits, dim=0)) < p * s.amax(dim=-1, keepdim=True)"},
    "a logarithm of a product": {LAST: "return (logits.exp() * ~dropped).log()"},
    "multiplied by the mask": {LAST: "return logits * ~dropped + torch.where(dropped, -torch.inf, 0.0)"},
    "a clamped p": {"math.log(p)": "math.log(max(p, 1e-6))"},
    "p of one is left alone": {"    largest": "    if p >= 1:\n        return logits\n    largest"},
    "p of one takes the first only": {DROPPED: "logits < limit if p < 1 else torch.ones_like(logits).scatter("
                                               "-1, logits.argmax(dim=-1, keepdim=True), 0.0).bool()"},
    "the second largest": {"logits.amax(dim=-1, keepdim=True)": "logits.sort(dim=-1).values[..., -2:-1]"},
    "p over the vocabulary": {LIMIT: "logits.logsumexp(dim=-1, keepdim=True) + math.log(p / logits.shape[-1])"},
    "p times the largest, among log-probabilities": {
        DROPPED: "(s := torch.log_softmax(logits, dim=-1)) < p * s.amax(dim=-1, keepdim=True)"},
    "rounded probabilities": {DROPPED: f"(s := {PROBS}.round(decimals=6)) < p * s.amax(dim=-1, keepdim=True)"},
    "the first row's limit": {DROPPED: "logits < limit.flatten()[0]"},
    "two always stay": {DROPPED: "(logits < limit) & (logits < logits.sort(dim=-1).values[..., -2:-1])"},
    "p twice": {"math.log(p)": "2 * math.log(p)"},
    "straight through": {LAST: "return logits + (logits.masked_fill(dropped, -torch.inf) - logits).detach()"},
    "zeros where nothing was": {LAST: "return torch.nan_to_num(logits.masked_fill(dropped, -torch.inf))"},
}
