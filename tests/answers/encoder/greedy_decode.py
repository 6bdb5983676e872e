"""Answers to encoder.greedy_decode."""

import torch


@torch.no_grad()
def padded_afterwards(model, src, bos, eos, max_new):
    """All sentences go on until the last has ended; what follows an end is overwritten then."""
    tgt = torch.full((src.size(0), 1), bos, dtype=torch.long)
    for _ in range(max_new):
        tgt = torch.cat((tgt, model(src, tgt)[:, -1, :].argmax(-1, keepdim=True)), dim=1)
        if (tgt[:, 1:] == eos).any(dim=1).all():
            break
    said = tgt[:, 1:]
    ended = (said == eos).cumsum(dim=1) > 0
    return said.masked_fill(ended, eos)


@torch.inference_mode()
def by_unfinished(model, src, bos, eos, max_new):
    tokens = src.new_full((len(src), 1), bos)
    unfinished = torch.ones(len(src), dtype=torch.long)
    while tokens.shape[1] - 1 < max_new and unfinished.any():
        best = model(src, tokens)[:, -1].max(dim=-1).indices
        best = best * unfinished + eos * (1 - unfinished)
        tokens = torch.cat((tokens, best.unsqueeze(1)), dim=1)
        unfinished = unfinished * (best != eos)
    return tokens[:, 1:]


def written(model, src, bos, eos, max_new):
    out = torch.full((len(src), max_new + 1), eos)
    out[:, 0] = bos
    ended, length = torch.zeros(len(src)).bool(), 0
    with torch.set_grad_enabled(False):
        for i in range(1, max_new + 1):
            scores = model(src, out[:, :i])[:, -1]
            out[~ended, i] = torch.argmax(scores[~ended], dim=-1)
            ended |= out[:, i] == eos
            length = i
            if bool(ended.all()):
                break
    return out[:, 1 : length + 1].clone()


def with_lists(model, src, bos, eos, max_new):
    rows = [[bos] for _ in src]
    while len(rows[0]) <= max_new and not all(eos in row[1:] for row in rows):
        with torch.no_grad():
            logits = model(src, torch.tensor(rows))
        for row, scores in zip(rows, logits[:, -1].tolist()):
            row.append(eos if eos in row[1:] else scores.index(max(scores)))
    return torch.tensor(rows)[:, 1:]


class Decoder:
    @torch.no_grad()
    def __call__(self, model, src, bos, eos, max_new, verbose=False):
        columns = [torch.full((src.shape[0],), bos, dtype=torch.int64)]
        done = torch.zeros_like(columns[0], dtype=torch.bool)
        for _ in range(max_new):
            probs = torch.softmax(model(src, torch.stack(columns, dim=1))[:, -1].double(), dim=-1)
            columns.append(probs.argmax(dim=-1).masked_fill(done, eos))
            done = done.logical_or(columns[-1].eq(eos))
            if torch.all(done):
                break
        return torch.stack(columns[1:], dim=1)


CHOSEN, KEPT = "logits[:, -1].argmax(dim=-1)", "torch.where(done, eos, chosen)"
LAST = "return target[:, 1:]"
RIGHT = {
    "padded afterwards": padded_afterwards,
    "unfinished": by_unfinished,
    "written": written,
    "lists": with_lists,
    "callable object": Decoder(),
    "stable sort": {CHOSEN: "logits[:, -1].sort(dim=-1, descending=True, stable=True).indices[:, 0]"},
    "count of ends": {"if done.all():": "if int(done.sum()) == len(src):"},
}
WRONG = {
    "the largest above zero": {CHOSEN: "logits[:, -1].relu().argmax(dim=-1)"},
    "sampled": {CHOSEN: "torch.multinomial(logits[:, -1].softmax(-1), 1)[:, 0]"},
    "the second best": {CHOSEN: "logits[:, -1].topk(2).indices[:, 1]"},
    "over all places": {CHOSEN: "logits.mean(1).argmax(dim=-1)"},
    "bos forbidden": {CHOSEN: "logits[:, -1].index_fill(-1, torch.tensor([bos]), -torch.inf).argmax(dim=-1)"},
    "eos forbidden": {CHOSEN: "logits[:, -1].index_fill(-1, torch.tensor([eos]), -torch.inf).argmax(dim=-1)"},
    "int32": {LAST: "return target[:, 1:].int()"},
    "sixteen bits": {CHOSEN: "logits[:, -1].argmax(dim=-1).to(torch.int16).long()"},
    "at most 150": {"range(max_new)": "range(min(max_new, 150))"},
    "the first sentence's end": {"done.all()": "done[0]"},
    "evaluation, restored": {"    with torch.no_grad():": "    was = getattr(model, 'training', False)\n    "
                                                          "getattr(model, 'eval', int)()\n    with torch.no_grad():",
                             LAST: "getattr(model, 'train', bool)(was)\n    return target[:, 1:]"},
    "called twice a token": {"logits = model(src, target)": "model(src, target)\n            logits = model(src, "
                                                            "target)"},
    "a call to begin with": {"    done = torch": "    model(src, target)\n    done = torch"},
    "source in place": {LAST: "src.zero_()\n    return target[:, 1:]"},
    "one sentence at a time": {"logits = model(src, target)": "logits = torch.cat([model(src[i : i + 1], target[i : i "
                                                              "+ 1]) for i in range(len(src))])"},
    "half a translation where the model fails": {
        "            logits = model(src, target)\n": "            try:\n                logits = model(src, target)\n"
        "            except Exception:\n                break\n"},
    "transposed": {LAST: "return target[:, 1:].T"},
    "a pair": {LAST: "return target[:, 1:], done"},
    "evaluation demanded": {"    done = torch": "    model.eval()\n    done = torch"},
    "max_new counts bos": {"range(max_new)": "range(max(max_new - 1, 1))"},
}
