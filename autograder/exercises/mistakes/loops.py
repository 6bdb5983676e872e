"""Wrong answers to lesson 01, attention from loops."""

import math

import torch

from autograder.exercises.mistakes import from_variants, known


def scores_with(pair=None, keys=None, dtype=None, reset=True, after=None):
    """A table of dot products by loops in which single steps can be made wrong."""

    def answer(x):
        table = torch.zeros(len(x), len(x), dtype=dtype or torch.float32)
        total = 0
        for i in range(len(x)):
            for j in keys(i, x) if keys else range(len(x)):
                product = pair(x, i, j) if pair else (x[i] * x[j]).sum()
                total = product if reset else total + product
                table[i, j] = total
        return after(table, x) if after else table

    return answer


def _scores_in_place(x):
    x /= x.shape[1] ** 0.5
    return torch.stack([(x * row).sum(-1) for row in x]) * x.shape[1]


def _scores_over_features(x):
    table = torch.zeros(len(x), len(x))
    for i in range(x.shape[1]):
        for j in range(x.shape[1]):
            table[i, j] = x[i] @ x[j]
    return table


def _scores_of_six(x):
    table = torch.zeros(6, 6)
    for i in range(6):
        for j in range(6):
            table[i, j] = x[i] @ x[j]
    return table


def _scores_as_numbers(x):
    return torch.tensor([[float(x[i] @ x[j]) for j in range(len(x))] for i in range(len(x))])


def _scores_as_list(x):
    return [[x[i] @ x[j] for j in range(len(x))] for i in range(len(x))]


def _total_reset_by_row(x):
    table = torch.zeros(len(x), len(x))
    for i in range(len(x)):
        total = 0
        for j in range(len(x)):
            total = total + x[i] @ x[j]
            table[i, j] = total
    return table


DOT_PRODUCT_SCORES = from_variants(
    scores_with,
    {
        "LOOP-01": {"pair": lambda x, i, j: x[i] @ x[i]},
        "LOOP-03": {"keys": lambda i, x: range(len(x) - 1)},
        "LOOP-05": {"keys": lambda i, x: range(i, len(x))},
        "LOOP-07": {"reset": False},
        "LOOP-13": {"pair": lambda x, i, j: torch.cosine_similarity(x[i], x[j], dim=0)},
        "LOOP-15": {"dtype": torch.long},
        "LOOP-23": {"after": lambda table, x: table / x.shape[1] ** 0.5},
        "LOOP-25": {"keys": lambda i, x: [j for j in range(len(x)) if j != i]},
        "LOOP-27": {"pair": lambda x, i, j: (x[i] - x[j]).norm()},
        "LOOP-31": {"pair": lambda x, i, j: sum(x[i, f] * x[j, f] for f in range(x.shape[1] - 1))},
    },
) + (
    known("LOOP-05", scores_with(keys=lambda i, x: range(i + 1))),
    known("LOOP-07", _total_reset_by_row),
    known("LOOP-15", scores_with(dtype=torch.int32)),
    known("LOOP-27", scores_with(pair=lambda x, i, j: (x[i] - x[j]).square().sum())),
    known("LOOP-35", scores_with(pair=lambda x, i, j: x[i, -1] * x[j, -1])),
    known("LOOP-09", _scores_over_features),
    known("LOOP-11", _scores_of_six),
    known("LOOP-19", _scores_in_place),
    known("LOOP-29", _scores_as_numbers),
    known("LOOP-33", _scores_as_list),
)


def softmax_with(shift=None, grow=torch.exp, total=None, after=None):
    """Softmax by hand in which single steps can be made wrong."""

    def answer(scores):
        moved = scores - (shift(scores) if shift else scores.max(dim=-1, keepdim=True).values)
        grown = grow(moved)
        result = grown / (total(grown) if total else grown.sum(dim=-1, keepdim=True))
        return after(result) if after else result

    return answer


def _softmax_over(axis):
    def answer(scores):
        grown = torch.exp(scores - scores.amax(dim=axis, keepdim=True))
        return grown / grown.sum(dim=axis, keepdim=True)

    return answer


def _softmax_in_place(scores):
    scores -= scores.amax(dim=-1, keepdim=True)
    grown = torch.exp(scores)
    return grown / grown.sum(dim=-1, keepdim=True)


def _softmax_clamped(scores):
    grown = torch.exp(scores.clamp(-80, 80))
    return grown / grown.sum(dim=-1, keepdim=True)


SOFTMAX = from_variants(
    softmax_with,
    {
        "SMX-01": {"shift": lambda s: 0.0},
        "SMX-03": {"shift": lambda s: s.amax(dim=0, keepdim=True)},
        "SMX-05": {"total": lambda g: g.sum(dim=-1)},
        "SMX-09": {"shift": lambda s: s.mean(dim=-1, keepdim=True)},
        "SMX-11": {"total": lambda g: g.sum(dim=-1, keepdim=True) + 1e-3},
        "SMX-15": {"grow": torch.exp2},
        "SMX-21": {"total": lambda g: g.sum()},
        "SMX-23": {"shift": lambda s: s.max()},
        "SMX-27": {"total": lambda g: 1.0},
        "SMX-33": {"after": torch.log},
        "SMX-19": {"after": torch.detach},
    },
) + (
    known("SMX-07", _softmax_over(0)),
    known("SMX-13", lambda scores: scores / scores.sum(dim=-1, keepdim=True)),
    known("SMX-29", lambda scores: softmax_with()(-scores)),
    known("SMX-31", _softmax_clamped),
    known("SMX-35", torch.sigmoid),
    known("LOOP-19", _softmax_in_place),
)


