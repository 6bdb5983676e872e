"""Answers to generation.sample."""

import torch


def loop(logits, u, temperature=1.0):
    picked = []
    for row, limit in zip(logits.tolist(), u.tolist(), strict=True):
        if temperature == 0:
            picked.append(row.index(max(row)))
            continue
        probs = torch.softmax(torch.tensor(row, dtype=torch.float64) / temperature, 0).tolist()
        total, last = 0.0, None
        for token, share in enumerate(probs):
            total += share
            if share > 0:
                last = token
            if total > limit:
                break
        picked.append(last)
    return torch.tensor(picked)


def searched(logits, u, temperature=1.0):
    if temperature == 0:
        return torch.argmax(logits, -1)
    ends = torch.softmax(logits.double() / temperature, dim=-1).cumsum(-1)
    found = torch.searchsorted(ends, u.double().unsqueeze(1), right=True).squeeze(1)
    places = torch.arange(logits.shape[1]).expand_as(logits)
    last = torch.where(logits > -torch.inf, places, -1).amax(1)
    return torch.minimum(found, last)


def masked(logits, u, temperature=1.0):
    """The first token beyond u among those that can be drawn, or else the last of them."""
    if temperature < 1e-8:
        return logits.max(-1).indices
    scaled = logits / temperature
    probs = (scaled - scaled.logsumexp(-1, keepdim=True)).exp()
    possible = probs > 0
    beyond = (probs.cumsum(-1) > u.unsqueeze(-1)) & possible
    ids = torch.arange(logits.size(-1))
    first = torch.where(beyond, ids, logits.size(-1)).amin(-1)
    last = torch.where(possible, ids, -1).amax(-1)
    return torch.where(beyond.any(-1), first, last)


def counted(logits, u, temperature=1.0):
    if not temperature:
        return logits.argmax(dim=1)
    weights = (logits / temperature - (logits / temperature).amax(1, keepdim=True)).double().exp()
    ends = weights.cumsum(1)
    return (ends <= u[:, None] * ends[:, -1:]).sum(1)


def last_set(logits, u, temperature=1.0):
    if temperature == 0:
        return logits.argmax(dim=-1)
    ends = torch.softmax(logits / temperature, dim=-1).cumsum(dim=-1)
    ends = torch.where(ends == ends[:, -1:], 1.0, ends)
    return (ends > u[:, None]).to(torch.uint8).argmax(dim=-1)


RIGHT = {
    "loop": loop,
    "searched": searched,
    "masked": masked,
    "counted": counted,
    "last sum set to one": last_set,
    "float64 inside": {"logits / temperature, dim=-1)": "logits.double() / temperature, dim=-1)"},
    "nonzero": {"reached.int().argmax(dim=-1)": "(total <= u[:, None]).sum(dim=-1)"},
}
LAST = "return reached.int().argmax(dim=-1)"
WRONG = {
    "below 0.5 as 0": {"if temperature == 0:": "if temperature < 0.5:"},
    "below 0.1 as 0": {"if temperature == 0:": "if temperature < 0.1:"},
    "int32": {LAST: "return reached.int().argmax(dim=-1).int()"},
    "a list": {LAST: "return reached.int().argmax(dim=-1).tolist()"},
    "floats": {LAST: "return reached.int().argmax(dim=-1).float()"},
    "a pair": {LAST: "return reached.int().argmax(dim=-1), probs"},
    "in place": {"probs = torch.softmax(logits / temperature": "probs = torch.softmax(logits.div_(temperature)"},
    "u in place": {"reached = total > u[:, None]": "reached = total > u.mul_(0.99)[:, None]"},
    "never the first": {LAST: "return reached.int().argmax(dim=-1).clamp(min=1)"},
    "at most a hundred tokens": {LAST: "return reached[:, :100].int().argmax(dim=-1)"},
    "a floor for the temperature": {"logits / temperature": "logits / max(temperature, 0.7)"},
    "a ceiling for the temperature": {"logits / temperature": "logits / min(temperature, 2)"},
    "draws by chance at nought": {"return logits.argmax(dim=-1)\n": "return (u * logits.shape[-1]).long()\n"},
    "sums in half precision": {"cumsum(dim=-1)": "bfloat16().cumsum(dim=-1).float()"},
    "last one that is below": {LAST: "return (~reached).int().argmin(dim=-1) if False else "
                               "(total * ~reached).argmax(dim=-1)"},
    "an axis for the batch": {LAST: LAST + "[None]"},
}
