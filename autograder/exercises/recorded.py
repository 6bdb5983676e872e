"""Exercises as recorded data: what the checks of a student of a graded course know.

The folder `recorded` beside this file is there in the student bundle alone (`python -m autograder bundle` writes it,
see autograder.bundle.records), and then it stands in the place of the modules of the lessons:

    exercises.json          the exercises: points, hints, rules, and the words for each mistake
    ID.safetensors          the visible cases, what is due, and what each known mistake gives
    ID.pairs.safetensors    what every two mistakes made at once give

No answer is in it, and no code of a mistake: numbers that went in and came out, and a tutor's words.
"""

import json
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

from autograder.errors import UserError
from autograder.exercises.exercise import Case, Clue, Exercise, Invariant, Mistake, Rules
from autograder.exercises.store import Stored
from autograder.exercises.values import PUBLIC_SEED, Values


@dataclass(frozen=True)
class Recorded:
    """The files of one exercise, read when asked for."""

    folder: Path
    id: str

    @cached_property
    def alone(self) -> Stored:
        """Cases, what is due, and each mistake on its own."""
        return Stored(self.folder / f"{self.id}.safetensors")

    @cached_property
    def pairs(self) -> Stored:
        """Two mistakes at once."""
        return Stored(self.folder / f"{self.id}.pairs.safetensors")

    def cases(self, values: Values) -> list[Case]:
        """The visible cases. Raises UserError where others are asked for: they are not recorded."""
        if values.hidden or values.seed != PUBLIC_SEED:
            raise UserError("only the visible cases are recorded here; others need the course's repository.")
        return [Case(**fields) for fields in self.alone.value["cases"]]


@dataclass(frozen=True)
class RecordedExercise(Exercise):
    """An exercise without its reference and its mistakes' answers; `records` is what they gave."""

    records: Recorded | None = None
    names: tuple[str, ...] = field(default=())

    @property
    def parameters(self) -> tuple[str, ...]:
        return self.names


def read(folder: Path) -> tuple[RecordedExercise, ...]:
    """Every recorded exercise, in the order of the course."""
    told = json.loads((folder / "exercises.json").read_text(encoding="utf-8"))
    return tuple(_exercise(folder, one) for one in told)


def _exercise(folder: Path, told: dict) -> RecordedExercise:
    records = Recorded(folder, told["id"])
    words = {
        "mistakes": tuple(Mistake(**one, title="", answer=None) for one in told.pop("mistakes")),
        "clues": tuple(Clue(**_with_tuples(one)) for one in told.pop("clues")),
        "invariants": tuple(Invariant(**_with_tuples(one)) for one in told.pop("invariants")),
        "rules": Rules(**_with_tuples(told.pop("rules"))),
    }
    nothing = {"reference": None, "variant": None, "cases": records.cases, "records": records}
    return RecordedExercise(**_with_tuples(told), **words, **nothing)


def _with_tuples(fields: dict) -> dict:
    return {name: tuple(value) if isinstance(value, list) else value for name, value in fields.items()}
