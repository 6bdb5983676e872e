"""Makes this process resemble one on Windows as far as Linux allows: call `become()` before anything of ours
is imported.

Everything that Windows lacks is removed: modules, functions, signals (see lacking.py). `os.name` and
`sys.platform` report Windows, the locale is cp1252, and paths are compared without case. Windows' own DLLs,
file locks and processes cannot be simulated.
"""

import builtins
import importlib
import io
import locale
import os
import pathlib
import sys
import sysconfig
import tempfile

from systems.lacking import absent, lacking

# Third-party packages are loaded first, because these are builds for Linux.
OTHERS = (
    *(
        "IPython.core.completer",
        "PIL.PngImagePlugin",
        "graphviz",
        "gymnasium",
        "ipykernel.kernelapp",
        "ipywidgets",
    ),
    *(
        "matplotlib.backends.backend_agg",
        "matplotlib.backends.backend_svg",
        "matplotlib_inline.backend_inline",
    ),
    *(
        "numpy.random",
        "psutil",
        "pygraphviz",
        "safetensors.torch",
        "sklearn.datasets",
        "sqlite3",
        "tokenizers",
    ),
    *("torch._dynamo", "torchview", "tqdm"),
)

STAYS = ("select",)  # the kernel's own event loop needs it

STARTUP = f"""
import asyncio, sys
asyncio.set_event_loop(asyncio.new_event_loop())  # the kernel's own, which on Linux needs what Windows lacks
more = [{str(pathlib.Path(__file__).parents[1])!r}, {sysconfig.get_path("purelib")!r}]
sys.path += more  # with mypy, which knows what Windows lacks
from systems.windows import become
become()
sys.path = [path for path in sys.path if path not in more]
"""


def write_startup(ipython: pathlib.Path) -> None:
    """Make every kernel whose IPYTHONDIR is this folder simulate Windows, even before its first cell."""
    startup = ipython / "profile_default/startup/00.py"
    startup.parent.mkdir(parents=True)
    startup.write_text(STARTUP, encoding="utf-8")


def become() -> None:
    """Make this process look like one on Windows from now on, as far as Python can tell."""
    for name in OTHERS:
        importlib.import_module(name)
    assert not [name for name in sys.modules if name.partition(".")[0] == "autograder"]
    gone = absent("win32")
    for module, names in lacking("win32").items():
        if module in sys.modules and module not in {*gone, *STAYS}:
            for name in names & vars(sys.modules[module]).keys():
                delattr(sys.modules[module], name)
    sys.modules |= dict.fromkeys(gone)
    os.name, sys.platform = "nt", "win32"
    tempfile._O_TMPFILE_WORKS = False  # Linux's own way to make a file without a name
    pathlib.WindowsPath = pathlib.PosixPath  # Path() asks os.name which of the two to make
    _compare_paths_without_case()
    _speak_cp1252()


def _compare_paths_without_case() -> None:
    os.path.normcase = lambda path: os.fspath(path).lower()
    pathlib.PurePath.__eq__ = lambda one, other: str(one).lower() == str(other).lower()
    pathlib.PurePath.__hash__ = lambda path: hash(str(path).lower())


def _speak_cp1252() -> None:
    """Make cp1252 the default encoding for text files, as on Windows."""
    plain = builtins.open

    def opened(file, mode="r", buffering=-1, encoding=None, *more, **named):
        if "b" not in mode and encoding in (None, "locale"):
            encoding = "cp1252"
        return plain(file, mode, buffering, encoding, *more, **named)

    builtins.open = io.open = opened
    locale.getpreferredencoding = locale.getencoding = lambda *_: "cp1252"
