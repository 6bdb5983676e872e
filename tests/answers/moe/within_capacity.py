"""Answers to moe.within_capacity."""

from collections import Counter

import torch


def counted(experts, n_experts, capacity):
    seen, kept = Counter(), []
    for e in experts.tolist():
        kept.append(seen[e] < capacity)
        seen[e] += 1
    return torch.tensor(kept)


def expert_by_expert(experts, n_experts, capacity):
    kept = torch.zeros(len(experts), dtype=torch.bool)
    for e in range(n_experts):
        kept[torch.where(experts == e)[0][:capacity]] = True
    return kept


def stable_sort(experts, n_experts, capacity):
    """Positions within each run of a stable sort."""
    order = torch.argsort(experts, stable=True)
    start = torch.searchsorted(experts[order].contiguous(), experts[order].contiguous())
    kept = torch.empty_like(experts, dtype=torch.bool)
    kept[order] = torch.arange(len(experts)) - start < capacity
    return kept


def pairs(experts, n_experts, capacity):
    return ((experts == experts[:, None]).tril().sum(1) <= capacity)


def by_columns(experts, n_experts, capacity):
    table = experts[:, None] == torch.arange(n_experts)
    return (table & (table.cumsum(0) <= capacity)).any(dim=1)


def gathered(experts, n_experts, capacity):
    one_hot = torch.zeros(len(experts), n_experts, dtype=torch.long).scatter_(1, experts[:, None], 1)
    before = one_hot.cumsum(0) - one_hot
    return before.gather(1, experts[:, None]).squeeze(1) < capacity


def room_left(experts, n_experts, capacity):
    room, kept = [capacity] * n_experts, torch.ones_like(experts).bool()
    for t, e in enumerate(experts):
        if room[e] == 0:
            kept[t] = False
        else:
            room[e] -= 1
    return kept


SENT, PLACE, KEPT = "F.one_hot(experts, n_experts)", "(sent.cumsum(dim=0) * sent).sum(dim=-1)", "place <= capacity"
LAST = "return kept"
RIGHT = {
    "counted": counted,
    "expert by expert": expert_by_expert,
    "stable sort": stable_sort,
    "pairs": pairs,
    "by columns": by_columns,
    "gathered": gathered,
    "room left": room_left,
    "floats inside": {SENT: f"{SENT}.double()"},
}
WRONG = {
    "counted in half precision": {SENT: f"{SENT}.half()"},
    "counted in bfloat16": {SENT: f"{SENT}.bfloat16()"},
    "a list": {LAST: "return kept.tolist()"},
    "a column": {LAST: "return kept[:, None]"},
    "mean room": {KEPT: "place <= len(experts) // n_experts"},
    "all stay": {KEPT: "place > 0"},
    "none stays": {KEPT: "place < 0"},
    "only the last one that fits": {KEPT: "place == capacity"},
    "neighbours only": {PLACE: "1 + (experts == experts.roll(1)).long()"},
    "capacity and experts mixed up": {KEPT: "place <= n_experts"},
    "smallest first": {PLACE: "experts.argsort(stable=True).argsort() + 1"},
    "drops a token of every expert": {KEPT: "(place <= capacity) & (place > 1)"},
    "random ones": {PLACE: "(sent[torch.randperm(len(sent))].cumsum(dim=0) * sent).sum(dim=-1)"},
    "places": {LAST: "return place"},
    "one expert fewer": {SENT: "F.one_hot(experts, n_experts)[:, :-1]"},
    "100 tokens at most": {KEPT: "(place <= capacity) & (place <= 100)"},
    "capacity unnamed": {", capacity)": ", size)", KEPT: "place <= size"},
}
