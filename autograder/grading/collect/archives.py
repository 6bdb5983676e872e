"""Reads archives that anybody may have filled: nothing is unpacked by its name, no link is followed, and nothing grows
without end."""

import io
import os
import stat
import zipfile
import zlib
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from autograder.errors import UserError
from autograder.grading.submission.files import MOST_BYTES, Refused, read_file

MOST_FILES, MOST_IN_ALL = 100_000, 20 * 1024**3
IS_UTF8 = 0x800  # the flag of a name in a zip archive
NOBODYS = {"__MACOSX", ".DS_Store", ".ipynb_checkpoints", "Thumbs.db"}
DAMAGED = (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError, ValueError, OSError)


@dataclass(frozen=True)
class Entry:
    """A file of an archive: its path there, and what reads it. `read()` raises Refused."""

    path: str
    read: Callable[[], bytes]

    @property
    def parts(self) -> list[str]:
        return self.path.split("/")


class _Budget:
    """What may still be read of all archives together."""

    def __init__(self) -> None:
        self.files, self.size = MOST_FILES, MOST_IN_ALL

    def count(self) -> None:
        self.files -= 1
        if self.files < 0:
            raise UserError(f"the archives hold more than {MOST_FILES:,} files.")

    def take(self, size: int) -> None:
        self.size -= size
        if self.size < 0:
            raise UserError(f"the archives hold more than {MOST_IN_ALL // 1024**3} gigabytes.")


def entries_of(path: Path) -> Iterator[Entry]:
    """The files of a zip archive, and of the archives in it, or of a folder where one was unpacked; read each before
    asking for the next. Raises UserError if it is neither, or endless."""
    budget = _Budget()
    if path.is_dir():
        yield from _of_folder(path, budget)
        return
    try:
        archive = zipfile.ZipFile(path)
    except DAMAGED as error:
        why = error.strerror if isinstance(error, OSError) else "it is not a zip archive"
        raise UserError(f"{path} cannot be read: {why}.") from None
    with archive:
        yield from _of_zip(archive, "", budget, nested=True)


def _of_folder(path: Path, budget: _Budget) -> Iterator[Entry]:
    for place, folders, names in os.walk(path):
        folders[:] = sorted(set(folders) - NOBODYS)
        for name in sorted(names):
            budget.count()
            file = Path(place, name)
            entry = Entry(file.relative_to(path).as_posix(), partial(read_file, file))
            yield from _with_nested(entry, budget, nested=True)


def _of_zip(archive: zipfile.ZipFile, before: str, budget: _Budget, nested: bool) -> Iterator[Entry]:
    for info in archive.infolist():
        budget.count()
        if not info.is_dir():
            path = before + _name(info).replace("\\", "/")
            entry = Entry(path, partial(_content, archive, info, budget))
            yield from _with_nested(entry, budget, nested)


def _name(info: zipfile.ZipInfo) -> str:
    """The name of a file. subtle: macOS and Canvas write UTF-8 without saying so, which is read as cp437."""
    if info.flag_bits & IS_UTF8:
        return info.filename
    try:
        return info.filename.encode("cp437").decode("utf-8")
    except UnicodeError:
        return info.filename


def _with_nested(entry: Entry, budget: _Budget, nested: bool) -> Iterator[Entry]:
    """The entry, or what is in it if it is an archive itself."""
    if NOBODYS & set(entry.parts) or entry.parts[-1].startswith("._"):
        return
    some = False
    if nested and entry.path.lower().endswith(".zip"):
        with suppress(*DAMAGED, Refused), zipfile.ZipFile(io.BytesIO(entry.read())) as inner:
            for one in _of_zip(inner, f"{entry.path}/", budget, nested=False):
                some = True
                yield one
    if not some:  # an archive that is damaged or empty stays one file, which is no notebook
        yield entry


def _content(archive: zipfile.ZipFile, info: zipfile.ZipInfo, budget: _Budget) -> bytes:
    if stat.S_ISLNK(info.external_attr >> 16):
        raise Refused("it is a link")
    if info.flag_bits & 1:
        raise Refused("it is encrypted")
    try:
        with archive.open(info) as file:
            data = file.read(MOST_BYTES + 1)
    except DAMAGED:
        raise Refused("it is damaged") from None
    if len(data) > MOST_BYTES:
        raise Refused(f"it is larger than {MOST_BYTES:,} bytes")
    budget.take(len(data))
    return data
