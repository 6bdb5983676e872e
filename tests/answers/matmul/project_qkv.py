"""Answers to matmul.project_qkv."""

import functools

import torch
import torch.nn.functional as F


def flattened(x, w_q, w_k, w_v):
    flat = x.reshape(-1, x.shape[-1])
    q, k, v = (torch.mm(flat, w).reshape(*x.shape[:-1], w.shape[1]) for w in (w_q, w_k, w_v))
    return (q, k, v)


def from_one_product(x, w_q, w_k, w_v, *, verbose=False):
    q, k, v = torch.split(x @ torch.hstack((w_q, w_k, w_v)), w_q.shape[1], dim=-1)
    return q, k, v


def tuple_of_comprehension(x, *weights):
    return tuple([torch.matmul(x, w) for w in weights])


def numbers_from(x, w_q, w_k, w_v):
    return tuple(torch.tensor((x @ w).tolist(), dtype=x.dtype) for w in (w_q, w_k, w_v))


def buffers_of_float32(x, w_q, w_k, w_v):
    out = torch.zeros(3, *x.shape[:-1], w_q.shape[1])
    for i, w in enumerate((w_q, w_k, w_v)):
        out[i] = x @ w
    return tuple(out)


def flat_by_view(x, w_q, w_k, w_v):
    return tuple((x.view(-1, x.shape[-1]) @ w).view(*x.shape[:-1], -1) for w in (w_q, w_k, w_v))


def weights_normalised_in_place(x, w_q, w_k, w_v):
    for w in (w_q, w_k, w_v):
        w /= w.norm()
    return x @ w_q, x @ w_k, x @ w_v


START, END = "    q = x @ w_q", "return q, k, v"
RIGHT = {
    "linear": lambda x, w_q, w_k, w_v: (F.linear(x, w_q.T), F.linear(x, w_k.mT), F.linear(x, w_v.t())),
    "einsum": lambda x, *weights: tuple(torch.einsum("...i,io->...o", x, w) for w in weights),
    "one einsum": lambda x, *weights: torch.einsum("...i,sio->s...o", x, torch.stack(weights)).unbind(0),
    "chunks of one product": lambda x, *weights: (x @ torch.cat(weights, dim=1)).chunk(3, dim=-1),
    "split from one product": from_one_product,
    "unflattened": lambda x, *weights: (x @ torch.cat(weights, 1)).unflatten(-1, (3, -1)).unbind(-2),
    "map": lambda x, w_q, w_k, w_v: tuple(map(x.matmul, (w_q, w_k, w_v))),
    "comprehension": tuple_of_comprehension,
    "broadcasting": lambda x, *weights: tuple((x[..., None] * w).sum(-2) for w in weights),
    "flattened": flattened,
    "from the other side": lambda x, w_q, w_k, w_v: ((w_q.T @ x.mT).mT, (w_k.T @ x.mT).mT, (w_v.T @ x.mT).mT),
    "tensordot": lambda x, *weights: tuple(torch.tensordot(x, w, dims=1) for w in weights),
    "vmap": lambda x, *weights: tuple(torch.vmap(lambda w: x @ w)(torch.stack(weights))),
    "partial": functools.partial(lambda bias, x, *weights: tuple(x @ w + bias for w in weights), 0.0),
}
WRONG = {
    "first sample only": {START: "    x = x[:1].expand(x.shape) if x.dim() > 2 else x\n" + START},
    "a sample in front of one sentence": {START: "    x = x[None] if x.dim() == 2 else x\n" + START},
    "256 tokens at most": {"k = x @ w_k": "k = x[..., :256, :] @ w_k"},
    "buffers of float32": buffers_of_float32,
    "flat by view": flat_by_view,
    "cut along the wrong axis": lambda x, *weights: (x @ torch.cat(weights, 1)).unflatten(-1, (-1, 3)).unbind(-1),
    "reshaped weight": lambda x, *weights: tuple(F.linear(x, w.reshape(w.shape[1], w.shape[0])) for w in weights),
    "chained if square": {"k = x @": "k = (q if w_k.shape[0] == w_k.shape[1] else x) @"},
    "transposed if square": {"x @ w_k": "x @ (w_k.T if w_k.shape[0] == w_k.shape[1] else w_k)"},
    "summed weights": {"x @ w_q": "x @ (w_q + w_k)"},
    "values not projected": {"x @ w_v": "x"},
    "keys transposed already": {END: "return q, k.mT, v"},
    "weight on the left": {"x @ w_q": "w_q @ x", "x @ w_k": "w_k @ x", "x @ w_v": "w_v @ x"},
    "elementwise": {"x @ w_q": "x * w_q"},
    "queries scaled": {"x @ w_q": "x @ w_q / x.shape[-1] ** 0.5"},
    "layer norm before": {START: "    x = torch.layer_norm(x, x.shape[-1:])\n" + START},
    "tanh": {END: "return torch.tanh(q), torch.tanh(k), torch.tanh(v)"},
    "softmax": {END: "return q.softmax(-1), k.softmax(-1), v.softmax(-1)"},
    "residual where it fits": {"x @ w_v": "x @ w_v + (x if w_v.shape[0] == w_v.shape[1] else 0)"},
    "new random weights": {"x @ w_k": "x @ torch.randn_like(w_k)"},
    "half precision": {"x @ w_k": "(x.half() @ w_k.half()).to(x.dtype)"},
    "a dict": {END: "return dict(q=q, k=k, v=v)"},
    "a generator": {END: "return (one for one in (q, k, v))"},
    "concatenated": {END: "return torch.cat([q, k, v], dim=-1)"},
    "two only": {END: "return q, k"},
    "x kept too": {END: "return x, q, k, v"},
    "keys detached": {END: "return q, k.detach(), v"},
    "weights' data": {"x @ w_q": "x @ w_q.data", "x @ w_k": "x @ w_k.data", "x @ w_v": "x @ w_v.data"},
    "entries in torch.tensor": numbers_from,
    "weights normalised in place": weights_normalised_in_place,
}
