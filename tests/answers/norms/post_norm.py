"""Answers to norms.post_norm."""

import torch
from torch import nn


class Residual(nn.Module):
    def __init__(self, norm, sublayer):
        super().__init__()
        self.parts = nn.ModuleList((sublayer, norm))

    def forward(self, x):
        sublayer, norm = self.parts
        return norm(torch.add(x, sublayer(x)))


def own_copy(x, norm, sublayer):
    out = x.clone()
    out.add_(sublayer(x))
    return norm(out)


BRANCH, TOTAL, LAST = "branch = sublayer(x)", "total = x + branch", "return norm(total)"
RIGHT = {
    "one line": lambda x, norm, sublayer: norm(x + sublayer(x)),
    "a module": lambda x, norm, sublayer: Residual(norm, sublayer)(x),
    "own copy in place": own_copy,
    "stacked": lambda x, norm, sublayer: norm(torch.stack([x, sublayer(x)]).sum(dim=0)),
    "forward": lambda x, norm, sublayer: norm.forward(sublayer.forward(x) + x),
    "more arguments": lambda x, norm, sublayer, alpha=1.0: norm(x * alpha + sublayer(x)),
}
WRONG = {
    "the norm called for nothing": {LAST: "norm(x)\n    return norm(total)"},
    "sublayer of the norm": {BRANCH: "branch = norm(x)", LAST: "return total"},
    "sublayer twice": {BRANCH: "branch = sublayer(sublayer(x))"},
    "normed stream": {TOTAL: "total = norm(x) + branch"},
    "deep norm": {TOTAL: "total = 2 * x + 0.5 * branch"},
    "evaluation, restored": {LAST: "was = norm.training\n    norm.eval()\n    out = norm(total)\n    "
                                   "norm.train(was)\n    return out"},
    "a pair": {LAST: "return norm(total), total"},
    "float32": {LAST: "return norm(total).float()"},
    "into the result of the norm": {LAST: "out = norm(total)\n    out *= 1.0\n    return out.add_(1)"},
    "residual after as well": {LAST: "return x + norm(total)"},
    "into the sublayer, then back": {TOTAL: "branch.add_(x)\n    total = branch.clone()\n    branch.sub_(1)"},
    "no gradient": torch.no_grad()(lambda x, norm, sublayer: norm(x + sublayer(x))),
    "no modules": lambda x, norm, sublayer: nn.functional.layer_norm(x + x, x.shape[-1:]),
}
