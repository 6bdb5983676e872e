"""Wrong answers to lesson 02, attention as matrix products."""

import math

import torch
from torch import nn

from autograder.exercises.mistakes import from_variants, known
from autograder.exercises.mistakes.loops import _best_only, _unstable


def product_with(keys=None, scale=None, after=None):
    """Scores as one matrix product in which single steps can be made wrong."""

    def answer(q, k):
        scores = q @ (keys(k) if keys else k.transpose(-2, -1))
        scores = scale(scores, q) if scale else scores / math.sqrt(q.shape[-1])
        return after(scores) if after else scores

    return answer


def _lying_down(k):
    return k.reshape(*k.shape[:-2], k.shape[-1], k.shape[-2])


def _all_reversed(k):
    return k.permute(*reversed(range(k.dim())))


def _scores_in_place(q, k):
    q /= math.sqrt(q.shape[-1])
    return q @ k.transpose(-2, -1)


def _scores_across_batch(q, k):
    # Every sample's queries against the first sample's keys: the batch axis is lost on the way.
    flat = q.reshape(-1, q.shape[-1]) @ k.reshape(-1, k.shape[-1])[: k.shape[-2]].T
    return flat.reshape(*q.shape[:-1], k.shape[-2]) / math.sqrt(q.shape[-1])


ATTENTION_SCORES = from_variants(
    product_with,
    {
        "SDPA-01": {"scale": lambda s, q: s},
        "SDPA-03": {"scale": lambda s, q: s * math.sqrt(q.shape[-1])},
        "SDPA-13": {"scale": lambda s, q: s / 8},
        "SDPA-17": {"scale": lambda s, q: s / int(math.sqrt(q.shape[-1]))},
        "SDPA-35": {"scale": lambda s, q: s / q.shape[-1]},
        "SDPA-37": {"scale": lambda s, q: s / math.sqrt(s.shape[-1])},
        "SDPA-47": {"scale": lambda s, q: s / math.sqrt(q.shape[-1]) / math.sqrt(q.shape[-1]) ** 0.5},
        "SDPA-09": {"keys": lambda k: k},
        "SDPA-11": {"keys": lambda k: k.transpose(1, 2)},
        "SDPA-25": {"keys": _lying_down},
        "SDPA-43": {"keys": _all_reversed},
        "SDPA-41": {"after": lambda s: s.transpose(-2, -1)},
        "SDPA-51": {"after": lambda s: torch.softmax(s, dim=-1)},
        "SDPA-49": {"after": lambda s: s.float()},
        "SDPA-29": {"after": torch.detach},
    },
) + (
    known("SDPA-21", _scores_across_batch),
    known("LOOP-19", _scores_in_place),
)


def attention_with(keys=None, scale=None, weigh=None, mix=None, after=None):
    """Scaled dot-product attention in which single steps can be made wrong."""

    def answer(q, k, v):
        scores = q @ (keys(k) if keys else k.transpose(-2, -1))
        scores = scale(scores, q, k, v) if scale else scores / math.sqrt(q.shape[-1])
        weights = weigh(scores) if weigh else torch.softmax(scores, dim=-1)
        output = mix(weights, k, v) if mix else weights @ v
        return after(output) if after else output

    return answer


def _across_batch(q, k, v):
    flat = [x.reshape(-1, x.shape[-1]) for x in (q, k, v)]
    weights = torch.softmax(flat[0] @ flat[1].T / math.sqrt(q.shape[-1]), dim=-1)
    return (weights @ flat[2]).reshape(*q.shape[:-1], v.shape[-1])


def _attention_in_place(q, k, v):
    q *= q.shape[-1] ** -0.5
    return torch.softmax(q @ k.transpose(-2, -1), dim=-1) @ v


