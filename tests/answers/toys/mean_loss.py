"""Answers to toys.mean_loss."""

RIGHT = {
    "cross_entropy": {
        "log_probs = torch.log_softmax(logits, dim=-1)": "return float(F.cross_entropy(logits.mT, targets))",
        "    picked = log_probs.gather(-1, targets[..., None])\n    return -picked.mean().item()\n": "",
    },
    "logsumexp": {
        "torch.log_softmax(logits, dim=-1)": "logits - torch.logsumexp(logits, -1, keepdim=True)"
    },
    "a running sum": {
        "-picked.mean().item()": "sum(-p.item() for p in picked.flatten()) / targets.numel()",
    },
    "one-hot": {
        "log_probs.gather(-1, targets[..., None])": "(log_probs * F.one_hot(targets, logits.shape[-1])).sum(-1)"
    },
}
WRONG = {
    "a whole number": {"-picked.mean().item()": "round(-picked.mean().item())"},
    "base two": {".item()": ".item() / 0.6931471805599453"},
    "a little added": {".item()": ".item() + 1e-3"},
    "nothing": {"return -": "_ = -"},
}
