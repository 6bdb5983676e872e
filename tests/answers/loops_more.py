"""More answers to lesson 01, as people who never saw the course's own might write them."""

import functools
import itertools
import math
import operator

import numpy as np
import torch
import torch.nn.functional as F
from torch import nn

RIGHT, WRONG = {}, {}
SCORES, SOFTMAX = "loops.dot_product_scores", "loops.softmax"
SUM, ATTENTION = "loops.weighted_sum", "loops.attention_from_loops"


def _keep(answers, exercise_id):
    def keep(answer):
        answers.setdefault(exercise_id, {})[answer.__name__] = answer
        return answer

    return keep


right, wrong = functools.partial(_keep, RIGHT), functools.partial(_keep, WRONG)


# dot_product_scores


@right(SCORES)
def nested_lists_stacked(x):
    return torch.stack([torch.stack([torch.sum(a * b) for b in x]) for a in x])


@right(SCORES)
def typed_with_a_default(x: torch.Tensor, verbose: bool = False) -> torch.Tensor:
    n_tokens = len(x)
    result = torch.zeros((n_tokens, n_tokens), dtype=x.dtype)
    for row in range(n_tokens):
        for column in range(n_tokens):
            result[row, column] += torch.inner(x[row], x[column])
    return result


@right(SCORES)
def by_zip_of_numbers(x):
    rows = x.unbind(0)
    return torch.stack([sum(p * q for p, q in zip(a, b, strict=True)) for a in rows for b in rows]).view(
        len(rows), -1
    )


@right(SCORES)
def feature_by_feature(x):
    total = torch.zeros(x.shape[0], x.shape[0])
    for f in range(x.shape[1]):
        column = x[:, f]
        total = total + column.unsqueeze(1) * column.unsqueeze(0)
    return total


@right(SCORES)
def rows_of_sums(x):
    return torch.cat([(x * row).sum(dim=1, keepdim=True) for row in x], dim=1)


@right(SCORES)
def by_product_of_ranges(x):
    n = x.size(0)
    flat = torch.empty(n * n)
    for place, (i, j) in enumerate(itertools.product(range(n), repeat=2)):
        flat[place] = x[i].dot(x[j])
    return flat.reshape(n, n)


@right(SCORES)
def triangle_and_its_mirror(x):
    n = x.shape[0]
    scores = x.new_empty((n, n))
    for i in range(n):
        for j in range(i, n):
            scores[i, j] = scores[j, i] = (x[i] * x[j]).sum()
    return scores


@right(SCORES)
def columns_by_vecdot(x):
    return torch.stack([torch.linalg.vecdot(x, row) for row in x], dim=1)


@right(SCORES)
def row_by_einsum(x):
    return torch.stack([torch.einsum("d,md->m", row, x) for row in x])


@right(SCORES)
def mv_in_a_loop(x):
    scores = []
    for i in range(len(x)):
        scores.append(torch.mv(x, x[i]))
    return torch.stack(scores)


@right(SCORES)
def generator_and_helper(x):
    def dot(a, b):
        return functools.reduce(operator.add, (p * q for p, q in zip(a, b, strict=True)))

    return torch.stack([torch.stack(tuple(dot(a, b) for b in x)) for a in x])


class _Scores(nn.Module):
    def forward(self, x):
        table = [[None] * len(x) for _ in x]
        for i, a in enumerate(x):
            for j, b in enumerate(x):
                table[i][j] = a @ b
        return torch.stack([torch.stack(row) for row in table])


RIGHT[SCORES]["a module"] = _Scores()


@wrong(SCORES)
def python_numbers(x):
    return torch.tensor([[float((a * b).sum()) for b in x] for a in x])


@wrong(SCORES)
def nested_lists(x):
    return [[torch.dot(a, b) for b in x] for a in x]


@wrong(SCORES)
def through_numpy(x):
    x = x.detach().numpy()
    return torch.tensor(np.array([[np.dot(a, b) for b in x] for a in x]))


@wrong(SCORES)
def integer_buffer(x):
    scores = torch.zeros(len(x), len(x), dtype=torch.int)
    for i in range(len(x)):
        for j in range(len(x)):
            scores[i, j] = x[i] @ x[j]
    return scores


