"""More answers to lesson 04, as people who never saw the course's own might write them."""

import copy
import functools
import math

import torch
import torch.nn.functional as F
from torch import nn

LOW = float("-inf")
RIGHT, WRONG = {}, {}
HEAD, SPLIT, MERGE = "heads.SelfAttentionHead", "heads.split_heads", "heads.merge_heads"
SELF, COPY, CROSS = "heads.MultiheadSelfAttention", "heads.copy_weights", "heads.MultiheadCrossAttention"


class _Base(nn.Module):
    """The parts of the two classes with many heads, made as anybody would."""

    cross = False
    bias = True

    def __init__(self, d_model, n_heads):
        super().__init__()
        if d_model % n_heads != 0:
            raise ValueError(f"d_model {d_model} is not divisible by n_heads {n_heads}")
        self.n_heads, self.d_head = n_heads, d_model // n_heads
        self.q_proj = nn.Linear(d_model, d_model, bias=self.bias)
        self.k_proj = nn.Linear(d_model, d_model, bias=self.bias)
        self.v_proj = nn.Linear(d_model, d_model, bias=self.bias)
        self.out_proj = nn.Linear(d_model, d_model, bias=self.bias)
        self.prepare(d_model, n_heads)

    def prepare(self, d_model, n_heads):
        pass

    def split(self, x):
        return x.view(x.size(0), x.size(1), self.n_heads, self.d_head).transpose(1, 2)

    def merge(self, x):
        return x.transpose(1, 2).contiguous().view(x.size(0), x.size(2), -1)

    def qkv(self, x, context):
        return self.split(self.q_proj(x)), self.split(self.k_proj(context)), self.split(self.v_proj(context))

    def scores(self, q, k):
        return q @ k.transpose(-2, -1) / math.sqrt(self.d_head)

    def weights(self, scores, mask):
        if mask is not None:
            scores = scores.masked_fill(~mask, LOW)
        return torch.softmax(scores, dim=-1).nan_to_num()

    def attend(self, x, context, mask):
        q, k, v = self.qkv(x, context)
        return self.out_proj(self.merge(self.weights(self.scores(q, k), mask) @ v))


class _SelfBase(_Base):
    def forward(self, x, mask=None):
        return self.attend(x, x, mask)


class _CrossBase(_Base):
    cross = True

    def forward(self, x, context, mask=None):
        return self.attend(x, context, mask)


def _both(answers, **changes):
    """Keeps both classes with one or more methods changed, by the name of the function decorated."""

    def keep(function):
        names = changes if changes else {"attend": function}
        for exercise_id, base in ((SELF, _SelfBase), (CROSS, _CrossBase)):
            answers.setdefault(exercise_id, {})[function.__name__] = type(base.__name__, (base,), names)
        return function

    return keep


right, wrong = functools.partial(_both, RIGHT), functools.partial(_both, WRONG)


def step(answers, name):
    """Keeps both classes with the method `name` changed."""

    def keep(function):
        return _both(answers, **{name: function})(function)

    return keep


# Many heads: right


@right()
def heads_in_a_list(self, x, context, mask):
    q, k, v = self.q_proj(x), self.k_proj(context), self.v_proj(context)
    full = None
    if mask is not None:
        full = torch.broadcast_to(mask, (x.shape[0], self.n_heads, x.shape[1], context.shape[1]))
    outputs = []
    for h in range(self.n_heads):
        part = slice(h * self.d_head, (h + 1) * self.d_head)
        scores = torch.bmm(q[:, :, part], k[:, :, part].permute(0, 2, 1)) * self.d_head**-0.5
        if full is not None:
            scores = torch.where(full[:, h], scores, torch.full_like(scores, LOW))
        outputs.append(torch.bmm(F.softmax(scores, dim=2).nan_to_num(0), v[:, :, part]))
    return self.out_proj(torch.cat(outputs, dim=-1))


@right()
def one_einsum_after_another(self, x, context, mask):
    b, n, m = x.shape[0], x.shape[1], context.shape[1]
    q = self.q_proj(x).reshape(b, n, self.n_heads, -1)
    k, v = (p(context).reshape(b, m, self.n_heads, -1) for p in (self.k_proj, self.v_proj))
    scores = torch.einsum("bnhd,bmhd->bhnm", q, k) / self.d_head**0.5
    weights = self.weights(scores, mask)
    return self.out_proj(torch.einsum("bhnm,bmhd->bnhd", weights, v).flatten(-2))


@right()
def chunked_and_stacked(self, x, context, mask):
    q, k, v = (
        torch.stack(t.chunk(self.n_heads, dim=-1), dim=1)
        for t in (self.q_proj(x), self.k_proj(context), self.v_proj(context))
    )
    mixed = self.weights(self.scores(q, k), mask) @ v
    return self.out_proj(torch.cat(mixed.unbind(1), dim=-1))


@right()
def output_by_blocks(self, x, context, mask):
    q, k, v = self.qkv(x, context)
    mixed = self.weights(self.scores(q, k), mask) @ v
    blocks = self.out_proj.weight.view(-1, self.n_heads, self.d_head)
    return torch.einsum("bhnd,ohd->bno", mixed, blocks) + self.out_proj.bias


@right()
def fused_with_zeroed_rows(self, x, context, mask):
    q, k, v = self.qkv(x, context)
    if mask is None:
        mixed = F.scaled_dot_product_attention(q, k, v)
    else:
        some = mask.any(-1, keepdim=True)
        mixed = F.scaled_dot_product_attention(q, k, v, attn_mask=mask | ~some) * some
    return self.out_proj(self.merge(mixed))


@right()
def float_bias(self, x, context, mask):
    q, k, v = self.qkv(x, context)
    scores = self.scores(q, k)
    if mask is None:
        return self.out_proj(self.merge(scores.softmax(-1) @ v))
    bias = torch.zeros(mask.shape, dtype=scores.dtype).masked_fill(mask.logical_not(), -1e20)
    weights = (scores + bias).softmax(-1) * mask.any(-1, keepdim=True).to(scores.dtype)
    return self.out_proj(self.merge(weights @ v))


@right()
def reshaped_at_once(self, x, context, mask):
    def cut(t):
        return t.unflatten(2, (self.n_heads, self.d_head)).movedim(2, 1)

    q, k, v = cut(self.q_proj(x)), cut(self.k_proj(context)), cut(self.v_proj(context))
    weights = self.weights((q * self.d_head**-0.5).matmul(k.mT), mask)
    return self.out_proj(weights.matmul(v).swapaxes(1, 2).reshape(x.shape))


@right()
def folded_into_the_batch(self, x, context, mask):
    b, n, m, h = len(x), x.shape[1], context.shape[1], self.n_heads
    q, k, v = (t.reshape(b * h, -1, self.d_head) for t in self.qkv(x, context))
    scores = torch.baddbmm(torch.zeros(b * h, n, m, dtype=x.dtype), q, k.mT, alpha=self.d_head**-0.5)
    if mask is not None:
        scores = scores.view(b, h, n, m).masked_fill(mask == 0, LOW).view(b * h, n, m)
    mixed = scores.softmax(-1).nan_to_num() @ v
    return self.out_proj(mixed.view(b, h, n, -1).transpose(1, 2).reshape(b, n, -1))


