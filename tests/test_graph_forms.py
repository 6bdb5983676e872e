"""Right answers in forms far from the lessons', which must show no difference, and mistakes of structure named."""

import math

import pytest
import torch
from graph_bank import compared
from torch import nn
from torch.nn import functional as F

SELF, GROUPED, LAYER = "heads.MultiheadSelfAttention", "mqa.GroupedQueryAttention", "decoder.TransformerDecoderLayer"


class Heads(nn.Module):
    """Plain multi-head attention of which single steps are changed below."""

    def __init__(self, d_model, n_heads):
        super().__init__()
        self.n_heads, self.d_head = n_heads, d_model // n_heads
        self.q_proj, self.k_proj, self.v_proj, self.out_proj = (nn.Linear(d_model, d_model) for _ in range(4))

    def split(self, x):
        return x.unflatten(-1, (self.n_heads, -1)).transpose(1, 2)

    def qkv(self, x):
        return self.split(self.q_proj(x)), self.split(self.k_proj(x)), self.split(self.v_proj(x))

    def masked(self, scores, mask):
        return scores.masked_fill(~mask, -torch.inf)

    def weigh(self, scores):
        return scores.softmax(-1)

    def merge(self, mixed):
        return mixed.transpose(1, 2).flatten(2)

    def finish(self, mixed, x):
        return self.out_proj(mixed)

    def forward(self, x, mask):
        q, k, v = self.qkv(x)
        weights = self.weigh(self.masked(q @ k.mT / math.sqrt(self.d_head), mask))
        return self.finish(self.merge(weights @ v), x)


def heads(**changes):
    return type("Changed", (Heads,), changes)


def by_vmap(self, x, mask):
    def one(q, k, v, mask):
        return torch.where(mask, q @ k.T / math.sqrt(self.d_head), -torch.inf).softmax(-1) @ v

    q, k, v = (p(x).unflatten(-1, (self.n_heads, -1)) for p in (self.q_proj, self.k_proj, self.v_proj))
    mixed = torch.vmap(torch.vmap(one, in_dims=(1, 1, 1, None), out_dims=1))(q, k, v, mask[:, 0])
    return self.out_proj(mixed.flatten(-2))


def keys_first(self, x, mask):
    q, k, v = (t.mT for t in self.qkv(x))
    scores = k.mT @ q / math.sqrt(self.d_head)  # a row for each key
    weights = scores.masked_fill(~mask.mT, -torch.inf).softmax(-2)
    return self.out_proj((v @ weights).flatten(1, 2).mT)


def head_by_head(self, x, mask):
    total = self.out_proj.bias
    for h in range(self.n_heads):
        rows = slice(h * self.d_head, (h + 1) * self.d_head)
        q, k, v = (F.linear(x, p.weight[rows], p.bias[rows]) for p in (self.q_proj, self.k_proj, self.v_proj))
        scores = (q @ k.mT / self.d_head**0.5).masked_fill(~mask[:, 0], -torch.inf)
        total = total + scores.softmax(-1) @ v @ self.out_proj.weight[:, rows].T
    return total


def heads_before_samples(self, x, mask):
    q, k, v = (t.transpose(0, 1).flatten(0, 1) for t in self.qkv(x))
    mask = mask.squeeze(1).repeat(self.n_heads, 1, 1)
    scores = torch.bmm(q, k.mT).div(math.sqrt(self.d_head)).masked_fill(~mask, -torch.inf)
    return self.out_proj(self.merge((scores.softmax(-1) @ v).unflatten(0, (self.n_heads, -1)).transpose(0, 1)))


def windows(self, x):
    return (p(x).unfold(-1, self.d_head, self.d_head).transpose(1, 2) for p in (self.q_proj, self.k_proj, self.v_proj))


def stacked_weights(self, x):
    parts = self.q_proj, self.k_proj, self.v_proj
    weights, biases = torch.stack([p.weight for p in parts]), torch.stack([p.bias for p in parts])
    rows = torch.einsum("bne,tfe->tbnf", x, weights) + biases[:, None, None]
    return [self.split(t) for t in rows]


