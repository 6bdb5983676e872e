"""Answers to lesson 02 as people write them: right ones in many forms, wrong ones that are no known mistake."""

import functools
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
SCORES, ATTENTION = "matmul.attention_scores", "matmul.attention"
PROJECT, MODULE = "matmul.project_qkv", "matmul.SelfAttention"


# attention_scores: right


@right(SCORES)
def one_product(q, k):
    return q @ k.transpose(-2, -1) / math.sqrt(q.shape[-1])


@right(SCORES)
def torch_matmul(q, k):
    return torch.matmul(q, k.mT) * q.size(-1) ** -0.5


@right(SCORES)
def einsum(q, k):
    return torch.einsum("...nd,...md->...nm", q, k) / q.shape[-1] ** 0.5


@right(SCORES)
def queries_scaled(q, k):
    q = q / math.sqrt(q.shape[-1])
    return q @ k.swapaxes(-1, -2)


@right(SCORES)
def keys_scaled(q, k):
    return q @ (k * k.shape[-1] ** -0.5).transpose(-1, -2)


@right(SCORES)
def fourth_roots(q, k):
    root = q.shape[-1] ** 0.25
    return (q / root) @ (k / root).mT


@right(SCORES)
def scores_by_broadcasting(q, k):
    return (q.unsqueeze(-2) * k.unsqueeze(-3)).sum(-1) / math.sqrt(k.shape[-1])


@right(SCORES)
def folded_into_one_batch(q, k):
    lead = q.shape[:-2]
    flat_q, flat_k = q.reshape(-1, *q.shape[-2:]), k.reshape(-1, *k.shape[-2:])
    product = torch.bmm(flat_q, flat_k.permute(0, 2, 1)) / math.sqrt(q.shape[-1])
    return product.reshape(*lead, q.shape[-2], k.shape[-2])


@right(SCORES)
def permuted(q, k):
    axes = [*range(k.dim() - 2), k.dim() - 1, k.dim() - 2]
    return (q @ k.permute(axes)).div(math.sqrt(q.shape[-1]))


@right(SCORES)
def loops_are_allowed_here(q, k):
    rows = [(q[..., i, None, :] * k).sum(-1) for i in range(q.shape[-2])]
    return torch.stack(rows, -2) / q.shape[-1] ** 0.5


@right(SCORES)
def by_the_other_side(q, k):
    return (k @ q.mT).mT / math.sqrt(q.shape[-1])


@right(SCORES)
def root_as_a_tensor(q, k):
    return q @ k.mT / torch.sqrt(torch.tensor(q.shape[-1], dtype=q.dtype))


@right(SCORES)
def root_as_a_float32_tensor(q, k):
    return q @ k.mT / torch.tensor(float(q.shape[-1])).sqrt()


@right(SCORES)
def in_place_on_the_result(q, k):
    scores = q.matmul(k.transpose(-1, -2))
    scores /= math.sqrt(q.shape[-1])
    return scores


@right(SCORES)
def always_in_double(q, k):
    return (q.double() @ k.double().mT / math.sqrt(q.shape[-1])).to(q.dtype)


RIGHT[SCORES]["partial"] = functools.partial(
    lambda q, k, scale: q @ k.mT * (scale or q.shape[-1] ** -0.5), scale=None
)
RIGHT[SCORES]["lambda"] = lambda q, k, power=0.5: q @ k.transpose(-2, -1) / q.shape[-1] ** power


# attention_scores: wrong


@wrong(SCORES)
def scale_from_the_batch(q, k):
    return q @ k.mT / math.sqrt(q.shape[0])


@wrong(SCORES)
def scale_from_the_second_axis(q, k):
    return q @ k.mT / math.sqrt(q.shape[1])


@wrong(SCORES)
def scores_scale_from_the_queries(q, k):
    return q @ k.mT / math.sqrt(q.shape[-2])


@wrong(SCORES)
def scale_of_width_plus_one(q, k):
    return q @ k.mT / math.sqrt(q.shape[-1] + 1)


@wrong(SCORES)
def scale_by_the_logarithm(q, k):
    return q @ k.mT / math.log(q.shape[-1] + 1)


@wrong(SCORES)
def scale_for_four_axes_only(q, k):
    scores = q @ k.mT
    return scores / math.sqrt(q.shape[-1]) if q.dim() > 2 else scores


@wrong(SCORES)
def negative(q, k):
    return -(q @ k.mT) / math.sqrt(q.shape[-1])


@wrong(SCORES)
def elementwise_product(q, k):
    return q * k / math.sqrt(q.shape[-1])


@wrong(SCORES)
def t_of_two_axes(q, k):
    return q @ k.t() / math.sqrt(q.shape[-1])


@wrong(SCORES)
def capital_t(q, k):
    return q @ k.T / math.sqrt(q.shape[-1])


