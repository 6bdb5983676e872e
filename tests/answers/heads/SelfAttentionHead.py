"""Answers to heads.SelfAttentionHead."""

import functools

import torch
import torch.nn.functional as F
from torch import nn

from answers.heads.forms import FORMS, LOW, by_hand, filled, fused


def head(attend):
    class SelfAttentionHead(nn.Module):
        def __init__(self, d_model, d_head=None, dropout=0.0):
            super().__init__()
            if d_head is None:
                d_head = d_model
            self.q_proj = nn.Linear(d_model, d_head)
            self.k_proj = nn.Linear(d_model, d_head)
            self.v_proj = nn.Linear(d_model, d_head)

        def forward(self, x, mask=None):
            return attend(self.q_proj(x), self.k_proj(x), self.v_proj(x), mask)

    return SelfAttentionHead


class OneProductForAll(head(fused)):
    def __init__(self, d_model, d_head=None, dropout=0.0):
        super().__init__(d_model, d_head)
        self.register_buffer("steps", torch.zeros(1))

    def forward(self, x, mask=None, verbose=True):
        weight = torch.cat((self.q_proj.weight, self.k_proj.weight, self.v_proj.weight))
        bias = torch.cat((self.q_proj.bias, self.k_proj.bias, self.v_proj.bias))
        q, k, v = F.linear(x, weight, bias).chunk(3, dim=-1)
        print(q.shape)
        return filled(q, k, v, mask)


class ValuesProjectedLast(head(fused)):
    def forward(self, x, mask=None):
        q, k = self.q_proj(x), self.k_proj(x)
        scores = torch.bmm(q, k.transpose(1, 2)) / k.size(2) ** 0.5
        mask = torch.ones_like(scores, dtype=torch.bool) if mask is None else mask.expand_as(scores)
        weights = scores.masked_fill(~mask, LOW).softmax(dim=2).nan_to_num(0.0)
        return weights @ x @ self.v_proj.weight.T + weights.sum(dim=-1, keepdim=True) * self.v_proj.bias


class SampleBySample(head(fused)):
    def forward(self, x, mask=None):
        mask = (torch.tensor(True) if mask is None else mask).expand(len(x), x.shape[1], x.shape[1])
        rows = zip(x, mask, strict=True)
        return torch.stack([filled(self.q_proj(one), self.k_proj(one), self.v_proj(one), m) for one, m in rows])


class SubclassedParts(nn.Module):
    class Projection(nn.Linear):
        pass

    def __init__(self, d_model, d_head=None):
        nn.Module.__init__(self)
        for name in ("v_proj", "q_proj", "k_proj"):
            self.add_module(name, self.Projection(d_model, d_head or d_model, bias=True))
        self.attend = nn.Softmax(-1)

    def forward(self, x, mask=None):
        scores = self.q_proj(x).matmul(self.k_proj(x).mT).div(self.q_proj.out_features**0.5)
        if mask is not None:
            scores.masked_fill_(~mask, LOW)
        return torch.nan_to_num(self.attend(scores)).matmul(self.v_proj(x))


class OfParameters(nn.Module):
    """Parts that hold weight and bias without being layers; the bias of the keys changes nothing."""

    def __init__(self, d_model, d_head=None):
        super().__init__()
        width = d_head if d_head is not None else d_model
        for name in ("q_proj", "k_proj", "v_proj"):
            part = nn.Module()
            part.weight = nn.Parameter(torch.randn(width, d_model))
            part.bias = nn.Parameter(torch.zeros(width))
            setattr(self, name, part)

    def forward(self, x, mask=None):
        q, v = (x @ part.weight.T + part.bias for part in (self.q_proj, self.v_proj))
        return by_hand(q, x @ self.k_proj.weight.T, v, mask)


RIGHT = {form.__name__: head(form) for form in FORMS} | {
    "one product for all": OneProductForAll,
    "values projected last": ValuesProjectedLast,
    "sample by sample": SampleBySample,
    "subclassed parts": SubclassedParts,
    "of parameters": OfParameters,
    "a factory": lambda d_model, d_head=None: head(filled)(d_model, d_head),
    "a partial": functools.partial(OneProductForAll, dropout=0.1),
}


class NotAModule:
    def __init__(self, d_model, d_head=None):
        self.q_proj, self.k_proj, self.v_proj = (nn.Linear(d_model, d_head or d_model) for _ in range(3))

    def forward(self, x, mask=None):
        return fused(self.q_proj(x), self.k_proj(x), self.v_proj(x), mask)


class Listed(nn.Module):
    def __init__(self, d_model, d_head=None):
        super().__init__()
        self.layers = [nn.Linear(d_model, d_head or d_model) for _ in range(3)]

    def forward(self, x, mask=None):
        return fused(*(layer(x) for layer in self.layers), mask)


class OfLesson2(nn.Module):
    def __init__(self, d_model, d_head=None):
        super().__init__()
        for name in ("W_query", "W_key", "W_value"):
            setattr(self, name, nn.Parameter(torch.randn(d_model, d_head or d_model)))

    def forward(self, x, mask=None):
        return fused(x @ self.W_query, x @ self.W_key, x @ self.W_value, mask)


