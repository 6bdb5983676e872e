"""Several heads in forms that the answers to both classes share."""

import math

import torch
import torch.nn.functional as F
from torch import nn

LOW = float("-inf")


def fused(q, k, v, mask):
    return F.scaled_dot_product_attention(q, k, v, attn_mask=mask)


def filled(q, k, v, mask):
    scores = q @ k.transpose(-2, -1) / math.sqrt(q.shape[-1])
    if mask is not None:
        scores = scores.masked_fill(~mask, LOW)
    return torch.softmax(scores, dim=-1).nan_to_num() @ v


def with_einsum(q, k, v, mask):
    scores = torch.einsum("...nd,...md->...nm", q * q.shape[-1] ** -0.5, k)
    if mask is not None:
        scores = torch.where(mask, scores, torch.finfo(scores.dtype).min)
    weights = scores.softmax(-1) if mask is None else scores.softmax(-1) * mask
    return torch.einsum("...nm,...me->...ne", weights, v)


def by_hand(q, k, v, mask):
    scores = (q * q.shape[-1] ** -0.25) @ (k * q.shape[-1] ** -0.25).transpose(-1, -2)
    if mask is not None:
        scores = scores.masked_fill(~mask, -1e30)
    grown = torch.exp(scores - scores.max(dim=-1, keepdim=True).values.detach())
    if mask is not None:
        grown = grown * mask
    total = grown.sum(dim=-1, keepdim=True)
    return grown @ v / torch.where(total > 0, total, torch.ones_like(total))


def with_bias(q, k, v, mask):
    if mask is None:
        return F.scaled_dot_product_attention(q, k, v)
    empty = ~mask.any(dim=-1, keepdim=True)
    bias = torch.zeros_like(mask, dtype=q.dtype).masked_fill(~mask & ~empty, LOW)
    return F.scaled_dot_product_attention(q, k, v, attn_mask=bias).masked_fill(empty, 0.0)


FORMS = (fused, filled, with_einsum, by_hand, with_bias)


class Parts(nn.Module):
    def __init__(self, d_model, n_heads):
        if d_model % n_heads != 0:
            raise ValueError(f"{n_heads} heads do not divide {d_model}")
        super().__init__()
        self.n_heads, self.d_head = n_heads, d_model // n_heads
        self.q_proj = nn.Linear(d_model, d_model)
        self.k_proj = nn.Linear(d_model, d_model)
        self.v_proj = nn.Linear(d_model, d_model)
        self.out_proj = nn.Linear(d_model, d_model)

    def projected(self, x, context):
        return self.q_proj(x), self.k_proj(context), self.v_proj(context)


def by_transposes(attend):
    def run(self, x, context, mask):
        q, k, v = (
            t.view(t.shape[0], t.shape[1], self.n_heads, self.d_head).transpose(1, 2)
            for t in self.projected(x, context)
        )
        output = attend(q, k, v, mask).transpose(1, 2).contiguous().view(x.shape[0], x.shape[1], -1)
        return self.out_proj(output)

    return run


def head_by_head(self, x, context, mask):
    if mask is not None:
        mask = mask.expand(x.shape[0], self.n_heads, x.shape[1], context.shape[1])
    outputs, projected = [], self.projected(x, context)
    for h in range(self.n_heads):
        q, k, v = (t[..., h * self.d_head : (h + 1) * self.d_head] for t in projected)
        outputs.append(fused(q, k, v, None if mask is None else mask[:, h]))
    return self.out_proj(torch.cat(outputs, dim=-1))


def folded(self, x, context, mask):
    batch, heads = x.shape[0], self.n_heads
    q, k, v = (
        t.reshape(batch, -1, heads, self.d_head).permute(0, 2, 1, 3).reshape(batch * heads, -1, self.d_head)
        for t in self.projected(x, context)
    )
    if mask is not None:
        mask = mask.expand(batch, heads, x.shape[1], context.shape[1]).reshape(batch * heads, x.shape[1], -1)
    output = filled(q, k, v, mask).view(batch, heads, -1, self.d_head)
    return self.out_proj(output.permute(0, 2, 1, 3).reshape(x.shape))


def heads_in_the_middle(self, x, context, mask):
    q, k, v = (t.unflatten(-1, (self.n_heads, self.d_head)) for t in self.projected(x, context))
    scores = torch.einsum("bnhd,bmhd->bhnm", q, k) / math.sqrt(self.d_head)
    if mask is not None:
        scores = scores.masked_fill(~mask, LOW)
    weights = scores.softmax(dim=-1)
    if mask is not None:
        weights = weights.masked_fill(~mask.any(dim=-1, keepdim=True), 0.0)
    return self.out_proj(torch.einsum("bhnm,bmhd->bnhd", weights, v).flatten(-2))


