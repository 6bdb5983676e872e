"""Draws every picture of the lessons that is not made in a lesson's own cell.

    python images/make_images.py             draw all but the measured ones
    python images/make_images.py --timing    measure and draw those too (they differ from run to run)
    python images/make_images.py --check     name what is stale, exit 1 if anything is

images/TOPIC.py holds the drawings of one lesson, and is found automatically: its `pictures()` maps a name to a
picture. The measured ones are those of the lessons' `timing: NN_name` cells; each is the variable `name` of
its lesson.

Each picture is written twice: NAME.svg for print and the README, NAME.png for notebooks (JupyterLab shows
no SVG attachments). The SVG is compared byte for byte; the PNG carries the SVG's hash.
"""

import argparse
import hashlib
import runpy
import sys
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path

from autograder.build.lesson import Lesson, find_lessons, read_cells
from autograder.notebook.figures import Picture

IMAGES = Path(__file__).resolve().parent
TOOLS = ("drawing", "make_images", "make_screenshot")  # the scripts here that belong to no single lesson


def pictures() -> dict[str, Picture]:
    """Return the pictures of all lessons, by name."""
    scripts = sorted(path.stem for path in IMAGES.glob("*.py") if path.stem not in TOOLS)
    return {name: picture for topic in scripts for name, picture in import_module(topic).pictures().items()}


def measured() -> dict[str, Lesson]:
    """Map the name of each measured picture to the lesson that measures it."""
    lessons = find_lessons(None)
    return {cell.name: lesson for lesson in lessons for cell in read_cells(lesson) if cell.kind == "timing"}


def measure(name: str, lesson: Lesson) -> Picture:
    """Run the lesson, and return the picture of what it measured."""
    return runpy.run_path(str(lesson.source))[name.partition("_")[2]]


def digest(svg: str) -> str:
    return hashlib.sha256(svg.encode()).hexdigest()


def write(name: str, picture: Picture) -> None:
    svg = picture.svg()
    (IMAGES / f"{name}.svg").write_text(svg)
    (IMAGES / f"{name}.png").write_bytes(picture.png(source=digest(svg)))


def stale() -> Iterator[str]:
    """Yield the names of files that are not what this script would draw now."""
    for name, picture in pictures().items():
        svg, png = IMAGES / f"{name}.svg", IMAGES / f"{name}.png"
        expected = picture.svg()
        if not svg.is_file() or svg.read_text() != expected:
            yield svg.name
        if not png.is_file() or digest(expected).encode() not in png.read_bytes():
            yield png.name
    for name in measured():
        if not (IMAGES / f"{name}.png").is_file():
            yield f"{name}.png"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--check", action="store_true", help="name what is stale instead of drawing")
    parser.add_argument("--timing", action="store_true", help="measure and draw the timing pictures too")
    options = parser.parse_args()
    if options.check:
        names = list(stale())
        for name in names:
            print(f"stale: images/{name}")
        return 1 if names else 0
    for name, picture in pictures().items():
        write(name, picture)
    if options.timing:
        for name, lesson in measured().items():
            (IMAGES / f"{name}.png").write_bytes(measure(name, lesson).png())
    return 0


if __name__ == "__main__":
    sys.exit(main())