SCALES = {
    "SDPA-01": {"scale": lambda s, q, k, v: s},
    "SDPA-03": {"scale": lambda s, q, k, v: s * math.sqrt(q.shape[-1])},
    "SDPA-05": {"scale": lambda s, q, k, v: s / math.sqrt(v.shape[-1])},
    "SDPA-13": {"scale": lambda s, q, k, v: s / 8},
    "SDPA-17": {"scale": lambda s, q, k, v: s / int(math.sqrt(q.shape[-1]))},
    "SDPA-35": {"scale": lambda s, q, k, v: s / q.shape[-1]},
    "SDPA-37": {"scale": lambda s, q, k, v: s / math.sqrt(k.shape[-2])},
}

ATTENTION = from_variants(
    attention_with,
    SCALES
    | {
        "SDPA-09": {"keys": lambda k: k},
        "SDPA-11": {"keys": lambda k: k.transpose(1, 2)},
        "SDPA-25": {"keys": _lying_down},
        "SDPA-43": {"keys": _all_reversed},
        "SDPA-07": {"weigh": lambda s: torch.softmax(s, dim=-2)},
        "SDPA-45": {"weigh": lambda s: torch.softmax(s, dim=1)},
        "SDPA-19": {"weigh": lambda s: torch.softmax(torch.softmax(s, dim=-1), dim=-1)},
        "SDPA-31": {"weigh": lambda s: s},
        "SDPA-39": {"weigh": lambda s: _best_only(s).to(s.dtype)},
        "SMX-01": {"weigh": _unstable},
        "SMX-33": {"weigh": lambda s: torch.log_softmax(s, dim=-1)},
        "SDPA-15": {"mix": lambda w, k, v: w @ k},
        "SDPA-23": {"mix": lambda w, k, v: w},
        "LOOP-17": {"mix": lambda w, k, v: w.transpose(-2, -1) @ v},
        "SDPA-49": {"after": lambda output: output.float()},
        "SDPA-29": {"after": torch.detach},
    },
) + (
    known("SDPA-33", lambda q, k, v: torch.softmax(q @ k.mT, dim=-1) / math.sqrt(q.shape[-1]) @ v),
    known("SDPA-21", _across_batch),
    known("LOOP-19", _attention_in_place),
)


def projections_with(inputs=None, weights=None, after=None):
    """Three projections in which single steps can be made wrong."""

    def answer(x, w_q, w_k, w_v):
        used = weights(w_q, w_k, w_v) if weights else (w_q, w_k, w_v)
        results = inputs(x, *used) if inputs else tuple(x @ w for w in used)
        return after(results) if after else results

    return answer


def _projections_in_place(x, w_q, w_k, w_v):
    x -= x.mean(dim=-1, keepdim=True)
    return x @ w_q, x @ w_k, x @ w_v


def _chained(x, w_q, w_k, w_v):
    q = x @ w_q
    return q, q @ w_k, q @ w_v


PROJECT_QKV = from_variants(
    projections_with,
    {
        "QKV-01": {"after": lambda r: (r[1], r[0], r[2])},
        "QKV-03": {"weights": lambda q, k, v: (q, q, q)},
        "QKV-05": {"weights": lambda q, k, v: (q.T, k.T, v.T)},
        "QKV-07": {"after": list},
        "QKV-09": {"inputs": _chained},
        "QKV-11": {"after": lambda r: r[0]},
        "QKV-13": {"after": lambda r: (r[0], r[2], r[1])},
        "HEAD-09": {"weights": lambda q, k, v: (q, k, k)},
        "HEAD-11": {"after": lambda r: tuple(torch.relu(t) for t in r)},
        "SDPA-49": {"after": lambda r: tuple(t.float() for t in r)},
        "SDPA-29": {"after": lambda r: tuple(t.detach() for t in r)},
        "QKV-15": {"after": lambda r: tuple(t / math.sqrt(t.shape[-1]) for t in r)},
    },
) + (
    known("LOOP-19", _projections_in_place),
    known("QKV-17", lambda x, w_q, w_k, w_v: torch.stack((x @ w_q, x @ w_k, x @ w_v))),
)


