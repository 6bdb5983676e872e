"""The pictures of lesson 17."""

from drawing import arrow, box, cells

from autograder.notebook.figures.palette import (
    BLUE,
    GREEN,
    GREY,
    HEADS,
    INK,
    ORANGE,
    PALE,
    PURPLE,
    VERMILLION,
)
from autograder.notebook.figures.style import Picture, axes, canvas, card, styled

RETURN, STATE, ACTION = HEADS[1], HEADS[0], HEADS[2]


@styled
def rewards_to_come() -> Picture:
    """Draw three rewards, and the rewards still to come, summed from the end to the beginning."""
    figure = card(6.0, 3.05, "What is still to come, from the end to the beginning")
    ax = canvas(figure, 0, 0, 6.0, 3.05)
    for y, name in ((1.85, "reward"), (0.75, "to come")):
        ax.text(0.3, y, name, va="center", fontweight="bold")
    for k, (reward, rest) in enumerate(((1, 6), (2, 5), (3, 3))):
        x = 1.9 + 1.45 * k
        ax.text(x, 2.32, f"step {k}", ha="center", va="center", fontsize=9.5, color=GREY)
        cells(ax, x - 0.35, 2.05, [[str(reward)]], [[STATE]], width=0.7)
        cells(ax, x - 0.35, 0.95, [[str(rest)]], [[RETURN]], width=0.7)
        arrow(ax, (x, 1.6), (x, 1.0), BLUE, 1.6)
        if k < 2:
            arrow(ax, (x + 1.06, 0.75), (x + 0.4, 0.75), ORANGE, 2.0)
    ax.text(0.3, 0.25, "6 = 1 + 5, 5 = 2 + 3, 3 = 3 + 0", fontsize=9.5, color=GREY, va="center")
    return Picture(
        figure,
        "Three steps with the rewards 1, 2, 3. Below each reward what is still to come: 6, 5, 3. A blue arrow leads"
        " from each reward down, an orange one from each sum to the one before it: 6 = 1 + 5, 5 = 2 + 3, 3 = 3 + 0.",
    )


@styled
def episode_as_text() -> Picture:
    """Draw returns, states and actions in turn, and what may be seen where an action is predicted."""
    figure = card(6.0, 3.1, "An episode as a text")
    ax = canvas(figure, 0, 0, 6.0, 3.1)
    names = [f"{kind}{step}" for step in range(3) for kind in "Rsa"]
    wide, left, top = 0.6, 0.3, 1.75
    cells(ax, left, top, [names], [[RETURN, STATE, ACTION] * 3], width=wide)
    cells(ax, left, top - 0.4, [[str(i) for i in range(9)]], [[PALE] * 9], width=wide, height=0.3)
    for step in range(3):
        x = left + wide * (3 * step + 1.5)
        arrow(ax, (x, top + 0.03), (x, top + 0.42), VERMILLION, 1.8)
        text = f"predicts a{step}"
        ax.text(x, top + 0.56, text, ha="center", va="center", fontsize=9.5, color=VERMILLION)
        ax.plot(
            [left + 3 * wide * step, left + 3 * wide * (step + 1) - 0.06],
            [0.95, 0.95],
            color=INK,
            linewidth=1.2,
        )
        ax.text(left + 3 * wide * (step + 0.5), 0.78, f"step {step}", ha="center", va="center", fontsize=9.5)
    ax.text(
        0.3,
        0.35,
        "R: return to go, s: state, a: action. Each token attends to itself and to the left.",
        fontsize=9.5,
        color=GREY,
        va="center",
    )
    return Picture(
        figure,
        "Nine tokens in a row: R0, s0, a0, R1, s1, a1, R2, s2, a2, with the positions 0 to 8; three of them make a "
        "step. Arrows go up from the states at positions 1, 4, 7: they predict a0, a1, a2.",
    )


@styled
def decision_flow() -> Picture:
    """Draw the path from returns, states and actions to logits of actions."""
    figure = card(6.0, 4.5, "A decision transformer")
    ax = canvas(figure, 0, 0, 6.0, 4.5)
    kinds = (
        ("returns", "(B, T)", "return_embedding", "Linear(1, d_model)", ORANGE),
        ("states", "(B, T, d_state)", "state_embedding", "Linear", BLUE),
        ("actions", "(B, T) ids", "action_embedding", "Embedding", GREEN),
    )
    for k, (name, shape, part, kind, colour) in enumerate(kinds):
        x = 1.1 + 1.9 * k
        box(ax, x, 3.65, name, shape, GREY, width=1.5)
        box(ax, x, 2.8, part, kind, colour, width=1.78)
        arrow(ax, (x, 3.34), (x, 3.12))
        arrow(ax, (x, 2.49), (x, 2.26))
    box(ax, 3.0, 1.95, "+ time_embedding, interleave", "(B, 3T, d_model)", PURPLE, width=5.5)
    box(ax, 1.3, 0.8, "layers", "causal, (B, 3T, d_model)", BLUE, width=2.0)
    box(ax, 3.35, 0.8, "the states", "1, 4, 7, ...", GREY, width=1.3)
    box(ax, 5.0, 0.8, "norm, head", "(B, T, n_actions)", ORANGE, width=1.45)
    arrow(ax, (1.3, 1.64), (1.3, 1.12))
    arrow(ax, (2.3, 0.8), (2.69, 0.8))
    arrow(ax, (4.0, 0.8), (4.27, 0.8))
    return Picture(
        figure,
        "Returns (B, T), states (B, T, d_state) and actions (B, T), each with its own embedding. They lead to one "
        "box: plus time_embedding, interleave, (B, 3T, d_model). Then layers under a causal mask, the states at "
        "positions 1, 4, 7, ..., norm and head: (B, T, n_actions).",
    )


