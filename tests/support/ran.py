"""Runs a lesson once in a kernel of this process, for all tests about that lesson: they use its names and the
outputs of its cells.
"""

import os
import re
import sys
import tempfile
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import nbformat
from nbformat import NotebookNode
from nbformat.v4 import output_from_msg

from autograder.build.execute import put_beside, stored_outputs
from autograder.build.lesson import Lesson, read_cells
from autograder.build.notebooks import reading_notebook
from autograder.build.outputs import text_of

PICTURE = re.compile(r"^<picture .*?>$", re.MULTILINE | re.DOTALL)
SHOWN = ("stream", "execute_result", "display_data", "error")


@dataclass(frozen=True)
class Ran:
    """The names that a lesson has defined once its last cell has run, and its notebook with the outputs of
    this run.
    """

    names: dict[str, Any]
    notebook: NotebookNode

    @property
    def printed(self) -> str:
        """The text that a reader sees below the cells, without descriptions of pictures."""
        texts = [text_of(cell) for cell in self.notebook.cells if cell.cell_type == "code"]
        return PICTURE.sub("", "\n".join(texts))


@cache
def ran(name: str) -> Ran:
    """Run a lesson from top to bottom; return its names, and its notebook with the outputs. Raise
    AssertionError, with the code of the cell, if a cell fails.
    """
    from ipykernel.inprocess import InProcessKernelManager

    lesson = Lesson(name)
    cells, notebook = read_cells(lesson), reading_notebook(lesson)
    place, main = os.getcwd(), sys.modules["__main__"]
    manager = InProcessKernelManager()
    with tempfile.TemporaryDirectory() as folder:
        put_beside(lesson, cells, Path(folder))
        os.chdir(folder)
        manager.start_kernel()
        shell = manager.kernel.shell
        try:
            client = manager.client()
            client.start_channels()
            for cell, made in zip(cells, notebook.cells, strict=True):
                if cell.is_code:
                    made.outputs = stored_outputs(lesson, cell, _executed(client, made.source))
            return Ran(dict(shell.user_ns), notebook)
        finally:
            manager.shutdown_kernel()
            type(shell).clear_instance()  # else later tests of this process would seem to run in a notebook
            sys.modules["__main__"] = main
            os.chdir(place)


def _executed(client, code: str) -> list[NotebookNode]:
    """Run a cell and return its outputs as a notebook stores them: successive prints are joined, and only the
    last state of a display is kept.
    """
    client.execute(code)
    outputs, displays = [], {}
    while client.iopub_channel.msg_ready():
        message = client.get_iopub_msg(timeout=0)
        kind, content = message["msg_type"], message["content"]
        key = content.get("transient", {}).get("display_id")
        if kind == "update_display_data" and key in displays:
            displays[key].update(data=content["data"], metadata=content["metadata"])
        elif kind in SHOWN:
            output = nbformat.from_dict(output_from_msg(message))
            assert kind != "error", f"{code}\n{output.ename}: {output.evalue}"
            last = outputs[-1] if outputs else None
            if kind == "stream" and last and last.output_type == "stream" and last.name == output.name:
                last.text += output.text
                continue
            outputs.append(output)
            if key:
                displays[key] = output
    return outputs
