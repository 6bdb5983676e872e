"""More answers to lesson 03, as people who never saw the course's own might write them."""

import functools
import math

import numpy as np
import torch
import torch.nn.functional as F
from torch import nn

LOW = float("-inf")
RIGHT, WRONG = {}, {}
CAUSAL, PADDING = "masking.causal_mask", "masking.padding_mask"
ATTENTION, COMBINE = "masking.masked_attention", "masking.combine_masks"


def _keep(answers, exercise_id):
    def keep(answer):
        answers.setdefault(exercise_id, {})[answer.__name__] = answer
        return answer

    return keep


right, wrong = functools.partial(_keep, RIGHT), functools.partial(_keep, WRONG)


# causal_mask


def _scripted(n: int) -> torch.Tensor:
    return torch.ones([n, n]).tril() > 0


def _in_steps(n, device=None):
    mask = torch.zeros(n, n, dtype=torch.bool, device=device)
    rows, columns = torch.tril_indices(n, n)
    mask[rows, columns] = True
    return mask


def _by_triu_in_place(n):
    mask = torch.ones(n, n)
    mask.triu_(diagonal=1)
    return mask.eq(0)


def _by_meshgrid(n):
    i, j = torch.meshgrid(torch.arange(n), torch.arange(n), indexing="ij")
    return torch.ge(i, j)


def _by_growing(n):
    mask = torch.ones(1, 1, dtype=torch.bool)
    for size in range(1, n):
        mask = torch.cat((mask, torch.zeros(size, 1, dtype=torch.bool)), dim=1)
        mask = torch.cat((mask, torch.ones(1, size + 1, dtype=torch.bool)), dim=0)
    return mask


@functools.cache
def _cached(n):
    return torch.ones(n, n, dtype=torch.bool).tril()


class _Causal(nn.Module):
    def forward(self, n):
        return torch.full((n, n), True).tril()


RIGHT[CAUSAL] = {
    "scripted": torch.jit.script(_scripted),
    "indices of the triangle": _in_steps,
    "triu in place": _by_triu_in_place,
    "meshgrid": _by_meshgrid,
    "grown row by row": _by_growing,
    "cached": _cached,
    "a module": _Causal(),
    "minus infinity, compared": lambda n: torch.full((n, n), LOW).triu(1) == 0,
    "isfinite": lambda n: torch.full((n, n), LOW).triu(1).isfinite(),
    "vmap": lambda n: torch.vmap(lambda i: torch.arange(n) <= i)(torch.arange(n)),
    "cumulative sums": lambda n: torch.ones(n, n).cumsum(0) >= torch.ones(n, n).cumsum(1),
    "bytes": lambda n: torch.ones(n, n, dtype=torch.uint8).tril().bool(),
    "NumPy's tri": lambda n: torch.from_numpy(np.tri(n, dtype=bool)),
    "subtract.outer": lambda n: torch.arange(n)[:, None].sub(torch.arange(n)).ge(0),
    "cartesian product": lambda n: torch.tensor([j <= i for i in range(n) for j in range(n)]).view(n, n),
    "logical not of triu": lambda n: torch.logical_not(torch.triu(torch.ones(n, n), diagonal=1)),
    "sums of the identity": lambda n: torch.eye(n).cumsum(1).T > 0,
    "searchsorted": lambda n: (
        torch.searchsorted(torch.arange(n), torch.arange(n))[:, None] >= torch.arange(n)
    ),
}

