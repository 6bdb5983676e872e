"""Answers to masking.masked_attention."""

import functools
import math

import numpy as np
import torch
import torch.nn.functional as F
from torch import nn

LOW = float("-inf")


def zeroed_after(q, k, v, mask=None):
    scores = q @ k.transpose(-2, -1) / math.sqrt(q.shape[-1])
    if mask is None:
        return torch.softmax(scores, dim=-1) @ v
    return torch.softmax(scores.masked_fill(~mask, LOW), dim=-1).masked_fill(~mask, 0.0) @ v


def lowest_number(q, k, v, mask=None):
    scores = torch.einsum("...nd,...md->...nm", q, k) / q.shape[-1] ** 0.5
    if mask is None:
        return torch.einsum("...nm,...me->...ne", scores.softmax(-1), v)
    scores = torch.where(mask, scores, torch.finfo(scores.dtype).min)
    return torch.einsum("...nm,...me->...ne", scores.softmax(-1) * mask.any(dim=-1, keepdim=True), v)


def maximum_of_allowed(q, k, v, mask=None):
    scores = (q * k.shape[-1] ** -0.25) @ (k * k.shape[-1] ** -0.25).transpose(-2, -1)
    mask = torch.ones_like(scores, dtype=torch.bool) if mask is None else mask.expand_as(scores)
    top = scores.masked_fill(~mask, LOW).amax(-1, keepdim=True)
    top = torch.where(top.isinf(), torch.zeros_like(top), top).detach()
    grown = torch.exp((scores - top).masked_fill(~mask, LOW))
    return grown / grown.sum(-1, keepdim=True).clamp_min(1e-20) @ v


def added_bias(q, k, v, mask=None):
    scores = q @ k.transpose(-2, -1) / math.sqrt(q.shape[-1])
    if mask is None:
        return scores.softmax(dim=-1) @ v
    nothing = ~mask.any(dim=-1, keepdim=True)
    bias = torch.zeros(mask.shape, dtype=q.dtype).masked_fill(~(mask | nothing), LOW)
    return (scores + bias).softmax(dim=-1).masked_fill(nothing, 0) @ v


def big_number_added(q, k, v, mask=None):
    scores = q @ k.transpose(-2, -1) / math.sqrt(q.shape[-1])
    if mask is not None:
        scores = scores + (1.0 - mask.to(scores.dtype)) * -1e30
    weights = torch.softmax(scores, dim=-1)
    return (weights if mask is None else weights * mask) @ v


def output_zeroed(q, k, v, mask=None):
    scores = q @ k.transpose(-2, -1) / math.sqrt(q.shape[-1])
    if mask is None:
        return torch.softmax(scores, -1) @ v
    empty = ~mask.any(-1, keepdim=True)
    return (torch.softmax(scores.masked_fill(~mask & ~empty, LOW), -1) @ v).masked_fill(empty, 0.0)


def indexed_fill(q, k, v, mask=None):
    scores = torch.matmul(q, k.transpose(-2, -1))
    scores /= math.sqrt(q.shape[-1])
    if mask is not None:
        scores[torch.broadcast_to(mask, scores.shape).logical_not()] = LOW
    weights = scores.softmax(dim=-1)
    return torch.where(torch.isnan(weights), 0, weights) @ v


def only_allowed_keys(q, k, v, mask=None):
    shape = (*q.shape[:-1], k.shape[-2])
    mask = torch.ones(shape, dtype=torch.bool) if mask is None else mask.expand(shape)
    flat, rows = [t.reshape(-1, *t.shape[-2:]) for t in (q, k, v, mask)], []
    for sample_q, sample_k, sample_v, sample_mask in zip(*flat, strict=True):
        for query, allowed in zip(sample_q, sample_mask, strict=True):
            weights = torch.softmax(sample_k[allowed] @ query / math.sqrt(len(query)), 0)
            rows.append(weights @ sample_v[allowed] if allowed.any() else torch.zeros(v.shape[-1], dtype=v.dtype))
    return torch.stack(rows).view(*q.shape[:-1], v.shape[-1])


def query_by_query(q, k, v, mask=None):
    scores = q @ k.transpose(-2, -1) / q.shape[-1] ** 0.5
    mask = torch.broadcast_to(torch.tensor(True) if mask is None else mask, scores.shape)
    rows = []
    for i in range(q.shape[-2]):
        weights = torch.softmax(scores[..., i, :].masked_fill(~mask[..., i, :], LOW), dim=-1).nan_to_num(0.0)
        rows.append((weights.unsqueeze(-1) * v).sum(dim=-2))
    return torch.stack(rows, dim=-2)


def mapped_over_samples(q, k, v, mask=None):
    def one(q, k, v, mask):
        scores = (q @ k.T / q.shape[-1] ** 0.5).masked_fill(~mask, LOW)
        return torch.softmax(scores, -1).nan_to_num() @ v

    mask = (torch.tensor(True) if mask is None else mask).expand(*q.shape[:-1], k.shape[-2])
    for _ in range(q.dim() - 2):
        one = torch.vmap(one)
    return one(q, k, v, mask)


