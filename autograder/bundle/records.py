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


def write_records(folder: Path, exercise_id: str) -> None:
    """The visible cases with what is due, and what the known mistakes give, one at a time and two at once."""
    exercise = find(exercise_id)
    cases = cases_of(exercise)
    expected = Expected(exercise, cases)
    _write_alone(folder / f"{exercise.id}.safetensors", expected)
    _write_pairs(folder / f"{exercise.id}.pairs.safetensors", expected)


def _write_alone(path: Path, expected: Expected) -> None:
    writer, cases = Writer(), range(len(expected.cases))
    mistakes = []
    for number in range(len(expected.exercise.mistakes)):
        run = _run(writer, *expected.mistake(number))
        alone = [_record(writer, _in_short(expected.alone(number, case))) for case in cases]
        mistakes.append(run | {"alone": alone})
    right = [_record(writer, record) for record in expected.right]
    writer.write(path, {"cases": [_as_fields(case) for case in expected.cases], "right": right, "mistakes": mistakes})


def _write_pairs(path: Path, expected: Expected) -> None:
    writer, cases = Writer(), range(len(expected.cases))
    runs = []
    for pair in expected.pairs:
        run = _run(writer, *expected.pair(*pair))
        runs.append(run | {"outputs": [_record(writer, expected.output_of_both(*pair, case)) for case in cases]})
    writer.write(path, {"pairs": expected.pairs, "runs": runs})


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
