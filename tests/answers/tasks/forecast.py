"""Answers to tasks.forecast."""

import torch


def growing(model, history, steps):
    """All values in one tensor, whose last N the model reads."""
    n = history.size(1)
    with torch.no_grad():
        for _ in range(steps):
            history = torch.cat([history, model(history[:, -n:]).unsqueeze(1)], dim=1)
    return history[:, n:]


@torch.no_grad()
def decorated(model, history, steps):
    out = []
    for _ in range(steps):
        out.append(model(history))
        history = torch.hstack([history[:, 1:], out[-1].unsqueeze(-1)])
    return torch.stack(out, -1)


def detached(model, history, steps):
    window, out = history.detach().clone(), []
    for _ in range(steps):
        out.append(model(window).detach())
        window = torch.roll(window, -1, dims=1)
        window[:, -1] = out[-1]
    return torch.stack(out, 1)


def inference(model, history, steps):
    with torch.inference_mode():
        window = history.clone()
        result = torch.empty(len(history), steps, dtype=history.dtype)
        for i in range(steps):
            result[:, i] = model(window)
            window = torch.cat((window[:, 1:], result[:, i : i + 1]), 1)
    return result.clone()


def prepared(model, history, steps):
    """Room for everything from the start."""
    b, n = history.shape
    known = torch.zeros(b, n + steps, dtype=history.dtype)
    with torch.no_grad():
        known[:, :n] = history
        for t in range(steps):
            known[:, n + t] = model(known[:, t : t + n])
    return known[:, n:]


def recursive(model, history, steps):
    with torch.no_grad():
        first = model(history).reshape(-1, 1)
        if steps == 1:
            return first
        return torch.cat((first, recursive(model, torch.cat((history[:, 1:], first), 1), steps - 1)), 1)


def switched(model, history, steps):
    before = torch.is_grad_enabled()
    torch.set_grad_enabled(False)
    try:
        return decorated(model, history, steps)
    finally:
        torch.set_grad_enabled(before)


def late(model, history, steps):
    """Gradients thrown away at the end."""
    values = list(history.unbind(1))
    for _ in range(steps):
        values.append(model(torch.stack(values[-history.shape[1]:], dim=1)))
    return torch.stack(values[history.shape[1]:], 1).detach()


KINDS = (growing, decorated, detached, inference, prepared, recursive, switched, late)
RIGHT = {kind.__name__: kind for kind in KINDS}
WRONG = {
    "a shorter forecast where the model fails": {
        "            value = model(window)\n":
        "            try:\n                value = model(window)\n"
        "            except RuntimeError:\n                break\n"},
    "a list": {"torch.stack(values, dim=1)": "values"},
    "float32": {"torch.stack(values, dim=1)": "torch.stack(values, dim=1).float()"},
    "two behind": {"window[:, 1:], value[:, None]": "window[:, 2:], value[:, None], value[:, None]"},
    "the mean is fed back": {"value[:, None]), dim=1)": "value.mean().expand(len(window), 1)), dim=1)"},
    "the first forecast is fed back": {"value[:, None]), dim=1)": "values[0][:, None]), dim=1)"},
    "smoothed": {"value = model(window)": "value = 0.5 * (model(window) + window[:, -1])"},
    "the window is sorted": {"dim=1)\n    return": "dim=1).sort(dim=1).values\n    return"},
    "leaf for training": {"torch.stack(values, dim=1)": "torch.stack(values, dim=1).requires_grad_()"},
    "no more than a hundred": {"values.append(value)": "values.append(value if len(values) < 100 else values[-1])"},
    "fed back once": {"for _ in range(steps):\n            value = model(window)": "for step in range(steps):\n "
                      "           value = "
                      "model(window) if step < 2 else values[-1]"},
}