def by_baddbmm(q, k, v, mask=None):
    n, m = q.shape[-2], k.shape[-2]
    a, b, c = (t.reshape(-1, *t.shape[-2:]) for t in (q, k, v))
    bias = torch.zeros(*q.shape[:-2], n, m, dtype=q.dtype)
    if mask is not None:
        bias = bias.masked_fill(~mask, torch.finfo(q.dtype).min / 2)
    bias = bias.reshape(-1, n, m)
    weights = torch.baddbmm(bias, a, b.mT, alpha=q.shape[-1] ** -0.5).softmax(-1).masked_fill(bias < 0, 0)
    return torch.bmm(weights, c).reshape(*q.shape[:-1], v.shape[-1])


def by_logsumexp(q, k, v, mask=None):
    scores = q @ k.mT / math.sqrt(q.shape[-1])
    if mask is None:
        return torch.exp(scores - scores.logsumexp(-1, keepdim=True)) @ v
    scores = scores.masked_fill(~mask, -1e30)
    return (torch.exp(scores - scores.logsumexp(-1, keepdim=True)) * mask) @ v


def one_more_key(q, k, v, mask=None):
    """An extra key with the score -1e38, which gets all the weight if every other key is blocked."""
    scores = q @ k.mT / math.sqrt(q.shape[-1])
    if mask is not None:
        scores = scores.masked_fill(~mask, LOW)
    scores = torch.cat([scores, torch.full_like(scores[..., :1], -1e38)], dim=-1)
    return torch.softmax(scores, dim=-1)[..., :-1] @ v


class MaskedAttention(nn.Module):
    """The softmax as a submodule."""

    def __init__(self):
        super().__init__()
        self.softmax = nn.Softmax(dim=-1)

    def forward(self, q, k, v, mask=None, verbose=True):
        scores = q @ k.transpose(-2, -1) / math.sqrt(q.size(-1))
        if mask is not None:
            scores = scores.masked_fill(mask == 0, LOW)
        print(scores)
        return self.softmax(scores).nan_to_num() @ v


def by_keyword_only(q, k, v, *, mask=None, scale=None):
    scores = q @ k.mT * (scale or q.shape[-1] ** -0.5)
    if mask is not None:
        scores = torch.masked_fill(scores, mask ^ True, LOW)
    return torch.nan_to_num(F.softmax(scores, -1), nan=0.0) @ v


def any_way(q, k, v, mask=None, attend=by_keyword_only):
    return attend(q.double(), k.double(), v.double(), mask=mask).to(q.dtype)


def exponentials_of_all(q, k, v, mask=None):
    scores = q @ k.mT / math.sqrt(q.shape[-1])
    grown = torch.exp(scores - scores.amax(dim=-1, keepdim=True).detach())
    grown = grown if mask is None else grown * mask
    total = grown.sum(dim=-1, keepdim=True)
    return (grown / torch.where(total == 0, 1.0, total)) @ v


def exponentials_before_the_mask(q, k, v, mask=None):
    scores = q @ k.mT / math.sqrt(q.shape[-1])
    mask = torch.ones_like(scores, dtype=torch.bool) if mask is None else mask.expand_as(scores)
    some = mask.any(dim=-1, keepdim=True)
    top = torch.where(mask, scores, LOW).amax(dim=-1, keepdim=True)
    grown = torch.where(mask, torch.exp(scores - torch.where(some, top, 0.0).detach()), 0.0)
    return grown / torch.where(some, grown.sum(dim=-1, keepdim=True), 1.0) @ v


def mask_on_values(q, k, v, mask=None):
    weights = torch.softmax(q @ k.mT / math.sqrt(q.shape[-1]), -1)
    return weights @ (v if mask is None else v * mask.expand_as(weights).all(-2)[..., None])


REMEMBERED = {}


def mask_kept_by_shape(q, k, v, mask=None):
    if mask is not None:
        mask = REMEMBERED.setdefault((tuple(mask.shape), q.dtype), mask)
    return zeroed_after(q, k, v, mask)


def through_numpy(q, k, v, mask=None):
    scores = (q @ k.mT / math.sqrt(q.shape[-1])).detach().numpy()
    scores = scores if mask is None else np.where(mask.numpy(), scores, -np.inf)
    return torch.softmax(torch.from_numpy(scores), -1).nan_to_num() @ v


def fused(q, k, v, mask=None):
    return getattr(F, "_".join(["scaled", "dot", "product", "attention"]))(q, k, v, mask)


