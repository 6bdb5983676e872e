"""The contents of a gradebook, read from its database."""

import sqlite3
from pathlib import Path
from typing import NamedTuple


class Score(NamedTuple):
    """The score of one cell of one submission."""

    student: str
    cell: str
    auto: float | None
    manual: float | None
    needs_manual: bool
    comment: str | None
    timestamp: str | None
    penalty: float | None


def scores_in(folder: Path) -> list[Score]:
    """Return the scores of all cells of all submissions in the gradebook, sorted by student and cell."""
    with sqlite3.connect(folder / "gradebook.db") as database:
        rows = database.execute("""
            select student.id, base_cell.name, auto_score, manual_score, needs_manual_grade, comment.auto_comment,
                   timestamp, late_submission_penalty
            from submitted_notebook
            join submitted_assignment on submitted_assignment.id = submitted_notebook.assignment_id
            join student on student.id = submitted_assignment.student_id
            join grade on grade.notebook_id = submitted_notebook.id
            join base_cell on base_cell.id = grade.cell_id
            left join comment on comment.notebook_id = submitted_notebook.id and comment.cell_id = base_cell.id
            order by 1, 2""").fetchall()
    return [Score(*row) for row in rows]
