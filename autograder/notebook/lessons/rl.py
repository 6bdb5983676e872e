"""The code that only lesson 17 needs: episodes of CartPole (a pole on a cart), played and drawn."""

from collections.abc import Callable, Sequence

import torch
from matplotlib.patches import Rectangle
from torch import Tensor

from autograder.notebook.figures.palette import BLUE, GREY, VERMILLION
from autograder.notebook.figures.style import Picture, canvas, card, styled
from autograder.notebook.figures.words import sentence

Episode = tuple[Tensor, Tensor]


def play(
    policy: Callable[[Tensor, Tensor, list[int]], Tensor], seeds: Sequence[int], limit: int
) -> list[Episode]:
    """Return one episode of CartPole for each seed: (states (T, 4), actions (T,)), with T <= limit.

    policy: policy(states (n, t + 1, 4), actions (n, t), playing) -> (n,) actions of the n episodes that are
        still running; `playing` holds their positions in `seeds`
    """
    import gymnasium

    worlds = [gymnasium.make("CartPole-v1").unwrapped for _ in seeds]
    states = [[world.reset(seed=seed)[0].tolist()] for world, seed in zip(worlds, seeds, strict=True)]
    actions: list[list[int]] = [[] for _ in seeds]
    playing = list(range(len(seeds)))
    for _ in range(limit):
        seen, taken = torch.tensor([states[i] for i in playing]), torch.tensor([actions[i] for i in playing])
        fallen = set()
        for i, action in zip(playing, policy(seen, taken.long(), playing).tolist(), strict=True):
            state, _, fell, *_ = worlds[i].step(action)
            states[i].append(state.tolist())
            actions[i].append(action)
            fallen |= {i} if fell else set()
        playing = [i for i in playing if i not in fallen]
        if not playing:
            break
    return [(torch.tensor(s[: len(a)]), torch.tensor(a)) for s, a in zip(states, actions, strict=True)]


@styled
def poles(states: Tensor, title: str, frames: int = 10) -> Picture:
    """Draw the pole on its cart at evenly spaced steps of an episode, including the last one.

    Angles are drawn three times as large as they are.

    states: (T, 4): position and speed of the cart, angle and angular speed of the pole
    """
    count = min(frames, len(states))
    steps = [round(k * (len(states) - 1) / max(1, count - 1)) for k in range(count)]
    figure = card(6.0, 0.95 + 1.35 * -(-count // 5), title)
    high = figure.get_size_inches()[1]
    ax = canvas(figure, 0, 0, 6.0, high)
    for k, step in enumerate(steps):
        place, _, angle, _ = states[step].tolist()
        left, ground = 0.35 + 1.08 * (k % 5), high - 1.65 - 1.35 * (k // 5)
        ax.plot([left, left + 0.95], [ground, ground], color=GREY, linewidth=1.2)
        x = left + 0.475 + 0.15 * max(-2.4, min(2.4, place))
        ax.add_patch(Rectangle((x - 0.13, ground), 0.26, 0.13, facecolor=BLUE))
        lean = torch.tensor(3 * angle)
        tip = (x + 0.7 * lean.sin().item(), ground + 0.13 + 0.7 * lean.cos().item())
        ax.plot([x, tip[0]], [ground + 0.13, tip[1]], color=VERMILLION, linewidth=3, solid_capstyle="round")
        ax.text(left + 0.475, ground - 0.17, f"step {step}", ha="center", va="center", fontsize=9.5)
    ax.text(0.35, 0.22, "angles three times as large as they are", va="center", fontsize=9.5, color=GREY)
    leans = "; ".join(f"step {step}: {torch.rad2deg(states[step][2]).item():.0f}" for step in steps)
    return Picture(figure, f"{sentence(title)} The pole on its cart, its angle in degrees: {leans}.")