@wrong(SCORES)
def only_above_the_diagonal(x):
    scores = torch.zeros(len(x), len(x))
    for i in range(len(x)):
        for j in range(i, len(x)):
            scores[i, j] = x[i] @ x[j]
    return scores


@wrong(SCORES)
def diagonal_left_out(x):
    scores = torch.zeros(len(x), len(x))
    for i in range(len(x)):
        for j in range(len(x)):
            if i != j:
                scores[i, j] = x[i] @ x[j]
    return scores


@wrong(SCORES)
def last_token_left_out(x):
    scores = torch.zeros(len(x), len(x))
    for i in range(len(x) - 1):
        for j in range(len(x) - 1):
            scores[i, j] = x[i] @ x[j]
    return scores


@wrong(SCORES)
def scaled_already(x):
    return torch.stack([torch.stack([a @ b / math.sqrt(x.shape[1]) for b in x]) for a in x])


@wrong(SCORES)
def divided_by_the_width(x):
    return torch.stack([torch.stack([(a * b).mean() for b in x]) for a in x])


@wrong(SCORES)
def distances(x):
    return torch.stack([torch.stack([((a - b) ** 2).sum() for b in x]) for a in x])


@wrong(SCORES)
def cosine(x):
    return torch.stack([torch.stack([F.cosine_similarity(a, b, dim=0) for b in x]) for a in x])


@wrong(SCORES)
def running_total(x):
    scores, total = torch.zeros(len(x), len(x)), 0
    for i in range(len(x)):
        for j in range(len(x)):
            total = total + x[i] @ x[j]
            scores[i, j] = total
    return scores


@wrong(SCORES)
def total_reset_by_row(x):
    scores = torch.zeros(len(x), len(x))
    for i in range(len(x)):
        total = 0
        for j in range(len(x)):
            for f in range(x.shape[1]):
                total = total + x[i, f] * x[j, f]
            scores[i, j] = total
    return scores


@wrong(SCORES)
def overwritten_by_the_last_feature(x):
    scores = torch.zeros(len(x), len(x))
    for i in range(len(x)):
        for j in range(len(x)):
            for f in range(x.shape[1]):
                scores[i, j] = x[i, f] * x[j, f]
    return scores


@wrong(SCORES)
def last_feature_left_out(x):
    scores = torch.zeros(len(x), len(x))
    for i in range(len(x)):
        for j in range(len(x)):
            for f in range(x.shape[1] - 1):
                scores[i, j] = scores[i, j] + x[i, f] * x[j, f]
    return scores


@wrong(SCORES)
def three_features_only(x):
    return torch.stack([torch.stack([a[:3] @ b[:3] for b in x]) for a in x])


@wrong(SCORES)
def every_pair_with_itself(x):
    return torch.stack([torch.stack([a @ a for _ in x]) for a in x])


@wrong(SCORES)
def index_of_a_feature(x):
    n = len(x)
    return torch.stack(
        [torch.stack([x[i] @ x[:, j % x.shape[1]][: x.shape[1]] for j in range(n)]) for i in range(n)]
    )


@wrong(SCORES)
def added_not_multiplied(x):
    return torch.stack([torch.stack([(a + b).sum() for b in x]) for a in x])


@wrong(SCORES)
def a_row_too_many(x):
    return torch.stack([torch.stack([a @ b for b in x]) for a in (*x, x[0])])


@wrong(SCORES)
def detached_entries(x):
    scores = torch.zeros(len(x), len(x))
    for i in range(len(x)):
        for j in range(len(x)):
            scores[i, j] = (x[i] @ x[j]).item()
    return scores


@wrong(SCORES)
def doubles_returned(x):
    scores = torch.zeros(len(x), len(x), dtype=torch.float64)
    for i in range(len(x)):
        for j in range(len(x)):
            scores[i, j] = x[i] @ x[j]
    return scores


# softmax


@right(SOFTMAX)
def with_out_of_place_steps(scores):
    shifted = torch.sub(scores, torch.amax(scores, dim=-1, keepdim=True))
    grown = torch.exp(shifted)
    return torch.div(grown, torch.sum(grown, dim=-1, keepdim=True))