def values_late(self, x, mask):
    q, k, _ = self.qkv(x)
    weights = (q @ k.mT / self.d_head**0.5).masked_fill(~mask, -torch.inf).softmax(-1)
    mixed = torch.einsum("bhnm,bme->bhne", weights, x)
    blocks = self.v_proj.weight.view(self.n_heads, self.d_head, -1)
    values = torch.einsum("bhne,hde->bnhd", mixed, blocks) + self.v_proj.bias.view(self.n_heads, -1)
    return self.out_proj(values.flatten(2))


def subtracted(self, scores, mask):
    return scores - 1e9 * (1 - mask.float())


def folded_mask(self, scores, mask):
    rows = scores.transpose(1, 2).reshape(len(scores), -1, scores.shape[-1])
    mask = mask.expand(-1, self.n_heads, -1, -1).transpose(1, 2).reshape(rows.shape)
    return rows.masked_fill(~mask, -torch.inf).unflatten(1, (-1, self.n_heads)).transpose(1, 2)


class Subclassed(nn.MultiheadAttention):
    def __init__(self, d_model, n_heads):
        super().__init__(d_model, n_heads, batch_first=True)

    def forward(self, x, mask):
        blocked = ~mask.expand(-1, self.num_heads, -1, -1).flatten(0, 1)
        return super().forward(x, x, x, attn_mask=blocked)[0]


class Queries(nn.Module):
    """Grouped queries: those of one group stand below each other."""

    def __init__(self, d_model, n_heads, n_kv_heads):
        super().__init__()
        self.groups, self.d_head = n_kv_heads, d_model // n_heads
        self.q_proj, self.out_proj = nn.Linear(d_model, d_model), nn.Linear(d_model, d_model)
        self.k_proj, self.v_proj = (nn.Linear(d_model, n_kv_heads * self.d_head) for _ in range(2))

    def forward(self, x, mask):
        b, n, _ = x.shape
        q = self.q_proj(x).view(b, n, self.groups, -1, self.d_head).permute(0, 2, 3, 1, 4)
        k, v = (p(x).view(b, n, self.groups, -1).transpose(1, 2) for p in (self.k_proj, self.v_proj))
        scores = q.flatten(2, 3) @ k.mT / math.sqrt(self.d_head)
        scores = scores.masked_fill(~mask.repeat(1, 1, q.shape[2], 1), -torch.inf)
        mixed = (scores.softmax(-1) @ v).view(q.shape).permute(0, 3, 1, 2, 4)
        return self.out_proj(mixed.reshape(b, n, -1))


class Layer(nn.Module):
    def __init__(self, d_model, n_heads, d_ff):
        super().__init__()
        self.self_attn = nn.MultiheadAttention(d_model, n_heads, batch_first=True)
        self.linear1, self.linear2 = nn.Linear(d_model, d_ff), nn.Linear(d_ff, d_model)
        self.norm1, self.norm2 = nn.LayerNorm(d_model), nn.LayerNorm(d_model)

    def attend(self, x):
        future = torch.ones(x.shape[1], x.shape[1], dtype=torch.bool).triu(1)
        return self.self_attn(x, x, x, attn_mask=future, need_weights=False)[0]

    def act(self, x):
        return F.gelu(x)

    def feed(self, x):
        return self.linear2(self.act(self.linear1(x)))

    def forward(self, x):
        x = x + self.attend(self.norm1(x))
        return x + self.feed(self.norm2(x))


def layer(**changes):
    return type("Changed", (Layer,), changes)


def token_by_token(self, x):
    z = self.norm1(x)
    rows = [x[:, i : i + 1] + self.self_attn(z[:, i : i + 1], z[:, : i + 1], z[:, : i + 1])[0] for i in range(5)]
    x = torch.cat(rows, dim=1)
    return x + self.feed(self.norm2(x))


def summed_at_the_end(self, x):
    a = self.attend(self.norm1(x))
    return x + (a + self.feed(self.norm2(x + a)))


def summed_stack(self, x):
    x = torch.stack([x, self.attend(self.norm1(x))]).sum(0)
    return sum([x, self.feed(self.norm2(x))])


def width_one(self, x):
    inner = F.conv1d(x.mT, self.linear1.weight[..., None], self.linear1.bias)
    return F.conv1d(F.gelu(inner), self.linear2.weight[..., None], self.linear2.bias).mT


