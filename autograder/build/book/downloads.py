"""The downloads of the book: the course as a wheel, and the exercise notebooks, each with a cell that
installs the course.
"""

import shutil
import subprocess
import sys
import tempfile
import tomllib
from pathlib import Path

from nbformat import NotebookNode
from nbformat.v4 import new_code_cell
from PIL import Image

from autograder.build.lesson import Lesson
from autograder.build.notebooks import as_text, student_notebook
from autograder.build.repository import FIRST, GITHUB, INSTALL, in_colab
from autograder.requirements import TORCH_INDEX

FOLDER = "downloads"
PARTS = (
    "autograder",
    "solutions",
    "images",
    "pyproject.toml",
    "setup.py",
    "MANIFEST.in",
    "LICENSE",
    "CHANGELOG.md",
)
CARD_WIDTH = 480  # pixels of a picture on the first page
INSTALL_CELL = """# Installs the course, once, where it is missing.
import sys
from importlib.util import find_spec

if find_spec("autograder") is None and "google.colab" in sys.modules:
    {colab}
elif find_spec("autograder") is None:
    %pip install {source}"""
SET_UP = """Download {download} (about 6 MB) into a folder of your own. You need Python 3.11 to 3.14. Run the three
lines for your system in that folder. They set everything up, once, in the folder `.venv`, and open the first lesson in
JupyterLab. On Windows, in PowerShell:

```
py -m venv .venv
.venv\\Scripts\\python -m pip install {wheel}
.venv\\Scripts\\python -m autograder lab
```

On a Mac:

```
python3 -m venv .venv
.venv/bin/python -m pip install {wheel}
.venv/bin/python -m autograder lab
```

On Linux, with PyTorch's build for the CPU, which is all that the course needs:

```
python3 -m venv .venv
.venv/bin/python -m pip install {wheel} \\
    --extra-index-url {index}
.venv/bin/python -m autograder lab
```

The packages take about 2 GB of disk. Each lesson's page also has its exercise notebook. Its first cell installs the
course where it is missing, {where}.
"""


def wheel_name(root: Path) -> str:
    """Return the file name of the course's wheel, or an empty string if there is no source to make one from."""
    if not (root / "setup.py").is_file():
        return ""
    project = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    return f"{project['name'].replace('-', '_')}-{project['version']}-py3-none-any.whl"


def write_wheel(folder: Path, root: Path) -> None:
    """Build the course's wheel offline from a copy of the source, so that the source folder stays clean."""
    with tempfile.TemporaryDirectory() as copy:
        for part in PARTS:
            if (root / part).is_dir():
                shutil.copytree(root / part, Path(copy, part), ignore=shutil.ignore_patterns("__pycache__"))
            else:
                shutil.copyfile(root / part, Path(copy, part))
        pip = [sys.executable, "-m", "pip", "--disable-pip-version-check", "wheel", "--quiet"]
        subprocess.run(
            [*pip, "--no-deps", "--no-build-isolation", "--wheel-dir", folder / FOLDER, copy], check=True
        )


def write_card_picture(picture: Path, target: Path) -> None:
    """Write a small copy of a picture, for a card on the first page."""
    with Image.open(picture) as found:
        height = round(found.height * CARD_WIDTH / found.width)
        small = found.convert("RGB").resize((CARD_WIDTH, height), Image.Resampling.LANCZOS)
    target.parent.mkdir(parents=True, exist_ok=True)
    small.quantize(64, dither=Image.Dither.NONE).save(target, optimize=True)


def download_parts(lessons: list[Lesson], address: str, branch: str, root: Path) -> dict[str, str]:
    """Return a dict from file name to text, with the notebooks to download and the parts of pages that link
    to the wheel and to lesson 1.
    """
    wheel = wheel_name(root)
    notebooks = {
        f"{FOLDER}/{lesson.name}.ipynb": as_text(with_install_cell(student_notebook(lesson), wheel, address))
        for lesson in lessons
    }
    download = f"{{download}}`Download the course <made/{FOLDER}/{wheel}>`"
    links = [
        "{doc}`Read lesson 1 <made/lessons/01_attention_from_loops>`",
        *([download] if wheel else []),
        *([f"[Try it in Colab]({in_colab(address, FIRST, branch)})"] if GITHUB.fullmatch(address) else []),
        "{doc}`Set it up and solve it <start>`",
    ]
    where = (
        "from the course's address" if address else "from the file that you downloaded, next to the notebook"
    )
    name = f"{{download}}`{wheel} <made/{FOLDER}/{wheel}>`"
    set_up = SET_UP.format(download=name, wheel=wheel, index=TORCH_INDEX, where=where)
    parts = {"parts/links.md": ":::{div} links\n" + "\n".join(links) + "\n:::\n", "parts/set_up.md": set_up}
    return notebooks | parts


def with_install_cell(notebook: NotebookNode, wheel: str, address: str) -> NotebookNode:
    """Return the notebook with an additional first code cell, which installs the course if it is missing."""
    source = f"git+{address}" if address else wheel
    text = INSTALL_CELL.format(colab=INSTALL.format(source), source=source)
    codes = (number for number, cell in enumerate(notebook.cells) if cell.cell_type == "code")
    first = next(codes, len(notebook.cells))
    notebook.cells.insert(first, new_code_cell(text, id="install"))
    return notebook
