"""Answers to norms.pre_norm."""

import functools

import torch
from torch import nn


class Residual(nn.Module):
    def __init__(self, norm, sublayer):
        super().__init__()
        self.norm, self.sublayer = norm, sublayer

    def forward(self, x):
        return torch.add(x, self.sublayer(self.norm(x)))


class Caller:
    def __call__(self, x, norm, sublayer, dropout=0.0):
        branch = nn.functional.dropout(sublayer(norm(x)), dropout)
        return torch.stack((x, branch)).sum(0)


def own_copy(x, norm, sublayer):
    out = x.clone()
    out += sublayer(norm(x))
    return out


NORMED, BRANCH, LAST = "normed = norm(x)", "branch = sublayer(normed)", "return x + branch"
RIGHT = {
    "one line": lambda x, norm, sublayer: x + sublayer(norm(x)),
    "a module": lambda x, norm, sublayer: Residual(norm, sublayer)(x),
    "nn.Sequential": lambda x, norm, sublayer: nn.Sequential(norm, sublayer)(x) + x,
    "callable object": Caller(),
    "partial": functools.partial(lambda add, x, norm, sublayer: add(sublayer(norm(x)), x), torch.add),
    "own copy in place": own_copy,
    "forward": lambda x, norm, sublayer: x + sublayer.forward(norm.forward(x)),
    "addcmul": {LAST: "import torch\n    return torch.addcmul(x, branch, torch.ones_like(branch))"},
}
WRONG = {
    "token by token": lambda x, norm, sublayer: x + torch.stack(
        [sublayer(norm(row)) for row in x.reshape(-1, x.shape[-1])]).reshape(x.shape),
    "modules change places": {NORMED: "normed = sublayer(x)", BRANCH: "branch = norm(normed)"},
    "sublayer twice": {BRANCH: "branch = sublayer(sublayer(normed))"},
    "norm twice": {NORMED: "normed = norm(norm(x))"},
    "both residuals": {LAST: "return x + normed + branch"},
    "deep copies without calls": {NORMED: "import copy\n    normed = copy.deepcopy(norm)(x)"},
    "evaluation, restored": {BRANCH: "was = sublayer.training\n    sublayer.eval()\n    branch = sublayer(normed)\n    "
                             "sublayer.train(was)"},
    "trained afterwards": {LAST: "norm.train()\n    sublayer.train()\n    return x + branch"},
    "scaled branch": {LAST: "return x + 0.5 * branch"},
    "a pair": {LAST: "return x + branch, branch"},
    "float32": {LAST: "return (x + branch).float()"},
    "the norm's weight only": {NORMED: "normed = x * norm.weight if hasattr(norm, 'weight') else norm(x)"},
    "out written into the branch": {LAST: "import torch\n    with torch.no_grad():\n        branch.add_(x)\n    "
                                          "return branch"},
    "no gradient": torch.no_grad()(lambda x, norm, sublayer: x + sublayer(norm(x))),
}
