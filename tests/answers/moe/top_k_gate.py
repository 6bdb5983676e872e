"""Answers to moe.top_k_gate."""

import torch
import torch.nn.functional as F


def of_all_shared_again(logits, k):
    """Softmax over all experts first, as in Mixtral's own code."""
    shares = F.softmax(logits, dim=-1)
    weights, experts = torch.topk(shares, k, dim=-1)
    weights = weights / weights.sum(dim=-1, keepdim=True)
    return weights, experts


def sorted_first(logits, k):
    experts = torch.argsort(logits, dim=-1, descending=True)[..., :k]
    return torch.softmax(torch.gather(logits, -1, experts), -1), experts


def one_after_the_other(logits, k):
    left, experts = logits.detach().clone(), []
    for _ in range(k):
        best = left.argmax(dim=-1, keepdim=True)
        left.scatter_(-1, best, -torch.inf)
        experts.append(best)
    experts = torch.cat(experts, dim=-1)
    return logits.gather(-1, experts).softmax(dim=-1), experts


def by_exp(logits, k):
    values, experts = logits.topk(k)
    shares = (values - values[..., :1]).exp()
    return shares / shares.sum(-1, keepdim=True), experts


def masked(logits, k):
    """Everything below the k-th largest becomes -inf."""
    lowest = logits.topk(k, dim=-1).values[..., -1:]
    shares = torch.softmax(logits.masked_fill(logits < lowest, -torch.inf), dim=-1)
    weights, experts = shares.topk(k, dim=-1)
    return weights, experts


def token_by_token(logits, k):
    if logits.dim() > 1:
        pairs = [token_by_token(one, k) for one in logits]
        return torch.stack([w for w, _ in pairs]), torch.stack([e for _, e in pairs])
    order = sorted(range(len(logits)), key=lambda e: -float(logits[e]))[:k]
    return torch.softmax(logits[order], 0), torch.tensor(order)


SOFTMAX, TOP, LAST = "torch.softmax(chosen, dim=-1)", "logits.topk(k, dim=-1)", "return weights, experts"
RIGHT = {
    "softmax of all, shared out again": of_all_shared_again,
    "argsort": sorted_first,
    "one after the other": one_after_the_other,
    "exp": by_exp,
    "token by token": token_by_token,
    "exp of the logarithm": {SOFTMAX: "torch.log_softmax(chosen, dim=-1).exp()"},
    "less logsumexp": {SOFTMAX: "torch.exp(chosen - chosen.logsumexp(-1, keepdim=True))"},
}
WRONG = {
    "everything from the k-th on": masked,
    "logarithms": {SOFTMAX: "torch.log_softmax(chosen, dim=-1)"},
    "all weight to the best": {SOFTMAX: "torch.softmax(chosen * 1e4, dim=-1)"},
    "weights of the other experts": {SOFTMAX: "torch.softmax(chosen.flip(-1), dim=-1)"},
    "one expert too many": {TOP: "logits.topk(min(k + 1, logits.shape[-1]), dim=-1)"},
    "scaled like attention": {SOFTMAX: "torch.softmax(chosen / k**0.5, dim=-1)"},
    "largest in size": {TOP: "(logits.gather(-1, places := logits.abs().topk(k, dim=-1)[1]), places)"},
    "a list": {LAST: "return [weights, experts]"},
    "experts as floats": {LAST: "return weights, experts.to(logits.dtype)"},
    "experts as int32": {LAST: "return weights, experts.int()"},
    "experts as a mask": {LAST: "return weights, F.one_hot(experts, logits.shape[-1])"},
    "weights alone": {LAST: "return weights"},
    "experts count from one": {LAST: "return weights, experts + 1"},
    "the first k experts": {TOP: "(logits[..., :k], torch.arange(k).expand(*logits.shape[:-1], k))"},
    "what is masked is written into the logits": {TOP: "(logits.gather(-1, i := logits.topk(k)[1]), i, logits.detach()"
        ".scatter_(-1, i, -1e9))[:2]"},
    "in place": {"chosen, experts": "logits.mul_(2.0)\n    chosen, experts"},
    "single precision": {SOFTMAX: "torch.softmax(chosen.float(), dim=-1)"},
    "noise": {TOP: "(logits + torch.randn_like(logits)).topk(k, dim=-1)"},
    "relu": {TOP: "logits.relu().topk(k, dim=-1)"},
    "with a small constant": {SOFTMAX: "((e := chosen.exp()) / (e.sum(-1, keepdim=True) + 1e-2))"},
    "flattened": {TOP: "logits.flatten(0, -2).topk(k, dim=-1)"},
}