WRONG[CAUSAL] = {
    "a buffer of sixteen": lambda n: torch.ones(16, 16, dtype=torch.bool).tril()[:n, :n],
    "a buffer of thirty-two": lambda n: torch.ones(32, 32, dtype=torch.bool).tril()[:n, :n],
    "squeezed": lambda n: torch.ones(n, n).tril().squeeze().bool(),
    "one smaller": lambda n: torch.ones(n - 1, n - 1, dtype=torch.bool).tril(),
    "two ahead": lambda n: torch.ones(n, n, dtype=torch.bool).tril(2),
    "a window of two": lambda n: torch.ones(n, n, dtype=torch.bool).tril() & torch.ones(n, n).triu(-1).bool(),
    "other corner": lambda n: torch.ones(n, n, dtype=torch.bool).tril().flip(1),
    "lower and upper": lambda n: torch.ones(n, n).tril().bool() | torch.ones(n, n).triu().bool(),
    "diagonal and last": lambda n: torch.eye(n).bool() | (torch.arange(n) == n - 1)[:, None],
    "doubles": lambda n: torch.ones(n, n, dtype=torch.float64).tril(),
    "a batch of one": lambda n: torch.ones(1, n, n, dtype=torch.bool).tril(),
    "flat": lambda n: torch.ones(n, n, dtype=torch.bool).tril().flatten(),
    "one row of it": lambda n: torch.ones(n, n, dtype=torch.bool).tril()[-1],
    "random triangle": lambda n: torch.rand(n, n).tril() > 0.1,
    "every other": lambda n: torch.ones(n, n, dtype=torch.bool).tril() & (torch.arange(n) % 2 == 0),
    "first key always": lambda n: torch.ones(n, n).tril(-1).bool() | (torch.arange(n) == 0),
    "additive, low number": lambda n: torch.full((n, n), -1e9).triu(1),
    "the first token sees all": lambda n: torch.ones(n, n).tril().bool() | (torch.arange(n) == 0)[:, None],
    "prints": lambda n: print(torch.ones(n, n).tril()),
    "ints of bool": lambda n: torch.ones(n, n, dtype=torch.bool).tril().to(torch.int8),
    "number of tokens as a tensor": lambda n: torch.ones(n.item(), n.item()).tril().bool(),
    "tril of zeros": lambda n: torch.zeros(n, n, dtype=torch.bool).tril(),
}


# padding_mask


def _by_cumsum(lengths, max_len):
    marks = torch.zeros(len(lengths), max_len + 1, dtype=torch.long)
    marks[torch.arange(len(lengths)), lengths.long()] = 1
    return marks.cumsum(1)[:, :-1] == 0


def _by_one_hot(lengths, max_len):
    ends = F.one_hot(lengths.long(), max_len + 1)
    return ends.flip(1).cumsum(1).flip(1)[:, 1:].bool()


def _filled_rows(lengths, max_len):
    mask = torch.full((lengths.shape[0], max_len), False)
    for i, n in enumerate(lengths):
        mask[i, :n] = True
    return mask


def _nested_lists(lengths, max_len):
    rows = [[1] * int(n) + [0] * (max_len - int(n)) for n in lengths]
    return torch.tensor(rows, dtype=torch.bool)


def _pad_sequence(lengths, max_len):
    rows = [torch.ones(int(n)) for n in lengths] + [torch.ones(max_len)]
    return nn.utils.rnn.pad_sequence(rows, batch_first=True)[:-1].bool()


def _by_padding(lengths, max_len):
    return torch.stack([F.pad(torch.ones(int(n)), (0, max_len - int(n))) for n in lengths]).bool()


def _masked_in_place(lengths, max_len):
    mask = torch.ones(lengths.numel(), max_len)
    mask.masked_fill_(torch.arange(max_len).expand(len(lengths), -1).ge(lengths.unsqueeze(1)), 0)
    return mask == 1


RIGHT[PADDING] = {
    "running sum": _by_cumsum,
    "one_hot": _by_one_hot,
    "filled rows": _filled_rows,
    "nested lists": _nested_lists,
    "pad_sequence": _pad_sequence,
    "F.pad": _by_padding,
    "masked_fill": _masked_in_place,
    "on lengths' device": lambda lengths, max_len: (
        torch.arange(max_len, device=lengths.device).unsqueeze(0) < lengths.unsqueeze(-1)
    ),
    "arange of its type": lambda lengths, max_len: (
        torch.arange(max_len, dtype=lengths.dtype).repeat(lengths.size(0), 1) < lengths.view(-1, 1)
    ),
    "torch.gt": lambda lengths, max_len: torch.gt(lengths[..., None], torch.arange(max_len)),
    "le of the one before": lambda lengths, max_len: torch.arange(max_len) <= lengths.reshape(-1, 1) - 1,
    "sign": lambda lengths, max_len: (lengths[:, None] - torch.arange(max_len)).clamp(0, 1).bool(),
    "vmap": lambda lengths, max_len: torch.vmap(lambda n: torch.arange(max_len) < n)(lengths),
    "rows of a triangle": lambda lengths, max_len: (
        torch.ones(max_len + 1, max_len).tril(-1).bool()[lengths.long()]
    ),
    "NumPy": lambda lengths, max_len: torch.from_numpy(np.arange(max_len)[None] < lengths.numpy()[:, None]),
    "nested comprehensions": lambda lengths, max_len: torch.tensor(
        [[p < n for p in range(max_len)] for n in lengths.tolist()], dtype=torch.bool
    ),
    "cumsum of ones": lambda lengths, max_len: (
        torch.ones(len(lengths), max_len).cumsum(dim=1).le(lengths[:, None])
    ),
    "stacked": lambda lengths, max_len: torch.stack([torch.arange(max_len) < n for n in lengths]),
    "extra argument": lambda lengths, max_len, device="cpu": (
        torch.arange(max_len, device=device) < lengths[:, None]
    ),
}


