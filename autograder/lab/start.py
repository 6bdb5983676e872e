"""The start page of a learner's folder: what is done, what comes next, and how many minutes of exercises are
left."""

from pathlib import Path
from urllib.parse import quote

from autograder.files import write_whole
from autograder.notebook.progress import parts_of_folder
from autograder.notebook.standing import Part, next_of
from autograder.verdict import NOT_STARTED, RIGHT, as_written

NAME = "start.md"


def write_start_page(folder: Path) -> bool:
    """Write the start page for the current state of the notebooks in a folder, and return whether any
    exercise has been begun.
    """
    parts = parts_of_folder(folder / "notebooks")
    write_whole(folder / NAME, text_of(parts))
    return any(standing.state != NOT_STARTED for part in parts for standing in part.standings)


def text_of(parts: list[Part]) -> str:
    """Return the start page in Markdown, with a link to each notebook."""
    found = next_of(parts)
    comes = f"Next: `{found[1].exercise.name}` in {_link(found[0])}." if found else "Everything is done."
    rows = "\n".join(f"| {_sign(part)} | {_link(part)} | {_points(part)} | {_left(part)} |" for part in parts)
    return (
        f"# Attention by Hand\n\n**{comes}** {sum(map(_left, parts))} minutes of exercises are left.\n\n"
        f"| | lesson | points | minutes left |\n|---|---|--:|--:|\n{rows}\n\n"
        "✓ done, ◐ begun, ○ not begun, as of when you opened JupyterLab. "
        "In a notebook, `progress()` shows the current state.\n"
    )


def _sign(part: Part) -> str:
    states = {standing.state for standing in part.standings}
    return "✓" if states == {RIGHT} else "○" if states == {NOT_STARTED} else "◐"


def _points(part: Part) -> str:
    return f"{as_written(part.points)} of {as_written(part.max_points)}"


def _left(part: Part) -> int:
    return sum(standing.exercise.minutes for standing in part.standings if standing.state != RIGHT)


def _link(part: Part) -> str:
    return f"[{part.title}](notebooks/{quote(part.notebook)})" if part.notebook else part.title
