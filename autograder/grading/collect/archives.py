"""Reads archives whose contents cannot be trusted. No file is unpacked under the name it has in the archive,
no link is followed, and each person's files have a separate budget, so that nobody can keep other people's
files from being read.
"""

import io
import os
import stat
import zipfile
from collections import defaultdict
from collections.abc import Callable, Hashable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from autograder.errors import UserError
from autograder.grading.submission.files import MOST_BYTES, NOTEBOOKS, Refused, open_file
from autograder.untrusted import without_surrogates

# Limits for one hand-in: files in its archives, notebooks, which take longer to read, bytes read in all, and bytes
# of an archive's list of files.
MOST_FILES, MOST_NOTEBOOKS, MOST_IN_ALL, LONGEST_LIST = 10_000, 100, 100 * 1024**2, 4 * 1024**2
LONGEST_NAME, LONGEST_PATH = 255, 2_000  # characters
IS_UTF8 = 0x800  # the flag that says that a name in a zip archive is UTF-8
# The compression methods that are accepted; others can take gigabytes to unpack.
PLAIN = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
NOBODYS = {"__MACOSX", ".DS_Store", ".ipynb_checkpoints", "Thumbs.db", "desktop.ini"}
CHUNK = 1 << 20


@dataclass(frozen=True)
class Entry:
    """A file in an archive: its path, a function that yields its contents, and, if it is in a nested archive,
    the length of that archive's path. `chunks()` raises Refused if the file cannot be read.
    """

    path: str
    chunks: Callable[[], Iterator[bytes]]
    outer: int = LONGEST_PATH

    @property
    def parts(self) -> list[str]:
        return self.path.split("/")

    @property
    def outer_parts(self) -> list[str]:
        """Those parts of the path that the system named: all except the parts inside a nested archive, which
        a student named.
        """
        return self.path[: self.outer].split("/")

    @property
    def is_nobodys(self) -> bool:
        """True if a program, not a person, put the file into the archive."""
        return bool(NOBODYS & set(self.parts)) or self.parts[-1].startswith("._")

    def read(self, most: int = MOST_BYTES) -> bytes:
        """Return the whole contents. Raises Refused if the file cannot be read or is larger than `most`
        bytes.
        """
        data = bytearray()
        for chunk in self.chunks():
            data += chunk
            if len(data) > most:
                raise Refused(f"it is larger than {most:,} bytes")
        return bytes(data)


@dataclass
class _Budget:
    """The number of files, notebooks and bytes that may still be read for one person."""

    files: int
    notebooks: int
    size: int

    def counted(self, entry: Entry) -> Entry:
        """Charge a file to the budget, and return its entry. The bytes of its contents are charged as they
        are read.
        """
        self.files -= 1
        self.notebooks -= entry.path.lower().endswith(NOTEBOOKS)
        return Entry(entry.path, partial(self._chunks, entry), entry.outer)

    def _chunks(self, entry: Entry) -> Iterator[bytes]:
        if self.files < 0:
            raise Refused(f"this hand-in holds more than {MOST_FILES:,} files")
        if self.notebooks < 0:
            raise Refused(f"this hand-in holds more than {MOST_NOTEBOOKS} notebooks")
        for chunk in entry.chunks():
            self.size -= len(chunk)
            if self.size < 0:
                raise Refused(f"this hand-in holds more than {MOST_IN_ALL // 1024**2} megabytes")
            yield chunk


def entries_of(path: Path, whose: Callable[[Entry], Hashable]) -> Iterator[Entry]:
    """Yield the files of a zip archive, or of a folder into which a zip archive was unpacked. The files of a
    nested archive take the place of that archive. The caller must read each file before asking for the next.
    `whose` returns a key for the person to whose budget an entry is charged.

    Raises UserError if `path` is neither a folder nor a zip archive.
    """
    most = MOST_FILES, MOST_NOTEBOOKS, MOST_IN_ALL
    budgets: dict[Hashable, _Budget] = defaultdict(lambda: _Budget(*most))
    for entry in outer_entries(path):
        for one in _with_nested(entry):
            budget = budgets[whose(one)]
            yield budget.counted(one)
            if one is not entry and budget.files < 0:
                break  # the rest of this archive


