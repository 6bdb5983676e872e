"""The visible checks of an exercise as recorded data: `autograder.exercises.recorded` reads them.

Every wrong answer that the judge compares a student's with is put to the probe here, once, and only what came out
of it is kept. Gradients of wrong answers are kept in short (autograder.judge.sketch), which is all that is compared
of them; those of the reference whole.
"""

import json
from dataclasses import asdict, fields
from pathlib import Path

from autograder.exercises import find
from autograder.exercises.exercise import Case, Exercise
from autograder.exercises.store import Writer
from autograder.judge import Expected, cases_of
from autograder.judge.sketch import sketch

PLAIN = ("id", "lesson", "minutes", "difficulty", "aspects", "hints", "shapes", "procedure")


def write_exercises(folder: Path, exercises: list[Exercise]) -> None:
    """The exercises' points, hints, rules and words, in the order of the course."""
    told = [{name: getattr(exercise, name) for name in PLAIN} | _words(exercise) for exercise in exercises]
    text = json.dumps(told, ensure_ascii=False, indent=1)
    (folder / "exercises.json").write_text(text + "\n", encoding="utf-8")


def _words(exercise: Exercise) -> dict:
    return {
        "names": exercise.parameters,
        "rules": asdict(exercise.rules),
        "mistakes": [{"id": one.id, "sees": one.sees, "asks": one.asks} for one in exercise.mistakes],
        "clues": [asdict(one) for one in exercise.clues],
        "invariants": [asdict(one) for one in exercise.invariants],
    }


def write_alone(folder: Path, exercise_id: str) -> None:
    """The visible cases with what is due, and what each known mistake gives."""
    expected, writer = _expected(exercise_id), Writer()
    mistakes = [_run(writer, *expected.mistake(number)) for number in range(len(expected.exercise.mistakes))]
    right = [_record(writer, record) for record in expected.right]
    told = {"cases": [_as_fields(case) for case in expected.cases], "right": right, "mistakes": mistakes}
    writer.write(folder / f"{exercise_id}.safetensors", told)


def write_pairs(folder: Path, exercise_id: str) -> None:
    """What every two known mistakes made at once give."""
    expected, writer = _expected(exercise_id), Writer()
    runs = [_run(writer, *expected.pair(*pair)) for pair in expected.pairs]
    writer.write(folder / f"{exercise_id}.pairs.safetensors", {"pairs": expected.pairs, "runs": runs})


def _expected(exercise_id: str) -> Expected:
    exercise = find(exercise_id)
    return Expected(exercise, cases_of(exercise))


def _run(writer: Writer, records: list[dict], wrong: set[int]) -> dict:
    return {"records": [_record(writer, _in_short(record)) for record in records], "wrong": sorted(wrong)}


def _record(writer: Writer, record: dict) -> int:
    steps = {name: writer.part(step) for name, step in record["steps"].items()}
    return writer.part(record | {"steps": steps})


def _in_short(record: dict) -> dict:
    steps = {name: sketch(step) if name == "gradients" else step for name, step in record["steps"].items()}
    return record | {"steps": steps}


def _as_fields(case: Case) -> dict:
    return {field.name: getattr(case, field.name) for field in fields(case)}
