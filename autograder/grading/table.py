"""The grades, read from the gradebook and set as a table."""

from dataclasses import dataclass

from autograder.grading.submission import Submission, last_outcome

BY_HAND = "?"


@dataclass(frozen=True)
class Row:
    """One submission's grades. `points` is None where an answer is to be graded by hand."""

    student: str
    lesson: str
    points: dict[str, float | None]
    max_points: dict[str, float]
    problem: str = ""

    @property
    def total(self) -> float:
        return sum(points or 0.0 for points in self.points.values())

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
            "needs_grading_by_hand": any(points is None for points in self.points.values()),
        }


def read_rows(api, submissions: list[Submission]) -> list[Row]:
    """The rows of these submissions, as the gradebook has them."""
    rows = []
    with api.gradebook as gradebook:
        for submission in submissions:
            notebook = gradebook.find_submission_notebook(
                submission.lesson, submission.lesson, submission.student
            )
            order = {cell.name: number for number, cell in enumerate(notebook.notebook.source_cells)}
            grades = sorted(notebook.grades, key=lambda grade: order[grade.name])
            outcome = last_outcome(submission)
            rows.append(
                Row(
                    submission.student,
                    submission.lesson,
                    {_short(grade.name): _points(grade) for grade in grades},
                    {_short(grade.name): grade.max_score for grade in grades},
                    outcome.problem if outcome else "not graded yet",
                )
            )
    return rows


def table(rows: list[Row]) -> str:
    """One table for each lesson."""
    lessons = dict.fromkeys(row.lesson for row in rows)
    return "\n\n".join(_lesson_table(name, [row for row in rows if row.lesson == name]) for name in lessons)


def _lesson_table(lesson: str, rows: list[Row]) -> str:
    best = rows[0].max_points
    heads = [_broken(name) for name in ["student", *best, "total", "state"]]
    body = [["out of", *map(_number, best.values()), _number(sum(best.values())), ""]]
    body += [[row.student, *map(_number, row.points.values()), _number(row.total), row.state] for row in rows]
    widths = [max(map(len, [*head, *(line[column] for line in body)])) for column, head in enumerate(heads)]
    height = max(map(len, heads))
    lines = [
        [head[number - height] if number >= height - len(head) else "" for head in heads]
        for number in range(height)
    ]
    rule = "-" * (sum(widths[:-1]) + 2 * (len(widths) - 1) + len("graded"))  # longer words stand out
    text = [_line(line, widths) for line in [*lines, body[0]]] + [rule]
    text += [_line(line, widths) for line in body[1:]]
    return "\n".join([lesson, "", *text, rule, _summary(rows)])


def _summary(rows: list[Row]) -> str:
    mean, best = sum(row.total for row in rows) / len(rows), sum(rows[0].max_points.values())
    text = f"{len(rows)} submission{'s'[: len(rows) > 1]}, on average {mean:.1f} of {best:g} points"
    waiting = any(points is None for row in rows for points in row.points.values())
    return text + (f"; {BY_HAND} = to be graded by hand in formgrader" if waiting else "")


def _line(cells: list[str], widths: list[int]) -> str:
    first, *middle, last = zip(cells, widths)
    columns = [first[0].ljust(first[1]), *(cell.rjust(width) for cell, width in middle), last[0]]
    return "  ".join(columns).rstrip()


def _broken(name: str) -> list[str]:
    """A long name over several lines, so that columns stay narrow."""
    return name.split("_")


def _number(points: float | None) -> str:
    return BY_HAND if points is None else f"{points:g}"


def _points(grade) -> float | None:
    waiting = grade.needs_manual_grade and grade.manual_score is None and grade.auto_score is None
    return None if waiting else grade.score


def _short(grade_id: str) -> str:
    """`check-loops-softmax` and `loops-why_scale` as `softmax` and `why_scale`."""
    return grade_id.removeprefix("check-").partition("-")[2]