def outer_entries(path: Path) -> Iterator[Entry]:
    """Yield the files as `entries_of` does, but without budgets, and with each nested archive as a single
    file.
    """
    if path.is_dir():
        for place, folders, names in os.walk(path):
            folders.sort()
            for name in sorted(names):
                file = Path(place, name)
                name = without_surrogates(file.relative_to(path).as_posix())
                yield _entry(name, partial(_of_file, file))
        return
    try:
        archive = zipfile.ZipFile(path)
    except Exception as error:  # as in `_content`
        why = error.strerror if isinstance(error, OSError) else "it is not a zip archive"
        raise UserError(f"{path} cannot be read: {why}.") from None
    with archive:
        yield from _of_zip(archive, "")


def _of_zip(archive: zipfile.ZipFile, before: str) -> Iterator[Entry]:
    for info in archive.infolist():
        if not info.filename.endswith("/"):  # not a folder; `is_dir` fails for a file without a name
            yield _entry(before + _name(info).replace("\\", "/"), partial(_content, archive, info))


def _entry(path: str, chunks: Callable[[], Iterator[bytes]]) -> Entry:
    """Return the entry for a path. If the path, or a name in it, is longer than any that a system writes, the
    entry gets a shortened path, and reading the entry raises Refused.
    """
    parts = path.split("/", LONGEST_PATH)
    if len(path) <= LONGEST_PATH and max(map(len, parts)) <= LONGEST_NAME:
        return Entry(path, chunks)
    begin, end = "/".join(part[: LONGEST_NAME - 30] for part in parts[:2]), path[-20:].replace("/", "_")
    return Entry(f"{begin}...{end}", _too_long)


def _too_long() -> Iterator[bytes]:
    raise Refused(
        f"its path is longer than {LONGEST_PATH:,} characters, or a name in it is longer than {LONGEST_NAME}"
    )


def _name(info: zipfile.ZipInfo) -> str:
    """Return the name of a file. subtle: macOS and Canvas write names in UTF-8 without setting the flag that
    says so, and zipfile then decodes them as cp437.
    """
    if info.flag_bits & IS_UTF8:
        return info.filename
    try:
        return info.filename.encode("cp437").decode("utf-8")
    except UnicodeError:
        return info.filename


def _with_nested(entry: Entry) -> Iterator[Entry]:
    """Yield the entry or, if it is a readable archive with files, the entries in it."""
    some = False
    if entry.path.lower().endswith(".zip") and not entry.is_nobodys and (inner := _opened(entry)):
        with inner:
            for one in _of_zip(inner, f"{entry.path}/"):
                some = True
                yield Entry(one.path, one.chunks, len(entry.path))
    if not some:  # a damaged or empty archive remains a single file, which is not a notebook
        yield entry


class _Nested(io.BytesIO):
    """A nested archive, which is refused if its list of files is longer than LONGEST_LIST bytes. subtle:
    zipfile reads the whole list at once, and makes an object of half a kilobyte for each file. An archive of
    a few megabytes could therefore take gigabytes of memory.
    """

    def read(self, size: int | None = -1) -> bytes:
        if size is not None and size > LONGEST_LIST:
            raise zipfile.BadZipFile("its list of files is too long")
        return super().read(size)


def _opened(entry: Entry) -> zipfile.ZipFile | None:
    try:
        return zipfile.ZipFile(_Nested(entry.read()))
    except Exception:  # as in `_content`, and Refused
        return None


def _content(archive: zipfile.ZipFile, info: zipfile.ZipInfo) -> Iterator[bytes]:
    if stat.S_ISLNK(info.external_attr >> 16):
        raise Refused("it is a link")
    if info.flag_bits & 1:
        raise Refused("it is encrypted")
    if info.compress_type not in PLAIN:
        raise Refused("it is compressed by a method that is not supported")
    try:
        with archive.open(info) as file:
            while chunk := file.read(CHUNK):
                yield chunk
    except Exception:  # zipfile may raise anything when it reads bytes that were made to do harm
        raise Refused("it is damaged") from None


def _of_file(path: Path) -> Iterator[bytes]:
    with os.fdopen(open_file(path), "rb") as file:
        while chunk := file.read(CHUNK):
            yield chunk
