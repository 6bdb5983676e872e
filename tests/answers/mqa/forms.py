"""Multi-query and grouped-query attention in forms that the answers to both classes share."""

import math

import torch
import torch.nn.functional as F
from torch import einsum, nn


def _layers(module, d_model, n_heads, n_kv_heads=1):
    if d_model % n_heads != 0 or n_heads % n_kv_heads != 0:
        raise ValueError(f"{d_model}, {n_heads}, {n_kv_heads} do not divide")
    module.h, module.g, module.d = n_heads, n_kv_heads, d_model // n_heads
    module.q_proj = nn.Linear(d_model, d_model)
    module.k_proj = nn.Linear(d_model, module.g * module.d)
    module.v_proj = nn.Linear(d_model, module.g * module.d)
    module.out_proj = nn.Linear(d_model, d_model)


class Base(nn.Module):
    """Both classes: one key/value head by default."""

    def __init__(self, d_model, n_heads, n_kv_heads=1):
        super().__init__()
        _layers(self, d_model, n_heads, n_kv_heads)

    def heads(self, x):
        """q (B, H, N, D), k and v (B, G, N, D)."""
        b, n, _ = x.shape
        q = self.q_proj(x).view(b, n, self.h, self.d).transpose(1, 2)
        k = self.k_proj(x).view(b, n, self.g, self.d).transpose(1, 2)
        return q, k, self.v_proj(x).view(b, n, self.g, self.d).transpose(1, 2)

    def join(self, out):
        b, _, n, _ = out.shape
        return self.out_proj(out.transpose(1, 2).contiguous().view(b, n, -1))


def weights_of(scores, mask):
    """Softmax with zeros in empty rows."""
    if mask is not None:
        scores = scores.masked_fill(mask == 0, float("-inf"))
    return torch.nan_to_num(F.softmax(scores, dim=-1), nan=0.0)


