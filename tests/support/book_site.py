"""Builds the book from a copy of its sources, so that a test writes nothing into the course."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
MADE_HERE = ("_build", "made")


def build_book(folder: Path, **settings: str) -> Path:
    """Build the book under `folder` and return the folder of its pages. `settings` are environment variables.
    Raise AssertionError with the output of Sphinx if there is an error or a warning.
    """
    shutil.copytree(ROOT / "book", folder / "book", ignore=shutil.ignore_patterns(*MADE_HERE))
    for name in ("README.md", "GRADING.md", "pyproject.toml", "images", "notebooks"):
        (folder / name).symlink_to(ROOT / name)
    pages = folder / "book" / "_build" / "html"
    command = [sys.executable, "-m", "sphinx", "-W", "--keep-going", "-q", "book", str(pages)]
    environment = {name: text for name, text in os.environ.items() if not name.startswith("BOOK_")}
    done = subprocess.run(command, cwd=folder, env=environment | settings, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return pages