@right()
def mapped_over_samples(self, x, context, mask):
    def one(q, k, v, mask):
        scores = (q @ k.mT / self.d_head**0.5).masked_fill(~mask, LOW)
        return scores.softmax(-1).nan_to_num() @ v

    q, k, v = self.qkv(x, context)
    mask = torch.ones((), dtype=torch.bool) if mask is None else mask
    mask = mask.expand(*q.shape[:-1], k.shape[-2])
    return self.out_proj(self.merge(torch.vmap(torch.vmap(one))(q, k, v, mask)))


@right()
def written_in_place(self, x, context, mask):
    q, k, v = self.qkv(x, context)
    scores = q.matmul(k.transpose(2, 3))
    scores /= self.d_head**0.5
    if mask is not None:
        scores.masked_fill_(~mask, LOW)
    scores = scores - scores.amax(-1, keepdim=True).clamp(min=-1e30).detach()
    grown = scores.exp()
    total = grown.sum(-1, keepdim=True)
    output = x.new_empty(x.shape)
    mixed = grown / torch.where(total == 0, torch.ones_like(total), total) @ v
    for h in range(self.n_heads):
        output[..., h * self.d_head : (h + 1) * self.d_head] = mixed[:, h]
    return self.out_proj(output)


@right()
def keys_without_their_bias(self, x, context, mask):
    q, v = self.split(self.q_proj(x)), self.split(self.v_proj(context))
    k = self.split(F.linear(context, self.k_proj.weight))
    return self.out_proj(self.merge(self.weights(self.scores(q, k), mask) @ v))


@right()
def in_float32_and_back(self, x, context, mask):
    q, k, v = (t.float() for t in self.qkv(x, context))
    mixed = self.merge(self.weights(self.scores(q, k), mask) @ v)
    return self.out_proj(mixed.to(x.dtype)) + 0 * mixed.sum().to(x.dtype)


def _with_more_inside(self, d_model, n_heads):
    self.dropout = nn.Dropout(0.0)
    self.softmax = nn.Softmax(dim=-1)
    self.register_buffer("scale", torch.tensor(self.d_head**-0.5), persistent=False)
    self.last_weights = None


def _attend_with_more(self, x, context, mask):
    q, k, v = self.qkv(x, context)
    scores = (q * self.scale.to(q)) @ k.mT
    if mask is not None:
        scores = scores.masked_fill(~mask, LOW)
    self.last_weights = self.dropout(self.softmax(scores).nan_to_num())
    return self.out_proj(self.merge(self.last_weights @ v))


@right(prepare=_with_more_inside, attend=_attend_with_more)
def with_more_inside():
    pass


class _NamedLinear(nn.Linear):
    """A linear layer that starts otherwise."""

    def reset_parameters(self):
        nn.init.xavier_uniform_(self.weight)
        nn.init.zeros_(self.bias)


def _other_layers(self, d_model, n_heads):
    for name in ("q_proj", "k_proj", "v_proj", "out_proj"):
        setattr(self, name, _NamedLinear(d_model, d_model))


@right(prepare=_other_layers)
def own_layers():
    pass


def _remembered_masks(self, x, context, mask):
    """Keeps a broadcast mask of ones by shape: it is always the same."""
    kept = self.__dict__.setdefault("kept", {})
    shape = (x.shape[1], context.shape[1])
    if shape not in kept:
        kept[shape] = torch.ones(shape, dtype=torch.bool)
    q, k, v = self.qkv(x, context)
    return self.out_proj(
        self.merge(self.weights(self.scores(q, k), kept[shape] if mask is None else mask) @ v)
    )


right()(_remembered_masks)


class _Typed(nn.Module):
    d_head: int

    def __init__(self, d_model: int, n_heads: int, *, verbose: bool = False) -> None:
        super().__init__()
        self.d_head, remainder = divmod(d_model, n_heads)
        if remainder:
            raise ValueError("sizes do not fit")
        for part in ["q_proj", "k_proj", "v_proj", "out_proj"]:
            self.register_module(part, nn.Linear(d_model, d_model))

    def forward(self, x: torch.Tensor, mask: torch.Tensor | None = None, **unused) -> torch.Tensor:
        q, k, v = (part(x).unflatten(-1, (-1, self.d_head)).transpose(1, 2) for part in self.parts())
        return self.out_proj(F.scaled_dot_product_attention(q, k, v, mask).transpose(1, 2).flatten(2))

    def parts(self):
        return self.q_proj, self.k_proj, self.v_proj


RIGHT[SELF]["typed"] = _Typed


class _ByParentForward(_SelfBase):
    """Inherits from a cross-attention."""

    class Cross(_CrossBase):
        pass

    def forward(self, x, mask=None):
        return self.Cross.forward(self, x, x, mask=mask)


RIGHT[SELF]["by another class"] = _ByParentForward
RIGHT[SELF]["a lambda"] = lambda d_model, n_heads: _SelfBase(d_model, n_heads)
RIGHT[CROSS]["a partial"] = functools.partial(_CrossBase)
RIGHT[CROSS]["unchecked"] = type("Unchecked", (_CrossBase,), {})


# Many heads: wrong


@wrong()
def last_head_forgotten(self, x, context, mask):
    q, k, v = self.qkv(x, context)
    mixed = self.weights(self.scores(q, k), mask) @ v
    heads = [mixed[:, h] for h in range(self.n_heads - 1)]
    return self.out_proj(
        F.pad(torch.cat(heads, -1) if heads else mixed[:, 0], (0, self.d_head if heads else 0))
    )


@wrong()
def concatenated_along_tokens(self, x, context, mask):
    q, k, v = self.qkv(x, context)
    mixed = self.weights(self.scores(q, k), mask) @ v
    return self.out_proj(torch.cat(mixed.unbind(1), dim=1).reshape(x.shape))


@wrong()
def float_width(self, x, context, mask):
    width = x.shape[-1] / self.n_heads
    q = self.q_proj(x).view(x.shape[0], x.shape[1], self.n_heads, width)
    return self.out_proj(q)


@wrong()
def output_before_merging(self, x, context, mask):
    q, k, v = self.qkv(x, context)
    mixed = self.out_proj(self.merge(self.weights(self.scores(q, k), mask) @ v))
    return self.merge(self.split(mixed).transpose(1, 2).reshape(self.split(mixed).shape))


@wrong()
def one_output_block_for_all(self, x, context, mask):
    q, k, v = self.qkv(x, context)
    mixed = self.weights(self.scores(q, k), mask) @ v
    block = self.out_proj.weight[: self.d_head, : self.d_head]
    return self.merge(mixed @ block.T) + self.out_proj.bias


@wrong()
def no_grad_scores(self, x, context, mask):
    q, k, v = self.qkv(x, context)
    with torch.no_grad():
        weights = self.weights(self.scores(q, k), mask)
    return self.out_proj(self.merge(weights @ v))


@wrong()
def normed_queries_and_keys(self, x, context, mask):
    q, k, v = self.qkv(x, context)
    q, k = F.normalize(q, dim=-1), F.normalize(k, dim=-1)
    return self.out_proj(self.merge(self.weights(q @ k.mT, mask) @ v))


