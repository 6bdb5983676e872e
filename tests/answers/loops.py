"""Answers to lesson 01 as people write them: right ones in many forms, wrong ones that are no known mistake."""

import functools
import itertools
import math

import torch
import torch.nn.functional as F
from torch import nn

RIGHT, WRONG = {}, {}


def _keep(answers, exercise_id):
    def keep(answer):
        answers.setdefault(exercise_id, {})[answer.__name__] = answer
        return answer

    return keep


right, wrong = functools.partial(_keep, RIGHT), functools.partial(_keep, WRONG)
SCORES, SOFTMAX = "loops.dot_product_scores", "loops.softmax"
SUM, ATTENTION = "loops.weighted_sum", "loops.attention_from_loops"


# dot_product_scores: right


@right(SCORES)
def buffer_and_two_loops(x):
    n = x.shape[0]
    scores = torch.zeros(n, n)
    for i in range(n):
        for j in range(n):
            scores[i, j] = x[i] @ x[j]
    return scores


@right(SCORES)
def uninitialised_buffer_all_filled(x):
    scores = torch.empty(x.size(0), x.size(0), dtype=x.dtype, device=x.device)
    for i, a in enumerate(x):
        for j, b in enumerate(x):
            scores[i][j] = torch.dot(a, b)
    return scores


@right(SCORES)
def three_loops(x):
    n, d = x.shape
    scores = x.new_zeros(n, n)
    for i in range(n):
        for j in range(n):
            total = 0.0
            for f in range(d):
                total = total + x[i, f] * x[j, f]
            scores[i, j] = total
    return scores


@right(SCORES)
def adds_up_in_the_buffer(x):
    n, d = x.shape
    scores = torch.zeros(n, n)
    for i in range(n):
        for j in range(n):
            for f in range(d):
                scores[i, j] += x[i, f] * x[j, f]
    return scores


@right(SCORES)
def comprehension(x):
    return torch.stack([torch.stack([(a * b).sum() for b in x]) for a in x])


@right(SCORES)
def one_loop_elementwise(x):
    return torch.stack([(x * row).sum(dim=-1) for row in x.unbind(0)])


@right(SCORES)
def one_loop_matrix_times_vector(x):
    rows = []
    for i in range(len(x)):
        rows.append(x @ x[i])
    return torch.stack(rows, dim=0)


@right(SCORES)
def columns_instead_of_rows(x):
    return torch.stack([torch.mv(x, x[j]) for j in range(len(x))], dim=1)


@right(SCORES)
def rows_kept_two_dimensional(x):
    return torch.cat([x[i : i + 1] @ x.T for i in range(x.shape[0])])


@right(SCORES)
def half_and_mirror(x):
    n = len(x)
    scores = torch.zeros(n, n)
    for i in range(n):
        for j in range(i + 1):
            scores[i, j] = scores[j, i] = x[i].dot(x[j])
    return scores


@right(SCORES)
def pairs_by_itertools(x):
    flat = [torch.inner(a, b) for a, b in itertools.product(x, repeat=2)]
    return torch.stack(flat).reshape(len(x), len(x))


@right(SCORES)
def python_sum(x):
    rows = [[sum(a * b for a, b in zip(u, v, strict=True)) for v in x] for u in x]
    return torch.stack([torch.stack(row) for row in rows])


@right(SCORES)
def outer_products_feature_by_feature(x):
    total = torch.zeros(len(x), len(x))
    for column in x.T:
        total = total + torch.outer(column, column)
    return total


@right(SCORES)
def outer_products_as_matrices(x):
    return sum(x[:, f : f + 1] @ x[:, f : f + 1].T for f in range(x.shape[1]))


@right(SCORES)
def while_loops(x):
    n, i, rows = x.shape[0], 0, []
    while i < n:
        j, row = 0, []
        while j < n:
            row.append(torch.einsum("d,d->", x[i], x[j]))
            j += 1
        rows.append(torch.stack(row))
        i += 1
    return torch.stack(rows)


@right(SCORES)
def by_recursion(x, i=0):
    row = (x * x[i]).sum(1, keepdim=True).T
    return row if i == len(x) - 1 else torch.cat([row, by_recursion(x, i + 1)])


@right(SCORES)
def by_map(x):
    return torch.stack(list(map(lambda row: torch.einsum("nd,d->n", x, row), x)))  # noqa: C417


@right(SCORES)
def in_float64_and_back(x):
    wide = x.double()
    return torch.stack([torch.stack([a @ b for b in wide]) for a in wide]).to(x.dtype)


def _with_helper(dot, x):
    return torch.stack([torch.stack([dot(a, b) for b in x]) for a in x])


RIGHT[SCORES]["partial"] = functools.partial(_with_helper, lambda a, b: (a * b).sum())
RIGHT[SCORES]["lambda"] = lambda x, scale=1.0: torch.stack([(x * row * scale).sum(1) for row in x])


class _Scores:
    def __call__(self, x):
        print("scores of", tuple(x.shape))
        return torch.stack([x @ row for row in x])


RIGHT[SCORES]["callable object"] = _Scores()


# dot_product_scores: wrong


@wrong(SCORES)
def matrix_product(x):
    return x @ x.T