def _sorted_lengths(lengths, max_len):
    return torch.arange(max_len) < lengths.sort(descending=True).values[:, None]


def _at_least_one(lengths, max_len):
    return torch.arange(max_len) < lengths.clamp(min=1)[:, None]


def _last_one_off(lengths, max_len):
    mask = torch.zeros(len(lengths), max_len, dtype=torch.bool)
    for i, n in enumerate(lengths):
        mask[i, : n - 1] = True
    return mask


def _index_of_the_end(lengths, max_len):
    mask = torch.ones(len(lengths), max_len, dtype=torch.bool)
    for i, n in enumerate(lengths):
        mask[i, n] = False
    return mask


def _changes_lengths(lengths, max_len):
    lengths[lengths > max_len] = max_len
    lengths.sub_(1)
    return torch.arange(max_len) <= lengths[:, None]


def _only_the_length_itself(lengths, max_len):
    return torch.arange(1, max_len + 1) == lengths[:, None]


WRONG[PADDING] = {
    "sorted": _sorted_lengths,
    "at least one": _at_least_one,
    "slices one short": _last_one_off,
    "one index": _index_of_the_end,
    "changes lengths": _changes_lengths,
    "the last real one": _only_the_length_itself,
    "batch as columns": lambda lengths, max_len: torch.arange(max_len)[:, None] < lengths,
    "length ten": lambda lengths, max_len: torch.arange(10) < lengths[:, None],
    "all tokens": lambda lengths, max_len: torch.ones(len(lengths), max_len, dtype=torch.bool),
    "no tokens": lambda lengths, max_len: torch.zeros(len(lengths), max_len, dtype=torch.bool),
    "index": lambda lengths, max_len: torch.arange(max_len) < torch.arange(len(lengths))[:, None],
    "float and inverted": lambda lengths, max_len: (torch.arange(max_len) >= lengths[:, None]).float(),
    "three axes": lambda lengths, max_len: (torch.arange(max_len) < lengths[:, None])[:, None],
    "squeezed": lambda lengths, max_len: (torch.arange(max_len) < lengths[:, None]).squeeze(),
    "one short and inverted": lambda lengths, max_len: torch.arange(max_len) > lengths[:, None],
    "flipped": lambda lengths, max_len: (torch.arange(max_len) < lengths[:, None]).flip(1),
    "samples flipped": lambda lengths, max_len: (torch.arange(max_len) < lengths[:, None]).flip(0),
    "compared with itself": lambda lengths, max_len: lengths[:, None] < lengths[None, :],
    "shortest for all": lambda lengths, max_len: (torch.arange(max_len) < lengths.min()).expand(
        len(lengths), -1
    ),
    "mean length": lambda lengths, max_len: (torch.arange(max_len) < lengths.float().mean()).expand(
        len(lengths), -1
    ),
    "a set length": lambda lengths, max_len: torch.arange(max(lengths)) < lengths[:, None],
    "numbers of positions": lambda lengths, max_len: torch.arange(max_len).expand(len(lengths), -1),
    "positions kept": lambda lengths, max_len: (
        torch.arange(max_len) * (torch.arange(max_len) < lengths[:, None])
    ),
    "uint8": lambda lengths, max_len: (torch.arange(max_len) < lengths[:, None]).byte(),
}


# masked_attention


def _scores(q, k):
    return q @ k.mT * q.shape[-1] ** -0.5


@right(ATTENTION)
def where_and_where(q, k, v, mask=None):
    scores = torch.matmul(q, k.transpose(-1, -2)) / math.sqrt(k.size(-1))
    if mask is None:
        return scores.softmax(dim=-1).matmul(v)
    weights = torch.where(mask, scores, torch.tensor(LOW, dtype=scores.dtype)).softmax(dim=-1)
    return torch.where(mask.any(dim=-1, keepdim=True), weights, torch.zeros_like(weights)).matmul(v)


@right(ATTENTION)
def maximum_of_allowed(q, k, v, mask=None):
    scores = _scores(q, k)
    mask = torch.ones_like(scores, dtype=torch.bool) if mask is None else mask.expand_as(scores)
    top = scores.masked_fill(~mask, LOW).amax(-1, keepdim=True)
    top = torch.where(top.isinf(), torch.zeros_like(top), top).detach()
    grown = torch.exp((scores - top).masked_fill(~mask, LOW))
    return grown / grown.sum(-1, keepdim=True).clamp_min(1e-20) @ v