@wrong(SCORES)
def batches_only(q, k):
    return torch.bmm(q, k.transpose(1, 2)) / math.sqrt(q.shape[-1])


@wrong(SCORES)
def einsum_of_two_axes(q, k):
    return torch.einsum("nd,md->nm", q, k) / math.sqrt(q.shape[-1])


@wrong(SCORES)
def einsum_mixes_samples(q, k):
    if q.dim() != 3:
        return one_product(q, k)
    return torch.einsum("bnd,cmd->bnm", q, k) / math.sqrt(q.shape[-1])


@wrong(SCORES)
def features_of_features(q, k):
    return q.mT @ k / math.sqrt(q.shape[-1])


@wrong(SCORES)
def normalised(q, k):
    return F.normalize(q, dim=-1) @ F.normalize(k, dim=-1).mT


@wrong(SCORES)
def scores_half_on_the_way(q, k):
    return (q.bfloat16() @ k.bfloat16().mT).to(q.dtype) / math.sqrt(q.shape[-1])


@wrong(SCORES)
def always_float32(q, k):
    return torch.empty(*q.shape[:-1], k.shape[-2]).copy_(q @ k.mT / math.sqrt(q.shape[-1]))


@wrong(SCORES)
def rounded_in_double(q, k):
    return (q @ k.mT / math.sqrt(q.shape[-1])).round(decimals=2)


@wrong(SCORES)
def scores_causal(q, k):
    return (q @ k.mT / math.sqrt(q.shape[-1])).tril()


@wrong(SCORES)
def capped(q, k):
    return (50 * torch.tanh(q @ k.mT / math.sqrt(q.shape[-1]) / 50)).to(q.dtype)


@wrong(SCORES)
def keys_only_from_the_first_sample(q, k):
    return q @ k.reshape(-1, *k.shape[-2:])[0].T / math.sqrt(q.shape[-1])


@wrong(SCORES)
def with_its_scale(q, k):
    return q @ k.mT, math.sqrt(q.shape[-1])


_scale = {}


@wrong(SCORES)
def scale_of_the_first_call(q, k):
    return q @ k.mT / _scale.setdefault("it", math.sqrt(q.shape[-1]))


@wrong(SCORES)
def scores_keys_detached(q, k):
    return q @ k.mT.detach() / math.sqrt(q.shape[-1])


@wrong(SCORES)
def keys_scaled_in_place(q, k):
    k.mul_(k.shape[-1] ** -0.5)
    return q @ k.mT


# attention: right


@right(ATTENTION)
def three_lines(q, k, v):
    scores = q @ k.transpose(-2, -1) / math.sqrt(q.shape[-1])
    weights = torch.softmax(scores, dim=-1)
    return weights @ v


@right(ATTENTION)
def einsums(q, k, v):
    scores = torch.einsum("...nd,...md->...nm", q, k) * k.size(-1) ** -0.5
    return torch.einsum("...nm,...me->...ne", scores.softmax(-1), v)


@right(ATTENTION)
def softmax_by_hand(q, k, v):
    scores = (q * q.shape[-1] ** -0.5) @ k.mT
    grown = torch.exp(scores - scores.amax(-1, keepdim=True).detach())
    return grown @ v / grown.sum(-1, keepdim=True)


@right(ATTENTION)
def by_logsumexp(q, k, v):
    scores = q @ k.mT / q.shape[-1] ** 0.5
    return torch.exp(scores - scores.logsumexp(-1, keepdim=True)) @ v


@right(ATTENTION)
def log_softmax_exp(q, k, v):
    return F.log_softmax(q @ (k / math.sqrt(k.shape[-1])).mT, dim=-1).exp() @ v


@right(ATTENTION)
def all_by_broadcasting(q, k, v):
    scores = (q[..., :, None, :] * k[..., None, :, :]).sum(-1) / math.sqrt(q.shape[-1])
    return (F.softmax(scores, -1)[..., None] * v[..., None, :, :]).sum(-2)


@right(ATTENTION)
def by_bmm(q, k, v):
    fold = [x.reshape(-1, *x.shape[-2:]) for x in (q, k, v)]
    weights = torch.bmm(fold[0], fold[1].mT).div(math.sqrt(q.shape[-1])).softmax(dim=2)
    return torch.bmm(weights, fold[2]).reshape(*q.shape[:-1], v.shape[-1])


@right(ATTENTION)
def keys_as_rows(q, k, v):
    weights = torch.softmax(k @ q.mT / math.sqrt(q.shape[-1]), dim=-2)
    return weights.mT @ v


@right(ATTENTION)
def double_inside(q, k, v):
    q64, k64, v64 = q.double(), k.double(), v.double()
    return (torch.softmax(q64 @ k64.mT / math.sqrt(q.shape[-1]), -1) @ v64).to(q.dtype)


@right(ATTENTION)
def with_a_module(q, k, v):
    return nn.Softmax(dim=-1)(q.matmul(k.mT) / k.shape[-1] ** 0.5).matmul(v)