@right(SOFTMAX)
def reciprocal(scores):
    grown = (scores - scores.max(-1, keepdim=True)[0]).exp()
    return grown * grown.sum(-1, keepdim=True).reciprocal()


@right(SOFTMAX)
def rows_stacked(scores):
    if scores.dim() == 1:
        grown = torch.exp(scores - max(scores.tolist()))
        return grown / grown.sum()
    return torch.stack([rows_stacked(part) for part in scores])


@right(SOFTMAX)
def flat_rows_and_back(scores):
    rows = scores.reshape(-1, scores.shape[-1])
    grown = torch.exp(rows - rows.max(dim=1).values[:, None])
    return (grown / grown.sum(dim=1)[:, None]).reshape(scores.shape)


@right(SOFTMAX)
def in_place_on_its_own(scores):
    grown = (scores - scores.amax(-1, keepdim=True)).exp_()
    total = grown.sum(-1, keepdim=True)
    return grown / total


@right(SOFTMAX)
def by_einsum_sum(scores):
    grown = torch.exp(scores - scores.amax(-1)[..., None])
    return grown / torch.einsum("...m->...", grown).unsqueeze(-1)


@wrong(SOFTMAX)
def differences_of_scores(scores):
    return 1 / torch.exp(scores.unsqueeze(-2) - scores.unsqueeze(-1)).sum(-1)


@right(SOFTMAX)
def last_axis_first(scores):
    moved = scores.movedim(-1, 0)
    grown = torch.exp(moved - moved.max(dim=0)[0])
    return (grown / grown.sum(dim=0)).movedim(0, -1)


@right(SOFTMAX)
def by_cumulative_sum(scores):
    grown = torch.exp(scores - scores.amax(-1, True))
    return grown / grown.cumsum(-1)[..., -1:]


@right(SOFTMAX)
def typed_with_dim(scores: torch.Tensor, dim: int = -1) -> torch.Tensor:
    top, _ = torch.max(scores, dim=dim, keepdim=True)
    return (scores - top).exp() / (scores - top).exp().sum(dim=dim, keepdim=True)


@right(SOFTMAX)
def mapped_rows(scores):
    def one(row):
        grown = torch.exp(row - row.max())
        return grown / grown.sum()

    for _ in range(scores.dim() - 1):
        one = torch.vmap(one)
    return one(scores)


@right(SOFTMAX)
def by_expm1(scores):
    grown = torch.expm1(scores - scores.amax(-1, keepdim=True)) + 1
    return grown / grown.sum(-1, keepdim=True)


@torch.jit.script
def _scripted_softmax(scores: torch.Tensor) -> torch.Tensor:
    grown = torch.exp(scores - torch.amax(scores, [-1], True))
    return grown / grown.sum(-1, True)


RIGHT[SOFTMAX]["scripted"] = _scripted_softmax


@wrong(SOFTMAX)
def no_shift(scores):
    return scores.exp() / scores.exp().sum(-1, keepdim=True)


@wrong(SOFTMAX)
def shift_by_the_largest_of_all(scores):
    grown = torch.exp(scores - scores.max())
    return grown / grown.sum(-1, keepdim=True)


@wrong(SOFTMAX)
def shift_of_columns(scores):
    grown = torch.exp(scores - scores.amax(0, keepdim=True))
    return grown / grown.sum(-1, keepdim=True)


@wrong(SOFTMAX)
def sum_of_all(scores):
    grown = torch.exp(scores - scores.amax(-1, keepdim=True))
    return grown / grown.sum()


@wrong(SOFTMAX)
def sum_of_columns(scores):
    grown = torch.exp(scores - scores.amax(-1, keepdim=True))
    return grown / grown.sum(0, keepdim=True)


@wrong(SOFTMAX)
def sum_without_keepdim(scores):
    grown = torch.exp(scores - scores.amax(-1, keepdim=True))
    return grown / grown.sum(-1)


@wrong(SOFTMAX)
def numerator_only(scores):
    return torch.exp(scores - scores.amax(-1, keepdim=True))


@wrong(SOFTMAX)
def shift_of_the_numerator_only(scores):
    return torch.exp(scores - scores.amax(-1, keepdim=True)) / torch.exp(scores).sum(-1, keepdim=True)


