"""Answers to assistant.generate_batch."""

import torch


@torch.inference_mode()
def buffer(model, prompts, n_new, choose, stop, pad):
    """Tables of the full width, of which the model reads a part."""
    batch, width = len(prompts), max(map(len, prompts))
    ids = torch.full((batch, width + n_new), pad)
    mask, positions = torch.zeros(ids.shape, dtype=torch.bool), torch.zeros(ids.shape, dtype=torch.int64)
    for row, prompt in enumerate(prompts):
        ids[row, width - len(prompt) : width] = torch.tensor(prompt)
        mask[row, width - len(prompt) : width] = True
        positions[row, width - len(prompt) :] = torch.arange(len(prompt) + n_new)
    done = torch.zeros(batch, dtype=torch.bool)
    for end in range(width, width + n_new):
        chosen = choose(model(ids[:, :end], mask[:, :end], positions[:, :end])[:, -1, :])
        done |= chosen.eq(stop)
        ids[:, end] = chosen.masked_fill(done, pad)
        mask[:, end] = ~done
        if done.all():
            break
    return [ids[row, width:][mask[row, width:]].tolist() for row in range(batch)]


@torch.no_grad()
def lists(model, prompts, n_new, choose, stop, pad):
    """Rows as Python lists; the batch is rebuilt in each step."""
    new, finished = [[] for _ in prompts], [False] * len(prompts)
    width = max(len(prompt) for prompt in prompts)
    steps = 0
    while steps < n_new and not all(finished):
        rows = []
        for prompt, text in zip(prompts, new):
            before, own = width - len(prompt), len(prompt) + len(text)
            after = width + steps - before - own
            rows.append(([pad] * before + prompt + text + [pad] * after,
                         [False] * before + [True] * own + [False] * after,
                         [0] * before + list(range(own)) + [0] * after))
        ids, mask, positions = (torch.tensor(list(one)) for one in zip(*rows))
        for i, token in enumerate(choose(model(ids, mask, positions)[:, -1]).tolist()):
            finished[i] = finished[i] or token == stop
            if not finished[i]:
                new[i].append(token)
        steps += 1
    return new


def transformers(model, prompts, n_new, choose, stop, pad):
    """As in the library transformers: a row is marked 1 while it is unfinished; positions come from the mask."""
    n = max(len(p) for p in prompts)
    ids = torch.tensor([[pad] * (n - len(p)) + p for p in prompts])
    mask = torch.tensor([[0] * (n - len(p)) + [1] * len(p) for p in prompts])
    unfinished = torch.ones(len(prompts), dtype=torch.long)
    for _ in range(n_new):
        with torch.no_grad():
            positions = mask.long().cumsum(-1) - 1
            positions.masked_fill_(mask == 0, 0)
            logits = model(ids, mask.bool(), positions)[:, -1, :]
            tokens = choose(logits)
        unfinished = unfinished * (tokens != stop).long()
        tokens = tokens * unfinished + pad * (1 - unfinished)
        ids = torch.cat([ids, tokens[:, None]], dim=-1)
        mask = torch.cat([mask, unfinished[:, None]], dim=-1)
        if unfinished.max() == 0:
            break
    return [row[n:][own[n:] == 1].tolist() for row, own in zip(ids, mask)]


def switched(model, prompts, n_new, choose, stop, pad):
    before = torch.is_grad_enabled()
    torch.set_grad_enabled(False)
    try:
        ids, mask, positions = pad_left(prompts, pad)
        texts, active = {i: [] for i in range(len(prompts))}, set(range(len(prompts)))
        while n_new and active:
            n_new -= 1
            tokens = choose(model(ids, mask, positions).select(1, ids.shape[1] - 1))
            active -= {i for i in active if int(tokens[i]) == stop}
            for i in active:
                texts[i].append(int(tokens[i]))
            column = torch.tensor([texts[i][-1] if i in active else pad for i in texts])
            on = torch.tensor([i in active for i in texts])
            ids, mask = torch.hstack((ids, column[:, None])), torch.hstack((mask, on[:, None]))
            positions = torch.hstack((positions, (positions[:, -1:] + 1) * on[:, None]))
        return list(texts.values())
    finally:
        torch.set_grad_enabled(before)


def pad_left(prompts, pad):
    n = max(map(len, prompts))
    ids = torch.tensor([[pad] * (n - len(p)) + p for p in prompts])
    positions = torch.arange(n) - torch.tensor([[n - len(p)] for p in prompts])
    return ids, positions >= 0, positions.clamp(min=0)


