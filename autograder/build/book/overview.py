"""The grid of lesson cards on the first page, the contents, and the sources that the lessons cite."""

import re
from pathlib import Path

from autograder.build.lesson import Lesson, read_cells
from autograder.build.minutes import minutes_of
from autograder.build.pictures import FOLDER, PICTURE
from autograder.exercises import exercises_of, format_lesson

READ_MORE = "## Read more"
# The pictures on the cards of those lessons whose first picture is not the best choice.
CARD_PICTURES = {"05_multi_query_attention": "kv_sharing.svg", "06_decoder_layer": "decoder_flow.svg"}
SHOWN = re.compile(r":img-top: made/pictures/(.*)\.png")
ARTICLE = re.compile(r"^- (.*?)(?=^- |\Z)", flags=re.M | re.S)


def overview_parts(lessons: list[Lesson]) -> dict[str, str]:
    """Return the generated parts of the hand-written pages, keyed by file name."""
    return {
        "parts/contents.md": _contents(lessons),
        "parts/ladder.md": _ladder(lessons),
        "parts/cited.md": "\n".join(_cited(lesson) for lesson in lessons),
    }


def short_name(lesson: Lesson) -> str:
    """Return a lesson's name for readers: "3 Masking" for "03_masking", "5 Multi-query attention" for
    "05_multi_query_attention".
    """
    number, _, words = format_lesson(lesson.name).partition(" ")
    return f"{int(number)} {words[0].upper()}{words[1:]}"


def _contents(lessons: list[Lesson]) -> str:
    lines = [f"{short_name(lesson)} <made/lessons/{lesson.name}>" for lesson in lessons]
    return (
        "\n".join(["```{toctree}", ":caption: Lessons", ":maxdepth: 1", ":hidden:", "", *lines, "```"]) + "\n"
    )


def _ladder(lessons: list[Lesson]) -> str:
    cards = "\n".join(_card(lesson) for lesson in lessons)
    return f"::::{{grid}} 1 2 2 3\n:gutter: 3\n:class-container: ladder\n\n{cards}\n::::\n"


def card_pictures(lessons: list[Lesson]) -> list[Path]:
    """Return the paths of the pictures of which the cards show small copies."""
    names = SHOWN.findall(_ladder(lessons))
    return [lessons[0].images / f"{name}.png" for name in names]


def _card(lesson: Lesson) -> str:
    """Return the card of a lesson: its picture, its question, its exercises, and how long it takes."""
    exercises = exercises_of(lesson.name)
    cells = read_cells(lesson)
    text, minutes = "\n".join(cell.text for cell in cells if not cell.is_code), minutes_of(cells)
    built = ", ".join(f"`{exercise.name}`" for exercise in exercises)
    return "\n".join(
        [
            f":::{{grid-item-card}} {short_name(lesson)}",
            *_picture(text, CARD_PICTURES.get(lesson.name)),
            f":link: made/lessons/{lesson.name}",
            ":link-type: doc",
            "",
            text.partition("\n")[0].lstrip("# 0123456789"),
            "",
            "```{card-footer}",
            f"You build {built}. About {minutes} minutes.",
            "```",
            ":::",
        ]
    )


def _picture(text: str, wanted: str | None) -> list[str]:
    """Return the options with which a card shows a picture from a text, or an empty list if the text has
    none. The picture is the one called `wanted` or, if the text does not have it, the first one.
    """
    found = {match["path"].removeprefix(FOLDER): match for match in reversed(list(PICTURE.finditer(text)))}
    if not found:
        return []
    match = found.get(wanted) or list(found.values())[-1]
    name = Path(match["path"]).stem
    return [f":img-top: made/pictures/{name}.png", f":img-alt: {' '.join(match['alt'].split())}"]


def _cited(lesson: Lesson) -> str:
    """Return a heading with the lesson's name, and below it a list of the sources that the lesson names under
    "Read more".
    """
    text = "\n\n".join(cell.text for cell in read_cells(lesson) if not cell.is_code)
    items = ARTICLE.findall(text.partition(READ_MORE)[2].partition("\n\n**")[0])
    listed = "\n".join(f"- {item.strip()}" for item in items)
    return f"### {short_name(lesson)}\n\n{listed}\n"
