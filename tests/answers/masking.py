"""Answers to lesson 03 as students might write them: right in other forms, and wrong in ways that the
course's list of mistakes does not hold."""

import functools
import math

import numpy as np
import torch
import torch.nn.functional as F
from torch import nn

LOW = float("-inf")


# causal_mask, right


def _causal_by_loops(n):
    mask = torch.zeros(n, n, dtype=torch.bool)
    for i in range(n):
        for j in range(i + 1):
            mask[i, j] = True
    return mask


def _causal_by_rows(n):
    mask = torch.zeros((n, n)).bool()
    for i in range(n):
        mask[i, : i + 1] = True
    return mask


def _causal_from_a_buffer(n, longest=64):
    return torch.ones(longest, longest, dtype=torch.bool).tril()[:n, :n]


def _causal_by_indices(n):
    mask = torch.zeros(n, n, dtype=torch.bool)
    rows, columns = torch.tril_indices(n, n)
    mask[rows, columns] = True
    return mask


class CausalMask:
    """A callable object."""

    def __call__(self, n):
        return ~torch.triu(torch.full((n, n), True), diagonal=1)


def _causal_printed(n, device=None, verbose=False):
    mask = torch.ones((n, n), dtype=torch.bool, device=device)
    print(mask)
    return torch.tril(mask)


CAUSAL_RIGHT = {
    "tril of ones": lambda n: torch.tril(torch.ones(n, n)).bool(),
    "tril compared": lambda n: torch.tril(torch.ones(n, n)) == 1,
    "triu turned": lambda n: torch.triu(torch.ones(n, n), diagonal=1) == 0,
    "triu negated": lambda n: ~torch.triu(torch.ones(n, n, dtype=torch.bool), 1),
    "positions compared": lambda n: torch.arange(n).view(-1, 1) >= torch.arange(n),
    "positions, transposed": lambda n: (torch.arange(n)[:, None] <= torch.arange(n)[None, :]).T,
    "less than the next": lambda n: torch.arange(n) < torch.arange(1, n + 1).unsqueeze(1),
    "a list of lists": lambda n: torch.tensor([[j <= i for j in range(n)] for i in range(n)]),
    "stacked rows": lambda n: torch.stack([torch.arange(n) <= i for i in range(n)]),
    "running sum": lambda n: torch.eye(n).cumsum(dim=0).T.flip(0).flip(1) > 0,
    "eye added up": lambda n: torch.eye(n).flip(1).cumsum(1).flip(1).bool(),
    "NumPy": lambda n: torch.from_numpy(np.tril(np.ones((n, n), dtype=bool))),
    "PyTorch's own": lambda n: nn.Transformer.generate_square_subsequent_mask(n) == 0,
    "two loops": _causal_by_loops,
    "row by row": _causal_by_rows,
    "cut from a buffer": _causal_from_a_buffer,
    "by indices": _causal_by_indices,
    "an object": CausalMask(),
    "prints, more arguments": _causal_printed,
    "a partial": functools.partial(_causal_from_a_buffer, longest=50),
}


def _causal_strict_with_first(n):
    mask = torch.tril(torch.ones(n, n), -1).bool()
    mask[0, 0] = True
    return mask


def _causal_rows_short(n):
    mask = torch.zeros(n, n, dtype=torch.bool)
    for i in range(n - 1):
        mask[i, : i + 1] = True
    return mask


