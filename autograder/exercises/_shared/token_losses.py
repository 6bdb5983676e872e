"""Cases of losses over the tokens of several answers: masked tokens, and no token at all."""

import torch

from autograder.schema import Call, Case, Given, Kept

MASKED, NOTHING = "what is masked", "no token that counts"
LEAF = "def leaf(log_probs):\n    return log_probs.clone().requires_grad_()\n"
GRAPH = "def graph(loss):\n    return getattr(loss, 'requires_grad', False)\n"
GRADIENT = """
def gradient(loss, leaf):
    # No gradient counts as zeros.
    if getattr(loss, "requires_grad", False):
        loss.backward()
    return torch.zeros_like(leaf) if leaf.grad is None else leaf.grad
"""


def lengths(tokens, *counts):
    """Return the mask of answers with `counts` tokens each, padded on the right to `tokens`."""
    return torch.arange(tokens) < torch.tensor(counts)[:, None]


def spoilt(tensor, mask, *values):
    """Return the tensor with `values`, repeated in turn, at the entries where the mask is False."""
    fill = torch.tensor(values).repeat(tensor.numel())[: tensor.numel()].reshape(tensor.shape)
    # subtle: the judge takes a positive NaN in a result for memory that was never written.
    fill = torch.where(fill.isnan(), -torch.nan, fill)
    return torch.where(mask, tensor, fill)


def without_tokens(family, names, values, **more):
    """Return a case that records the value of a loss over no tokens, whether it has a graph, and the gradient
    of its first argument, `log_probs`.
    """
    made = dict(zip(names.split(), values, strict=True))
    further = {"leaf": Given("leaf", LEAF), "graph": Given("graph", GRAPH), "gradient": Given("gradient", GRADIENT)}
    arguments = (Kept("variable"), *(Kept(name) for name in list(made)[1:]))
    script = (Call((Kept("log_probs"),), to="leaf", keep="variable", shown=False),
              Call(arguments, keep="loss"),
              Call((Kept("loss"),), to="graph", keep="whether the loss has a graph"),
              Call((Kept("loss"), Kept("variable")), to="gradient", keep="gradient"))
    return Case(family, (), made | further, script=script, aspect=NOTHING, gradients=False, **more)
