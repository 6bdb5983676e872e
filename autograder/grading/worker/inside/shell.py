"""Runs the cells of a notebook in order, and collects their outputs.

The shell is IPython without a kernel: magics, `await` at top level and matplotlib's inline figures work as in
Jupyter.
"""

import io
import subprocess
import sys
from collections.abc import Callable
from typing import Any

from IPython.core.displayhook import DisplayHook
from IPython.core.displaypub import DisplayPublisher
from IPython.core.interactiveshell import InteractiveShell
from traitlets import Type
from traitlets.config import Config

from autograder.probe.limit import OutOfTime, time_limit

LONGEST_STREAM = 100_000
LARGEST_CELL = 4_000_000
CUT = "\n... (the rest is cut off)\n"


class Outputs(list):
    """The outputs of one cell, in nbformat's form and of limited size."""

    size = 0

    def stream(self, name: str, text: str) -> None:
        if self and self[-1].get("name") == name:
            last = self[-1]
        else:
            last = {"output_type": "stream", "name": name, "text": ""}
            self._add(last, 0)
        left = LONGEST_STREAM - len(last["text"])
        if left > 0:
            last["text"] += text if len(text) <= left else text[:left] + CUT

    def data(self, kind: str, data: dict, **more: Any) -> None:
        plain = {mime: value for mime, value in data.items() if type(mime) is str and type(value) is str}
        self._add({"output_type": kind, "data": plain, "metadata": {}, **more}, sum(map(len, plain.values())))

    def error(self, name: str, text: str, lines: list[str]) -> None:
        lines = [str(line)[:LONGEST_STREAM] for line in lines[-30:]]
        self._add({"output_type": "error", "ename": name, "evalue": text[:1000], "traceback": lines}, 0)

    def out_of_time(self) -> None:
        self.error("OutOfTime", "the cell was stopped", ["The cell ran for too long and was stopped."])

    def _add(self, output: dict, size: int) -> None:
        self.size += size
        if self.size <= LARGEST_CELL and len(self) < 200:
            self.append(output)


class _Stream(io.TextIOBase):
    """A replacement for sys.stdout or sys.stderr while a cell runs.

    subtle: it has no attribute that leads to the shell, because students' code can get hold of it by allowed
    names (as `tqdm([]).fp`), and a shell runs any text.
    """

    encoding = "utf-8"
    errors = "replace"

    def __init__(self, keep: Callable[[str], None]):
        self._keep = keep

    def write(self, text: str) -> int:
        self._keep(str(text))
        return len(text)

    def writable(self) -> bool:
        return True


class _Published(DisplayPublisher):
    def publish(self, data: dict, metadata: Any = None, source: Any = None, **_: Any) -> None:
        self.shell.outputs.data("display_data", data)

    def clear_output(self, wait: bool = False) -> None:
        self.shell.outputs.clear()


class _Result(DisplayHook):
    def write_output_prompt(self) -> None:
        pass

    def write_format_data(self, format_dict: dict, md_dict: Any = None) -> None:
        assert isinstance(self.shell, Shell), "it makes this hook"
        self.shell.outputs.data("execute_result", format_dict, execution_count=self.shell.execution_count)

    def finish_displayhook(self) -> None:
        sys.stdout.flush()


def _text_of(error: BaseException) -> str:
    """Return the text of an error, without the name that IPython gives the cell."""
    if isinstance(error, SyntaxError) and error.msg and error.lineno:
        return f"{error.msg} (line {error.lineno})"
    return str(error)


class Shell(InteractiveShell):
    """IPython's shell. The outputs of the last cell are in `outputs`."""

    display_pub_class = Type(_Published)
    displayhook_class = Type(_Result)

    def __init__(self, **kwargs: Any) -> None:
        self.outputs = Outputs()
        super().__init__(**kwargs)

    def _showtraceback(self, etype: type[BaseException], evalue: BaseException, stb: Any) -> None:
        if issubclass(etype, OutOfTime):
            self.outputs.out_of_time()
            return
        lines = stb if isinstance(stb, list) else [str(stb)]
        self.outputs.error(etype.__name__, _text_of(evalue), lines)

    def ask_exit(self) -> None:
        """Do nothing: `exit` in a cell must not end the process."""

    def enable_gui(self, gui: Any = None) -> None:
        """Do nothing: `%matplotlib inline` needs no windows."""

    def system(self, cmd: str) -> None:
        """Run a shell command, as in `!command`, without a terminal. subtle: IPython's own method would start
        a new session, which is not possible in a sandbox.
        """
        done = subprocess.run(
            self.var_expand(cmd, depth=1),
            shell=True,
            check=False,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
        )
        print(done.stdout.decode(errors="replace"), end="")

    def run(self, source: str, seconds: float) -> list[dict]:
        """Run one cell for at most `seconds`, and return its outputs."""
        self.outputs = Outputs()
        streams = sys.stdout, sys.stderr
        sys.stdout = _Stream(lambda text: self.outputs.stream("stdout", text))
        sys.stderr = _Stream(lambda text: self.outputs.stream("stderr", text))
        try:
            with time_limit(seconds):
                self.run_cell(source, store_history=True)
        except OutOfTime:
            self.outputs.out_of_time()
        finally:
            sys.stdout, sys.stderr = streams
        return list(self.outputs)


def make_shell() -> Shell:
    """Return a shell that keeps no history on disk and has short tracebacks and inline figures."""
    from IPython.core.pylabtools import activate_matplotlib
    from matplotlib_inline.backend_inline import configure_inline_support

    config = Config()
    config.HistoryManager.enabled = False
    config.InteractiveShell.xmode = "Minimal"
    config.InteractiveShell.colors = "NoColor"
    config.InteractiveShell.cache_size = 0
    shell = Shell.instance(config=config)
    backend = "module://matplotlib_inline.backend_inline"
    activate_matplotlib(backend)
    configure_inline_support(shell, backend)
    return shell