@right(ATTENTION)
def ones_append_the_sum(q, k, v):
    scores = q @ k.mT / math.sqrt(q.shape[-1])
    grown = torch.exp(scores - scores.amax(-1, keepdim=True))
    mixed = grown @ torch.cat([v, torch.ones_like(v[..., :1])], dim=-1)
    return mixed[..., :-1] / mixed[..., -1:]


@right(ATTENTION)
def asserts_and_prints(q, k, v, verbose=True):
    assert q.shape[-1] == k.shape[-1] and k.shape[-2] == v.shape[-2]
    if verbose:
        print(q.shape)
    return three_lines(q, k, v)


@right(ATTENTION)
def in_place_on_temporaries(q, k, v):
    scores = q @ k.mT
    scores.mul_(q.shape[-1] ** -0.5)
    return scores.softmax(-1).matmul(v)


class _Attention(nn.Module):
    def __init__(self, dropout=0.0):
        super().__init__()
        self.dropout = nn.Dropout(dropout)

    def forward(self, q, k, v):
        return self.dropout(torch.softmax(q @ k.mT / math.sqrt(q.shape[-1]), -1)) @ v


RIGHT[ATTENTION]["module"] = _Attention()
RIGHT[ATTENTION]["bound method"] = _Attention().forward
RIGHT[ATTENTION]["partial"] = functools.partial(
    lambda q, k, v, softmax: softmax(q @ k.mT / math.sqrt(q.shape[-1]), dim=-1) @ v, softmax=torch.softmax
)


# attention: wrong


@wrong(ATTENTION)
def fused(q, k, v):
    return F.scaled_dot_product_attention(q, k, v)


@wrong(ATTENTION)
def fused_by_getattr(q, k, v):
    return getattr(F, "scaled_dot_" + "product_attention")(q, k, v)


@wrong(ATTENTION)
def fused_by_torch_ops(q, k, v):
    return torch.ops.aten.scaled_dot_product_attention(q, k, v)


@wrong(ATTENTION)
def fused_math_kernel(q, k, v):
    return torch.ops.aten._scaled_dot_product_attention_math(q, k, v)[0]


class _Fused(nn.Module):
    def __init__(self):
        super().__init__()
        self.attend = functools.partial(F.scaled_dot_product_attention, dropout_p=0.0)

    def forward(self, q, k, v):
        return self.attend(q, k, v)


WRONG[ATTENTION]["fused_in_a_module"] = _Fused()


def _plain(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor) -> torch.Tensor:
    return torch.nn.functional.scaled_dot_product_attention(q, k, v)


@functools.cache
def _scripted():
    return torch.jit.script(_plain)


@wrong(ATTENTION)
def fused_scripted(q, k, v):
    return _scripted()(q, k, v)


@wrong(ATTENTION)
def loop_over_queries(q, k, v):
    rows = [
        torch.softmax(q[..., i : i + 1, :] @ k.mT / math.sqrt(q.shape[-1]), -1) @ v
        for i in range(q.shape[-2])
    ]
    return torch.cat(rows, -2)


@wrong(ATTENTION)
def loop_over_samples(q, k, v):
    if q.dim() == 2:
        return three_lines(q, k, v)
    return torch.stack([loop_over_samples(*one) for one in zip(q, k, v, strict=True)])


@wrong(ATTENTION)
def map_over_keys(q, k, v):
    scores = torch.stack(list(map(lambda key: (q * key[..., None, :]).sum(-1), k.unbind(-2))), -1)  # noqa: C417
    return torch.softmax(scores / math.sqrt(q.shape[-1]), -1) @ v


@wrong(ATTENTION)
def loop_for_show(q, k, v):
    for _ in range(q.shape[-2]):
        pass
    return three_lines(q, k, v)


@wrong(ATTENTION)
def recursion_over_queries(q, k, v):
    if q.shape[-2] == 1:
        return three_lines(q, k, v)
    rest = recursion_over_queries(q[..., 1:, :], k, v)
    return torch.cat([three_lines(q[..., :1, :], k, v), rest], -2)


@wrong(ATTENTION)
def while_loop(q, k, v):
    out, i = [], 0
    while i < q.shape[-2]:
        out.append(three_lines(q[..., i : i + 1, :], k, v))
        i += 1
    return torch.cat(out, -2)


@wrong(ATTENTION)
def scale_from_all_numbers(q, k, v):
    return torch.softmax(q @ k.mT / math.sqrt(q.numel()), -1) @ v


@wrong(ATTENTION)
def scale_from_the_queries(q, k, v):
    return torch.softmax(q @ k.mT / math.sqrt(q.shape[-2]), -1) @ v


@wrong(ATTENTION)
def scale_from_the_first_axis(q, k, v):
    return torch.softmax(q @ k.mT / math.sqrt(q.shape[0]), -1) @ v