RIGHT = {
    "fill, zero after": zeroed_after,
    "where finfo.min, any": lowest_number,
    "maximum of the allowed": maximum_of_allowed,
    "adds 0/-inf": added_bias,
    "adds a big number": big_number_added,
    "zeroes the output": output_zeroed,
    "in place on its own scores": indexed_fill,
    "only the allowed keys": only_allowed_keys,
    "a loop over queries": query_by_query,
    "vmap": mapped_over_samples,
    "baddbmm": by_baddbmm,
    "logsumexp": by_logsumexp,
    "one more key": one_more_key,
    "a module": MaskedAttention(),
    "keyword only": functools.partial(any_way, attend=by_keyword_only),
}
FILL, ALLOW = "scores.masked_fill(~mask, -torch.inf)", "if mask is not None:"
WEIGHTS, CLEAN, LAST = "torch.softmax(scores, dim=-1).nan_to_num()", ".nan_to_num()", "return output"
ALL, ANY = "(True if mask is None else mask)", "(1 if mask is None else mask.any(dim=-1, keepdim=True))"
ZEROED = {CLEAN: f" * {ANY}"}
WRONG = {
    "softmax of all, zero, renormalise": {
        FILL: "scores", CLEAN: f" * {ALL}; weights = weights / weights.sum(-1, keepdim=True).clamp(min=1e-30)"},
    "exponentials of all": exponentials_of_all,
    "exponentials before the mask": exponentials_before_the_mask,
    "adds -1e5": {FILL: "scores + ~mask * -1e5"} | ZEROED,
    "float32 lowest number": {
        FILL: "scores + torch.where(mask, torch.tensor(0.0), torch.tensor(torch.finfo(scores.dtype).min))",
        CLEAN: f"{CLEAN} * {ANY}"},
    "fills with -1e5": {"-torch.inf": "-1e5"} | ZEROED,
    "fills with -1000": {"-torch.inf": "-1000.0"} | ZEROED,
    "fills with -50": {"-torch.inf": "-50.0"} | ZEROED,
    "fill before the scale": {"scores / math": "scores.masked_fill(~torch.as_tensor(True if mask is None else mask), "
                              "-1e4) / math", FILL: "scores"},
    "subtracts 100": {FILL: "scores - 100.0 * ~mask"} | ZEROED,
    "fills with finfo.min": {"-torch.inf": "torch.finfo(scores.dtype).min"},
    "log of the mask": {FILL: "scores + mask.to(scores.dtype).log()"},
    "NaN scores cleaned": {FILL: f"{FILL}.nan_to_num()"},
    "all-False mask ignored": {ALLOW: "if mask is not None and mask.any():"},
    "empty rows uniform": {CLEAN: ".nan_to_num(1.0 / k.shape[-2])"},
    "an empty sample zeroed": {"-torch.inf": "-1e9", LAST: f"return output * torch.as_tensor({ALL}).any()"},
    "first 128 keys masked": {ALLOW: "if mask is not None and k.shape[-2] <= 128:"},
    "first 256 keys seen": {"q @ k.transpose(-2, -1)": "q @ k[..., :256, :].transpose(-2, -1)",
                            "~mask": "~mask[..., :256]", "weights @ v": "weights @ v[..., :256, :]"},
    "fill forgotten": {f"scores = {FILL}": FILL},
    "times the mask": {FILL: "scores * mask"},
    "inverted, finite fill": {"~mask, -torch.inf": "mask, -1e9"},
    "inverted, no scale": {"~mask": "mask", "/ math.sqrt(q.shape[-1])": ""},
    "positive scores only": {FILL: "(scores * mask).masked_fill(scores * mask <= 0, -torch.inf)"},
    "softmax twice": {FILL: "torch.softmax(scores, -1).masked_fill(~mask, -torch.inf)"},
    "renormalised over queries": {
        FILL: "scores", CLEAN: f" * {ALL}; weights = weights / weights.sum(-2, keepdim=True).clamp(min=1e-9)"},
    "softmax over the table": {WEIGHTS: "scores.flatten(-2).softmax(-1).view_as(scores).nan_to_num()"},
    "softmax over the samples": {WEIGHTS: "torch.softmax(scores, dim=0).nan_to_num()"},
    "sigmoid": {WEIGHTS: "torch.sigmoid(scores)"},
    "an epsilon": {CLEAN: f"{CLEAN} / 1.01"},
    "dropout": {CLEAN: f"{CLEAN}; weights = torch.dropout(weights, 0.1, True)"},
    "first row for all": {"~mask": "~mask[..., :1, :]"},
    "transposed if square": {"~mask": "~(mask.mT if mask.dim() > 1 and mask.shape[-1] == mask.shape[-2] else mask)"},
    "causal by default": {ALLOW: "mask = scores[0, 0].isfinite().tril() if mask is None else mask\n    if 1:"},
    "output transposed": {LAST: "return output.mT.reshape(output.shape)"},
    "mask on the values": mask_on_values,
    "mask kept by shape": mask_kept_by_shape,
    "in place on the weights": {CLEAN: "; weights[weights.isnan()] = 0.0"},
    "detached keys": {"q @ k": "q @ k.detach()"},
    "detached keys, all-False mask ignored": {"q @ k": "q @ k.detach()", ALLOW: "if mask is not None and mask.any():"},
    "NumPy": through_numpy,
    "float32 on the way": {"q @ k": "q.float() @ k.float()", "weights @ v": "weights @ v.float()"},
    "mask by another name": {"mask=None": "attn_mask=None", ALLOW: "mask = attn_mask\n    if mask is not None:"},
    "no mask argument": {", mask=None": "", ALLOW: "if False:"},
    "fused, hidden name": fused,
    "fused, torch.ops": lambda q, k, v, mask=None: torch.ops.aten.scaled_dot_product_attention(q, k, v, mask),
}
