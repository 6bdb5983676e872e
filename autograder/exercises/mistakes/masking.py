"""Wrong answers to lesson 03, masking."""

import math

import torch

from autograder.exercises.mistakes import from_variants, known
from autograder.exercises.mistakes.loops import _unstable

LOWEST = -torch.inf


def additive(mask):
    """0 where allowed, minus infinity where not."""
    return torch.zeros(mask.shape).masked_fill(~mask, LOWEST)


def as_numbers(variant):
    """The right pattern in each type of whole numbers."""
    return tuple(
        known("MSK-39", variant(form=lambda mask, dtype=dtype: mask.to(dtype)))
        for dtype in (torch.int64, torch.int32, torch.uint8)
    )


def causal_with(allowed=None, form=None):
    """A causal mask in which the triangle or its form can be made wrong."""

    def answer(n):
        query, key = torch.arange(n)[:, None], torch.arange(n)[None, :]
        mask = allowed(query, key) if allowed else key <= query
        return form(mask) if form else mask

    return answer


def _causal_of_eight(n):
    return torch.ones(8, 8).tril().bool()


CAUSAL_MASK = from_variants(
    causal_with,
    {
        "MSK-01": {"allowed": lambda query, key: key > query},
        "MSK-11": {"allowed": lambda query, key: key < query},
        "MSK-15": {"allowed": lambda query, key: key >= query},
        "MSK-37": {"allowed": lambda query, key: key <= query + 1},
        "MSK-43": {"allowed": lambda query, key: key + query >= 0},
        "MSK-45": {"allowed": lambda query, key: key == query},
        "MSK-39": {"form": lambda mask: mask.float()},
        "MSK-41": {"form": additive},
        "MSK-47": {"form": lambda mask: mask[None, None]},
    },
) + (
    *as_numbers(causal_with),
    known("MSK-47", causal_with(form=lambda mask: mask[None])),
    known("LOOP-11", _causal_of_eight),
    known("LOOP-33", lambda n: [[key <= query for key in range(n)] for query in range(n)]),
    known("HEAD-13", lambda n: None),
)


def padding_with(real=None, form=None):
    """A padding mask in which what counts as real, or the mask's form, can be made wrong."""

    def answer(lengths, max_len):
        position, length = torch.arange(max_len), lengths[:, None]
        mask = real(position, length) if real else position < length
        return form(mask) if form else mask

    return answer


def _left_padded(lengths, max_len):
    return torch.arange(max_len) >= max_len - lengths[:, None]


def _left_padded_by_slices(lengths, max_len):
    mask = torch.zeros(len(lengths), max_len, dtype=torch.bool)
    for row, length in zip(mask, lengths, strict=True):
        row[-int(length) :] = True
    return mask


def _as_wide_as_the_longest(lengths, max_len):
    return torch.arange(int(lengths.max())) < lengths[:, None]


def _cut_from_the_end(lengths, max_len):
    mask = torch.ones(len(lengths), max_len, dtype=torch.bool)
    for row, length in zip(mask, lengths, strict=True):
        row[-(max_len - int(length)) :] = False
    return mask


def _lengths_counted_down(lengths, max_len):
    columns = []
    for _ in range(max_len):
        columns.append(lengths > 0)
        lengths -= 1
    return torch.stack(columns, dim=1)


