"""Suppresses output while an answer runs, and shows what the check is doing if it takes long."""

import os
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager

from autograder.notebook.running import running_notebook

SECONDS = 2.0  # a check that takes longer shows that it is at work


@contextmanager
def nothing_shown() -> Iterator[None]:
    """Close the figures that the block opened and, in a notebook, also suppress displays and the output of
    other programs. (The probe suppresses prints and warnings.)
    """
    with ExitStack() as stack:
        shell = running_notebook()
        if shell is not None:
            from IPython.utils.capture import capture_output

            stack.enter_context(capture_output())
            stack.enter_context(_nowhere(1))
            stack.enter_context(_nowhere(2))
        pyplot = sys.modules.get("matplotlib.pyplot")
        if pyplot is not None:
            stack.callback(_close_figures, pyplot, set(pyplot.get_fignums()))
        yield


def _close_figures(pyplot, known: set[int]) -> None:
    for number in set(pyplot.get_fignums()) - known:
        pyplot.close(number)


@contextmanager
def _nowhere(descriptor: int) -> Iterator[None]:
    """Discard what is written to a file descriptor of this process, for example by programs that an answer
    starts.
    """
    kept, nowhere = os.dup(descriptor), os.open(os.devnull, os.O_WRONLY)
    try:
        os.dup2(nowhere, descriptor)
        yield
    finally:
        os.dup2(kept, descriptor)
        os.close(kept)
        os.close(nowhere)


@contextmanager
def shown_if_it_takes_long() -> Iterator[Callable[[str], None]]:
    """Yield a function that takes a description of what the check is doing and, once SECONDS have passed,
    shows it. The description disappears when the block ends.
    """
    start, shown = time.monotonic(), Shown()

    def tick(at_work: str) -> None:
        if time.monotonic() - start > SECONDS:
            shown.show(f"Checking: {at_work} ...")

    try:
        yield tick
    finally:
        shown.clear()


class Shown:
    """One line of text, shown in a notebook or in a terminal; the next line replaces it."""

    def __init__(self) -> None:
        self.is_there = False
        shell = running_notebook()
        # subtle: take the publisher now; while an answer runs, displays are suppressed.
        self.publisher = shell.display_pub if shell is not None else None
        self.width = 0

    def show(self, line: str) -> None:
        self.width = max(self.width, len(line))
        self._put(line)

    def clear(self) -> None:
        if self.width:
            self._put("")

    def _put(self, line: str) -> None:
        if self.publisher is not None:
            data = {"text/plain": line}
            self.publisher.publish(data, transient={"display_id": f"check {id(self)}"}, update=self.is_there)
            self.is_there = True
        elif sys.stderr.isatty():
            sys.stderr.write(f"\r{line:{self.width}}" + ("" if line else "\r"))
            sys.stderr.flush()