def stacked(model, prompts, n_new, choose, stop, pad):
    """All chosen tokens are kept; at the end, each row is cut at its stop."""
    ids, mask, positions = pad_left(prompts, pad)
    columns, alive = [], torch.tensor([True] * len(prompts))
    with torch.inference_mode():
        for step in range(n_new):
            chosen = choose(model(ids, mask, positions)[:, -1])
            columns.append(chosen.clone())
            alive = torch.logical_and(alive, chosen.ne(stop))
            if not alive.any() or step == n_new - 1:
                break
            ids = torch.column_stack((ids, torch.where(alive, chosen, torch.tensor(pad))))
            mask = torch.column_stack((mask, alive))
            positions = torch.column_stack((positions, positions[:, -1] + alive))
    rows = torch.stack(columns, dim=1).tolist()
    return [row[: row.index(stop)] if stop in row else row for row in rows]


def grows(model, prompts, n_new, choose, stop, pad):
    """A function that returns the texts, built token by token."""
    def steps():
        ids, mask, positions = pad_left(prompts, pad)
        going = torch.full((len(prompts),), True)
        for _ in range(n_new):
            with torch.no_grad():
                token = choose(model(ids, mask, positions)[:, -1])
            going = going & ~(token == stop)
            yield token.tolist(), going.tolist()
            if not any(going.tolist()):
                return
            more = (torch.where(going, token, pad), going, positions.max(dim=1).values + 1)
            ids, mask, positions = (
                torch.cat((one, column.unsqueeze(1)), 1) for one, column in zip((ids, mask, positions), more))

    texts = [[] for _ in prompts]
    for tokens, going in steps():
        for text, token, on in zip(texts, tokens, going):
            if on:
                text += [token]
    return texts


KINDS = (buffer, lists, transformers, switched, stacked, grows)
RIGHT = {kind.__name__: kind for kind in KINDS} | {
    "inference mode": {"torch.no_grad()": "torch.inference_mode()"},
    "mode by its function": {"torch.no_grad()": "torch.set_grad_enabled(False)"},
    "far positions after the end": {"positions[:, -1:] + 1": "torch.where(running[:, None], positions[:, -1:] + 1, "
    "999)"},
    "logits copied": {"[:, -1])\n": "[:, -1].clone())\n"},
    "chosen tokens copied": {"            running =": "            token = token.clone()\n            running ="},
    "a check first": {"    ids, mask": "    if not prompts or not all(prompts):\n        raise "
    "ValueError('empty')\n    "
                      "ids, mask"},
}

