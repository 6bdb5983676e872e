"""Writes files whole or not at all."""

import os
from pathlib import Path


def write_whole(path: Path, text: str) -> None:
    """Write a file atomically: no reader sees half of it, even after a power cut."""
    path.parent.mkdir(parents=True, exist_ok=True)
    half = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        with half.open("w", encoding="utf-8") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
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