@wrong(SOFTMAX)
def divided_by_the_maximum(scores):
    grown = torch.exp(scores / scores.amax(-1, keepdim=True))
    return grown / grown.sum(-1, keepdim=True)


@wrong(SOFTMAX)
def mean_for_sum(scores):
    grown = torch.exp(scores - scores.amax(-1, keepdim=True))
    return grown / grown.mean(-1, keepdim=True)


@wrong(SOFTMAX)
def norm_for_sum(scores):
    grown = torch.exp(scores - scores.amax(-1, keepdim=True))
    return grown / grown.norm(dim=-1, keepdim=True)


@wrong(SOFTMAX)
def clamped_scores(scores):
    grown = torch.exp(scores.clamp(-80, 80))
    return grown / grown.sum(-1, keepdim=True)


@wrong(SOFTMAX)
def base_two(scores):
    grown = 2 ** (scores - scores.amax(-1, keepdim=True))
    return grown / grown.sum(-1, keepdim=True)


@wrong(SOFTMAX)
def base_of_2_7(scores):
    grown = 2.7 ** (scores - scores.amax(-1, keepdim=True))
    return grown / grown.sum(-1, keepdim=True)


@wrong(SOFTMAX)
def sign_turned(scores):
    grown = torch.exp(scores.amin(-1, keepdim=True) - scores)
    return grown / grown.sum(-1, keepdim=True)


@wrong(SOFTMAX)
def logarithms_given_back(scores):
    grown = torch.exp(scores - scores.amax(-1, keepdim=True))
    return torch.log(grown / grown.sum(-1, keepdim=True))


@wrong(SOFTMAX)
def shares_of_squares(scores):
    grown = (scores - scores.amin(-1, keepdim=True)) ** 2 + 1e-6
    return grown / grown.sum(-1, keepdim=True)


@wrong(SOFTMAX)
def one_hot_of_the_best(scores):
    return F.one_hot(scores.argmax(-1), scores.shape[-1]).to(scores.dtype)


@wrong(SOFTMAX)
def minus_in_place(scores):
    scores -= scores.amax(-1, keepdim=True)
    return scores.exp() / scores.exp().sum(-1, keepdim=True)


@wrong(SOFTMAX)
def twice(scores):
    for _ in range(2):
        grown = torch.exp(scores - scores.amax(-1, keepdim=True))
        scores = grown / grown.sum(-1, keepdim=True)
    return scores


@wrong(SOFTMAX)
def tables_by_row_loop(scores):
    rows = []
    for row in scores:
        grown = torch.exp(row - row.max())
        rows.append(grown / grown.sum())
    return torch.stack(rows)


@wrong(SOFTMAX)
def epsilon_of_a_thousandth(scores):
    grown = torch.exp(scores - scores.amax(-1, keepdim=True))
    return grown / (grown.sum(-1, keepdim=True) + 1e-3)


@wrong(SOFTMAX)
def numpy_all_the_way(scores):
    a = scores.detach().numpy()
    grown = np.exp(a - a.max(-1, keepdims=True))
    return torch.from_numpy(grown / grown.sum(-1, keepdims=True))


@wrong(SOFTMAX)
def shift_by_the_mean(scores):
    grown = torch.exp(scores - scores.mean(-1, keepdim=True))
    return grown / grown.sum(-1, keepdim=True)


@wrong(SOFTMAX)
def nan_put_right(scores):
    weights = scores.exp() / scores.exp().sum(-1, keepdim=True)
    return torch.where(weights.isnan(), torch.ones_like(weights), weights)


@wrong(SOFTMAX)
def sigmoid(scores):
    return torch.sigmoid(scores)


@wrong(SOFTMAX)
def nothing(scores):
    grown = torch.exp(scores - scores.amax(-1, keepdim=True))
    grown / grown.sum(-1, keepdim=True)


# weighted_sum


@right(SUM)
def stacked_sums(weights, values):
    return torch.stack([sum(w * v for w, v in zip(row, values, strict=True)) for row in weights])


