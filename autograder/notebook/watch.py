"""check --watch FILE: judges the answers in a Python file at each save, for those who work in an editor.

As in `mine`, only an answer and the imports, functions and values that it uses are run. What has not changed
since the previous save is not judged again. Each save is judged in a separate process, which the next save
ends, so that an endless loop blocks nothing. Verdicts are remembered next to the file, for `progress()`.
"""

import ast
import multiprocessing
import signal
import sys
import time
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from autograder.errors import OUR_ERROR, UserError, place_of
from autograder.exercises import all_exercises
from autograder.judge import unable_to_run
from autograder.notebook.card import text_of
from autograder.notebook.check import verdict_on
from autograder.notebook.memory import recall, remember
from autograder.notebook.mine import CARRIED, SECONDS, needed_statements
from autograder.notebook.progress_card import next_in_words
from autograder.notebook.standing import Part, standing_of
from autograder.probe.guard import guarded
from autograder.schema.exercise import Exercise
from autograder.verdict import NOT_STARTED, Verdict

PAUSE = 0.3  # seconds between two checks for a change
# subtle: only on Linux can a process that has loaded PyTorch be forked.
PROCESSES: Any = multiprocessing.get_context("fork" if sys.platform == "linux" else "spawn")


def watch(path: Path) -> None:
    """Judge the file now and at each save, until the user presses Ctrl-C. Raises UserError if `path` is not a
    Python file.
    """
    if path.suffix != ".py" or not path.is_file():
        why = "is not a Python file" if path.exists() else "does not exist"
        raise UserError(
            f"{path} {why}; `python -m autograder lab --as-files` makes a Python file per lesson."
        )
    print(f"Judging {path} at each save. To stop, press Ctrl-C.", flush=True)
    before: dict[str, str] = {}
    for _ in _saves(path):
        before = look(path, before)


def look(path: Path, before: dict[str, str]) -> dict[str, str]:
    """Judge the answers whose source differs from `before` and print the verdicts. Return the current source
    of each answer, keyed by exercise id.

    If the file is saved again meanwhile, the judging stops and `before` is returned, because nothing counts
    as judged. `before` is also returned if the file cannot be read as Python.
    """
    try:
        sources = _sources(path)
    except (OSError, SyntaxError, ValueError, RecursionError, MemoryError) as error:
        line = f", line {error.lineno}: {error.msg}" if isinstance(error, SyntaxError) else ""
        print(f"\n✗ {path.name} cannot be read as Python{line}.", flush=True)
        return before
    if not sources:
        print(
            f"\n{path.name} defines no answer to an exercise: give your answer the exercise's name.",
            flush=True,
        )
    state = _state(path)
    changed = [name for name, source in sources.items() if before.get(name) != source]
    process = PROCESSES.Process(target=_judge, args=(path, changed, list(sources)), daemon=True)
    process.start()
    while process.is_alive():
        process.join(PAUSE)
        if _state(path) != state:
            process.kill()
            process.join()
            return before
    if process.exitcode:
        print(f"\n✗ {path.name} ended the Python process (status {process.exitcode}).", flush=True)
    return sources


def _saves(path: Path) -> Iterator[None]:
    """Yield now, and each time the file has changed."""
    seen = None
    while True:
        state = _state(path)
        if state is not None and state != seen:
            seen = state
            yield
        else:
            time.sleep(PAUSE)


def _state(path: Path) -> tuple[int, int] | None:
    try:
        found = path.stat()
    except OSError:  # some editors replace a file, and for a moment there is none
        return None
    return found.st_mtime_ns, found.st_size


def _statements(path: Path) -> list[ast.stmt]:
    tree = ast.parse(path.read_text(encoding="utf-8-sig"), str(path))
    return [node for node in tree.body if isinstance(node, CARRIED)]


def _sources(path: Path) -> dict[str, str]:
    """Return the source of each answer in the file, with what it uses, keyed by exercise id. Raises
    SyntaxError if the file is not Python.
    """
    statements = _statements(path)
    sources = {}
    for exercise in all_exercises():
        nodes = needed_statements(exercise.name, statements)
        if nodes:
            sources[exercise.id] = "\n".join(map(ast.unparse, nodes))
    return sources


def _judge(path: Path, changed: Iterable[str], there: Iterable[str]) -> None:
    """Print the verdicts on the exercises in `changed`, and what to do next among the exercises in `there`,
    whose answers are in the file.
    """
    signal.signal(
        signal.SIGINT, signal.SIG_IGN
    )  # Ctrl-C is for the process that watches, which ends this one
    exercises = [exercise for exercise in all_exercises() if exercise.id in there]
    statements = _statements(path)
    for exercise in exercises:
        if exercise.id not in changed:
            continue
        try:
            verdict = _verdict(exercise, needed_statements(exercise.name, statements), path)
        except Exception as error:  # our own error, reported as such; watching goes on
            print(f"\n{exercise.id} is not judged: this is {OUR_ERROR} ({place_of(error)}).", flush=True)
            continue
        if verdict.state != NOT_STARTED:  # it may be written, and right, in the lesson's notebook
            remember(verdict, path.parent)
            print(f"\n{text_of(verdict)}", flush=True)
    known = recall(path.parent)
    part = Part(path.name, path.name, tuple(standing_of(one, known) for one in exercises))
    print(f"\n{next_in_words([part])}" if exercises else "", flush=True)


def _verdict(exercise: Exercise, nodes: list[ast.stmt], path: Path) -> Verdict:
    def run() -> object:
        names = {"__name__": path.stem, "__file__": str(path)}
        exec(compile(ast.Module(nodes, []), str(path), "exec"), names)
        return names[exercise.name]

    answer, failed = guarded(run, SECONDS)
    if failed is not None:
        where = f"Line {failed['line']}: {failed['code']}\n" if failed["line"] else ""
        return unable_to_run(exercise, f"{where}{failed['type']}: {failed['text']}")
    try:
        return verdict_on(answer, exercise)
    except UserError as error:
        return unable_to_run(exercise, str(error))
