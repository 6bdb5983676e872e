"""Finds out what works on this machine, and says what to do about the rest."""

import os
import shutil
import sys
import tempfile
from dataclasses import dataclass
from textwrap import fill

from autograder.grading.sandbox.sandbox import chosen_bwrap, why_no_sandbox

WORKS, LIMITED, MISSING = "works", "limited", "missing"
SIGNS = {WORKS: "✓", LIMITED: "◐", MISSING: "✗"}
NO_GROUPS = (
    "no control groups (cgroup v2): memory and processes are limited by rlimits and a look every tenth of a second, "
    "which memory in pipes, tables and the like escapes. With systemd the kernel counts all of it: "
    "`systemd-run --user --scope -p Delegate=yes python -m autograder grade ...`"
)
# A cell that prints the name of each line of defence that does not hold.
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
is_open("programs may gain rights (no_new_privs)", lambda: status.get("NoNewPrivs", "0").strip() != "1")
for name in ("CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb"):
    is_open(f"rights of root are left ({name})", lambda: int(status.get(name, "0"), 16))
is_open("memory can be shared that nobody counts", lambda: mmap.mmap(-1, 4096))
is_open("memory can be shared by /dev/zero", zero)
is_open("memory can be shared by memfd_create", lambda: os.memfd_create("x") >= 0)
is_open("sockets of other kinds than unix can be made", lambda: socket.socket(socket.AF_INET))
is_open("user namespaces can be made", lambda: ctypes.CDLL(None).unshare(0x10000000) == 0)
for name in ("null", "full", "random", "urandom", "tty"):
    is_open(f"/dev/{name} is not mounted read-only", lambda: not os.statvfs(f"/dev/{name}").f_flag & 1)
"""


@dataclass(frozen=True)
class Finding:
    """One thing that was tried. `advice` says what to do if it does not work, or how far it does."""

    name: str
    state: str
    advice: str = ""


def examine() -> list[Finding]:
    """Tries what lessons, checks and grading need."""
    python = Finding(f"Python {sys.version.split()[0]}", WORKS)
    return [python, _torch(), _notebook(), _graphs(), _sandbox(), *_inside(), _limits(), _space()]


def _torch() -> Finding:
    try:
        import torch
    except ImportError:
        return Finding("PyTorch", MISSING, "`make lab` installs it.")
    device = "a GPU is used where a lesson trains" if torch.cuda.is_available() else "on the CPU, which is enough"
    return Finding(f"PyTorch {torch.__version__}", WORKS, f"{device}.")


def _notebook() -> Finding:
    missing, title = [], "notebooks (JupyterLab, nbgrader)"
    for name in ("jupyterlab", "nbgrader", "ipywidgets"):
        try:
            __import__(name)
        except ImportError:
            missing.append(name)
    if missing:
        return Finding(title, MISSING, f"not installed: {', '.join(missing)}; `make lab` does it.")
    return Finding(title, WORKS)


def _graphs() -> Finding:
    try:
        from pygraphviz import AGraph

        AGraph("digraph { a -> b }").draw(prog="dot", format="svg")
    except Exception as error:  # whatever stops Graphviz
        return Finding("drawing graphs", MISSING, f"pygraphviz does not draw ({error}); text is shown instead.")
    return Finding("drawing graphs", WORKS)


def _sandbox() -> Finding:
    bwrap = chosen_bwrap()
    if bwrap is None:
        return Finding("sandbox (bubblewrap)", MISSING, why_no_sandbox())
    return Finding("sandbox (bubblewrap)", WORKS, f"with {bwrap.path}, {bwrap.origin}.")


def _inside() -> list[Finding]:
    """Runs a cell in a sandbox: it must not see this file, nor find anything open that should be closed."""
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
    """The text that a cell printed, and the error that stopped it, which must not look like silence."""
    return "".join(output.get("text", "") or output.get("evalue", "") for output in outputs)


def second_lines(left_open: list[str]) -> Finding:
    """The defences beside namespaces, and those that this machine lacks."""
    from autograder.grading.sandbox.cgroups import parent_of_groups

    if left_open := [*left_open, *([] if parent_of_groups() else [NO_GROUPS])]:
        return Finding("second lines of defence", LIMITED, f"not in place here: {'; '.join(left_open)}.")
    return Finding("second lines of defence", WORKS)


def _limits() -> Finding:
    from autograder.grading.sandbox.cgroups import parent_of_groups
    from autograder.grading.worker.session import USUAL

    gib, cores = USUAL.memory / 1024**3, os.cpu_count()
    text = f"{gib:.0f} GiB of memory and {USUAL.processes} processes a submission, {cores} submissions at a time, "
    text += "kept by the kernel's control groups." if parent_of_groups() else "kept by rlimits and by looking."
    if os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") < USUAL.memory:
        return Finding("limits", LIMITED, f"{text} This machine has less memory than that: use --workers 1.")
    return Finding("limits", WORKS, text)


def _space() -> Finding:
    free = shutil.disk_usage(tempfile.gettempdir()).free / 1024**3
    return Finding("space on the disk", WORKS if free > 1 else LIMITED, f"{free:.1f} GiB are free.")


def format_findings(findings: list[Finding]) -> str:
    """The findings as text, as wide as the terminal."""
    lines = [f"{SIGNS[f.state]} {f.name}: {f.state}" + (f"; {f.advice}" if f.advice else ".") for f in findings]
    ready = all(finding.state != MISSING for finding in findings)
    last = "Lessons, checks and grading all work here." if ready else "See above for what to do."
    width = shutil.get_terminal_size().columns
    return "\n".join([*(fill(line, width, subsequent_indent="  ") for line in lines), "", last])