def self_attention_with(project=None, scale=None, weigh=None, mix=None, after=None, make=None):
    """A SelfAttention class in which single steps can be made wrong."""

    class SelfAttention(nn.Module):
        def __init__(self, d_in, d_out):
            super().__init__()
            for name in ("W_query", "W_key", "W_value"):
                setattr(self, name, make(d_in, d_out) if make else nn.Parameter(torch.randn(d_in, d_out)))

        def forward(self, x):
            weights = (self.W_query, self.W_key, self.W_value)
            q, k, v = project(x, *weights) if project else tuple(x @ w for w in weights)
            scores = q @ k.transpose(-2, -1)
            scores = scale(scores, x, q) if scale else scores / math.sqrt(q.shape[-1])
            shares = weigh(scores) if weigh else torch.softmax(scores, dim=-1)
            output = mix(shares, k, v) if mix else shares @ v
            return after(output, x) if after else output

    return SelfAttention


class _MadeInForward(self_attention_with()):
    def forward(self, x):
        q, k, v = (x @ torch.randn_like(weight) for weight in (self.W_query, self.W_key, self.W_value))
        return torch.softmax(q @ k.mT / q.shape[-1] ** 0.5, dim=-1) @ v


class _NotATensor(self_attention_with()):
    def forward(self, x):
        super().forward(x)


def _input_in_place(x, w_q, w_k, w_v):
    x *= 1.5
    return x @ w_q / 1.5, x @ w_k / 1.5, x @ w_v / 1.5


class _OneWeight(self_attention_with()):
    def __init__(self, d_in, d_out):
        super().__init__(d_in, d_out)
        self.W_key = self.W_query


SELF_ATTENTION = from_variants(
    self_attention_with,
    {
        "SDPA-01": {"scale": lambda s, x, q: s},
        "SDPA-03": {"scale": lambda s, x, q: s * math.sqrt(q.shape[-1])},
        "HEAD-03": {"scale": lambda s, x, q: s / math.sqrt(x.shape[-1])},
        "SDPA-13": {"scale": lambda s, x, q: s / 8},
        "SDPA-17": {"scale": lambda s, x, q: s / int(math.sqrt(q.shape[-1]))},
        "SDPA-35": {"scale": lambda s, x, q: s / q.shape[-1]},
        "SDPA-37": {"scale": lambda s, x, q: s / math.sqrt(x.shape[-2])},
        "SDPA-07": {"weigh": lambda s: torch.softmax(s, dim=-2)},
        "SDPA-45": {"weigh": lambda s: torch.softmax(s, dim=1)},
        "SDPA-31": {"weigh": lambda s: s},
        "SDPA-15": {"mix": lambda w, k, v: w @ k},
        "SDPA-23": {"mix": lambda w, k, v: w},
        "SDPA-41": {"project": lambda x, q, k, v: (x @ k, x @ q, x @ v)},
        "HEAD-09": {"project": lambda x, q, k, v: (x @ q, x @ q, x @ v)},
        "HEAD-11": {"project": lambda x, q, k, v: (torch.relu(x @ q), torch.relu(x @ k), torch.relu(x @ v))},
        "HEAD-15": {"project": lambda x, q, k, v: (x @ q.detach(), x @ k.detach(), x @ v)},
        "QKV-05": {"project": lambda x, q, k, v: (x @ q.T, x @ k.T, x @ v.T)},
        "LOOP-19": {"project": _input_in_place},
        "HEAD-19": {"make": lambda d_in, d_out: nn.Parameter(torch.randn(d_out, d_in))},
        "HEAD-07": {"make": lambda d_in, d_out: torch.randn(d_in, d_out)},
        "HEAD-23": {"make": lambda d_in, d_out: nn.Linear(d_in, d_out, bias=False)},
        "HEAD-21": {"after": lambda output, x: output + x.mean(dim=-1, keepdim=True)},
        "SDPA-49": {"after": lambda output, x: output.float()},
    },
) + (
    known("HEAD-09", _OneWeight),
    known("HEAD-01", _MadeInForward),
    known("HEAD-13", _NotATensor),
)
