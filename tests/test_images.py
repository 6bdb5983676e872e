"""Tests that the pictures in the texts are up to date, and that each is shown in a lesson or the README."""

import os
import subprocess
import sys

import pytest

from autograder.build.lesson import ROOT, find_lessons, read_cells
from autograder.build.pictures import pictures_of

IMAGES = ROOT / "images"
CELLS = [cell for lesson in find_lessons(None) for cell in read_cells(lesson)]
SHOWN = {name for cell in CELLS for name in pictures_of(cell.text)}
DRAWN = """
from autograder.notebook import figures

def pictures():
    return {"a": figures.bars({"one bar": [1]}, ["x"], "A picture")}
"""


def run(*words):
    script = [sys.executable, "make_images.py", *words]
    environment = os.environ | {"PYTHONPATH": str(ROOT)}
    return subprocess.run(script, cwd=IMAGES, env=environment, capture_output=True, text=True, check=False)


def test_images_are_what_their_scripts_draw():
    done = run("--check")
    assert done.returncode == 0, done.stdout + done.stderr


def test_a_stale_image_is_named(tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(str(IMAGES))
    import make_images

    monkeypatch.setattr(make_images, "IMAGES", tmp_path)
    assert list(make_images.stale()) == [f"{name}.png" for name in make_images.measured()]
    (tmp_path / "drawn.py").write_text(DRAWN)
    monkeypatch.syspath_prepend(str(tmp_path))
    assert list(make_images.stale())[:2] == ["a.svg", "a.png"]
    make_images.write("a", make_images.pictures()["a"])
    assert not {"a.svg", "a.png"} & {*make_images.stale()}


@pytest.mark.parametrize("file", sorted(IMAGES.glob("*.svg")), ids=lambda file: file.stem)
def test_every_drawing_is_shown_in_a_lesson_or_the_readme(file):
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    assert (file.stem in SHOWN or f"](images/{file.name})" in readme) and file.with_suffix(".png").is_file()