CAUSAL_WRONG = {
    "blocked ones marked": lambda n: torch.triu(torch.ones(n, n), diagonal=1).bool(),
    "blocked ones marked, floats": lambda n: torch.triu(torch.ones(n, n), diagonal=1),
    "floats": lambda n: torch.tril(torch.ones(n, n)),
    "PyTorch's additive one": nn.Transformer.generate_square_subsequent_mask,
    "minus infinity": lambda n: torch.triu(torch.full((n, n), LOW), diagonal=1),
    "strict": lambda n: torch.tril(torch.ones(n, n), diagonal=-1).bool(),
    "upper": lambda n: torch.triu(torch.ones(n, n, dtype=torch.bool)),
    "one ahead": lambda n: torch.tril(torch.ones(n, n, dtype=torch.bool), diagonal=1),
    "strictly smaller position": lambda n: torch.arange(n)[:, None] > torch.arange(n),
    "a vector": lambda n: torch.ones(n, dtype=torch.bool),
    "an axis in front": lambda n: torch.tril(torch.ones(1, n, n)).bool(),
    "uint8": lambda n: torch.tril(torch.ones(n, n, dtype=torch.uint8)),
    "one larger": lambda n: torch.tril(torch.ones(n + 1, n + 1)).bool(),
    "flipped": lambda n: torch.tril(torch.ones(n, n)).bool().flip(1),
    "all": lambda n: torch.ones(n, n).bool(),
    "none": lambda n: torch.zeros(n, n, dtype=torch.bool),
    "first column patched": _causal_strict_with_first,
    "last row empty": _causal_rows_short,
    "a NumPy array": lambda n: np.tril(np.ones((n, n), dtype=bool)),
    "a window of three": lambda n: torch.tril(torch.ones(n, n)).triu(-2).bool(),
}


# padding_mask


def _padding_by_loops(lengths, max_len):
    mask = torch.zeros(len(lengths), max_len, dtype=torch.bool)
    for i, length in enumerate(lengths):
        mask[i, :length] = True
    return mask


def _padding_by_entries(lengths, max_len):
    rows = []
    for length in lengths.tolist():
        rows.append([position < length for position in range(max_len)])
    return torch.tensor(rows)


def _padding_by_counting_down(lengths, max_len):
    rest = lengths.clone()
    columns = []
    for _ in range(max_len):
        columns.append(rest > 0)
        rest -= 1
    return torch.stack(columns, dim=1)


def _padding_blocked_first(lengths, max_len):
    mask = torch.full((lengths.shape[0], max_len), True)
    for i in range(lengths.shape[0]):
        mask[i, lengths[i] :] = False
    return mask


def _padding_by_scatter(lengths, max_len):
    ends = torch.zeros(len(lengths), max_len + 1, dtype=torch.long)
    ends.scatter_(1, lengths.long()[:, None], 1)
    return ends.cumsum(1)[:, :max_len] == 0


def _padding_repeated(lengths, max_len):
    positions = torch.arange(max_len).repeat(len(lengths), 1)
    return positions < lengths.view(-1, 1).repeat(1, max_len)


PADDING_RIGHT = {
    "compared": lambda lengths, max_len: torch.arange(max_len).unsqueeze(0) < lengths.unsqueeze(1),
    "compared from the other side": lambda lengths, max_len: lengths[:, None] > torch.arange(max_len),
    "counted from one": lambda lengths, max_len: torch.arange(1, max_len + 1) <= lengths.reshape(-1, 1),
    "negated": lambda lengths, max_len: ~(torch.arange(max_len) >= lengths[:, None]),
    "in floats": lambda lengths, max_len: torch.arange(max_len).float() < lengths.float()[:, None],
    "transposed": lambda lengths, max_len: (torch.arange(max_len)[:, None] < lengths).T,
    "stacked": lambda lengths, max_len: torch.stack([torch.arange(max_len) < n for n in lengths]),
    "concatenated": lambda lengths, max_len: torch.stack(
        [torch.cat((torch.ones(n), torch.zeros(max_len - n))).bool() for n in lengths.tolist()]
    ),
    "torch.lt": lambda lengths, max_len: torch.lt(torch.arange(max_len), lengths.unsqueeze(-1)),
    "a triangle's rows": lambda lengths, max_len: torch.tril(
        torch.ones(max_len + 1, max_len), diagonal=-1
    ).bool()[lengths.long()],
    "vmap": lambda lengths, max_len: torch.vmap(lambda n: torch.arange(max_len) < n)(lengths),
    "slices": _padding_by_loops,
    "entries": _padding_by_entries,
    "counted down": _padding_by_counting_down,
    "blocked from the end on": _padding_blocked_first,
    "scattered ends": _padding_by_scatter,
    "repeated": _padding_repeated,
}


def _padding_of_the_longest_loops(lengths, max_len):
    mask = torch.zeros(len(lengths), max(lengths), dtype=torch.bool)
    for i, length in enumerate(lengths):
        mask[i, :length] = True
    return mask


def _padding_last_token_forgotten(lengths, max_len):
    mask = torch.zeros(len(lengths), max_len, dtype=torch.bool)
    for i, length in enumerate(lengths):
        mask[i, : length - 1] = True
    return mask


