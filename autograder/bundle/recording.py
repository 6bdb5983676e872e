"""Records the visible checks of exercises as data, several exercises at a time. What an earlier bundle has
recorded is not recorded again if it is still valid.
"""

import os
import signal
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ProcessPoolExecutor, as_completed
from contextlib import contextmanager
from dataclasses import dataclass
from multiprocessing import get_context
from multiprocessing.connection import Connection
from pathlib import Path
from types import FrameType
from typing import Any

from tqdm import tqdm

from autograder.bundle import kept
from autograder.bundle.records import write_exercise, write_exercises
from autograder.schema.exercise import Exercise

Handler = Callable[[int, FrameType | None], Any]


@dataclass(frozen=True)
class _Task:
    """A file to write: its path, the id of its exercise, and its name in the cache."""

    file: Path
    exercise_id: str
    name: str


def record(folder: Path, exercises: tuple[Exercise, ...], progress: bool) -> None:
    """Write the visible checks of the exercises as data into a new folder."""
    folder.mkdir()
    write_exercises(folder, exercises)
    kept.forget_old()
    missing = [task for task in _tasks(folder, exercises) if not kept.take(task.name, task.file)]
    if missing:
        _write(missing, progress)


def _tasks(folder: Path, exercises: tuple[Exercise, ...]) -> list[_Task]:
    """Return a task for each exercise, starting with those that take longest because they have the most
    mistakes.
    """
    names = kept.Names()
    return [
        _Task(folder / f"{one.id}.safetensors", one.id, names.of(one.id))
        for one in sorted(exercises, key=lambda one: -len(one.mistakes))
    ]


def _write(tasks: list[_Task], progress: bool) -> None:
    """Write and cache the files in parallel, with one process per core but at most eight."""
    context = get_context("spawn")  # subtle: a fork of a process that has run PyTorch may hang.
    receiver, sender = context.Pipe(duplex=False)
    with sender, ProcessPoolExecutor(min(os.cpu_count() or 1, 8), context, _start, (receiver,)) as pool:
        try:
            # A worker or a progress bar interrupted halfway by Ctrl-C would end in a traceback.
            with _delayed(signal.SIGINT, signal.SIGTERM):
                running = _submitted(pool, tasks)
                bar = tqdm(
                    as_completed(running), total=len(tasks), unit="file", disable=not progress, leave=False
                )
            for done in bar:
                done.result()
                kept.keep(running[done].name, running[done].file)
        except BaseException:  # Ctrl-C as well: this ends the workers
            sender.close()
            raise


def _submitted(pool: ProcessPoolExecutor, tasks: list[_Task]) -> dict[Future, _Task]:
    """Submit all tasks to the pool, and return them keyed by their futures."""
    # subtle: workers inherit the mask, so they ignore Ctrl-C, which reaches them too; this process ends them.
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        return {pool.submit(write_exercise, task.file.parent, task.exercise_id): task for task in tasks}
    finally:
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})


@contextmanager
def _delayed(*numbers: signal.Signals) -> Iterator[None]:
    """Delay the signals `numbers` until the block ends, and then raise only the first one that was received.

    A signal mask is not enough, because another thread of the process may receive the signal, and Python then
    runs the handler in the main thread.
    """
    received: list[int] = []
    try:
        with handled_by(lambda number, frame: received.append(number), *numbers):
            yield
    finally:
        if received:
            signal.raise_signal(received[0])


@contextmanager
def handled_by(handler: Handler, *numbers: signal.Signals) -> Iterator[None]:
    """Handle the signals with `handler` during the block. Outside the main thread, where that is impossible,
    change nothing.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = {number: signal.signal(number, handler) for number in numbers}
    try:
        yield
    finally:
        for number, one in before.items():
            signal.signal(number, one)


def _start(receiver: Connection) -> None:
    """Prepare a worker: let PyTorch use one thread, and end the worker as soon as its parent ends or closes
    the sending end of the pipe.
    """
    import torch

    torch.set_num_threads(1)

    def listen() -> None:
        try:
            receiver.recv()
        except EOFError:
            os._exit(1)

    threading.Thread(target=listen, daemon=True).start()