RIGHT = [
    (SELF, heads(forward=by_vmap)), (SELF, heads(forward=keys_first)), (SELF, heads(forward=head_by_head)),
    (SELF, heads(forward=heads_before_samples)), (SELF, heads(forward=values_late)), (SELF, heads(qkv=windows)),
    (SELF, heads(qkv=stacked_weights)), (SELF, heads(masked=subtracted)), (SELF, heads(masked=folded_mask)),
    (SELF, Subclassed), (GROUPED, Queries), (LAYER, layer(forward=token_by_token)),
    (LAYER, layer(forward=summed_at_the_end)), (LAYER, layer(forward=summed_stack)), (LAYER, layer(feed=width_one)),
    (LAYER, layer(act=lambda self, u: u * torch.distributions.Normal(0.0, 1.0).cdf(u))),
    (LAYER, layer(act=lambda self, u: 0.5 * u * (1 + torch.erf(u / math.sqrt(2))))),
]  # fmt: skip


@pytest.mark.parametrize("exercise_id, answer", RIGHT)
def test_right_answers_in_unusual_forms_show_no_difference(exercise_id, answer):
    assert compared(exercise_id, answer) == []


def values_of_keys(self, x):
    k = self.k_proj(x)
    return self.split(self.q_proj(x)), self.split(k), self.split(self.v_proj(k))


def other_samples_masks(self, x, mask):
    """Samples before heads in the queries, heads before samples in the mask."""
    q, k, v = (t.flatten(0, 1) for t in self.qkv(x))
    scores = torch.bmm(q, k.mT) / math.sqrt(self.d_head)
    mixed = scores.masked_fill(~mask.squeeze(1).repeat(self.n_heads, 1, 1), -torch.inf).softmax(-1) @ v
    return self.out_proj(self.merge(mixed.unflatten(0, (len(x), -1))))


WRONG = [
    (SELF, heads(finish=lambda self, mixed, x: F.linear(mixed, self.out_proj.weight.T, self.out_proj.bias)),
     "Yours uses the weight of out_proj on its side; theirs does not."),
    (SELF, heads(finish=lambda self, mixed, x: mixed @ self.out_proj.weight.T),
     "Theirs adds the bias of out_proj; yours does not."),
    (SELF, heads(finish=lambda self, mixed, x: self.out_proj(self.out_proj(mixed))),
     "Theirs applies out_proj once on the way, yours twice."),
    (SELF, heads(finish=lambda self, mixed, x: self.v_proj(mixed)),
     "Theirs projects the mixed values with out_proj, yours with v_proj.\n"
     "Theirs applies v_proj once on the way, yours twice."),
    (SELF, heads(qkv=values_of_keys), "Theirs makes the values with v_proj, yours with k_proj and v_proj."),
    (SELF, heads(qkv=lambda self, x: (self.split(self.q_proj(x)), self.split(self.k_proj(x)), self.split(x))),
     "Theirs uses v_proj; yours does not."),
    (SELF, heads(masked=lambda self, scores, mask: scores * mask),
     "Theirs fills what is blocked with \u2212inf, yours with 0."),
    (SELF, heads(forward=other_samples_masks), "Yours blocks other positions than theirs."),
    (SELF, heads(weigh=lambda self, scores: scores.softmax(-1).square()),
     "Yours applies square to the softmax weights; theirs does not."),
    (SELF, heads(forward=lambda self, x, mask: None), "Theirs gives a tensor; yours returns None."),
    (LAYER, layer(feed=lambda self, x: 0.5 * self.linear2(F.gelu(self.linear1(x)))),
     "Yours multiplies by 0.5 what it adds to an input; theirs does not."),
    (LAYER, layer(forward=lambda self, x: 0.5 * Layer.forward(self, x)),
     "Yours multiplies the last sum by 0.5; theirs does not."),
    (LAYER, layer(feed=lambda self, x: self.linear2(F.gelu(self.linear1(x)) * self.linear1(x))),
     "Yours multiplies an activated result by another one, entry by entry; theirs does not."),
    (LAYER, layer(act=lambda self, u: u * (1 + torch.erf(u / math.sqrt(2)))),
     "Theirs applies gelu, yours a function of its own."),
    (LAYER, layer(act=lambda self, u: u * torch.sigmoid(u)), "Theirs applies gelu, yours silu."),
]  # fmt: skip


@pytest.mark.parametrize("exercise_id, answer, sentences", WRONG)
def test_a_mistake_of_structure_is_named(exercise_id, answer, sentences):
    assert compared(exercise_id, answer) == sentences.split("\n")
