"""Answers to inside.logit_attribution."""

EINSUM = '''
def logit_attribution(parts, hidden, norm, direction):
    rms = (hidden.pow(2).mean(-1) + norm.eps).sqrt()
    return torch.einsum("bkd,bd->bk", parts * norm.weight, direction) / rms[:, None]
'''
LOOPS = '''
def logit_attribution(parts, hidden, norm, direction):
    rows = []
    for some, h, d in zip(parts, hidden, direction):
        scale = 1 / math.sqrt((h @ h).item() / len(h) + norm.eps)
        rows.append(torch.stack([(part * norm.weight) @ d * scale for part in some]))
    return torch.stack(rows)
'''
MATMUL = '''
def logit_attribution(parts, hidden, norm, direction):
    scaled = parts / torch.sqrt(torch.mean(hidden ** 2, dim=1)[:, None, None] + norm.eps)
    return (scaled @ (norm.weight * direction).unsqueeze(-1)).squeeze(-1)
'''
FUNCTIONAL = '''
def logit_attribution(parts, hidden, norm, direction):
    root = hidden.square().mean(1, keepdim=True).add(norm.eps).rsqrt()
    return torch.vmap(lambda p, s, d: F.linear(p * s * norm.weight, d[None])[:, 0])(parts, root, direction)
'''
RIGHT = {"einsum": EINSUM, "loops": LOOPS, "matmul": MATMUL, "mapped": FUNCTIONAL}
WRONG = {
    "the epsilon twice": {"mean_square + norm.eps": "mean_square + 2 * norm.eps"},
    "the weight twice": {"norm.weight * scale": "norm.weight * norm.weight * scale"},
    "the scale twice": {"norm.weight * scale": "norm.weight * scale * scale"},
    "half precision": {"* read[:, None]": "* read[:, None].half().to(parts.dtype)"},
    "a mean over the features": {".sum(dim=-1)": ".mean(dim=-1)"},
    "probabilities": {".sum(dim=-1)": ".sum(dim=-1).softmax(dim=-1)"},
    "less their mean": {"return (parts": "parts = parts - parts.mean(dim=1, keepdim=True)\n    return (parts"},
    "parts in reverse": {"(parts *": "(parts.flip(1) *"},
    "the first part alone": {".sum(dim=-1)": ".sum(dim=-1)[:, :1]"},
    "a list": {".sum(dim=-1)": ".sum(dim=-1).tolist()"},
    "a mean over the parts": {".sum(dim=-1)": ".sum(dim=-1).mean(dim=1)"},
    "each of its own size": {".sum(dim=-1)": ".sum(dim=-1) / parts.norm(dim=-1)"},
}
