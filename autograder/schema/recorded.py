"""Exercises as recorded data, for the checks that students of a graded course run.

The folder `autograder/exercises/recorded` exists in the student bundle only (`python -m autograder bundle`
writes it, see autograder.bundle.records) and replaces the exercises:

    exercises.json          the exercises: points, hints, rules, and the words of each mistake
    ID.safetensors          the visible cases, the expected results, and the results of each known mistake

The folder contains neither answers nor the code of mistakes, only inputs, outputs and a tutor's words.
"""

import json
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from autograder.errors import UserError
from autograder.schema.case import SPECS, Case
from autograder.schema.draw import PUBLIC_SEED, Draw
from autograder.schema.exercise import Exercise, Invariant, Rules
from autograder.schema.mistake import Mistake
from autograder.values.store import Stored


@dataclass(frozen=True)
class Recorded:
    """The recorded data of one exercise, read from its file on demand."""

    folder: Path
    id: str

    @cached_property
    def file(self) -> Stored:
        """Cases, expected results, and the results of each mistake."""
        return Stored(self.folder / f"{self.id}.safetensors", SPECS)

    def cases(self, draw: Draw) -> list[Case]:
        """Return the visible cases. Raises UserError if `draw` is for other cases, which are not recorded."""
        if draw.hidden or draw.seed != PUBLIC_SEED:
            raise UserError("only the visible cases are recorded here; others need the course's repository.")
        return [Case(**fields) for fields in self.file.value["cases"]]


@dataclass(frozen=True)
class RecordedExercise(Exercise):
    """An exercise with the `records` of its reference and its mistakes instead of their code."""

    records: Recorded | None = None
    names: tuple[str, ...] = field(default=())

    def drawn(self, draw: Draw) -> list[Case]:
        """Return the recorded cases. Nothing is drawn or derived."""
        return list(self.cases(draw))

    @property
    def parameters(self) -> tuple[str, ...]:
        return self.names


def read(folder: Path) -> tuple[RecordedExercise, ...]:
    """Return every recorded exercise, in the order of the course."""
    exercises = json.loads((folder / "exercises.json").read_text(encoding="utf-8"))
    return tuple(_exercise(folder, fields) for fields in exercises)


def _exercise(folder: Path, fields: dict[str, Any]) -> RecordedExercise:
    records = Recorded(folder, fields["id"])
    objects: dict[str, Any] = {
        "mistakes": tuple(Mistake(**mistake, title="") for mistake in fields["mistakes"]),
        "invariants": tuple(Invariant(**_with_tuples(one)) for one in fields["invariants"]),
        "needs": {need: tuple(words) for need, words in fields["needs"].items()},
        "rules": Rules(**_with_tuples(fields["rules"])),
    }
    missing: dict[str, Any] = {"reference": None, "cases": records.cases, "records": records}
    return RecordedExercise(**_with_tuples(fields) | objects | missing)


def _with_tuples(fields: dict[str, Any]) -> dict[str, Any]:
    return {name: tuple(value) if isinstance(value, list) else value for name, value in fields.items()}