@wrong()
def dropout_of_a_tenth(self, x, context, mask):
    q, k, v = self.qkv(x, context)
    weights = F.dropout(self.weights(self.scores(q, k), mask), 0.1, self.training)
    return self.out_proj(self.merge(weights @ v))


@wrong()
def dropout_always(self, x, context, mask):
    q, k, v = self.qkv(x, context)
    return self.out_proj(F.dropout(self.merge(self.weights(self.scores(q, k), mask) @ v), 0.1))


@wrong()
def values_twice_projected(self, x, context, mask):
    q, k, v = self.qkv(x, context)
    v = self.split(self.v_proj(self.v_proj(context)))
    return self.out_proj(self.merge(self.weights(self.scores(q, k), mask) @ v))


@wrong()
def values_not_projected(self, x, context, mask):
    q, k, _ = self.qkv(x, context)
    return self.out_proj(self.merge(self.weights(self.scores(q, k), mask) @ self.split(context)))


@wrong()
def keys_as_values(self, x, context, mask):
    q, k, _ = self.qkv(x, context)
    return self.out_proj(self.merge(self.weights(self.scores(q, k), mask) @ k))


@wrong()
def out_proj_turned(self, x, context, mask):
    q, k, v = self.qkv(x, context)
    mixed = self.merge(self.weights(self.scores(q, k), mask) @ v)
    return mixed @ self.out_proj.weight + self.out_proj.bias


@wrong()
def relu_at_the_output(self, x, context, mask):
    q, k, v = self.qkv(x, context)
    return torch.relu(self.out_proj(self.merge(self.weights(self.scores(q, k), mask) @ v)))


@wrong()
def context_mean(self, x, context, mask):
    q, _k, v = self.qkv(x, context)
    return self.out_proj(self.merge(v.mean(2, keepdim=True).expand_as(q)))


@wrong()
def heads_share_their_weights(self, x, context, mask):
    q, k, v = self.qkv(x, context)
    weights = self.weights(self.scores(q, k), mask).mean(1, keepdim=True)
    return self.out_proj(self.merge(weights @ v))


@wrong()
def heads_share_their_scores(self, x, context, mask):
    q, k, v = self.qkv(x, context)
    scores = self.scores(q, k).sum(1, keepdim=True).expand(-1, self.n_heads, -1, -1)
    return self.out_proj(self.merge(self.weights(scores, mask) @ v))


@wrong()
def samples_and_heads_swapped(self, x, context, mask):
    q, k, v = (t.transpose(0, 1) for t in self.qkv(x, context))
    mixed = (self.weights(self.scores(q, k), mask) @ v).transpose(0, 1)
    return self.out_proj(self.merge(mixed))


@wrong()
def scale_of_all_features_and_no_output(self, x, context, mask):
    q, k, v = self.qkv(x, context)
    scores = q @ k.mT / math.sqrt(x.shape[-1])
    return self.merge(self.weights(scores, mask) @ v)


@wrong()
def view_and_wrong_way_mask(self, x, context, mask):
    b = len(x)
    q, k, v = (
        t.reshape(b, self.n_heads, -1, self.d_head)
        for t in (self.q_proj(x), self.k_proj(context), self.v_proj(context))
    )
    weights = self.weights(self.scores(q, k), None if mask is None else ~mask)
    return self.out_proj(self.merge(weights @ v))


@wrong()
def no_scale_and_minus_1e9(self, x, context, mask):
    q, k, v = self.qkv(x, context)
    scores = q @ k.mT
    scores = scores if mask is None else scores.masked_fill(~mask, -1e9)
    return self.out_proj(self.merge(scores.softmax(-1) @ v))


@wrong()
def mask_per_sample_assumed(self, x, context, mask):
    if mask is not None and mask.dim() == 3:
        mask = mask.unsqueeze(1)
    q, k, v = self.qkv(x, context)
    return self.out_proj(self.merge(self.weights(self.scores(q, k), mask) @ v))


@wrong()
def keys_mask_assumed(self, x, context, mask):
    if mask is not None and mask.dim() == 2 and mask.shape[0] == len(x):
        mask = mask[:, None, None, :]
    q, k, v = self.qkv(x, context)
    return self.out_proj(self.merge(self.weights(self.scores(q, k), mask) @ v))


@wrong()
def mask_squeezed(self, x, context, mask):
    q, k, v = self.qkv(x, context)
    mask = None if mask is None else mask.squeeze()
    return self.out_proj(self.merge(self.weights(self.scores(q, k), mask) @ v))


@wrong()
def empty_rows_zero_after_the_output(self, x, context, mask):
    output = type(self).__mro__[2].attend(self, x, context, mask)
    if mask is None:
        return output
    some = mask.any(-1)
    while some.dim() < 3:
        some = some[None]
    return output * some.expand(len(x), self.n_heads, -1).all(1)[..., None]


@wrong()
def fill_of_minus_1e5(self, x, context, mask):
    q, k, v = self.qkv(x, context)
    scores = self.scores(q, k)
    if mask is None:
        return self.out_proj(self.merge(scores.softmax(-1) @ v))
    weights = scores.masked_fill(~mask, -1e5).softmax(-1) * mask.any(-1, keepdim=True)
    return self.out_proj(self.merge(weights @ v))


@wrong()
def returns_float32(self, x, context, mask):
    q, k, v = self.qkv(x, context)
    return self.out_proj(self.merge(self.weights(self.scores(q, k), mask) @ v)).float()


@wrong()
def adds_x(self, x, context, mask):
    q, k, v = self.qkv(x, context)
    return x + self.out_proj(self.merge(self.weights(self.scores(q, k), mask) @ v))


@wrong()
def keeps_the_first_keys(self, x, context, mask):
    q, k, v = self.qkv(x, context)
    if getattr(self, "cache", None) is None or self.cache.shape != k.shape:
        self.cache = k.detach()
    return self.out_proj(self.merge(self.weights(self.scores(q, self.cache), mask) @ v))


@wrong()
def grows_a_cache(self, x, context, mask):
    q, k, v = self.qkv(x, context)
    if hasattr(self, "keys") and self.keys.shape[0] == k.shape[0] and mask is None:
        k, v = torch.cat((self.keys, k), 2), torch.cat((self.values, v), 2)
    self.keys, self.values = k.detach(), v.detach()
    return self.out_proj(self.merge(self.weights(self.scores(q, k), mask) @ v))


@wrong()
def scales_the_input_in_place(self, x, context, mask):
    x /= 1.0 + 1e-3
    q, k, v = self.qkv(x, context)
    return self.out_proj(self.merge(self.weights(self.scores(q, k), mask) @ v))


@wrong()
def softmax_over_the_batch(self, x, context, mask):
    q, k, v = self.qkv(x, context)
    scores = self.scores(q, k)
    scores = scores if mask is None else scores.masked_fill(~mask, LOW)
    return self.out_proj(self.merge(torch.softmax(scores, dim=0).nan_to_num() @ v))


@wrong()
def nothing_back(self, x, context, mask):
    q, k, v = self.qkv(x, context)
    self.out_proj(self.merge(self.weights(self.scores(q, k), mask) @ v))


