"""Formats progress as a card in a notebook and as plain text elsewhere. The card's text keeps the page's own
colour, so that it is readable on light and dark pages.
"""

from html import escape
from urllib.parse import quote

from autograder.notebook.card import COLOURS
from autograder.notebook.show import NOTE_COLOUR, show
from autograder.notebook.standing import NOT_CHECKED, Part, Standing, next_of
from autograder.verdict import DOES_NOT_RUN, NOT_STARTED, PARTLY_RIGHT, RIGHT, WRONG, as_written

WORDS = {
    RIGHT: "done",
    PARTLY_RIGHT: "partly done",
    WRONG: "tried",
    DOES_NOT_RUN: "tried",
    NOT_CHECKED: "not checked",
    NOT_STARTED: "not started",
}
SIGNS = {"done": "✓", "partly done": "◐", "tried": "◔", "not checked": "◌", "not started": "○"}
VERBS = {
    "partly done": "finish",
    "tried": "go on with",
    "not checked": "run the check of",
    "not started": "begin",
}


def show_progress(parts: list[Part]) -> None:
    """Display the learner's progress as a card in a notebook; print it as text elsewhere."""
    show(html_of(parts), text_of(parts))


def text_of(parts: list[Part]) -> str:
    """Return the progress as text: the points, what to do next, each open lesson (see `_is_open`) with its
    exercises (see `_shown`), and the titles of the lessons not begun.
    """
    lines = [_headline(parts), next_in_words(parts)]
    for part in parts:
        if _is_open(part, parts):
            lines += ["", f"{part.title}: {_points(part)}"]
            lines += [f"  {part.note}"] if part.note else []
            lines += [_line(standing) for standing in _shown(part, parts)]
    closed = [part for part in parts if not _is_open(part, parts)]
    return "\n".join([*lines, *([""] if closed else []), *(f"{part.title}: not begun" for part in closed)])


def next_in_words(parts: list[Part]) -> str:
    """Return one line that says what to do next."""
    return "".join(_next(parts))


def html_of(parts: list[Part]) -> str:
    """Return the progress as a card, which is shorter than the text of `text_of`: the exercises of a lesson
    are in one row, and lessons that are not begun are folded away.
    """
    before, place, after = _next(parts)
    link = f'<a href="{quote(place)}">{escape(place)}</a>' if place else ""
    colour = NOTE_COLOUR if next_of(parts) else COLOURS[RIGHT]
    return (
        f'<div style="border-left: 4px solid {colour}; padding: 4px 12px; margin: 4px 0">'
        f"<strong>{escape(_headline(parts))}</strong>{_bar(parts)}"
        f"<div><strong>{escape(before)}{link}{escape(after)}</strong></div>"
        f"{''.join(_row(part, parts) for part in parts if _is_open(part, parts))}{_legend(parts)}{_closed(parts)}</div>"
    )


def _is_open(part: Part, parts: list[Part]) -> bool:
    """Return whether to show a lesson in detail, that is, whether it has been begun, has a note, or comes
    next.
    """
    found = next_of(parts)
    is_next = found is not None and found[0] is part
    return is_next or bool(part.note) or any(one.state != NOT_STARTED for one in part.standings)


def _shown(part: Part, parts: list[Part]) -> tuple[Standing, ...]:
    """Return the exercises to list under a lesson: none if the lesson is done and there are other lessons,
    else all of them.
    """
    is_done = all(one.state == RIGHT for one in part.standings)
    return () if is_done and len(parts) > 1 else part.standings


def _closed(parts: list[Part]) -> str:
    titles = [part.title for part in parts if not _is_open(part, parts)]
    if not titles:
        return ""
    rows = "".join(f"<div>{escape(title)}</div>" for title in titles)
    count = f"{len(titles)} lesson{'s' if len(titles) > 1 else ''}"
    return f'<details style="margin-top: 8px"><summary>{count} not begun</summary>{rows}</details>'


def _headline(parts: list[Part]) -> str:
    standings = [standing for part in parts for standing in part.standings]
    done = sum(standing.state == RIGHT for standing in standings)
    points, most = sum(part.points for part in parts), sum(part.max_points for part in parts)
    return f"Progress: {_share(points, most)} points, {done} of {len(standings)} exercises done"


def _points(part: Part) -> str:
    return f"{_share(part.points, part.max_points)} points"


def _share(points: float, most: float) -> str:
    return f"{as_written(points)} of {as_written(most)}"


def _line(standing: Standing) -> str:
    word = WORDS[standing.state]
    points = _share(standing.points, standing.exercise.points)
    return f"  {SIGNS[word]} {standing.exercise.name:30} {word:11} {points:>8}"


def _next(parts: list[Part]) -> tuple[str, str, str]:
    """Return what to do next as three texts: the words before the notebook's name, the name, and the words
    after it. If there is no notebook to open, the name is empty.
    """
    found = next_of(parts)
    if found is None:
        return "All done: every exercise here is right.", "", ""
    part, standing = found
    exercise, word = standing.exercise, WORDS[standing.state]
    before, after = f"Next: {VERBS[word]} {exercise.name}", "."
    if word != "not checked":
        before += f" (about {exercise.minutes} minutes)"
        after = f'. hint("{exercise.id}") helps.'
    return (
        (before + " in ", part.notebook, after) if part.notebook else (f"{before} in {part.title}", "", after)
    )


def _bar(parts: list[Part]) -> str:
    share = sum(part.points for part in parts) / sum(part.max_points for part in parts)
    return (
        '<div aria-hidden="true" style="border: 1px solid currentColor; border-radius: 4px; height: 8px; '
        'max-width: 360px; margin: 6px 0; overflow: hidden">'
        f'<div style="background: {NOTE_COLOUR}; height: 100%; width: {100 * share:.0f}%"></div></div>'
    )


def _row(part: Part, parts: list[Part]) -> str:
    note = f"<div>{escape(part.note)}</div>" if part.note else ""
    entries = "".join(map(_entry, _shown(part, parts)))
    return (
        f'<div style="margin-top: 8px"><strong>{escape(part.title)}</strong>: {_points(part)}</div>{note}'
        f'<div style="display: flex; flex-wrap: wrap; gap: 0 18px">{entries}</div>'
    )


def _entry(standing: Standing) -> str:
    word = WORDS[standing.state]
    name = f'<span style="font-family: monospace">{escape(standing.exercise.name)}</span>'
    points = f" {_share(standing.points, standing.exercise.points)}" if word == "partly done" else ""
    return f"<span>{_sign(word)} {name}{points}</span>"


def _sign(word: str) -> str:
    return f'<span role="img" aria-label="{word}" title="{word}">{SIGNS[word]}</span>'


def _legend(parts: list[Part]) -> str:
    there = {WORDS[standing.state] for part in parts for standing in part.standings}
    entries = [f"<span>{sign} {word}</span>" for word, sign in SIGNS.items() if word in there]
    return f'<div aria-hidden="true" style="margin-top: 4px; font-size: 90%">{" &nbsp; ".join(entries)}</div>'


def as_data(part: Part) -> dict:
    """Return the data about a lesson that the command line prints with --json."""
    found = next_of([part])
    return {
        "notebook": part.notebook,
        "points": part.points,
        "max_points": part.max_points,
        "note": part.note,
        "next": found[1].exercise.id if found else None,
        "exercises": [
            {
                "exercise": standing.exercise.id,
                "state": standing.state,
                "points": standing.points,
                "max_points": standing.exercise.points,
                "minutes": standing.exercise.minutes,
            }
            for standing in part.standings
        ],
    }
