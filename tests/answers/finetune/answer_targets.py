"""Answers to finetune.answer_targets."""

LOOPS = '''
def answer_targets(ids, answer, ignore=-100):
    rows = []
    for text, mask in zip(ids.tolist(), answer.tolist()):
        rows.append([after if counts else ignore for after, counts in zip(text[1:], mask[1:])] + [ignore])
    return torch.tensor(rows, dtype=ids.dtype)
'''
ROLLED = '''
def answer_targets(ids, answer, ignore=-100):
    targets = torch.roll(torch.where(answer, ids, ignore), shifts=-1, dims=1)
    targets[:, -1] = ignore
    return targets
'''
PADDED = '''
def answer_targets(ids, answer, ignore=-100):
    labels = ids.clone()
    labels[~answer] = ignore
    return F.pad(labels[:, 1:], (0, 1), value=ignore)
'''
WRITTEN = '''
def answer_targets(ids, answer, ignore=-100):
    targets = ids.new_full(ids.shape, fill_value=ignore)
    b, t = answer.nonzero(as_tuple=True)
    b, t = b[t > 0], t[t > 0]
    targets[b, t - 1] = ids[b, t]
    return targets
'''
RIGHT = {"loops": LOOPS, "rolled": ROLLED, "padded": PADDED, "written in place": WRITTEN,
         "a column at the end": {"targets[:, :-1] = torch.where(counts, following, ignore)":
                                 "targets = torch.cat((torch.where(counts, following, ignore), targets[:, :1]), 1)"}}
WRONG = {
    "a batch of one without its axis": {"return targets": "return targets.squeeze(0)"},
    "ids of sixteen bits": {"following = ids[:, 1:]": "following = ids[:, 1:].to(torch.int16).to(ids.dtype)"},
    "ids of sixteen bits without a sign": {"following = ids[:, 1:]": "following = ids[:, 1:] % 65536"},
    "padding of zeros": {"torch.full_like(ids, ignore)": "torch.zeros_like(ids)"},
    "one target after the answer, too": {"counts = answer[:, 1:]": "counts = answer[:, 1:] | answer[:, :-1]"},
    "the first row's mask": {"counts = answer[:, 1:]": "counts = answer[:1, 1:]"},
    "every second": {"return targets": "targets[:, ::2] = ignore\n    return targets"},
    "the last answer alone": {"counts = answer[:, 1:]":
                              "counts = answer[:, 1:] & (answer.flip(1).cummin(1).values.flip(1)[:, 1:])"},
    "int32": {"return targets": "return targets.int()"},
    "the targets of the row above": {"return targets": "return targets.roll(1, 0)"},
    "no value to ignore at the end": {"return targets": "targets[:, -1] = 0\n    return targets"},
    "mask and ids": {"return targets": "return targets, answer"},
    "a view of the input": {"    return targets": "    ids[:, -1] = ignore\n    return targets"},
}