@wrong()
def output_and_weights(self, x, context, mask):
    q, k, v = self.qkv(x, context)
    weights = self.weights(self.scores(q, k), mask)
    return self.out_proj(self.merge(weights @ v)), weights


@wrong()
def heads_not_merged(self, x, context, mask):
    q, k, v = self.qkv(x, context)
    return self.weights(self.scores(q, k), mask) @ v


@wrong()
def view_without_contiguous(self, x, context, mask):
    q, k, v = self.qkv(x, context)
    mixed = self.weights(self.scores(q, k), mask) @ v
    return self.out_proj(mixed.transpose(1, 2).view(x.shape))


@wrong()
def query_bias_forgotten(self, x, context, mask):
    _, k, v = self.qkv(x, context)
    q = self.split(F.linear(x, self.q_proj.weight))
    return self.out_proj(self.merge(self.weights(self.scores(q, k), mask) @ v))


@wrong()
def learned_scale(self, x, context, mask):
    q, k, v = self.qkv(x, context)
    return self.out_proj(self.merge(self.weights(q @ k.mT / 2.0, mask) @ v))


@wrong(bias=False)
def without_biases():
    pass


def _frozen(self, d_model, n_heads):
    for name in ("q_proj", "k_proj"):
        getattr(self, name).requires_grad_(False)


@wrong(prepare=_frozen)
def frozen_parts():
    pass


def _shared(self, d_model, n_heads):
    self.k_proj = self.q_proj


@wrong(prepare=_shared)
def one_layer_for_two():
    pass


def _narrow_values(self, d_model, n_heads):
    self.v_proj = nn.Linear(d_model, self.d_head)


@wrong(prepare=_narrow_values)
def narrow_values():
    pass


class _Listed(_SelfBase):
    def prepare(self, d_model, n_heads):
        self.projections = [nn.Linear(d_model, d_model) for _ in range(4)]
        del self.q_proj, self.k_proj, self.v_proj, self.out_proj


class _CheckedTheOtherWay(_SelfBase):
    def __init__(self, d_model, n_heads):
        if n_heads % d_model == 0:
            raise ValueError("sizes do not fit")
        nn.Module.__init__(self)
        self.n_heads, self.d_head = n_heads, d_model // n_heads
        self.q_proj, self.k_proj, self.v_proj, self.out_proj = (nn.Linear(d_model, d_model) for _ in range(4))


class _RaisesRuntimeError(_SelfBase):
    def __init__(self, d_model, n_heads):
        if d_model % n_heads:
            raise RuntimeError("sizes do not fit")
        super().__init__(d_model, n_heads)


class _ReturnsTheError(_SelfBase):
    def __new__(cls, d_model, n_heads):
        if d_model % n_heads:
            return ValueError("sizes do not fit")
        return super().__new__(cls)


class _RoundsDown(_SelfBase):
    def __init__(self, d_model, n_heads):
        while d_model % n_heads:
            n_heads -= 1
        super().__init__(d_model, n_heads)


class _MultiheadInside(nn.Module):
    def __init__(self, d_model, n_heads):
        super().__init__()
        self.attention = nn.MultiheadAttention(d_model, n_heads, batch_first=True)

    def forward(self, x, context=None, mask=None):
        context = x if context is None else context
        return self.attention(x, context, context, attn_mask=mask)[0]


class _ContextFirst(_CrossBase):
    def forward(self, context, x, mask=None):
        return self.attend(x, context, mask)


class _MaskBetween(_CrossBase):
    def forward(self, x, mask, context=None):
        return self.attend(x, context if context is not None else mask, None)


class _CutToLength(_CrossBase):
    def forward(self, x, context, mask=None):
        n = min(x.shape[1], context.shape[1])
        return self.attend(x, context[:, :n], None if mask is None else mask[..., :n])


class _QueriesAddContext(_CrossBase):
    def forward(self, x, context, mask=None):
        if x.shape == context.shape:
            return self.attend(x + context, context, mask)
        return self.attend(x, context, mask)


class _SelfThenCross(_CrossBase):
    def forward(self, x, context, mask=None):
        return self.attend(self.attend(x, x, None), context, mask)


class _MaskTurned(_CrossBase):
    def forward(self, x, context, mask=None):
        return self.attend(x, context, None if mask is None else mask.mT)


class _KeysOfX(_CrossBase):
    def qkv(self, x, context):
        q, _, v = super().qkv(x, context)
        return q, self.split(self.k_proj(x)), v


class _FusedValuesOfX(_CrossBase):
    """PyTorch's fused kernel would read past the end of x: the probe takes the way that checks."""

    def forward(self, x, context, mask=None):
        q, k, v = self.split(self.q_proj(x)), self.split(self.k_proj(context)), self.split(self.v_proj(x))
        return self.out_proj(self.merge(F.scaled_dot_product_attention(q, k, v, attn_mask=mask)))


WRONG[SELF] |= {
    "listed": _Listed,
    "checked the other way": _CheckedTheOtherWay,
    "a RuntimeError": _RaisesRuntimeError,
    "an error returned": _ReturnsTheError,
    "fewer heads instead": _RoundsDown,
    "nn.MultiheadAttention inside": _MultiheadInside,
}
WRONG[CROSS] |= {
    "context first": _ContextFirst,
    "values of x, fused": _FusedValuesOfX,
    "mask between": _MaskBetween,
    "cut to the shorter": _CutToLength,
    "context added to queries": _QueriesAddContext,
    "self-attention first": _SelfThenCross,
    "mask turned": _MaskTurned,
    "keys of x": _KeysOfX,
    "nn.MultiheadAttention inside": _MultiheadInside,
}


# One head


class _Head(nn.Module):
    def __init__(self, d_model, d_head=None):
        super().__init__()
        d_head = d_model if d_head is None else d_head
        self.q_proj, self.k_proj, self.v_proj = (nn.Linear(d_model, d_head) for _ in range(3))

    def weights(self, scores, mask):
        if mask is not None:
            scores = scores.masked_fill(mask == 0, LOW)
        return F.softmax(scores, dim=-1).nan_to_num()

    def forward(self, x, mask=None):
        q, k, v = self.q_proj(x), self.k_proj(x), self.v_proj(x)
        return self.weights(q @ k.mT / math.sqrt(k.size(-1)), mask) @ v


def _head(answers, base=_Head):
    def keep(function):
        kept = type("SelfAttentionHead", (base,), {"forward": function})
        answers.setdefault(HEAD, {})[function.__name__] = kept
        return function

    return keep


def _bare(self, x):
    return self.q_proj(x), self.k_proj(x), self.v_proj(x), 1 / math.sqrt(self.q_proj.out_features)


@_head(RIGHT)
def einsum_head(self, x, mask=None):
    q, k, v = (layer(x) for layer in (self.q_proj, self.k_proj, self.v_proj))
    scores = torch.einsum("bnd,bmd->bnm", q, k) * q.shape[2] ** -0.5
    return torch.einsum("bnm,bme->bne", self.weights(scores, mask), v)


