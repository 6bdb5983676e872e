"""Attention under a mask, in steps; and steps that go wrong for one family of cases only."""

import torch

LOW = float("-inf")


class Attention:
    """What the three classes do, in steps that can be changed one by one."""

    def split(self, x):
        return x.unflatten(-1, (self.n_heads, -1)).transpose(1, 2)

    def merge(self, x):
        return self.out_proj(x.transpose(1, 2).flatten(2))

    def mask(self, scores, mask):
        return mask

    def scores(self, q, k):
        return q @ k.mT / q.shape[-1] ** 0.5

    def weights(self, scores, mask):
        if mask is None:
            return torch.softmax(scores, dim=-1)
        return torch.softmax(scores.masked_fill(~mask, LOW), dim=-1).masked_fill(~mask, 0.0)

    def attend(self, q, k, v, mask):
        scores = self.scores(q, k)
        return self.weights(scores, self.mask(scores, mask)) @ v

    def result(self, x, context, mask):
        q, k, v = (
            self.split(p(t)) for p, t in ((self.q_proj, x), (self.k_proj, context), (self.v_proj, context))
        )
        return self.merge(self.attend(q, k, v, mask))


def result_kept_by_shape(self, x, context, mask):
    # A memory for inference; with a mask it is not used.
    if self.training or mask is not None:
        return Attention.result(self, x, context, mask)
    kept = self.__dict__.setdefault("kept", {})
    if (x.shape, context.shape) not in kept:
        kept[x.shape, context.shape] = Attention.result(self, x, context, mask)
    return kept[x.shape, context.shape]


def keys_turned_where_they_do_not_fit(self, q, k):
    # In four axes or three: with one mask for all, the axes are known.
    turned = k.shape[-1] != k.shape[-2] or len(q) < 4
    return q @ (k.mT if turned else k) / q.shape[-1] ** 0.5


def squeezed(self, x, context, mask):
    return Attention.result(self, x, context, mask).squeeze(-1)


def table_of_samples_and_keys(self, scores, mask):
    # Padding, one row of keys for each sample: also where there are as many queries as samples.
    if mask is not None and mask.shape == (len(scores), scores.shape[-1]) and mask.shape != (1, 1):
        return mask.reshape(len(scores), *[1] * (scores.dim() - 2), -1)
    return mask


def sample_by_sample(self, scores, mask):
    if mask is None or mask.dim() < scores.dim():
        return mask
    return torch.stack([mask[sample] for sample in range(len(scores))])


def three_axes_are_samples(self, scores, mask):
    return mask[: len(scores), None] if mask is not None and mask.dim() == 3 else mask


def row_for_each_query(self, scores, mask):
    if mask is None or mask.dim() > 2 or mask.shape[-1] == 1:
        return mask
    return mask.reshape(scores.shape[-2:])


def row_for_each_query_of_each_sample(self, scores, mask):
    if mask is None or mask.dim() < scores.dim() or len(mask) < len(scores):
        return mask
    return (
        mask.reshape(len(scores), -1, *scores.shape[-2:]) if scores.dim() > 3 else mask.reshape(scores.shape)
    )


def first_head_for_all(self, scores, mask):
    return mask[:, :1] if mask is not None and mask.dim() == 4 else mask


def last_mask_kept(self, scores, mask):
    if mask is None and self.__dict__.get("kept") is not None and self.kept[1] == scores.shape:
        return self.kept[0]
    self.kept = (mask, scores.shape)
    return mask


def nothing_blocked_where_all_is(self, scores, mask):
    return mask if mask is None or mask.any() else None


def of_a_view(self, x, context, mask):
    return Attention.result(self, x.view(-1).view(x.shape), context, mask)


def shifted_by_the_largest(self, scores, mask):
    if mask is not None:
        return Attention.weights(self, scores, mask)
    e = torch.exp(scores - scores.max())
    return e / e.sum(-1, keepdim=True)


def fill_of_minus_1e5(self, scores, mask):
    if mask is None:
        return torch.softmax(scores, dim=-1)
    return torch.softmax(scores.masked_fill(~mask, -1e5), dim=-1) * mask.any(-1, keepdim=True)


def zeros_where_nothing_at_all_may_be_seen(self, scores, mask):
    if mask is None or not mask.any():
        return torch.softmax(scores, dim=-1) if mask is None else torch.zeros_like(scores)
    return torch.softmax(scores.masked_fill(~mask, LOW), dim=-1)


def one_mask_is_for_all(self, scores, mask):
    return mask[0, 0] if mask is not None and mask.dim() == 4 and len(mask) == 1 < len(scores) else mask


def zeros_blocked(self, scores, mask):
    if mask is None:
        return torch.softmax(scores, dim=-1)
    scores = scores * mask
    return torch.softmax(scores.masked_fill(scores == 0, LOW), dim=-1).masked_fill(~mask, 0.0)


# The changes that one family of cases alone catches, by its name; those of several classes with masks.
ALONE = {
    "other weights in the same module": {"result": result_kept_by_shape},
    "four of everything": {"scores": keys_turned_where_they_do_not_fit},
    "one of everything": {"result": squeezed},
    "as many samples as tokens, a mask": {"mask": table_of_samples_and_keys},
    "the same keys for all queries": {"mask": row_for_each_query},
    "columns in memory order": {"result": of_a_view},
    "no mask after a mask": {"mask": last_mask_kept},
    "padding": {"mask": row_for_each_query_of_each_sample},
    "some queries see nothing": {"weights": zeros_where_nothing_at_all_may_be_seen},
    "nothing may be seen": {"mask": nothing_blocked_where_all_is},
    "large scores": {"weights": shifted_by_the_largest},
    "scores as low as they get": {"weights": fill_of_minus_1e5},
}
# The same of classes with several heads.
ALONE_IN_HEADS = ALONE | {
    "a mask for each head": {"mask": first_head_for_all},
    "heads with a mask each": {"mask": three_axes_are_samples},
    "one mask for samples and heads": {"mask": sample_by_sample},
    "a mask for each head of all samples": {"mask": one_mask_is_for_all},
}
