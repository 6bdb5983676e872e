"""Answers to heads.merge_heads."""

import torch


def written_into_zeros(x):
    batch, heads, tokens, d_head = x.shape
    merged = torch.zeros(batch, tokens, heads * d_head, dtype=x.dtype)
    for h in range(heads):
        merged[:, :, h * d_head : (h + 1) * d_head] = x[:, h]
    return merged


def sum_of_padded(x):
    heads, width = x.shape[1], x.shape[3]
    parts = (torch.nn.functional.pad(x[:, h], (h * width, (heads - 1 - h) * width)) for h in range(heads))
    return sum(parts)


RIGHT = {
    "transpose, reshape": lambda x: x.transpose(1, 2).reshape(x.shape[0], x.shape[2], -1),
    "contiguous, view": lambda x: x.swapaxes(1, 2).contiguous().view(x.size(0), x.size(2), x.size(1) * x.size(3)),
    "permute, flatten": lambda x: x.permute(0, 2, 1, 3).flatten(-2),
    "cat of heads": lambda x: torch.cat(x.unbind(dim=1), dim=-1),
    "dstack": lambda x: torch.dstack([x[:, h] for h in range(x.shape[1])]),
    "einsum": lambda x: torch.einsum("bhnd->bnhd", x).reshape(x.shape[0], x.shape[2], -1),
    "movedim": lambda x: x.movedim(1, 2).flatten(start_dim=2),
    "features first": lambda x: x.mT.flatten(1, 2).mT,
    "tokens stacked": lambda x: torch.stack([x[:, :, n].flatten(1) for n in range(x.shape[2])], dim=1),
    "vmap": lambda x: torch.vmap(lambda one: torch.cat(one.unbind(0), -1))(x),
    "one more argument": lambda x, n_heads=None: x.transpose(1, 2).flatten(2),
    "written into zeros": written_into_zeros,
    "a sum of padded heads": sum_of_padded,
}
JOIN, LAST = "tokens.flatten(2)", "return merged"
WRONG = {
    "wrong for more than 3 heads": {JOIN: "(tokens if tokens.shape[2] < 4 else tokens.flip(2)).flatten(2)"},
    "last head left at zero": {LAST: "return merged * (torch.arange(merged.shape[-1]) < merged.shape[-1] - "
                                     "(x.shape[1] > 1) * x.shape[-1])"},
    "heads reversed": {JOIN: "tokens.flip(2).flatten(2)"},
    "samples rolled": {LAST: "return merged.roll(1, 0)"},
    "features rolled": {LAST: "return merged.roll(1, -1)"},
    "squeezed": {LAST: "return merged if x.shape[1] > 1 else x"},
    "cat of tokens": {JOIN: "torch.cat(x.unbind(1), 1)"},
    "stacked": {JOIN: "torch.stack(x.unbind(1), -1).flatten(2)"},
    "one axis": {JOIN: "tokens.flatten(1)"},
    "maximum": {JOIN: "x.amax(dim=1)"},
    "sum, repeated": {JOIN: "x.sum(dim=1).repeat(1, 1, x.shape[1])"},
    "a list": {LAST: "return list(x.unbind(1))"},
    "in place": {LAST: "x *= 2; return merged"},
    "NumPy": {LAST: "return torch.from_numpy(merged.detach().numpy())"},
    "detached": {LAST: "return merged.detach()"},
    "first head detached": {JOIN: "torch.cat((x[:, 0].detach(), *x[:, 1:].unbind(1)), -1)"},
    "float32": {LAST: "return merged.float()"},
    "nothing": {LAST: "merged"},
}