@right(ATTENTION)
def indexed_fill(q, k, v, mask=None):
    scores = _scores(q, k)
    if mask is not None:
        blocked = torch.broadcast_to(mask, scores.shape).logical_not()
        scores[blocked] = LOW
        weights = torch.softmax(scores, -1)
        weights = weights.masked_fill(blocked.all(-1, keepdim=True), 0.0)
        return weights @ v
    return torch.softmax(scores, -1) @ v


@right(ATTENTION)
def only_allowed_keys(q, k, v, mask=None):
    shape = (*q.shape[:-1], k.shape[-2])
    mask = torch.ones(shape, dtype=torch.bool) if mask is None else mask.expand(shape)
    flat = [t.reshape(-1, *t.shape[-2:]) for t in (q, k, v, mask)]
    rows = []
    for sample_q, sample_k, sample_v, sample_mask in zip(*flat, strict=True):
        for query, allowed in zip(sample_q, sample_mask, strict=True):
            if allowed.any():
                weights = torch.softmax(sample_k[allowed] @ query / math.sqrt(len(query)), 0)
                rows.append(weights @ sample_v[allowed])
            else:
                rows.append(torch.zeros(v.shape[-1], dtype=v.dtype))
    return torch.stack(rows).view(*q.shape[:-1], v.shape[-1])


@right(ATTENTION)
def default_mask_of_ones(q, k, v, mask=None):
    if mask is None:
        mask = torch.ones(q.size(-2), k.size(-2), dtype=torch.bool, device=q.device)
    scores = torch.einsum("...qd,...kd->...qk", q, k) / q.size(-1) ** 0.5
    scores = scores.masked_fill(mask == False, LOW)  # noqa: E712
    weights = F.softmax(scores, dim=-1)
    weights = torch.where(weights.isnan(), 0.0, weights)
    return torch.einsum("...qk,...kd->...qd", weights, v)


@right(ATTENTION)
def lowest_number_times_mask(q, k, v, mask=None):
    scores = q.matmul(k.mT).div(math.sqrt(q.shape[-1]))
    if mask is None:
        return scores.softmax(-1) @ v
    low = torch.finfo(scores.dtype).min
    return (scores.masked_fill(~mask, low).softmax(-1) * mask.to(scores.dtype)) @ v


@right(ATTENTION)
def log_softmax_exp(q, k, v, mask=None):
    scores = _scores(q, k)
    if mask is not None:
        empty = ~mask.any(-1, keepdim=True)
        scores = scores.masked_fill(~mask & ~empty, LOW)
        return scores.log_softmax(-1).exp().masked_fill(empty, 0) @ v
    return scores.log_softmax(-1).exp() @ v


@right(ATTENTION)
def open_empty_rows(q, k, v, mask=None):
    if mask is None:
        return torch.softmax(_scores(q, k), -1) @ v
    some = mask.any(-1, keepdim=True)
    scores = torch.where(mask | ~some, _scores(q, k), LOW)
    return torch.softmax(scores, -1) * some @ v


@right(ATTENTION)
def in_double_and_back(q, k, v, mask=None):
    a, b, c = q.double(), k.double(), v.double()
    scores = a @ b.transpose(-2, -1) / math.sqrt(a.shape[-1])
    if mask is not None:
        scores = scores.masked_fill(~mask, LOW)
    return (scores.softmax(-1).nan_to_num(0.0) @ c).to(q.dtype)


@right(ATTENTION)
def mapped_over_samples(q, k, v, mask=None):
    def one(q, k, v, mask):
        scores = (q @ k.T / q.shape[-1] ** 0.5).masked_fill(~mask, LOW)
        return torch.softmax(scores, -1).nan_to_num() @ v

    mask = torch.tensor(True) if mask is None else mask
    mask = mask.expand(*q.shape[:-1], k.shape[-2])
    for _ in range(q.dim() - 2):
        one = torch.vmap(one)
    return one(q, k, v, mask)


@right(ATTENTION)
def block_by_block(q, k, v, mask=None):
    mask = torch.ones((), dtype=torch.bool) if mask is None else mask
    mask = mask.expand(*q.shape[:-1], k.shape[-2])
    top = torch.full((*q.shape[:-1], 1), torch.finfo(q.dtype).min, dtype=q.dtype)
    total, output = torch.zeros_like(top), torch.zeros(*q.shape[:-1], v.shape[-1], dtype=q.dtype)
    for start in range(0, k.shape[-2], 2):
        part = slice(start, start + 2)
        scores, open_ = _scores(q, k[..., part, :]), mask[..., part]
        new = torch.maximum(top, scores.masked_fill(~open_, LOW).amax(-1, keepdim=True)).detach()
        grown = torch.exp((scores - new).masked_fill(~open_, LOW))
        kept = torch.exp(top - new)
        output = output * kept + grown @ v[..., part, :]
        total, top = total * kept + grown.sum(-1, keepdim=True), new
    return output / total.masked_fill(total == 0, 1)


