"""How an answer that is not simply called is put to the test.

A procedure is called as `procedure(answer, *args, **kwargs)` and returns what is to be recorded.
"""

import copy

import torch
import torch.nn.functional as F
from torch import nn


def copy_weights(answer, source, target, x, look: str):
    """Lets `answer` copy the weights of `source` (an nn.MultiheadAttention) into `target`, and looks at one thing.

    "output"    what the target gives for x, as multi-head attention over its four parts
    "source"    whether the source is as it was before
    "later"     whether a later change of one module leaves the other alone, both ways
    "learning"  whether every weight and bias of the target gets a gradient
    """
    source, target = (copy.deepcopy(module).to(x.dtype) for module in (source, target))
    before = _values(source)
    answer(source, target)
    if look == "source":
        return _same(before, _values(source))
    output = attend_with(target, source.num_heads, x)
    if look == "later":
        return _apart(source, target)
    return _learns(target, output) if look == "learning" else output


def _values(module):
    return [parameter.detach().clone() for parameter in module.parameters()]


def _same(first, second) -> bool:
    return all(torch.equal(one, other) for one, other in zip(first, second, strict=True))


def _apart(source, target) -> bool:
    return _leaves_alone(source, target) and _leaves_alone(target, source)


def _leaves_alone(changed, other) -> bool:
    before = _values(other)
    with torch.no_grad():
        for parameter in changed.parameters():
            parameter.add_(1.0)
    return _same(before, _values(other))


def _learns(target, output) -> bool:
    if output.requires_grad:
        output.square().sum().backward()
    parts = (target.q_proj, target.k_proj, target.v_proj, target.out_proj)
    learning = [parameter.grad is not None for part in parts for parameter in part.parameters()]
    return len(learning) == 8 and all(learning)


def attend_with(module: nn.Module, n_heads: int, x: torch.Tensor) -> torch.Tensor:
    """Multi-head self-attention of x (B, N, d_model) with the four parts of `module`."""
    q, k, v = (part(x) for part in (module.q_proj, module.k_proj, module.v_proj))
    return module.out_proj(attend_in_heads(q, k, v, n_heads)[0])


def attend_in_heads(q, k, v, n_heads: int, blocked=None) -> tuple[torch.Tensor, torch.Tensor]:
    """What PyTorch's multi-head attention makes of queries, keys and values (B, N, d_model) that are projected
    already, and its weights (B, H, N, M). `blocked` is a mask in PyTorch's sense: True = may not attend."""
    width = q.shape[-1]
    same = torch.eye(width, dtype=q.dtype)
    output, weights = F.multi_head_attention_forward(
        *(part.transpose(0, 1) for part in (q, k, v)), width, n_heads, None, None, None, None, False, 0.0, same, None,
        attn_mask=blocked, average_attn_weights=False, use_separate_proj_weight=True,
        q_proj_weight=same, k_proj_weight=same, v_proj_weight=same,
    )  # fmt: skip
    return output.transpose(0, 1), weights


PROCEDURES = {"copy_weights": copy_weights}
