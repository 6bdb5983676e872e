"""Answers to inside.ablate_heads."""

CLONED = '''
def ablate_heads(mixed, heads, n_heads, mean=None):
    d = mixed.size(-1) // n_heads
    out = mixed.clone()
    for h in heads:
        if h < 0 or h >= n_heads:
            raise ValueError(f"no head {h}")
        out[..., h * d : (h + 1) * d] = 0 if mean is None else mean[h * d : (h + 1) * d]
    return out
'''
MULTIPLIED = '''
def ablate_heads(mixed, heads, n_heads, mean=None):
    if not set(heads) <= set(range(n_heads)):
        raise ValueError("unknown head")
    stays = torch.tensor([h not in heads for h in range(n_heads)]).to(mixed.dtype)
    stays = stays.repeat_interleave(mixed.shape[-1] // n_heads)
    out = mixed * stays
    return out if mean is None else out + mean * (1 - stays)
'''
CONCATENATED = '''
def ablate_heads(mixed, heads, n_heads, mean=None):
    for head in heads:
        if head not in range(n_heads):
            raise ValueError(head)
    width = mixed.shape[-1] // n_heads
    pieces = []
    for head, piece in enumerate(mixed.split(width, dim=-1)):
        if head in heads:
            instead = 0 if mean is None else mean.split(width)[head]
            piece = torch.zeros_like(piece) + instead
        pieces.append(piece)
    return torch.cat(pieces, dim=-1)
'''
VIEWED = '''
def ablate_heads(mixed, heads, n_heads, mean=None):
    if any(not (0 <= h <= n_heads - 1) for h in heads):
        raise ValueError("heads out of range")
    x = mixed.unflatten(-1, (n_heads, -1))
    gone = torch.zeros(n_heads, 1, dtype=torch.bool)
    for h in heads:
        gone[h] = True
    value = mixed.new_zeros(()) if mean is None else mean.unflatten(0, (n_heads, -1))
    return torch.where(gone, value, x).flatten(-2)
'''
RIGHT = {"cloned": CLONED, "multiplied": MULTIPLIED, "concatenated": CONCATENATED, "viewed": VIEWED}
WRONG = {
    "the head twice, the mean twice": MULTIPLIED.replace("return out if mean is None else out + mean * (1 - stays)",
        "for h in heads:\n        if mean is not None:\n            d = mixed.shape[-1] // n_heads\n"
        "            out = out + mean * (torch.arange(mixed.shape[-1]) // d == h)\n    return out"),
    "all heads below": {"gone[list(heads)] = True": "gone[: max(heads, default=-1) + 1] = True"},
    "no gradient": {"torch.where(gone, instead, mixed)": "torch.where(gone, instead, mixed.detach())"},
    "rows instead of features": {"torch.where(gone, instead, mixed)": "torch.where(gone, instead, mixed).flip(1)"},
    "the first sample alone": {"torch.where(gone, instead, mixed)":
                               "torch.cat((torch.where(gone, instead, mixed)[:1], mixed[1:]))"},
    "rescaled": {"torch.where(gone, instead, mixed)":
                 "torch.where(gone, instead, mixed) * n_heads / max(1, n_heads - len(set(heads)))"},
    "an index error": {"raise ValueError(": "raise IndexError("},
    "the list is emptied": {"    return torch.where": "    heads.clear()\n    return torch.where"},
    "minus infinity": {"torch.zeros_like(mixed)": "torch.full_like(mixed, -torch.inf)"},
    "the mean is changed": {"    return torch.where": "    mean is None or mean.data.zero_()\n    return torch.where"},
    "half a head": {"d_head = mixed.shape[-1] // n_heads": "d_head = -(-mixed.shape[-1] // n_heads)",
                    "gone.repeat_interleave(d_head)": "gone.repeat_interleave(d_head) & "
                    "(torch.arange(len(gone) * d_head) % d_head < max(1, d_head // 2))"},
}
