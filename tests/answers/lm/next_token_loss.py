"""Answers to lm.next_token_loss."""

import torch


def selected(logits, targets, ignore=-100):
    keep = targets != ignore
    logits, targets = logits[keep], targets[keep]
    return (logits.logsumexp(-1) - logits[torch.arange(len(targets)), targets]).mean()


def flat(logits, targets, ignore=-100):
    rows, ids = logits.reshape(-1, logits.size(-1)), targets.reshape(-1)
    valid = (ids != ignore).nonzero().squeeze(1)
    log_p = torch.log_softmax(rows[valid], -1)
    return -log_p.gather(1, ids[valid].unsqueeze(1)).mean()


def by_hand(logits, targets, ignore=-100):
    shifted = logits - logits.max(dim=-1, keepdim=True).values
    log_z = shifted.exp().sum(-1).log()
    keep = (targets != ignore).to(logits.dtype)
    index = torch.where(targets == ignore, torch.zeros_like(targets), targets)
    right = torch.take_along_dim(shifted, index.unsqueeze(-1), dim=-1).squeeze(-1)
    return ((log_z - right) * keep).sum() / keep.sum()


def one_hot(logits, targets, ignore=-100):
    keep = targets.ne(ignore)
    chosen = torch.nn.functional.one_hot(torch.where(keep, targets, 0), logits.shape[-1])
    return -(logits.log_softmax(-1) * chosen * keep[..., None]).sum() / keep.sum()


def loops(logits, targets, ignore=-100):
    losses = []
    for row, ids in zip(logits, targets, strict=True):
        for scores, target in zip(row, ids.tolist(), strict=True):
            if target != ignore:
                losses.append(torch.logsumexp(scores, dim=0) - scores[target])
    return torch.stack(losses).mean()


LAST = "return -(picked * counts).sum() / counts.sum()"
RIGHT = {
    "divergence": {LAST: "sure = F.one_hot(targets[counts], logits.shape[-1]).to(logits)\n    return F.kl_div("
                   "torch.log_softmax(logits[counts], -1), sure, reduction='batchmean')"},
    "selected": selected,
    "flat": flat,
    "by hand": by_hand,
    "one-hot": one_hot,
    "loops": loops,
    "masked select": {"-(picked * counts).sum() / counts.sum()": "-picked[counts].mean()"},
    "clamped": {"targets.masked_fill(~counts, 0)": "(targets * counts).clamp(min=0)"},
}
WRONG = {
    "float32 inside": {"torch.log_softmax(logits, dim=-1)": "torch.log_softmax(logits.float(), dim=-1).to(logits)"},
    "cross_entropy": {LAST: "return F.cross_entropy(logits.flatten(0, 1), targets.flatten(), ignore_index=ignore)"},
    "nn.CrossEntropyLoss": {LAST: "return torch.nn.CrossEntropyLoss(ignore_index=ignore)(logits.mT, targets)"},
    "nll_loss": {LAST: "return F.nll_loss(log_probs.flatten(0, 1), targets.flatten(), ignore_index=ignore)"},
    "a loss module's functional": {LAST: "return torch.ops.aten.cross_entropy_loss(logits.flatten(0, 1), "
                                   "targets.flatten(), None, 1, ignore)"},
    "smoothed": {"torch.log_softmax(logits, dim=-1)": "0.9 * torch.log_softmax(logits, -1) + 0.1 * torch.log_softmax("
                 "logits, -1).mean(-1, keepdim=True)"},
    "an axis too many": {LAST: f"{LAST}.reshape(1)".replace("return ", "return (").replace(".reshape", ").reshape")},
    "one too few": {"/ counts.sum()": "/ (counts.sum() - 1).clamp(min=1)"},
    "targets changed": {"places = targets.masked_fill(~counts, 0)": "places = targets.masked_fill_(~counts, 0)"},
    "clipped": {LAST: f"{LAST}.clamp(max=100)".replace("return ", "return (").replace(".clamp", ").clamp")},
    "cut off": {"torch.log_softmax(logits, dim=-1)": "torch.log_softmax(logits.detach(), dim=-1)"},
    "float32": {"torch.log_softmax(logits, dim=-1)": "torch.log_softmax(logits.float(), dim=-1)"},
    "largest subtracted, not its row's": {"torch.log_softmax(logits, dim=-1)": "(logits - logits.max()) - (logits - "
                                          "logits.max()).exp().sum(-1, keepdim=True).log()"},
    "squared": {"-(picked * counts)": "(picked**2 * counts)"},
    "no default": {"ignore=-100": "ignore"},
    "the model's own choice of ignored": {"targets != ignore": "(targets != ignore) & (logits.argmax(-1) != targets)"},
}
