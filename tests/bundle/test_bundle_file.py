"""Tests the student bundle as a file: its size, its installation with pip, and what remains if writing it is
interrupted.
"""

import contextlib
import os
import shutil
import signal
import subprocess
import sys
import time
import zipfile
from functools import partial

import psutil
import pytest

from autograder.build.lesson import ROOT, find_lessons
from autograder.bundle import recording
from autograder.bundle.make import bundle
from autograder.errors import UserError

LARGEST = 2_500_000  # bytes per lesson


def test_it_is_small(bundle_folder):
    file = bundle_folder.parents[1] / "bundle.zip"
    assert file.stat().st_size < LARGEST * len(find_lessons(None))
    with zipfile.ZipFile(file) as archive:
        assert {name.split("/")[0] for name in archive.namelist()} == {"attention-by-hand"}


def test_pip_installs_all_of_it(bundle_folder, tmp_path):
    words = ["wheel", "-q", "--no-deps", "--no-build-isolation", "--wheel-dir", tmp_path / "wheel"]
    shutil.copytree(bundle_folder, tmp_path / "copy", ignore=shutil.ignore_patterns("__pycache__"))
    subprocess.run([sys.executable, "-m", "pip", *map(str, words), str(tmp_path / "copy")], check=True)
    names = set(zipfile.ZipFile(next((tmp_path / "wheel").glob("*.whl"))).namelist())
    package = (bundle_folder / "autograder").rglob("*")
    here = {path.relative_to(bundle_folder).as_posix() for path in package if path.is_file()}
    assert {name for name in here if "__pycache__" not in name} <= names


def test_a_file_that_is_there_is_left_alone(tmp_path):
    file = tmp_path / "mine.zip"
    file.write_text("mine")
    done = subprocess.run(
        [sys.executable, "-m", "autograder", "bundle", file], capture_output=True, text=True
    )
    assert done.returncode == 2 and done.stderr.count("\n") == 1 and "exists" in done.stderr
    assert file.read_text() == "mine"


@pytest.mark.trial
@pytest.mark.parametrize(
    ("number", "workers"), [(signal.SIGTERM, 1), (signal.SIGINT, min(os.cpu_count(), 8))]
)
def test_when_it_is_stopped_nothing_is_left(number, workers, tmp_path, tmp_path_factory):
    aside = tmp_path / "aside"
    aside.mkdir()
    folders = {
        "TMPDIR": str(aside),
        "XDG_CACHE_HOME": str(tmp_path_factory.mktemp("cache")),
        "PYTHONPATH": str(ROOT),
    }
    begun = subprocess.Popen(
        [sys.executable, "-m", "autograder", "bundle", "a.zip"],
        cwd=tmp_path,
        env=os.environ | folders,
        start_new_session=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        # A program that a shell starts in the background ignores Ctrl-C, and so would what it starts.
        preexec_fn=partial(signal.signal, signal.SIGINT, signal.SIG_DFL),
    )
    _wait_for_workers(begun, workers)
    # Ctrl-C reaches all processes of a terminal's group, SIGTERM the one that was started.
    os.killpg(begun.pid, number) if number == signal.SIGINT else os.kill(begun.pid, number)
    said = begun.communicate(timeout=300)
    assert begun.returncode == (130 if number == signal.SIGINT else 128 + number), said
    assert "Traceback" not in said[1]
    assert not _workers(begun.pid)
    assert [*tmp_path.iterdir()] == [aside] and not [*aside.iterdir()]


def test_ctrl_c_waits_until_the_bar_is_whole(monkeypatch):
    made = []

    class Interrupted(recording.tqdm):
        def __init__(self, *args, **settings):
            signal.raise_signal(signal.SIGINT)
            super().__init__(*args, **settings)
            made.append(self)

    monkeypatch.setattr(recording, "tqdm", Interrupted)
    # A program started in the background by a shell ignores Ctrl-C.
    with recording.handled_by(signal.default_int_handler, signal.SIGINT), pytest.raises(KeyboardInterrupt):
        recording._write([], progress=False)
    assert made, "half a bar ends in a traceback, when it is thrown away"


def _wait_for_workers(process, number: int) -> None:
    """Wait until a running `bundle` command has at least `number` worker processes."""
    while process.poll() is None:
        if len(_workers(process.pid)) >= number:
            return
        time.sleep(0.02)
    raise AssertionError(process.communicate())


def _workers(group: int) -> list[int]:
    """Return the ids of the worker processes in the process group that a `bundle` command leads."""
    found = []
    for process in psutil.process_iter():
        with contextlib.suppress(OSError, psutil.Error):  # gone in the meantime
            if os.getpgid(process.pid) == group and "spawn_main" in " ".join(process.cmdline()):
                found.append(process.pid)
    return found


def test_a_folder_that_is_not_there_is_told(tmp_path):
    with pytest.raises(UserError, match="there is no folder"):
        bundle(tmp_path / "none" / "a.zip")