@torch.jit.script
def _scripted_attention(
    q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, mask: torch.Tensor
) -> torch.Tensor:
    scores = torch.matmul(q, k.transpose(-2, -1)) / float(q.size(-1)) ** 0.5
    weights = torch.softmax(scores.masked_fill(torch.logical_not(mask), float("-inf")), -1)
    return torch.matmul(torch.nan_to_num(weights), v)


class _Attends:
    """An attention with its settings."""

    def __init__(self, fill=LOW):
        self.fill = fill

    def __call__(self, q, k, v, *, mask=None, **unused):
        return self.attend(q, k, v, mask)

    def attend(self, q, k, v, mask):
        scores = _scores(q, k)
        bias = 0 if mask is None else torch.zeros(mask.shape).masked_fill(~mask, -1e30)
        weights = torch.softmax(scores + bias, dim=-1)
        return (weights if mask is None else weights * mask) @ v


class _Static:
    @staticmethod
    def masked_attention(q, k, v, mask=None, scale=None):
        scores = q @ k.mT * (scale or q.shape[-1] ** -0.5)
        if mask is not None:
            scores = torch.masked_fill(scores, mask ^ True, LOW)
        return torch.nan_to_num(F.softmax(scores, -1), nan=0.0) @ v


RIGHT[ATTENTION] |= {
    "scripted inside": lambda q, k, v, mask=None: _scripted_attention(
        q, k, v, torch.ones(1, 1, dtype=torch.bool) if mask is None else mask
    ),
    "an object": (lambda o: lambda q, k, v, mask=None: o(q, k, v, mask=mask))(_Attends()),
    "staticmethod": _Static.masked_attention,
    "partial": functools.partial(_Static.masked_attention, scale=None),
}


def _masked(q, k, v, mask, *, fill=LOW, scale=None, clean=True, zero=False):
    scores = q @ k.transpose(-2, -1) * (scale or q.shape[-1] ** -0.5)
    if mask is not None:
        scores = scores.masked_fill(~mask, fill)
    weights = torch.softmax(scores, -1)
    weights = weights.nan_to_num() if clean else weights
    if zero and mask is not None:
        weights = weights * mask.any(-1, keepdim=True)
    return weights @ v


@wrong(ATTENTION)
def softmax_over_the_samples(q, k, v, mask=None):
    scores = q @ k.mT / math.sqrt(q.shape[-1])
    if mask is not None:
        scores = scores.masked_fill(~mask, LOW)
    return torch.softmax(scores, dim=0).nan_to_num() @ v


@wrong(ATTENTION)
def fill_of_minus_1e5(q, k, v, mask=None):
    return _masked(q, k, v, mask, fill=-1e5, zero=True)


@wrong(ATTENTION)
def fill_of_minus_50(q, k, v, mask=None):
    return _masked(q, k, v, mask, fill=-50.0, zero=True)


@wrong(ATTENTION)
def fill_of_minus_1000(q, k, v, mask=None):
    return _masked(q, k, v, mask, fill=-1000.0, zero=True)


@wrong(ATTENTION)
def lowest_float_for_empty_rows_too(q, k, v, mask=None):
    return _masked(q, k, v, mask, fill=torch.finfo(q.dtype).min)


@wrong(ATTENTION)
def one_minus_mask(q, k, v, mask=None):
    scores = _scores(q, k)
    if mask is not None:
        scores = scores + (1 - mask) * -1e9
    return torch.softmax(scores, -1) @ v


@wrong(ATTENTION)
def one_minus_float_mask(q, k, v, mask=None):
    scores = _scores(q, k)
    if mask is not None:
        scores = scores + (1 - mask.float()) * -1e9
    return torch.softmax(scores, -1) @ v


@wrong(ATTENTION)
def no_scale_and_wrong_way(q, k, v, mask=None):
    scores = q @ k.transpose(-2, -1)
    if mask is not None:
        scores = scores.masked_fill(mask, LOW)
    return torch.softmax(scores, -1).nan_to_num() @ v


@wrong(ATTENTION)
def multiplied_after_and_no_scale(q, k, v, mask=None):
    weights = torch.softmax(q @ k.transpose(-2, -1), -1)
    return (weights if mask is None else weights * mask) @ v