@_head(RIGHT)
def fused_head(self, x, mask=None, need_weights=False):
    q, k, v = self.q_proj(x), self.k_proj(x), self.v_proj(x)
    return F.scaled_dot_product_attention(
        q[:, None],
        k[:, None],
        v[:, None],
        None if mask is None else (mask.expand(len(x), x.shape[1], x.shape[1])[:, None]),
    )[:, 0]


@_head(RIGHT)
def weights_by_hand(self, x, mask=None):
    q, k, v = self.q_proj(x), self.k_proj(x), self.v_proj(x)
    scores = torch.baddbmm(x.new_zeros(1), q, k.transpose(1, 2), alpha=k.shape[-1] ** -0.5)
    if mask is None:
        mask = torch.ones_like(scores).bool()
    top = scores.masked_fill(~mask, torch.finfo(x.dtype).min).amax(-1, keepdim=True).detach()
    grown = torch.exp(scores.masked_fill(~mask, LOW) - top)
    return grown / grown.sum(-1, keepdim=True).clamp(min=1e-12) @ v


@_head(RIGHT)
def query_by_query(self, x, mask=None):
    q, k, v = self.q_proj(x), self.k_proj(x), self.v_proj(x)
    rows = []
    for n in range(x.size(1)):
        scores = (q[:, n : n + 1] * k).sum(-1) / k.shape[-1] ** 0.5
        if mask is not None:
            scores = scores.masked_fill(~mask.expand(len(x), x.size(1), -1)[:, n], LOW)
        rows.append((scores.softmax(-1).nan_to_num()[..., None] * v).sum(1))
    return torch.stack(rows, dim=1)


@_head(RIGHT)
def linear_by_hand(self, x, mask=None):
    q, k, v = (
        torch.addmm(p.bias, x.flatten(0, 1), p.weight.t()).view(*x.shape[:2], -1)
        for p in (self.q_proj, self.k_proj, self.v_proj)
    )
    return self.weights(torch.bmm(q, k.mT).div_(q.size(-1) ** 0.5), mask).bmm(v)


@_head(RIGHT)
def one_extra_key(self, x, mask=None):
    q, k, v = self.q_proj(x), self.k_proj(x), self.v_proj(x)
    scores = q @ k.mT / k.shape[-1] ** 0.5
    if mask is not None:
        scores = scores.masked_fill(~mask, LOW)
        empty = ~mask.expand_as(scores).any(-1, keepdim=True)
        sink = torch.where(empty, 0.0, LOW).to(scores.dtype)
        weights = torch.cat((scores, sink), -1).softmax(-1)[..., :-1]
        return weights @ v
    return scores.softmax(-1) @ v


@_head(RIGHT)
def weights_in_float32(self, x, mask=None):
    q, k, v, scale = _bare(self, x)
    return (self.weights((q.float() @ k.float().mT) * scale, mask) @ v.float()).to(x.dtype)


def _wider(width):
    class Head(_Head):
        def __init__(self, d_model, d_head=None, *more, **named):
            super().__init__(d_model, d_head)
            self.norm, self.unused = nn.Identity(), nn.ParameterList()
            self.register_buffer("mask", torch.ones(width, width).tril().bool(), persistent=False)

    return Head


RIGHT[HEAD] |= {
    "with a buffer that is not used": _wider(8),
    "a lambda": lambda d_model, d_head=None: _Head(d_model, d_head),
    "two constructors": type("Two", (_Head,), {"make": classmethod(lambda cls, *a: cls(*a))}),
}


@_head(WRONG)
def head_no_scale_no_mask(self, x, mask=None):
    q, k, v, _ = _bare(self, x)
    return torch.softmax(q @ k.mT, -1) @ v


@_head(WRONG)
def head_scale_of_the_input(self, x, mask=None):
    q, k, v, _ = _bare(self, x)
    return self.weights(q @ k.mT / math.sqrt(x.size(-1)), mask) @ v


@_head(WRONG)
def head_scale_of_the_tokens(self, x, mask=None):
    q, k, v, _ = _bare(self, x)
    return self.weights(q @ k.mT / math.sqrt(x.size(1)), mask) @ v


@_head(WRONG)
def head_t_of_three_axes(self, x, mask=None):
    q, k, v, scale = _bare(self, x)
    return self.weights(q @ k.T * scale, mask) @ v


@_head(WRONG)
def head_softmax_over_tokens_asked(self, x, mask=None):
    q, k, v, scale = _bare(self, x)
    scores = q @ k.mT * scale
    return torch.softmax(scores if mask is None else scores.masked_fill(~mask, LOW), 1).nan_to_num() @ v


@_head(WRONG)
def head_causal_where_no_mask(self, x, mask=None):
    q, k, v, scale = _bare(self, x)
    mask = torch.ones(x.size(1), x.size(1)).tril().bool() if mask is None else mask
    return self.weights(q @ k.mT * scale, mask) @ v


@_head(WRONG)
def head_mask_multiplied(self, x, mask=None):
    q, k, v, scale = _bare(self, x)
    scores = q @ k.mT * scale
    return torch.softmax(scores if mask is None else scores * mask, -1) @ v


@_head(WRONG)
def head_cut_without_sharing(self, x, mask=None):
    q, k, v, scale = _bare(self, x)
    weights = torch.softmax(q @ k.mT * scale, -1)
    return (weights if mask is None else weights * mask) @ v


@_head(WRONG)
def head_minus_1e9(self, x, mask=None):
    q, k, v, scale = _bare(self, x)
    scores = q @ k.mT * scale
    return torch.softmax(scores if mask is None else scores.masked_fill(~mask, -1e9), -1) @ v


@_head(WRONG)
def head_nan(self, x, mask=None):
    q, k, v, scale = _bare(self, x)
    scores = q @ k.mT * scale
    return torch.softmax(scores if mask is None else scores.masked_fill(~mask, LOW), -1) @ v


@_head(WRONG)
def head_mean_pooled(self, x, mask=None):
    q, k, v, scale = _bare(self, x)
    return (self.weights(q @ k.mT * scale, mask) @ v).mean(1)


@_head(WRONG)
def head_residual_where_it_fits(self, x, mask=None):
    q, k, v, scale = _bare(self, x)
    output = self.weights(q @ k.mT * scale, mask) @ v
    return output + x if output.shape == x.shape else output


@_head(WRONG)
def head_weights_detached(self, x, mask=None):
    q, k, v, scale = _bare(self, x)
    return self.weights(q @ k.mT * scale, mask).detach() @ v


@_head(WRONG)
def head_tanh(self, x, mask=None):
    q, k, v, scale = _bare(self, x)
    return self.weights(torch.tanh(q) @ torch.tanh(k).mT * scale, mask) @ v


@_head(WRONG)
def head_softmax_before_the_mask(self, x, mask=None):
    q, k, v, scale = _bare(self, x)
    weights = torch.softmax(q @ k.mT * scale, dim=-1)
    return (weights if mask is None else weights.masked_fill(~mask, 0.1)) @ v


@_head(WRONG)
def head_first_sample_attends(self, x, mask=None):
    q, k, v, scale = _bare(self, x)
    return self.weights(q @ k[:1].mT * scale, mask) @ v