def _padding_left_by_slices(lengths, max_len):
    mask = torch.zeros(len(lengths), max_len, dtype=torch.bool)
    for i, length in enumerate(lengths):
        mask[i, -length:] = True
    return mask


def _padding_one_mark(lengths, max_len):
    mask = torch.zeros(len(lengths), max_len, dtype=torch.bool)
    for i, length in enumerate(lengths):
        mask[i, min(length, max_len - 1)] = True
    return mask


def _padding_one_row(lengths, max_len):
    return torch.arange(max_len) < lengths.max()


def _padding_first_sample_only(lengths, max_len):
    for length in lengths:
        return (torch.arange(max_len) < length)[None]


PADDING_WRONG = {
    "padding marked": lambda lengths, max_len: torch.arange(max_len)[None, :] >= lengths[:, None],
    "one more": lambda lengths, max_len: torch.arange(max_len) <= lengths.unsqueeze(1),
    "one less": lambda lengths, max_len: torch.arange(max_len) < lengths.unsqueeze(1) - 1,
    "floats": lambda lengths, max_len: (torch.arange(max_len) < lengths[:, None]).float(),
    "ints": lambda lengths, max_len: (torch.arange(max_len) < lengths[:, None]).int(),
    "tokens first": lambda lengths, max_len: torch.arange(max_len)[:, None] < lengths,
    "four axes": lambda lengths, max_len: (torch.arange(max_len) < lengths[:, None])[:, None, None],
    "no axis added": lambda lengths, max_len: torch.arange(max_len) < lengths,
    "as wide as the longest": _padding_of_the_longest_loops,
    "last token forgotten": _padding_last_token_forgotten,
    "left": _padding_left_by_slices,
    "one mark": _padding_one_mark,
    "one row": _padding_one_row,
    "first sample only": _padding_first_sample_only,
    "equal": lambda lengths, max_len: torch.arange(max_len) == lengths[:, None],
    "everything": lambda lengths, max_len: torch.ones(len(lengths), max_len, dtype=torch.bool),
    "one too wide": lambda lengths, max_len: torch.arange(max_len + 1) < lengths[:, None],
    "a tuple": lambda lengths, max_len: (torch.arange(max_len) < lengths[:, None], lengths),
}


# masked_attention


def _attend(q, k, v, mask=None, *, weigh):
    scores = q @ k.transpose(-2, -1) / math.sqrt(k.size(-1))
    return weigh(scores, mask) @ v


def _filled_then_cleaned(q, k, v, mask=None):
    scores = torch.matmul(q, k.mT) * q.shape[-1] ** -0.5
    if mask is not None:
        scores = scores.masked_fill(~mask, LOW)
    return torch.nan_to_num(torch.softmax(scores, dim=-1), 0.0) @ v


def _where_and_any(q, k, v, mask=None):
    scores = torch.einsum("...nd,...md->...nm", q, k) / q.shape[-1] ** 0.5
    if mask is None:
        return torch.einsum("...nm,...me->...ne", scores.softmax(-1), v)
    scores = torch.where(mask, scores, torch.finfo(scores.dtype).min)
    weights = scores.softmax(-1) * mask.any(dim=-1, keepdim=True)
    return torch.einsum("...nm,...me->...ne", weights, v)


def _renormalised(q, k, v, mask=None):
    weights = torch.softmax((q / math.sqrt(q.shape[-1])) @ k.transpose(-1, -2), dim=-1)
    if mask is not None:
        weights = weights * mask
        weights = weights / weights.sum(-1, keepdim=True).clamp(min=1e-30)
    return weights @ v


def _by_exponentials(q, k, v, mask=None):
    scores = (q * k.shape[-1] ** -0.25) @ (k * k.shape[-1] ** -0.25).transpose(-2, -1)
    grown = torch.exp(scores - scores.amax(dim=-1, keepdim=True).detach())
    if mask is not None:
        grown = grown * mask
    total = grown.sum(dim=-1, keepdim=True)
    return (grown / torch.where(total == 0, 1.0, total)) @ v


