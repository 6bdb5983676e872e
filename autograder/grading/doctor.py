"""What works on this machine, in words, and what to do about the rest."""

import os
import shutil
import sys
import tempfile
from dataclasses import dataclass
from textwrap import fill

from autograder.grading.sandbox import why_no_sandbox

WORKS, LIMITED, MISSING = "works", "limited", "missing"
NO_GROUPS = (
    "kept by rlimits and a look every tenth of a second. With systemd the kernel keeps them as well: "
    "`systemd-run --user --scope -p Delegate=yes python -m autograder grade ...`."
)


@dataclass(frozen=True)
class Finding:
    """One thing that was tried. `advice` says what to do where it does not work, or how far it does."""

    name: str
    state: str
    advice: str = ""


def examine() -> list[Finding]:
    """Tries what lessons, checks and grading need."""
    return [_python(), _torch(), _notebook(), _graphs(), _sandbox(), _inside(), _limits(), _space()]


def _python() -> Finding:
    return Finding(f"Python {sys.version.split()[0]}", WORKS)


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
    except Exception as error:
        return Finding("drawing graphs", MISSING, f"pygraphviz does not draw ({error}); text is shown instead.")
    return Finding("drawing graphs", WORKS)


def _sandbox() -> Finding:
    why = why_no_sandbox()
    return Finding("sandbox (bubblewrap)", MISSING if why else WORKS, why)


def _inside() -> Finding:
    """A cell really runs in a sandbox, and does not see this file."""
    from autograder.grading.session import Ended, Session
    from autograder.grading.template import Template, TemplateDied

    name = "a cell in the sandbox"
    if why_no_sandbox():
        return Finding(name, MISSING, "there is no sandbox to run it in.")
    try:
        with Template() as template:
            template.wait_until_warm()
            with Session(template) as session:
                said = session.cell(f"import os; print(os.path.exists({__file__!r}))")
    except (TemplateDied, Ended, OSError) as error:
        return Finding(name, MISSING, f"it did not run: {error}.")
    text = "".join(output.get("text", "") for output in said)
    return Finding(name, WORKS) if text.startswith("False") else Finding(name, MISSING, f"it sees the host: {text}")


def _limits() -> Finding:
    from autograder.grading.cgroups import where_groups_can_be
    from autograder.grading.session import USUAL

    gib, cores = USUAL.memory / 1024**3, os.cpu_count()
    text = f"{gib:.0f} GiB of memory and {USUAL.processes} processes a submission, {cores} submissions at a time, "
    text += "kept by the kernel's control groups." if where_groups_can_be() else NO_GROUPS
    have = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    if have < USUAL.memory:
        return Finding("limits", LIMITED, f"{text} This machine has less memory than that: use --workers 1.")
    return Finding("limits", WORKS, text)


def _space() -> Finding:
    free = shutil.disk_usage(tempfile.gettempdir()).free / 1024**3
    return Finding("space on the disk", WORKS if free > 1 else LIMITED, f"{free:.1f} GiB are free.")


def report(findings: list[Finding]) -> str:
    """The findings as text, as wide as the terminal."""
    signs = {WORKS: "✓", LIMITED: "◐", MISSING: "✗"}
    lines = [f"{signs[f.state]} {f.name}: {f.state}" + (f"; {f.advice}" if f.advice else ".") for f in findings]
    ready = all(finding.state != MISSING for finding in findings)
    last = "Lessons, checks and grading all work here." if ready else "See above for what to do."
    width = shutil.get_terminal_size().columns
    return "\n".join([*(fill(line, width, subsequent_indent="  ") for line in lines), "", last])
