"""Answers to generation.generate."""

import torch


@torch.no_grad()
def decorated(model, ids, n_new, choose, max_len=None):
    for _ in range(n_new):
        window = ids[:, -max_len:] if max_len else ids
        next_token = choose(model(window)[:, -1, :])
        ids = torch.cat([ids, next_token.unsqueeze(1)], dim=1)
    return ids


@torch.inference_mode()
def inference(model, ids, n_new, choose, max_len=None):
    tokens = list(ids.unbind(1))
    while len(tokens) < ids.shape[1] + n_new:
        read = tokens if max_len is None else tokens[-max_len:]
        logits = model(torch.stack(read, dim=1))
        tokens.append(choose(logits[:, logits.size(1) - 1]))
    return torch.stack(tokens, dim=1)


def filled(model, ids, n_new, choose, max_len=None):
    b, n = ids.shape
    text = torch.empty(b, n + n_new, dtype=ids.dtype)
    text[:, :n] = ids
    with torch.no_grad():
        for end in range(n, n + n_new):
            start = 0 if max_len is None else max(end - max_len, 0)
            text[:, end] = choose(model(text[:, start:end])[:, -1])
    return text


def itself_again(model, ids, n_new, choose, max_len=None):
    if n_new == 0:
        return ids
    before = torch.is_grad_enabled()
    torch.set_grad_enabled(False)
    try:
        seen = ids[:, max(0, ids.shape[1] - (max_len or ids.shape[1])) :]
        token = choose(model(seen)[:, -1])
    finally:
        torch.set_grad_enabled(before)
    return itself_again(model, torch.hstack((ids, token[:, None])), n_new - 1, choose, max_len)


RIGHT = {
    "decorated": decorated,
    "inference mode": inference,
    "filled": filled,
    "itself again": itself_again,
    "padded": {"torch.cat((ids, token[:, None]), dim=1)": "torch.nn.functional.pad(ids, (0, 1)).index_copy(1, "
               "torch.tensor([ids.shape[1]]), token[:, None])"},
}
WRONG = {
    "half a text where the model fails": {
        "            logits = model(seen)\n":
        "            try:\n                logits = model(seen)\n"
        "            except RuntimeError:\n                break\n"},
    "a list": {"return ids": "return ids.tolist()"},
    "floats": {"return ids": "return ids.float()"},
    "a pair": {"return ids": "return ids, logits"},
    "transposed": {"return ids": "return ids.T"},
    "the text is changed": {"    with torch": "    ids[:, 0] = 0\n    with torch"},
    "all logits are chosen from": {"choose(logits[:, -1])": "choose(logits)[:, -1]"},
    "keeps an axis": {"choose(logits[:, -1])": "choose(logits[:, -1:])[:, 0]"},
    "a temperature of its own": {"choose(logits[:, -1])": "choose(logits[:, -1] / 0.7)"},
    "eval": {"    with torch": "    model.eval()\n    with torch"},
    "one call of the model": {"for _ in range(n_new):\n            seen = ids if max_len is None else ids[:, "
                              "-max_len:]\n"
                              "            logits = model(seen)": "logits = model(ids)\n        for _ in "
                                  "range(n_new):"},
    "a default limit": {"max_len=None": "max_len=1024"},
    "always in training mode": {"    return ids": "    if isinstance(model, torch.nn.Module):\n        model.train()\n"
                                "    return ids"},
    "no token again": {"choose(logits[:, -1])": "choose(logits[:, -1].scatter(1, ids[:, -1:], -9.0))"},
    "reversed": {"model(seen)": "model(seen.flip(1))"},
}