@wrong(ATTENTION)
def scale_outside(q, k, v):
    return torch.softmax(q @ k.mT, -1) @ v / math.sqrt(q.shape[-1])


@wrong(ATTENTION)
def scale_by_the_cube_root(q, k, v):
    return torch.softmax(q @ k.mT / q.shape[-1] ** (1 / 3), -1) @ v


@wrong(ATTENTION)
def softmax_over_all(q, k, v):
    scores = q @ k.mT / math.sqrt(q.shape[-1])
    return torch.softmax(scores.flatten(-2), -1).reshape(scores.shape) @ v


@wrong(ATTENTION)
def normalised_by_plain_sum(q, k, v):
    scores = q @ k.mT / math.sqrt(q.shape[-1])
    return scores / scores.sum(-1, keepdim=True) @ v


@wrong(ATTENTION)
def relu_weights(q, k, v):
    scores = torch.relu(q @ k.mT / math.sqrt(q.shape[-1]))
    return scores / (scores.sum(-1, keepdim=True) + 1e-9) @ v


@wrong(ATTENTION)
def causal(q, k, v):
    scores = q @ k.mT / math.sqrt(q.shape[-1])
    blocked = torch.ones(scores.shape[-2:], dtype=torch.bool).triu(1)
    return torch.softmax(scores.masked_fill(blocked, -math.inf), -1) @ v


@wrong(ATTENTION)
def weights_transposed(q, k, v):
    weights = torch.softmax(q @ k.mT / math.sqrt(q.shape[-1]), -1)
    return weights.mT @ v if weights.shape[-1] == weights.shape[-2] else weights @ v


@wrong(ATTENTION)
def values_ask(q, k, v):
    return torch.softmax(v @ k.mT / math.sqrt(q.shape[-1]), -1) @ v


@wrong(ATTENTION)
def clamped_instead_of_shifted(q, k, v):
    grown = torch.exp((q @ k.mT / math.sqrt(q.shape[-1])).clamp(-50, 50))
    return grown / grown.sum(-1, keepdim=True) @ v


@wrong(ATTENTION)
def a_large_epsilon(q, k, v):
    scores = q @ k.mT / math.sqrt(q.shape[-1])
    grown = torch.exp(scores - scores.amax(-1, keepdim=True))
    return grown / (grown.sum(-1, keepdim=True) + 0.01) @ v


@wrong(ATTENTION)
def dropout_left_on(q, k, v):
    return F.dropout(torch.softmax(q @ k.mT / math.sqrt(q.shape[-1]), -1), 0.1) @ v


@wrong(ATTENTION)
def samples_averaged(q, k, v):
    out = three_lines(q, k, v)
    return out.mean(0, keepdim=True).expand(out.shape) if out.dim() == 3 else out


@wrong(ATTENTION)
def wrong_with_heads_only(q, k, v):
    if q.dim() == 4:
        q = q.transpose(1, 2).reshape(q.shape)
    return three_lines(q, k, v)


@wrong(ATTENTION)
def wrong_when_square(q, k, v):
    weights = torch.softmax(q @ k.mT / math.sqrt(q.shape[-1]), -1)
    return weights.mT @ v if q.shape[-2] == k.shape[-2] else weights @ v


@wrong(ATTENTION)
def float32_inside(q, k, v):
    q, k, v = q.float(), k.float(), v.float()
    return three_lines(q, k, v)


@wrong(ATTENTION)
def keys_detached(q, k, v):
    return three_lines(q, k.detach(), v)


@wrong(ATTENTION)
def weights_detached(q, k, v):
    return torch.softmax(q @ k.mT / math.sqrt(q.shape[-1]), -1).detach() @ v


@wrong(ATTENTION)
def normalises_values_in_place(q, k, v):
    v -= v.mean()
    return three_lines(q, k, v)


# project_qkv: right


@right(PROJECT)
def three_products(x, w_q, w_k, w_v):
    return x @ w_q, x @ w_k, x @ w_v


@right(PROJECT)
def linear(x, w_q, w_k, w_v):
    return F.linear(x, w_q.T), F.linear(x, w_k.mT), F.linear(x, w_v.t())


@right(PROJECT)
def einsum_each(x, w_q, w_k, w_v):
    return tuple(torch.einsum("...i,io->...o", x, w) for w in (w_q, w_k, w_v))


@right(PROJECT)
def cut_from_one_product(x, w_q, w_k, w_v):
    return (x @ torch.cat([w_q, w_k, w_v], dim=1)).chunk(3, dim=-1)


@right(PROJECT)
def split_from_one_product(x, w_q, w_k, w_v):
    q, k, v = torch.split(x @ torch.hstack((w_q, w_k, w_v)), w_q.shape[1], dim=-1)
    return q, k, v