class KeepsKeys(head(fused)):
    def forward(self, x, mask=None):
        if not hasattr(self, "kept") or self.kept.shape[:2] != x.shape[:2]:
            self.kept = self.k_proj(x).detach().clone()
        return filled(self.q_proj(x), self.kept, self.v_proj(x), mask)


class BufferOf128(head(filled)):
    def __init__(self, d_model, d_head=None):
        super().__init__(d_model, d_head)
        self.register_buffer("open", torch.ones(128, 128, dtype=torch.bool), persistent=False)

    def forward(self, x, mask=None):
        allowed = self.open[: x.shape[1], : x.shape[1]]
        return super().forward(x, allowed if mask is None else mask & allowed)


class ByMultihead(head(fused)):
    def forward(self, x, mask=None):
        width = self.q_proj.out_features
        q, k, v = (part(x).transpose(0, 1) for part in (self.q_proj, self.k_proj, self.v_proj))
        blocked = None if mask is None else ~mask.expand(len(x), x.shape[1], x.shape[1])
        eye, zero = torch.eye(width, dtype=x.dtype), torch.zeros(width, dtype=x.dtype)
        output, _ = F.multi_head_attention_forward(
            q, k, v, width, 1, None, zero.repeat(3), None, None, False, 0.0, eye, zero, need_weights=False,
            attn_mask=blocked, use_separate_proj_weight=True, q_proj_weight=eye, k_proj_weight=eye, v_proj_weight=eye,
        )
        output = output.transpose(0, 1)
        return output if mask is None else torch.where(blocked.all(-1, keepdim=True), 0.0, output)


FILL, SOFTMAX = "scores.masked_fill(~mask, -torch.inf)", "torch.softmax(scores, dim=-1).nan_to_num()"
SCORES, GIVEN = "q @ k.transpose(-2, -1)", "if mask is not None:"
WRONG = {
    "a buffer of 128 tokens": BufferOf128,
    "keeps its first keys": KeepsKeys,
    "nn.MultiheadAttention's function": ByMultihead,
    "not a module": NotAModule,
    "listed": Listed,
    "lesson 02's": OfLesson2,
    "softmax of all, zero, renormalise": {
        FILL: "scores", SOFTMAX: "torch.softmax(scores, dim=-1) * (True if mask is None else mask); "
                                 "weights = weights / weights.sum(-1, keepdim=True).clamp_min(1e-20)"},
    "fills with -1e5": {"-torch.inf": "-1e5", ".nan_to_num()": " * (1 if mask is None else mask)"},
    "keeps the mask": {GIVEN: "mask = self.seen = getattr(self, 'seen', None) if mask is None and x.shape == (2, 5, 3) "
                       "else mask\n        if mask is not None:"},
    "rounded projections": {SCORES: "q.bfloat16().to(x.dtype) @ k.bfloat16().to(x.dtype).transpose(-2, -1)"},
    "softmax before the mask": {FILL: "torch.softmax(scores, -1).masked_fill(~mask, -torch.inf)"},
    "inverted, finite fill": {"~mask, -torch.inf": "mask, -1e9"},
    "no scale, no mask": {"/ math.sqrt(q.shape[-1])": "", GIVEN: "if False:"},
    "causal by default": {GIVEN: "mask = scores[0].isfinite().tril() if mask is None else mask\n        if 1:"},
    "mask given an axis": {"~mask": "~mask.unsqueeze(-3)"},
    "softmax over the samples": {SOFTMAX: "torch.softmax(scores, dim=0).nan_to_num()"},
    "absolute scores": {SOFTMAX: "torch.softmax(scores.abs() * scores.isfinite() + scores.clamp(max=0) * "
                        "scores.isinf(), dim=-1).nan_to_num()"},
    "best key only": {SOFTMAX: "F.one_hot(scores.argmax(-1), scores.shape[-1]).to(x.dtype)"},
    "tanh of the projections": {SCORES: "q.tanh() @ k.tanh().transpose(-2, -1)"},
    "one weight for all three": {"self.k_proj(": "self.q_proj(", "self.v_proj(": "self.q_proj("},
    "first sample's keys": {"self.k_proj(x)": "self.k_proj(x[:1])"},
    "first sample's values": {"weights @ v": "weights @ v[:1]"},
    "values are x": {"weights @ v": "weights @ x"},
    "x normed": {"q = self.q_proj(x)": "x = F.layer_norm(x, x.shape[-1:]); q = self.q_proj(x)"},
    "weights detached": {"weights @ v": "weights.detach() @ v"},
    "dropout in training": {"return output": "return F.dropout(output, 0.2, self.training)"},
    "pooled": {"return output": "return output.mean(dim=1)"},
    "residual if it fits": {"return output": "return output + x if output.shape == x.shape else output"},
    "output transposed": {"return output": "return output.mT.reshape(output.shape)"},
    "all widths one number": {"nn.Linear(d_model, d_head)": "nn.Linear(d_model, 64)"},
    "widths swapped": {"nn.Linear(d_model, d_head)": "nn.Linear(d_head, d_model)"},
    "other names": {"q_proj": "query", "k_proj": "key", "v_proj": "value"},
    "no super().__init__": {"super().__init__()": "pass"},
    "d_head needed": {"d_head=None": "d_head"},
}
