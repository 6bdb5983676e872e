"""Answers to generation.top_k_logits."""

import torch


def by_topk(logits, k):
    if k < 1:
        raise ValueError("k")
    values, _ = torch.topk(logits, min(k, logits.size(-1)))
    return logits.masked_fill(logits < values[:, [-1]], float("-inf"))


def written(logits, k):
    if k <= 0:
        raise ValueError("k must be positive")
    if k >= logits.shape[1]:
        return logits
    kept = logits.clone()
    kept[kept < torch.kthvalue(kept, logits.shape[1] - k + 1, dim=1, keepdim=True).values] = -torch.inf
    return kept


def rows(logits, k):
    if k < 1:
        raise ValueError(k)
    done = []
    for row in logits:
        limit = sorted(row.tolist(), reverse=True)[:k][-1]
        done.append(torch.where(row >= limit, row, torch.full_like(row, -torch.inf)))
    return torch.stack(done)


def added(logits, k):
    """-inf is added."""
    if k < 1:
        raise ValueError(k)
    limit = logits.topk(min(k, logits.shape[-1]), dim=-1).values.amin(dim=-1, keepdim=True)
    penalty = torch.zeros_like(logits)
    penalty[logits < limit] = float("-inf")
    return logits + penalty


def asserted(logits, k):
    if not k >= 1:
        raise ValueError(f"k = {k}")
    rank = (logits.unsqueeze(1) > logits.unsqueeze(2)).sum(-1)
    return torch.where(rank >= k, torch.tensor(-torch.inf, dtype=logits.dtype), logits)


RIGHT = {
    "topk": by_topk,
    "written": written,
    "rows": rows,
    "added": added,
    "ranks": asserted,
    "ascending": {"logits.sort(dim=-1, descending=True).values": "logits.sort(dim=-1).values.flip(-1)"},
}
LAST = "return logits.masked_fill(dropped, -torch.inf)"
WRONG = {
    "a kept 0 becomes -inf": {LAST: LAST.replace("dropped", "dropped | (logits == 0)")},
    "in place": {LAST: "return logits.masked_fill_(dropped, -torch.inf)"},
    "an axis too many": {LAST: LAST + "[None]"},
    "a pair": {LAST: LAST + ", dropped"},
    "renormalised": {LAST: LAST.replace("return ", "return torch.log_softmax(") + ", dim=-1)"},
    "cut off": {LAST: LAST.replace("logits.masked", "logits.detach().masked")},
    "half a limit": {"logits < least[:, None]": "logits < least[:, None] - 0.01"},
    "nan": {"-torch.inf": "torch.nan"},
    "plus infinity": {"-torch.inf": "torch.inf"},
    "None if k is large": {"    ordered": "    if k > logits.shape[-1]:\n        return None\n    ordered"},
    "refuses a large k": {"if k < 1:": "if k < 1 or k > logits.shape[-1]:"},
    "float32": {LAST: LAST + ".float()"},
    "the mean as a limit": {"logits < least[:, None]": "logits < logits.mean(-1, keepdim=True)"},
    "probabilities are compared": {"logits < least[:, None]": "logits.softmax(-1) < torch.softmax(ordered, -1)"
                                   "[:, min(k, logits.shape[-1]) - 1, None]"},
    "a k of one less than all drops none": {"    ordered": "    if k >= logits.shape[-1] - 1:\n        return logits\n"
                                            "    ordered"},
    "sorted in memory": {"logits.sort(dim=-1, descending=True).values": "logits.copy_(logits.sort(dim=-1, "
                         "descending=True).values)"},
}