@right(PROJECT)
def unbound_from_a_stack(x, w_q, w_k, w_v):
    return torch.einsum("...i,sio->s...o", x, torch.stack([w_q, w_k, w_v])).unbind(0)


@right(PROJECT)
def tuple_of_map(x, w_q, w_k, w_v):
    return tuple(map(x.matmul, (w_q, w_k, w_v)))


@right(PROJECT)
def tuple_of_comprehension(x, *weights):
    return tuple([torch.matmul(x, w) for w in weights])


@right(PROJECT)
def projections_by_broadcasting(x, w_q, w_k, w_v):
    return tuple((x[..., None] * w).sum(-2) for w in (w_q, w_k, w_v))


@right(PROJECT)
def flattened(x, w_q, w_k, w_v):
    flat = x.reshape(-1, x.shape[-1])
    q, k, v = (torch.mm(flat, w).reshape(*x.shape[:-1], w.shape[1]) for w in (w_q, w_k, w_v))
    return (q, k, v)


@right(PROJECT)
def from_the_other_side(x, w_q, w_k, w_v):
    return (w_q.T @ x.mT).mT, (w_k.T @ x.mT).mT, (w_v.T @ x.mT).mT


@right(PROJECT)
def tensordot(x, w_q, w_k, w_v):
    return tuple(torch.tensordot(x, w, dims=1) for w in (w_q, w_k, w_v))


RIGHT[PROJECT]["lambda"] = lambda x, w_q, w_k, w_v: (x @ w_q, x @ w_k, x @ w_v)
RIGHT[PROJECT]["partial"] = functools.partial(
    lambda x, w_q, w_k, w_v, bias: (x @ w_q + bias, x @ w_k + bias, x @ w_v + bias), bias=0.0
)


# project_qkv: wrong


@wrong(PROJECT)
def order_vkq(x, w_q, w_k, w_v):
    return x @ w_v, x @ w_k, x @ w_q


@wrong(PROJECT)
def order_rolled(x, w_q, w_k, w_v):
    return x @ w_k, x @ w_v, x @ w_q


@wrong(PROJECT)
def values_from_the_keys_weight(x, w_q, w_k, w_v):
    return x @ w_q, x @ w_k, x @ w_k


@wrong(PROJECT)
def keys_from_the_queries_weight(x, w_q, w_k, w_v):
    return x @ w_q, x @ w_q, x @ w_v


@wrong(PROJECT)
def keys_transposed_already(x, w_q, w_k, w_v):
    return x @ w_q, (x @ w_k).mT, x @ w_v


@wrong(PROJECT)
def as_a_dict(x, w_q, w_k, w_v):
    return {"q": x @ w_q, "k": x @ w_k, "v": x @ w_v}


@wrong(PROJECT)
def as_a_generator(x, w_q, w_k, w_v):
    return (x @ w for w in (w_q, w_k, w_v))


@wrong(PROJECT)
def concatenated(x, w_q, w_k, w_v):
    return torch.cat([x @ w_q, x @ w_k, x @ w_v], dim=-1)


@wrong(PROJECT)
def two_only(x, w_q, w_k, w_v):
    return x @ w_q, x @ w_k


@wrong(PROJECT)
def values_left_as_they_are(x, w_q, w_k, w_v):
    return x @ w_q, x @ w_k, x


@wrong(PROJECT)
def weight_on_the_left(x, w_q, w_k, w_v):
    return w_q @ x, w_k @ x, w_v @ x


@wrong(PROJECT)
def reshaped_weight(x, w_q, w_k, w_v):
    return tuple(F.linear(x, w.reshape(w.shape[1], w.shape[0])) for w in (w_q, w_k, w_v))


@wrong(PROJECT)
def linear_without_transpose(x, w_q, w_k, w_v):
    return tuple(F.linear(x, w) for w in (w_q, w_k, w_v))


@wrong(PROJECT)
def queries_scaled_by_the_input_width(x, w_q, w_k, w_v):
    return x @ w_q / math.sqrt(x.shape[-1]), x @ w_k, x @ w_v


@wrong(PROJECT)
def with_tanh(x, w_q, w_k, w_v):
    return tuple(torch.tanh(x @ w) for w in (w_q, w_k, w_v))


@wrong(PROJECT)
def wrong_for_a_single_sentence(x, w_q, w_k, w_v):
    if x.dim() == 2:
        x = x.unsqueeze(0)
    return x @ w_q, x @ w_k, x @ w_v


@wrong(PROJECT)
def first_sample_only(x, w_q, w_k, w_v):
    x = x[:1].expand(x.shape) if x.dim() > 2 else x
    return x @ w_q, x @ w_k, x @ w_v


@wrong(PROJECT)
def cut_along_the_wrong_axis(x, w_q, w_k, w_v):
    return (x @ torch.cat([w_q, w_k, w_v], dim=1)).unflatten(-1, (-1, 3)).unbind(-1)


