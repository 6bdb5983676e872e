"""Judging answers in files, for `python -m autograder check`."""

import ast
import json
import os
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass
from queue import SimpleQueue

from autograder.grading.worker import Template, warm_up


@dataclass(frozen=True)
class Unreadable:
    """A file that could not be judged, and why, in one sentence."""

    reason: str


def check_files(
    exercise_id: str, files: list[str], seed: str | None = None, hidden: bool = False
) -> Iterator:
    """A Verdict or an Unreadable for each file, in their order.

    Raises UserError for an unknown exercise.
    """
    readable = {file: reason for file in files if (reason := _why_unreadable(file)) is not None}
    count = max(1, min(os.cpu_count() or 1, len(files) - len(readable)))
    with ExitStack() as stack:
        # subtle: torch is imported once, here; then the templates are forked, and only then are the exercises
        # imported, so that no answer's process inherits a reference or a mistake.
        warm_up(notebooks=any(file.endswith(".ipynb") for file in files))
        templates = SimpleQueue()
        for _ in range(count):
            templates.put(stack.enter_context(Template()))
        task = _Task(exercise_id, seed, hidden, templates)
        with ThreadPoolExecutor(count) as pool:
            answers = [None if file in readable else pool.submit(task.run, file) for file in files]
            for file, answer in zip(files, answers, strict=True):
                yield Unreadable(readable[file]) if answer is None else task.verdict(*answer.result())


class _Task:
    """One exercise's cases, put to many files."""

    def __init__(self, exercise_id, seed, hidden, templates):
        from autograder.exercises import find
        from autograder.exercises.values import PUBLIC_SEED
        from autograder.judge import Expected, cases_of
        from autograder.probe.wire import pack_cases

        self.exercise, self.hidden, self.templates = find(exercise_id), hidden, templates
        self.cases = cases_of(self.exercise, PUBLIC_SEED if seed is None else seed, hidden)
        self.message = pack_cases(self.cases)
        self.expected = Expected(self.exercise, self.cases)

    def run(self, file):
        template = self.templates.get()
        try:
            return template.run(
                os.path.abspath(file), self.exercise.name, self.exercise.procedure, self.message
            )
        finally:
            self.templates.put(template)

    def verdict(self, ending: str, data: bytes):
        from autograder.judge import judge, not_started, unable_to_run
        from autograder.probe.wire import BadMessage, unpack

        if ending == "out of time":
            return unable_to_run(self.exercise, "The file was still running after a minute, and was stopped.")
        if ending != "done":
            return unable_to_run(
                self.exercise,
                "Your code ended the Python process before it could be "
                f"judged ({ending}).\nDoes it call exit, or use up all memory?",
            )
        try:
            answer = unpack(data)
            if answer["callable"]:
                return judge(self.exercise, self.cases, answer["records"], self.hidden, self.expected)
            return not_started(self.exercise, self._why_missing(answer))
        except (BadMessage, LookupError, TypeError, ValueError, AttributeError, RuntimeError):
            # Honest code cannot get here: the records are not what the probe writes.
            return unable_to_run(self.exercise, "What came back from your code could not be read.")

    def _why_missing(self, answer) -> str:
        name, error = self.exercise.name, answer["error"]
        if answer["found"]:
            return f"{name} is a {answer['kind']}, not something that can be called."
        if error is None:
            return f"There is no {name} in the file."
        line = f" in line {error['line']}" if error.get("line") else ""
        return f"There is no {name}: the file stopped{line} with {error['type']}: {error['text']}"


def _why_unreadable(file: str) -> str | None:
    """One sentence where a file cannot be judged at all, else None."""
    if not os.path.exists(file):
        return "there is no such file."
    if not os.path.isfile(file):
        return "this is not a file."
    if not file.endswith((".py", ".ipynb")):
        return "only .py and .ipynb files can be judged."
    try:
        with open(file, encoding="utf-8") as opened:
            text = opened.read()
    except OSError as error:
        return f"it cannot be read ({error.strerror})."
    except UnicodeDecodeError:
        return "it is not a text file (UTF-8)."
    return _why_not_python(text) if file.endswith(".py") else _why_not_notebook(text)


def _why_not_python(text: str) -> str | None:
    try:
        ast.parse(text)
    except SyntaxError as error:
        return f"it is not valid Python: {error.msg} (line {error.lineno})."
    except (ValueError, RecursionError, MemoryError):
        return "it is not valid Python."
    return None


def _why_not_notebook(text: str) -> str | None:
    try:
        cells = json.loads(text)["cells"]
        if all(isinstance(cell, dict) for cell in cells):
            return None
    except (ValueError, KeyError, TypeError, RecursionError):
        pass
    return "it is not a notebook (nbformat 4)."
