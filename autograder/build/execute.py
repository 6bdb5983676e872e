"""Runs a lesson's notebook and keeps the outputs that are the same on every run.

The following is not stored: everything on stderr, live widgets (only their static picture is stored),
progress bars that have disappeared, and the times of a `timing` cell (the committed picture is stored
instead). If a cell fails or shows a memory address, that is an error in the lesson.
"""

import os
import re
import shutil
import tempfile
from dataclasses import replace
from pathlib import Path

from nbformat import NotebookNode
from nbformat.v4 import new_output

from autograder.build.lesson import ROOT, Cell, Lesson, complain
from autograder.errors import UserError
from autograder.exercises import exercises_of, find
from autograder.notebook.figures.style import DPI, SCREEN_DPI, shown
from autograder.notebook.memory import remember
from autograder.verdict import RIGHT, Aspect, Verdict

SECONDS_PER_CELL = 300
WIDGET = "application/vnd.jupyter.widget-view+json"
ADDRESS = re.compile(r"\bat 0x[0-9a-f]{6,}")
MINE = re.compile(r'\bmine\("(\w+\.\w+)"')
ANSI = re.compile(r"\x1b\[[0-9;]*m")


def execute(lesson: Lesson, cells: list[Cell], notebook: NotebookNode) -> None:
    """Run `notebook`, whose cells were made from `cells`, and put the outputs into it. Raises UserError if a
    cell fails or shows a memory address, or if no kernel can be started.
    """
    from nbclient.exceptions import CellExecutionError, CellTimeoutError, DeadKernelError

    with tempfile.TemporaryDirectory() as folder:
        put_beside(lesson, cells, Path(folder))
        try:
            _client(notebook, folder).execute(env=_environment(folder))
        except (CellExecutionError, CellTimeoutError, DeadKernelError) as error:
            raise _failure(lesson, cells, notebook, error) from None
        except (OSError, RuntimeError) as error:
            raise UserError(f"lesson {lesson.name}: no kernel could be started ({error}).") from None
    for number, (cell, made) in enumerate(zip(cells, notebook.cells), start=1):
        if cell.is_code:
            made.outputs = stored_outputs(lesson, cell, made.outputs)
            if any(ADDRESS.search(text) for text in _texts(made.outputs)):
                raise complain(
                    lesson,
                    _place(number, cell),
                    "its output shows a memory address, which is different on every run",
                )
    notebook.metadata.pop("widgets", None)
    notebook.metadata["language_info"] = {"name": "python"}


def put_beside(lesson: Lesson, cells: list[Cell], folder: Path) -> None:
    """Copy into `folder` the worked notebooks that the lesson reads with `mine`, and store there, for each of
    their exercises, the verdict that the answer is right.
    """
    asked = [find(name) for cell in cells for name in MINE.findall(cell.text) if cell.is_code]
    for name in {exercise.lesson for exercise in asked} - {lesson.name}:
        worked = replace(lesson, name=name).executed
        if worked.is_file():
            shutil.copy(worked, folder)
            for exercise in exercises_of(name):
                aspects = (Aspect(aspect, points, points) for aspect, points in exercise.aspects.items())
                remember(Verdict(exercise.id, RIGHT, tuple(aspects)), folder)


def _client(notebook, folder: str):
    from nbclient import NotebookClient

    return NotebookClient(
        notebook,
        timeout=SECONDS_PER_CELL,
        kernel_name="python3",
        record_timing=False,
        coalesce_streams=True,
        store_widget_state=False,
        extra_arguments=["--IPKernelApp.log_level=ERROR"],
        resources={"metadata": {"path": folder}},
    )


def _environment(folder: str) -> dict[str, str]:
    """Return environment variables that make runs the same on every machine: fixed hashes, one thread, no
    user profile, and inline figures.
    """
    paths = [str(ROOT), os.environ.get("PYTHONPATH", "")]
    new = {
        "PYTHONHASHSEED": "0",
        "PYTHONPATH": os.pathsep.join(filter(None, paths)),
        "OMP_NUM_THREADS": "1",
        "IPYTHONDIR": os.path.join(folder, ".ipython"),
        "PYTHONWARNINGS": "ignore",
        "PYTHONDONTWRITEBYTECODE": "1",
    }
    return {name: value for name, value in os.environ.items() if name != "MPLBACKEND"} | new


def stored_outputs(lesson: Lesson, cell: Cell, outputs: list) -> list:
    """Return what is stored as a cell's output: the committed picture of a `timing` cell, or the `outputs` of
    any other cell, without stderr, live widgets and progress bars that have disappeared.
    """
    if cell.kind == "timing":
        return timing_output(lesson, cell)
    kept = []
    for output in outputs:
        if output.output_type == "stream" and output.name == "stderr":
            continue
        if "data" in output and output.data.pop(WIDGET, None) is not None and "image/png" not in output.data:
            continue
        if output.get("data", {}).get("text/html") == "":  # a progress bar that has disappeared
            continue
        kept.append(output)
    return kept


def timing_output(lesson: Lesson, cell: Cell) -> list:
    """Return the stored output of a `timing` cell: the committed picture."""
    return [_picture(lesson.images / f"{cell.name}.png")]


def _picture(path: Path):
    """Return one of the course's pictures as the output of a cell. Its alternative text is the description
    stored in its file.
    """
    from PIL import Image

    with Image.open(path) as image:
        alt, width = image.info.get("Description", path.stem), round(image.width * SCREEN_DPI / DPI)
    data, metadata = shown(path.read_bytes(), alt, width)
    return new_output("display_data", data=data | {"text/plain": f"<picture {path.stem}>"}, metadata=metadata)


def _texts(outputs: list) -> list[str]:
    return [
        output["text"] if output.output_type == "stream" else output.get("data", {}).get("text/plain", "")
        for output in outputs
    ]


def _failure(lesson: Lesson, cells: list[Cell], notebook, error: Exception) -> UserError:
    """Return an error that names the cell that failed, which is the last one that was started."""
    started = [
        number
        for number, made in enumerate(notebook.cells, start=1)
        if made.get("execution_count") or made.get("outputs")
    ]
    number = started[-1] if started else 1
    name, value = getattr(error, "ename", ""), getattr(error, "evalue", "")
    text = f"{name}: {value}" if name else str(error)
    text = " ".join(ANSI.sub("", text).split()).rstrip(".")
    return complain(lesson, _place(number, cells[number - 1]), f"running it failed with {text[:400]}")


def _place(number: int, cell: Cell) -> str:
    return f"cell {number}" + (f" ({cell.kind}: {cell.name})" if cell.name else "")