@wrong(PROJECT)
def projections_detached(x, w_q, w_k, w_v):
    return x @ w_q.data, x @ w_k.data, x @ w_v.data


@wrong(PROJECT)
def values_without_gradient(x, w_q, w_k, w_v):
    with torch.no_grad():
        v = x @ w_v
    return x @ w_q, x @ w_k, v


@wrong(PROJECT)
def new_random_weights(x, w_q, w_k, w_v):
    return tuple(x @ torch.randn_like(w) for w in (w_q, w_k, w_v))


@wrong(PROJECT)
def half_on_the_way(x, w_q, w_k, w_v):
    return tuple((x.half() @ w.half()).to(x.dtype) for w in (w_q, w_k, w_v))


@wrong(PROJECT)
def buffers_of_float32(x, w_q, w_k, w_v):
    out = torch.zeros(3, *x.shape[:-1], w_q.shape[1])
    for i, w in enumerate((w_q, w_k, w_v)):
        out[i] = x @ w
    return tuple(out)


@wrong(PROJECT)
def weights_normalised_in_place(x, w_q, w_k, w_v):
    for w in (w_q, w_k, w_v):
        w /= w.norm()
    return x @ w_q, x @ w_k, x @ w_v


# SelfAttention: right


def _three(d_in, d_out):
    return (nn.Parameter(torch.randn(d_in, d_out)) for _ in range(3))


class _Base(nn.Module):
    """Three right parameters; the forms below differ in forward."""

    def __init__(self, d_in, d_out):
        super().__init__()
        self.W_query, self.W_key, self.W_value = _three(d_in, d_out)

    def project(self, x):
        return x @ self.W_query, x @ self.W_key, x @ self.W_value


@right(MODULE)
class AsInTheLesson(nn.Module):
    def __init__(self, d_in, d_out):
        super().__init__()
        self.W_query = nn.Parameter(torch.rand(d_in, d_out))
        self.W_key = nn.Parameter(torch.rand(d_in, d_out))
        self.W_value = nn.Parameter(torch.rand(d_in, d_out))

    def forward(self, x):
        q, k, v = x @ self.W_query, x @ self.W_key, x @ self.W_value
        scores = q @ k.transpose(-2, -1) / math.sqrt(q.shape[-1])
        return torch.softmax(scores, dim=-1) @ v


@right(MODULE)
class EmptyThenXavier(nn.Module):
    def __init__(self, d_in: int, d_out: int, gain: float = 1.0):
        super().__init__()
        self.d_out = d_out
        for name in ("W_query", "W_key", "W_value"):
            self.register_parameter(name, nn.Parameter(torch.empty(d_in, d_out)))
        self.reset_parameters(gain)

    def reset_parameters(self, gain):
        for parameter in self.parameters():
            nn.init.xavier_uniform_(parameter, gain)

    def forward(self, x):
        q, k, v = (torch.matmul(x, w) for w in (self.W_query, self.W_key, self.W_value))
        return F.softmax(q @ k.mT * self.d_out**-0.5, -1) @ v


@right(MODULE)
class ScaleAsABuffer(_Base):
    def __init__(self, d_in, d_out):
        super().__init__(d_in, d_out)
        self.register_buffer("scale", torch.tensor(d_out**-0.5))

    def forward(self, x):
        q, k, v = self.project(x)
        return (q @ k.mT * self.scale).softmax(-1) @ v


@right(MODULE)
class Helpers(_Base):
    def _weights(self, q, k):
        return torch.softmax(q @ k.swapaxes(-1, -2) / k.shape[-1] ** 0.5, dim=-1)

    def forward(self, x):
        q, k, v = self.project(x)
        return self._weights(q, k) @ v


@right(MODULE)
class ByEinsum(_Base):
    def forward(self, x):
        q, k, v = (torch.einsum("...ti,io->...to", x, w) for w in (self.W_query, self.W_key, self.W_value))
        weights = torch.softmax(torch.einsum("...no,...mo->...nm", q, k) / math.sqrt(q.size(-1)), -1)
        return torch.einsum("...nm,...mo->...no", weights, v)


@right(MODULE)
class FusedProduct(_Base):
    def forward(self, x):
        packed = x @ torch.cat([self.W_query, self.W_key, self.W_value], 1)
        q, k, v = packed.chunk(3, -1)
        return torch.softmax(q @ k.mT / math.sqrt(q.shape[-1]), -1) @ v


@right(MODULE)
class KeysAndQueriesInOneMatrix(_Base):
    def forward(self, x):
        bilinear = self.W_query @ self.W_key.T / math.sqrt(self.W_key.shape[1])
        return torch.softmax(x @ bilinear @ x.mT, -1) @ (x @ self.W_value)


@right(MODULE)
class ValuesProjectedLast(_Base):
    def forward(self, x):
        q, k, _ = self.project(x)
        return torch.softmax(q @ k.mT / math.sqrt(q.shape[-1]), -1) @ x @ self.W_value


