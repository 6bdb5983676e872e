"""Answers to llama.dequantise_q4."""

import numpy as np
import torch


def by_numpy(blocks):
    raw = np.ascontiguousarray(blocks.numpy())
    d = raw[:, 0:2].copy().view("<f2").astype(np.float32)
    m = raw[:, 2:4].copy().view("<f2").astype(np.float32)
    codes = np.concatenate([raw[:, 4:] & 0x0F, raw[:, 4:] >> 4], axis=1).astype(np.float32)
    return torch.from_numpy(d * codes + m)


def in_place(blocks):
    d = blocks[:, :2].clone().view(torch.float16).to(torch.float32)
    m = blocks[:, 2:4].clone().view(torch.float16).to(torch.float32)
    out = torch.empty(blocks.shape[0], 32)
    out[:, :16] = blocks[:, 4:] % 16
    out[:, 16:] = torch.div(blocks[:, 4:], 16, rounding_mode="floor")
    return out.mul_(d).add_(m)


def slices_viewed(blocks):
    scale = blocks[:, 0:2].view(torch.float16).float()
    minimum = blocks[:, 2:4].view(torch.float16).float()
    low, high = torch.bitwise_and(blocks[:, 4:20], 15), torch.bitwise_right_shift(blocks[:, 4:20], 4)
    return torch.addcmul(minimum, scale, torch.hstack([low, high]).float())


def by_hand(blocks):
    """Sign, exponent and fraction of a float16 taken apart."""
    def half(low, high):
        bits = low.int() + 256 * high.int()
        sign, exponent, fraction = 1.0 - 2.0 * (bits >> 15), (bits >> 10) & 31, (bits & 1023).float()
        normal = torch.ldexp(1.0 + fraction / 1024, exponent - 15)
        return sign * torch.where(exponent == 0, fraction / 1024 * 2.0**-14, normal)

    d, m = half(blocks[:, 0], blocks[:, 1]), half(blocks[:, 2], blocks[:, 3])
    shifts = torch.tensor([0, 4]).view(2, 1)
    codes = (blocks[:, None, 4:].int() >> shifts) & 15
    return (d[:, None] * codes.flatten(1) + m[:, None]).float()


def table_of_values(blocks):
    halves = blocks[:, :4].contiguous().view(torch.float16).double()
    table = halves[:, :1] * torch.arange(16.0, dtype=torch.float64) + halves[:, 1:]
    codes = torch.cat((blocks[:, 4:] & 15, blocks[:, 4:] // 16), dim=-1).long()
    return table.gather(1, codes).float()


def block_by_block(blocks):
    rows = []
    for block in blocks:
        d, m = block[:4].clone().view(torch.float16).tolist()
        rows.append([d * int(b & 15) + m for b in block[4:]] + [d * int(b >> 4) + m for b in block[4:]])
    return torch.tensor(rows, dtype=torch.float32).view(-1, 32)


RIGHT = {
    "numpy": by_numpy,
    "in place": in_place,
    "slices viewed": slices_viewed,
    "by hand": by_hand,
    "a table of values": table_of_values,
    "block by block": block_by_block,
}
WRONG = {
    "float64": {"halves.float()": "halves.double()"},
    "a list": {"return scale * codes + minimum": "return (scale * codes + minimum).tolist()"},
    "no rows for no blocks": {"return scale * codes + minimum":
    "return scale * codes + minimum if len(blocks) else "
                              "torch.zeros(0)"},
    "three axes": {"return scale * codes + minimum":
    "return (scale * codes + minimum).unflatten(1, (2, 16))"},
    "the input is changed": {"    packed =": "    blocks[:, 4:] >>= 0\n    blocks[:, 4] = 0\n    packed ="},
    "blocks of one sign": {"scale * codes + minimum": "scale * codes + minimum.abs()"},
    "negative minima only": {"scale * codes + minimum": "scale * codes - minimum.abs()"},
    "seven bits": {"packed & 15": "packed & 7"},
    "rounded shift": {"packed >> 4": "(packed / 16).round()"},
    "scaled to one": {"scale * codes + minimum": "scale * codes / 15 + minimum"},
    "clipped": {"scale * codes + minimum": "(scale * codes + minimum).clamp(-1e4, 1e4)"},
    "the last block's minimum": {"scale * codes + minimum": "scale * codes + minimum[-1:]"},
    "zero scale means one": {"scale * codes + minimum":
    "torch.where(scale == 0, 1.0, scale) * codes + minimum"},
    "halves reversed": {"return scale * codes + minimum": "return (scale * codes + minimum).roll(16, 1)"},
    "codes backwards": {"packed = blocks[:, 4:]": "packed = blocks[:, 4:].flip(1)"},
    "half precision product": {"scale * codes": "(scale.half() * codes).float()"},
    "bfloat": {"return scale * codes + minimum": "return (scale * codes + minimum).bfloat16().float()"},
    "one type for another": {"packed = blocks[:, 4:]": "packed = blocks[:, 4:].view(torch.int8)"},
    "scales as whole numbers": {"torch.float16)": "torch.int16)"},
    "from byte 3": {"packed = blocks[:, 4:]": "packed = blocks[:, 3:19]"},
}