@_head(WRONG)
def head_values_of_first_sample(self, x, mask=None):
    q, k, v, scale = _bare(self, x)
    return self.weights(q @ k.mT * scale, mask) @ v[:1]


@_head(WRONG)
def head_of_absolute_scores(self, x, mask=None):
    q, k, v, scale = _bare(self, x)
    return self.weights((q @ k.mT).abs() * scale, mask) @ v


@_head(WRONG)
def head_hard(self, x, mask=None):
    q, k, v, scale = _bare(self, x)
    scores = q @ k.mT * scale
    scores = scores if mask is None else scores.masked_fill(~mask, LOW)
    return F.one_hot(scores.argmax(-1), x.shape[1]).to(x.dtype) @ v


@_head(WRONG)
def head_mask_in_place(self, x, mask=None):
    q, k, v, scale = _bare(self, x)
    if mask is not None:
        mask[..., 0] = True
    return self.weights(q @ k.mT * scale, mask) @ v


@_head(WRONG)
def head_keeps_the_mask(self, x, mask=None):
    q, k, v, scale = _bare(self, x)
    self.mask = mask if mask is not None else getattr(self, "mask", None)
    fits = self.mask is not None and self.mask.shape[-2:] == (x.shape[1], x.shape[1])
    return self.weights(q @ k.mT * scale, mask if mask is not None else self.mask if fits else None) @ v


class _OneForAll(_Head):
    def __init__(self, d_model, d_head=None):
        super().__init__(d_model, d_head)
        self.k_proj = self.v_proj = self.q_proj


class _WidthForgotten(_Head):
    def __init__(self, d_model, d_head=64):
        super().__init__(d_model, d_head)


class _ParametersOnly(nn.Module):
    def __init__(self, d_model, d_head=None):
        super().__init__()
        for name in ("W_query", "W_key", "W_value"):
            setattr(self, name, nn.Parameter(torch.randn(d_model, d_head or d_model)))

    def forward(self, x, mask=None):
        return F.scaled_dot_product_attention(x @ self.W_query, x @ self.W_key, x @ self.W_value)


WRONG[HEAD] |= {"one layer for all": _OneForAll, "64 wide": _WidthForgotten, "lesson 02's": _ParametersOnly}


# split_heads and merge_heads