@right(MODULE)
class SoftmaxByHand(_Base):
    def forward(self, x):
        q, k, v = self.project(x)
        scores = q @ k.mT / math.sqrt(q.shape[-1])
        grown = (scores - scores.detach().amax(-1, keepdim=True)).exp()
        return grown @ v / grown.sum(-1, keepdim=True)


@right(MODULE)
class KeepsItsWeights(_Base):
    def forward(self, x):
        q, k, v = self.project(x)
        self.weights = torch.softmax(q @ k.mT / math.sqrt(q.shape[-1]), -1)
        return self.weights @ v


@right(MODULE)
class WithDropoutOfZero(_Base):
    def __init__(self, d_in, d_out, dropout=0.0, bias=False):
        super().__init__(d_in, d_out)
        self.dropout = nn.Dropout(dropout)

    def forward(self, x, verbose=False):
        q, k, v = self.project(x)
        return self.dropout(torch.softmax(q @ k.mT / math.sqrt(q.shape[-1]), -1)) @ v


@right(MODULE)
class LoopsOverSamples(_Base):
    def forward(self, x):
        if x.dim() > 2:
            return torch.stack([self.forward(one) for one in x])
        q, k, v = self.project(x)
        return torch.stack([torch.softmax(k @ a / math.sqrt(len(a)), 0) @ v for a in q])


@right(MODULE)
class SubmoduleAttends(_Base):
    def __init__(self, d_in, d_out):
        super().__init__(d_in, d_out)
        self.attend = _Attention()

    def forward(self, x):
        return self.attend(*self.project(x))


def _factory(d_in, d_out):
    return AsInTheLesson(d_in, d_out)


RIGHT[MODULE]["factory"] = _factory
RIGHT[MODULE]["partial"] = functools.partial(EmptyThenXavier, gain=2.0)


# SelfAttention: wrong


@wrong(MODULE)
class Fused(_Base):
    def forward(self, x):
        return F.scaled_dot_product_attention(*self.project(x))


@wrong(MODULE)
class FusedByMultihead(_Base):
    def forward(self, x):
        q, k, v = self.project(x)
        width = q.shape[-1]
        attend = nn.MultiheadAttention(width, 1, bias=False, batch_first=True).to(x.dtype)
        one = torch.eye(width, dtype=x.dtype)
        with torch.no_grad():
            attend.in_proj_weight.copy_(torch.cat([one] * 3))
            attend.out_proj.weight.copy_(one)
        flat = [t.reshape(-1, *t.shape[-2:]) for t in (q, k, v)]
        return attend(*flat, need_weights=False)[0].reshape(q.shape)


@wrong(MODULE)
class NoSuperInit(nn.Module):
    def __init__(self, d_in, d_out):
        self.W_query, self.W_key, self.W_value = _three(d_in, d_out)


@wrong(MODULE)
class ShortNames(nn.Module):
    def __init__(self, d_in, d_out):
        super().__init__()
        self.W_q, self.W_k, self.W_v = _three(d_in, d_out)

    def forward(self, x):
        q, k, v = x @ self.W_q, x @ self.W_k, x @ self.W_v
        return torch.softmax(q @ k.mT / math.sqrt(q.shape[-1]), -1) @ v


@wrong(MODULE)
class SquareWeights(_Base):
    def __init__(self, d_in, d_out):
        super().__init__(d_in, d_in)

    def forward(self, x):
        q, k, v = self.project(x)
        return torch.softmax(q @ k.mT / math.sqrt(q.shape[-1]), -1) @ v


@wrong(MODULE)
class ArgumentsSwapped(_Base):
    def __init__(self, d_out, d_in):
        super().__init__(d_in, d_out)

    def forward(self, x):
        q, k, v = self.project(x)
        return torch.softmax(q @ k.mT / math.sqrt(q.shape[-1]), -1) @ v


@wrong(MODULE)
class OtherArgumentNames(_Base):
    def __init__(self, dim_in, dim_out):
        super().__init__(dim_in, dim_out)

    def forward(self, x):
        q, k, v = self.project(x)
        return torch.softmax(q @ k.mT / math.sqrt(q.shape[-1]), -1) @ v


@wrong(MODULE)
class NoForward(_Base):
    pass


@wrong(MODULE)
class ForwardOfThree(_Base):
    def forward(self, q, k, v):
        return torch.softmax(q @ k.mT / math.sqrt(q.shape[-1]), -1) @ v


@wrong(MODULE)
class OneParameterForTwo(_Base):
    def __init__(self, d_in, d_out):
        super().__init__(d_in, d_out)
        self.W_key = self.W_query

    def forward(self, x):
        q, k, v = self.project(x)
        return torch.softmax(q @ k.mT / math.sqrt(q.shape[-1]), -1) @ v


