"""Reads the grades from the gradebook, and shows them as a table."""

from dataclasses import dataclass
from typing import Any

from nbgrader.api import Gradebook, MissingEntry
from nbgrader.apps.api import NbGraderAPI

from autograder.exercises import ids
from autograder.grading.gradebook.outcomes import Outcome, last_outcome
from autograder.grading.submission.find import Submission
from autograder.printable import printable

BY_HAND = "?"


@dataclass(frozen=True)
class Row:
    """One submission's grades. Points are None for an answer that must be graded by hand, and for all answers
    if nothing was graded. `ungraded` means that the submission could not be graded, through no fault of the
    student; the points are then those of an earlier submission, if there was one.
    """

    student: str
    lesson: str
    points: dict[str, float | None]
    max_points: dict[str, float]
    problem: str = ""
    ungraded: bool = False

    @property
    def total(self) -> float:
        return sum(points or 0.0 for points in self.points.values())

    @property
    def waits(self) -> bool:
        """True if an answer must still be graded by hand."""
        return not self.ungraded and None in self.points.values()

    @property
    def state(self) -> str:
        if self.problem:
            return self.problem
        waiting = sum(points is None for points in self.points.values())
        return f"{waiting} answer{'s'[: waiting > 1]} to grade by hand" if waiting else "graded"

    def as_json(self) -> dict:
        return {
            "student": self.student,
            "lesson": self.lesson,
            "points": self.points,
            "total": self.total,
            "max_points": sum(self.max_points.values()),
            "problem": self.problem or None,
            "graded": not self.ungraded,
            "needs_grading_by_hand": self.waits,
        }


def read_rows(api: NbGraderAPI, submissions: list[Submission]) -> list[Row]:
    """Read the rows of these submissions from the gradebook."""
    with api.gradebook as gradebook:
        return [_row(gradebook, submission, last_outcome(submission)) for submission in submissions]


def _row(gradebook: Gradebook, submission: Submission, outcome: Outcome | None) -> Row:
    lesson, student = submission.lesson, submission.student
    problem = _problem(outcome) if outcome else "not graded yet"
    try:
        notebook = gradebook.find_submission_notebook(lesson, lesson, student)
    except MissingEntry:
        if not (outcome and outcome.again):
            raise
        cells = gradebook.find_notebook(lesson, lesson)
        best = {short_name(cell.name): cell.max_score for cell in _in_order(cells.grade_cells, cells)}
        return Row(student, lesson, dict.fromkeys(best), best, problem, ungraded=True)
    grades = _in_order(notebook.grades, notebook.notebook)
    points = {short_name(grade.name): points_of(grade) for grade in grades}
    best = {short_name(grade.name): grade.max_score for grade in grades}
    return Row(student, lesson, points, best, problem, ungraded=bool(outcome and outcome.again))


def _problem(outcome: Outcome) -> str:
    return "; ".join(filter(None, [outcome.problem, outcome.time_note]))


def _in_order(graded: list, notebook: Any) -> list:
    """Return grades or grade cells in the order of the notebook's cells."""
    order = {cell.name: number for number, cell in enumerate(notebook.source_cells)}
    return sorted(graded, key=lambda one: order[one.name])


def table(rows: list[Row]) -> str:
    """Return the grades as text, with one table for each lesson."""
    lessons = dict.fromkeys(row.lesson for row in rows)
    return "\n\n".join(_lesson_table(name, [row for row in rows if row.lesson == name]) for name in lessons)


def _lesson_table(lesson: str, rows: list[Row]) -> str:
    best = rows[0].max_points
    # A long name is broken into several lines, so that columns stay narrow.
    heads = [printable(name).split("_") for name in ["student", *best, "total", "state"]]
    body = [["out of", *map(as_number, best.values()), as_number(sum(best.values())), ""]]
    body += [
        [
            printable(row.student),
            *map(as_number, row.points.values()),
            as_number(row.total),
            printable(row.state),
        ]
        for row in rows
    ]
    widths = [max(map(len, [*head, *(line[column] for line in body)])) for column, head in enumerate(heads)]
    height = max(map(len, heads))
    lines = [
        [head[number - height] if number >= height - len(head) else "" for head in heads]
        for number in range(height)
    ]
    rule = "-" * (
        sum(widths[:-1]) + 2 * (len(widths) - 1) + len("graded")
    )  # a longer state runs beyond the rule
    above, below = ([_line(line, widths) for line in part] for part in ([*lines, body[0]], body[1:]))
    return "\n".join([printable(lesson), "", *above, rule, *below, rule, _summary(rows)])


def _summary(rows: list[Row]) -> str:
    totals, best = [row.total for row in rows if not row.ungraded], sum(rows[0].max_points.values())
    text = f"{len(rows)} submission{'s'[: len(rows) > 1]}"
    text += f", on average {sum(totals) / len(totals):.1f} of {best:g} points" if totals else ""
    text += f"; {missing} not graded" if (missing := len(rows) - len(totals)) else ""
    return text + (
        f"; {BY_HAND} = to be graded by hand in formgrader" if any(row.waits for row in rows) else ""
    )


def _line(cells: list[str], widths: list[int]) -> str:
    columns = [cell.rjust(width) for cell, width in zip(cells, widths)]
    columns[0], columns[-1] = cells[0].ljust(widths[0]), cells[-1]
    return "  ".join(columns).rstrip()


def as_number(points: float | None) -> str:
    """Return points with at most two decimals, or BY_HAND if they are None."""
    return BY_HAND if points is None else f"{points:.2f}".rstrip("0").rstrip(".")


def points_of(grade: Any) -> float | None:
    """Return the points of a grade, or None if it must be graded by hand."""
    waits = grade.needs_manual_grade and grade.manual_score is None and grade.auto_score is None
    return None if waits else grade.score


def short_name(grade_id: str) -> str:
    """Return the short name of an exercise or question of the course: `softmax` for the grade id
    `check-loops-softmax`, `why_scale` for `loops-why_scale`. A grade id that a teacher made is returned
    unchanged.
    """
    exercise_id = grade_id.removeprefix("check-").replace("-", ".", 1)
    topic, _, name = exercise_id.partition(".")
    known = ids()
    if grade_id.startswith("check-"):
        return name if exercise_id in known else grade_id
    return name if name and any(one.startswith(f"{topic}.") for one in known) else grade_id
