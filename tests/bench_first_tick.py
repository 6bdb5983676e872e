"""Measures how long a newcomer takes from the website to the first tick. Run by `make bench`; asserts
nothing.

The commands of the page "How to start" run in an empty folder, with the wheel that the website offers. For
each step, the benchmark prints the seconds, what was downloaded, and how much disk space is used afterwards.
Then a browser opens the lab, runs the first cell, types an answer and checks it: once on this system, and
once with a kernel that lacks what Windows lacks. The screenshots are
tests/browser/screenshots/first-tick-*.png.

The website is the one that `make book` builds; if it has not been built, its pages are skipped. pip needs its
index, and the browser part needs Chromium. TORCH_INDEX names another index for PyTorch's CPU builds; if it is
empty, pip uses no additional index.
"""

import gzip
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import nbformat
from browser.conftest import WAIT
from browser.notebook_page import NotebookPage
from browser.screenshots import FOLDER, photograph
from browser.servers import Jupyter, files, jupyter
from playwright.sync_api import Page, expect, sync_playwright
from systems.windows import write_startup

from autograder.build.book.downloads import FOLDER as DOWNLOADS
from autograder.build.book.downloads import write_wheel
from autograder.build.lesson import ROOT
from autograder.requirements import TORCH_INDEX

SITE = ROOT / "book/_build/html"
FIRST = "notebooks/01_attention_from_loops.ipynb"
STUB = "def dot_product_scores"
ANSWER = ("rows = [torch.stack([a @ b for b in x]) for a in x]", "return torch.stack(rows)")
SHARES = {"B": 1e-6, "kB": 1e-3, "MB": 1.0, "GB": 1e3}


@contextmanager
def step(name: str) -> Iterator[list[str]]:
    """Time the block; then print `name`, the seconds, and the remarks that the block has appended to the
    yielded list.
    """
    start, more = time.perf_counter(), []
    yield more
    print(f"{name:34} {time.perf_counter() - start:7.1f} s  {', '.join(more)}", flush=True)


def downloaded(log: str) -> float:
    """Return the total size, in MB, of the packages that pip's output says it downloaded. Packages that pip
    finds in a local folder count as downloaded.
    """
    found = re.findall(r"Downloading \S+ \(([\d.]+) ([kMG]?B)\)", log)
    local = [Path(name) for name in re.findall(r"Processing (/\S+\.whl)", log)]
    return sum(float(size) * SHARES[unit] for size, unit in found) + sum(map(_megabytes, local))


def _megabytes(path: Path) -> float:
    every = path.rglob("*") if path.is_dir() else [path]
    return sum(one.stat().st_size for one in every if one.is_file() and not one.is_symlink()) / 1e6


def visit(pages: Path) -> None:
    """Open the website's first page and the page "How to start", and time both."""
    loaded = "performance.getEntriesByType('resource').map((one) => new URL(one.name).pathname.slice(1))"
    with files(pages) as address, new_page() as page:
        for number, name in enumerate(("index.html", "start.html"), start=1):
            with step(f"website: {name}") as more:
                page.goto(f"{address}{name}", wait_until="networkidle")
                sent = [gzip.compress((pages / part).read_bytes()) for part in {name, *page.evaluate(loaded)}]
                more += [f"{sum(map(len, sent)) / 1e6:.1f} MB as servers send it, compressed"]
            photograph(page, f"first-tick-{number}-{name.partition('.')[0]}")


def set_up(home: Path, wheel: Path) -> Path:
    """Run the first two commands of the page "How to start" in `home`; return the path of the new
    environment's Python.
    """
    shutil.copy(wheel, home)
    with step("python -m venv .venv"):
        subprocess.run([sys.executable, "-m", "venv", ".venv"], cwd=home, check=True)
    index = os.environ.get("TORCH_INDEX", TORCH_INDEX)
    line = [".venv/bin/python", "-m", "pip", "install", "--no-cache-dir", wheel.name]
    with step(f"pip install {wheel.name.partition('-')[0]}") as more:
        line += ["--extra-index-url", index] if index else []
        done = subprocess.run(line, cwd=home, capture_output=True, text=True)
        if done.returncode:
            raise SystemExit(done.stderr)
        more += [f"{downloaded(done.stdout):.0f} MB downloaded"]
        more += [f"{_megabytes(home / '.venv'):.0f} MB in .venv"]
    return home / ".venv/bin/python"


def to_the_first_tick(server: Jupyter, page: Page, system: str) -> None:
    """Open the lab in `page`, run the first cell, type and run an answer, and check it; time every step
    except typing and running the answer.
    """
    with step(f"{system}: the lab shows lesson 01"):
        page.goto(server.url(""))
        expect(page.locator(".jp-Notebook .jp-Cell").first).to_be_visible()
        cells = len(nbformat.read(server.folder / FIRST, as_version=4).cells)
        lesson = NotebookPage(page, cells)
    photograph(page, f"first-tick-3-lab-{system}")
    with step(f"{system}: the first cell"):
        lesson.run("import math")
    lesson.type_answer(STUB, *ANSWER)
    lesson.run(STUB)
    with step(f"{system}: the first check"):
        right = lesson.run("check(dot_product_scores)")
        expect(right).to_contain_text("✓")
    right.scroll_into_view_if_needed()
    photograph(page, f"first-tick-4-tick-{system}")


@contextmanager
def new_page(size: tuple[int, int] = (1280, 900)) -> Iterator[Page]:
    """Yield a page in a new browser."""
    program = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
    arguments = ["--no-sandbox"] if os.geteuid() == 0 else []
    expect.set_options(timeout=WAIT)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=program, args=arguments)
        page = browser.new_page(viewport={"width": size[0], "height": size[1]})
        page.set_default_timeout(WAIT)
        yield page
        browser.close()


def main() -> None:
    with tempfile.TemporaryDirectory() as place:
        home = Path(place, "stranger")
        home.mkdir()
        if SITE.is_dir():
            visit(SITE)
        write_wheel(Path(place), ROOT)
        (wheel,) = Path(place, DOWNLOADS).glob("*.whl")
        print(f"{'the wheel':46}{_megabytes(wheel):.1f} MB")
        python = set_up(home, wheel)
        for system in ("Linux", "Windows"):
            own = home / system
            if system == "Windows":
                write_startup(own / "ipython")
            folder = home / f"attention-by-hand-{system}"
            command = (str(python), "-m", "autograder", "lab", str(folder))
            with new_page() as page, jupyter(folder, own, command) as server:
                to_the_first_tick(server, page, system)
    print(f"Pictures: {FOLDER}/first-tick-*.png")


if __name__ == "__main__":
    main()