@right(SUM)
def buffer_of_zeros(weights, values):
    out = torch.zeros(weights.size(0), values.size(1), dtype=values.dtype, device=values.device)
    for i in range(weights.size(0)):
        for j in range(weights.size(1)):
            out[i] += weights[i, j] * values[j]
    return out


@right(SUM)
def torch_add_with_alpha(weights, values):
    rows = []
    for row in weights:
        total = torch.zeros_like(values[0])
        for j in range(len(values)):
            total = torch.addcmul(total, row[j], values[j])
        rows.append(total)
    return torch.stack(rows)


@right(SUM)
def column_products(weights, values):
    return torch.stack(
        [torch.stack([torch.dot(row, values[:, e]) for e in range(values.shape[1])]) for row in weights]
    )


@right(SUM)
def row_scaled_then_summed(weights, values):
    return torch.cat([(row[:, None] * values).sum(0, keepdim=True) for row in weights])


@right(SUM)
def outer_products_added(weights, values):
    total = 0
    for j in range(len(values)):
        total = total + torch.outer(weights[:, j], values[j])
    return total


@right(SUM)
def accumulated(weights, values):
    rows = [list(itertools.accumulate(w * v for w, v in zip(r, values, strict=True)))[-1] for r in weights]
    return torch.stack(rows)


@right(SUM)
def vector_times_matrix_each(weights, values):
    out = []
    for w in weights.unbind():
        out.append(w @ values)
    return torch.vstack(out)


@right(SUM)
def mean_times_number(weights, values):
    return torch.stack([(row.unsqueeze(1) * values).mean(0) * len(values) for row in weights])


@right(SUM)
def while_loop(weights, values, verbose=False):
    i, rows = 0, []
    while i < weights.shape[0]:
        rows.append(torch.einsum("m,me->e", weights[i], values))
        i += 1
    return torch.stack(rows, dim=0)


@wrong(SUM)
def values_by_query(weights, values):
    out = torch.zeros(len(weights), values.shape[1])
    for i in range(len(weights)):
        for j in range(weights.shape[1]):
            out[i] += weights[i, j] * values[i % len(values)]
    return out


@wrong(SUM)
def assigned_not_added(weights, values):
    out = torch.zeros(len(weights), values.shape[1])
    for i in range(len(weights)):
        for j in range(len(values)):
            out[i] = weights[i, j] * values[j]
    return out


@wrong(SUM)
def total_never_reset(weights, values):
    out, total = [], torch.zeros(values.shape[1])
    for row in weights:
        for w, v in zip(row, values, strict=True):
            total = total + w * v
        out.append(total)
    return torch.stack(out)


@wrong(SUM)
def divided_by_the_number(weights, values):
    return torch.stack([(row[:, None] * values).mean(0) for row in weights])


@wrong(SUM)
def divided_by_the_sum(weights, values):
    return torch.stack([(row[:, None] * values).sum(0) / row.sum() for row in weights])


@wrong(SUM)
def last_key_left_out(weights, values):
    return torch.stack(
        [sum(row[j] * values[j] for j in range(len(values) - 1)) + 0 * values[0] for row in weights]
    )


@wrong(SUM)
def as_many_keys_as_queries(weights, values):
    n = min(len(weights), len(values))
    return torch.stack([sum(row[j] * values[j] for j in range(n)) for row in weights])


@wrong(SUM)
def softmax_first(weights, values):
    return torch.stack([(torch.softmax(row, 0)[:, None] * values).sum(0) for row in weights])


@wrong(SUM)
def six_keys(weights, values):
    return torch.stack([sum(row[j] * values[j] for j in range(6)) for row in weights])


@wrong(SUM)
def one_number_per_query(weights, values):
    return torch.stack([(row[:, None] * values).sum() for row in weights])


@wrong(SUM)
def columns_of_the_weights(weights, values):
    return torch.stack(
        [
            (weights[:, i % weights.shape[1]][:, None] * values[: len(weights)]).sum(0)
            for i in range(len(weights))
        ]
    )


@wrong(SUM)
def numbers_out(weights, values):
    out = torch.zeros(len(weights), values.shape[1])
    for i, row in enumerate(weights.tolist()):
        for j, w in enumerate(row):
            out[i] += w * values[j]
    return out