def sum_with(weight=None, value=None, keys=None, reset=True, keep=True, dtype=None, before=None, after=None):
    """A weighted sum by loops in which single steps can be made wrong."""

    def answer(weights, values):
        weights = before(weights) if before else weights
        result = torch.zeros(weights.shape[0], values.shape[1], dtype=dtype or torch.float32)
        total = torch.zeros(values.shape[1])
        for i in range(weights.shape[0]):
            total = torch.zeros(values.shape[1]) if reset else total
            for j in keys(values) if keys else range(values.shape[0]):
                term = (weight(weights, i, j) if weight else weights[i, j]) * values[
                    value(i, j) if value else j
                ]
                total = total + term if keep else term
            result[i] = total
        return after(result, values) if after else result

    return answer


def _sum_in_place(weights, values):
    rows = []
    for row in weights:
        row /= row.sum()
        rows.append(sum(w * v for w, v in zip(row, values, strict=True)))
    return torch.stack(rows)


def _sum_of_six(weights, values):
    return torch.stack([sum(weights[i, j] * values[j] for j in range(6)) for i in range(6)])


WEIGHTED_SUM = from_variants(
    sum_with,
    {
        "LOOP-17": {"weight": lambda w, i, j: w[j, i]},
        "LOOP-03": {"keys": lambda values: range(len(values) - 1)},
        "LOOP-07": {"reset": False},
        "LOOP-09": {"keys": lambda values: range(values.shape[1])},
        "LOOP-15": {"dtype": torch.long},
        "LOOP-35": {"keep": False},
        "LOOP-37": {"after": lambda result, values: result / len(values)},
        "LOOP-39": {"before": lambda weights: weights / weights.sum(dim=-1, keepdim=True)},
        "LOOP-41": {"before": lambda weights: torch.softmax(weights, dim=-1)},
        "LOOP-43": {"value": lambda i, j: i},
        "LOOP-29": {"after": lambda result, values: torch.tensor(result.tolist())},
    },
) + (
    known("LOOP-11", _sum_of_six),
    known("LOOP-19", _sum_in_place),
    known(
        "LOOP-33",
        lambda weights, values: [sum(w * v for w, v in zip(row, values, strict=True)) for row in weights],
    ),
)


def attention_with(pair=None, scale=None, weigh=None, mix=None, keys=None):
    """Attention by loops in which single steps can be made wrong."""

    def answer(q, k, v):
        count = keys(q, k) if keys else k.shape[0]
        table = torch.stack(
            [
                torch.stack([pair(q, k, i, j) if pair else q[i] @ k[j] for j in range(count)])
                for i in range(q.shape[0])
            ]
        )
        table = scale(table, q, v) if scale else table / math.sqrt(q.shape[1])
        weights = weigh(table) if weigh else torch.softmax(table, dim=-1)
        if mix:
            return mix(weights, k, v)
        return torch.stack([sum(w * x for w, x in zip(row, v, strict=False)) for row in weights])

    return answer


def _unstable(table):
    grown = torch.exp(table)
    return grown / grown.sum(dim=-1, keepdim=True)


def _mix_by_column(weights, k, v):
    return torch.stack([sum(weights[j, i] * v[j] for j in range(len(v))) for i in range(len(weights))])


def _mix_last(weights, k, v):
    return torch.stack([row[-1] * v[-1] for row in weights])


def _best_only(table):
    return torch.nn.functional.one_hot(table.argmax(dim=-1), table.shape[-1]).float()


def _attention_in_place(q, k, v):
    q *= q.shape[1] ** -0.5
    return attention_with(scale=lambda table, q, v: table)(q, k, v)


ATTENTION_FROM_LOOPS = from_variants(
    attention_with,
    {
        "SDPA-01": {"scale": lambda table, q, v: table},
        "SDPA-03": {"scale": lambda table, q, v: table * math.sqrt(q.shape[1])},
        "SDPA-05": {"scale": lambda table, q, v: table / math.sqrt(v.shape[1])},
        "SDPA-13": {"scale": lambda table, q, v: table / 2},
        "SDPA-17": {"scale": lambda table, q, v: table / math.isqrt(q.shape[1])},
        "SDPA-35": {"scale": lambda table, q, v: table / q.shape[1]},
        "SDPA-37": {"scale": lambda table, q, v: table / math.sqrt(table.shape[1])},
        "SDPA-07": {"weigh": lambda table: torch.softmax(table, dim=0)},
        "SDPA-19": {"weigh": lambda table: torch.softmax(torch.softmax(table, dim=-1), dim=-1)},
        "SDPA-31": {"weigh": lambda table: table},
        "SDPA-39": {"weigh": _best_only},
        "SMX-01": {"weigh": _unstable},
        "SMX-33": {"weigh": lambda table: torch.log_softmax(table, dim=-1)},
        "SDPA-15": {
            "mix": lambda weights, k, v: torch.stack(
                [sum(w * x for w, x in zip(row, k, strict=True)) for row in weights]
            )
        },
        "SDPA-23": {"mix": lambda weights, k, v: weights},
        "LOOP-17": {"mix": _mix_by_column},
        "LOOP-35": {"mix": _mix_last},
        "LOOP-01": {"pair": lambda q, k, i, j: q[i] @ k[min(i, len(k) - 1)]},
        "LOOP-13": {"pair": lambda q, k, i, j: torch.cosine_similarity(q[i], k[j], dim=0)},
        "LOOP-03": {"keys": lambda q, k: min(len(q), len(k))},
        "LOOP-09": {"keys": lambda q, k: k.shape[1]},
    },
) + (
    known("LOOP-11", lambda q, k, v: attention_with(keys=lambda q, k: 6)(q, k, v)),
    known("SDPA-29", torch.no_grad()(attention_with())),
    known("LOOP-19", _attention_in_place),
)
