"""Recorded files of earlier bundles, in a cache folder of the user.

The name under which a file is kept is a digest of all that it depends on: the source of every module of this package
that recording its exercise imports, by whatever way, and the versions of Python and of all packages. So a file that
would come out otherwise has another name. One that was not used for a month goes.
"""

import ast
import hashlib
import os
import platform
import shutil
import time
from contextlib import suppress
from importlib.metadata import distributions
from importlib.util import find_spec
from pathlib import Path

PACKAGE, RECORDS = "autograder", "autograder.bundle.records"
MONTH = 30 * 24 * 3600


def kept_in() -> Path:
    """The folder, which need not be there yet."""
    caches = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(caches) / "attention-by-hand" / "recorded"


def take(name: str, target: Path) -> bool:
    """Copies a file that is kept to `target`; False if there is none."""
    try:
        shutil.copyfile(kept_in() / name, target)
        os.utime(kept_in() / name)
    except OSError:
        target.unlink(missing_ok=True)
        return False
    return True


def keep(name: str, file: Path) -> None:
    """Keeps a copy of a file. Without room or right to write, nothing is kept."""
    half = kept_in() / f".{name}.{os.getpid()}"
    with suppress(OSError):
        kept_in().mkdir(parents=True, exist_ok=True)
        try:
            shutil.copyfile(file, half)
            half.replace(kept_in() / name)
        finally:
            half.unlink(missing_ok=True)


def forget_old() -> None:
    """Removes what was not used for a month."""
    with suppress(OSError):
        for file in kept_in().iterdir():
            if file.stat().st_mtime < time.time() - MONTH:
                file.unlink()


class Names:
    """The names under which recorded files are kept, by the sources as they are now."""

    def __init__(self) -> None:
        self._versions = [platform.python_version(), platform.machine()]
        self._versions += sorted({f"{one.name} {one.version}" for one in distributions()})
        self._sources: dict[str, bytes | None] = {}  # by module; None for what is none
        self._imported: dict[str, set[str]] = {}

    def of(self, exercise_id: str, kind: str) -> str:
        """The name of a recorded file of that kind."""
        total = hashlib.sha256(repr((kind, self._versions)).encode())
        for module in sorted(self.needed(exercise_id)):
            total.update(f"{module}\n".encode() + (self._source(module) or b""))
        return total.hexdigest()

    def needed(self, exercise_id: str) -> set[str]:
        """The package's modules that recording an exercise may run."""
        found = {RECORDS.rpartition(".")[0]}  # whose other modules record nothing
        further = {RECORDS, f"{PACKAGE}.exercises.{exercise_id}"}
        while further:
            found |= further
            further = set().union(*map(self._imports, further)) - found
        return found

    def _imports(self, module: str) -> set[str]:
        """The package's modules that a module imports anywhere in its text, and the package that it is in."""
        if module not in self._imported:
            found = {module.rpartition(".")[0]}
            for node in ast.walk(ast.parse(self._source(module) or b"")):
                if isinstance(node, ast.Import):
                    found |= {alias.name for alias in node.names}
                elif isinstance(node, ast.ImportFrom) and node.module:
                    found |= {node.module, *(f"{node.module}.{alias.name}" for alias in node.names)}
            ours = {name for name in found if name.partition(".")[0] == PACKAGE}
            self._imported[module] = {name for name in ours if self._source(name) is not None}
        return self._imported[module]

    def _source(self, module: str) -> bytes | None:
        if module not in self._sources:
            self._sources[module] = None
            with suppress(ModuleNotFoundError):
                if (spec := find_spec(module)) and spec.origin:
                    self._sources[module] = Path(spec.origin).read_bytes()
        return self._sources[module]