@wrong(SCORES)
def matrix_product_by_getattr(x):
    return getattr(torch, "mat" + "mul")(x, x.transpose(0, 1))


@wrong(SCORES)
def matrix_product_by_torch_ops(x):
    return torch.ops.aten.mm(x, x.t())


@wrong(SCORES)
def matrix_product_by_einsum(x):
    return torch.einsum("id,jd->ij", x, x)


@wrong(SCORES)
def matrix_product_by_tensordot(x):
    return torch.tensordot(x, x, dims=([1], [1]))


@wrong(SCORES)
def matrix_product_by_inner(x):
    return torch.inner(x, x)


@wrong(SCORES)
def matrix_product_by_linear(x):
    return F.linear(x, x)


class _Product(nn.Module):
    def forward(self, x):
        return torch.bmm(x[None], x.T[None])[0]


WRONG[SCORES]["matrix_product_in_a_module"] = _Product()
WRONG[SCORES]["matrix_product_by_partial"] = lambda x: functools.partial(torch.matmul, x)(x.mT)


@wrong(SCORES)
def loop_for_show(x):
    for i in range(len(x)):
        x[i] + 1
    return x @ x.T


@wrong(SCORES)
def one_turn_of_a_loop(x):
    for _ in range(1):
        scores = x @ x.T
    return scores


@wrong(SCORES)
def loop_for_show_without_operations(x):
    for _ in range(len(x)):
        pass
    return (x[:, None] * x[None]).sum(-1)


@wrong(SCORES)
def broadcasting_without_a_loop(x):
    return (x.unsqueeze(1) * x.unsqueeze(0)).sum(dim=-1)


@wrong(SCORES)
def product_of_halves(x):
    half = (len(x) + 1) // 2
    return torch.cat([part @ x.T for part in (x[:half], x[half:])])


@wrong(SCORES)
def features_with_features(x):
    return torch.stack([torch.stack([a @ b for b in x.T]) for a in x.T])


@wrong(SCORES)
def sum_of_sums(x):
    return torch.stack([torch.stack([(a + b).sum() for b in x]) for a in x])


@wrong(SCORES)
def mean_instead_of_sum(x):
    return torch.stack([torch.stack([(a * b).mean() for b in x]) for a in x])


@wrong(SCORES)
def products_not_summed(x):
    return torch.stack([torch.stack([a * b for b in x]) for a in x])


@wrong(SCORES)
def one_long_row(x):
    return torch.stack([a @ b for a in x for b in x])


@wrong(SCORES)
def absolute_values(x):
    return torch.stack([torch.stack([(a * b).abs().sum() for b in x]) for a in x])


@wrong(SCORES)
def negative_scores_cut(x):
    return torch.stack([torch.relu(x @ a) for a in x])


@wrong(SCORES)
def half_precision(x):
    return torch.stack([(x.half() * a.half()).sum(-1) for a in x]).float()


@wrong(SCORES)
def rounded(x):
    return torch.stack([x @ a for a in x]).round(decimals=3)


@wrong(SCORES)
def clamped(x):
    return torch.stack([x @ a for a in x]).clamp(-50, 50)


@wrong(SCORES)
def already_softmax(x):
    return torch.stack([torch.softmax(x @ a, dim=-1) for a in x])


@wrong(SCORES)
def first_row_missing(x):
    scores = torch.zeros(len(x), len(x))
    for i in range(1, len(x)):
        for j in range(len(x)):
            scores[i, j] = x[i] @ x[j]
    return scores


@wrong(SCORES)
def buffer_never_filled(x):
    scores = torch.empty(len(x), len(x))
    for i in range(len(x)):
        for j in range(len(x)):
            scores[i, j] += x[i] @ x[j]
    return scores


@wrong(SCORES)
def one_row_only(x):
    for i in range(len(x)):
        row = x @ x[i]
    return row


@wrong(SCORES)
def returns_in_the_loop(x):
    scores = torch.zeros(len(x), len(x))
    for i in range(len(x)):
        for j in range(len(x)):
            scores[i, j] = x[i] @ x[j]
        return scores


@wrong(SCORES)
def double_result(x):
    return torch.stack([x.double() @ a.double() for a in x])


@wrong(SCORES)
def tuple_with_the_shape(x):
    return torch.stack([x @ a for a in x]), x.shape


@wrong(SCORES)
def only_its_own_example(x):
    return torch.tensor([[1.0, 0.0], [0.0, 1.0]]) if len(x) else x


@wrong(SCORES)
def numbers_with_requires_grad(x):
    return torch.tensor([[(a @ b).item() for b in x] for a in x], requires_grad=True)


_seen = {}


@wrong(SCORES)
def cached_by_shape(x):
    if x.shape not in _seen:
        _seen[x.shape] = torch.stack([x.detach() @ a for a in x.detach()])
    return _seen[x.shape]


@wrong(SCORES)
def sorts_its_input(x):
    x[:] = x.sort(dim=0).values
    return torch.stack([x @ a for a in x])


@wrong(SCORES)
def swaps_roles_of_axes(x):
    n, d = x.shape
    scores = torch.zeros(n, n)
    for i in range(d):
        for j in range(d):
            scores[i, j] = x[:, i] @ x[:, j]
    return scores


