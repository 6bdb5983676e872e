"""Answers to inside.induction_score."""

LOOPS = '''
def induction_score(weights, period):
    B, H, N, _ = weights.shape
    scores = weights.new_zeros(H)
    for h in range(H):
        values = [weights[b, h, i, i - period + 1] for b in range(B) for i in range(period, N)]
        scores[h] = sum(values) / len(values)
    return scores
'''
DIAGONAL = '''
def induction_score(weights, period):
    return torch.diagonal(weights, 1 - period, -2, -1)[:, :, 1:].mean((0, -1))
'''
MASKED = '''
def induction_score(weights, period):
    n = weights.size(-1)
    i, j = torch.meshgrid(torch.arange(n), torch.arange(n), indexing="ij")
    mask = ((i - j) == (period - 1)) & (i >= period)
    return (weights * mask).sum(dim=(0, 2, 3)) / (mask.sum() * weights.size(0))
'''
GATHERED = '''
def induction_score(weights, period):
    later = weights[..., period:, :]
    index = torch.arange(1, later.shape[-2] + 1).reshape(-1, 1).expand(*later.shape[:-1], 1)
    return later.gather(-1, index).squeeze(-1).mean(dim=-1).mean(dim=0)
'''
RIGHT = {"loops": LOOPS, "diagonal": DIAGONAL, "masked": MASKED, "gathered": GATHERED}
WRONG = {
    "no first query, and the mean over all": {"seen.mean(dim=(0, 2))": "seen.sum(dim=(0, 2)) / seen.numel()"},
    "the median": {"seen.mean(dim=(0, 2))": "seen.flatten(0).median().expand(seen.shape[1])"},
    "the last query alone": {"seen.mean(dim=(0, 2))": "seen[:, :, -1].mean(0)"},
    "logarithms": {"seen.mean(dim=(0, 2))": "seen.clamp(min=1e-9).log().mean(dim=(0, 2))"},
    "a softmax over heads": {"seen.mean(dim=(0, 2))": "seen.mean(dim=(0, 2)).softmax(0)"},
    "per cent": {"seen.mean(dim=(0, 2))": "100 * seen.mean(dim=(0, 2))"},
    "a list": {"seen.mean(dim=(0, 2))": "seen.mean(dim=(0, 2)).tolist()"},
    "the first key": {"queries - period + 1": "queries * 0"},
    "itself": {"queries - period + 1": "queries"},
    "all blocks before": {"weights[:, :, queries, keys]": "weights[:, :, queries, keys] + (weights[:, :, queries, "
                          "(keys - period).clamp(min=0)] * (keys >= period))"},
    "half precision": {"seen.mean(dim=(0, 2))": "seen.half().mean(dim=(0, 2)).to(weights.dtype)"},
}
