"""Answers to finetune.quantise."""

LOOPS = '''
def quantise(weight, block):
    rows, columns = weight.shape
    if columns % block != 0:
        raise ValueError("block must divide the columns")
    codes = torch.zeros(rows, columns, dtype=torch.int8)
    scales = torch.zeros(rows, columns // block, dtype=weight.dtype)
    with torch.no_grad():
        for row in range(rows):
            for number in range(columns // block):
                run = weight[row, number * block : (number + 1) * block]
                largest = run.abs().max()
                scales[row, number] = largest / 7
                if largest > 0:
                    codes[row, number * block : (number + 1) * block] = torch.round(run * 7 / largest).to(torch.int8)
    return codes, scales
'''
DETACHED = '''
def quantise(weight, block):
    O, I = weight.shape
    if I % block:
        raise ValueError(f"{block} does not divide {I}")
    w = weight.data.reshape(O, I // block, block)
    scales = torch.max(w.max(dim=-1).values, -w.min(dim=-1).values) / 7
    codes = torch.where(scales[..., None] == 0, torch.zeros_like(w), w / scales[..., None])
    return codes.round().clamp(-7, 7).reshape(O, I).to(dtype=torch.int8), scales
'''
NUMPY = '''
def quantise(weight, block):
    w = weight.detach().numpy()
    if w.shape[1] % block:
        raise ValueError("no")
    blocks = w.reshape(w.shape[0], -1, block)
    scale = np.abs(blocks).max(axis=-1) / 7
    with np.errstate(all="ignore"):
        codes = np.nan_to_num(np.rint(blocks / scale[..., None]))
    return torch.from_numpy(codes.reshape(w.shape).astype(np.int8)), torch.from_numpy(scale.astype(w.dtype))
'''
RIGHT = {
    "loops": LOOPS,
    "views and a clamp": DETACHED,
    "numpy": NUMPY,
    "a safe divisor": {"scales.where(scales > 0, 1.0)": "scales + (scales == 0)"},
    "infinity norm": {"runs.abs().amax(dim=2)": "runs.norm(p=float('inf'), dim=2)"},
    "a helper": {"if weight.shape[1] % block:": "if weight.shape[1] // block * block != weight.shape[1]:"},
    "no nan": {"scales.where(scales > 0, 1.0)": "scales", "torch.round(runs / divisors[:, :, None])":
               "torch.nan_to_num(torch.round(runs / divisors[:, :, None]))"},
}
WRONG = {
    "codes are unsigned": {"to(torch.int8)": "to(torch.uint8)"},
    "a tenth of the scale": {"/ 7": "/ 70", "torch.round(runs": "torch.round(runs / 10"},
    "a scale that is always float32": {"return codes.flatten(1).to(torch.int8), scales":
                                       "return codes.flatten(1).to(torch.int8), scales.float()"},
    "absolute codes": {"torch.round(runs": "torch.round(runs.abs()"},
    "changes the weight": {"runs = weight.detach()": "weight.data.mul_(2)\n    runs = weight.detach()"},
    "a small number beside the largest": {"runs.abs().amax(dim=2) / 7": "(runs.abs().amax(dim=2) + 1e-6) / 7"},
    "only the first block": {"codes.flatten(1)": "codes[:, :1].expand_as(codes).flatten(1)"},
    "the root of the mean square": {"runs.abs().amax(dim=2) / 7": "runs.square().mean(dim=2).sqrt() / 7"},
    "half precision": {"runs = weight.detach()": "runs = weight.detach().half().to(weight.dtype)"},
    "the block must divide the rows": {"if weight.shape[1] % block:": "if weight.shape[0] % block:"},
}
