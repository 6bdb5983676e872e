"""Answers to fast.merge_attention."""

import torch


def stacked(out_a, lse_a, out_b, lse_b):
    both = torch.stack([lse_a, lse_b])
    empty = torch.isneginf(both).all(0)
    lse = torch.logsumexp(torch.where(empty, 0.0, both), dim=0)
    shares = torch.where(empty, 0.0, torch.exp(torch.where(empty, 0.0, both) - lse))
    out = (shares[..., None] * torch.stack([out_a, out_b])).sum(0)
    return out, lse.masked_fill(empty, float("-inf"))


def with_sigmoid(out_a, lse_a, out_b, lse_b):
    neither = (lse_a == -torch.inf) & (lse_b == -torch.inf)
    a, b = lse_a.masked_fill(neither, 0.0), lse_b.masked_fill(neither, 0.0)
    some = (~neither).to(out_a.dtype)
    share = torch.sigmoid(a - b)
    out = (share * some)[..., None] * out_a + ((1 - share) * some)[..., None] * out_b
    return out, torch.logaddexp(a, b).masked_fill(neither, -torch.inf)


def low_for_nothing(out_a, lse_a, out_b, lse_b):
    """A very low number in place of minus infinity."""
    low = torch.finfo(lse_a.dtype).min / 4
    a, b = lse_a.clamp(min=low), lse_b.clamp(min=low)
    top = torch.max(a, b).detach()
    weight_a, weight_b = (a - top).exp() * (lse_a > -torch.inf), (b - top).exp() * (lse_b > -torch.inf)
    total = weight_a + weight_b
    safe = torch.where(total > 0, total, torch.ones_like(total))
    out = (weight_a[..., None] * out_a + weight_b[..., None] * out_b) / safe[..., None]
    return out, torch.where(total > 0, top + safe.log(), -torch.inf)


def from_the_difference(out_a, lse_a, out_b, lse_b):
    """lse = larger + log(1 + exp(-|a - b|)); the difference is zero where both are empty."""
    empty = torch.maximum(lse_a, lse_b) == -torch.inf
    a, b = torch.where(empty, 0.0, lse_a), torch.where(empty, 0.0, lse_b)
    lse = torch.nn.functional.softplus(torch.where(a > b, b - a, a - b)) + torch.maximum(a, b)
    share_a, share_b = ((one - lse).exp().masked_fill(empty, 0.0)[..., None] for one in (a, b))
    return share_a * out_a + share_b * out_b, torch.where(empty, -torch.inf, lse)


def row_by_row(out_a, lse_a, out_b, lse_b):
    shape, outs, lses = lse_a.shape, [], []
    rows = zip(out_a.flatten(0, -2), lse_a.flatten(), out_b.flatten(0, -2), lse_b.flatten(), strict=True)
    for o_a, l_a, o_b, l_b in rows:
        if l_a == -torch.inf:
            outs.append(o_b if l_b > -torch.inf else 0 * o_b)
            lses.append(l_b if l_b > -torch.inf else l_b.detach())
        elif l_b == -torch.inf:
            outs.append(o_a)
            lses.append(l_a)
        else:
            lse = torch.logsumexp(torch.stack((l_a, l_b)), 0)
            outs.append((l_a - lse).exp() * o_a + (l_b - lse).exp() * o_b)
            lses.append(lse)
    return torch.stack(outs).view(*shape, -1), torch.stack(lses).view(shape)


LARGEST, EMPTY = "torch.maximum(lse_a, lse_b)", "largest.masked_fill(empty, 0.0)"
TOTAL, SAFE = "(grown_a + grown_b)", "(grown_a + grown_b).masked_fill(empty, 1.0)"
OUT, LSE = "share_a * out_a + share_b * out_b", "(largest + torch.log(total))"
SHARE_A, SHARE_B = "(grown_a / total)", "(grown_b / total)"
LAST = "return out, lse"
RIGHT = {
    "stacked": stacked,
    "sigmoid": with_sigmoid,
    "low numbers": low_for_nothing,
    "from the difference": from_the_difference,
    "row by row": row_by_row,
    "detached maximum": {LARGEST: "torch.maximum(lse_a, lse_b).detach()"},
    "torch.max": {LARGEST: "torch.stack((lse_a, lse_b)).amax(0)"},
    "where": {EMPTY: "torch.where(empty, torch.zeros_like(largest), largest)"},
    "lerp": {OUT: "out_a * share_a + out_b * share_b"},
}
WRONG = {
    "a set without keys counts a little": {".masked_fill(empty, -torch.inf)": ".clamp(min=-1e30)"},
    "sharper": {"torch.exp(lse_a - largest)": "torch.exp(2 * (lse_a - largest))",
                "torch.exp(lse_b - largest)": "torch.exp(2 * (lse_b - largest))"},
    "winner takes all": {SHARE_A: "(lse_a > lse_b).to(out_a)", SHARE_B: "(lse_b >= lse_a).to(out_a)"},
    "powers of two": {"torch.exp(": "torch.exp2("},
    "logarithm of base two": {"torch.log(total)": "torch.log2(total)"},
    "largest put back twice": {LSE: "(2 * largest + torch.log(total))"},
    "clamped": {"lse_a - largest": "(lse_a - largest).clamp(min=-3)"},
    "an empty first set unseen": {"empty = largest == -torch.inf": "empty = lse_a == -torch.inf"},
    "an empty second set unseen": {"empty = largest == -torch.inf": "empty = lse_b == -torch.inf"},
    "either set empty": {"empty = largest == -torch.inf": "empty = (lse_a == -torch.inf) | (lse_b == -torch.inf)"},
    "empty only if all are": {"empty = largest == -torch.inf": "empty = (largest == -torch.inf).all()"},
    "the output alone": {LAST: "return out"},
    "single precision": {LAST: "return out.float(), lse.float()"},
    "out written into": {OUT: "out_a.mul_(share_a).add_(share_b * out_b)"},
    "lse written into": {LARGEST: "torch.maximum(lse_a, lse_b, out=lse_a) if not lse_a.requires_grad else lse_a"},
    "lse cut off": {LSE: "(largest + torch.log(total)).detach()"},
    "an axis too many": {LAST: "return out, lse.unsqueeze(-1)"},
    "outputs cut off": {OUT: "share_a * out_a.detach() + share_b * out_b"},
    "arguments in another order": {"out_a, lse_a, out_b, lse_b)": "out_a, out_b, lse_a, lse_b)"},
    "rounded shares": {SHARE_A: "(grown_a / total).half().to(out_a.dtype)"},
}