# softmax: right


@right(SOFTMAX)
def exp_over_sum(scores):
    grown = torch.exp(scores - scores.max(dim=-1, keepdim=True).values)
    return grown / grown.sum(dim=-1, keepdim=True)


@right(SOFTMAX)
def detached_maximum(scores):
    highest = scores.detach().amax(-1, keepdim=True)
    grown = (scores - highest).exp()
    return grown / grown.sum(-1, keepdim=True)


@right(SOFTMAX)
def maximum_unsqueezed(scores):
    highest, _ = torch.max(scores, -1)
    grown = torch.exp(scores - highest.unsqueeze(-1))
    return grown * grown.sum(-1).unsqueeze(-1).reciprocal()


@right(SOFTMAX)
def through_logarithms(scores):
    shifted = scores - scores.amax(dim=-1, keepdim=True)
    return torch.exp(shifted - shifted.exp().sum(dim=-1, keepdim=True).log())


@right(SOFTMAX)
def rows_in_a_loop(scores):
    rows = []
    for row in scores.reshape(-1, scores.shape[-1]):
        grown = torch.exp(row - row.max())
        rows.append(grown / grown.sum())
    return torch.stack(rows).reshape(scores.shape)


@right(SOFTMAX)
def by_dimension(scores):
    if scores.dim() > 1:
        return torch.stack([by_dimension(part) for part in scores])
    grown = torch.exp(scores - max(scores))
    return grown / sum(grown)


@right(SOFTMAX)
def normalised_by_one_norm(scores):
    grown = torch.exp(scores - scores.amax(-1, keepdim=True))
    return F.normalize(grown, p=1, dim=-1)


@right(SOFTMAX)
def in_double(scores):
    wide = scores.to(torch.float64)
    grown = torch.exp(wide - wide.amax(-1, keepdim=True))
    return (grown / grown.sum(-1, keepdim=True)).to(scores.dtype)


@right(SOFTMAX)
def power_of_e(scores):
    grown = math.e ** (scores - scores.amax(-1, keepdim=True))
    return grown / grown.sum(-1, keepdim=True)


@right(SOFTMAX)
def keys_first(scores):
    moved = scores.movedim(-1, 0)
    grown = torch.exp(moved - moved.amax(0))
    return (grown / grown.sum(0)).movedim(0, -1)


@right(SOFTMAX)
def in_place_on_a_copy(scores):
    shifted = scores.clone()
    shifted -= scores.amax(dim=-1, keepdim=True)
    grown = shifted.exp_()
    return grown.div(grown.sum(dim=-1, keepdim=True))


@right(SOFTMAX)
def sum_by_einsum(scores):
    grown = torch.exp(scores - scores.sort(-1).values[..., -1:])
    return grown / torch.einsum("...m->...", grown)[..., None]


@right(SOFTMAX)
def online(scores):
    highest = torch.full(scores.shape[:-1], -math.inf)
    total = torch.zeros(scores.shape[:-1])
    for key in scores.unbind(-1):
        higher = torch.maximum(highest, key).detach()
        total = total * torch.exp(highest - higher) + torch.exp(key - higher)
        highest = higher
    return torch.exp(scores - highest[..., None]) / total[..., None]


@right(SOFTMAX)
def two_powers(scores):
    grown = torch.exp2((scores - scores.amax(-1, keepdim=True)) / math.log(2))
    return grown / grown.sum(-1, keepdim=True)


@right(SOFTMAX)
def tiny_epsilon(scores, eps=1e-9):
    grown = torch.exp(scores - scores.amax(-1, keepdim=True))
    return grown / (grown.sum(-1, keepdim=True) + eps)


@right(SOFTMAX)
def a_little_above_the_maximum(scores):
    grown = torch.exp(scores - scores.amax(-1, keepdim=True) + 1.0)
    return grown / grown.sum(-1, keepdim=True)


@right(SOFTMAX)
def negative_minimum(scores):
    grown = torch.exp(scores + torch.amin(-scores, dim=-1, keepdim=True))
    return grown / grown.sum(-1, keepdim=True)


class _WithBackward(torch.autograd.Function):
    @staticmethod
    def forward(ctx, scores):
        grown = torch.exp(scores - scores.amax(-1, keepdim=True))
        weights = grown / grown.sum(-1, keepdim=True)
        ctx.save_for_backward(weights)
        return weights

    @staticmethod
    def backward(ctx, grad):
        (weights,) = ctx.saved_tensors
        return weights * (grad - (grad * weights).sum(-1, keepdim=True))


RIGHT[SOFTMAX]["own autograd function"] = _WithBackward.apply


class _Softmax(nn.Module):
    def __init__(self, dim=-1):
        super().__init__()
        self.dim = dim

    def forward(self, scores):
        grown = torch.exp(scores - scores.amax(self.dim, keepdim=True))
        return grown / grown.sum(self.dim, keepdim=True)


RIGHT[SOFTMAX]["module"] = _Softmax()
RIGHT[SOFTMAX]["partial"] = functools.partial(lambda scores, dim: _Softmax(dim)(scores), dim=-1)


# softmax: wrong


@wrong(SOFTMAX)
def torchs_own(scores):
    return torch.softmax(scores, dim=-1)


