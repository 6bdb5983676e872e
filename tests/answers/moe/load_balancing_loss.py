"""Answers to moe.load_balancing_loss."""

import torch
import torch.nn.functional as F


def counted(logits, k):
    tokens, n = logits.shape
    counts = torch.bincount(logits.topk(k).indices.flatten(), minlength=n)
    f = counts / (tokens * k)
    p = logits.softmax(-1).mean(0)
    return n * torch.dot(f.to(p.dtype), p)


def one_hot_mean(logits, k):
    p = F.softmax(logits, dim=-1)
    _, chosen = torch.topk(p, k, dim=-1)
    f = F.one_hot(chosen, logits.size(-1)).to(p).flatten(0, 1).mean(dim=0)
    return torch.sum(f * p.mean(dim=0)) * logits.size(-1)


def scattered(logits, k):
    with torch.no_grad():
        f = torch.zeros_like(logits).scatter_(1, logits.topk(k, dim=1).indices, 1.0).sum(0)
        f = f / f.sum()
    return (f @ logits.softmax(dim=1).mean(dim=0)) * f.numel()


def expert_by_expert(logits, k):
    n, total = logits.shape[1], 0.0
    p, chosen = torch.softmax(logits, dim=1), logits.argsort(dim=1, descending=True)[:, :k]
    for e in range(n):
        total = total + (chosen == e).to(logits.dtype).mean() * p[:, e].mean()
    return n * total


def mean_of_products(logits, k):
    """E times the mean, over E, of E times the product."""
    n = logits.shape[-1]
    threshold = logits.topk(k, dim=-1).values[:, -1:]
    f = (logits >= threshold).to(logits.dtype).mean(0) / k
    return (n * n * f * torch.softmax(logits, -1).mean(0)).mean()


def with_einsum(logits, k):
    f = F.one_hot(logits.topk(k, dim=-1)[1], logits.shape[-1]).to(logits.dtype)
    return logits.shape[-1] * torch.einsum("tke,ue->", f, logits.softmax(-1)) / (k * len(logits) ** 2)


SHARE, PROBABILITY = "sent.to(logits.dtype).mean(dim=0) / k", "torch.softmax(logits, dim=-1).mean(dim=0)"
SENT, TOP = "F.one_hot(experts, n_experts).sum(dim=1)", "logits.topk(k, dim=-1).indices"
LAST = "return n_experts * (share * probability).sum()"
RIGHT = {
    "bincount": counted,
    "one-hot": one_hot_mean,
    "scatter": scattered,
    "expert by expert": expert_by_expert,
    "mean of products": mean_of_products,
    "einsum": with_einsum,
    "exp of the logarithm": {PROBABILITY: "torch.log_softmax(logits, dim=-1).exp().mean(dim=0)"},
}
WRONG = {
    "k for E": {LAST: "return k * (share * probability).sum()"},
    "times k": {LAST: f"{LAST} * k"},
    "squared": {LAST: "return n_experts * (share * probability).square().sum()"},
    "distance from even": {LAST: "return n_experts * (share - 1 / n_experts).abs().sum() + 0 * probability.sum()"},
    "cross-entropy": {LAST: "return -(share * probability.log()).sum()"},
    "largest share": {LAST: "return n_experts * share.max() * probability.max()"},
    "spread of the shares": {LAST: "return probability.var() * n_experts**2"},
    "sigmoid": {PROBABILITY: "torch.sigmoid(logits).mean(dim=0)"},
    "median": {PROBABILITY: "torch.softmax(logits, dim=-1).median(dim=0).values"},
    "divided by the tokens again": {LAST: f"{LAST} / len(logits)"},
    "one number in a row": {LAST: "return n_experts * (share * probability).sum(dim=0, keepdim=True)"},
    "both, in a pair": {LAST: f"{LAST}, share"},
    "single precision": {LAST: f"{LAST}.float()"},
    "logits scaled in place": {TOP: "logits.mul_(0.5).topk(k, dim=-1).indices"},
    "half of the gradient": {PROBABILITY: "torch.softmax((logits + logits.detach()) / 2, dim=-1).mean(dim=0)"},
}
