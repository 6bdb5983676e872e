"""Writes the generated parts of pages: the README's table of lessons and its badges, and CONTRIBUTING's table
of rules.
"""

from pathlib import Path

from autograder.build.minutes import minutes_of
from autograder.build.repository import badges, colab_badge, repository

LESSONS = ("<!-- lessons: written by `make build` -->", "<!-- end of lessons -->")
RULES = ("<!-- rules: written by `make build` -->", "<!-- end of rules -->")
BADGES = ("<!-- badges: written by `make build` -->", "<!-- end of badges -->")


def readme_with_lessons(readme: str, root: Path) -> str:
    """Return the README's text with its table of lessons and its badges up to date."""
    return _between(_between(readme, LESSONS, _table(root)), BADGES, badges(repository(root)))


def contributing_with_rules(contributing: str, root: Path) -> str:
    """Return the text of CONTRIBUTING with its table of rules for exercises and lessons up to date."""
    from autograder.build.asked.table import table_of_rules

    return _between(contributing, RULES, table_of_rules())


PAGES = {"README.md": readme_with_lessons, "CONTRIBUTING.md": contributing_with_rules}


def _between(text: str, marks: tuple[str, str], inside: str) -> str:
    """Return the text with the lines between two marks replaced by `inside`. Return it unchanged if the marks
    are not in the text.
    """
    begin, end = marks
    before, found, rest = text.partition(begin)
    if not found:
        return text
    return f"{before}{begin}\n{inside}{inside and chr(10)}{end}{rest.partition(end)[2]}"


def _table(root: Path) -> str:
    from autograder.build.lesson import find_lessons, read_cells
    from autograder.exercises import exercises_of, format_lesson

    address = repository(root)
    rows = ["| lesson | you build | points | minutes | difficulty |", "|---|---|--:|--:|---|"]
    for lesson in find_lessons(None, root):
        name, exercises = lesson.name, exercises_of(lesson.name)
        title = f"[{format_lesson(name)}](notebooks/{name}.ipynb) ([worked](solutions/{name}.ipynb))"
        title += f" {badge}" if (badge := colab_badge(address, f"notebooks/{name}.ipynb")) else ""
        built = ", ".join(f"`{exercise.name}`" for exercise in exercises)
        points = sum(exercise.points for exercise in exercises)
        hardest = max((exercise.difficulty for exercise in exercises), default=0)
        rows.append(f"| {title} | {built} | {points} | {minutes_of(read_cells(lesson))} | {'●' * hardest} |")
    return (
        "\n".join(rows) + "\n\nThe points are those of the exercises; the minutes include reading the lesson."
    )
