"""The README's table of lessons, made from the exercises, and its badges."""

from pathlib import Path

from autograder.build.minutes import minutes_of
from autograder.build.repository import badges, repository

LESSONS = ("<!-- lessons: written by `make build` -->", "<!-- end of lessons -->")
BADGES = ("<!-- badges: written by `make build` -->", "<!-- end of badges -->")


def readme_with_lessons(readme: str, root: Path) -> str:
    """The README's text with its table of lessons and its badges as they should be."""
    return _between(_between(readme, LESSONS, _table(root)), BADGES, badges(repository(root)))


def _between(text: str, marks: tuple[str, str], inside: str) -> str:
    """The text with other lines between two marks; without the marks, as it is."""
    begin, end = marks
    before, found, rest = text.partition(begin)
    if not found:
        return text
    return f"{before}{begin}\n{inside}{inside and chr(10)}{end}{rest.partition(end)[2]}"


def _table(root: Path) -> str:
    from autograder.exercises import exercises_of, lessons

    rows = ["| lesson | you build | points | minutes | difficulty |", "|---|---|--:|--:|---|"]
    for lesson in lessons():
        exercises = exercises_of(lesson)
        built = ", ".join(f"`{exercise.name}`" for exercise in exercises)
        points = sum(exercise.points for exercise in exercises)
        minutes = _minutes(lesson, root)
        hardest = max(exercise.difficulty for exercise in exercises)
        rows.append(f"| {_title(lesson, root)} | {built} | {points} | {minutes} | {'●' * hardest} |")
    return "\n".join(rows) + "\n\nPoints of the exercises; minutes of the whole lesson, reading included."


def _minutes(lesson: str, root: Path) -> int:
    from autograder.build.lesson import Lesson, read_cells
    from autograder.exercises import exercises_of

    if not (root / "solutions" / f"{lesson}.py").exists():
        return sum(exercise.minutes for exercise in exercises_of(lesson))
    return minutes_of(read_cells(Lesson(lesson, root)))


def _title(lesson: str, root: Path) -> str:
    from autograder.exercises import format_lesson

    name = format_lesson(lesson)
    if (root / "solutions" / f"{lesson}.py").exists():
        return f"[{name}](notebooks/{lesson}.ipynb) ([worked](solutions/{lesson}.ipynb))"
    return f"{name} (exercises ready, text to come)"
