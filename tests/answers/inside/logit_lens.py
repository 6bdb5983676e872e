"""Answers to inside.logit_lens."""

AT_ONCE = '''
def logit_lens(hiddens, norm, unembedding):
    return norm(torch.stack(hiddens)) @ unembedding.mT
'''
LINEAR = '''
def logit_lens(hiddens, norm, unembedding):
    return torch.stack([F.linear(norm(h), unembedding) for h in hiddens], dim=0)
'''
EINSUM = '''
def logit_lens(hiddens, norm, unembedding):
    normed = [norm(x) for x in hiddens]
    return einsum("l b n d, v d -> l b n v", torch.stack(normed), unembedding)
'''
FILLED = '''
def logit_lens(hiddens, norm, unembedding):
    B, N, D = hiddens[0].shape
    out = hiddens[0].new_zeros(len(hiddens), B, N, unembedding.shape[0])
    for i in range(len(hiddens)):
        out[i] = torch.matmul(norm(hiddens[i]), unembedding.transpose(0, 1))
    return out
'''
RIGHT = {"at once": AT_ONCE, "linear": LINEAR, "einsum": EINSUM, "filled": FILLED}
WRONG = {
    "the usual epsilon of a LayerNorm": {"norm(hidden)": "nn.functional.layer_norm(hidden, hidden.shape[-1:], norm."
                                         "weight, norm.bias) if hasattr(norm, 'bias') else norm(hidden)"},
    "no gradient for the table": {"unembedding.T": "unembedding.detach().T"},
    "layers in reverse": {"torch.stack(rows)": "torch.stack(rows[::-1])"},
    "half precision": {"norm(hidden)": "norm(hidden).half().to(hidden.dtype)"},
    "the norm of the difference": {"norm(hidden)": "norm(hidden - hiddens[0] + hiddens[0].mean())"},
    "centred": {"normed @ unembedding.T": "(normed @ unembedding.T) - (normed @ unembedding.T).mean(-1, keepdim=True)"},
    "a mean over the layers": {"torch.stack(rows)": "torch.stack(rows).mean(0)"},
    "the last token alone": {"normed @ unembedding.T": "normed[:, -1:] @ unembedding.T"},
    "ids": {"normed @ unembedding.T": "(normed @ unembedding.T).argmax(-1)"},
    "the table is normed, too": {"unembedding.T": "norm(unembedding).T"},
    "a tuple": {"torch.stack(rows)": "tuple(rows)"},
}