@wrong(SOFTMAX)
def functional(scores):
    return F.softmax(scores, dim=-1)


@wrong(SOFTMAX)
def method(scores):
    return scores.softmax(-1)


@wrong(SOFTMAX)
def by_getattr(scores):
    return getattr(torch, "soft" + "max")(scores, -1)


@wrong(SOFTMAX)
def by_torch_ops(scores):
    return torch.ops.aten._softmax(scores, -1, False)


@wrong(SOFTMAX)
def special(scores):
    return torch.special.softmax(scores, -1)


@wrong(SOFTMAX)
def log_then_exp(scores):
    return torch.log_softmax(scores, -1).exp()


@wrong(SOFTMAX)
def logsumexp(scores):
    return torch.exp(scores - torch.logsumexp(scores, -1, keepdim=True))


@wrong(SOFTMAX)
def softmin(scores):
    return F.softmin(-scores, dim=-1)


@wrong(SOFTMAX)
def sparse(scores):
    flat = scores.reshape(-1, scores.shape[-1])
    everywhere = torch.ones_like(flat).nonzero().T
    full = torch.sparse_coo_tensor(everywhere, flat.flatten(), flat.shape)
    return torch.sparse.softmax(full, 1).to_dense().reshape(scores.shape)


@wrong(SOFTMAX)
def by_attention(scores):
    rows = scores.reshape(1, -1, scores.shape[-1])
    keys = torch.eye(scores.shape[-1])[None]
    return F.scaled_dot_product_attention(rows, keys, keys, scale=1.0).reshape(scores.shape)


@wrong(SOFTMAX)
def by_cross_entropy(scores):
    flat = scores.reshape(-1, scores.shape[-1])
    columns = [
        -F.cross_entropy(flat, torch.full((len(flat),), j), reduction="none") for j in range(flat.shape[1])
    ]
    return torch.stack(columns, -1).exp().reshape(scores.shape)


@functools.cache
def _scripted():
    return torch.jit.script(_plain_softmax)


def _plain_softmax(scores: torch.Tensor) -> torch.Tensor:
    return torch.softmax(scores, dim=-1)


@wrong(SOFTMAX)
def scripted(scores):
    return _scripted()(scores)


WRONG[SOFTMAX]["nn_softmax"] = nn.Softmax(dim=-1)
WRONG[SOFTMAX]["by_partial"] = functools.partial(torch.softmax, dim=-1)


class _Wrapper(nn.Module):
    def __init__(self):
        super().__init__()
        self.inner = nn.Sequential(nn.Identity(), nn.LogSoftmax(dim=-1))

    def forward(self, scores):
        return self.inner(scores).exp()


WRONG[SOFTMAX]["log_softmax_in_a_module"] = _Wrapper()


@wrong(SOFTMAX)
def second_axis(scores):
    grown = torch.exp(scores - scores.amax(min(1, scores.dim() - 1), keepdim=True))
    return grown / grown.sum(min(1, scores.dim() - 1), keepdim=True)


@wrong(SOFTMAX)
def last_but_one_axis(scores):
    dim = -2 if scores.dim() > 1 else -1
    grown = torch.exp(scores - scores.amax(dim, keepdim=True))
    return grown / grown.sum(dim, keepdim=True)


@wrong(SOFTMAX)
def tables_only(scores):
    grown = torch.exp(scores - scores.max(dim=1, keepdim=True).values)
    return grown / grown.sum(dim=1, keepdim=True)


@wrong(SOFTMAX)
def four_axes_flattened(scores):
    shape = scores.shape
    if scores.dim() == 4:
        scores = scores.flatten(2)
    return exp_over_sum(scores).reshape(shape)


@wrong(SOFTMAX)
def minimum_subtracted(scores):
    grown = torch.exp(scores - scores.amin(-1, keepdim=True))
    return grown / grown.sum(-1, keepdim=True)


@wrong(SOFTMAX)
def a_fixed_shift(scores):
    grown = torch.exp(scores - 100)
    return grown / grown.sum(-1, keepdim=True)


@wrong(SOFTMAX)
def nan_cleaned(scores):
    grown = torch.exp(scores)
    return torch.nan_to_num(grown / grown.sum(-1, keepdim=True))


@wrong(SOFTMAX)
def overflow_cut(scores):
    grown = torch.exp(scores).clamp(max=1e30)
    return grown / grown.sum(-1, keepdim=True)


@wrong(SOFTMAX)
def first_rows_maximum(scores):
    first = scores.reshape(-1, scores.shape[-1])[0].max()
    grown = torch.exp(scores - first)
    return grown / grown.sum(-1, keepdim=True)


@wrong(SOFTMAX)
def half_a_temperature(scores):
    return exp_over_sum(2 * scores)


@wrong(SOFTMAX)
def scaled(scores):
    return exp_over_sum(scores / scores.shape[-1] ** 0.5)


@wrong(SOFTMAX)
def squares(scores):
    return scores.square() / scores.square().sum(-1, keepdim=True)


@wrong(SOFTMAX)
def softplus_shares(scores):
    grown = F.softplus(scores)
    return grown / grown.sum(-1, keepdim=True)


