"""Limits that the kernel keeps: a control group (cgroup v2) for each submission, where this program may make groups.

It may where it was started in a group handed to it, as `systemd-run --user --scope -p Delegate=yes` does. Elsewhere
rlimits and a look at the sandbox every tenth of a second must do; where there are groups, they are a second line.
"""

import contextlib
import functools
import itertools
import os
import time
from pathlib import Path

NEEDED = {"memory", "pids"}
OURS = "grader"  # the group into which this program itself goes: a group has members or groups with limits, not both
SECONDS_TO_END = 5.0
_numbers = itertools.count()


class Group:
    """The group of one submission's processes. `procs` is a file descriptor: who writes 0 to it becomes a member.

    Raises OSError where it cannot be made.
    """

    def __init__(self, parent: Path, limits: dict[str, int]):
        self.path = parent / f"submission-{os.getpid()}-{next(_numbers)}"
        self.path.mkdir()
        try:
            for file, most in limits.items():
                (self.path / file).write_text(str(most))
            self.procs = os.open(self.path / "cgroup.procs", os.O_WRONLY | os.O_CLOEXEC)
        except OSError:
            self.path.rmdir()
            raise

    def end(self) -> None:
        """Kills who is left in the group, and removes it."""
        os.close(self.procs)
        with contextlib.suppress(OSError):
            (self.path / "cgroup.kill").write_text("1")
        until = time.monotonic() + SECONDS_TO_END
        while self.path.exists() and time.monotonic() < until:
            try:
                self.path.rmdir()
            except OSError:  # the last member is still ending
                time.sleep(0.002)


def limits_of(memory: int, processes: int) -> dict[str, int]:
    """What is written into a group: a little more than a look at the sandbox lets pass, which can say why."""
    return {"memory.max": memory + memory // 4, "pids.max": 2 * processes}


@functools.cache
def where_groups_can_be() -> Path | None:
    """The group in which this program may make groups with limits, or None. Asked once, before it forks."""
    return None if (own := _own_group()) is None else made_ready(own)


def made_ready(own: Path) -> Path | None:
    """The group `own`, or the one above where this program went aside already, with groups allowed in it; or None."""
    try:
        if own.name == OURS:
            return own.parent
        if not set((own / "cgroup.controllers").read_text().split()) >= NEEDED:
            return None
        if not _is_root(own):
            members = (own / "cgroup.procs").read_text().split()
            if not all(_is_of_ours(int(pid)) for pid in members):
                return None
            _go_aside(own, members)
        (own / "cgroup.subtree_control").write_text(" ".join(f"+{name}" for name in sorted(NEEDED)))
        Group(own, limits_of(2**30, 64)).end()
    except (OSError, ValueError):
        return None
    return own


def _own_group() -> Path | None:
    with contextlib.suppress(OSError, StopIteration):
        mounts = (line.split() for line in Path("/proc/self/mounts").read_text().splitlines())
        mount = next(place for _, place, kind, *_ in mounts if kind == "cgroup2")
        lines = Path("/proc/self/cgroup").read_text().splitlines()
        name = next(line.removeprefix("0::") for line in lines if line.startswith("0::"))
        return Path(mount, name.lstrip("/"))
    return None


def _is_root(group: Path) -> bool:
    """Whether it is the kernel's first group, which may have members and groups with limits."""
    return not (group / "cgroup.type").exists()


def _is_of_ours(pid: int) -> bool:
    """Whether a process is this one, or above or below it."""
    return pid in _with_parents(os.getpid()) or os.getpid() in _with_parents(pid)


def _go_aside(own: Path, members: list[str]) -> None:
    aside = own / OURS
    aside.mkdir(exist_ok=True)
    for pid in members:
        with contextlib.suppress(ProcessLookupError):  # it has ended meanwhile
            (aside / "cgroup.procs").write_text(pid)


def _with_parents(pid: int) -> set[int]:
    """A process and all above it."""
    found = set()
    while pid > 0 and pid not in found:
        found.add(pid)
        pid = _parent(pid)
    return found


def _parent(pid: int) -> int:
    try:
        # The name in brackets may hold blanks and brackets of its own.
        return int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])
    except (OSError, ValueError, IndexError):
        return 0