def _filled_then_zeroed(q, k, v, mask=None):
    scores = q @ k.transpose(-2, -1) / math.sqrt(q.shape[-1])
    if mask is None:
        mask = torch.ones_like(scores, dtype=torch.bool)
    mask = mask.expand_as(scores)
    weights = torch.softmax(scores.masked_fill(mask.logical_not(), -1e30), dim=-1)
    return weights.masked_fill(~mask, 0.0) @ v


def _added_bias(q, k, v, mask=None):
    scores = q @ k.transpose(-2, -1) / math.sqrt(q.shape[-1])
    if mask is None:
        return scores.softmax(dim=-1) @ v
    nothing = ~mask.any(dim=-1, keepdim=True)
    bias = torch.zeros(mask.shape, dtype=q.dtype).masked_fill(~(mask | nothing), LOW)
    return (scores + bias).softmax(dim=-1).masked_fill(nothing, 0) @ v


def _times_big_number(q, k, v, mask=None):
    scores = q @ k.transpose(-2, -1) / math.sqrt(q.shape[-1])
    if mask is not None:
        scores = scores + (1.0 - mask.to(scores.dtype)) * -1e30
    weights = torch.softmax(scores, dim=-1)
    return (weights if mask is None else weights * mask) @ v


def _output_zeroed(q, k, v, mask=None):
    scores = q @ k.transpose(-2, -1) / math.sqrt(q.shape[-1])
    if mask is None:
        return torch.softmax(scores, -1) @ v
    empty = ~mask.any(-1, keepdim=True)
    scores = scores.masked_fill(~mask & ~empty, LOW)
    return (torch.softmax(scores, -1) @ v).masked_fill(empty, 0.0)


def _in_place_on_its_own(q, k, v, mask=None):
    scores = torch.matmul(q, k.transpose(-2, -1))
    scores /= math.sqrt(q.shape[-1])
    if mask is not None:
        scores.masked_fill_(~mask, LOW)
    weights = scores.softmax(dim=-1)
    return torch.where(torch.isnan(weights), 0, weights) @ v


def _query_by_query(q, k, v, mask=None):
    scores = q @ k.transpose(-2, -1) / q.shape[-1] ** 0.5
    mask = torch.ones((), dtype=torch.bool) if mask is None else mask
    mask = torch.broadcast_to(mask, scores.shape)
    rows = []
    for i in range(q.shape[-2]):
        row = scores[..., i, :].masked_fill(~mask[..., i, :], LOW)
        shares = torch.softmax(row, dim=-1).nan_to_num(0.0)
        rows.append((shares.unsqueeze(-1) * v).sum(dim=-2))
    return torch.stack(rows, dim=-2)


def _one_table_at_a_time(q, k, v, mask=None):
    lead = q.shape[:-2]
    mask = torch.ones(1, 1, dtype=torch.bool) if mask is None else mask
    mask = mask.expand(*lead, q.shape[-2], k.shape[-2]).reshape(-1, q.shape[-2], k.shape[-2])
    flat = [t.reshape(-1, *t.shape[-2:]) for t in (q, k, v)]
    outputs = []
    for a, b, c, seen in zip(*flat, mask, strict=True):
        scores = (a @ b.T) / math.sqrt(a.shape[-1])
        outputs.append(scores.masked_fill(~seen, LOW).softmax(-1).nan_to_num() @ c)
    return torch.stack(outputs).reshape(*lead, q.shape[-2], v.shape[-1])


def _with_baddbmm(q, k, v, mask=None):
    n, m = q.shape[-2], k.shape[-2]
    a, b, c = (t.reshape(-1, *t.shape[-2:]) for t in (q, k, v))
    bias = torch.zeros(*q.shape[:-2], n, m, dtype=q.dtype)
    if mask is not None:
        bias = bias.masked_fill(~mask, torch.finfo(q.dtype).min / 2)
    bias = bias.reshape(-1, n, m)
    weights = torch.baddbmm(bias, a, b.mT, alpha=q.shape[-1] ** -0.5).softmax(-1)
    weights = weights.masked_fill(bias < 0, 0)
    return torch.bmm(weights, c).reshape(*q.shape[:-1], v.shape[-1])


