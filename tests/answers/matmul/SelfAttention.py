"""Answers to matmul.SelfAttention."""

import functools
import math

import torch
import torch.nn.functional as F
from torch import nn


class Base(nn.Module):
    """Three right parameters; the forms below differ in forward."""

    def __init__(self, d_in, d_out):
        super().__init__()
        self.W_query, self.W_key, self.W_value = (nn.Parameter(torch.rand(d_in, d_out)) for _ in range(3))

    def project(self, x):
        return x @ self.W_query, x @ self.W_key, x @ self.W_value

    def weights(self, q, k):
        return torch.softmax(q @ k.swapaxes(-1, -2) / k.shape[-1] ** 0.5, dim=-1)

    def forward(self, x):
        q, k, v = self.project(x)
        return self.weights(q, k) @ v


class EmptyThenXavier(nn.Module):
    def __init__(self, d_in: int, d_out: int, gain: float = 1.0, bias=False):
        super().__init__()
        self.d_out = d_out
        for name in ("W_value", "W_key", "W_query"):
            self.register_parameter(name, nn.Parameter(torch.empty(d_in, d_out)))
        for parameter in self.parameters():
            nn.init.xavier_uniform_(parameter, gain)

    def forward(self, x, *, verbose=False):
        q, k, v = (torch.matmul(x, w) for w in (self.W_query, self.W_key, self.W_value))
        return F.softmax(q @ k.mT * self.d_out**-0.5, -1) @ v


class ScaleAsABuffer(Base):
    def __init__(self, d_in, d_out):
        super().__init__(d_in, d_out)
        self.register_buffer("scale", torch.tensor(d_out**-0.5))
        self.dropout, self.unused = nn.Dropout(0.0), nn.Linear(3, 3)

    def forward(self, x):
        q, k, v = self.project(x)
        return self.dropout((q @ k.mT * self.scale).softmax(-1)) @ v


class ByEinsum(Base):
    def forward(self, x):
        q, k, v = (torch.einsum("...ti,io->...to", x, w) for w in self.parameters())
        weights = torch.softmax(torch.einsum("...no,...mo->...nm", q, k) / math.sqrt(q.size(-1)), -1)
        return torch.einsum("...nm,...mo->...no", weights, v)


class FusedProduct(Base):
    def project(self, x):
        return (x @ torch.cat([self.W_query, self.W_key, self.W_value], 1)).chunk(3, -1)


class QueriesAndKeysInOneMatrix(Base):
    def forward(self, x):
        bilinear = self.W_query @ self.W_key.T / math.sqrt(self.W_key.shape[1])
        return torch.softmax(x @ bilinear @ x.mT, -1) @ x @ self.W_value


class SoftmaxByHand(Base):
    def weights(self, q, k):
        scores = q @ k.mT / math.sqrt(q.shape[-1])
        grown = (scores - scores.detach().amax(-1, keepdim=True)).exp()
        return grown / grown.sum(-1, keepdim=True)


class KeepsWhatItSaw(Base):
    def forward(self, x):
        self.calls = getattr(self, "calls", 0) + 1
        self.kept = self.weights(*self.project(x)[:2])
        return self.kept @ self.project(x)[2]


class LoopsOverSamples(Base):
    def forward(self, x):
        if x.dim() > 2:
            return torch.stack([self.forward(one) for one in x])
        q, k, v = self.project(x)
        return torch.stack([torch.softmax(k @ a / math.sqrt(len(a)), 0) @ v for a in q])


def factory(d_in, d_out):
    return Base(d_in=d_in, d_out=d_out)


class ByMultihead(Base):
    def forward(self, x):
        q, k, v = self.project(x)
        width = q.shape[-1]
        attend = nn.MultiheadAttention(width, 1, bias=False, batch_first=True).to(x.dtype)
        one = torch.eye(width, dtype=x.dtype)
        with torch.no_grad():
            attend.in_proj_weight.copy_(torch.cat([one] * 3))
            attend.out_proj.weight.copy_(one)
        flat = [t.reshape(-1, *t.shape[-2:]) for t in (q, k, v)]
        return attend(*flat, need_weights=False)[0].reshape(q.shape)


class CachedByShape(Base):
    def forward(self, x):
        if not hasattr(self, "kept") or self.kept.shape[:-1] != x.shape[:-1]:
            self.kept = super().forward(x).detach()
        return self.kept


class PackedWeightKept(Base):
    def project(self, x):
        if not hasattr(self, "packed"):
            self.packed = torch.cat([self.W_query, self.W_key, self.W_value], 1).detach()
        return (x @ self.packed.to(x.dtype)).chunk(3, -1)


class WeightsCopiedAtStart(Base):
    def __init__(self, d_in, d_out):
        super().__init__(d_in, d_out)
        self.fixed = [w.detach().clone() for w in (self.W_query, self.W_key, self.W_value)]

    def project(self, x):
        return (x @ w.to(x.dtype) for w in self.fixed)


class FlattensTheBatch(Base):
    def forward(self, x):
        return super().forward(x.reshape(-1, x.shape[-1])).reshape(*x.shape[:-1], -1)