@wrong(SOFTMAX)
def best_only(scores):
    return F.one_hot(scores.argmax(-1), scores.shape[-1]).float()


@wrong(SOFTMAX)
def epsilon_of_a_hundredth(scores):
    grown = torch.exp(scores - scores.amax(-1, keepdim=True))
    return grown / (grown.sum(-1, keepdim=True) + 1e-2)


@wrong(SOFTMAX)
def rounded_weights(scores):
    return torch.round(exp_over_sum(scores), decimals=2)


@wrong(SOFTMAX)
def in_half_precision(scores):
    return exp_over_sum(scores.half()).float()


@wrong(SOFTMAX)
def double_out(scores):
    return exp_over_sum(scores.double())


@wrong(SOFTMAX)
def numpy_and_back(scores):
    import numpy as np

    table = scores.detach().numpy()
    grown = np.exp(table - table.max(-1, keepdims=True))
    return torch.from_numpy(grown / grown.sum(-1, keepdims=True))


@wrong(SOFTMAX)
def weights_and_maximum(scores):
    return exp_over_sum(scores), scores.amax(-1)


@wrong(SOFTMAX)
def in_place_division(scores):
    grown = torch.exp(scores - scores.amax(-1, keepdim=True))
    grown /= grown.sum(-1, keepdim=True)
    return grown


_highest = []


@wrong(SOFTMAX)
def maximum_kept_between_calls(scores):
    _highest.append(float(scores.detach().max()))
    grown = torch.exp(scores - max(_highest))
    return grown / grown.sum(-1, keepdim=True)


@wrong(SOFTMAX)
def sum_detached(scores):
    grown = torch.exp(scores - scores.amax(-1, keepdim=True))
    return grown / grown.sum(-1, keepdim=True).detach()


@wrong(SOFTMAX)
def sum_not_kept_for_tables(scores):
    grown = torch.exp(scores - scores.amax(-1, keepdim=True))
    return grown / grown.sum(-1)


@wrong(SOFTMAX)
def forgot_the_exponential_below(scores):
    shifted = scores - scores.amax(-1, keepdim=True)
    return torch.exp(shifted) / shifted.sum(-1, keepdim=True)


# weighted_sum: right


@right(SUM)
def rows_and_keys(weights, values):
    n, m = weights.shape
    out = torch.zeros(n, values.shape[1])
    for i in range(n):
        for j in range(m):
            out[i] += weights[i, j] * values[j]
    return out


@right(SUM)
def all_three_loops(weights, values):
    n, m, e = *weights.shape, values.shape[1]
    out = torch.zeros(n, e)
    for i in range(n):
        for f in range(e):
            for j in range(m):
                out[i, f] += weights[i, j] * values[j, f]
    return out


@right(SUM)
def sum_of_generators(weights, values):
    return torch.stack([sum(w * v for w, v in zip(row, values, strict=True)) for row in weights])


@right(SUM)
def vector_times_matrix(weights, values):
    return torch.stack([row @ values for row in weights])


@right(SUM)
def one_row_at_a_time(weights, values):
    return torch.cat([weights[i : i + 1] @ values for i in range(len(weights))])


@right(SUM)
def row_by_broadcasting(weights, values):
    return torch.stack([(row[:, None] * values).sum(0) for row in weights.unbind()])


@right(SUM)
def by_key(weights, values):
    out = torch.zeros(weights.shape[0], values.shape[1])
    for w, v in zip(weights.T, values, strict=True):
        out = out + torch.outer(w, v)
    return out


@right(SUM)
def by_key_in_place(weights, values):
    out = values.new_zeros(weights.shape[0], values.shape[1])
    for j, v in enumerate(values):
        out += weights[:, j, None] * v
    return out


@right(SUM)
def by_feature(weights, values):
    return torch.stack([weights @ values[:, f] for f in range(values.shape[1])], dim=1)


@right(SUM)
def by_feature_as_matrices(weights, values):
    return torch.hstack([weights @ values[:, f : f + 1] for f in range(values.size(1))])


@right(SUM)
def dot_of_row_and_column(weights, values):
    return torch.stack([torch.stack([torch.dot(w, v) for v in values.T]) for w in weights])


@right(SUM)
def starts_from_the_first(weights, values):
    rows = []
    for row in weights:
        total = row[0] * values[0]
        for j in range(1, len(row)):
            total += row[j] * values[j]
        rows.append(total)
    return torch.stack(rows)


@right(SUM)
def by_reduce(weights, values):
    return torch.stack(
        [functools.reduce(torch.add, [w * v for w, v in zip(row, values, strict=True)]) for row in weights]
    )


@right(SUM)
def fills_an_empty_table(weights, values):
    out = torch.empty(len(weights), values.shape[-1])
    for i in range(len(weights)):
        out[i] = torch.einsum("m,me->e", weights[i], values)
    return out


RIGHT[SUM]["partial"] = functools.partial(
    lambda weights, values, start: torch.stack([start + row @ values for row in weights]), start=0.0
)


# weighted_sum: wrong


@wrong(SUM)
def product(weights, values):
    return weights @ values


@wrong(SUM)
def product_by_einsum(weights, values):
    return torch.einsum("nm,me->ne", weights, values)