PADDING_MASK = from_variants(
    padding_with,
    {
        "MSK-01": {"real": lambda position, length: position >= length},
        "MSK-51": {"real": lambda position, length: position <= length},
        "MSK-53": {"real": lambda position, length: position + 1 < length},
        "MSK-63": {"real": lambda position, length: (position < length[0]).expand(len(length), -1)},
        "MSK-43": {"real": lambda position, length: position + length >= 0},
        "MSK-39": {"form": lambda mask: mask.float()},
        "MSK-41": {"form": additive},
        "MSK-47": {"form": lambda mask: mask[:, None, None, :]},
    },
) + (
    *as_numbers(padding_with),
    known("MSK-47", padding_with(form=lambda mask: mask.T)),
    known("MSK-47", padding_with(form=lambda mask: mask[:, None, :])),
    known("MSK-47", padding_with(form=lambda mask: mask[:, None, :] & mask[:, :, None])),
    known("MSK-53", padding_with(real=lambda position, length: (position >= 1) & (position < length))),
    known("MSK-53", padding_with(real=lambda position, length: (position >= 1) & (position <= length))),
    known("MSK-55", _left_padded),
    known("MSK-55", _left_padded_by_slices),
    known("MSK-57", lambda lengths, max_len: torch.arange(max_len) < lengths),
    known("MSK-63", lambda lengths, max_len: torch.arange(max_len) < lengths.max()),
    known("MSK-59", _as_wide_as_the_longest),
    known("MSK-67", _cut_from_the_end),
    known("LOOP-19", _lengths_counted_down),
    known("LOOP-33", lambda lengths, max_len: [[i < n for i in range(max_len)] for n in lengths.tolist()]),
    known("HEAD-13", lambda lengths, max_len: None),
)


def masked_with(keys=None, scale=None, see=None, block=None, weigh=None, mix=None, after=None):
    """Attention under a mask in which single steps can be made wrong."""

    def answer(q, k, v, mask=None):
        scores = q @ (keys(k) if keys else k.transpose(-2, -1))
        scores = scale(scores, q, k, v) if scale else scores / math.sqrt(q.shape[-1])
        mask = see(mask, scores) if see else mask
        if mask is not None:
            scores = block(scores, mask) if block else scores.masked_fill(~mask, LOWEST)
        weights = weigh(scores, mask) if weigh else torch.softmax(scores, dim=-1).nan_to_num()
        output = mix(weights, k, v) if mix else weights @ v
        return after(output) if after else output

    return answer


def filled(number):
    """A fill of the blocked scores with `number`."""
    return lambda scores, mask: scores.masked_fill(~mask, number)


def added(number):
    """`number` added to the blocked scores."""
    return lambda scores, mask: scores + (~mask).to(scores.dtype) * number


def zero_empty(scores, mask):
    """Softmax, with zeros for rows that may attend to nothing."""
    weights = torch.softmax(scores, dim=-1)
    return weights if mask is None else weights * mask.any(dim=-1, keepdim=True)


def cut_afterwards(scores, mask):
    weights = torch.softmax(scores, dim=-1)
    return weights if mask is None else weights * mask


def _shared_out_again(scores, mask):
    weights = cut_afterwards(scores, mask)
    return weights / weights.sum(dim=-1, keepdim=True)


def _unstable_then_cut(scores, mask):
    grown = scores.exp() if mask is None else scores.exp() * mask
    return grown / grown.sum(dim=-1, keepdim=True).clamp(min=1e-9)


def _infinite_afterwards(scores, mask):
    weights = torch.softmax(scores, dim=-1)
    return weights if mask is None else weights.masked_fill(~mask, LOWEST)


def _mask_needed(q, k, v, mask=None):
    scores = q @ k.transpose(-2, -1) / math.sqrt(q.shape[-1])
    return torch.softmax(scores.masked_fill(mask.logical_not(), LOWEST), dim=-1).nan_to_num() @ v


def _mask_in_place(q, k, v, mask=None):
    scores = q @ k.transpose(-2, -1) / math.sqrt(q.shape[-1])
    if mask is not None:
        scores = scores.masked_fill(mask.logical_not_(), LOWEST)
    return torch.softmax(scores, dim=-1).nan_to_num() @ v


def _queries_in_place(q, k, v, mask=None):
    q /= math.sqrt(q.shape[-1])
    return masked_with(scale=lambda s, q, k, v: s)(q, k, v, mask)


def _zeroed_keys(q, k, v, mask=None):
    if mask is not None:
        k = k * mask[..., -1:, :].transpose(-2, -1)
    return masked_with()(q, k, v)