@wrong(SUM)
def squared_weights(weights, values):
    return torch.stack([((row**2)[:, None] * values).sum(0) for row in weights])


@wrong(SUM)
def weights_changed(weights, values):
    weights /= weights.sum(-1, keepdim=True)
    return torch.stack([(row[:, None] * values).sum(0) for row in weights])


@wrong(SUM)
def maximum_of_products(weights, values):
    return torch.stack([(row[:, None] * values).amax(0) for row in weights])


@wrong(SUM)
def products_kept(weights, values):
    return torch.stack([row[:, None] * values for row in weights])


@wrong(SUM)
def starts_from_one(weights, values):
    return torch.stack([1 + (row[:, None] * values).sum(0) for row in weights])


@wrong(SUM)
def truncated(weights, values):
    out = torch.zeros(len(weights), values.shape[1], dtype=torch.long)
    for i in range(len(weights)):
        for j in range(len(values)):
            out[i] += (weights[i, j] * values[j]).long()
    return out


@wrong(SUM)
def mean_value_for_all(weights, values):
    return torch.stack([values.mean(0) for _ in weights])


@wrong(SUM)
def first_value_twice(weights, values):
    return torch.stack([values[0] + sum(w * v for w, v in zip(row, values, strict=True)) for row in weights])


# attention_from_loops


def _softmax(row):
    grown = torch.exp(row - row.max())
    return grown / grown.sum()


@right(ATTENTION)
def one_loop_with_helpers(q, k, v):
    out = []
    for query in q:
        scores = torch.stack([query @ key for key in k]) * k.shape[-1] ** -0.5
        out.append(sum(w * value for w, value in zip(_softmax(scores), v, strict=True)))
    return torch.stack(out)


@right(ATTENTION)
def tables_in_buffers(q, k, v):
    n, m, d = q.shape[0], k.shape[0], q.shape[1]
    scores, out = torch.zeros(n, m), torch.zeros(n, v.shape[1])
    for i in range(n):
        for j in range(m):
            scores[i, j] = torch.dot(q[i], k[j]) / d**0.5
    weights = torch.softmax(scores, dim=1)
    for i in range(n):
        for j in range(m):
            out[i] = out[i] + weights[i, j] * v[j]
    return out


@right(ATTENTION)
def log_sum_exp(q, k, v):
    rows = []
    for query in q:
        scores = (k * query).sum(1) / math.sqrt(len(query))
        rows.append(torch.exp(scores - torch.logsumexp(scores, 0)) @ v)
    return torch.stack(rows)


@right(ATTENTION)
def comprehension_of_comprehensions(q, k, v, scale=None):
    scale = 1 / math.sqrt(q.size(-1)) if scale is None else scale
    weights = [_softmax(torch.stack([(a * b).sum() * scale for b in k])) for a in q]
    return torch.stack([torch.stack([(w * column).sum() for column in v.T]) for w in weights])


@right(ATTENTION)
def running_softmax(q, k, v):
    rows = []
    for query in q / q.shape[1] ** 0.5:
        top, total, mixed = torch.tensor(-math.inf), torch.tensor(0.0), torch.zeros(v.shape[1])
        for key, value in zip(k, v, strict=True):
            score = query @ key
            new = torch.maximum(top, score).detach()
            mixed = mixed * torch.exp(top - new) + torch.exp(score - new) * value
            total = total * torch.exp(top - new) + torch.exp(score - new)
            top = new
        rows.append(mixed / total)
    return torch.stack(rows)


@right(ATTENTION)
def double_inside(q, k, v):
    rows = []
    for query in q.double():
        scores = torch.mv(k.double(), query) / math.sqrt(q.shape[1])
        rows.append((scores.softmax(0)[:, None] * v).sum(0))
    return torch.stack(rows).to(q.dtype)


@right(ATTENTION)
def query_matrices_of_one_row(q, k, v):
    return torch.cat([F.softmax(q[i : i + 1] @ k.T / k.size(1) ** 0.5, dim=-1) @ v for i in range(q.size(0))])


class _Attention:
    def __call__(self, q, k, v):
        return torch.stack([self.row(query, k, v) for query in q])

    @staticmethod
    def row(query, k, v):
        return torch.softmax((k * query).sum(-1) * len(query) ** -0.5, 0) @ v


