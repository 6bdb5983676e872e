"""Answers to inside.head_outputs."""

ZEROED = '''
def head_outputs(mixed, out_proj, n_heads):
    d_head = mixed.shape[-1] // n_heads
    outs = []
    for h in range(n_heads):
        alone = torch.zeros_like(mixed)
        alone[..., h * d_head : (h + 1) * d_head] = mixed[..., h * d_head : (h + 1) * d_head]
        outs.append(out_proj(alone))
    return torch.stack(outs, dim=2)
'''
MATMUL = '''
def head_outputs(mixed, out_proj, n_heads):
    B, N, width = mixed.shape
    x = mixed.reshape(B, N, n_heads, 1, width // n_heads)
    w = out_proj.weight.T.reshape(n_heads, width // n_heads, -1)
    return (x @ w).squeeze(-2)
'''
MASKED = '''
def head_outputs(mixed, out_proj, n_heads):
    owner = torch.arange(mixed.shape[-1]) // (mixed.shape[-1] // n_heads)
    mask = (owner == torch.arange(n_heads)[:, None]).to(mixed.dtype)
    return out_proj(mixed.unsqueeze(2) * mask)
'''
SLICED = '''
def head_outputs(mixed, out_proj, n_heads):
    pieces = zip(mixed.tensor_split(n_heads, -1), out_proj.weight.tensor_split(n_heads, 1))
    return torch.stack([piece @ w.T for piece, w in pieces], -2)
'''
RIGHT = {"zeroed": ZEROED, "matmul": MATMUL, "masked": MASKED, "sliced": SLICED}
WRONG = {
    "heads of tokens": {"mixed.unflatten(-1, (n_heads, -1))":
                        "mixed.reshape(mixed.shape[0], n_heads, mixed.shape[1], -1).transpose(1, 2)"},
    "the first head's weights for all": {"parts, columns)": "parts, columns[:, :1].expand_as(columns))"},
    "squared": {"parts, columns)": "parts, columns ** 2)"},
    "tanh": {"parts, columns)": "parts.tanh(), columns)"},
    "no gradient for mixed": {"mixed.unflatten": "mixed.detach().unflatten"},
    "only the first head": {'"bnhd,ohd->bnho", parts, columns)': '"bnhd,ohd->bnho", parts, columns)[:, :, :1]'},
    "flat": {'"bnhd,ohd->bnho", parts, columns)': '"bnhd,ohd->bnho", parts, columns).flatten(2)'},
    "a list": {'"bnhd,ohd->bnho", parts, columns)': '"bnhd,ohd->bnho", parts, columns).unbind(2)'},
    "times the number of heads": {"parts, columns)": "parts * n_heads, columns)"},
    "half precision": {"parts, columns)": "parts.half(), columns.half()).to(mixed.dtype)"},
}