@wrong(SUM)
def product_by_linear(weights, values):
    return F.linear(weights, values.T)


@wrong(SUM)
def product_by_torch_ops(weights, values):
    return torch.ops.aten.mm.default(weights, values)


@wrong(SUM)
def product_by_addmm(weights, values):
    return torch.addmm(torch.zeros(1), weights, values)


class _Mix(nn.Module):
    def forward(self, weights, values):
        return torch.baddbmm(torch.zeros(1), weights[None], values[None])[0]


WRONG[SUM]["product_in_a_module"] = _Mix()
WRONG[SUM]["product_by_alias"] = torch.Tensor.__matmul__


@wrong(SUM)
def broadcast_without_a_loop(weights, values):
    return (weights[:, :, None] * values[None]).sum(1)


@wrong(SUM)
def product_inside_a_loop(weights, values):
    rows = []
    for i in range(len(weights)):
        rows.append((weights @ values)[i])
    return torch.stack(rows)


@wrong(SUM)
def transposed_weights(weights, values):
    return torch.stack([column @ values for column in weights.T])


@wrong(SUM)
def transposed_result(weights, values):
    return torch.stack([row @ values for row in weights]).T


@wrong(SUM)
def first_key_left_out(weights, values):
    out = torch.zeros(len(weights), values.shape[1])
    for i in range(len(weights)):
        for j in range(1, len(values)):
            out[i] += weights[i, j] * values[j]
    return out


@wrong(SUM)
def adds_value_without_weight(weights, values):
    return torch.stack([sum(w + v for w, v in zip(row, values, strict=True)) for row in weights])


@wrong(SUM)
def sums_over_features_too(weights, values):
    return torch.stack([sum(w * v.sum() for w, v in zip(row, values, strict=True)) for row in weights])


@wrong(SUM)
def best_value_only(weights, values):
    return torch.stack([values[row.argmax()] for row in weights])


@wrong(SUM)
def best_value_weighted(weights, values):
    return torch.stack([row.max() * values[row.argmax()] for row in weights])


@wrong(SUM)
def absolute_weights(weights, values):
    return torch.stack([row.abs() @ values for row in weights])


@wrong(SUM)
def one_query_for_all(weights, values):
    return torch.stack([weights[0] @ values for _ in weights])


@wrong(SUM)
def as_many_queries_as_keys(weights, values):
    out = torch.zeros(weights.shape[0], values.shape[1])
    for i in range(min(weights.shape)):
        for j in range(min(weights.shape)):
            out[i] += weights[i, j] * values[j]
    return out


@wrong(SUM)
def shape_of_values(weights, values):
    out = torch.zeros(values.shape)
    for i in range(len(weights)):
        for j in range(len(values)):
            out[i] += weights[i, j] * values[j]
    return out


@wrong(SUM)
def all_in_one_row(weights, values):
    total = 0
    for row in weights:
        for w, v in zip(row, values, strict=True):
            total = total + w * v
    return total


@wrong(SUM)
def returns_after_the_first_row(weights, values):
    out = torch.zeros(len(weights), values.shape[1])
    for i in range(len(weights)):
        out[i] = weights[i] @ values
        return out


@wrong(SUM)
def values_as_scratch(weights, values):
    rows = []
    for row in weights:
        values *= 1.0 + 1e-3
        rows.append(row @ values)
    return torch.stack(rows)


@wrong(SUM)
def weights_cut_off(weights, values):
    return torch.stack([sum(w.item() * v for w, v in zip(row, values, strict=True)) for row in weights])


@wrong(SUM)
def values_cut_off(weights, values):
    return torch.stack([row @ values.detach() for row in weights])


@wrong(SUM)
def half_on_the_way(weights, values):
    return torch.stack([(row.bfloat16() @ values.bfloat16()).float() for row in weights])


@wrong(SUM)
def table_grows(weights, values, rows=[]):  # noqa: B006 - the mistake
    for row in weights:
        rows.append(row @ values)
    return torch.stack(rows[-len(weights) :] if len(rows) < 20 else rows[: len(weights)])


@wrong(SUM)
def list_of_rows(weights, values):
    return [row @ values for row in weights]


@wrong(SUM)
def stacked_on_the_other_side(weights, values):
    return torch.stack([row @ values for row in weights], dim=-1)


@wrong(SUM)
def subtracts(weights, values):
    out = torch.zeros(len(weights), values.shape[1])
    for i in range(len(weights)):
        for j in range(len(values)):
            out[i] -= weights[i, j] * values[j]
    return out


# attention_from_loops: right


@right(ATTENTION)
def three_steps(q, k, v):
    n, m, d = len(q), len(k), q.shape[1]
    scores = torch.zeros(n, m)
    for i in range(n):
        for j in range(m):
            scores[i, j] = q[i] @ k[j] / math.sqrt(d)
    weights = torch.softmax(scores, dim=-1)
    out = torch.zeros(n, v.shape[1])
    for i in range(n):
        for j in range(m):
            out[i] += weights[i, j] * v[j]
    return out


@right(ATTENTION)
def query_by_query(q, k, v):
    out = []
    for query in q:
        weights = torch.softmax(k @ query * k.shape[-1] ** -0.5, dim=0)
        out.append(weights @ v)
    return torch.stack(out)