@wrong(ATTENTION)
def dropout_left_in(q, k, v, mask=None):
    scores = _scores(q, k)
    if mask is not None:
        scores = scores.masked_fill(~mask, LOW)
    return F.dropout(torch.softmax(scores, -1).nan_to_num(), 0.1) @ v


@wrong(ATTENTION)
def mask_zero_and_scores_zero(q, k, v, mask=None):
    scores = _scores(q, k)
    if mask is not None:
        scores = scores * mask
        scores = scores.masked_fill(scores == 0, LOW)
        scores = scores + 0.01
    return torch.softmax(scores, -1).nan_to_num() @ v


@wrong(ATTENTION)
def scores_over_zero_only(q, k, v, mask=None):
    scores = _scores(q, k)
    if mask is not None:
        scores = (scores * mask).masked_fill(scores * mask <= 0, LOW)
    return torch.softmax(scores, -1).nan_to_num() @ v


_REMEMBERED = {}


@wrong(ATTENTION)
def mask_kept_by_shape(q, k, v, mask=None):
    if mask is not None:
        mask = _REMEMBERED.setdefault((tuple(mask.shape), q.dtype), mask)
    return _masked(q, k, v, mask)


@wrong(ATTENTION)
def last_mask_kept(q, k, v, mask=None):
    if mask is None:
        mask = _REMEMBERED.get("last")
    elif mask.shape == (q.shape[-2], k.shape[-2]):
        _REMEMBERED["last"] = mask
    if mask is not None and (mask.shape[-2] not in (1, q.shape[-2]) or mask.shape[-1] != k.shape[-2]):
        mask = None
    return _masked(q, k, v, mask)


@wrong(ATTENTION)
def under_no_grad(q, k, v, mask=None):
    with torch.no_grad():
        return _masked(q, k, v, mask)


@wrong(ATTENTION)
def through_numpy(q, k, v, mask=None):
    scores = _scores(q, k).detach().numpy()
    if mask is not None:
        scores = np.where(mask.numpy(), scores, -np.inf)
    return torch.softmax(torch.from_numpy(scores), -1).nan_to_num() @ v


@wrong(ATTENTION)
def always_float32(q, k, v, mask=None):
    return _masked(q.float(), k.float(), v.float(), mask)


@wrong(ATTENTION)
def mask_of_keys_only(q, k, v, mask=None):
    if mask is not None:
        mask = mask.any(-2, keepdim=True)
    return _masked(q, k, v, mask)


@wrong(ATTENTION)
def mask_of_first_row(q, k, v, mask=None):
    if mask is not None:
        mask = mask[..., :1, :]
    return _masked(q, k, v, mask)


@wrong(ATTENTION)
def first_sample_of_the_mask(q, k, v, mask=None):
    if mask is not None and mask.dim() > 2:
        mask = mask[0]
    return _masked(q, k, v, mask)


@wrong(ATTENTION)
def square_masks_only(q, k, v, mask=None):
    if mask is not None and mask.shape[-1] != mask.shape[-2]:
        mask = None
    return _masked(q, k, v, mask)


@wrong(ATTENTION)
def empty_rows_uniform(q, k, v, mask=None):
    if mask is not None:
        mask = mask | ~mask.any(-1, keepdim=True)
    return _masked(q, k, v, mask)


@wrong(ATTENTION)
def empty_rows_see_themselves(q, k, v, mask=None):
    scores = _scores(q, k)
    if mask is not None:
        scores = scores.masked_fill(~mask, LOW)
        weights = torch.softmax(scores, -1)
        return weights.nan_to_num(1.0 / k.shape[-2]) @ v
    return torch.softmax(scores, -1) @ v


@wrong(ATTENTION)
def softmax_of_allowed_flat(q, k, v, mask=None):
    scores = _scores(q, k)
    if mask is not None:
        scores = scores.masked_fill(~mask, LOW)
    return scores.flatten(-2).softmax(-1).view_as(scores) @ v


@wrong(ATTENTION)
def maximum_of_all_then_cut(q, k, v, mask=None):
    scores = _scores(q, k)
    grown = torch.exp(scores - scores.max())
    grown = grown if mask is None else grown * mask
    return grown / (grown.sum(-1, keepdim=True) + 1e-9) @ v


@wrong(ATTENTION)
def epsilon_in_the_sum(q, k, v, mask=None):
    scores = _scores(q, k)
    scores = scores if mask is None else scores.masked_fill(~mask, LOW)
    top = scores.amax(-1, keepdim=True).clamp(min=-1e30)
    grown = torch.exp(scores - top)
    return grown / (grown.sum(-1, keepdim=True) + 1e-2) @ v