def causal_anyway(mask, scores):
    """The given mask, the future blocked as well."""
    past = torch.ones(scores.shape[-2:], dtype=torch.bool).tril()
    return past if mask is None else past & mask


def only_causal(mask, scores):
    """The future blocked, and the given mask left out."""
    return torch.ones(scores.shape[-2:], dtype=torch.bool).tril()


def no_row(mask, scores):
    """One row of the mask for every query."""
    return mask if mask is None else mask[..., -1:, :]


def lying_down(mask, scores):
    """The mask with its last two axes swapped."""
    return mask if mask is None else mask.transpose(-2, -1)


def one_axis_more(mask, scores):
    """The mask with a further axis after its first."""
    return mask if mask is None else mask.unsqueeze(1)


def of_first_sample(mask, scores):
    """The mask of the first sample, for all."""
    return mask if mask is None or mask.dim() < 3 else mask[:1]


def open_where_empty(mask, scores):
    """The mask, with rows that allow nothing opened."""
    return mask if mask is None else mask | ~mask.any(dim=-1, keepdim=True)


def zero_is_blocked(scores, mask):
    """Blocked scores set to zero, and zeros to minus infinity."""
    return (scores * mask).masked_fill(scores * mask == 0, LOWEST)


# Mistakes in the use of a mask, also made inside modules: changes of `see`, `block` and `weigh`.
MASK_USE = {
    "MSK-01": {"block": lambda s, m: s.masked_fill(m, LOWEST)},
    "MSK-03": {"block": filled(0.0)},
    "MSK-05": {"block": lambda s, m: s + m},
    "MSK-07": {"block": filled(-1e4)},
    "MSK-33": {"block": filled(-1e9)},
    "MSK-09": {"weigh": lambda s, m: torch.softmax(s, dim=-1)},
    "MSK-29": {"see": no_row},
    "MSK-69": {"see": lambda mask, scores: None},
    "MSK-71": {"weigh": cut_afterwards, "block": lambda s, m: s},
    "MSK-73": {"see": one_axis_more},
    "MSK-77": {"see": lying_down},
    "MSK-81": {"weigh": _infinite_afterwards, "block": lambda s, m: s},
    "MSK-85": {"see": causal_anyway},
    "MSK-101": {"see": of_first_sample},
    "MSK-105": {"see": open_where_empty},
}