def _by_logsumexp(q, k, v, mask=None):
    scores = q @ k.mT / math.sqrt(q.shape[-1])
    if mask is None:
        return torch.exp(scores - scores.logsumexp(-1, keepdim=True)) @ v
    scores = scores.masked_fill(~mask, -1e30)
    return (torch.exp(scores - scores.logsumexp(-1, keepdim=True)) * mask) @ v


def _dummy_key(q, k, v, mask=None):
    """An extra key of score minus 1e38 that takes what nobody may see."""
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
        if verbose:
            print(scores)
        return self.softmax(scores).nan_to_num() @ v


MASKED_RIGHT = {
    "fill, nan_to_num on weights": _filled_then_cleaned,
    "where finfo.min, any": _where_and_any,
    "softmax, zero, renormalise": _renormalised,
    "exponentials by hand": _by_exponentials,
    "fill -1e30, zero after": _filled_then_zeroed,
    "adds 0/-inf": _added_bias,
    "adds a big number": _times_big_number,
    "zeroes the output": _output_zeroed,
    "in place on its own scores": _in_place_on_its_own,
    "a loop over queries": _query_by_query,
    "a loop over tables": _one_table_at_a_time,
    "baddbmm": _with_baddbmm,
    "logsumexp": _by_logsumexp,
    "one more key": _dummy_key,
    "a module": MaskedAttention(),
    "a partial": functools.partial(
        _attend,
        weigh=lambda s, m: (s if m is None else s.masked_fill(~m, LOW)).softmax(-1).nan_to_num(nan=0.0),
    ),
}


def _variant(block=None, weights=None, output=None, scale=None):
    def masked_attention(q, k, v, mask=None):
        scores = q @ k.transpose(-2, -1) / (scale(q, k) if scale else math.sqrt(q.shape[-1]))
        if mask is not None:
            scores = block(scores, mask) if block else scores.masked_fill(~mask, LOW)
        shares = torch.softmax(scores, dim=-1)
        shares = weights(shares, mask) if weights else shares.nan_to_num()
        mixed = shares @ v
        return output(mixed) if output else mixed

    return masked_attention


def _clean_values(q, k, v, mask=None):
    if mask is not None and mask.dim() >= 2:
        v = v * mask.any(dim=-2).unsqueeze(-1)
    return _filled_then_cleaned(q, k, v)


def _additive_as_is(q, k, v, mask=None):
    scores = q @ k.mT / math.sqrt(q.shape[-1])
    if mask is not None:
        scores += mask
    return F.softmax(scores, dim=-1) @ v


def _without_mask_only(q, k, v, mask=None):
    return torch.softmax(q @ k.mT / math.sqrt(q.shape[-1]), -1) @ v


def _only_two_axes(q, k, v, mask=None):
    scores = q @ k.T / math.sqrt(q.shape[-1])
    if mask is not None:
        scores = scores.masked_fill(~mask, LOW)
    return scores.softmax(-1).nan_to_num() @ v


def _inverts_in_place(q, k, v, mask=None):
    if mask is not None:
        torch.bitwise_not(mask, out=mask)
        q = q.clone()
    scores = q @ k.mT / math.sqrt(q.shape[-1])
    if mask is not None:
        scores = scores.masked_fill(mask, LOW)
    return scores.softmax(-1).nan_to_num() @ v


def _empty_mask_ignored(q, k, v, mask=None):
    if mask is not None and not mask.any():
        mask = None
    return _filled_then_cleaned(q, k, v, mask)


def _small_epsilon(q, k, v, mask=None):
    grown = torch.exp(q @ k.mT / math.sqrt(q.shape[-1]))
    if mask is not None:
        grown = grown * mask
    return grown / (grown.sum(-1, keepdim=True) + 1e-9) @ v


def _fused(q, k, v, mask=None):
    return F.scaled_dot_product_attention(q, k, v, attn_mask=mask)


def _fused_by_alias(q, k, v, mask=None):
    return getattr(F, "_".join(["scaled", "dot", "product", "attention"]))(q, k, v, mask)