@right(ATTENTION)
def queries_scaled_first(q, k, v):
    q = q / math.sqrt(q.shape[1])
    rows = [F.softmax(torch.stack([a @ b for b in k]), -1) for a in q]
    return torch.stack([sum(w * x for w, x in zip(row, v, strict=True)) for row in rows])


@right(ATTENTION)
def keys_scaled_first(q, k, v):
    k = k * torch.rsqrt(torch.tensor(float(k.size(1))))
    return torch.stack([F.softmax((k * a).sum(-1), -1) @ v for a in q])


@right(ATTENTION)
def both_scaled_by_the_fourth_root(q, k, v):
    root = q.shape[1] ** 0.25
    return torch.stack([torch.softmax((k / root) @ (a / root), 0) @ v for a in q])


@right(ATTENTION)
def softmax_by_hand(q, k, v):
    out = []
    for a in q:
        scores = torch.stack([torch.dot(a, b) for b in k]) / math.sqrt(len(a))
        grown = torch.exp(scores - scores.max().detach())
        out.append((grown[:, None] * v).sum(0) / grown.sum())
    return torch.stack(out)


@right(ATTENTION)
def divides_at_the_end(q, k, v):
    rows = []
    for a in q:
        scores = (k * a).sum(1) / a.shape[0] ** 0.5
        scores = scores - scores.max()
        total, mixed = 0.0, 0.0
        for s, x in zip(scores, v, strict=True):
            total, mixed = total + s.exp(), mixed + s.exp() * x
        rows.append(mixed / total)
    return torch.stack(rows)


@right(ATTENTION)
def online_softmax(q, k, v):
    rows = []
    for a in q:
        highest, total, mixed = torch.tensor(-math.inf), torch.tensor(0.0), torch.zeros(v.shape[1])
        for b, x in zip(k, v, strict=True):
            score = a @ b / math.sqrt(k.shape[1])
            higher = torch.maximum(highest, score)
            shrink, share = torch.exp(highest - higher), torch.exp(score - higher)
            highest, total, mixed = higher, total * shrink + share, mixed * shrink + share * x
        rows.append(mixed / total)
    return torch.stack(rows)


@right(ATTENTION)
def logarithms(q, k, v):
    rows = []
    for a in q:
        scores = torch.mv(k, a) / math.sqrt(k.shape[1])
        rows.append(torch.exp(scores - torch.logsumexp(scores, 0)) @ v)
    return torch.stack(rows)


@right(ATTENTION)
def one_row_matrices(q, k, v):
    parts = [torch.softmax(a @ k.T / a.shape[-1] ** 0.5, -1) @ v for a in q.split(1)]
    return torch.cat(parts)


@right(ATTENTION)
def earlier_functions(q, k, v):
    scores = torch.stack([torch.stack([a @ b for b in k]) for a in q]) / q.shape[1] ** 0.5
    return rows_and_keys(exp_over_sum(scores), v)


@right(ATTENTION)
def queries_by_recursion(q, k, v):
    if len(q) == 0:
        return torch.zeros(0, v.shape[1])
    row = torch.softmax(k @ q[0] / math.sqrt(k.shape[1]), 0) @ v
    return torch.cat([row[None], queries_by_recursion(q[1:], k, v)])


@right(ATTENTION)
def per_feature_of_the_value(q, k, v):
    out = torch.empty(q.shape[0], v.shape[1])
    for i in range(q.shape[0]):
        weights = torch.softmax((q[i] * k).sum(-1) / torch.tensor(q.shape[1]).sqrt(), -1)
        for f in range(v.shape[1]):
            out[i, f] = (weights * v[:, f]).sum()
    return out


RIGHT[ATTENTION]["partial"] = functools.partial(
    lambda q, k, v, softmax: torch.stack([softmax(k @ a / math.sqrt(len(a))) @ v for a in q]),
    softmax=exp_over_sum,
)


# attention_from_loops: wrong


@wrong(ATTENTION)
def fused(q, k, v):
    return F.scaled_dot_product_attention(q, k, v)


@wrong(ATTENTION)
def fused_in_a_loop(q, k, v):
    return torch.cat([F.scaled_dot_product_attention(a[None], k, v) for a in q])


@wrong(ATTENTION)
def fused_by_getattr(q, k, v):
    name = "_dot_product_attention".join(["scaled", ""])
    return torch.stack([getattr(torch._C._nn, name)(a[None], k, v)[0] for a in q])


@wrong(ATTENTION)
def matrix_products(q, k, v):
    return torch.softmax(q @ k.T / math.sqrt(q.shape[1]), -1) @ v


@wrong(ATTENTION)
def loops_for_scores_only(q, k, v):
    scores = torch.stack([torch.stack([a @ b for b in k]) for a in q]) / math.sqrt(q.shape[1])
    return torch.softmax(scores, -1) @ v


@wrong(ATTENTION)
def loops_for_the_mix_only(q, k, v):
    weights = torch.softmax(q @ k.T / math.sqrt(q.shape[1]), -1)
    return torch.stack([row @ v for row in weights])


