"""Wrong answers to lesson 01, each by the one family of cases that catches it: `ALONE` by exercise id and family.

`NAMED`: other wrong answers, each by a family without which the message could not say what is wrong.
"""

import torch


def _table(rows):
    return torch.stack([torch.stack(row) for row in rows])


def _scores_of_as_many_features_as_tokens(x):
    return _table([[a[: len(x)] @ b[: len(x)] for b in x] for a in x])


def _columns_where_they_fit(x):
    others = x.T if x.shape[0] == x.shape[1] else x
    return _table([[a @ b for b in others] for a in x])


def _squeezed_scores(x):
    return _table([[a @ b for b in x] for a in x]).squeeze()


def _scores_of_a_view(x):
    n, flat = x.shape[1], x.view(-1)
    return _table(
        [[flat[i * n : i * n + n] @ flat[j * n : j * n + n] for j in range(len(x))] for i in range(len(x))]
    )


def _scores_kept_small(x):
    return _table([[(a @ b).clamp(-50.0, 50.0) for b in x] for a in x])


def _shares(scores):
    e = torch.exp(scores - scores.amax(-1, keepdim=True))
    return e / e.sum(-1, keepdim=True)


def _shares_of_columns_turned(scores):
    e = torch.exp(scores.mT - scores.amax(-1).unsqueeze(-2))
    return (e / e.sum(-2).unsqueeze(-2)).mT


def _shares_over_the_second_axis_of_many(scores):
    return _shares(scores) if scores.dim() < 3 else _shares(scores.mT).mT


def _shares_of_a_view(scores):
    return _shares(scores.view(-1).view(scores.shape))


def _sum(weights, values):
    return torch.stack([sum(w * v for w, v in zip(row, values, strict=True)) for row in weights])


def _columns_of_square_weights(weights, values):
    # "The keys come first": also where the first axis is the queries and happens to be as long.
    return _sum(weights.T if len(weights) == len(values) else weights, values)


def _sum_over_a_view(weights, values):
    flat, width = values.view(-1), values.shape[1]
    rows = [flat[j * width : (j + 1) * width] for j in range(len(values))]
    return torch.stack([sum(w * v for w, v in zip(row, rows, strict=True)) for row in weights])


def _mean_of_shares(weights, values):
    return _sum(weights.clamp(min=0.0), values)


def _attention(q, k, v, scores=None):
    scores = scores or (lambda q, k: _table([[a @ b for b in k] for a in q]) / q.shape[1] ** 0.5)
    return _sum(torch.softmax(scores(q, k), dim=-1), v)


def _as_many_queries_as_keys(q, k, v):
    output = torch.zeros(len(q), v.shape[1])
    for i, (query, _) in enumerate(zip(q, k, strict=False)):
        output[i] = _attention(query[None], k, v)[0]
    return output


def _keys_by_columns_where_they_fit(q, k, v):
    return _attention(q, k.T if k.shape[0] == k.shape[1] else k, v)


def _attention_on_a_view(q, k, v):
    return _attention(q, k.view(-1).reshape(k.shape), v)


ALONE = {
    "loops.dot_product_scores": {
        "more features than tokens": _scores_of_as_many_features_as_tokens,
        "as many tokens as features": _columns_where_they_fit,
        "one token of one feature": _squeezed_scores,
        "columns in memory order": _scores_of_a_view,
        "large entries": _scores_kept_small,
    },
    "loops.softmax": {
        "one row": _shares_of_columns_turned,
        "batch, heads, table": _shares_over_the_second_axis_of_many,
        "one row of one key": lambda scores: _shares(scores).squeeze(),
        "rows and columns swapped in memory": _shares_of_a_view,
    },
    "loops.weighted_sum": {
        "all sizes equal": _columns_of_square_weights,
        "any weights": _mean_of_shares,
        "one of everything": lambda weights, values: _sum(weights, values).squeeze(),
        "columns in memory order": _sum_over_a_view,
    },
    "loops.attention_from_loops": {
        "more queries than keys": _as_many_queries_as_keys,
        "all sizes equal": _keys_by_columns_where_they_fit,
        "one of everything": lambda q, k, v: _attention(q, k, v).squeeze(),
        "columns in memory order": _attention_on_a_view,
    },
}
NAMED = {
    "loops.weighted_sum": {
        "all sizes different": "squared_weights",
        "weights that pick one value each": "squared_weights",
    },
}
