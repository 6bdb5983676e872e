"""Keeps recorded files of earlier bundles in the user's cache folder.

The name of a cached file is a digest of everything that the file depends on: the source of every module of
this package that is imported to record the exercise (found by autograder.dependencies), the machine type, and
the versions of Python and of all packages. So a file that would come out differently gets a different name.
Files that have not been used for a month are deleted.
"""

import hashlib
import os
import platform
import shutil
import time
from contextlib import suppress
from importlib.metadata import distributions
from pathlib import Path

from autograder.dependencies import EXERCISES, closure, digest

BUNDLE = "autograder.bundle"  # of its modules, only `records` matters to a recording
RECORDS = f"{BUNDLE}.records"
MONTH = 30 * 24 * 3600


def kept_in() -> Path:
    """Return the cache folder, which need not exist yet."""
    caches = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(caches) / "attention-by-hand" / "recorded"


def take(name: str, target: Path) -> bool:
    """Copy the cached file called `name` to `target`, and return whether this succeeded."""
    try:
        shutil.copyfile(kept_in() / name, target)
        os.utime(kept_in() / name)
    except OSError:
        target.unlink(missing_ok=True)
        return False
    return True


def keep(name: str, file: Path) -> None:
    """Cache a copy of a file, unless the disk is full or the folder cannot be written to."""
    half = kept_in() / f".{name}.{os.getpid()}"
    with suppress(OSError):
        kept_in().mkdir(parents=True, exist_ok=True)
        try:
            shutil.copyfile(file, half)
            half.replace(kept_in() / name)
        finally:
            half.unlink(missing_ok=True)


def forget_old() -> None:
    """Delete cached files that have not been used for a month."""
    with suppress(OSError):
        for file in kept_in().iterdir():
            if file.stat().st_mtime < time.time() - MONTH:
                file.unlink()


class Names:
    """File names in the cache, derived from the current sources."""

    def __init__(self) -> None:
        self._versions = [platform.python_version(), platform.machine()]
        self._versions += sorted({f"{one.name} {one.version}" for one in distributions()})

    def of(self, exercise_id: str) -> str:
        """Return the name of an exercise's recorded file."""
        sources = digest(self.needed(exercise_id))
        return hashlib.sha256(repr((self._versions, sources)).encode()).hexdigest()

    def needed(self, exercise_id: str) -> frozenset[str]:
        """Return the package's modules that may run when an exercise is recorded."""
        roots = (RECORDS, f"{EXERCISES}.{exercise_id}")
        return closure(roots, without=(BUNDLE,)) | {RECORDS}