@wrong(MODULE)
class ValuesNotProjected(_Base):
    def forward(self, x):
        q, k, _ = self.project(x)
        return torch.softmax(q @ k.mT / math.sqrt(q.shape[-1]), -1) @ x


@wrong(MODULE)
class WeightsCopiedAtStart(_Base):
    def __init__(self, d_in, d_out):
        super().__init__(d_in, d_out)
        self.fixed = [w.detach().clone() for w in (self.W_query, self.W_key, self.W_value)]

    def forward(self, x):
        q, k, v = (x @ w.to(x.dtype) for w in self.fixed)
        return torch.softmax(q @ k.mT / math.sqrt(q.shape[-1]), -1) @ v


class _Cached(_Base):
    def forward(self, x):
        if not hasattr(self, "kept") or self.kept.shape[:-1] != x.shape[:-1]:
            q, k, v = self.project(x)
            self.kept = (torch.softmax(q @ k.mT / math.sqrt(q.shape[-1]), -1) @ v).detach()
        return self.kept


WRONG[MODULE]["CachedByShape"] = _Cached


@wrong(MODULE)
class PackedWeightKept(_Base):
    def forward(self, x):
        if not hasattr(self, "packed"):
            self.packed = torch.cat([self.W_query, self.W_key, self.W_value], 1).detach()
        q, k, v = (x @ self.packed.to(x.dtype)).chunk(3, -1)
        return torch.softmax(q @ k.mT / math.sqrt(q.shape[-1]), -1) @ v


@wrong(MODULE)
class DropoutInTraining(_Base):
    def forward(self, x):
        q, k, v = self.project(x)
        weights = torch.softmax(q @ k.mT / math.sqrt(q.shape[-1]), -1)
        return F.dropout(weights, 0.1, self.training) @ v


@wrong(MODULE)
class OnlyRightInEval(_Base):
    def forward(self, x):
        q, k, v = self.project(x)
        scores = q @ k.mT
        return torch.softmax(scores if self.training else scores / math.sqrt(q.shape[-1]), -1) @ v


@wrong(MODULE)
class FlattensTheBatch(_Base):
    def forward(self, x):
        flat = x.reshape(-1, x.shape[-1])
        q, k, v = self.project(flat)
        out = torch.softmax(q @ k.mT / math.sqrt(q.shape[-1]), -1) @ v
        return out.reshape(*x.shape[:-1], -1)


@wrong(MODULE)
class BatchesOnly(_Base):
    def forward(self, x):
        assert len(x.shape) == 3
        q, k, v = self.project(x)
        return torch.softmax(q @ k.mT / math.sqrt(q.shape[-1]), -1) @ v


@wrong(MODULE)
class Causal(_Base):
    def forward(self, x):
        q, k, v = self.project(x)
        scores = q @ k.mT / math.sqrt(q.shape[-1])
        blocked = torch.ones(scores.shape[-2:]).triu(1).bool()
        return torch.softmax(scores.masked_fill(blocked, -math.inf), -1) @ v


@wrong(MODULE)
class ScaledAfterSoftmax(_Base):
    def forward(self, x):
        q, k, v = self.project(x)
        return torch.softmax(q @ k.mT, -1) / math.sqrt(q.shape[-1]) @ v


@wrong(MODULE)
class OutputAndWeights(_Base):
    def forward(self, x):
        q, k, v = self.project(x)
        weights = torch.softmax(q @ k.mT / math.sqrt(q.shape[-1]), -1)
        return weights @ v, weights


@wrong(MODULE)
class WithResidualWhereItFits(_Base):
    def forward(self, x):
        q, k, v = self.project(x)
        out = torch.softmax(q @ k.mT / math.sqrt(q.shape[-1]), -1) @ v
        return out + x if out.shape == x.shape else out


@wrong(MODULE)
class AlwaysFloat32(_Base):
    def forward(self, x):
        x = x.to(torch.float32)
        q, k, v = (x @ w.float() for w in (self.W_query, self.W_key, self.W_value))
        return torch.softmax(q @ k.mT / math.sqrt(q.shape[-1]), -1) @ v


@wrong(MODULE)
class ValuesWithoutGradient(_Base):
    def forward(self, x):
        q, k, v = self.project(x)
        return torch.softmax(q @ k.mT / math.sqrt(q.shape[-1]), -1) @ v.detach()


@wrong(MODULE)
class ChangesItsInput(_Base):
    def forward(self, x):
        x += 1.0
        q, k, v = self.project(x)
        return torch.softmax(q @ k.mT / math.sqrt(q.shape[-1]), -1) @ v


@wrong(MODULE)
class NoShift(_Base):
    def forward(self, x):
        q, k, v = self.project(x)
        grown = torch.exp(q @ k.mT / math.sqrt(q.shape[-1]))
        return grown @ v / grown.sum(-1, keepdim=True)
