"""Wrong answers to lesson 02, each by the one family of cases that catches it: `ALONE` by exercise id and family.

`NAMED`: other wrong answers, each by a family without which the message could not say what is wrong.
"""

import torch
from torch import nn


def _scores(q, k):
    return q @ k.mT / q.shape[-1] ** 0.5


def _scores_of_a_batch(q, k):
    samples, _, width = q.flatten(0, -3).shape
    table = torch.bmm(q.reshape(samples, -1, width), k.reshape(samples, -1, width).transpose(1, 2))
    return table.reshape(*q.shape[:-1], k.shape[-2]) / width**0.5


def _scores_of_as_many_keys_as_queries(q, k):
    scores = _scores(q, k)
    if q.dim() == 4:
        samples, heads, tokens, _ = q.shape
        return scores.flatten(0, 1).view(samples, heads, tokens, tokens)
    return scores


def _keys_turned_where_they_do_not_fit(q, k):
    try:
        scores = q @ k
    except RuntimeError:
        scores = q @ k.mT
    return scores / q.shape[-1] ** 0.5


def _heads_looked_for(q, k):
    # "Tokens stand before heads if the second axis is as long as the third."
    turned = q.dim() == 4 and q.shape[1] == q.shape[2]
    return _scores(q.transpose(1, 2), k.transpose(1, 2)).transpose(1, 2) if turned else _scores(q, k)


def _scores_of_a_view(q, k):
    return _scores(q.view(-1).view(q.shape), k)


def _attention(q, k, v, scores=_scores):
    return torch.softmax(scores(q, k), dim=-1) @ v


def _batches_only(q, k, v):
    return torch.softmax(torch.einsum("b...nd,b...md->b...nm", q, k) / q.shape[-1] ** 0.5, dim=-1) @ v


def _four_axes_as_three(q, k, v):
    flat = (t.flatten(0, 1) if t.dim() == 4 and t.shape[1] != t.shape[2] else t for t in (q, k, v))
    return _attention(*flat)


def _heads_looked_for_in_attention(q, k, v):
    if q.dim() == 4 and q.shape[1] == q.shape[2]:
        return _attention(*(t.transpose(1, 2) for t in (q, k, v))).transpose(1, 2)
    return _attention(q, k, v)


def _projected(x, *weights):
    return tuple(x @ weight for weight in weights)


def _left_where_it_fits(x, *weights):
    return tuple(weight @ x if weight.shape[1] == x.shape[-2] else x @ weight for weight in weights)


def _one_axis_in_front(x, *weights):
    flat = x.reshape(-1, *x.shape[-2:])
    return tuple((flat @ weight if x.dim() > 2 else x @ weight) for weight in weights)


class _SelfAttention(nn.Module):
    def __init__(self, d_in, d_out):
        super().__init__()
        self.W_query, self.W_key, self.W_value = (nn.Parameter(torch.rand(d_in, d_out)) for _ in range(3))

    def forward(self, x):
        return _attention(*_projected(x, self.W_query, self.W_key, self.W_value))


class _OneAxisInFront(_SelfAttention):
    def forward(self, x):
        return super().forward(x.reshape(-1, *x.shape[-2:]) if x.dim() > 2 else x)


class _WeightsTurnedWhereTheyFit(_SelfAttention):
    def forward(self, x):
        square = self.W_query.shape[0] == x.shape[-2] == x.shape[-1] == len(x)
        weights = (self.W_query, self.W_key, self.W_value)
        return _attention(*_projected(x, *(w.T if square else w for w in weights)))


class _Squeezed(_SelfAttention):
    def forward(self, x):
        return super().forward(x).squeeze()


class _KeptByShape(_SelfAttention):
    def __init__(self, d_in, d_out):
        super().__init__(d_in, d_out)
        self.kept = {}

    def forward(self, x):
        if self.training:
            return super().forward(x)
        if x.shape not in self.kept:
            self.kept[x.shape] = super().forward(x)
        return self.kept[x.shape]


ALONE = {
    "matmul.attention_scores": {
        "all sizes different": _scores_of_a_batch,
        "batch and heads": _scores_of_as_many_keys_as_queries,
        "a batch as long as its sentences": _keys_turned_where_they_do_not_fit,
        "as many heads as tokens": _heads_looked_for,
        "one of everything": lambda q, k: _scores(q, k).squeeze(),
        "columns in memory order": _scores_of_a_view,
        "large entries": lambda q, k: _scores(q, k).clamp(-50.0, 50.0),
    },
    "matmul.attention": {
        "all sizes different": _batches_only,
        "batch and heads": _four_axes_as_three,
        "a batch as long as its sentences": lambda q, k, v: _attention(
            q, k, v, _keys_turned_where_they_do_not_fit
        ),
        "as many heads as tokens": _heads_looked_for_in_attention,
        "one of everything": lambda q, k, v: _attention(q, k, v).squeeze(),
        "columns in memory order": lambda q, k, v: _attention(q, k, v, _scores_of_a_view),
    },
    "matmul.project_qkv": {
        "batch, groups, tokens": _one_axis_in_front,
        "all sizes equal": _left_where_it_fits,
        "one of everything": lambda x, *weights: tuple(one.squeeze() for one in _projected(x, *weights)),
        "columns in memory order": lambda x, *weights: _projected(x.view(-1).view(x.shape), *weights),
    },
    "matmul.SelfAttention": {
        "a batch": _KeptByShape,
        "other weights in the same module": _KeptByShape,
        "batch, groups, tokens": _OneAxisInFront,
        "all sizes equal": _WeightsTurnedWhereTheyFit,
        "one of everything": _Squeezed,
    },
}
NAMED = {
    "matmul.attention": {"values that show the weights": "scale_from_all_numbers"},
    "matmul.project_qkv": {"weights that change nothing": "with_tanh"},
    "matmul.SelfAttention": {"values that show the weights": "ScaledAfterSoftmax"},
}
