"""Computes, from the students' work in a lesson, what a report shows about it: counts, names, and known
mistakes.
"""

from collections import Counter, defaultdict
from dataclasses import dataclass, field
from functools import cache
from statistics import mean, median

from autograder.exercises import all_exercises, exercises_of
from autograder.grading.pages.report.data import Lesson, Work
from autograder.judge.formatting import shorten
from autograder.judge.general import GENERAL
from autograder.schema.mistake import Mistake
from autograder.verdict import DOES_NOT_RUN, NOT_STARTED, PARTLY_RIGHT, RIGHT, WRONG

STATES = (RIGHT, PARTLY_RIGHT, WRONG, DOES_NOT_RUN, NOT_STARTED)
MOST_ERRORS, LONGEST_ERROR = 5, 200  # of one student: more would bury everyone else's
STEPS, MOST_RANGES = (1, 2, 5, 10, 20, 50, 100, 200, 500, 1000), 12


@dataclass(frozen=True)
class Misconception:
    """A known mistake, with the submissions and the exercises in which it was found."""

    mistake: Mistake
    works: list[Work]
    exercises: list[str]


@dataclass(frozen=True)
class Question:
    """One graded cell. For an exercise, `states` counts how often each state occurs, and `aspects` maps each
    aspect to the mean share of its points that was earned. For a written question both are empty.
    """

    name: str
    max_points: float
    mean: float | None  # over the answers that are graded
    states: Counter = field(default_factory=Counter)
    aspects: dict[str, float] = field(default_factory=dict)
    by_hand: list[Work] = field(default_factory=list)


def totals(lesson: Lesson) -> list[float]:
    """Return the total points of each graded submission."""
    return [work.row.total for work in lesson.works if not work.row.ungraded]


def scores(lesson: Lesson) -> dict:
    """Return numbers that describe the distribution of points, and how many submissions still have an answer
    to be graded by hand.
    """
    graded = totals(lesson)
    some = graded or [0.0]
    waiting = sum(work.row.waits for work in lesson.works)
    return {
        "count": len(graded),
        "mean": mean(some),
        "median": median(some),
        "least": min(some),
        "most": max(some),
        "out_of": sum(lesson.max_points.values()),
        "waiting": waiting,
    }