MASKED_ATTENTION = from_variants(
    masked_with,
    MASK_USE
    | {
        "MSK-103": {"block": zero_is_blocked},
        "SDPA-01": {"scale": lambda s, q, k, v: s},
        "SDPA-03": {"scale": lambda s, q, k, v: s * math.sqrt(q.shape[-1])},
        "SDPA-05": {"scale": lambda s, q, k, v: s / math.sqrt(v.shape[-1])},
        "SDPA-13": {"scale": lambda s, q, k, v: s / 8},
        "SDPA-35": {"scale": lambda s, q, k, v: s / q.shape[-1]},
        "SDPA-37": {"scale": lambda s, q, k, v: s / math.sqrt(k.shape[-2])},
        "SDPA-11": {"keys": lambda k: k.transpose(1, 2)},
        "SDPA-07": {"weigh": lambda s, m: torch.softmax(s, dim=-2).nan_to_num()},
        "SDPA-15": {"mix": lambda w, k, v: w @ k},
        "SDPA-23": {"mix": lambda w, k, v: w},
        "SDPA-49": {"after": lambda output: output.float()},
        "SDPA-29": {"after": torch.detach},
    },
) + (
    known(
        "MSK-01", masked_with(block=lambda s, m: s.masked_fill(m, LOWEST), weigh=lambda s, m: s.softmax(-1))
    ),
    known("MSK-03", masked_with(block=filled(0.0), weigh=zero_empty)),
    known("MSK-05", masked_with(block=lambda s, m: s + m, weigh=zero_empty)),
    known("MSK-07", masked_with(block=filled(-1e4), weigh=zero_empty)),
    known("MSK-07", masked_with(block=filled(-1e4), weigh=cut_afterwards)),
    known("MSK-07", masked_with(block=filled(-10.0))),
    known("MSK-07", masked_with(block=added(-1e4))),
    known("MSK-33", masked_with(block=added(-1e9))),
    known("MSK-09", masked_with(block=lambda s, m: s, weigh=_shared_out_again)),
    known("MSK-73", masked_with(see=lambda mask, scores: mask if mask is None else mask.unsqueeze(0))),
    known("MSK-85", masked_with(see=only_causal)),
    known("MSK-19", _mask_in_place),
    known("MSK-25", _zeroed_keys),
    known("MSK-35", masked_with(weigh=lambda s, m: s.softmax(-1), after=lambda output: output.nan_to_num())),
    known("MSK-35", masked_with(block=lambda s, m: s + additive(m))),
    known(
        "MSK-35", masked_with(block=lambda s, m: s, weigh=lambda s, m: _shared_out_again(s, m).nan_to_num())
    ),
    known("MSK-83", masked_with(see=lambda mask, scores: ~~mask)),
    known("MSK-83", _mask_needed),
    known("SDPA-23", masked_with(mix=lambda w, k, v: (w @ v, w))),
    known("SDPA-25", masked_with(keys=lambda k: k.reshape(*k.shape[:-2], k.shape[-1], k.shape[-2]))),
    known("SDPA-31", masked_with(block=filled(0.0), weigh=lambda s, m: s)),
    known("SMX-01", masked_with(weigh=lambda s, m: _unstable(s).nan_to_num())),
    known("SMX-01", masked_with(block=lambda s, m: s, weigh=_unstable_then_cut)),
    known("LOOP-19", _queries_in_place),
)


def combined_with(pad=None, join=None, form=None):
    """A causal and a padding mask combined, in which single steps can be made wrong."""

    def answer(causal, padding):
        keys = pad(padding) if pad else padding[:, None, None, :]
        mask = join(causal, keys) if join else causal & keys
        return form(mask) if form else mask

    return answer


def _combined_in_place(causal, padding):
    causal.logical_not_()
    padding.logical_not_()
    return ~(causal | padding[:, None, None, :])


COMBINE_MASKS = from_variants(
    combined_with,
    {
        "MSK-01": {"form": lambda mask: ~mask},
        "MSK-23": {"join": lambda causal, keys: causal | keys},
        "MSK-91": {"pad": lambda padding: padding[:, None, :, None]},
        "MSK-93": {"pad": lambda padding: padding[:, None, :, None] & padding[:, None, None, :]},
        "MSK-17": {"pad": lambda padding: padding},
        "MSK-95": {"pad": lambda padding: padding[:, None, :]},
        "MSK-97": {"pad": lambda padding: ~padding[:, None, None, :]},
        "MSK-77": {"join": lambda causal, keys: causal.T & keys},
        "MSK-99": {"join": lambda causal, keys: causal & torch.ones_like(keys)},
        "MSK-39": {"form": lambda mask: mask.float()},
        "MSK-41": {"form": additive},
    },
) + (
    known("MSK-99", combined_with(join=lambda causal, keys: keys.expand(-1, 1, len(causal), -1))),
    known("MSK-99", combined_with(join=lambda causal, keys: torch.ones_like(causal).tril() & keys)),
    known("MSK-99", lambda causal, padding: padding[:, None, None, :]),
    known("MSK-01", combined_with(join=lambda causal, keys: ~causal & keys)),
    known("MSK-23", combined_with(join=lambda causal, keys: causal == keys)),
    known("MSK-23", combined_with(join=lambda causal, keys: causal ^ keys)),
    *as_numbers(combined_with),
    known("MSK-47", combined_with(form=lambda mask: mask.transpose(0, 1))),
    known("MSK-95", combined_with(form=lambda mask: mask[:, 0])),
    known("MSK-19", _combined_in_place),
    known("HEAD-13", lambda causal, padding: None),
)
