"""Answers to preferences.sequence_log_prob."""

import torch
import torch.nn.functional as F


def cross_entropy(logits, ids, answer):
    losses = F.cross_entropy(logits[:, :-1].transpose(1, 2), ids[:, 1:], reduction="none")
    return -(losses * answer[:, 1:].to(losses.dtype)).sum(-1)


def logsumexp(logits, ids, answer):
    logits, ids, answer = logits[:, :-1], ids[:, 1:], answer[:, 1:]
    picked = torch.gather(logits, 2, ids.unsqueeze(2)).squeeze(2)
    return torch.where(answer, picked - torch.logsumexp(logits, -1), 0.0).sum(1)


def loop(logits, ids, answer):
    totals = []
    for row, tokens, mask in zip(logits, ids, answer):
        total = row.sum() * 0
        for n in range(1, len(tokens)):
            if mask[n]:
                total = total + F.log_softmax(row[n - 1], dim=0)[tokens[n]]
        totals.append(total)
    return torch.stack(totals)


def one_hot(logits, ids, answer):
    logp = F.log_softmax(logits, -1)[:, :-1]
    chosen = F.one_hot(ids[:, 1:], logits.shape[-1]) * answer[:, 1:, None]
    return (logp * chosen).sum((1, 2))


def shifted_labels(logits, ids, answer):
    """As in many trainers: labels that are ignored."""
    labels = ids.masked_fill(~answer, -100)[:, 1:].clone()
    mask = labels != -100
    labels[labels == -100] = 0
    per_token = torch.gather(logits[:, :-1].log_softmax(-1), dim=2, index=labels.unsqueeze(2)).squeeze(2)
    return (per_token * mask).sum(-1)


def rolled(logits, ids, answer):
    """Ids moved to the left, the last column dropped."""
    logp = torch.log_softmax(logits, -1).gather(-1, ids.roll(-1, 1)[..., None]).squeeze(-1)
    keep = answer.roll(-1, 1).clone()
    keep[:, -1] = False
    return logp.masked_fill(~keep, 0).sum(1)


def indexed(logits, ids, answer):
    answer = answer.clone()
    answer[:, 0] = False
    b, n = answer.nonzero(as_tuple=True)
    values = torch.log_softmax(logits, -1)[b, n - 1, ids[b, n]]
    return torch.zeros(len(ids), dtype=logits.dtype).index_add(0, b, values)


RIGHT = {kind.__name__: kind for kind in (cross_entropy, logsumexp, loop, one_hot, shifted_labels, rolled, indexed)}
WRONG = {
    "float32": {"sum(dim=1)": "sum(dim=1).float()"},
    "cut off": {"sum(dim=1)": "sum(dim=1).detach()"},
    "an axis left": {"sum(dim=1)": "sum(dim=1, keepdim=True)"},
    "base two": {"sum(dim=1)": "sum(dim=1) / 0.6931471805599453"},
    "the last token does not count": {"answer[:, 1:]).sum": "answer[:, 1:])[:, :-1].sum"},
    "the mask is changed": {"    return": "    answer[:, 0] = False\n    return"},
    "low ones cut": {"of_ids * ": "of_ids.clamp(min=-2) * "},
    "rolled round": {"logits[:, :-1]": "logits.roll(1, 1)", "ids[:, 1:, None]": "ids[:, :, None]",
                     "answer[:, 1:]": "answer"},
    "all from the answer on": {"answer[:, 1:]": "answer[:, 1:].int().cummax(1).values"},
    "probability at the end": {"sum(dim=1)": "sum(dim=1).exp()"},
    "a list": {"(of_ids * answer[:, 1:]).sum(dim=1)": "(of_ids * answer[:, 1:]).sum(dim=1).tolist()"},
    "no gradient of the normaliser": {"torch.log_softmax(logits[:, :-1], dim=-1)":
                                      "logits[:, :-1] - logits[:, :-1].detach().logsumexp(-1, keepdim=True)"},
}