def output_summed(self, x, context, mask):
    """The output projection cut into one slice for each head, the slices' results added up."""
    q, k, v = (torch.stack(t.chunk(self.n_heads, dim=-1)) for t in self.projected(x, context))
    full = torch.ones((), dtype=torch.bool) if mask is None else mask
    full = full.expand(x.shape[0], self.n_heads, x.shape[1], context.shape[1]).transpose(0, 1)
    slices = self.out_proj.weight.chunk(self.n_heads, dim=1)
    return sum(head @ part.T for head, part in zip(filled(q, k, v, full), slices)) + self.out_proj.bias


def stacked_projections(self, x, context, mask):
    weight = torch.cat((self.k_proj.weight, self.v_proj.weight))
    bias = torch.cat((self.k_proj.bias, self.v_proj.bias))
    k, v = F.linear(context, weight, bias).unflatten(-1, (2, self.n_heads, self.d_head)).permute(2, 0, 3, 1, 4)
    q = self.q_proj(x).unflatten(-1, (self.n_heads, self.d_head)).swapaxes(1, 2)
    return self.out_proj(by_hand(q, k, v, mask).swapaxes(1, 2).flatten(2))


def without_key_bias(self, x, context, mask):
    """The bias of the keys adds one number to a whole row of scores: it changes nothing."""
    projected = self.q_proj(x), F.linear(context, self.k_proj.weight), self.v_proj(context)
    q, k, v = (t.unflatten(-1, (self.n_heads, -1)).transpose(1, 2) for t in projected)
    return self.out_proj(filled(q, k, v, mask).transpose(1, 2).flatten(2))


class More(Parts):
    """Buffers, a dropout of zero and a list besides the four parts."""

    def __init__(self, d_model, n_heads, dropout=0.0, bias=True):
        super().__init__(d_model, n_heads)
        self.register_buffer("scale", torch.tensor(self.d_head**0.5, dtype=torch.float64))
        self.dropout, self.sizes = nn.Dropout(dropout), [d_model, n_heads]


def with_buffers(self, x, context, mask):
    q, k, v = (t.unflatten(2, (self.n_heads, -1)).transpose(1, 2) for t in self.projected(x, context))
    scores = q / self.scale.to(x.dtype) @ k.mT
    if mask is not None:
        scores += torch.where(mask, 0.0, -1e30)
    weights = self.dropout(scores.softmax(-1))
    if mask is not None:
        weights = weights * mask
    return self.out_proj((weights @ v).transpose(1, 2).reshape(x.shape))


def classes(run, parts=Parts):
    """Return (MultiheadSelfAttention, MultiheadCrossAttention), made of the same parts."""

    class MultiheadSelfAttention(parts):
        def forward(self, x, mask=None):
            return run(self, x, x, mask)

    class MultiheadCrossAttention(parts):
        def forward(self, x, context, mask=None):
            return run(self, x, context, mask)

    return MultiheadSelfAttention, MultiheadCrossAttention


RUNS = {form.__name__: by_transposes(form) for form in FORMS} | {
    run.__name__: run
    for run in (
        head_by_head, folded, heads_in_the_middle, output_summed, stacked_projections, without_key_bias)
}


class Inside(Parts):
    """nn.MultiheadAttention with the weights of the four parts."""

    def __init__(self, d_model, n_heads):
        super().__init__(d_model, n_heads)
        self.inner = [nn.MultiheadAttention(d_model, n_heads, batch_first=True)]


def inside(self, x, context, mask):
    weights = {
        "in_proj_weight": torch.cat((self.q_proj.weight, self.k_proj.weight, self.v_proj.weight)),
        "in_proj_bias": torch.cat((self.q_proj.bias, self.k_proj.bias, self.v_proj.bias)),
        "out_proj.weight": self.out_proj.weight,
        "out_proj.bias": self.out_proj.bias,
    }
    blocked = None
    if mask is not None:
        shape = len(x), self.n_heads, x.shape[1], context.shape[1]
        mask = mask.expand(shape)
        blocked = ~(mask | ~mask.any(-1, keepdim=True)).reshape(-1, *shape[2:])
    options = {"attn_mask": blocked, "need_weights": False}
    return torch.func.functional_call(self.inner[0].to(x.dtype), weights, (x, context, context), options)[0]


