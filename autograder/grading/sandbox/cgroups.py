"""Limits that the kernel enforces: a control group (cgroup v2) for each submission, if this program may make
groups.

It may do so if it was started in a group that was delegated to it, for example by `systemd-run --user --scope
-p Delegate=yes`. With or without groups, rlimits apply, and the sandbox is checked every tenth of a second.
"""

import contextlib
import functools
import itertools
import os
import time
from pathlib import Path

import psutil

NEEDED = {"memory", "pids"}
OURS = "grader"  # the group that this program moves into: a group may have members or subgroups with limits, not both
SECONDS_TO_END = 5.0
_numbers = itertools.count()


class Group:
    """The control group of one submission's processes. `procs` is a file descriptor; a process that writes 0
    to it joins the group.

    Raises OSError if the group cannot be made.
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
        """Kill all members of the group, and remove it."""
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
    """Return the limits of a group for a submission that may use `memory` bytes and run `processes`
    processes. They are above the limits of the periodic check, so that the check acts first: only the check
    can say why a submission was stopped.
    """
    return {"memory.max": memory + memory // 4, "pids.max": 2 * processes}


@functools.cache
def parent_of_groups() -> Path | None:
    """Return the group in which this program may make groups with limits, or None if there is none. The first
    call must come before the program forks.
    """
    own = _own_group()
    return own and prepared(own)


def prepared(own: Path) -> Path | None:
    """Prepare the group `own` for subgroups with limits, and return it. Its members are moved to the subgroup
    "grader", unless it is the root group. If `own` is already that subgroup, return its parent. Return None
    if the group cannot be prepared, or if it has members that are not related to this process.
    """
    try:
        if own.name == OURS:
            return own.parent
        if not set((own / "cgroup.controllers").read_text().split()) >= NEEDED:
            return None
        # Only the root group may have both members and subgroups with limits.
        if (own / "cgroup.type").exists():
            members = (own / "cgroup.procs").read_text().split()
            if not {int(pid) for pid in members} <= _related_processes():
                return None
            (own / OURS).mkdir(exist_ok=True)
            for pid in members:
                with contextlib.suppress(ProcessLookupError):  # the process has just ended
                    (own / OURS / "cgroup.procs").write_text(pid)
        # With `cpu`, each submission gets the same share, however many processes it starts.
        allowed = {*(own / "cgroup.controllers").read_text().split()} & {"cpu"}
        (own / "cgroup.subtree_control").write_text(" ".join(f"+{name}" for name in sorted(NEEDED | allowed)))
        Group(own, limits_of(2**30, 64)).end()
    except (OSError, ValueError, psutil.Error):
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


def _related_processes() -> set[int]:
    """Return the ids of this process, its ancestors and its descendants."""
    own = psutil.Process()
    return {process.pid for process in (own, *own.parents(), *own.children(recursive=True))}
