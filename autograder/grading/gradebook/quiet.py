"""Keeps nbgrader's many log lines, and the tracebacks of errors, out of the terminal."""

import logging
import warnings
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

LOUD = ("autograder", "traitlets", "nbgrader", "nbclient", "nbconvert", "asyncio", "tornado", "jupyter_client")


class _Log(logging.FileHandler):
    """A log that is left out if it cannot be written (a full disk): the work goes on, or reports the error itself."""

    def emit(self, record):
        with suppress(OSError):
            super().emit(record)

    def handleError(self, record):
        pass

    def close(self):
        with suppress(OSError):
            super().close()


@contextmanager
def quiet(logfile: Path) -> Iterator[None]:
    """Sends the log lines of nbgrader and this package to `logfile` while this lasts."""
    from traitlets import log

    handler = _Log(logfile, encoding="utf-8", delay=True)
    handler.setFormatter(logging.Formatter("%(asctime)s %(levelname)s %(message)s"))
    loggers: list = [log.get_logger(), *map(logging.getLogger, LOUD)]
    before = [(logger, logger.handlers[:], logger.propagate, logger.level) for logger in loggers]
    for logger in set(loggers):
        logger.handlers, logger.propagate = [handler], False
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    finally:
        handler.close()
        for logger, handlers, propagate, level in before:
            logger.handlers, logger.propagate = handlers, propagate
            logger.setLevel(level)
