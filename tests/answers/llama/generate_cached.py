"""Answers to llama.generate_cached."""

import torch


@torch.no_grad()
def decorated(model, ids, n_new, choose, stop=None):
    new = []
    logits, caches = model(ids, None)
    while True:
        token = choose(logits[:, -1, :])
        number = int(token)
        if stop is not None and number == stop:
            return new
        new.append(number)
        if len(new) == n_new:
            return new
        logits, caches = model(token.view(1, 1), caches)


@torch.inference_mode()
def inference(model, ids, n_new, choose, stop=None):
    new, caches, read = [], None, ids
    while len(new) < n_new:
        logits, caches = model(read, caches)
        [number] = choose(logits[:, -1]).tolist()
        if number == stop:
            break
        new += [number]
        read = torch.tensor([[number]])
    return new


def tokens_of(model, ids, n_new, choose, stop=None):
    def written():
        caches, read = None, ids
        for _ in range(n_new):
            with torch.no_grad():
                logits, caches = model(read, caches)
                read = choose(logits[:, -1])[None]
            if stop is None or read.item() != stop:
                yield read.item()
            else:
                return

    return list(written())


def switched(model, ids, n_new, choose, stop=None):
    before = torch.is_grad_enabled()
    torch.set_grad_enabled(False)
    try:
        new, caches = torch.empty(0, dtype=torch.int64), None
        for step in range(n_new):
            logits, caches = model(new[-1:].unsqueeze(0) if step else ids, caches)
            new = torch.cat((new, choose(logits.select(1, logits.shape[1] - 1))))
            if stop is not None and new[-1] == stop:
                return new[:-1].tolist()
        return new.tolist()
    finally:
        torch.set_grad_enabled(before)


RIGHT = {
    "decorated": decorated,
    "inference mode": inference,
    "a generator inside": tokens_of,
    "switched": switched,
    "caches by name": {"model(ids, caches)": "model(ids, caches=caches)"},
}
WRONG = {
    "nothing after a prompt that ends in stop": {
        "    tokens, caches": "    if stop is not None and ids[0, -1] == stop:\n        return []\n    tokens, caches"},
    "caches or None": {"model(ids, caches)": "model(ids, caches or None)"},
    "half a text where the model fails": {
        "            logits, caches = model(ids, caches)\n":
        "            try:\n                logits, caches = model(ids, caches)\n"
        "            except RuntimeError:\n                break\n"},
    "a tuple": {"return tokens": "return tuple(tokens)"},
    "floats": {"tokens.append(token.item())": "tokens.append(float(token))"},
    "a pair": {"return tokens": "return tokens, caches"},
    "the prompt is changed": {"    with torch": "    ids[:, 0] = 0\n    with torch"},
    "always one token": {"if token.item() == stop:": "if token.item() == stop and tokens:"},
    "no token twice": {"if token.item() == stop:": "if token.item() == stop or token.item() in tokens:"},
    "a stop in the prompt": {"        for _ in":
    "        n_new = 0 if stop is not None and stop in ids else n_new\n        for _ in"},
    "caches of two calls ago": {"logits, caches = model(ids, caches)":
                                "logits, after = model(ids, caches)\n            caches, kept = "
                                "(after if caches is None else kept), after"},
    "two tokens a call": {"ids = token[:, None]": "ids = torch.cat((ids[:, -1:], token[:, None]), dim=1)"},
    "detached, but with a graph": {"with torch.no_grad():": "if True:",
    "choose(logits[:, -1])": "choose(logits[:, -1].detach())"},
    "one axis": {"choose(logits[:, -1])": "choose(logits[0, -1]).reshape(1)"},
    "the likeliest of all rows": {"choose(logits[:, -1])": "choose(logits.flatten(0, 1))[-1:]"},
    "a temperature of its own": {"choose(logits[:, -1])": "choose(logits[:, -1] / 0.7)"},
    "the stop never wins": {"choose(logits[:, -1])": "choose(logits[:, -1] if stop is None else logits[:, -1]"
                            ".index_fill(-1, torch.tensor([min(stop, logits.shape[-1] - 1)]), -9.0))"},
    "training mode": {"    return tokens": "    getattr(model, 'train', int)()\n    return tokens"},
    "a prompt of at most a hundred": {"tokens, caches = [], None":
    "tokens, caches, ids = [], None, ids[:, -100:]"},
    "the stop asks the model once more": {"                break\n":
    "                model(token[:, None], caches)\n                break\n"},
    "at most sixteen": {"range(n_new)": "range(min(n_new, 16))"},
    "no prompt in one call": {"        for _ in":
    "        _, caches = model(ids[:, :1], None) if ids.shape[1] > 1 else (0, None)\n"
                              "        ids = ids[:, 1:] if ids.shape[1] > 1 else ids\n        for _ in"},
    "chosen without a need": {"    return tokens": "    choose(logits[:, -1])\n    return tokens"},
}
