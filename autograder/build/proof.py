"""Proves the exercises of an instructor's own lessons, as the tests prove those of the course: right answers pass,
wrong ones do not, and every mistake is told by its own words."""

import runpy
from collections.abc import Callable, Iterator
from pathlib import Path

from autograder.exercises import all_exercises
from autograder.judge import Expected, cases_of, judge
from autograder.schema.exercise import Exercise
from autograder.schema.mistake import edited

IMPORTS = "import math\nimport torch\nimport torch.nn.functional as F\nfrom torch import nn\n"


def faults_in(folder: Path) -> list[str]:
    """What is wrong with the exercises in the folder, a sentence each."""
    topics = {path.name for path in (folder / "exercises").iterdir()}
    return [line for one in all_exercises() if one.topic in topics for line in _faults(one, folder)]


def _faults(exercise: Exercise, folder: Path) -> Iterator[str]:
    cases = cases_of(exercise)
    expected = Expected(exercise, cases)
    for number, mistake in enumerate(exercise.mistakes):
        verdict = judge(exercise, cases, expected.run(number)[0], expected=expected)
        if verdict.passed:
            yield f'{exercise.id}: the mistake "{mistake.title}" passes; a case is missing that shows it.'
        elif verdict.mistake != mistake.id:
            yield f'{exercise.id}: the mistake "{mistake.title}" is told as another: {verdict.message.splitlines()[0]}'
    file = folder / "answers" / exercise.topic / f"{exercise.name}.py"
    known = runpy.run_path(str(file)) if file.is_file() else {}
    for kind, passes in (("RIGHT", True), ("WRONG", False)):
        for name, given in known.get(kind, {}).items():
            verdict = judge(exercise, cases, expected.records_of(_answer(exercise, given)), expected=expected)
            if verdict.passed != passes:
                yield f'{exercise.id}: the answer "{name}" of {kind} is {verdict.state}. {verdict.message}'


def _answer(exercise: Exercise, given: dict | str | Callable) -> Callable:
    """An answer that is given as edits of the worked one, as text, or as itself."""
    if isinstance(given, dict):
        assert exercise.worked is not None, "they are edits of it"
        return edited(exercise.worked, given)
    if isinstance(given, str):
        names: dict = {}
        exec(compile(IMPORTS + given, "<answer>", "exec"), names)
        return names[exercise.name]
    return given
