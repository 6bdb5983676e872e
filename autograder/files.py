"""Writes files whole or not at all."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


def write_whole(path: Path, text: str) -> None:
    """Write a file atomically: nobody reads half of it, even after a power cut."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with replaced(path) as half, half.open("w", encoding="utf-8") as file:
        file.write(text)
        file.flush()
        os.fsync(file.fileno())


@contextmanager
def replaced(path: Path) -> Iterator[Path]:
    """Yield the path of a file that takes the place of `path` at the end, unless the block raises."""
    half = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        yield half
        os.replace(half, path)
    finally:
        half.unlink(missing_ok=True)


def folder_is_gone() -> bool:
    """Return whether the folder in which this process runs was deleted."""
    try:
        os.getcwd()
    except FileNotFoundError:
        return True
    return False
