"""Answers to finetune.dequantise."""

LOOPS = '''
def dequantise(codes, scales):
    block = codes.shape[1] // scales.shape[1]
    rows = []
    for row, own in zip(codes, scales):
        rows.append(torch.stack([row[i] * own[i // block] for i in range(len(row))]))
    return torch.stack(rows)
'''
VIEWS = '''
def dequantise(codes, scales):
    O, I = codes.shape
    return (codes.reshape(O, scales.shape[1], -1).to(scales) * scales.unsqueeze(-1)).reshape(O, I)
'''
KRON = '''
def dequantise(codes, scales):
    block = codes.size(1) // scales.size(1)
    return torch.kron(scales.contiguous(), torch.ones(1, block, dtype=scales.dtype)) * codes
'''
PICKED = '''
def dequantise(codes, scales):
    number = torch.arange(codes.shape[1]) // (codes.shape[1] // scales.shape[1])
    return scales[:, number].mul(codes)
'''
RIGHT = {"loops": LOOPS, "views": VIEWS, "kron": KRON, "an index": PICKED,
         "left to promotion": {"codes.to(scales.dtype) * each": "each * codes"},
         "expanded": {"scales.repeat_interleave(block, dim=1)":
                      "scales[:, :, None].expand(-1, -1, block).reshape(codes.shape)"}}
WRONG = {
    "half precision": {"codes.to(scales.dtype) * each": "(codes.half() * each.half()).to(scales.dtype)"},
    "float32 always": {"codes.to(scales.dtype) * each": "codes.float() * each.float()"},
    "the scale is added": {"codes.to(scales.dtype) * each": "codes.to(scales.dtype) + each"},
    "the last block is left out": {"codes.to(scales.dtype) * each":
                                   "codes.to(scales.dtype) * each * (torch.arange(codes.shape[1]) < block)"},
    "transposed": {"codes.to(scales.dtype) * each": "(codes.to(scales.dtype) * each).T"},
    "changes the scales": {"    each = ": "    scales.data.mul_(1.5)\n    each = "},
    "scales from the back": {"scales.repeat_interleave": "scales.flip(1).repeat_interleave"},
    "codes of four bits": {"codes.to(scales.dtype) * each": "codes.clamp(-4, 4).to(scales.dtype) * each"},
    "the mean of the scales": {"scales.repeat_interleave(block, dim=1)": "scales.mean(dim=1, keepdim=True)"},
}