def distribution(lesson: Lesson) -> list[tuple[float, float, int]]:
    """Return (least points, most points, number of students) for each range of points."""
    out_of = sum(lesson.max_points.values())
    step = next((step for step in STEPS if out_of / step <= MOST_RANGES), STEPS[-1])
    last = int(out_of // step)
    counts = Counter(min(int(total // step), last) for total in totals(lesson))
    return [(place * step, min((place + 1) * step - 1, out_of), counts[place]) for place in range(last + 1)]


def questions(lesson: Lesson) -> list[Question]:
    """Return every graded cell of the lesson, in order."""
    ids = {exercise.name: exercise.id for exercise in exercises_of(lesson.name)}
    return [_question(lesson, name, ids.get(name)) for name in lesson.max_points]


def _question(lesson: Lesson, name: str, exercise_id: str | None) -> Question:
    earned = [points for work in lesson.works if (points := work.row.points.get(name)) is not None]
    verdicts = [v for work in lesson.works if (v := work.result.verdicts.get(exercise_id or ""))]
    shares = defaultdict(list)
    for verdict in verdicts:
        for aspect in verdict.aspects:
            shares[aspect.name].append(aspect.points / aspect.max_points)
    return Question(
        name,
        lesson.max_points[name],
        mean(earned) if earned else None,
        Counter(verdict.state for verdict in verdicts),
        {aspect: mean(values) for aspect, values in shares.items()},
        [work for work in lesson.works if work.row.waits and work.row.points.get(name, 0.0) is None],
    )


def misconceptions(lesson: Lesson) -> list[Misconception]:
    """Return the known mistakes that were found, the most frequent first. For each mistake, a student is
    counted only once.
    """
    works: dict[str, dict] = defaultdict(dict)
    exercises: dict[str, dict] = defaultdict(dict)
    for work in lesson.works:
        for exercise_id, verdict in work.result.verdicts.items():
            # Two mistakes at once are named as "A+B".
            for mistake in (verdict.mistake or "").split("+"):
                if mistake in _known_mistakes():
                    works[mistake][work.student] = work
                    exercises[mistake][exercise_id.partition(".")[2]] = True
    order = sorted(works, key=lambda mistake: (-len(works[mistake]), mistake))
    return [Misconception(_known_mistakes()[m], list(works[m].values()), list(exercises[m])) for m in order]


@cache
def _known_mistakes() -> dict[str, Mistake]:
    known = [*GENERAL, *(mistake for exercise in all_exercises() for mistake in exercise.mistakes)]
    return {mistake.id: mistake for mistake in known}


def unnamed(lesson: Lesson) -> list[tuple[str, list[tuple[list[str], list[Work]]]]]:
    """Return the wrong and partly right answers without a known mistake, grouped by exercise and then by the
    first line of their message.
    """
    found = defaultdict(list)
    for work in lesson.works:
        for exercise_id, verdict in work.result.verdicts.items():
            if verdict.state in (WRONG, PARTLY_RIGHT) and not verdict.mistake:
                found[exercise_id.partition(".")[2]].append((work, verdict.message.split("\n")[:1]))
    most_first = sorted(found.items(), key=lambda item: -len(item[1]))
    return [(exercise, by_reason(told)) for exercise, told in most_first]


def only_hidden(lesson: Lesson) -> list[tuple[Work, str]]:
    """Return (work, exercise) for each answer that earned more points on the visible cases than on the hidden
    cases.
    """
    return [
        (work, exercise_id.partition(".")[2])
        for work in lesson.works
        for exercise_id, verdict in work.result.verdicts.items()
        if verdict.hidden
    ]


def failures(lesson: Lesson) -> list[tuple[list[str], list[Work]]]:
    """Return the submissions whose code did not run, grouped by reason. Submissions that could not be graded,
    through no fault of the student, are left out.
    """
    told = [(work, _failures(work)) for work in lesson.works if not work.outcome.again]
    return by_reason([(work, lines) for work, lines in told if lines])


def _failures(work: Work) -> list[str]:
    lines = [work.outcome.problem] if work.outcome.problem else []
    errors = [f"a cell stopped with {error}" for error in dict.fromkeys(work.errors)]
    lines += [shorten(error, LONGEST_ERROR) for error in errors[:MOST_ERRORS]]
    if len(errors) > MOST_ERRORS:
        lines.append(f"and {len(errors) - MOST_ERRORS} more errors")
    for exercise_id, verdict in work.result.verdicts.items():
        if verdict.state == DOES_NOT_RUN:
            first = (verdict.message or "does not run").split("\n")[0]
            # "There is no softmax: a cell stopped with ..." says nothing new after the cell's own line.
            if not any(first.endswith(line) for line in (*lines, *errors)):
                lines.append(f"{exercise_id.partition('.')[2]}: {first}")
    return lines


def by_reason(told: list[tuple[Work, list[str]]]) -> list[tuple[list[str], list[Work]]]:
    """Group submissions by reason, and return the groups, the largest first."""
    works = defaultdict(list)
    for work, lines in told:
        works[tuple(lines)].append(work)
    return sorted(((list(lines), found) for lines, found in works.items()), key=lambda item: -len(item[1]))


def times(lesson: Lesson) -> dict:
    """Return how many seconds the runs took (total, median, and by part), and the slowest three runs. For a
    stored result, the time of its original run is counted.
    """
    runs = sorted(((sum(w.result.seconds.values()), w) for w in lesson.works), key=lambda run: -run[0])
    parts: Counter[str] = Counter()
    for work in lesson.works:
        parts.update(work.result.seconds)
    seconds = [taken for taken, _ in runs if taken]
    return {
        "total": sum(seconds),
        "median": median(seconds) if seconds else 0.0,
        "parts": dict(parts),
        "slowest": [run for run in runs[:3] if run[0]],
    }
