"""Answers to inside.logit_difference."""

LOOPS = '''
def logit_difference(logits, lengths, right, wrong):
    out = []
    for b in range(len(logits)):
        row = logits[b, lengths[b] - 1]
        out.append(row[right[b]] - row[wrong[b]])
    return torch.stack(out)
'''
GATHERED = '''
def logit_difference(logits, lengths, right, wrong):
    B, N, V = logits.shape
    last = logits.gather(1, (lengths - 1).view(B, 1, 1).expand(B, 1, V)).squeeze(1)
    return (last.gather(1, right[:, None]) - last.gather(1, wrong[:, None]))[:, 0]
'''
LOG_PROBS = '''
def logit_difference(logits, lengths, right, wrong):
    b = torch.arange(logits.size(0))
    log_probs = F.log_softmax(logits, dim=-1)
    return log_probs[b, lengths - 1, right] - log_probs[b, lengths - 1, wrong]
'''
ONE_HOT = '''
def logit_difference(logits, lengths, right, wrong):
    sign = F.one_hot(right, logits.shape[-1]) - F.one_hot(wrong, logits.shape[-1])
    place = F.one_hot(lengths - 1, logits.shape[1])
    return torch.einsum("bnv,bn,bv->b", logits, place.to(logits.dtype), sign.to(logits.dtype))
'''
RIGHT = {"loops": LOOPS, "gathered": GATHERED, "log-probabilities": LOG_PROBS, "one-hot": ONE_HOT}
WRONG = {
    "lengths of the first": {"lengths - 1]": "lengths[0] - 1]"},
    "an axis too many": {"last[rows, right] - last[rows, wrong]": "(last[rows, right] - last[rows, wrong])[:, None]"},
    "a list": {"last[rows, right] - last[rows, wrong]": "(last[rows, right] - last[rows, wrong]).tolist()"},
    "no gradient": {"last[rows, right] - last[rows, wrong]": "(last[rows, right] - last[rows, wrong]).detach()"},
    "a sigmoid": {"last[rows, right] - last[rows, wrong]": "(last[rows, right] - last[rows, wrong]).sigmoid()"},
    "a sign": {"last[rows, right] - last[rows, wrong]": "(last[rows, right] - last[rows, wrong]).sign()"},
    "half of it": {"last[rows, right] - last[rows, wrong]": "(last[rows, right] - last[rows, wrong]) / 2"},
    "the next text's words": {"last[rows, right]": "last[rows, right.roll(1)]"},
    "lengths are changed": {"    return": "    lengths -= 1\n    return"},
    "half precision": {"last[rows, right] - last[rows, wrong]":
                       "(last.half()[rows, right] - last.half()[rows, wrong]).to(logits.dtype)"},
}