@wrong(ATTENTION)
def in_place_on_the_weights(q, k, v, mask=None):
    scores = _scores(q, k)
    weights = torch.softmax(scores if mask is None else scores.masked_fill(~mask, LOW), -1)
    weights[weights.isnan()] = 0.0
    return weights @ v


@wrong(ATTENTION)
def softmax_before_mask_then_softmax(q, k, v, mask=None):
    weights = torch.softmax(_scores(q, k), -1)
    if mask is not None:
        weights = torch.softmax(weights.masked_fill(~mask, LOW), -1).nan_to_num()
    return weights @ v


@wrong(ATTENTION)
def scale_after_the_fill(q, k, v, mask=None):
    scores = q @ k.transpose(-2, -1)
    if mask is not None:
        scores = scores.masked_fill(~mask, -1e4)
    return torch.softmax(scores / math.sqrt(q.shape[-1]), -1) @ v


@wrong(ATTENTION)
def mask_as_a_bias(q, k, v, mask=None):
    scores = _scores(q, k)
    return torch.softmax(scores if mask is None else scores + mask.float(), -1) @ v


@wrong(ATTENTION)
def mask_on_values(q, k, v, mask=None):
    weights = torch.softmax(_scores(q, k), -1)
    if mask is not None:
        shared = mask.expand(*weights.shape).all(-2)
        return weights @ (v * shared[..., None])
    return weights @ v


@wrong(ATTENTION)
def double_scaled(q, k, v, mask=None):
    return _masked(q / math.sqrt(q.shape[-1]), k, v, mask)


@wrong(ATTENTION)
def scaled_by_eight_heads(q, k, v, mask=None):
    return _masked(q, k, v, mask, scale=1 / 8)


@wrong(ATTENTION)
def positional_mask_missing(q, k, v):
    return _masked(q, k, v, None)


@wrong(ATTENTION)
def default_mask_is_causal(q, k, v, mask=None):
    if mask is None:
        mask = torch.ones(q.shape[-2], k.shape[-2], dtype=torch.bool).tril()
    return _masked(q, k, v, mask)


@wrong(ATTENTION)
def output_zeroed_where_nothing_is_all(q, k, v, mask=None):
    output = _masked(q, k, v, mask, fill=-1e9)
    if mask is not None and not mask.any():
        return torch.zeros_like(output)
    return output


@wrong(ATTENTION)
def keys_and_values_swapped(q, k, v, mask=None):
    return _masked(q, k, v, mask) if k.shape != v.shape else _masked(q, v, k, mask)


@wrong(ATTENTION)
def transposed_when_square(q, k, v, mask=None):
    if mask is not None and mask.shape[-1] == mask.shape[-2]:
        mask = mask.transpose(-2, -1)
    return _masked(q, k, v, mask)


@wrong(ATTENTION)
def sigmoid_shares(q, k, v, mask=None):
    scores = _scores(q, k)
    weights = torch.sigmoid(scores if mask is None else scores.masked_fill(~mask, LOW))
    return weights @ v


@wrong(ATTENTION)
def values_cut_off(q, k, v, mask=None):
    return _masked(q, k, v.detach(), mask)


@wrong(ATTENTION)
def keys_cut_off(q, k, v, mask=None):
    return _masked(q, k.data, v, mask)


@wrong(ATTENTION)
def nan_in_scores_cleaned(q, k, v, mask=None):
    scores = _scores(q, k)
    if mask is not None:
        scores = scores.masked_fill(~mask, LOW).nan_to_num()
    return torch.softmax(scores, -1) @ v


@wrong(ATTENTION)
def forgets_to_keep_the_fill(q, k, v, mask=None):
    scores = _scores(q, k)
    if mask is not None:
        scores.masked_fill(~mask, LOW)
    return torch.softmax(scores, -1) @ v


@wrong(ATTENTION)
def log_of_the_mask(q, k, v, mask=None):
    scores = _scores(q, k)
    if mask is not None:
        scores = scores + mask.to(scores.dtype).log()
    return torch.softmax(scores, -1).nan_to_num() @ v


# combine_masks


def _looped(causal, padding):
    out = torch.empty(len(padding), 1, *causal.shape, dtype=torch.bool)
    for b, real in enumerate(padding):
        out[b, 0] = causal.logical_and(real)
    return out


def _by_index(causal, padding):
    out = causal.repeat(padding.size(0), 1, 1, 1)
    out.masked_fill_(padding.logical_not().view(padding.size(0), 1, 1, -1), False)
    return out