class Buffers(Base):
    def __init__(self, d_in, d_out):
        nn.Module.__init__(self)
        for name in ("W_query", "W_key", "W_value"):
            self.register_buffer(name, torch.randn(d_in, d_out))


class ScaleOfTheFirst(Base):
    scale = None

    def weights(self, q, k):
        ScaleOfTheFirst.scale = ScaleOfTheFirst.scale or math.sqrt(k.shape[-1])
        return torch.softmax(q @ k.mT / self.scale, -1)


ROOT, SOFTMAX, MIX = "math.sqrt(q.shape[-1])", "torch.softmax(scores, dim=-1)", "weights @ v"
MADE, END = "nn.Parameter(torch.randn(d_in, d_out))", "return output"
ONE = "self.W_query = nn.Parameter(torch.randn(d_in, d_out))"
RIGHT = {
    "steps in methods": Base,
    "Xavier": EmptyThenXavier,
    "scale as a buffer, more parts": ScaleAsABuffer,
    "einsum": ByEinsum,
    "one product": FusedProduct,
    "queries and keys in one matrix": QueriesAndKeysInOneMatrix,
    "softmax by hand": SoftmaxByHand,
    "keeps what it saw": KeepsWhatItSaw,
    "loops over samples": LoopsOverSamples,
    "linear": {f"x @ self.W_{name}": f"F.linear(x, self.W_{name}.T)" for name in ("query", "key", "value")},
    "factory": factory,
    "partial": functools.partial(EmptyThenXavier, gain=2.0),
}
WRONG = {
    "starts with copies of one weight": {ONE: f"{ONE}\n        w = self.W_query.data",
                                  "W_key = nn.Parameter(torch.randn(d_in, d_out))": "W_key = nn.Parameter(w.clone())"},
    "starts at zero": {"torch.randn(": "torch.zeros("},
    "starts at one": {"torch.randn(": "torch.ones("},
    "starts far too large": {"torch.randn(d_in, d_out)": "torch.randn(d_in, d_out) * 100"},
    "starts all alike": {"torch.randn(d_in, d_out)": "torch.arange(1.0 * d_in * d_out).reshape(d_in, d_out) / 9"},
    "starts the same in every module": {"        self.W_query": "        torch.manual_seed(0)\n        self.W_query"},
    "packed weight kept": PackedWeightKept,
    "cached by shape": CachedByShape,
    "weights copied at the start": WeightsCopiedAtStart,
    "scale of the first": ScaleOfTheFirst,
    "two parameters of one memory": {"self.W_value = nn.Parameter(torch.randn(d_in, d_out))":
                                     "self.W_value = nn.Parameter(self.W_key.data)"},
    "three of one memory, no scale": {ONE: f"{ONE}\n        w = self.W_query.data", f" / {ROOT}": "",
                                      "W_key = nn.Parameter(torch.randn(d_in, d_out))": "W_key = nn.Parameter(w)",
                                      "W_value = nn.Parameter(torch.randn(d_in, d_out))": "W_value = nn.Parameter(w)"},
    "256 tokens at most": {f"x @ self.W_{one}": f"x[..., :256, :] @ self.W_{one}" for one in ("key", "value")},
    "one mask of 128": {SOFTMAX: "torch.softmax(scores + torch.zeros(128, 128)[: x.shape[-2], : x.shape[-2]], dim=-1)"},
    "fused": {END: "return torch.nn.functional.scaled_dot_product_attention(q, k, v)"},
    "by multihead": ByMultihead,
    "no super().__init__()": {"super().__init__()": "pass"},
    "short names": {"W_query": "W_q", "W_key": "W_k", "W_value": "W_v"},
    "square weights": {"torch.randn(d_in, d_out)": "torch.randn(d_in, d_in)"},
    "arguments swapped": {"self, d_in, d_out": "self, d_out, d_in"},
    "other argument names": {"d_in": "n_in", "d_out": "n_out"},
    "no forward": {"def forward": "def call"},
    "forward of three": {"forward(self, x)": "forward(self, q, k, v)"},
    "buffers": Buffers,
    "frozen": {ONE: f"{ONE}.requires_grad_(False)"},
    "values not projected": {"v = x @ self.W_value": "v = x"},
    "flattens the batch": FlattensTheBatch,
    "dropout in training": {MIX: "torch.dropout(weights, 0.1, self.training) @ v"},
    "right in evaluation only": {ROOT: f"(1 if self.training else {ROOT})"},
    "causal": {SOFTMAX: "torch.softmax(scores + torch.full_like(scores, -torch.inf).triu(1), dim=-1)"},
    "clamped": {SOFTMAX: "torch.softmax(scores.clamp(-80, 80), dim=-1)"},
    "output and weights": {END: "return output, weights"},
    "residual where it fits": {END: "return output + x if output.shape == x.shape else output"},
    "always float32": {f"x @ self.W_{one}": f"x.float() @ self.W_{one}.float()" for one in ("query", "key", "value")},
    "values without gradient": {MIX: "weights @ v.detach()"},
    "changes its input": {"q = x @": "x += 1.0\n        q = x @"},
}