MASKED_WRONG = {
    "the wrong way round, NaN": _variant(block=lambda s, m: s.masked_fill(m, LOW), weights=lambda w, m: w),
    "the wrong way round, where": _variant(block=lambda s, m: torch.where(m, LOW, s)),
    "fills with zero": _variant(block=lambda s, m: torch.where(m, s, 0.0)),
    "times the mask": _variant(block=lambda s, m: s * m),
    "adds the mask": _additive_as_is,
    "fills with -10, cleaned": _variant(block=lambda s, m: s.masked_fill(~m, -10.0), weights=lambda w, m: w),
    "fills with -100": _variant(block=lambda s, m: s.masked_fill(~m, -100.0)),
    "adds -1e4": _variant(block=lambda s, m: s + (~m) * -1e4),
    "adds -1e9": _variant(block=lambda s, m: s + (~m) * -1e9),
    "fills with finfo.min": _variant(block=lambda s, m: s.masked_fill(~m, torch.finfo(s.dtype).min)),
    "NaN left": _variant(weights=lambda w, m: w),
    "output cleaned": _variant(weights=lambda w, m: w, output=torch.nan_to_num),
    "adds -inf, weights cleaned": _variant(block=lambda s, m: s + torch.zeros(m.shape).masked_fill(~m, LOW)),
    "cut after the softmax": _variant(block=lambda s, m: s, weights=lambda w, m: w if m is None else w * m),
    "renormalised to NaN": _variant(
        block=lambda s, m: s,
        weights=lambda w, m: w if m is None else (w * m) / (w * m).sum(-1, keepdim=True),
    ),
    "renormalised over queries": _variant(
        block=lambda s, m: s,
        weights=lambda w, m: w if m is None else (w * m) / (w * m).sum(-2, keepdim=True).clamp(min=1e-9),
    ),
    "values zeroed": _clean_values,
    "mask unused": _without_mask_only,
    "two axes only": _only_two_axes,
    "inverted in place": _inverts_in_place,
    "an all-False mask ignored": _empty_mask_ignored,
    "exp without maximum": _small_epsilon,
    "no scale": _variant(scale=lambda q, k: 1.0),
    "scale from the number of keys": _variant(scale=lambda q, k: math.sqrt(k.shape[-2])),
    "scale from the width": _variant(scale=lambda q, k: q.shape[-1]),
    "mask before scale, -100": _variant(block=lambda s, m: s.masked_fill(~m, -100) / 2),
    "mask needed": lambda q, k, v, mask: _filled_then_cleaned(q, k, v, mask),
    "mask always causal": lambda q, k, v, mask=None: _filled_then_cleaned(
        q, k, v, torch.ones(q.shape[-2], k.shape[-2]).tril().bool()
    ),
    "mask of another name": lambda q, k, v, attn_mask=None: _filled_then_cleaned(q, k, v, attn_mask),
    "mask transposed": lambda q, k, v, mask=None: _filled_then_cleaned(
        q, k, v, None if mask is None else mask.mT
    ),
    "mask given an axis": lambda q, k, v, mask=None: _filled_then_cleaned(
        q, k, v, None if mask is None else mask.unsqueeze(0)
    ),
    "float32 on the way": lambda q, k, v, mask=None: _filled_then_cleaned(
        q.float(), k.float(), v.float(), mask
    ),
    "fused": _fused,
    "fused, hidden name": _fused_by_alias,
    "fused, torch.ops": lambda q, k, v, mask=None: torch.ops.aten.scaled_dot_product_attention(q, k, v, mask),
    "detached": lambda q, k, v, mask=None: _filled_then_cleaned(q.detach(), k, v, mask),
    "weights too": lambda q, k, v, mask=None: (_filled_then_cleaned(q, k, v, mask), q @ k.mT),
}


# combine_masks


def _combined_by_loops(causal, padding):
    batch, n = padding.shape
    mask = torch.zeros(batch, 1, n, n, dtype=torch.bool)
    for b in range(batch):
        for i in range(n):
            for j in range(n):
                mask[b, 0, i, j] = causal[i, j] and padding[b, j]
    return mask


def _combined_by_stacking(causal, padding):
    return torch.stack([causal & row for row in padding])[:, None]


def _combined_blocked(causal, padding):
    mask = causal.repeat(len(padding), 1, 1, 1)
    return mask.masked_fill(~padding[:, None, None, :], False)


def _combined_in_steps(causal, padding):
    mask = causal.clone().unsqueeze(0).unsqueeze(0).repeat(padding.shape[0], 1, 1, 1)
    mask &= padding.unsqueeze(1).unsqueeze(2)
    return mask


