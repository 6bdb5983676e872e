"""Builds the reading edition. `write_sources` is the entry point; read the modules in this order:

lessons.py    a lesson as a notebook for readers: answers folded, hints step by step, stored outputs
card.py       the boxes around exercises and written questions
outputs.py    the stored outputs of a cell, as the book shows them
downloads.py  the wheel, and the exercise notebooks, which install it
overview.py   the grid of lesson cards, the contents, the sources
judged.py     how each exercise is judged: aspects, rules, inputs
mistakes.py   the mistakes that people make
html.py       a Sphinx extension for formulas and folded cells

The book's hand-written pages and its settings are in the folder `book`.
"""

from pathlib import Path

from autograder.build.lesson import ROOT, find_lessons


def write_sources(folder: Path, repository: str = "", branch: str = "main", root: Path = ROOT) -> list[Path]:
    """Write all generated sources of the book into `folder`, and return the paths of the texts among them.
    Files that are no longer generated are removed. A file whose text has not changed is left alone, so that a
    second build is quick.

    `repository` is the web address of the course, for the links to Colab and Binder. If it is empty, there
    are no such links.
    """
    from autograder.build.book.downloads import download_parts, write_card_picture
    from autograder.build.book.judged import judged_parts
    from autograder.build.book.lessons import lesson_text
    from autograder.build.book.mistakes import mistake_pages
    from autograder.build.book.overview import card_pictures, overview_parts

    lessons = find_lessons(None, root)
    texts = {f"lessons/{lesson.name}.ipynb": lesson_text(lesson, repository, branch) for lesson in lessons}
    texts |= overview_parts(lessons) | judged_parts(lessons) | mistake_pages(lessons)
    texts |= download_parts(lessons, repository, branch, root)
    pictures = {f"pictures/{path.stem}.png": path for path in card_pictures(lessons)}
    for old in folder.rglob("*.*"):
        if str(old.relative_to(folder)) not in texts | pictures:
            old.unlink()
    for name, picture in pictures.items():
        write_card_picture(picture, folder / name)
    for name, text in texts.items():
        _write(folder / name, text)
    return [folder / name for name in texts]


def _write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    if not path.is_file() or path.read_text(encoding="utf-8") != text:
        path.write_text(text, encoding="utf-8", newline="\n")