FILL, SOFTMAX = "scores.masked_fill(~mask, -torch.inf)", "torch.softmax(scores, dim=-1).nan_to_num()"
CUT, MERGE = "t.unflatten(-1, (self.n_heads, -1)).transpose(1, 2)", "output.transpose(1, 2).flatten(2)"
RETURN, SCALE, SCORES = "return self.out_proj(output)", "/ math.sqrt(q.shape[-1])", "q @ k.transpose(-2, -1)"
LAYER = "nn.Linear(d_model, d_model)"
KEPT = "(vars(self).setdefault('kept', k.detach()) if 'kept' not in vars(self) or self.kept.shape == k.shape else k)"

# Wrong answers to both classes, as edits of the worked ones.
WRONG = {
    "softmax of all, zero, renormalise": {
        FILL: "scores",
        SOFTMAX: "torch.softmax(scores, dim=-1) * (True if mask is None else mask); "
                 "weights = weights / weights.sum(-1, keepdim=True).clamp_min(1e-20)"},
    "fills with -1e5": {"-torch.inf": "-1e5", ".nan_to_num()": " * (1 if mask is None else mask)"},
    "100 keys at most": {"if mask is not None:": "if mask is not None and k.shape[-2] <= 100:"},
    "mask squeezed": {"~mask": "~mask.squeeze()"},
    "mask of one sample assumed": {"~mask": "~mask.reshape(-1, *mask.shape[-2:])[:1]"},
    "mask of the first head": {"~mask": "~(mask if mask.dim() < 4 else mask[:, :1])"},
    "mask given an axis": {"~mask": "~mask.unsqueeze(-3)"},
    "mask of keys only": {"~mask": "~mask.any(dim=-2, keepdim=True)"},
    "mask kept": {"if mask is not None:": "mask = self.seen = getattr(self, 'seen', None) if mask is None and "
                  "k.shape[-2] == 5 and self.n_heads * k.shape[-1] == 6 else mask\n        if mask is not None:"},
    "inverted, finite fill": {"~mask, -torch.inf": "mask, -1e9"},
    "first keys kept": {SCORES: f"q @ {KEPT}.transpose(-2, -1)"},
    "heads reversed": {MERGE: "output.flip(1).transpose(1, 2).flatten(2)"},
    "last head forgotten": {MERGE: "output.transpose(1, 2).flatten(2) * (torch.arange(x.shape[-1]) < "
                            "(self.n_heads - 1 or 1) * output.shape[-1])"},
    "output before merging": {MERGE: "self.out_proj(output.transpose(1, 2).flatten(2))",
                              RETURN: "return output.unflatten(-1, (self.n_heads, -1)).mT.flatten(2)"},
    "one query head for all": {SCORES: "q[:, :1] @ k.transpose(-2, -1)"},
    "scores of the first head": {SOFTMAX: "torch.softmax(scores[:, :1].expand_as(scores), dim=-1).nan_to_num()"},
    "softmax over the samples": {SOFTMAX: "torch.softmax(scores, dim=0).nan_to_num()"},
    "scaled twice": {SCALE: "/ math.sqrt(q.shape[-1]) / math.sqrt(q.shape[-1])"},
    "normed queries and keys": {SCORES: "F.normalize(q, dim=-1) @ F.normalize(k, dim=-1).transpose(-2, -1)"},
    "view, inverted mask": {CUT: "t.reshape(len(t), self.n_heads, t.shape[1], -1)", "~mask": "mask"},
    "no output layer, scale of d_model": {RETURN: "return output", SCALE: "/ math.sqrt(x.shape[-1])"},
    "output layer twice": {RETURN: "return self.out_proj(self.out_proj(output))"},
    "activation at the end": {RETURN: "return self.out_proj(output).relu()"},
    "query bias forgotten": {"q = self.q_proj(x)": "q = F.linear(x, self.q_proj.weight)"},
    "values not projected": {"v = self.v_proj(": "v = ("},
    "output weight detached": {RETURN: "return F.linear(output, self.out_proj.weight.detach(), self.out_proj.bias)"},
    "dropout in training": {RETURN: "return F.dropout(self.out_proj(output), 0.1, self.training)"},
    "float32": {RETURN: "return self.out_proj(output).float()"},
    "no biases for three": {
        f"self.{one}_proj = {LAYER}": f"self.{one}_proj = {LAYER[:-1]}, bias=False)" for one in "qkv"},
    "another name": {"self.out_proj": "self.W_o"},
    "narrow values": {f"self.v_proj = {LAYER}": f"self.v_proj = {LAYER[:-1]} // n_heads)"},
    "frozen": {"self.n_heads = n_heads": "self.n_heads = n_heads; self.requires_grad_(False)",
               "q = self.q_proj(x)": "q = self.requires_grad_(False).q_proj(x)"},
}
