"""The pictures of a class report, in the style of the lessons' figures. Numbers in, a Picture out."""

from collections import Counter
from textwrap import wrap

from autograder.grading.pages.report.summary import STATES, Question
from autograder.judge.verdict import DOES_NOT_RUN, NOT_STARTED, PARTLY_RIGHT, RIGHT, WRONG
from autograder.notebook.figures import style
from autograder.notebook.figures.style import Picture, axes, card, styled

WIDTH = 8.2
ROW = 0.34
COLOURS = {
    RIGHT: style.GREEN,
    PARTLY_RIGHT: style.ORANGE,
    WRONG: style.VERMILLION,
    DOES_NOT_RUN: style.PURPLE,
    NOT_STARTED: "#D1D5DB",
}
ON_COLOUR = "#000000"  # stands out from each of the colours, 4.5 to 1 and more
MOST_BARS = 20


@styled
def distribution(totals: list[float], out_of: float) -> Picture:
    """A bar for each range of points: the number of students in it."""
    step = next((s for s in (1, 2, 5, 10, 20, 50, 100, 200, 500) if out_of / s <= MOST_BARS), 1000)
    counts = Counter(min(int(total // step), int(out_of // step)) for total in totals)
    bars = range(int(out_of // step) + 1)
    figure = card(WIDTH, 2.9)
    ax = axes(figure, 0.75, 0.75, WIDTH - 1.1, 1.85)
    drawn = ax.bar([b * step for b in bars], [counts[b] for b in bars], step * 0.86, color=style.BLUE, align="edge")
    ax.bar_label(drawn, [counts[b] or "" for b in bars], fontsize=9, color=style.INK, padding=2)
    ax.set_xlabel(f"points of {out_of:g}" if step == 1 else f"points of {out_of:g}, in steps of {step}")
    ax.set_ylabel("students")
    ax.set_xlim(-0.2 * step, (bars[-1] + 1.1) * step)
    ax.set_ylim(0, 1.18 * max(counts.values(), default=1))
    ax.locator_params(axis="y", integer=True)
    spoken = "; ".join(f"{_span(bar, step, out_of)}: {counts[bar]}" for bar in bars if counts[bar])
    return Picture(figure, f"How many students have how many points of {out_of:g}. {spoken}.")


def _span(bar: int, step: int, out_of: float) -> str:
    least, most = bar * step, min((bar + 1) * step - 1, out_of)
    return f"{least:g}" if least == most else f"{least:g} to {most:g}"


@styled
def states(questions: list[Question]) -> Picture:
    """For each exercise, how many answers are right, partly right, wrong, do not run, are not started."""
    figure = card(WIDTH, ROW * len(questions) + 1.35)
    ax = axes(figure, 2.75, 0.65, WIDTH - 3.1, ROW * len(questions))
    rows = range(len(questions))
    left = [0] * len(questions)
    for state in STATES:
        counts = [question.states[state] for question in questions]
        drawn = ax.barh(rows, counts, 0.72, left, color=COLOURS[state], label=state)
        ax.bar_label(drawn, [n or "" for n in counts], label_type="center", fontsize=8.5, color=ON_COLOUR)
        left = [start + count for start, count in zip(left, counts)]
    _named(ax, questions)
    ax.set_xlim(0, max([1, *left]))
    ax.locator_params(axis="x", integer=True)
    ax.set_xlabel("students")
    place: dict = {"loc": "upper right", "bbox_to_anchor": (1 - 0.2 / WIDTH, 1 - 0.12 / figure.get_size_inches()[1])}
    figure.legend(ncol=len(STATES), frameon=False, fontsize=9, handlelength=1.0, columnspacing=1.2, **place)
    told = {q.name: ", ".join(f"{q.states[s]} {s}" for s in STATES if q.states[s]) for q in questions}
    return Picture(figure, f"How the answers to each exercise came out. {_spoken(told)}")


def _named(ax, questions: list[Question]) -> None:
    """One row for each exercise, the first one on top."""
    ax.set_yticks(range(len(questions)), [question.name for question in questions], fontsize=9.5)
    ax.set_ylim(len(questions) - 0.5, -0.5)
    ax.tick_params(axis="y", length=0)


def _spoken(told: dict[str, str]) -> str:
    return " ".join(f"{name}: {words}." for name, words in told.items())


@styled
def aspects(questions: list[Question]) -> Picture:
    """The mean share of the points of every aspect of every exercise."""
    names = list(dict.fromkeys(name for question in questions for name in question.aspects))
    heads = ["\n".join(wrap(name, 10 if len(names) > 5 else 14)) for name in names]
    figure = card(WIDTH, ROW * len(questions) + 0.75 + 0.16 * max(head.count("\n") + 1 for head in heads))
    ax = axes(figure, 2.75, 0.3, WIDTH - 3.1, ROW * len(questions))
    for row, question in enumerate(questions):
        for name, share in question.aspects.items():
            _cell(ax, row, names.index(name), share)
    ax.set_xlim(-0.5, len(names) - 0.5)
    _named(ax, questions)
    ax.xaxis.tick_top()
    ax.set_xticks(range(len(names)), heads, fontsize=9 if len(names) <= 5 else 8)
    ax.tick_params(length=0)
    for side in ax.spines.values():
        side.set_visible(False)
    told = {q.name: ", ".join(f"{name} {100 * share:.0f}" for name, share in q.aspects.items()) for q in questions}
    return Picture(figure, f"The share of the points for each aspect, in percent. {_spoken(told)}")


def _cell(ax, row: int, column: int, share: float) -> None:
    from matplotlib.patches import Rectangle

    colour = style.SEQUENTIAL(0.85 * share)
    ax.add_patch(
        Rectangle((column - 0.48, row - 0.45), 0.96, 0.9, facecolor=colour, edgecolor=style.GREY, linewidth=0.4)
    )
    ax.text(column, row, f"{100 * share:.0f} %", ha="center", va="center", fontsize=9, color=ink_on(share))


def ink_on(share: float) -> str:
    """The colour of a number that can be read on the cell of this share."""
    return "#FFFFFF" if share > 0.83 else ON_COLOUR
