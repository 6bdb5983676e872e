"""Checks what works on a learner's machine, and names the command that fixes what does not."""

import os
import platform
import shutil
import sys
import tempfile
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError
from subprocess import DEVNULL
from textwrap import fill

from autograder.errors import PACKAGE
from autograder.requirements import TORCH_INDEX, missing, name_in

WORKS, LIMITED, MISSING = "works", "limited", "missing"
SIGNS = {WORKS: "✓", LIMITED: "◐", MISSING: "✗"}
PYTHONS = (3, 11), (3, 14)
# In characters: Windows' default limit on the length of a path, and the length of the longest path inside a
# Python installation there, which is that of a PyTorch licence file.
PATH_LIMIT, DEEPEST = 260, 190
# Packages that are tried out separately, so that each has a finding of its own.
TRIED = {"torch", "pygraphviz"}
# Run in a kernel: everything that a lesson needs, from the first import to a check.
CHECK = """
import torch
from autograder import check
def softmax(scores):
    grown = torch.exp(scores - scores.amax(-1, keepdim=True))
    return grown / grown.sum(-1, keepdim=True)
check(softmax)
"""


@dataclass(frozen=True)
class Finding:
    """The result of trying one thing. `advice` says what to do if the thing works only partly or not at all;
    if it works, `advice` may hold a remark.
    """

    name: str
    state: str
    advice: str = ""


def examine() -> list[Finding]:
    """Try everything that lessons and their checks need, and return the findings."""
    return [_python(), *_paths(), _torch(), _packages(), _graphs(), _model(), _kernel(), _space()]


def installs(package: str, what: str = "it") -> str:
    """Return a sentence with the command that installs a package into this Python. On Linux, the command for
    PyTorch, or for the course itself in editable mode, gets PyTorch's CPU build.
    """
    brings_torch = package == "torch" or package.startswith("--editable")
    index = f" --extra-index-url {TORCH_INDEX}" if sys.platform == "linux" and brings_torch else ""
    return f'`"{sys.executable}" -m pip install {package}{index}` installs {what}.'


def _python() -> Finding:
    name = f"Python {platform.python_version()} ({platform.system()} {platform.machine()})"
    if PYTHONS[0] <= sys.version_info[:2] <= PYTHONS[1]:
        return Finding(name, WORKS)
    return Finding(name, MISSING, "the course needs Python 3.11 to 3.14, which python.org offers.")


def _paths() -> list[Finding]:
    """Check, on Windows only, whether the packages' paths are short enough for the limit that Windows sets by
    default.
    """
    if sys.platform != "win32":
        return []
    needed, name = len(sys.prefix) + DEEPEST, "length of paths"
    if needed < PATH_LIMIT:
        return [Finding(name, WORKS)]
    shorter = f"at least {needed - PATH_LIMIT + 1} characters shorter"
    why = f"packages here have paths of up to {needed} characters, and Windows may stop at {PATH_LIMIT - 1}. If a file "
    return [
        Finding(
            name,
            LIMITED,
            f"{why}cannot be installed or found, move the course to a folder whose path is {shorter}.",
        )
    ]


def _torch() -> Finding:
    try:
        import torch
    except ImportError:
        return Finding("PyTorch", MISSING, installs("torch"))
    except OSError as error:  # on Windows: a DLL that is not there
        why = "on Windows it needs Microsoft's Visual C++ Redistributable (x64), which microsoft.com offers."
        return Finding("PyTorch", MISSING, f"it is installed but does not load ({error}); {why}")
    device = (
        "lessons 11, 15 and 23 use the GPU" if torch.cuda.is_available() else "on the CPU, which is enough"
    )
    return Finding(f"PyTorch {torch.__version__}", WORKS, f"{device}.")


def _packages() -> Finding:
    """Check that the course's requirements are installed, except those in TRIED, which have checks of their
    own. Nothing else is checked, because lessons import no packages beyond the requirements.
    """
    name = "packages that lessons and commands import"
    try:
        lacking = {name_in(one): one for one in missing() if name_in(one) not in TRIED}
    except PackageNotFoundError:
        itself = f'--editable "{PACKAGE.parent}"'
        return Finding(name, MISSING, f"the course itself: {installs(itself)}")
    if not lacking:
        return Finding(name, WORKS)
    quoted = " ".join(f'"{one}"' for one in lacking.values())
    return Finding(name, MISSING, f"{', '.join(lacking)}: {installs(quoted, 'what is missing')}")


def _model() -> Finding:
    name = "the real model of lessons 20 to 23"
    try:
        from autograder.notebook.real_model import package
    except (ImportError, OSError):  # already reported above
        return Finding(name, LIMITED, "this can be checked once the rest works.")
    if package.is_there():
        return Finding(f"{name} ({package.NAME})", WORKS)
    why = f"`{package.COMMAND}` fetches it ({package.MEGABYTES} MB, once); all exercises and checks work without it."
    return Finding(name, LIMITED, why)


def _graphs() -> Finding:
    try:
        from pygraphviz import AGraph

        AGraph("digraph { a -> b }").draw(prog="dot", format="svg")
    except ImportError:
        return Finding("drawing graphs", LIMITED, f"text is shown instead. {installs('pygraphviz')}")
    except Exception as error:  # whatever stops Graphviz
        return Finding("drawing graphs", LIMITED, f"text is shown instead: pygraphviz cannot draw ({error}).")
    return Finding("drawing graphs", WORKS)


def _kernel() -> Finding:
    name = "a check in a notebook's kernel"
    try:
        printed = _run_in_a_kernel(CHECK)
    except ImportError as error:
        return Finding(name, MISSING, installs(error.name or "ipykernel"))
    except Exception as error:  # whatever stops a kernel
        return Finding(name, MISSING, f"the kernel does not run ({type(error).__name__}: {error}).")
    if "right, 7 of 7 points" in printed:
        return Finding(name, WORKS)
    return Finding(
        name, MISSING, f"it should have printed a tick, but printed: {printed.strip()[-300:] or 'nothing'}"
    )


def _run_in_a_kernel(code: str) -> str:
    """Run the code in a kernel of this Python, and return its output."""
    import nbformat
    from nbclient import NotebookClient

    os.environ["JUPYTER_PREFER_ENV_PATH"] = "1"  # not a kernel from the home folder
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(code)])
    with tempfile.TemporaryDirectory() as folder:  # checks store their verdict in the folder where they run
        place = {"metadata": {"path": folder}}
        client = NotebookClient(
            notebook, timeout=120, allow_errors=True, kernel_name="python3", resources=place
        )
        client.execute(stdout=DEVNULL, stderr=DEVNULL)
    outputs = notebook.cells[0].outputs
    return "\n".join(
        one.get("text") or one.get("evalue") or one.data.get("text/plain", "") for one in outputs
    )


def _space() -> Finding:
    free = shutil.disk_usage(tempfile.gettempdir()).free / 1024**3
    return Finding("disk space", WORKS if free > 1 else LIMITED, f"{free:.1f} GiB are free.")


def format_findings(title: str, findings: list[Finding], ready: str) -> str:
    """Return the findings as text, wrapped to the width of the terminal. The last line is `ready` if nothing
    is missing; otherwise it points to the findings above.
    """
    lines = [
        f"{SIGNS[f.state]} {f.name}: {f.state}" + (f"; {f.advice}" if f.advice else ".") for f in findings
    ]
    last = ready if all(finding.state != MISSING for finding in findings) else "See above for what to do."
    width = shutil.get_terminal_size().columns
    return "\n".join([title, *(fill(line, width, subsequent_indent="  ") for line in lines), last])
