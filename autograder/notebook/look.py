"""Look into an attention module: the weights of its heads, which the module itself does not return."""


def head_weights(module, x, n_heads, mask=None, context=None):
    """(H, N, M): how much each word of `x` attends to each word of `context` (of `x` itself without one).

    For a sentence x (N, d_model) and any module with the parts `q_proj` and `k_proj`, n_heads heads wide.
    """
    import torch

    from autograder.probe.procedures import attend_in_heads

    with torch.no_grad():
        q, k = module.q_proj(x)[None], module.k_proj(x if context is None else context)[None]
        blocked = None if mask is None else ~mask
        return attend_in_heads(q, k, k, n_heads, blocked)[1][0]
