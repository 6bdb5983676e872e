"""Prints a table of how well the judge does, one line per exercise: `python tests/table.py [PREFIX]`, where
PREFIX is the beginning of exercise ids.

The columns are: right answers accepted; known mistakes caught and named; other wrong answers caught and
named; mutants killed (of those that are not equivalent); and the median CPU time of a visible and of a hidden
check of the worked answer.
"""

import statistics
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).with_name("support")))

from answers import answers
from judged import (
    HIDDEN,
    IDS,
    PUBLIC,
    mistake_records,
    verdict,
    verdict_on,
    worked_answer,
    wrong_verdicts,
)
from survivors import is_listed, tried

from autograder.build.asked.answers import says_what_is_wrong
from autograder.exercises import find
from autograder.judge import cases_of, judge
from autograder.probe import probe

TIMES = 7
COLUMNS = ("exercise", "right", "caught", "named", "others", "named", "mutants", "visible", "hidden")
LAYOUT = "{:32}{:>8}{:>9}{:>9}{:>9}{:>9}{:>10}{:>10}{:>9}"


def share(part: int, whole: int) -> str:
    return f"{part}/{whole}"


def median_time(exercise_id: str, hidden: bool) -> str:
    """Return the median CPU time of a check of the worked answer, including the time to draw the cases and
    run the reference.
    """
    exercise, answer, times = find(exercise_id), worked_answer(exercise_id), []
    for seed in range(TIMES):
        start = time.process_time()
        cases = cases_of(exercise, str(seed), hidden)
        judge(exercise, cases, probe(answer, cases, exercise.procedure), hidden)
        times.append(time.process_time() - start)
    return f"{statistics.median(times):.2f} s"


def row(exercise_id: str) -> tuple[str, ...]:
    right, _ = answers(find(exercise_id))
    accepted = sum(all(verdict(exercise_id, a, c).passed for c in (PUBLIC, HIDDEN)) for a in right.values())
    mistakes = [(m, verdict_on(exercise_id, r)) for m, r in mistake_records(exercise_id)]
    others = wrong_verdicts(exercise_id).values()
    count, survivors = tried(exercise_id)
    unlisted = [what for what in survivors if not is_listed(exercise_id, what)]
    real = count - len(survivors) + len(unlisted)
    return (
        exercise_id,
        share(accepted, len(right)),
        share(sum(not v.passed for _, v in mistakes), len(mistakes)),
        share(sum(v.mistake == m.id for m, v in mistakes), len(mistakes)),
        share(sum(not v.passed for v in others), len(others)),
        share(sum(map(says_what_is_wrong, others)), len(others)),
        share(real - len(unlisted), real),
        median_time(exercise_id, False),
        median_time(exercise_id, True),
    )


def total(rows: list[tuple[str, ...]]) -> tuple[str, ...]:
    """Return the last row of the table, which adds up the shares of all rows."""
    columns = zip(*(one[1:7] for one in rows), strict=True)
    pairs = ([tuple(map(int, cell.split("/"))) for cell in column] for column in columns)
    sums = (share(sum(part for part, _ in column), sum(whole for _, whole in column)) for column in pairs)
    return ("all", *sums, "", "")


def main() -> None:
    print(LAYOUT.format(*COLUMNS))
    rows = []
    for exercise_id in IDS:
        if exercise_id.startswith(sys.argv[1] if len(sys.argv) > 1 else ""):
            rows.append(row(exercise_id))
            print(LAYOUT.format(*rows[-1]), flush=True)
    print(LAYOUT.format(*total(rows)))


if __name__ == "__main__":
    main()
