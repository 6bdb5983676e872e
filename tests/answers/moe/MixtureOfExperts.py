"""Answers to moe.MixtureOfExperts."""

import torch
import torch.nn.functional as F
from torch import nn


class Base(nn.Module):
    def __init__(self, d_model, d_ff, n_experts, k):
        super().__init__()
        self.k, self.n_experts = k, n_experts
        self.experts = nn.ModuleList()
        for _ in range(n_experts):
            self.experts.append(nn.Sequential(nn.Linear(d_model, d_ff), nn.GELU(), nn.Linear(d_ff, d_model)))
        self.router = nn.Linear(d_model, n_experts, bias=False)

    def gate(self, x):
        chosen, experts = self.router(x).topk(self.k)
        return F.softmax(chosen, -1), experts


class Masked(Base):
    """A Boolean mask over (B, N) for each expert."""

    def forward(self, x):
        weights, experts = self.gate(x)
        output = torch.zeros_like(x)
        for e, expert in enumerate(self.experts):
            hits = experts == e
            mine = hits.any(dim=-1)
            if mine.any():
                weight = (weights * hits).sum(-1, keepdim=True)
                output[mine] += weight[mine] * expert(x[mine])
        return output


class OneHot(Base):
    """As in Mixtral's code in transformers: a one-hot table (E, k, T), and rows choice by choice."""

    def forward(self, x):
        b, n, d = x.shape
        x = x.reshape(-1, d)
        shares = F.softmax(self.router(x), dim=1)
        weights, selected = torch.topk(shares, self.k, dim=-1)
        weights = weights / weights.sum(dim=-1, keepdim=True)
        final = torch.zeros_like(x)
        table = F.one_hot(selected, num_classes=self.n_experts).permute(2, 1, 0)
        for e in table.sum(dim=(1, 2)).nonzero().flatten().tolist():
            place, row = torch.where(table[e])
            final.index_add_(0, row, self.experts[e](x[None, row].reshape(-1, d)) * weights[row, place, None])
        return final.reshape(b, n, d)


class Sorted(Base):
    """All choices sorted by expert, cut into runs, and added up."""

    def forward(self, x):
        tokens = x.flatten(0, 1)
        weights, experts = self.gate(tokens)
        order = experts.flatten().argsort(stable=True)
        rows = order // self.k
        counts = experts.flatten().bincount(minlength=self.n_experts).tolist()
        runs = tokens[rows].split(counts)
        made = torch.cat([expert(run) for expert, run in zip(self.experts, runs, strict=True) if len(run)])
        made = made * weights.flatten()[order, None]
        return torch.zeros_like(tokens).index_add_(0, rows, made).view_as(x)


class Unsorted(Base):
    """Results put back into a table of tokens and choices, which is then summed."""

    def forward(self, x):
        tokens = x.reshape(-1, x.size(-1))
        weights, experts = self.gate(tokens)
        table = tokens.new_zeros(*experts.shape, x.size(-1))
        for e in experts.unique().tolist():
            where = (experts == e).nonzero(as_tuple=True)
            table[where] = self.experts[e](tokens[where[0]])
        return torch.einsum("tk,tkd->td", weights, table).reshape(x.shape)


class Weighted(Base):
    """A row of weights over all experts for each token, mostly zeros; an expert's rows get one more axis in front."""

    def forward(self, x):
        logits = self.router(x)
        least = logits.topk(self.k, dim=-1).values[..., -1:]
        weights = torch.softmax(torch.where(logits >= least, logits, -torch.inf), dim=-1)
        parts = []
        for weight, expert in zip(weights.unbind(-1), self.experts, strict=True):
            mine = weight > 0
            part = torch.zeros_like(x)
            if mine.sum() > 0:
                part = part.masked_scatter(mine[..., None], expert(x[mine][None])[0] * weight[mine][:, None])
            parts.append(part)
        return sum(parts)


class Backwards(Base):
    """The last expert first, its rows in the opposite order; an expert's layers called one by one."""

    def forward(self, x):
        tokens = x.flatten(0, 1)
        weights, experts = self.gate(tokens)
        output = torch.zeros_like(tokens)
        for e in reversed(range(self.n_experts)):
            token, slot = (experts == e).flip(0).nonzero(as_tuple=True)
            token = len(tokens) - 1 - token
            if token.numel():
                up, act, down = self.experts[e]
                output[token] = output[token] + down(act(up(tokens[token]))) * weights[token, slot].unsqueeze(-1)
        return output.reshape_as(x)


class Squeezed(Base):
    """Rows are picked by a squeezed index, so an expert with a single token gets a vector."""

    def forward(self, x):
        tokens = x.flatten(0, 1)
        weights, experts = self.gate(tokens)
        output = torch.zeros_like(tokens)
        for e, expert in enumerate(self.experts):
            mine = experts == e
            row = mine.any(dim=-1).nonzero().squeeze()
            if row.numel():
                output[row] += (weights * mine).sum(-1)[row].unsqueeze(-1) * expert(tokens[row])
        return output.view(x.shape)


