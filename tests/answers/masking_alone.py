"""Wrong answers to lesson 03, each by the one family of cases that catches it: `ALONE` by exercise id and family.

`NAMED`: other wrong answers, each by a family without which the message could not say what is wrong.
"""

import torch
import torch.nn.functional as F


def _causal_by_fused_attention(n):
    zeros = torch.zeros(n, n)
    return F.scaled_dot_product_attention(zeros, zeros, torch.eye(n), is_causal=True) > 0


def _triangle_of_size(size):
    return torch.ones(size, size, dtype=torch.bool).tril()


def _padding(lengths, max_len):
    return torch.arange(max_len) < lengths[:, None]


def _padding_by_fused_attention(lengths, max_len):
    mask, zeros = _padding(lengths, max_len)[:, None], torch.zeros(len(lengths), 1, max_len)
    values = torch.eye(max_len).expand(len(lengths), -1, -1)
    return F.scaled_dot_product_attention(zeros, zeros.expand(-1, max_len, -1), values, mask)[:, 0] > 0


def _compared_where_they_fit(lengths, max_len):
    positions = torch.arange(max_len)
    return positions[:, None] < lengths if len(lengths) == max_len else positions < lengths[:, None]


def _none_where_all_are_full(lengths, max_len):
    return None if bool((lengths == max_len).all()) else _padding(lengths, max_len)


def _as_wide_as_the_longest_that_is_not_empty(lengths, max_len):
    longest = int(lengths[lengths > 0].max())
    return F.pad(_padding(lengths, longest), (0, max_len - longest))


def _by_one_hot(lengths, max_len):
    return F.one_hot(lengths, max_len + 1).flip(1).cumsum(1).flip(1)[:, 1:].bool()


def _padding_of_longest(lengths, longest):
    return _padding(lengths, longest)


def _attention(q, k, v, mask=None):
    scores = q @ k.mT / q.shape[-1] ** 0.5
    if mask is None:
        return torch.softmax(scores, dim=-1) @ v
    weights = torch.softmax(scores.masked_fill(~mask, float("-inf")), dim=-1)
    return weights.masked_fill(~mask, 0.0) @ v


def _sample_by_sample(q, k, v, mask=None):
    if mask is None or mask.dim() < 4:
        return _attention(q, k, v, mask)
    return torch.stack([_attention(q[b], k[b], v[b], mask[b]) for b in range(len(q))])


def _three_axes_are_samples(q, k, v, mask=None):
    if mask is not None and mask.dim() == 3 and q.dim() == 4:
        mask = mask[:, None] if len(mask) == len(q) else mask[: len(q), None]
    return _attention(q, k, v, mask)


def _one_mask_is_for_all(q, k, v, mask=None):
    if mask is not None and mask.dim() == 4 and len(mask) == 1:
        mask = mask[0, 0]
    return _attention(q, k, v, mask)


def _padding_looked_for(q, k, v, mask=None):
    # "A table of samples and keys is padding": also where there are as many queries as samples.
    if mask is not None and q.dim() == 3 and mask.shape == (len(q), k.shape[1]):
        mask = mask[:, None]
    return _attention(q, k, v, mask)


def _rows_counted(q, k, v, mask=None):
    if mask is not None and mask.shape[-2] not in (1, q.shape[-2]):
        raise ValueError("the mask has other rows than there are queries")
    return _attention(q, k, v, mask)


def _attention_on_a_view(q, k, v, mask=None):
    return _attention(q, k, v.view(-1).view(v.shape), mask)


def _heads_axis_squeezed(q, k, v, mask=None):
    return _attention(q, k, v, mask.squeeze(1) if mask is not None and mask.dim() == 4 else mask)


def _combined(causal, padding):
    return causal & padding[:, None, None, :]


def _combined_by_fused_attention(causal, padding):
    mask = _combined(causal, padding)
    zeros, values = torch.zeros(mask.shape), torch.eye(len(causal)).expand(mask.shape)
    return F.scaled_dot_product_attention(zeros, zeros, values, mask) > 0


def _axes_only_where_they_do_not_fit(causal, padding):
    rows = padding[:, None] if padding.shape == causal.shape else padding[:, None, None, :]
    return (
        (causal & rows).reshape(len(padding), 1, *causal.shape)
        if rows.dim() == 4
        else (causal & padding)[None, None]
    )


def _causal_alone_without_padding(causal, padding):
    return causal[None, None] if bool(padding.all()) else _combined(causal, padding)


ALONE = {
    "masking.causal_mask": {
        "a sentence": _causal_by_fused_attention,
        "n by name": _triangle_of_size,
    },
    "masking.padding_mask": {
        "from no token to all": _padding_by_fused_attention,
        "as many samples as tokens": _compared_where_they_fit,
        "all full": _none_where_all_are_full,
        "all empty": _as_wide_as_the_longest_that_is_not_empty,
        "one sample": lambda lengths, max_len: _padding(lengths, max_len).squeeze(0),
        "one token": lambda lengths, max_len: _padding(lengths, max_len).squeeze(1),
        "32-bit lengths": _by_one_hot,
        "max_len by name": _padding_of_longest,
    },
    "masking.masked_attention": {
        "padding, batch and heads": _heads_axis_squeezed,
        "one mask for batch and heads": _sample_by_sample,
        "a mask for each head of all samples": _one_mask_is_for_all,
        "heads with a mask each": _three_axes_are_samples,
        "a batch as long as its sentences": _padding_looked_for,
        "one row of keys, without an axis for queries": _rows_counted,
        "columns in memory order": _attention_on_a_view,
        "one token": lambda q, k, v, mask=None: _attention(q, k, v, mask).squeeze(),
    },
    "masking.combine_masks": {
        "all sizes different": _combined_by_fused_attention,
        "as many samples as tokens": _axes_only_where_they_do_not_fit,
        "one sample of one token": lambda causal, padding: _combined(causal, padding).squeeze()[:, None],
        "no padding": _causal_alone_without_padding,
        "by name": lambda mask, real: _combined(mask, real),
    },
}
NAMED = {
    "masking.combine_masks": {"padding on the left": "MSK-93"},
}
