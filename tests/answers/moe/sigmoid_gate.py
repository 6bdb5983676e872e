"""Answers to moe.sigmoid_gate."""

import torch
import torch.nn.functional as F


def sorted_first(logits, bias, k, scale=1.0):
    scores = logits.sigmoid()
    experts = torch.argsort(scores + bias, dim=-1, descending=True)[..., :k]
    weights = torch.take_along_dim(scores, experts, dim=-1)
    return weights / weights.sum(-1, keepdim=True) * scale, experts


def as_published(logits, bias, k, scale=1.0):
    """The order of DeepSeek's own code, with a small epsilon in the denominator."""
    scores = torch.sigmoid(logits)
    for_choice = scores.detach() + bias[(None,) * (logits.dim() - 1)]
    _, experts = torch.topk(for_choice, k=k, dim=-1, sorted=True)
    weights = scores.gather(-1, experts)
    weights = weights / (weights.sum(dim=-1, keepdim=True) + 1e-20)
    return weights * scale, experts


def one_after_the_other(logits, bias, k, scale=1.0):
    left, scores, experts = (torch.sigmoid(logits) + bias).detach(), torch.sigmoid(logits), []
    for _ in range(k):
        best = left.argmax(dim=-1, keepdim=True)
        left = left.scatter(-1, best, -torch.inf)
        experts.append(best)
    experts = torch.cat(experts, dim=-1)
    return scale * F.normalize(scores.gather(-1, experts), p=1, dim=-1), experts


def bias_taken_off_again(logits, bias, k, scale=1.0):
    sums, experts = (logits.sigmoid() + bias).topk(k, dim=-1)
    weights = sums - bias[experts]
    return weights * (scale / weights.sum(-1, keepdim=True)), experts


def by_logarithms(logits, bias, k, scale=1.0):
    """The shares of sigmoids are a softmax of their logarithms."""
    experts = (torch.sigmoid(logits) + bias).topk(k).indices
    return scale * torch.softmax(F.logsigmoid(logits).gather(-1, experts), dim=-1), experts


def token_by_token(logits, bias, k, scale=1.0):
    if logits.dim() > 1:
        pairs = [token_by_token(one, bias, k, scale) for one in logits]
        return torch.stack([w for w, _ in pairs]), torch.stack([e for _, e in pairs])
    scores = 1 / (1 + (-logits).exp())
    order = sorted(range(len(logits)), key=lambda e: -float(scores[e] + bias[e]))[:k]
    return scale * scores[order] / sum(scores[e] for e in order), torch.tensor(order)


def through_all_experts(logits, bias, k, scale=1.0):
    scores = torch.sigmoid(logits)
    experts = (scores + bias).topk(k, dim=-1).indices
    chosen = torch.zeros_like(scores, dtype=torch.bool).scatter(-1, experts, True)
    kept = torch.where(chosen, scores, torch.zeros_like(scores))
    return (scale * kept / kept.sum(-1, keepdim=True)).gather(-1, experts), experts


SCORES, TOP, CHOSEN = "torch.sigmoid(logits)", "(scores + bias).topk(k, dim=-1).indices", "scores.gather(-1, experts)"
WEIGHTS, LAST = "scale * chosen / chosen.sum(dim=-1, keepdim=True)", "return weights, experts"
RIGHT = {
    "argsort": sorted_first,
    "as published": as_published,
    "one after the other": one_after_the_other,
    "the bias taken off again": bias_taken_off_again,
    "logarithms": by_logarithms,
    "token by token": token_by_token,
    "through all experts": through_all_experts,
    "tanh": {SCORES: "(torch.tanh(logits / 2) + 1) / 2"},
}
WRONG = {
    "a sum of squares": {WEIGHTS: "scale * chosen / chosen.square().sum(dim=-1, keepdim=True).sqrt()"},
    "divided by the largest": {WEIGHTS: "scale * chosen / chosen.amax(dim=-1, keepdim=True)"},
    "weights of the other experts": {CHOSEN: "scores.gather(-1, experts).flip(-1)"},
    "one expert too many": {TOP: "(scores + bias).topk(min(k + 1, logits.shape[-1]), dim=-1).indices"},
    "in groups of two": {TOP: "(scores + bias + scores.roll(1, -1)).topk(k, dim=-1).indices"},
    "a list": {LAST: "return [weights, experts]"},
    "experts as floats": {LAST: "return weights, experts.to(logits.dtype)"},
    "experts as int32": {LAST: "return weights, experts.int()"},
    "weights alone": {LAST: "return weights"},
    "experts count from one": {LAST: "return weights, experts + 1"},
    "single precision": {SCORES: "torch.sigmoid(logits.float())"},
    "the bias updated as well": {LAST: "bias.sub_(0.01)\n    return weights, experts"},
    "the logits written into": {SCORES: "logits.sigmoid_()"},
    "noise": {TOP: "(scores + bias + 0.3 * torch.randn_like(scores)).topk(k, dim=-1).indices"},
    "a hard sigmoid": {SCORES: "(logits / 4 + 0.5).clamp(0, 1)"},
    "exp": {SCORES: "torch.exp(logits)"},
    "relu": {SCORES: "torch.relu(logits)"},
    "half the bias": {TOP: "(scores + bias * 0.5).topk(k, dim=-1).indices"},
    "the scale squared": {WEIGHTS: "scale**2 * chosen / chosen.sum(dim=-1, keepdim=True)"},
    "a bias for places": {TOP: "(scores + bias.flip(0)).topk(k, dim=-1).indices"},
    "flattened": {TOP: "(scores + bias).flatten(0, -2).topk(k, dim=-1).indices"},
    "a shared expert as well": {WEIGHTS: "scale * chosen / (1 + chosen.sum(dim=-1, keepdim=True))"},
}
