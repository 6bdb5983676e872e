"""The student bundle for the tests. It is written and unpacked only once for all test processes, and runs in
a process that finds no other copy of the course.
"""

import fcntl
import json
import os
import subprocess
import sys
import sysconfig
import zipfile
from pathlib import Path

PACKAGES = sysconfig.get_path("purelib")
# subtle: -S ignores .pth files, through which an installed clone would be found.
ALONE = [sys.executable, "-S", "-P"]


def unpacked(recordings: Path) -> Path:
    """Return the folder of the unpacked bundle, which lies beside `recordings`; all test processes share both.
    The first caller makes and unpacks the bundle. It takes what has been recorded already, and nothing of the
    user's is read or written.
    """
    shared = recordings.parent
    with open(shared / "bundle.lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        file = shared / "bundle.zip"
        if not (shared / "bundle").exists():
            done = subprocess.run(
                [sys.executable, "-m", "autograder", "bundle", file],
                capture_output=True,
                text=True,
                cwd=shared,
                env=os.environ | {"XDG_CACHE_HOME": str(recordings)},
            )
            assert done.returncode == 0, done.stderr
            with zipfile.ZipFile(file) as archive:
                archive.extractall(shared / "bundle")
    return shared / "bundle" / "attention-by-hand"


def environment(bundle: Path) -> dict:
    """Return environment variables with which Python finds the bundle and the packages that the bundle needs."""
    kept = {name: os.environ[name] for name in ("PATH", "HOME", "LANG") if name in os.environ}
    paths = os.pathsep.join((str(bundle), PACKAGES))
    return kept | {"PYTHONPATH": paths, "OMP_NUM_THREADS": "1", "PYTHONDONTWRITEBYTECODE": "1"}


def run_alone(bundle: Path, *words: str, cwd: Path, stdin: bytes | None = None):
    """Run Python with only the bundle; return the finished process."""
    given = {"input": stdin} if stdin is not None else {"stdin": subprocess.DEVNULL}
    return subprocess.run(
        [*ALONE, *words], env=environment(bundle), cwd=cwd, capture_output=True, timeout=600, **given
    )


JUDGE = """
import importlib.util, json, os, sys
from dataclasses import asdict
from autograder.exercises import find
from autograder.judge import cases_of, judge
from autograder.judge.expected import expected_on
from autograder.notebook.card import html_of, text_of
from autograder.values.pack import unpack

assert importlib.util.find_spec("autograder.exercises.loops") is None
answers = os.fdopen(os.dup(1), "w")
os.dup2(2, 1)  # what else is printed is no answer
for line in sys.stdin.buffer:
    exercise_id, size = line.split()
    exercise = find(exercise_id.decode())
    cases = cases_of(exercise)
    expected = expected_on(exercise, cases)
    told = []
    for records in unpack(sys.stdin.buffer.read(int(size))):
        verdict = judge(exercise, cases, records, expected=expected)
        told.append([asdict(verdict), verdict.points, text_of(verdict), html_of(verdict)])
    print(json.dumps(told), file=answers, flush=True)
"""


class JudgedAlone:
    """A process that has only the bundle, and judges records. One process serves all exercises, because it
    takes seconds to start.
    """

    def __init__(self, bundle: Path, folder: Path):
        self._errors = folder / "errors"
        self._process = subprocess.Popen(
            [*ALONE, "-c", JUDGE],
            env=environment(bundle),
            cwd=folder,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._errors.open("w"),
        )

    def __call__(self, exercise_id: str, packed: bytes) -> list:
        """Return, for each of several answers, the verdict, the points, the text and the card that the bundle
        makes from the answer's records.
        """
        self._process.stdin.write(f"{exercise_id} {len(packed)}\n".encode() + packed)
        self._process.stdin.flush()
        line = self._process.stdout.readline()
        assert line, self._errors.read_text()
        return json.loads(line)

    def end(self) -> None:
        """End the process."""
        self._process.stdin.close()
        self._process.wait()
