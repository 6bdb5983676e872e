"""Makes images/check.png, the README's picture of a check that fails and of one that passes.

    python images/make_screenshot.py

Two cells are run in a real kernel, and what a notebook shows of them is photographed by headless Chromium
(which must be installed). Not part of the build: the picture changes only when check does.
"""

import shutil
import subprocess
import tempfile
from pathlib import Path

import nbformat
from nbclient import NotebookClient
from nbconvert import HTMLExporter
from PIL import Image

HERE = Path(__file__).parent
WRONG = """import torch
from autograder import check
def attention_scores(q, k):
    return q @ k.transpose(-2, -1)"""
RIGHT = """def attention_scores(q, k):
    return q @ k.transpose(-2, -1) / q.shape[-1] ** 0.5"""
FIRST = "check(attention_scores)   # a first try"
SECOND = "check(attention_scores)   # after a look at the question"
BROWSER = [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
    "--hide-scrollbars",
    "--force-device-scale-factor=1.5",
    "--disable-quic",
]


def run_cells() -> nbformat.NotebookNode:
    """Return the two checks with their outputs; the answers themselves are not shown."""
    cells = [nbformat.v4.new_code_cell(source) for source in (WRONG, FIRST, RIGHT, SECOND)]
    notebook = nbformat.v4.new_notebook(cells=cells)
    NotebookClient(notebook, timeout=120, allow_errors=True, kernel_name="python3").execute()
    notebook.cells = notebook.cells[1::2]
    return notebook


def photograph(page: Path, picture: Path, width: int, height: int) -> None:
    """Take a screenshot of a local page."""
    browser = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    if browser is None:
        raise SystemExit("Chromium is needed for this picture; install it and try again.")
    with tempfile.TemporaryDirectory() as profile:
        subprocess.run(
            [
                browser,
                *BROWSER,
                f"--user-data-dir={profile}",
                f"--window-size={width},{height}",
                f"--screenshot={picture}",
                page.as_uri(),
            ],
            check=True,
            capture_output=True,
        )


def main() -> None:
    html, _ = HTMLExporter(template_name="lab").from_notebook_node(run_cells())
    with tempfile.TemporaryDirectory() as folder:
        page = Path(folder, "check.html")
        page.write_text(html, encoding="utf-8")
        photograph(page, HERE / "check.png", 900, 582)
    with Image.open(HERE / "check.png") as picture:
        # subtle: by default, colours that cover little area are merged, such as those of the cards' edges.
        by_range = Image.Quantize.MAXCOVERAGE
        few_colours = picture.convert("RGB").quantize(256, by_range, dither=Image.Dither.NONE)
    few_colours.save(HERE / "check.png", optimize=True)


if __name__ == "__main__":
    main()