COMBINE_RIGHT = {
    "and": lambda causal, padding: causal & padding[:, None, None, :],
    "logical_and": lambda causal, padding: torch.logical_and(
        causal.unsqueeze(0).unsqueeze(0), padding.unsqueeze(1).unsqueeze(1)
    ),
    "views": lambda causal, padding: (
        causal.view(1, 1, *causal.shape) & padding.view(-1, 1, 1, padding.shape[1])
        if causal.is_contiguous() and padding.is_contiguous()
        else causal & padding[:, None, None]
    ),
    "de Morgan": lambda causal, padding: ~(~causal | ~padding[:, None, None, :]),
    "a product": lambda causal, padding: causal * padding[:, None, None, :],
    "a product of floats": lambda causal, padding: causal.float() * padding[:, None, None, :].float() > 0,
    "a smaller one": lambda causal, padding: torch.minimum(causal.int(), padding[:, None, None].int()).bool(),
    "einsum": lambda causal, padding: (
        torch.einsum("nm,bm->bnm", causal.float(), padding.float())[:, None] == 1
    ),
    "where": lambda causal, padding: torch.where(padding[:, None, None, :], causal, False),
    "both in a sum": lambda causal, padding: causal.long() + padding.long()[:, None, None] == 2,
    "expanded": lambda causal, padding: (
        causal.expand(len(padding), 1, -1, -1) & padding[:, None, None, :].expand(-1, 1, padding.shape[1], -1)
    ),
    "loops": _combined_by_loops,
    "stacked": _combined_by_stacking,
    "blocked": _combined_blocked,
    "in place on its own": _combined_in_steps,
}


COMBINE_WRONG = {
    "or": lambda causal, padding: causal[None, None] | padding[:, None, None, :],
    "maximum": lambda causal, padding: torch.maximum(causal.int(), padding[:, None, None].int()).bool(),
    "added": lambda causal, padding: (causal.int() + padding[:, None, None].int()).bool(),
    "rows": lambda causal, padding: causal & padding.unsqueeze(1).unsqueeze(-1),
    "rows and columns": lambda causal, padding: (
        causal & padding[:, None, :, None] & padding[:, None, None, :]
    ),
    "no axes": lambda causal, padding: causal & padding,
    "three axes": lambda causal, padding: causal.unsqueeze(0) & padding.unsqueeze(1),
    "heads first": lambda causal, padding: (causal.unsqueeze(0) & padding.unsqueeze(1)).unsqueeze(0),
    "heads last": lambda causal, padding: (causal.unsqueeze(0) & padding.unsqueeze(1)).unsqueeze(-1),
    "padding the wrong way round": lambda causal, padding: causal & ~padding[:, None, None, :],
    "all the wrong way round": lambda causal, padding: ~(causal & padding[:, None, None, :]),
    "blocked by either": lambda causal, padding: ~causal | ~padding[:, None, None, :],
    "padding only": lambda causal, padding: (
        padding[:, None, None, :].expand(-1, 1, padding.shape[1], -1).clone()
    ),
    "padding not expanded": lambda causal, padding: padding[:, None, None, :],
    "causal only": lambda causal, padding: causal.expand(len(padding), 1, -1, -1),
    "a triangle of its own": lambda causal, padding: (
        torch.ones(causal.shape).tril().bool() & padding[:, None, None]
    ),
    "floats": lambda causal, padding: causal.float() * padding[:, None, None, :],
    "ints": lambda causal, padding: causal.int() & padding[:, None, None, :].int(),
    "a tuple": lambda causal, padding: (causal, padding),
    "python's and": lambda causal, padding: causal and padding,
    "first sample for all": lambda causal, padding: (causal & padding[0]).expand(len(padding), 1, -1, -1),
}


RIGHT = {
    "masking.causal_mask": CAUSAL_RIGHT,
    "masking.padding_mask": PADDING_RIGHT,
    "masking.masked_attention": MASKED_RIGHT,
    "masking.combine_masks": COMBINE_RIGHT,
}
WRONG = {
    "masking.causal_mask": CAUSAL_WRONG,
    "masking.padding_mask": PADDING_WRONG,
    "masking.masked_attention": MASKED_WRONG,
    "masking.combine_masks": COMBINE_WRONG,
}
