"""Cases for losses over the tokens of several answers: with masked tokens, and with no token that counts."""

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
    """Return the mask of answers that are padded on the right to `tokens` tokens; `counts` are the answers'
    lengths.
    """
    return torch.arange(tokens) < torch.tensor(counts)[:, None]


def spoilt(tensor, mask, *values):
    """Return the tensor with its entries replaced by `values`, in rotation, wherever the mask is False."""
    fill = torch.tensor(values).repeat(tensor.numel())[: tensor.numel()].reshape(tensor.shape)
    # subtle: the judge takes a positive NaN in a result for memory that was never written.
    fill = torch.where(fill.isnan(), -torch.nan, fill)
    return torch.where(mask, tensor, fill)


def without_tokens(family, names, values, **more):
    """Return a case of a loss over no tokens. It records the loss, whether the loss has a graph, and the
    gradient with respect to the first argument, `log_probs`.
    """
    made = dict(zip(names.split(), values, strict=True))
    further = {"leaf": Given("leaf", LEAF), "graph": Given("graph", GRAPH), "gradient": Given("gradient", GRADIENT)}
    arguments = (Kept("variable"), *(Kept(name) for name in list(made)[1:]))
    script = (Call((Kept("log_probs"),), to="leaf", keep="variable", shown=False),
              Call(arguments, keep="loss"),
              Call((Kept("loss"),), to="graph", keep="whether the loss has a graph"),
              Call((Kept("loss"), Kept("variable")), to="gradient", keep="gradient"))
    return Case(family, (), made | further, script=script, aspect=NOTHING, gradients=False, **more)
