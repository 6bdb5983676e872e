"""Writes files whole or not at all."""

import os
import zipfile
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from pathlib import Path


def write_whole(path: Path, text: str) -> None:
    """Write a file atomically, so that nobody ever reads half of it, even after a power cut."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with replaced(path) as half, half.open("w", encoding="utf-8") as file:
        file.write(text)
        file.flush()
        os.fsync(file.fileno())


@contextmanager
def replaced(path: Path) -> Iterator[Path]:
    """Yield the path of a temporary file, which replaces `path` when the block ends, unless the block raises
    an error.
    """
    half = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        yield half
        os.replace(half, path)
    finally:
        half.unlink(missing_ok=True)


def zip_folder(folder: Path, file: Path, top: str = "", programs: Collection[str] = ()) -> None:
    """Zip the files of a folder, placing them below `top` in the archive. Equal contents give equal bytes:
    files are sorted and have the same date, and only those named in `programs` are executable.
    """
    with replaced(file) as half, zipfile.ZipFile(half, "w", zipfile.ZIP_DEFLATED) as archive:
        for path in sorted(path for path in folder.rglob("*") if path.is_file()):
            name = zipfile.ZipInfo(Path(top, path.relative_to(folder)).as_posix(), (2025, 1, 1, 0, 0, 0))
            name.external_attr = (0o755 if path.name in programs else 0o644) << 16
            name.compress_type = zipfile.ZIP_DEFLATED
            archive.writestr(name, path.read_bytes())


def folder_is_gone() -> bool:
    """Return whether the current folder of this process has been deleted."""
    try:
        os.getcwd()
    except FileNotFoundError:
        return True
    return False
