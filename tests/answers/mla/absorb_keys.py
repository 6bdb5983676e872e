"""Answers to mla.absorb_keys."""

import torch


def with_einsum(q_weight, k_up_weight, n_heads):
    weights = q_weight.contiguous(), k_up_weight.contiguous()
    q, k = (w.view(n_heads, w.shape[0] // n_heads, w.shape[1]) for w in weights)
    return torch.einsum("hdm,hdc->hmc", q, k)


def head_by_head(q_weight, k_up_weight, n_heads):
    d_head = q_weight.shape[0] // n_heads
    rows = [slice(h * d_head, (h + 1) * d_head) for h in range(n_heads)]
    return torch.stack([q_weight[r].T @ k_up_weight[r] for r in rows])


def in_chunks(q_weight, k_up_weight, n_heads):
    pairs = zip(q_weight.chunk(n_heads), k_up_weight.chunk(n_heads), strict=True)
    return torch.stack([q.mT.matmul(k) for q, k in pairs], dim=0)


def batched(q_weight, k_up_weight, n_heads):
    q = q_weight.reshape(n_heads, -1, q_weight.size(1)).permute(0, 2, 1)
    return torch.bmm(q, k_up_weight.reshape(n_heads, -1, k_up_weight.size(1)))


def masked_rows(q_weight, k_up_weight, n_heads):
    """Rows of other heads set to zero."""
    head = torch.arange(len(q_weight)) // (len(q_weight) // n_heads)
    mine = head == torch.arange(n_heads)[:, None]
    return (q_weight * mine[..., None]).mT @ k_up_weight


def filled(q_weight, k_up_weight, n_heads):
    d_model, d_head = len(q_weight), len(q_weight) // n_heads
    out = torch.empty(n_heads, d_model, k_up_weight.shape[1], dtype=q_weight.dtype)
    for h in range(n_heads):
        start = h * d_head
        out[h] = q_weight[start : start + d_head].T @ k_up_weight[start : start + d_head]
    return out


def summed(q_weight, k_up_weight, n_heads):
    q, k = q_weight.unflatten(0, (n_heads, -1)), k_up_weight.unflatten(0, (n_heads, -1))
    return (q[..., :, None] * k[..., None, :]).sum(dim=1)


Q, K = "q_weight.unflatten(0, (n_heads, -1))", "k_up_weight.unflatten(0, (n_heads, -1))"
PRODUCT, LAST = "q_heads.transpose(1, 2) @ k_heads", "return absorbed"
RIGHT = {
    "einsum": with_einsum,
    "head by head": head_by_head,
    "chunks": in_chunks,
    "bmm": batched,
    "masked rows": masked_rows,
    "filled": filled,
    "outer products": summed,
    "mT": {"transpose(1, 2)": "mT"},
    "tensor_split": {Q: "torch.stack(q_weight.tensor_split(n_heads))"},
}
WRONG = {
    "squared": {PRODUCT: f"({PRODUCT}) ** 2"},
    "means": {PRODUCT: f"{PRODUCT} / q_heads.shape[1]"},
    "roots of both widths": {PRODUCT: f"{PRODUCT} / (q_heads.shape[1] * k_heads.shape[2]) ** 0.5"},
    "heads rolled": {K: f"{K}.roll(1, 0)"},
    "heads reversed": {LAST: "return absorbed.flip(0)"},
    "first head for all": {LAST: "return absorbed[:1].expand_as(absorbed)"},
    "keys only": {PRODUCT: "k_heads.expand(n_heads, -1, -1)"},
    "rows of features backwards": {K: f"{K}.flip(1)"},
    "reshaped instead of transposed": {PRODUCT: "q_heads.reshape(n_heads, len(q_weight), -1) @ k_heads"},
    "a list": {LAST: "return list(absorbed)"},
    "two heads": {"n_heads, -1": "2, -1"},
    "plus a residual": {PRODUCT: f"{PRODUCT} + q_weight[..., :1]"},
    "normed": {LAST: "return torch.nn.functional.normalize(absorbed, dim=-1)"},
    "softmax": {LAST: "return absorbed.softmax(-1)"},
    "single precision": {LAST: "return absorbed.float()"},
    "half the gradient": {PRODUCT: "q_heads.detach().transpose(1, 2) @ k_heads"},
    "another name": {"k_up_weight": "k_weight"},
    "written into the weight": {LAST: "q_weight.detach().add_(0.5)\n    return absorbed"},
}