def _by_additive(causal, padding):
    a = torch.zeros(causal.shape).masked_fill(~causal, LOW)
    b = torch.zeros(padding.shape).masked_fill(~padding, LOW)
    return (a + b[:, None, None, :]) == 0


RIGHT[COMBINE] = {
    "looped": _looped,
    "by index": _by_index,
    "sum of additive masks": _by_additive,
    "unsqueezed": lambda causal, padding: (
        causal.unsqueeze(0).unsqueeze(0) & padding.unsqueeze(1).unsqueeze(2)
    ),
    "bitwise": lambda causal, padding: torch.bitwise_and(causal, padding.view(len(padding), 1, 1, -1)),
    "mul": lambda causal, padding: causal.mul(padding[:, None, None]),
    "vmap": lambda causal, padding: torch.vmap(lambda row: (causal & row)[None])(padding),
    "outer": lambda causal, padding: (
        torch.einsum("bm,nm->bnm", padding.double(), causal.double()).unsqueeze(1).bool()
    ),
    "min": lambda causal, padding: torch.stack(
        (causal.expand(len(padding), *causal.shape), padding[:, None].expand(-1, len(causal), -1))
    ).all(0)[:, None],
    "xor": lambda causal, padding: ~(~causal[None, None] | ~padding[:, None, None, :]),
    "reshape": lambda causal, padding: (
        causal.reshape(1, 1, *causal.shape) & padding.reshape(padding.shape[0], 1, 1, padding.shape[1])
    ),
    "masked_fill": lambda causal, padding: (
        causal[None, None].expand(len(padding), -1, -1, -1).masked_fill(~padding[:, None, None], False)
    ),
    "concatenated": lambda causal, padding: torch.cat([(causal & row)[None, None] for row in padding]),
    "greater": lambda causal, padding: causal + padding[:, None, None, :].int() > 1,
    "diagonal matrices": lambda causal, padding: (
        (causal.float() @ torch.diag_embed(padding.float())).unsqueeze(1) > 0
    ),
    "more arguments": lambda causal, padding, n_heads=1: causal & padding[:, None, None, :],
    "comparison": lambda causal, padding: causal * padding[:, None, None, :] == True,  # noqa: E712
}


def _in_place_causal(causal, padding):
    causal &= padding[0]
    return (causal & padding[:, None, None, :]).clone()


WRONG[COMBINE] = {
    "changes causal": _in_place_causal,
    "xor of both": lambda causal, padding: causal ^ padding[:, None, None, :],
    "implies": lambda causal, padding: ~causal | padding[:, None, None, :],
    "queries and causal": lambda causal, padding: causal & padding[:, None, :, None],
    "diagonal only": lambda causal, padding: torch.eye(len(causal)).bool() & padding[:, None, None, :],
    "diagonal kept": lambda causal, padding: (
        causal & padding[:, None, None, :] | torch.eye(len(causal)).bool()
    ),
    "any sample": lambda causal, padding: (causal & padding.any(0)).expand(len(padding), 1, -1, -1),
    "all samples": lambda causal, padding: (causal & padding.all(0)).expand(len(padding), 1, -1, -1),
    "last sample": lambda causal, padding: (causal & padding[-1]).expand(len(padding), 1, -1, -1),
    "batch of one": lambda causal, padding: (causal & padding[0])[None, None],
    "five axes": lambda causal, padding: (causal & padding[:, None, None, :])[None],
    "heads for samples": lambda causal, padding: (causal & padding[:, None, :])[None],
    "flipped padding": lambda causal, padding: causal & padding.flip(1)[:, None, None, :],
    "upper": lambda causal, padding: causal.T & padding[:, None, None, :],
    "neither": lambda causal, padding: ~(causal | padding[:, None, None, :]),
    "doubles": lambda causal, padding: (causal & padding[:, None, None, :]).double(),
    "additive": lambda causal, padding: torch.zeros(len(padding), 1, *causal.shape).masked_fill(
        ~(causal & padding[:, None, None, :]), LOW
    ),
    "expanded over heads": lambda causal, padding: (causal & padding[:, None, None, :]).expand(-1, 2, -1, -1),
    "list": lambda causal, padding: [causal & row for row in padding],
    "padding by samples and keys": lambda causal, padding: (
        causal & padding[:, None, :, None] & padding[:, None, None, :]
    ),
    "ones": lambda causal, padding: torch.ones(len(padding), 1, *causal.shape, dtype=torch.bool),
    "nothing": lambda causal, padding: None,
    "product of floats": lambda causal, padding: causal.float() * padding[:, None, None, :].float(),
    "causal is a number": lambda causal, padding: torch.ones(causal, causal).tril().bool() & padding,
}