@wrong(ATTENTION)
def broadcast_all(q, k, v):
    scores = (q[:, None] * k[None]).sum(-1) / math.sqrt(q.shape[1])
    return (torch.softmax(scores, -1)[..., None] * v).sum(1)


@wrong(ATTENTION)
def scaled_by_the_number_of_queries(q, k, v):
    return torch.stack([torch.softmax(k @ a / math.sqrt(len(q)), 0) @ v for a in q])


@wrong(ATTENTION)
def scaled_twice(q, k, v):
    q = q / math.sqrt(q.shape[1])
    return torch.stack([torch.softmax(k @ a / math.sqrt(len(a)), 0) @ v for a in q])


@wrong(ATTENTION)
def scaled_after_softmax(q, k, v):
    return torch.stack([torch.softmax(k @ a, 0) / math.sqrt(len(a)) @ v for a in q])


@wrong(ATTENTION)
def scale_of_eight(q, k, v):
    return torch.stack([torch.softmax(k @ a / 8, 0) @ v for a in q])


@wrong(ATTENTION)
def scale_rounded_up(q, k, v):
    return torch.stack([torch.softmax(k @ a / math.ceil(math.sqrt(len(a))), 0) @ v for a in q])


@wrong(ATTENTION)
def causal(q, k, v):
    rows = []
    for i in range(len(q)):
        seen = min(i + 1, len(k))
        rows.append(torch.softmax(k[:seen] @ q[i] / math.sqrt(q.shape[1]), 0) @ v[:seen])
    return torch.stack(rows)


@wrong(ATTENTION)
def self_is_left_out(q, k, v):
    rows = []
    for i, a in enumerate(q):
        scores = k @ a / math.sqrt(len(a))
        if i < len(k) > 1:
            scores = scores.index_fill(0, torch.tensor([i]), -math.inf)
        rows.append(torch.softmax(scores, 0) @ v)
    return torch.stack(rows)


@wrong(ATTENTION)
def means_of_values(q, k, v):
    return torch.stack([v.mean(0) for _ in q])


@wrong(ATTENTION)
def mean_of_weighted_values(q, k, v):
    weights = [torch.softmax(k @ a / math.sqrt(len(a)), 0) for a in q]
    return torch.stack([(row[:, None] * v).mean(0) for row in weights])


@wrong(ATTENTION)
def queries_used_as_keys(q, k, v):
    return torch.stack([torch.softmax((q @ a)[: len(v)] / math.sqrt(len(a)), 0) @ v for a in q])


@wrong(ATTENTION)
def keys_ask_queries(q, k, v):
    scores = torch.stack([q @ b for b in k]) / math.sqrt(q.shape[1])
    return torch.stack([row @ v[: len(row)] for row in torch.softmax(scores, -1)])


@wrong(ATTENTION)
def sum_not_divided(q, k, v):
    return torch.stack([torch.exp(k @ a / math.sqrt(len(a))) @ v for a in q])


@wrong(ATTENTION)
def distances(q, k, v):
    return torch.stack([torch.softmax(-(k - a).norm(dim=1) / math.sqrt(len(a)), 0) @ v for a in q])


@wrong(ATTENTION)
def sigmoid_weights(q, k, v):
    return torch.stack([torch.sigmoid(k @ a / math.sqrt(len(a))) @ v for a in q])


@wrong(ATTENTION)
def square_only(q, k, v):
    n = len(q)
    scores = torch.zeros(n, n)
    for i in range(n):
        for j in range(n):
            scores[i, j] = q[i] @ k[j] / math.sqrt(q.shape[1])
    return torch.stack([row @ v for row in torch.softmax(scores, -1)])


@wrong(ATTENTION)
def zeros_for_missing_keys(q, k, v):
    scores = torch.zeros(len(q), len(k))
    for i in range(min(len(q), len(k))):
        for j in range(len(k)):
            scores[i, j] = q[i] @ k[j] / math.sqrt(q.shape[1])
    return torch.stack([row @ v for row in torch.softmax(scores, -1)])


@wrong(ATTENTION)
def weights_detached(q, k, v):
    return torch.stack([torch.softmax(k @ a / math.sqrt(len(a)), 0).detach() @ v for a in q])


@wrong(ATTENTION)
def numbers_only(q, k, v):
    return torch.tensor([(torch.softmax(k @ a / math.sqrt(len(a)), 0) @ v).tolist() for a in q])


@wrong(ATTENTION)
def output_and_weights(q, k, v):
    weights = torch.stack([torch.softmax(k @ a / math.sqrt(len(a)), 0) for a in q])
    return torch.stack([row @ v for row in weights]), weights


@wrong(ATTENTION)
def residual(q, k, v):
    out = torch.stack([torch.softmax(k @ a / math.sqrt(len(a)), 0) @ v for a in q])
    return out + q if out.shape == q.shape else out


@wrong(ATTENTION)
def prints_only(q, k, v):
    print(torch.stack([torch.softmax(k @ a / math.sqrt(len(a)), 0) @ v for a in q]))


@wrong(ATTENTION)
def softmax_without_shift(q, k, v):
    rows = []
    for a in q:
        grown = torch.exp(k @ a / math.sqrt(len(a)))
        rows.append(grown @ v / grown.sum())
    return torch.stack(rows)
