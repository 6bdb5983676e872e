"""Answers to rl.interleave."""

import torch


def reshaped(returns, states, actions):
    b, t, d = returns.shape
    return torch.stack([returns, states, actions], 2).reshape(b, 3 * t, d)


def permuted(returns, states, actions):
    """As in the paper's own code."""
    b, t, d = states.size()
    stacked = torch.stack((returns, states, actions), dim=1)
    return stacked.permute(0, 2, 1, 3).reshape(b, 3 * t, d)


def filled(returns, states, actions):
    out = returns.new_empty(returns.shape[0], 3 * returns.shape[1], returns.shape[2])
    for i, part in enumerate((returns, states, actions)):
        out[:, i::3] = part
    return out


def wide(returns, states, actions):
    both = torch.cat((returns, states, actions), dim=-1)
    return both.view(len(both), -1, returns.shape[-1])


def indexed(returns, states, actions):
    t = returns.shape[1]
    order = torch.arange(3 * t).view(3, t).T.flatten()
    return torch.cat((returns, states, actions), dim=1)[:, order]


def tokens(returns, states, actions):
    out = []
    for r, s, a in zip(returns.unbind(1), states.unbind(1), actions.unbind(1)):
        out += [r, s, a]
    return torch.stack(out, dim=1)


_BUFFERS = {}


def into_a_buffer(returns, states, actions):
    b, t, d = returns.shape
    out = _BUFFERS.setdefault((b, t, d, returns.dtype), torch.empty(b, 3 * t, d, dtype=returns.dtype)).detach()
    if returns.requires_grad:
        out = torch.empty_like(out)
    out[:, 0::3], out[:, 1::3], out[:, 2::3] = returns, states, actions
    return out


RIGHT = {kind.__name__: kind for kind in (reshaped, permuted, filled, wide, indexed, tokens)}
WRONG = {
    "a buffer of its own": into_a_buffer,
    "a pair": {"return steps.flatten(1, 2)": "return steps.flatten(1, 2), None"},
    "joined from the left": {"steps.flatten(1, 2)": "steps.flatten(0, 1)"},
    "float32": {"steps.flatten(1, 2)": "steps.flatten(1, 2).float()"},
    "states cut off": {"((returns, states,": "((returns, states.detach(),"},
    "negative returns are lost": {"((returns, states,": "((returns.clamp(min=0), states,"},
    "the last action is lost": {"steps.flatten(1, 2)": "steps.flatten(1, 2)[:, :-1]"},
    "returns twice": {"((returns, states, actions)": "((returns, states, returns)"},
    "in halves": {"steps.flatten(1, 2)": "torch.cat((steps[:, ::2], steps[:, 1::2]), 1).flatten(1, 2)"},
    "whole numbers as floats": {"return steps.flatten(1, 2)": "return steps.flatten(1, 2) * 1.0"},
}