LAST, TOKEN = "return texts", "token = choose(model(ids, mask, positions)[:, -1])"
RUNNING, ADDED = "running = running & (token != stop)", "texts[row].append(token[row].item())"
FILLED = "torch.where(running, token, pad)[:, None]"
START = """
def pad_left(prompts, pad):
    width = max(map(len, prompts))
    ids = torch.tensor([[pad] * (width - len(prompt)) + prompt for prompt in prompts])
    positions = torch.arange(width) - (width - torch.tensor(list(map(len, prompts))))[:, None]
    return ids, positions >= 0, positions.clamp(min=0)


@torch.no_grad()
def generate_batch(model, prompts, n_new, choose, stop, pad):
    ids, mask, positions = pad_left(prompts, pad)
    width, texts, done = ids.shape[1], [[] for _ in prompts], torch.zeros(len(prompts), dtype=torch.bool)
    for _ in range(n_new):
"""
TO_THE_END = """
        token = choose(model(ids, mask, positions)[:, -1])
        ids = torch.cat([ids, token[:, None]], 1)
        mask = torch.cat([mask, torch.ones_like(token[:, None]).bool()], 1)
        positions = torch.cat([positions, positions[:, -1:] + 1], 1)
        if (ids[:, width:] == stop).any(1).all():
            break
    return [row[: row.index(stop)] if stop in row else row for row in ids[:, width:].tolist()]
"""
FIRST_STOP = """
        token = choose(model(ids, mask, positions)[:, -1])
        if (token == stop).any():
            break
        for text, one in zip(texts, token.tolist()):
            text.append(one)
        ids = torch.cat([ids, token[:, None]], 1)
        mask = torch.cat([mask, torch.ones(len(prompts), 1, dtype=torch.bool)], 1)
        positions = torch.cat([positions, positions[:, -1:] + 1], 1)
    return texts
"""
SUMS = """
        token = choose(model(ids, mask, mask.long().cumsum(1))[:, -1])
        done = done | (token == stop)
        for row in (~done).nonzero().flatten().tolist():
            texts[row].append(int(token[row]))
        if done.all():
            break
        ids = torch.cat([ids, torch.where(done, pad, token)[:, None]], 1)
        mask = torch.cat([mask, ~done[:, None]], 1)
    return texts
"""
WRONG = {
    "half a text where the model fails": {
        f"            {TOKEN}\n": f"            try:\n                {TOKEN}\n"
        "            except RuntimeError:\n                break\n"},
    "cut at the end": START + TO_THE_END,
    "the first stop ends all": START + FIRST_STOP,
    "positions by sums of the mask": START + SUMS,
    "one column of pads for each step": {LAST: "return [(text + [pad] * n_new)[:n_new] for text in texts]"},
    "the model twice": {TOKEN: TOKEN.replace("choose(", "choose(0 * model(ids, mask, positions)[:, -1] + ")},
    "a tuple": {LAST: "return tuple(texts)"},
    "tuples": {LAST: "return [tuple(text) for text in texts]"},
    "floats": {ADDED: "texts[row].append(float(token[row]))"},
    "texts and ids": {LAST: "return texts, ids"},
    "one list of all": {LAST: "return sum(texts, [])"},
    "at most a hundred": {"range(n_new)": "range(min(n_new, 100))"},
    "prompts of at most 256": {"pad_left(prompts, pad)": "pad_left([prompt[-256:] for prompt in prompts], pad)"},
    "no token twice": {RUNNING: f"{RUNNING} & (token != ids[:, -1])"},
    "the stop only after the first token": {RUNNING: "running = running & ((token != stop) | (ids.shape[1] == "
                                            "max(map(len, prompts))))"},
    "a temperature of its own": {"[:, -1])\n": "[:, -1] / 0.7)\n"},
    "the stop never wins": {"[:, -1])\n": "[:, -1].index_fill(-1, torch.tensor([stop] if stop < 4 else []).long(), "
    "-99.0))\n"},
    "texts cut at the first pad": {LAST: "return [text[: text.index(pad)] if pad in text else text for text in "
    "texts]"},
    "pads taken out": {LAST: "return [[t for t in text if t != pad or pad == stop] for text in texts]"},
    "texts cut at a stop of the prompt": {LAST: "return [[] if stop in p else t for p, t in zip(prompts, texts)]"},
    "the first row decides": {"if not running.any():": "if not running[0]:"},
    "steps until the first row ends": {"if not running.any():": "if not running.any() or not running[-1]:"},
    "detached, but with a graph": {"torch.no_grad()": "torch.enable_grad()", "[:, -1])\n": "[:, -1].detach())\n"},
    "training mode": {LAST: f"getattr(model, 'train', int)()\n    {LAST}"},
    "chosen once more": {LAST: f"choose(torch.zeros(len(prompts), 7))\n    {LAST}"},
    "a call to warm up": {"    texts, running": "    model(ids[:, :1], mask[:, :1], positions[:, :1])\n    texts, "
    "running"},
    "the right text, from one prompt at a time": {LAST: "texts = [[] for _ in prompts]\n    with torch.no_grad():\n"
        "        for row, prompt in enumerate(prompts):\n            for _ in range(n_new):\n"
        "                one = pad_left([prompt + texts[row]], pad)\n"
        "                token = choose(model(*one)[:, -1]).item()\n                if token == stop:\n"
        "                    break\n                texts[row].append(token)\n    return texts",
        "range(n_new):\n            t":
        "range(0):\n            t"},
    "masks as numbers to add": {"model(ids, mask, positions)": "model(ids, mask.float(), positions)"},
    "positions in reverse": {"model(ids, mask, positions)": "model(ids, mask, positions.flip(1))"},
    "prompts sorted in place": {"    ids, mask": "    prompts.sort(key=len)\n    ids, mask"},
    "one column too late": {"torch.cat((mask, running[:, None]), dim=1)": "torch.cat((mask, mask[:, -1:]), dim=1)"},
    "pads attended in the prompt": {"model(ids, mask, positions)": "model(ids, torch.ones_like(mask), positions)"},
    "only new tokens attended": {"model(ids, mask, positions)": "model(ids, mask & ((ids != pad) | (positions > 0)), "
                                 "positions)"},
}
