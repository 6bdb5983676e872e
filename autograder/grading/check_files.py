"""Judges answers in files, without a course, for `python -m autograder check`."""

import ast
import json
import os
import re
import traceback
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from autograder.errors import OUR_ERROR, place_of
from autograder.grading.judging.questions import Questions, Stopped, stopped_cell, stopped_file
from autograder.grading.sandbox.sandbox import why_no_sandbox
from autograder.grading.submission.suspicious_code import suspicious_names
from autograder.grading.worker.allowance import USUAL, Allowance
from autograder.grading.worker.fork_server import ForkServer, ForkServerDied
from autograder.grading.worker.session import Ended, Session, retry_isolated
from autograder.judge import Verdict, unable_to_run
from autograder.schema.exercise import Exercise, Rules

SKIPPED_TITLES = ("timing:", "explore")


@dataclass(frozen=True)
class NotJudged:
    """A file that could not be judged. `reason` is one sentence; `trace` is the traceback if the autograder
    is at fault.
    """

    reason: str
    trace: str = ""


def check_files(
    exercise_id: str,
    files: list[str],
    seed: str | None = None,
    hidden: bool = False,
    allowance: Allowance = USUAL,
    server: ForkServer | None = None,
    why: bool = False,
) -> Iterator[Verdict | NotJudged]:
    """Yield the result for each file, in order. Each file runs in a separate process, in a sandbox if this
    machine can make one. (If it cannot, `python -m autograder check` prints a warning.) `server` is a fork
    server that is already warming up. With `why`, each message ends with an explanation of how it was chosen.

    Raises UserError for an unknown exercise.
    """
    with server or ForkServer() as server:
        questions = Questions(exercise_id, hidden=hidden, **({} if seed is None else {"seed": seed}))
        sources = [_read(file) for file in files]
        count = max(1, min(os.cpu_count() or 1, sum(isinstance(source, list) for source in sources)))
        new_session = partial(Session, server, sandboxed=not why_no_sandbox(), allowance=allowance)
        server.wait_until_warm()
        with ThreadPoolExecutor(count) as pool:
            check = partial(_check, new_session, questions, why)
            waiting = [
                pool.submit(check, os.path.basename(file), source) if isinstance(source, list) else source
                for file, source in zip(files, sources, strict=True)
            ]
            for one in waiting:
                yield one if isinstance(one, NotJudged) else one.result()


def _read(file: str) -> list[str] | NotJudged:
    """Return a list with the text of a Python file, or with the sources of a notebook's code cells (see
    `_cells`). Return NotJudged if the file is neither, is not valid, or cannot be read.
    """
    if not os.path.isfile(file):
        return NotJudged("this is not a file." if os.path.exists(file) else "there is no such file.")
    if not file.endswith((".py", ".ipynb")):
        return NotJudged("only .py and .ipynb files can be judged.")
    try:
        text = Path(file).read_text(encoding="utf-8-sig")
        if file.endswith(".ipynb"):
            return _cells(text)
        ast.parse(text)
        return [text]
    except OSError as error:
        return NotJudged(f"it cannot be read ({error.strerror}).")
    except UnicodeDecodeError:
        return NotJudged("it is not a text file (UTF-8).")
    except SyntaxError as error:
        return NotJudged(f"it is not valid Python: {error.msg} (line {error.lineno}).")
    except (ValueError, RecursionError, MemoryError):
        return NotJudged("it is not valid Python.")


def _cells(text: str) -> list[str] | NotJudged:
    """Return the sources of a notebook's code cells, except check cells and cells for timing or exploring
    (see SKIPPED_TITLES). Return NotJudged if the text is not a notebook.
    """
    try:
        cells = [cell for cell in json.loads(text)["cells"] if isinstance(cell, dict)]
        code = [cell for cell in cells if cell.get("cell_type") == "code"]
        return [
            "".join(cell.get("source") or "") for cell in code if not _is_skipped(cell.get("metadata", {}))
        ]
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return NotJudged("it is not a notebook (nbformat 4).")


def _is_skipped(metadata: dict) -> bool:
    grading = metadata.get("nbgrader", {})
    is_check = grading.get("grade") and not grading.get("solution")
    return bool(is_check) or metadata.get("title", "").startswith(SKIPPED_TITLES)


def _check(
    new_session: Callable[[], Session], questions: Questions, why: bool, name: str, cells: list[str]
) -> Verdict | NotJudged:
    def run(isolated: bool) -> Verdict:
        with new_session() as session:
            stopped = _load(session, name, cells)
            trail: list[str] = []
            verdict = questions.verdict(questions.ask(session, isolated), stopped, trail=trail)
            if why and trail:
                verdict = replace(
                    verdict, message="\n".join([verdict.message, "", "Why this message:", *trail])
                )
            return _with_warning(verdict, questions.exercise, cells)

    try:
        return retry_isolated(run)
    except Ended as ended:
        return unable_to_run(questions.exercise, f"Your code could not be judged: {ended}.")
    except (OSError, ForkServerDied):
        raise
    except Exception as error:  # our error: report it, and judge the next file
        return NotJudged(
            f"this is {OUR_ERROR} ({place_of(error)}), not of the answer.", traceback.format_exc()
        )


def _load(session: Session, name: str, cells: list[str]) -> Stopped | None:
    """Run the file in the session. Return the error that stopped a .py file, the first error in a notebook's
    cells, or None if there was no error.

    A notebook's cells run in order, and a cell that fails does not stop those after it.
    """
    if name.endswith(".py"):
        return stopped_file(session.module(cells[0], name))
    errors = [stopped_cell(session.cell(cell)) for cell in cells]
    return next(filter(None, errors), None)


def _with_warning(verdict: Verdict, exercise: Exercise, cells: list[str]) -> Verdict:
    """Return the verdict. If the exercise has rules of form (such as "no loops") and the answer earned
    points, append to the verdict's message a line about any suspicious names in the code.
    """
    if exercise.rules == Rules() or not verdict.points:
        return verdict
    binds = re.compile(rf"\b(?:def|class)\s+{exercise.name}\b|^[ \t]*{exercise.name}\b.*=", re.MULTILINE)
    answer = [text for text in cells if binds.search(text)] or cells
    look = suspicious_names([], {exercise.id: answer}, cells).text([exercise.id])
    lines = [verdict.message, f"L{look[1:]}." if look else ""]
    return replace(verdict, message="\n".join(filter(None, lines)))