RIGHT[SPLIT] = {
    "view and permute": lambda x, n_heads: (
        x.contiguous().view(x.size(0), x.size(1), n_heads, x.size(2) // n_heads).permute(0, 2, 1, 3)
    ),
    "movedim": lambda x, n_heads: x.unflatten(2, (n_heads, -1)).movedim(2, 1),
    "swapdims": lambda x, n_heads: x.reshape(*x.shape[:-1], n_heads, -1).swapdims(-2, -3),
    "stack of slices": lambda x, n_heads: torch.stack(
        [x[..., h * (w := x.shape[-1] // n_heads) : (h + 1) * w] for h in range(n_heads)], 1
    ),
    "cat of chunks": lambda x, n_heads: torch.cat([c.unsqueeze(1) for c in x.chunk(n_heads, -1)], dim=1),
    "index_select": lambda x, n_heads: torch.stack(
        [x.index_select(2, idx) for idx in torch.arange(x.shape[2]).chunk(n_heads)], dim=1
    ),
    "vmap": lambda x, n_heads: torch.vmap(lambda s: s.view(len(s), n_heads, -1).transpose(0, 1))(
        x.contiguous()
    ),
    "as_strided": lambda x, n_heads: (c := x.contiguous()).as_strided(
        (c.shape[0], n_heads, c.shape[1], c.shape[2] // n_heads),
        (c.stride(0), c.shape[2] // n_heads, c.shape[2], 1),
    ),
    "narrow": lambda x, n_heads: torch.stack(
        [x.narrow(-1, h * (x.size(-1) // n_heads), x.size(-1) // n_heads) for h in range(n_heads)]
    ).transpose(0, 1),
    "identity matrix": lambda x, n_heads: torch.einsum(
        "bnd,dhe->bhne", x, torch.eye(x.shape[-1], dtype=x.dtype).view(x.shape[-1], n_heads, -1)
    ),
    "tuple shape": lambda x, n_heads: torch.reshape(
        x, x.shape[:2] + (n_heads, x.shape[2] // n_heads)
    ).transpose(1, 2),
    "buffer": lambda x, n_heads: x.new_zeros(x.shape[0], n_heads, x.shape[1], x.shape[2] // n_heads).copy_(
        x.unflatten(-1, (n_heads, -1)).transpose(1, 2)
    ),
    "hsplit": lambda x, n_heads: torch.stack(torch.tensor_split(x, n_heads, dim=2), dim=-3),
    "default": lambda x, n_heads=1, contiguous=True: (
        x.unflatten(-1, (n_heads, -1)).transpose(1, 2).contiguous()
    ),
    "nn.Unflatten": lambda x, n_heads: nn.Unflatten(2, (n_heads, x.shape[2] // n_heads))(x).transpose(1, 2),
    "a view of a view": lambda x, n_heads: (
        x.view(*x.shape[:2], n_heads, -1).transpose(1, 2).view(len(x), n_heads, x.shape[1], -1)
    ),
}
WRONG[SPLIT] = {
    "view with heads second": lambda x, n_heads: x.reshape(len(x), n_heads, x.shape[1], -1),
    "view of the whole": lambda x, n_heads: x.reshape(-1, n_heads, x.shape[1], x.shape[2] // n_heads),
    "not transposed": lambda x, n_heads: x.unflatten(-1, (n_heads, -1)),
    "permuted otherwise": lambda x, n_heads: x.unflatten(-1, (n_heads, -1)).permute(0, 2, 3, 1),
    "permuted as far": lambda x, n_heads: x.unflatten(-1, (n_heads, -1)).permute(2, 0, 1, 3),
    "one head": lambda x, n_heads: x[:, None],
    "heads repeated": lambda x, n_heads: x[:, None].expand(-1, n_heads, -1, -1),
    "strided": lambda x, n_heads: torch.stack([x[..., h::n_heads] for h in range(n_heads)], dim=1),
    "width for number": lambda x, n_heads: x.unflatten(-1, (-1, n_heads)).transpose(1, 2),
    "heads from the back": lambda x, n_heads: x.unflatten(-1, (n_heads, -1)).transpose(1, 2).flip(1),
    "width reversed": lambda x, n_heads: x.unflatten(-1, (n_heads, -1)).transpose(1, 2).flip(-1),
    "tokens chunked": lambda x, n_heads: torch.stack(x.chunk(n_heads, dim=1), dim=1),
    "a tuple": lambda x, n_heads: (x.unflatten(-1, (n_heads, -1)).transpose(1, 2), n_heads),
    "float division": lambda x, n_heads: x.view(*x.shape[:2], n_heads, x.shape[-1] / n_heads).transpose(1, 2),
    "reshaped back": lambda x, n_heads: x.unflatten(-1, (n_heads, -1)).transpose(1, 2).reshape(x.shape),
    "folded": lambda x, n_heads: x.unflatten(-1, (n_heads, -1)).transpose(1, 2).flatten(0, 1),
    "samples swapped": lambda x, n_heads: (
        x.unflatten(-1, (n_heads, -1)).permute(2, 0, 1, 3).reshape(len(x), n_heads, x.shape[1], -1)
    ),
    "normalised": lambda x, n_heads: F.normalize(x.unflatten(-1, (n_heads, -1)).transpose(1, 2), dim=-1),
    "cut off": lambda x, n_heads: x.data.unflatten(-1, (n_heads, -1)).transpose(1, 2),
    "four heads": lambda x, n_heads: x.unflatten(-1, (4, -1)).transpose(1, 2),
    "nothing": lambda x, n_heads: None,
}
RIGHT[MERGE] = {
    "permute and flatten": lambda x: x.permute(0, 2, 1, 3).flatten(-2),
    "cat of unbound heads": lambda x: torch.cat(x.unbind(1), -1),
    "swapaxes": lambda x: x.swapaxes(1, 2).reshape(x.size(0), x.size(2), x.size(1) * x.size(3)),
    "contiguous view": lambda x: x.transpose(-3, -2).contiguous().view(*x.shape[::2], -1),
    "column by column": lambda x: torch.stack(
        [x[:, h, :, e] for h in range(x.shape[1]) for e in range(x.shape[3])], dim=-1
    ),
    "einsum": lambda x: torch.einsum("bhne->bnhe", x).reshape(len(x), x.shape[2], -1),
    "vmap": lambda x: torch.vmap(lambda s: s.transpose(0, 1).reshape(s.shape[1], -1))(x),
    "nn.Flatten": lambda x: nn.Flatten(2)(x.transpose(1, 2)),
    "moved": lambda x: x.movedim(2, 1).flatten(start_dim=2, end_dim=3),
    "tokens stacked": lambda x: torch.stack([x[:, :, n].flatten(1) for n in range(x.shape[2])], dim=1),
    "empty filled": lambda x: _filled(x),
    "reduce": lambda x: functools.reduce(lambda a, b: torch.cat((a, b), -1), x.unbind(1)),
    "identity": lambda x: torch.einsum(
        "bhne,hed->bnd",
        x,
        torch.eye(x.shape[1] * x.shape[3], dtype=x.dtype).view(x.shape[1], x.shape[3], -1),
    ),
    "more arguments": lambda x, n_heads=None: x.transpose(1, 2).reshape(x.shape[0], x.shape[2], -1),
    "sum of padded": lambda x: sum(
        F.pad(head, (h * x.shape[3], (x.shape[1] - 1 - h) * x.shape[3])) for h, head in enumerate(x.unbind(1))
    ),
}


def _filled(x):
    b, h, n, e = x.shape
    output = torch.empty(b, n, h * e, dtype=x.dtype)
    for i in range(h):
        output[:, :, i * e : (i + 1) * e] = x[:, i]
    return output


WRONG[MERGE] = {
    "view of the whole": lambda x: x.reshape(x.shape[0], x.shape[2], -1),
    "flattened heads and tokens": lambda x: x.flatten(1, 2),
    "transposed only": lambda x: x.transpose(1, 2),
    "features first": lambda x: x.permute(0, 2, 3, 1).flatten(2),
    "tokens in front": lambda x: x.permute(2, 0, 1, 3).flatten(2),
    "cat on tokens": lambda x: torch.cat(x.unbind(1), dim=1),
    "heads from the back": lambda x: torch.cat(x.unbind(1)[::-1], dim=-1),
    "first only": lambda x: x[:, 0],
    "maximum": lambda x: x.amax(1),
    "sum, repeated": lambda x: x.sum(1).repeat(1, 1, x.shape[1]),
    "samples mixed": lambda x: x.transpose(0, 1).transpose(1, 2).flatten(2).reshape(len(x), x.shape[2], -1),
    "a view": lambda x: x.transpose(1, 2).view(x.shape[0], x.shape[2], -1),
    "stacked": lambda x: torch.stack(x.unbind(1), dim=-1).flatten(2),
    "token by token": lambda x: torch.stack([x[:, :, n].flatten(1) for n in range(x.shape[2])]),
    "in place": lambda x: x.mul_(1.5).transpose(1, 2).flatten(2),
    "numpy": lambda x: torch.from_numpy(
        x.detach().numpy().transpose(0, 2, 1, 3).reshape(len(x), x.shape[2], -1)
    ),
    "a loop that overwrites": lambda x: [torch.cat([h] * x.shape[1], -1) for h in x.unbind(1)][-1],
    "wrong for one head": lambda x: x.squeeze(1).transpose(1, 2).flatten(2) if x.shape[1] > 1 else x,
    "float": lambda x: x.float().transpose(1, 2).flatten(2),
    "rolled": lambda x: x.transpose(1, 2).flatten(2).roll(1, -1),
}


# copy_weights


PARTS = ("q_proj", "k_proj", "v_proj")


@torch.no_grad()
def _unflattened(source, target):
    weights = source.in_proj_weight.unflatten(0, (3, -1))
    biases = source.in_proj_bias.unflatten(0, (3, -1))
    for i, part in enumerate(PARTS):
        layer = target.get_submodule(part)
        layer.weight.copy_(weights[i])
        layer.bias.copy_(biases[i])
    target.out_proj.weight.copy_(source.out_proj.weight)
    target.out_proj.bias.copy_(source.out_proj.bias)


def _by_vector(source, target):
    pieces = []
    for name, _ in target.named_parameters():
        part, kind = name.split(".")
        if part == "out_proj":
            pieces.append(getattr(source.out_proj, kind).flatten())
        else:
            pieces.append(getattr(source, f"in_proj_{kind}").chunk(3)[PARTS.index(part)].flatten())
    nn.utils.vector_to_parameters(torch.cat(pieces).detach().clone(), target.parameters())


def _new_layers(source, target):
    d = source.embed_dim
    for i, part in enumerate(PARTS):
        layer = nn.Linear(d, d, dtype=source.in_proj_weight.dtype)
        layer.weight.data = source.in_proj_weight.data[i * d : (i + 1) * d].clone()
        layer.bias.data = source.in_proj_bias.data[i * d : (i + 1) * d].clone()
        setattr(target, part, layer)
    target.out_proj = copy.deepcopy(source.out_proj)


def _state(source, target):
    state = source.state_dict()
    new = {"out_proj.weight": state["out_proj.weight"], "out_proj.bias": state["out_proj.bias"]}
    for kind in ("weight", "bias"):
        for part, piece in zip(PARTS, torch.tensor_split(state[f"in_proj_{kind}"], 3), strict=True):
            new[f"{part}.{kind}"] = piece
    target.load_state_dict(new, strict=True)


def _data_slices(source, target):
    d = source.embed_dim
    with torch.inference_mode():
        for i, part in enumerate(PARTS):
            getattr(target, part).weight.data[:] = source.in_proj_weight[i * d : (i + 1) * d]
            getattr(target, part).bias.data[:] = source.in_proj_bias[i * d : (i + 1) * d]
    target.out_proj.load_state_dict(copy.deepcopy(source.out_proj).state_dict())


def _detached(source, target):
    parts = [target.q_proj, target.k_proj, target.v_proj]
    for part, weight, bias in zip(
        parts,
        source.in_proj_weight.detach().split(source.embed_dim),
        source.in_proj_bias.detach().split(source.embed_dim),
        strict=True,
    ):
        part.weight.data.copy_(weight)
        part.bias.data.copy_(bias)
    target.out_proj.weight.data.copy_(source.out_proj.weight.data)
    target.out_proj.bias.data.copy_(source.out_proj.bias.data)


def _zeroed_then_added(source, target):
    for part, weight, bias in zip(
        PARTS, source.in_proj_weight.chunk(3), source.in_proj_bias.chunk(3), strict=True
    ):
        layer = getattr(target, part)
        layer.weight.data.zero_().add_(weight.data)
        layer.bias.data.zero_().add_(bias.data)
    for mine, theirs in zip(target.out_proj.parameters(), source.out_proj.parameters(), strict=True):
        mine.data.fill_(0).add_(theirs.data)


def _returns_the_target(source, target):
    _unflattened(source, target)
    return target


def _assigned_state(source, target):
    state = {k: v.clone() for k, v in source.out_proj.state_dict(prefix="out_proj.").items()}
    for i, part in enumerate(PARTS):
        for kind in ("weight", "bias"):
            state[f"{part}.{kind}"] = getattr(source, f"in_proj_{kind}").detach().chunk(3)[i].clone()
    target.load_state_dict(state, assign=True)


class _Copier:
    def __init__(self, names=PARTS):
        self.names = names

    def __call__(self, source, target, verbose=False):
        with torch.no_grad():
            for name, w, b in zip(self.names, *self.blocks(source), strict=True):
                nn.init.zeros_(getattr(target, name).bias).copy_(b)
                getattr(target, name).weight.set_(w.clone())
            for kind in ("weight", "bias"):
                getattr(target.out_proj, kind).copy_(getattr(source.out_proj, kind))

    @staticmethod
    def blocks(source):
        return source.in_proj_weight.view(3, source.embed_dim, -1), source.in_proj_bias.view(3, -1)


RIGHT[COPY] = {
    "unflattened": _unflattened,
    "by vector": _by_vector,
    "new layers": _new_layers,
    "a whole state": _state,
    "slices of data": _data_slices,
    "detached": _detached,
    "zeroed, then added": _zeroed_then_added,
    "returns the target": _returns_the_target,
    "assigned": _assigned_state,
    "an object": _Copier(),
    "its method": _Copier().__call__,
    "a partial": functools.partial(_unflattened),
    "a lambda": lambda source, target: _state(source, target),
}


def _key_value_shared(source, target):
    _unflattened(source, target)
    target.v_proj.load_state_dict(target.k_proj.state_dict())


def _transposed_output(source, target):
    _unflattened(source, target)
    target.out_proj.weight.data = target.out_proj.weight.data.T.clone()


def _bias_order(source, target):
    _unflattened(source, target)
    with torch.no_grad():
        for part, bias in zip(PARTS[::-1], source.in_proj_bias.chunk(3), strict=True):
            getattr(target, part).bias.copy_(bias)


def _scaled_queries(source, target):
    _unflattened(source, target)
    target.q_proj.weight.data *= (source.embed_dim // source.num_heads) ** -0.5
    target.q_proj.bias.data *= (source.embed_dim // source.num_heads) ** -0.5


def _source_frozen(source, target):
    _unflattened(source, target)
    target.requires_grad_(False)


def _weights_as_views(source, target):
    for part, weight, bias in zip(
        PARTS, source.in_proj_weight.chunk(3), source.in_proj_bias.chunk(3), strict=True
    ):
        getattr(target, part).weight = nn.Parameter(weight)
        getattr(target, part).bias = nn.Parameter(bias)
    target.out_proj.load_state_dict(source.out_proj.state_dict())


def _output_shared(source, target):
    _unflattened(source, target)
    target.out_proj.weight = source.out_proj.weight


def _returns_a_new_one(source, target):
    new = copy.deepcopy(target)
    _unflattened(source, new)
    return new


def _rebinds(source, target):
    q, k, v = source.in_proj_weight.chunk(3)
    target.q_proj.weight, target.k_proj.weight, target.v_proj.weight = q, k, v


def _columns_cut(source, target):
    d = source.embed_dim
    with torch.no_grad():
        for i, part in enumerate(PARTS):
            getattr(target, part).weight.copy_(source.in_proj_weight.T[:, i * d : (i + 1) * d])
            getattr(target, part).bias.copy_(source.in_proj_bias[i * d : (i + 1) * d])
        target.out_proj.load_state_dict(source.out_proj.state_dict())


def _heads_reordered(source, target):
    _unflattened(source, target)
    h = source.num_heads
    with torch.no_grad():
        for part in PARTS:
            layer = getattr(target, part)
            layer.weight.copy_(layer.weight.unflatten(0, (h, -1)).transpose(0, 1).flatten(0, 1))


def _per_head_packed(source, target):
    """Takes the packed weight for q, k, v of head 0, then of head 1, and so on."""
    h, d = source.num_heads, source.embed_dim
    with torch.no_grad():
        blocks = source.in_proj_weight.view(h, 3, d // h, d)
        for i, part in enumerate(PARTS):
            getattr(target, part).weight.copy_(blocks[:, i].reshape(d, d))
            getattr(target, part).bias.copy_(source.in_proj_bias.view(h, 3, -1)[:, i].flatten())
        target.out_proj.load_state_dict(source.out_proj.state_dict())


def _by_names(source, target):
    for name, parameter in source.named_parameters():
        if name in dict(target.named_parameters()):
            dict(target.named_parameters())[name].data.copy_(parameter.data)


def _source_moved(source, target):
    _unflattened(source, target)
    source.out_proj.bias.data.zero_()


def _half(source, target):
    _unflattened(source, target)
    for p in target.parameters():
        p.data = p.data.half().to(p.dtype)


def _without_output_weight(source, target):
    _unflattened(source, target)
    nn.init.eye_(target.out_proj.weight)


def _random_biases(source, target):
    _unflattened(source, target)
    for part in PARTS:
        nn.init.normal_(getattr(target, part).bias)


WRONG[COPY] = {
    "keys for values": _key_value_shared,
    "output turned": _transposed_output,
    "biases backwards": _bias_order,
    "queries scaled": _scaled_queries,
    "target frozen": _source_frozen,
    "views of one weight": _weights_as_views,
    "output weight shared": _output_shared,
    "a new one returned": _returns_a_new_one,
    "rebinds to chunks": _rebinds,
    "columns": _columns_cut,
    "heads reordered": _heads_reordered,
    "packed by heads": _per_head_packed,
    "by names": _by_names,
    "source's output bias zeroed": _source_moved,
    "rounded to half": _half,
    "no output weight": _without_output_weight,
    "random biases": _random_biases,
    "in_proj looked for in the target": lambda source, target: target.in_proj_weight.copy_(
        source.in_proj_weight
    ),
    "q_proj looked for in the source": lambda source, target: target.q_proj.load_state_dict(
        source.q_proj.state_dict()
    ),
    "first block only": lambda source, target: target.q_proj.weight.data.copy_(
        source.in_proj_weight.chunk(3)[0]
    ),
}