RIGHT[ATTENTION]["an object"] = _Attention()


def _rows(weigh, mix=None):
    def answer(q, k, v):
        rows = []
        for query in q:
            scores = torch.stack([query @ key for key in k])
            weights = weigh(scores, q, k, v)
            rows.append(mix(weights, v, query, k) if mix else weights @ v)
        return torch.stack(rows)

    return answer


def _root(d):
    return math.sqrt(d)


WRONG[ATTENTION] = {
    "no scale": _rows(lambda s, q, k, v: torch.softmax(s, 0)),
    "scale of the width": _rows(lambda s, q, k, v: torch.softmax(s / q.shape[1], 0)),
    "scale of the keys": _rows(lambda s, q, k, v: torch.softmax(s / _root(len(k)), 0)),
    "scale of the values": _rows(lambda s, q, k, v: torch.softmax(s / _root(v.shape[1]), 0)),
    "scale times": _rows(lambda s, q, k, v: torch.softmax(s * _root(q.shape[1]), 0)),
    "scale whole": _rows(lambda s, q, k, v: torch.softmax(s / max(1, math.isqrt(q.shape[1])), 0)),
    "scale after": _rows(lambda s, q, k, v: torch.softmax(s, 0) / _root(q.shape[1])),
    "scale two": _rows(lambda s, q, k, v: torch.softmax(s / 2, 0)),
    "unnormalised": _rows(lambda s, q, k, v: torch.exp(s / _root(q.shape[1]))),
    "no softmax": _rows(lambda s, q, k, v: s / _root(q.shape[1])),
    "plain shares": _rows(lambda s, q, k, v: s / s.sum()),
    "relu": _rows(lambda s, q, k, v: torch.relu(s) / (torch.relu(s).sum() + 1e-6)),
    "no shift": _rows(lambda s, q, k, v: (e := torch.exp(s / _root(q.shape[1]))) / e.sum()),
    "hard": _rows(lambda s, q, k, v: F.one_hot(s.argmax(), len(s)).float()),
    "flat": _rows(lambda s, q, k, v: torch.full_like(s, 1 / len(s))),
    "turned": _rows(lambda s, q, k, v: torch.softmax(-s / _root(q.shape[1]), 0)),
    "detached scores": _rows(lambda s, q, k, v: torch.softmax(s.detach() / _root(q.shape[1]), 0)),
    "twice softmax": _rows(lambda s, q, k, v: torch.softmax(torch.softmax(s / _root(q.shape[1]), 0), 0)),
    "keys mixed": _rows(lambda s, q, k, v: torch.softmax(s / _root(q.shape[1]), 0), lambda w, v, a, k: w @ k),
    "weights back": _rows(lambda s, q, k, v: torch.softmax(s / _root(q.shape[1]), 0), lambda w, v, a, k: w),
    "best value": _rows(lambda s, q, k, v: torch.softmax(s, 0), lambda w, v, a, k: v[w.argmax()]),
    "query added": _rows(
        lambda s, q, k, v: torch.softmax(s / _root(q.shape[1]), 0),
        lambda w, v, a, k: w @ v + (a if len(a) == v.shape[1] else 0),
    ),
    "values reversed": _rows(
        lambda s, q, k, v: torch.softmax(s / _root(q.shape[1]), 0), lambda w, v, a, k: w @ v.flip(0)
    ),
    "no scale, columns": lambda q, k, v: torch.stack(
        [
            sum(w * x for w, x in zip(row, v, strict=True))
            for row in torch.softmax(torch.stack([torch.stack([a @ b for b in k]) for a in q]), dim=0)
        ]
    ),
    "half of the keys": lambda q, k, v: _Attention()(q, k[: (len(k) + 1) // 2], v[: (len(k) + 1) // 2]),
    "first query only": lambda q, k, v: _Attention()(q[:1], k, v).expand(len(q), -1),
    "not stacked": lambda q, k, v: [_Attention.row(a, k, v) for a in q],
    "values and keys swapped": lambda q, k, v: (
        _Attention()(q, v, k) if k.shape == v.shape else _Attention()(q, k, v)
    ),
}