class Interleaved(Base):
    def forward(self, x, mask=None):
        q, k, v = self.heads(x)
        k, v = (t.repeat_interleave(self.h // self.g, dim=1) for t in (k, v))
        return self.join(weights_of(q @ k.transpose(-2, -1) * self.d**-0.5, mask) @ v)


class Expanded(Base):
    def forward(self, x, mask=None):
        q, k, v = self.heads(x)
        b, _, n, d = k.shape
        r = self.h // self.g
        k = k[:, :, None].expand(b, self.g, r, n, d).reshape(b, self.h, n, d)
        v = v[:, :, None].expand(b, self.g, r, n, d).reshape(b, self.h, n, d)
        scores = torch.matmul(q / math.sqrt(d), k.mT)
        if mask is not None:
            scores = torch.where(mask, scores, torch.finfo(scores.dtype).min)
            weights = torch.softmax(scores, -1) * mask.any(-1, keepdim=True)
        else:
            weights = torch.softmax(scores, -1)
        return self.join(weights @ v)


class FiveAxes(Base):
    def forward(self, x, mask=None):
        q, k, v = self.heads(x)
        q = q.unflatten(1, (self.g, -1))
        scores = einsum("bgrnd,bgmd->bgrnm", q, k) / self.d**0.5
        if mask is not None:
            b, g, r, n, m = scores.shape
            mask = mask.broadcast_to(b, g * r, n, m).view(b, g, r, n, m)
        return self.join(einsum("bgrnm,bgmd->bgrnd", weights_of(scores, mask), v).flatten(1, 2))


class Fused(Base):
    """F.scaled_dot_product_attention on copied heads."""

    def forward(self, x, mask=None):
        q, k, v = self.heads(x)
        index = torch.arange(self.h) // (self.h // self.g)
        return self.join(F.scaled_dot_product_attention(q, k[:, index], v[:, index], attn_mask=mask))


class HeadByHead(Base):
    def forward(self, x, mask=None):
        q, k, v = self.heads(x)
        mask = None if mask is None else mask.expand(x.shape[0], self.h, x.shape[1], x.shape[1])
        outs = []
        for h in range(self.h):
            group = h * self.g // self.h
            scores = q[:, h] @ k[:, group].transpose(1, 2) / math.sqrt(self.d)
            outs.append(weights_of(scores, None if mask is None else mask[:, h]) @ v[:, group])
        return self.out_proj(torch.cat(outs, dim=-1))


class Folded(Base):
    """Heads folded into the batch, bmm."""

    def forward(self, x, mask=None):
        b, n, _ = x.shape
        q, k, v = self.heads(x)
        k, v = (torch.stack([t] * (self.h // self.g), dim=2).flatten(1, 2) for t in (k, v))
        q, k, v = (t.flatten(0, 1) for t in (q, k, v))
        scores = torch.baddbmm(torch.zeros(b * self.h, n, n).to(q), q, k.mT, alpha=1 / math.sqrt(self.d))
        if mask is not None:
            mask = mask.expand(b, self.h, n, n).reshape(-1, n, n)
        return self.join(torch.bmm(weights_of(scores, mask), v).view(b, self.h, n, self.d))


class RowsOfAllHeads(Base):
    """All query heads of a group laid end to end, so that one product serves a group."""

    def forward(self, x, mask=None):
        b, n, _ = x.shape
        q, k, v = self.heads(x)
        scores = q.reshape(b, self.g, -1, self.d) @ k.transpose(2, 3) / math.sqrt(self.d)
        if mask is not None:
            mask = mask.expand(b, self.h, n, n).reshape(b, self.g, -1, n)
        return self.join((weights_of(scores, mask) @ v).reshape(b, self.h, n, self.d))


class ByExp(Base):
    """Softmax by exp and sum; the mask as an added 0 or -inf, empty rows zeroed before dividing."""

    def forward(self, x, mask=None):
        q, k, v = self.heads(x)
        k, v = (t.repeat_interleave(self.h // self.g, 1) for t in (k, v))
        scores = (q * self.d**-0.25) @ (k * self.d**-0.25).mT
        if mask is None:
            mask = torch.ones(x.shape[1], x.shape[1], dtype=torch.bool)
        low = scores.detach().masked_fill(~mask, torch.finfo(scores.dtype).min).amax(-1, keepdim=True)
        exps = torch.where(mask, torch.exp(torch.where(mask, scores - low, 0.0)), 0.0)
        total = exps.sum(-1, keepdim=True)
        return self.join(exps / torch.where(total == 0, 1.0, total) @ v)


class Packed(Base):
    """One product for the three projections; the mask as a very low number that is added."""

    def heads(self, x):
        layers = (self.q_proj, self.k_proj, self.v_proj)
        weight, bias = torch.cat([p.weight for p in layers]), torch.cat([p.bias for p in layers])
        sizes = [self.h * self.d, self.g * self.d, self.g * self.d]
        parts = F.linear(x, weight, bias).split(sizes, dim=-1)
        return [part.unflatten(-1, (-1, self.d)).movedim(2, 1) for part in parts]

    def forward(self, x, mask=None):
        q, k, v = self.heads(x)
        k, v = (t.repeat_interleave(self.h // self.g, 1) for t in (k, v))
        mask = torch.ones(1, 1, dtype=torch.bool) if mask is None else mask
        bias = torch.zeros(mask.shape).masked_fill_(mask.logical_not(), -3e38)
        seen = mask.any(-1, keepdim=True).to(x.dtype)
        return self.join(torch.softmax(q @ k.mT / self.d**0.5 + bias, dim=-1) * seen @ v)


class Helped(Base):
    """A helper module, an extra buffer, extra arguments with defaults, a print."""

    class Attend(nn.Module):
        def __init__(self, width):
            super().__init__()
            self.register_buffer("root", torch.tensor(math.sqrt(width)))

        def forward(self, q, k, v, mask):
            return weights_of(q @ k.mT / self.root, mask) @ v

    def __init__(self, d_model, n_heads, n_kv_heads=1, *, dropout=0.0):
        super().__init__(d_model, n_heads, n_kv_heads)
        self.attend, self.drop = self.Attend(self.d), nn.Dropout(dropout)

    def forward(self, x, mask=None, verbose=False):
        print("forward", x.shape)
        q, k, v = self.heads(x)
        k, v = (torch.cat([t[:, i : i + 1] for i in self.order()], dim=1) for t in (k, v))
        return self.drop(self.join(self.attend(q, k, v, mask)))

    def order(self):
        return [i for i in range(self.g) for _ in range(self.h // self.g)]


class Renormalised(Base):
    """Softmax over everything, blocked weights zeroed, rows divided by what is left; tensors that it made
    itself are changed in place.
    """

    def forward(self, x, mask=None):
        q, k, v = self.heads(x)
        k, v = (t.repeat_interleave(self.h // self.g, 1) for t in (k, v))
        scores = q @ k.mT
        scores /= math.sqrt(self.d)
        if mask is not None:
            scores.masked_fill_(~mask, -1e30)
        weights = torch.softmax(scores, -1)
        if mask is not None:
            weights = weights * mask
            weights = weights / weights.sum(-1, keepdim=True).clamp_min(1e-9)
        return self.join(weights @ v)


class SharedByBroadcast(nn.Module):
    """One key head without copies: (B, 1, N, D) meets (B, H, N, D)."""

    def __init__(self, d_model, n_heads):
        super().__init__()
        _layers(self, d_model, n_heads)

    def forward(self, x, mask=None):
        q = self.q_proj(x).unflatten(-1, (self.h, self.d)).permute(0, 2, 1, 3)
        k, v = self.k_proj(x).unsqueeze(1), self.v_proj(x).unsqueeze(1)
        out = weights_of(q @ k.transpose(-1, -2) / math.sqrt(k.size(-1)), mask) @ v
        return self.out_proj(out.permute(0, 2, 1, 3).reshape(x.shape))


class SharedByEinsum(SharedByBroadcast):
    def forward(self, x, mask=None):
        q = self.q_proj(x).unflatten(-1, (self.h, self.d))
        scores = einsum("bnhd,bmd->bhnm", q, self.k_proj(x)) / math.sqrt(self.d)
        out = einsum("bhnm,bmd->bnhd", weights_of(scores, mask), self.v_proj(x))
        return self.out_proj(out.flatten(-2))


class SharedFused(SharedByBroadcast):
    """F.scaled_dot_product_attention broadcasts the one key head itself."""

    def forward(self, x, mask=None):
        q = self.q_proj(x).unflatten(-1, (self.h, self.d)).transpose(1, 2)
        k, v = self.k_proj(x)[:, None], self.v_proj(x)[:, None]
        out = F.scaled_dot_product_attention(q, k, v, attn_mask=mask)
        return self.out_proj(out.transpose(1, 2).flatten(2))


class GqaFlag(Base):
    def forward(self, x, mask=None):
        return self.join(F.scaled_dot_product_attention(*self.heads(x), attn_mask=mask, enable_gqa=True))


class MultiheadInside(Base):
    """nn's own attention on weights that are repeated for all heads."""

    def forward(self, x, mask=None):
        r, b, n = self.h // self.g, x.shape[0], x.shape[1]
        k, v = (p.weight.unflatten(0, (self.g, -1)).repeat_interleave(r, 0).flatten(0, 1)
                for p in (self.k_proj, self.v_proj))
        bias = torch.cat([self.q_proj.bias] + [p.bias.unflatten(0, (self.g, -1)).repeat_interleave(r, 0).flatten()
                                               for p in (self.k_proj, self.v_proj)])
        if mask is not None:
            mask = ~mask.expand(b, self.h, n, n).flatten(0, 1)
        x = x.transpose(0, 1)
        out, _ = F.multi_head_attention_forward(
            x, x, x, self.h * self.d, self.h, None, bias, None, None, False, 0.0, self.out_proj.weight,
            self.out_proj.bias, attn_mask=mask, need_weights=False, use_separate_proj_weight=True,
            q_proj_weight=self.q_proj.weight, k_proj_weight=k, v_proj_weight=v,
        )
        return out.transpose(0, 1)


def two_arguments(kind):
    """Return the class `kind` with one key/value head."""

    class MultiQueryAttention(kind):
        def __init__(self, d_model, n_heads):
            super().__init__(d_model, n_heads)

    return MultiQueryAttention


FORMS = (Interleaved, Expanded, FiveAxes, Fused, HeadByHead, Folded, RowsOfAllHeads, ByExp, Packed, Helped,
         Renormalised)
PRODUCT, SCALE = "q @ k.transpose(-2, -1)", "/ math.sqrt(q.shape[-1])"
FILL, SOFTMAX = "scores.masked_fill(~mask, -torch.inf)", "torch.softmax(scores, dim=-1)"
CLEANED, MIX = f"{SOFTMAX}.nan_to_num()", "weights @ v"
MERGE, OUT, GIVEN = "output.transpose(1, 2).flatten(2)", "self.out_proj(output)", "if mask is not None:"
LOWEST = "scores.amax(-1, keepdim=True).clamp(min=torch.finfo(scores.dtype).min)"
OWN_SOFTMAX = f"(lambda e: e / e.sum(-1, keepdim=True).clamp(min=1e-30))(torch.exp(scores - {LOWEST}))"
OUT_BY_HEAD = "self.out_proj.weight.unflatten(1, (self.n_heads, -1))"
BY_HEAD = f"torch.einsum('bhnd,ohd->bno', output, {OUT_BY_HEAD}) + self.out_proj.bias"
AT_ALL = "(1 if mask is None else mask.any(-1, keepdim=True))"
CUT = f"{SOFTMAX} * (1 if mask is None else mask)"
SHARED_AGAIN = f"(lambda w: w / w.sum(-1, keepdim=True){{}})({CUT})"

# As edits of both worked answers.
RIGHT = {
    "root of a tensor": {SCALE: "/ torch.sqrt(torch.tensor(float(q.shape[-1])))"},
    "where": {FILL: "torch.where(mask, scores, -torch.inf)"},
    "rows made safe before": {FILL: "scores.masked_fill(~(mask | ~mask.any(-1, keepdim=True)), -torch.inf)",
                              CLEANED: f"{SOFTMAX} * {AT_ALL}"},
    "lowest number, then zero": {"-torch.inf": "torch.finfo(scores.dtype).min", CLEANED: f"{SOFTMAX} * {AT_ALL}"},
    "own softmax": {CLEANED: OWN_SOFTMAX},
    "output layer by head": {MERGE: BY_HEAD, f"return {OUT}": "return output"},
    "heads side by side": {MERGE: "torch.cat(output.unbind(1), dim=-1)"},
    "constants added to rows": {SCALE: f"{SCALE} + q.sum(-1, keepdim=True)"},
    "inferred by -1": {MERGE: "output.swapaxes(1, 2).reshape(*x.shape[:2], -1)"},
}
WRONG = {
    "softmax in float32": {SOFTMAX: "F.softmax(scores, dim=-1, dtype=torch.float32).to(x.dtype)"},
    "softmax of all, zero, renormalise": {FILL: "scores", CLEANED: SHARED_AGAIN.format(".clamp_min(1e-20)")},
    "softmax of all, NaN to zero": {FILL: "scores", CLEANED: f"{SHARED_AGAIN.format('')}.nan_to_num()"},
    "float32's lowest number": {FILL: "scores + torch.zeros(mask.shape)"
                                ".masked_fill(~mask, torch.finfo(torch.float32).min)", CLEANED: SOFTMAX},
    "float64's lowest number in float32": {FILL: "scores + torch.where(mask, 0.0, torch.finfo(x.dtype).min)",
                                           CLEANED: f"{CLEANED} * {AT_ALL}"},
    "fill of the lowest number": {"-torch.inf": "torch.finfo(scores.dtype).min", CLEANED: SOFTMAX},
    "fill of -1e5, empty rows zero": {"-torch.inf": "-1e5", CLEANED: f"{SOFTMAX} * {AT_ALL}"},
    "fill of -100": {"-torch.inf": "-100.0", CLEANED: SOFTMAX},
    "fill of 1e-9": {"-torch.inf": "1e-9", CLEANED: SOFTMAX},
    "100 keys at most": {GIVEN: "if mask is not None and k.shape[-2] <= 100:"},
    "inverted with == 1": {"~mask": "mask == 1", CLEANED: SOFTMAX},
    "inverted, finite fill": {"~mask, -torch.inf": "mask, -1e9"},
    "no scale, inverted mask": {SCALE: "", "~mask": "mask"},
    "weights zeroed, not renormalised": {FILL: "scores", CLEANED: CUT},
    "mask given one more axis": {"~mask": "~mask.unsqueeze(1)"},
    "mask of the first head": {"~mask": "~(mask if mask.dim() < 4 else mask[:, :1])"},
    "mask and triangle": {"~mask": "~mask.tril()"},
    "always causal": {GIVEN: "if True:", "~mask": "torch.ones_like(scores).triu(1).bool()"},
    "plus infinity": {"-torch.inf": "torch.inf"},
    "zero scores are blocked": {SOFTMAX: "torch.softmax(scores.masked_fill(scores == 0, -1e9), dim=-1)"},
    "first sample's keys": {PRODUCT: "q @ k[:1].transpose(-2, -1)"},
    "keys from queries": {PRODUCT: "q @ q.transpose(-2, -1)"},
    "cosine": {PRODUCT: "F.normalize(q, dim=-1) @ F.normalize(k, dim=-1).transpose(-2, -1)"},
    "keys kept from the first call": {PRODUCT: "q @ vars(self).setdefault(str(k.shape), k.detach()).transpose(-2, -1)"},
    "fourth root": {SCALE: "/ q.shape[-1] ** 0.25"},
    "whole scores": {SCALE: f"/{SCALE}"},
    "relu for exp": {CLEANED: "(scores.relu() / scores.relu().sum(-1, keepdim=True)).nan_to_num()"},
    "three best keys": {SOFTMAX: "torch.softmax(scores.masked_fill(scores < scores.topk(min(3, x.shape[1])).values"
                        "[..., -1:], -1e9), -1)"},
    "half precision": {SOFTMAX: "torch.softmax(scores.half(), dim=-1).to(x.dtype)"},
    "softmax over the samples": {SOFTMAX: "torch.softmax(scores, dim=0)"},
    "values cut off": {MIX: "weights @ v.detach()"},
    "no output layer": {f"return {OUT}": "return output"},
    "output layer twice": {OUT: "self.out_proj(self.out_proj(output))"},
    "normed at the end": {OUT: "F.layer_norm(self.out_proj(output), x.shape[-1:])"},
    "relu on queries": {"self.q_proj(x)": "self.q_proj(x).relu()"},
    "dropout": {MIX: "F.dropout(weights @ v, 0.1, self.training)"},
    "two outputs": {f"return {OUT}": f"return {OUT}, scores"},
    "no mask": {", mask=None": "", GIVEN: "if False:"},
    "mask by another name": {"x, mask=None": "x, attn_mask=None", GIVEN: "if (mask := attn_mask) is not None:"},
    "keys unnamed": {"k_proj": "w_k"},
    "enable_gqa": GqaFlag,
    "nn's multi-head attention": MultiheadInside,
}
