"""Keeps nbgrader's many log lines out of the terminal."""

import logging
import warnings
from contextlib import contextmanager
from pathlib import Path

LOUD = ("traitlets", "nbgrader", "nbclient", "nbconvert", "asyncio", "tornado", "jupyter_client")


@contextmanager
def quiet(logfile: Path):
    """Everything that nbgrader logs goes to `logfile` while this lasts."""
    from traitlets import log

    handler = logging.FileHandler(logfile, encoding="utf-8", delay=True)
    handler.setFormatter(logging.Formatter("%(asctime)s %(levelname)s %(message)s"))
    loggers = [log.get_logger(), *map(logging.getLogger, LOUD)]
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
