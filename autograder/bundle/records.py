"""Writes the visible checks of an exercise as recorded data, which `autograder.schema.recorded` reads.

Every known mistake, with which the judge compares a student's answer, is run here once, and only the records
of these runs are stored. The gradients of mistakes are stored as sketches (autograder.judge.sketch), because
only sketches are compared; the reference's gradients are stored in full.
"""

import json
from collections.abc import Iterable
from dataclasses import asdict
from pathlib import Path
from typing import Any

from autograder.exercises import find
from autograder.judge import Expected, cases_of
from autograder.judge.sketch import sketch
from autograder.schema.case import SPECS
from autograder.schema.exercise import Exercise
from autograder.values import Record
from autograder.values.store import Writer

PLAIN = ("id", "lesson", "minutes", "difficulty", "aspects", "hints", "shapes", "procedure")
WORDS = ("id", "observation", "question")


def write_exercises(folder: Path, exercises: Iterable[Exercise]) -> None:
    """Write the exercises' points, hints, rules and messages, in the order of the course."""
    rows = [{name: getattr(exercise, name) for name in PLAIN} | _further(exercise) for exercise in exercises]
    text = json.dumps(rows, ensure_ascii=False, indent=1)
    (folder / "exercises.json").write_text(text + "\n", encoding="utf-8")


def _further(exercise: Exercise) -> dict[str, Any]:
    return {
        "names": exercise.parameters,
        "rules": asdict(exercise.rules),
        "mistakes": [{name: getattr(mistake, name) for name in WORDS} for mistake in exercise.mistakes],
        "needs": exercise.needs,
        "invariants": [asdict(one) for one in exercise.invariants],
    }


def write_exercise(folder: Path, exercise_id: str) -> None:
    """Run the visible check of an exercise, and write its file into the folder."""
    exercise = find(exercise_id)
    write_expected(folder / f"{exercise_id}.safetensors", Expected(exercise, cases_of(exercise)))


def write_expected(file: Path, expected: Expected) -> None:
    """Write a file with the visible cases, the expected records, and the records of each known mistake."""
    writer = Writer(SPECS)
    mistakes = [_run(writer, *expected.run(number)) for number in range(len(expected.exercise.mistakes))]
    right = [_record(writer, record) for record in expected.right]
    cases = [dict(vars(case)) for case in expected.cases]
    value = {"cases": cases, "right": right, "mistakes": mistakes}
    writer.write(file, value)


def _run(writer: Writer, records: list[Record], wrong: set[int]) -> dict[str, list[int]]:
    return {"records": [_record(writer, _with_sketch(record)) for record in records], "wrong": sorted(wrong)}


def _record(writer: Writer, record: Record) -> int:
    steps = {name: writer.part(step) for name, step in record["steps"].items()}
    return writer.part(record | {"steps": steps})


def _with_sketch(record: Record) -> Record:
    steps = {name: sketch(step) if name == "gradients" else step for name, step in record["steps"].items()}
    return record | {"steps": steps}