class Balanced(Sorted):
    """Stores what a balancing loss needs, without using it; a subclassed router, one more argument with a
    default.
    """

    def __init__(self, d_model, d_ff, n_experts, k, noise=0.0):
        super().__init__(d_model, d_ff, n_experts, k)
        self.noise, self.logits = noise, None

    def forward(self, x, keep=True):
        self.logits = self.router(x).detach() if keep else None
        return super().forward(x)


LOGITS, TOP = "self.router(tokens)", "logits.topk(self.k, dim=-1)"
SOFTMAX, MADE = "torch.softmax(chosen, dim=-1)", "weights[token, slot, None] * expert(tokens[token])"
ADDED, NOBODY = "output.index_add(0, token, result)", "if len(token) == 0:"
EXPERT = "expert(tokens[token])"
SENT, LAST = "torch.where(experts == e)", "return output.unflatten(0, x.shape[:2])"
KINDS = Masked, OneHot, Sorted, Unsorted, Weighted, Backwards, Squeezed, Balanced
RIGHT = {kind.__name__: kind for kind in KINDS} | {
    "index_put, accumulating": {ADDED: "output.index_put((token,), result, accumulate=True)"},
    "function": lambda d_model, d_ff, n_experts, k: Masked(d_model, d_ff, n_experts, k),
}
class CallsForShow(Masked):
    """Each expert is called with its own tokens, and then all experts compute all tokens."""

    def forward(self, x):
        shown = super().forward(x)
        weights, experts = self.gate(x)
        weights = torch.zeros(*x.shape[:2], self.n_experts, dtype=x.dtype).scatter(-1, experts, weights)
        total = torch.zeros_like(x)
        for weight, (up, act, down) in zip(weights.unbind(-1), self.experts, strict=True):
            hidden = act(F.linear(x, up.weight, up.bias))
            total = total + weight[..., None] * F.linear(hidden, down.weight, down.bias)
        return total + 0 * shown


WRONG = {
    "calls for show": CallsForShow,
    "dense": {
        SENT: "torch.where(experts == experts)", ADDED: "output + (weights * (experts == e)).sum(-1, keepdim=True) * "
        "expert(tokens)", MADE: "None"},
    "softmax of all, k kept": {TOP: "torch.softmax(logits, dim=-1).topk(self.k, dim=-1)"},
    "shares of the logits": {SOFTMAX: "chosen / chosen.sum(-1, keepdim=True)"},
    "mean over the choices": {LAST: "return output.unflatten(0, x.shape[:2]) / self.k"},
    "router on normed tokens": {LOGITS: "self.router(F.normalize(tokens, dim=-1))"},
    "relu on the router": {LOGITS: "self.router(tokens).relu()"},
    "noisy router": {LOGITS: "self.router(tokens) + torch.randn(len(tokens), len(self.experts))"},
    "experts numbered from one": {"enumerate(self.experts)": "enumerate(self.experts, 1)"},
    "experts in reverse": {SENT: "torch.where(experts == len(self.experts) - 1 - e)"},
    "the last expert is forgotten": {"enumerate(self.experts)": "list(enumerate(self.experts))[:-1]"},
    "room for three": {SENT: "(t[:3] for t in torch.where(experts == e))"},
    "weights in other places": {"weights[token, slot, None]": "weights[slot % len(weights), slot, None]"},
    "weight squared": {MADE: f"weights[token, slot, None] * {MADE}"},
    "weights detached on the way": {"weights[token, slot, None]": "weights.detach()[token, slot, None]"},
    "tokens detached": {"expert(tokens[token])": "expert(tokens[token].detach())"},
    "half of the experts": {"range(n_experts)": "range(max(1, n_experts // 2))"},
    "no activation": {"nn.GELU(), ": ""},
    "silu": {"nn.GELU()": "nn.SiLU()"},
    "activation behind": {"nn.GELU(), nn.Linear(d_ff, d_model)": "nn.Linear(d_ff, d_model), nn.GELU()"},
    "dropout": {LAST: "return F.dropout(output, 0.1, self.training).unflatten(0, x.shape[:2])"},
    "experts without biases": {"nn.Linear(d_ff, d_model)": "nn.Linear(d_ff, d_model, bias=False)"},
    "router unnamed": {"self.router": "self.gate"},
    "written into x": {"output = torch.zeros_like(tokens)": "output = tokens.zero_()"},
    "twice": {"token, slot = torch.where(experts == e)": "token, slot = torch.where(experts == e)\n"
              "            _ = expert(tokens[token])"},
    "bare weights of the experts": {EXPERT: "F.linear(F.gelu(F.linear(tokens[token], expert[0].weight, expert[0].bias"
                                    ")), expert[2].weight, expert[2].bias)"},
    "all rows, most of them zero": {EXPERT: "expert(tokens * (experts == e).any(-1, keepdim=True))[token]"},
}
