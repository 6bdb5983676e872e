"""Answers to generation.speculate."""

import torch


def at_once(target_probs, draft_probs, draft, u):
    k = draft.shape[0]
    p = target_probs[:k].gather(1, draft[:, None])[:, 0]
    q = draft_probs.gather(1, draft[:, None])[:, 0]
    n = (u < p / q).long().cumprod(0).sum().item()
    if n == k:
        return n, target_probs[k]
    residual = torch.clamp(target_probs[n] - draft_probs[n], min=0)
    return n, residual / residual.sum()


def early_return(target_probs, draft_probs, draft, u):
    for i, token in enumerate(draft.tolist()):
        if u[i] * draft_probs[i, token] >= target_probs[i, token]:
            rest = torch.relu(target_probs[i] - draft_probs[i])
            return i, rest.div(rest.sum())
    return len(draft), target_probs[-1].clone()


def padded(target_probs, draft_probs, draft, u):
    n = 0
    for p, q, token, limit in zip(target_probs, draft_probs, draft, u, strict=False):
        if not limit < p[token] / q[token]:
            break
        n += 1
    q = torch.cat((draft_probs, draft_probs.new_zeros(1, draft_probs.shape[1])))[n]
    left = torch.maximum(target_probs[n] - q, torch.zeros_like(q))
    return n, torch.nn.functional.normalize(left, p=1, dim=0) if n < len(draft) else left


def by_nonzero(target_probs, draft_probs, draft, u):
    rows = range(len(draft))
    rejected = u >= target_probs[rows, draft] / draft_probs[rows, draft]
    found = rejected.nonzero()
    if found.numel() == 0:
        return int(draft.numel()), target_probs[len(draft)]
    n = int(found[0, 0])
    rest = torch.where(target_probs[n] > draft_probs[n], target_probs[n] - draft_probs[n], 0.0)
    return n, rest / rest.sum(-1, keepdim=True)


def over_the_chance_of_a_rejection(target_probs, draft_probs, draft, u):
    """The lesson's own words: what remains, over the probability of a rejection."""
    for n, token in enumerate(draft):
        p, q = target_probs[n], draft_probs[n]
        if u[n] >= p[token] / q[token]:
            return n, (p - q).clamp(min=0) / (1 - torch.minimum(p, q).sum())
    return len(draft), target_probs[-1]


RIGHT = {
    "over the chance of a rejection": over_the_chance_of_a_rejection,
    "at once": at_once,
    "early return": early_return,
    "padded": padded,
    "nonzero": by_nonzero,
    "ratio of at most one": {"if u[n] >= ratio:": "if u[n] >= min(1, ratio):"},
}
LAST = "return n, rest / rest.sum()"
WRONG = {
    "a list": {LAST: "return [n, rest / rest.sum()]"},
    "the distribution alone": {LAST: "return rest / rest.sum()"},
    "a sampled token": {LAST: "return n, rest.argmax()"},
    "the draft is changed": {"    n = 0\n": "    n = 0\n    draft[-1] = 0\n"},
    "in place": {"rest = target_probs[n] - draft_probs[n]": "rest = target_probs[n].sub_(draft_probs[n])"},
    "an axis too many": {LAST: "return n, (rest / rest.sum())[None]"},
    "float32": {LAST: "return n, (rest / rest.sum()).float()"},
    "a small number": {LAST: "return n, rest / (rest.sum() + 1e-2)"},
    "a very small number": {LAST: "return n, rest / (rest.sum() + 1e-6)"},
    "divided by the small model": {LAST: "return n, rest / draft_probs[n].max()"},
    "shares of differences that cancel": {"    rest = rest.clamp(min=0)\n": ""},
    "at most two": {"while n < len(draft):": "while n < min(2, len(draft)):"},
    "half the ratio": {"if u[n] >= ratio:": "if u[n] >= ratio / 2:"},
    "logarithms": {"return n, rest / rest.sum()": "return n, (rest / rest.sum()).log()"},
    "the count from the end": {LAST: "return len(draft) - n, rest / rest.sum()"},
}