@styled
def asking_loop() -> Picture:
    """Draw the loop that asks for a return: act, earn, and ask for that much less."""
    figure = card(6.0, 3.0, "Ask, act, earn, and ask for that much less")
    ax = canvas(figure, 0, 0, 6.0, 3.0)
    box(ax, 1.05, 1.5, "wanted", "100, 99, 98, ...", ORANGE, width=1.5)
    box(ax, 3.0, 1.5, "model", "R, s, a, R, s", BLUE, width=1.4)
    box(ax, 4.95, 1.5, "world", "CartPole", GREEN, width=1.4)
    arrow(ax, (1.8, 1.5), (2.29, 1.5))
    arrow(ax, (3.7, 1.5), (4.24, 1.5))
    ax.text(3.97, 1.66, "action", ha="center", fontsize=9.5, color=GREY)
    arrow(ax, (4.95, 1.18), (1.05, 1.18), ORANGE, 1.8, bend=-0.2)
    ax.text(3.0, 0.42, "reward 1: one less is wanted", ha="center", fontsize=9.5, color=GREY)
    arrow(ax, (4.95, 1.82), (3.0, 1.82), BLUE, 1.8, bend=0.3)
    ax.text(3.97, 2.2, "next state", ha="center", fontsize=9.5, color=GREY)
    return Picture(
        figure,
        "Three boxes: wanted, 100, then 99, 98; the model, which reads R, s, a, R, s; the world, CartPole. The "
        "model sends an action to the world, which sends back the next state to the model and a reward of 1, by "
        "which less is wanted.",
    )


@styled
def group_of_answers() -> Picture:
    """Draw four answers to one question, and how far each is from the mean of the group."""
    figure = card(6.0, 3.0, "An answer is measured by its group")
    charts = (("an easy question", (1, 1, 1, 0)), ("a hard question", (0, 0, 0, 1)))
    for k, (name, rewards) in enumerate(charts):
        ax = axes(figure, 0.35 + 2.85 * k, 0.5, 2.45, 1.6)
        mean = sum(rewards) / 4
        for i, reward in enumerate(rewards):
            colour = GREEN if reward > mean else VERMILLION
            ax.plot([i, i], [mean, reward], color=colour, linewidth=9, alpha=0.45, solid_capstyle="butt")
            ax.plot([i], [reward], "o", color=colour, markersize=9)
        ax.axhline(mean, color=INK, linewidth=1.4, linestyle="--")
        ax.text(3.25, mean + 0.03, f"mean {mean}", fontsize=8.5, va="bottom")
        ax.set(xlim=(-0.5, 4.5), ylim=(-0.2, 1.2), yticks=[0, 1])
        ax.set_xticks(range(4), ["a", "b", "c", "d"])
        ax.set_title(name, fontsize=10.5, color=INK, pad=6)
    return Picture(
        figure,
        "Two charts of four answers each, with the mean of the group as a dashed line. Easy question: three answers"
        " get 1, one gets 0, the mean is 0.75; the wrong answer is far below it, the right ones little above. Hard "
        "question: one gets 1, three get 0, the mean is 0.25; the right answer is far above.",
    )


@styled
def clipped_gain() -> Picture:
    """Draw the gain over the ratio, for a good and for a bad action."""
    figure = card(6.0, 3.25, "Where the gain is flat, nothing pulls")
    ratios = [k / 100 for k in range(40, 171)]
    for k, (name, advantage) in enumerate((("a good action, A = 1", 1), ("a bad action, A = \u22121", -1))):
        ax = axes(figure, 0.75 + 2.75 * k, 0.75, 2.15, 1.6)
        clipped = [min(max(r, 0.8), 1.2) * advantage for r in ratios]
        plain = [r * advantage for r in ratios]
        smaller = [min(pair) for pair in zip(clipped, plain, strict=True)]
        ax.plot(ratios, plain, ":", color=GREY, linewidth=1.4)
        ax.plot(ratios, smaller, color=(GREEN, VERMILLION)[k], linewidth=2.8)
        ax.axvline(1, color=INK, linewidth=0.8, alpha=0.5)
        ax.set(xlabel="ratio", ylabel="" if k else "gain", xticks=[0.8, 1.0, 1.2, 1.6])
        ax.set_title(name, fontsize=10.5, color=INK, pad=6)
        ax.grid(alpha=0.25, color=GREY)
    figure.text(0.6 / 6, 0.2 / 3.25, "dotted: without the bound", fontsize=9.5, color=GREY, va="center")
    return Picture(
        figure,
        "Two charts of the gain over the ratio. A good action, A = 1: the gain rises with the ratio up to 1.2 and "
        "is flat from there on. A bad action, A = -1: it is flat at -0.8 up to a ratio of 0.8, and falls from there"
        " on without a bound.",
    )


def pictures() -> dict[str, Picture]:
    """Return the pictures of the lesson, by name."""
    drawn = (rewards_to_come, episode_as_text, decision_flow, asking_loop, group_of_answers, clipped_gain)
    return {draw.__name__: draw() for draw in drawn}
