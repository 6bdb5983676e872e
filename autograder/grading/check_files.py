"""Judging answers in files, for `python -m autograder check`."""

import ast
import json
import os
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from autograder.grading.questions import Questions, error_in
from autograder.grading.sandbox import why_no_sandbox
from autograder.grading.session import USUAL, Allowance, Ended, Session, again_with_care
from autograder.grading.template import Template

SKIPPED_TITLES = ("timing:", "explore")


@dataclass(frozen=True)
class Unreadable:
    """A file that could not be judged, and why, in one sentence."""

    reason: str


def check_files(
    exercise_id: str,
    files: list[str],
    seed: str | None = None,
    hidden: bool = False,
    allowance: Allowance = USUAL,
    template: Template | None = None,
) -> Iterator:
    """A Verdict or an Unreadable for each file, in their order. Each runs in a process of its own, in a sandbox
    where the machine can have one. `template` is one that is warming up already.

    Raises UserError for an unknown exercise.
    """
    with template or Template() as template:
        questions = Questions(exercise_id, hidden=hidden, **({} if seed is None else {"seed": seed}))
        readable = {file: reason for file in files if (reason := _why_unreadable(file)) is not None}
        count = max(1, min(os.cpu_count() or 1, len(files) - len(readable)))
        open_session = partial(Session, template, sandboxed=not why_no_sandbox(), allowance=allowance)
        template.wait_until_warm()
        with ThreadPoolExecutor(count) as pool:
            waiting = [
                None if file in readable else pool.submit(_verdict, open_session, questions, file)
                for file in files
            ]
            for file, verdict in zip(files, waiting, strict=True):
                yield Unreadable(readable[file]) if verdict is None else verdict.result()


def _verdict(open_session, questions, file):
    from autograder.judge import unable_to_run

    def run(alone):
        with open_session() as session:
            stopped = _load(session, Path(file))
            return questions.put_to(session, alone, stopped)

    try:
        return again_with_care(run)
    except Ended as ended:
        return unable_to_run(questions.exercise, f"Your code could not be judged: {ended}.")


def _load(session: Session, file: Path) -> dict | None:
    """Runs the file; the error that stopped a .py file, or the first one of a notebook's cells.

    A notebook's cells run in order, and one that fails does not stop the next. Checks, timings and explorers are
    left out.
    """
    text = file.read_text(encoding="utf-8")
    if file.suffix == ".py":
        return session.module(text, file.name)
    first = None
    for cell in json.loads(text)["cells"]:
        if cell.get("cell_type") == "code" and not _is_skipped(cell.get("metadata", {})):
            error = error_in(session.cell("".join(cell.get("source", ""))))
            first = first or error
    return first


def _is_skipped(metadata: dict) -> bool:
    grading = metadata.get("nbgrader", {})
    title = metadata.get("title", "")
    return bool(grading.get("grade") and not grading.get("solution")) or title.startswith(SKIPPED_TITLES)


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
