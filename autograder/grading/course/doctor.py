"""Checks whether grading works on this machine, and says what to do about anything that does not."""

import os

from autograder.doctor import LIMITED, MISSING, WORKS, Finding
from autograder.grading.sandbox.sandbox import chosen_bwrap, why_no_sandbox

NO_GROUPS = (
    "no control groups (cgroup v2): memory and processes are limited by rlimits and a check every tenth of a second, "
    "which misses memory in pipes, page tables and the like. Under systemd, this command makes the kernel "
    "count all of it: `systemd-run --user --scope -p Delegate=yes python -m autograder grade ...`"
)
# A cell that prints the name of each line of defence that is missing.
PROBE = """
import ctypes, mmap, os, platform, socket

def is_open(name, tried):
    try:
        if tried():
            print(name)
    except OSError:
        pass

status = dict(line.split(":", 1) for line in open("/proc/self/status").read().splitlines())
zero = lambda: mmap.mmap(os.open("/dev/zero", os.O_RDWR), 4096)
is_open("system calls are not filtered (seccomp)", lambda: status.get("Seccomp", "0").strip() != "2")
is_open("programs may gain privileges (no_new_privs)", lambda: status.get("NoNewPrivs", "0").strip() != "1")
for name in ("CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb"):
    is_open(f"privileges of root are left ({name})", lambda: int(status.get(name, "0"), 16))
is_open("shared memory that is not counted can be made", lambda: mmap.mmap(-1, 4096))
is_open("uncounted memory can be shared through /dev/zero", zero)
is_open("uncounted memory can be shared through memfd_create", lambda: os.memfd_create("x") >= 0)
is_open("sockets other than unix sockets can be made", lambda: socket.socket(socket.AF_INET))
is_open("what the whole machine does can be read in /proc", lambda: os.path.exists("/proc/timer_list"))
is_open("user namespaces can be made", lambda: ctypes.CDLL(None).unshare(0x10000000) == 0)
for name in ("null", "full", "random", "urandom", "tty"):
    is_open(f"/dev/{name} is not mounted read-only", lambda: not os.statvfs(f"/dev/{name}").f_flag & 1)
"""


def examine() -> list[Finding]:
    """Check everything that grading needs, and return the findings."""
    return [_sandbox(), *_inside(), _limits()]


def _sandbox() -> Finding:
    bwrap = chosen_bwrap()
    if bwrap is None:
        return Finding("sandbox (bubblewrap)", MISSING, why_no_sandbox())
    return Finding("sandbox (bubblewrap)", WORKS, f"with {bwrap.path}, {bwrap.origin}.")


def _inside() -> list[Finding]:
    """Run two cells in a sandbox, and return the findings. The first cell must not see this file, and the
    second must find every line of defence in place.
    """
    from autograder.grading.worker.fork_server import ForkServer, ForkServerDied
    from autograder.grading.worker.session import Ended, Session

    name = "a cell in the sandbox"
    if why_no_sandbox():
        return [Finding(name, MISSING, "there is no sandbox to run it in.")]
    try:
        with ForkServer() as server:
            server.wait_until_warm()
            with Session(server) as session:
                seen = _text(session.cell(f"import os; print(os.path.exists({__file__!r}))"))
                left_open = _text(session.cell(PROBE)).splitlines()
    except (ForkServerDied, Ended, OSError) as error:
        return [Finding(name, MISSING, f"it did not run: {error}.")]
    if not seen.startswith("False"):
        return [Finding(name, MISSING, f"it sees the host: {seen}")]
    return [Finding(name, WORKS), second_lines(left_open)]


def _text(outputs: list[dict]) -> str:
    """Return the text that a cell printed and the error that stopped it, so that an error is not mistaken for
    empty output.
    """
    return "".join(output.get("text", "") or output.get("evalue", "") for output in outputs)


def second_lines(left_open: list[str]) -> Finding:
    """Return a finding on the lines of defence behind the namespaces. It names those that this machine lacks:
    the ones in `left_open`, and control groups if they cannot be made.
    """
    from autograder.grading.sandbox.cgroups import parent_of_groups

    if left_open := [*left_open, *([] if parent_of_groups() else [NO_GROUPS])]:
        return Finding("second lines of defence", LIMITED, f"gaps on this machine: {'; '.join(left_open)}.")
    return Finding("second lines of defence", WORKS)


def _limits() -> Finding:
    from autograder.grading.sandbox.cgroups import parent_of_groups
    from autograder.grading.worker.allowance import USUAL

    gib, cores = USUAL.memory / 1024**3, os.cpu_count()
    text = f"{gib:.0f} GiB of memory and {USUAL.processes} processes per submission, {cores} submissions at a time, "
    text += (
        "enforced by the kernel's control groups."
        if parent_of_groups()
        else "enforced by rlimits and by polling."
    )
    if os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") < USUAL.memory:
        text += " This machine has less memory than one submission may use: use --workers 1."
        return Finding("limits", LIMITED, text)
    return Finding("limits", WORKS, text)
