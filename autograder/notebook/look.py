"""Look into an attention module: the weights of its heads, which the module itself does not return."""


def head_weights(module, x, n_heads, mask=None, context=None):
    """(H, N, M): how much each word of `x` attends to each word of `context` (of `x` itself without one).

    For a sentence x (N, d_model) and any module with the parts `q_proj` and `k_proj`, n_heads heads wide.
    With the identity in place of the values, attention gives back its weights.
    """
    import torch

    with torch.no_grad():
        q, k = (
            part(words).unflatten(-1, (n_heads, -1)).movedim(-2, 0)
            for part, words in ((module.q_proj, x), (module.k_proj, x if context is None else context))
        )
        identity = torch.eye(k.shape[-2], dtype=q.dtype).expand(n_heads, -1, -1)
        return torch.nn.functional.scaled_dot_product_attention(q, k, identity, attn_mask=mask)
