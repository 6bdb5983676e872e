"""How an answer that is not simply called is put to the test.

A procedure is called as `procedure(answer, *args, **kwargs)` and returns what is to be recorded.
"""

import copy

import torch
import torch.nn.functional as F
from torch import nn

PARAMETERS = [
    f"{part}.{kind}" for part in ("q_proj", "k_proj", "v_proj", "out_proj") for kind in ("weight", "bias")
]


def copy_weights(answer, source, target, x, look: str):
    """Lets `answer` copy the weights of `source` (an nn.MultiheadAttention) into `target`, and looks at one thing.

    "output"    what the target gives for x, as multi-head attention over its four parts
    "source"    what the source gives for x after it was copied
    "later"     what the target gives after the source has changed, and the source after the target has
    "learning"  the size of the gradient of each of the target's parameters
    """
    source, target = (copy.deepcopy(module).to(x.dtype) for module in (source, target))
    answer(source, target)
    return LOOKS[look](source, target, x)


def _output(source, target, x):
    return attend_with(target, source.num_heads, x)


def _source(source, target, x):
    x = x if source.batch_first else x.transpose(0, 1)
    output, _ = source(x, x, x, need_weights=False)
    return output if source.batch_first else output.transpose(0, 1)


def _later(source, target, x):
    _change(source)
    copied = _output(source, target, x)
    _change(target)
    return copied, _source(source, target, x)


def _learning(source, target, x):
    output = _output(source, target, x)
    if output.requires_grad:
        output.square().sum().backward()
    parameters = dict(target.named_parameters(remove_duplicate=False))
    sizes = [parameters[name].grad for name in PARAMETERS]
    return torch.stack([x.new_zeros(()) if grad is None else grad.norm() for grad in sizes])


def _change(module):
    with torch.no_grad():
        for parameter in module.parameters():
            parameter.add_(0.25)


LOOKS = {"output": _output, "source": _source, "later": _later, "learning": _learning}


def attend_with(module: nn.Module, n_heads: int, x: torch.Tensor) -> torch.Tensor:
    """Multi-head self-attention of x (B, N, d_model) with the four parts of `module`."""
    q, k, v = (
        part(x).unflatten(-1, (n_heads, -1)).transpose(1, 2)
        for part in (module.q_proj, module.k_proj, module.v_proj)
    )
    return module.out_proj(F.scaled_dot_product_attention(q, k, v).transpose(1, 2).flatten(2))


PROCEDURES = {"copy_weights": copy_weights}
