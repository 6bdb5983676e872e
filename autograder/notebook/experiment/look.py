"""Looks into a model while it runs: at the outputs of its parts, and at the attention weights that its layers
do not return.
"""

from collections.abc import Iterable
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn


def activations(model: nn.Module, parts: Iterable[nn.Module], *inputs) -> list[Tensor]:
    """Run model(*inputs) once, and return the outputs of these parts, in the order in which the parts run.

    The gradient graph is kept, so that gradients with respect to an output can be computed.
    """
    found: list[Tensor] = []
    hooks = [part.register_forward_hook(lambda part, given, made: found.append(made)) for part in parts]
    try:
        model(*inputs)
    finally:
        for hook in hooks:
            hook.remove()
    return found


def attention_weights(model: nn.Module, *inputs) -> list[Tensor]:
    """Run model(*inputs) once, and return the weights (B, H, N, M) of every nn.MultiheadAttention in it, in
    the order in which they run. The layers of nn.Transformer contain these modules.

    subtle: the layers ask for no weights, so a hook asks for them; and in eval mode PyTorch's fast path skips
    hooks, so it is disabled meanwhile.
    """
    found: list[Tensor] = []

    def ask(part, args, kwargs):
        return args, kwargs | {"need_weights": True, "average_attn_weights": False}

    parts = [part for part in model.modules() if isinstance(part, nn.MultiheadAttention)]
    hooks = [part.register_forward_pre_hook(ask, with_kwargs=True) for part in parts]
    hooks += [part.register_forward_hook(lambda part, given, made: found.append(made[1])) for part in parts]
    fast = torch.backends.mha.get_fastpath_enabled()
    torch.backends.mha.set_fastpath_enabled(False)
    try:
        with torch.no_grad():
            model(*inputs)
    finally:
        torch.backends.mha.set_fastpath_enabled(fast)
        for hook in hooks:
            hook.remove()
    return found


def head_weights(
    module: Any, x: Tensor, n_heads: int, mask: Tensor | None = None, context: Tensor | None = None
) -> Tensor:
    """Return the attention weights (H, N, M) of each head: how much each token of `x` attends to each token
    of `context`, or of `x` itself if there is no context.

    `x` is one sentence (N, d_model); `module` is any module with the parts `q_proj` and `k_proj`; the mask is
    True where a query may attend.
    """
    with torch.no_grad():
        q, k = module.q_proj(x)[None], module.k_proj(x if context is None else context)[None]
        blocked = None if mask is None else ~mask
        return _attend_in_heads(q, k, k, n_heads, blocked)[1][0]


def _attend_in_heads(
    q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, n_heads: int, blocked: torch.Tensor | None = None
) -> tuple[torch.Tensor, torch.Tensor]:
    """Return the output (B, N, d_model) and the weights (B, H, N, M) of PyTorch's multi-head attention for
    projected queries, keys and values (B, N, d_model). `blocked` is a mask in PyTorch's sense: True = may not
    attend.
    """
    d_model = q.shape[-1]
    identity = torch.eye(d_model, dtype=q.dtype)
    q, k, v = (part.transpose(0, 1) for part in (q, k, v))
    output, weights = F.multi_head_attention_forward(
        q,
        k,
        v,
        d_model,
        n_heads,
        None,
        None,
        None,
        None,
        False,
        0.0,
        identity,
        None,
        attn_mask=blocked,
        average_attn_weights=False,
        use_separate_proj_weight=True,
        q_proj_weight=identity,
        k_proj_weight=identity,
        v_proj_weight=identity,
    )
    assert weights is not None
    return output.transpose(0, 1), weights
