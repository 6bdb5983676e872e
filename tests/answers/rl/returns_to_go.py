"""Answers to rl.returns_to_go."""

import torch


def matrix(rewards, discount=1.0):
    t = torch.arange(rewards.shape[1])
    powers = (t[:, None] - t[None, :]).to(rewards.dtype)
    return rewards @ (discount ** powers.clamp(min=0)).tril()


def filled(rewards, discount=1.0):
    out = torch.zeros_like(rewards)
    running = 0.0
    for t in range(rewards.shape[1] - 1, -1, -1):
        running = rewards[:, t] + discount * running
        out[:, t] = running
    return out


def cumulated(rewards, discount=1.0):
    """A cumulative sum if nothing is discounted."""
    if discount == 1:
        return rewards.flip(-1).cumsum(-1).flip(-1)
    columns = [rewards[:, -1]]
    for t in reversed(range(rewards.size(1) - 1)):
        columns.insert(0, rewards[:, t] + discount * columns[0])
    return torch.stack(columns, -1)


def doubling(rewards, discount=1.0):
    """Each round adds sums of twice as many steps."""
    sums, step = rewards, 1
    while step < rewards.shape[1]:
        later = torch.nn.functional.pad(sums[:, step:], (0, step))
        sums = sums + discount**step * later
        step *= 2
    return sums


def column_by_column(rewards, discount=1.0):
    steps = rewards.shape[1]
    weights = torch.tensor([discount**k for k in range(steps)], dtype=rewards.dtype)
    return torch.stack([(rewards[:, t:] * weights[: steps - t]).sum(1) for t in range(steps)], dim=1)


def in_double(rewards, discount=1.0):
    copy = rewards.double().clone()
    out = [copy[:, -1]]
    for i in range(2, copy.shape[1] + 1):
        out.append(copy[:, -i] + discount * out[-1])
    return torch.stack(out[::-1], 1).to(rewards.dtype)


KINDS = (matrix, filled, cumulated, doubling, column_by_column, in_double)
RIGHT = {kind.__name__: kind for kind in KINDS} | {
    "accumulate": "from itertools import accumulate\n"
    "def returns_to_go(rewards, discount=1.0):\n"
    "    sums = accumulate(rewards.flip(1).unbind(1), lambda total, r: r + discount * total)\n"
    "    return torch.stack(list(sums), dim=1).flip(1)\n",
}
WRONG = {
    "a list": {"return torch.stack(returns, dim=1)": "return returns"},
    "cut off": {"torch.stack(returns, dim=1)": "torch.stack(returns, dim=1).detach()"},
    "later rewards cut off": {"discount * to_come": "discount * to_come.detach()"},
    "float32": {"torch.stack(returns, dim=1)": "torch.stack(returns, dim=1).float()"},
    "three hundred steps at most": {
        "returns.append(to_come)": "returns.append(to_come if len(returns) < 300 else returns[-1])"
    },
    "divided by the first": {"torch.stack(returns, dim=1)": "torch.stack(returns, dim=1) / returns[0][:, None]"},
    "discount squared": {"discount * to_come": "discount**2 * to_come"},
    "no default": {"discount=1.0": "discount"},
    "the last reward twice": {"torch.zeros_like(rewards[:, 0])": "rewards[:, -1]"},
    "positive rewards only": {"reward + discount": "reward.clamp(min=0) + discount"},
}
