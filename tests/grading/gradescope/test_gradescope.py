"""Tests a lesson on Gradescope: `run_autograder` runs in a folder that is laid out as Gradescope's
documentation describes.
"""

import json
import os
import shutil
import stat
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

import pytest
from nbformat.v4 import new_code_cell
from sandboxed import needs_sandbox
from term import change

from autograder.errors import UserError
from autograder.exercises import find
from autograder.grading.demo.hand_in import hand_in
from autograder.grading.demo.sample_class import FIRST, SOFTMAX, WRITTEN, SampleSubmission
from autograder.grading.gradescope import run
from autograder.grading.gradescope.make import make_archive
from autograder.judge import not_started

# Like Gradescope's container: no program there can make a sandbox.
WITHOUT_SANDBOX = """
import sys
from pathlib import Path
from autograder.grading.sandbox import sandbox
from autograder.grading.worker import fork_server
from autograder.grading.worker.inside import nobody
sandbox._tried = lambda: (None, "no namespaces here.")
if sys.argv[2] == "readable":  # as the libraries are there; the Python of these tests may be one of root's own
    nobody.LIBRARIES = ()
    patch = "import autograder.grading.worker.inside.nobody as nobody; nobody.LIBRARIES = ()"
    fork_server.START = fork_server.START.replace("main(told)", f"{patch}; main(told)")
else:
    nobody.LIBRARIES = ("/nowhere",)
from autograder.grading.gradescope import run
sys.exit(run.main(Path(sys.argv[1])))
"""
HOSTILE = """
import os, pathlib
root = pathlib.Path({root!r})
seen = []
for path in ("source/course/.secret", "source/autograder/exercises/loops/softmax.py", "source"):
    try:
        seen.append(os.listdir(root / path) if path == "source" else (root / path).read_text())
    except OSError:
        pass
try:
    (root / "results" / "results.json").write_text('{{"score": 100}}')
    seen.append("written")
except OSError:
    pass
(root / "open" / "seen").write_text(f"{{os.getuid()}} {{seen}}")
"""


@pytest.fixture(scope="module")
def course(first_course, tmp_path_factory) -> Path:
    folder = Path(shutil.copytree(first_course, tmp_path_factory.mktemp("gradescope") / "course"))
    hand_in(folder, SampleSubmission("zoe_zq7", written="words of zoe_zq8"))
    return folder


@pytest.fixture(scope="module")
def archive(course, tmp_path_factory) -> Path:
    return make_archive(FIRST, course, tmp_path_factory.mktemp("archive") / "autograder.zip")


@pytest.fixture
def autograder(archive):
    """A stand-in for the folder /autograder as Gradescope's harness lays it out; its folder `python` stands
    in for the environment that setup.sh makes there.

    subtle: it is outside pytest's folders, which other users may not enter.
    """
    place = Path(tempfile.mkdtemp())
    place.chmod(0o755)
    root = place / "autograder"
    for name in ("submission", "results", "python/bin"):
        (root / name).mkdir(parents=True)
    with zipfile.ZipFile(archive) as packed:
        packed.extractall(root / "source")
    shutil.copy(root / "source" / "run_autograder", root)
    (root / "run_autograder").chmod(0o755)
    (root / "source").chmod(0o700)
    write_python(root, f'exec "{sys.executable}" "$@"')
    yield root
    shutil.rmtree(place)


def write_python(root: Path, line: str) -> None:
    program = root / "python" / "bin" / "python"
    program.write_text(f"#!/bin/sh\n{line}\n")
    program.chmod(0o755)


def graded(root: Path, status: int = 0) -> tuple[dict, str]:
    """Run `run_autograder`, which must exit with `status`. Return the results, which the student sees ({} if
    there are none), and the output, which teachers see.
    """
    env = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    done = subprocess.run(
        [root / "run_autograder"], cwd=root, env=env, capture_output=True, text=True, timeout=600
    )
    assert done.returncode == status, done.stdout[-2000:] + done.stderr[-2000:]
    results = root / "results" / "results.json"
    return json.loads(results.read_text()) if results.exists() else {}, done.stdout + done.stderr


def put(root: Path, course: Path, name: str = f"{FIRST}.ipynb", **work) -> Path:
    """Put a notebook into the submission folder, as if a student had handed it in; return its path."""
    path = root / "submission" / name
    path.parent.mkdir(parents=True, exist_ok=True)
    shutil.copy(hand_in(course, SampleSubmission("x", **work)), path)
    shutil.rmtree(course / "submitted" / "x")
    return path


@needs_sandbox
def test_aspects_are_tests_with_the_judge_s_words(autograder, course):
    put(autograder, course, answers={SOFTMAX: "SMX-01"}, written=WRITTEN)
    results, _ = graded(autograder)
    assert results["score"] == 18 and results["output"] == "Still to be graded by hand: why_scale."
    tests = {test["name"]: test for test in results["tests"]}
    values, stability = tests["softmax: values"], tests["softmax: numerical stability"]
    assert values["status"] == "passed" and "output" not in values
    assert stability["status"] == "failed" and stability["score"] < stability["max_score"]
    assert "What is exp(1000) in float32?" in stability["output"]
    assert sum(test["max_score"] for test in tests.values()) == 21
    assert {test["visibility"] for test in tests.values()} <= {"visible", "after_due_date"}


@needs_sandbox
def test_what_only_hidden_cases_find_is_told_after_the_due_date(autograder, course):
    looked_up = "import torch\nif scores.shape[0] > 5: return scores\nreturn torch.softmax(scores, -1)"
    put(autograder, course, answers={SOFTMAX: looked_up})
    results, _ = graded(autograder)
    of_softmax = [test for test in results["tests"] if test["name"].startswith("softmax:")]
    others = [test for test in results["tests"] if test["name"].startswith("weighted_sum:")]
    assert {test["visibility"] for test in others} == {"visible"}
    assert sum(test["score"] for test in of_softmax) < 7


def test_each_test_that_failed_says_why():
    first, *others = run._tests(not_started(find("loops.softmax")))
    assert first["output"] == "softmax is not written yet."
    assert [other["output"] for other in others] == ["Why: see the first test of softmax that failed."] * 3


@needs_sandbox
@pytest.mark.parametrize("names", [(), ("a.ipynb", "b.ipynb")], ids=["none", "two"])
def test_who_hands_in_no_or_two_notebooks_is_told(autograder, course, names):
    for name in names:
        put(autograder, course, name)
    results, _ = graded(autograder)
    assert results["score"] == 0
    assert results["output"] == f"Hand in one notebook, {FIRST}.ipynb; there are {len(names)} here."


@needs_sandbox
def test_a_notebook_of_another_name_in_a_folder_is_found(autograder, course):
    put(autograder, course, "attention/mine.ipynb")
    assert graded(autograder)[0]["score"] == 21


@pytest.mark.skipif(os.geteuid() != 0, reason="Gradescope runs it as root")
def test_without_a_sandbox_code_sees_neither_answers_nor_secret_and_writes_no_results(autograder, course):
    program = autograder / "python" / "without_sandbox.py"
    program.write_text(WITHOUT_SANDBOX)
    write_python(autograder, f'PYTHONPATH=. exec "{sys.executable}" "{program}" "$3" readable')
    (autograder / "open").mkdir()
    (autograder / "open").chmod(0o777)
    path = put(autograder, course)
    hostile = new_code_cell(HOSTILE.format(root=str(autograder)))
    change(path, lambda notebook: notebook.cells.insert(1, hostile))
    results, said = graded(autograder)
    assert "There is no sandbox here: no namespaces here." in said
    assert results["score"] == 21
    assert (autograder / "open" / "seen").read_text() == "65534 []"
    (autograder / "results" / "results.json").unlink()
    write_python(autograder, f'PYTHONPATH=. exec "{sys.executable}" "{program}" "$3" unreadable')
    assert "so nothing is run" in graded(autograder, status=1)[1]
    assert not (autograder / "results" / "results.json").exists()


def test_the_archive_has_the_documented_files_and_nothing_of_students(archive, course):
    assert stat.S_IMODE(archive.stat().st_mode) == 0o600
    with zipfile.ZipFile(archive) as packed:
        names = packed.namelist()
        assert {"setup.sh", "run_autograder", "requirements.txt"} <= {*names}
        assert packed.getinfo("run_autograder").external_attr >> 16 == 0o755
        assert packed.read("course/.secret") == (course / ".secret").read_bytes()
        everything = b"".join(packed.read(name) for name in names)
        setup = packed.read("setup.sh").decode()
    assert b"zoe_zq7" not in everything and b"zoe_zq8" not in everything
    assert subprocess.run(["bash", "-n"], input=setup, text=True).returncode == 0 and "@" not in setup


def test_setup_makes_an_environment_with_the_pinned_packages(archive, tmp_path):
    """Run setup.sh with a stand-in for Python that records its arguments."""
    with zipfile.ZipFile(archive) as packed:
        packed.extractall(tmp_path / "source")
    fake = tmp_path / "fake"
    fake.write_text(
        '#!/bin/sh\necho "$0 $@" >> "$NOTES"\n'
        'if [ "$2" = venv ]; then mkdir -p "$3/bin" && cp "$0" "$3/bin/python"; fi\n'
    )
    fake.chmod(0o755)
    notes = tmp_path / "notes"
    subprocess.run(
        ["bash", tmp_path / "source" / "setup.sh"],
        check=True,
        env=os.environ | {"PYTHON": str(fake), "NOTES": str(notes)},
    )
    assert notes.read_text().splitlines()[-1] == "../python/bin/python -m pip install -r requirements.txt"
    assert stat.S_IMODE((tmp_path / "source").stat().st_mode) == 0o700
    pins = (tmp_path / "source" / "requirements.txt").read_text().splitlines()
    assert all("==" in pin and "+" not in pin for pin in pins)
    assert {"torch", "nbgrader"} <= {pin.partition("==")[0] for pin in pins}


def test_bad_input_is_told(course, archive, tmp_path):
    for lesson, folder, file, words in (
        ("99_nothing", course, tmp_path / "a.zip", "is not a lesson of this course"),
        (FIRST, tmp_path, tmp_path / "a.zip", "is not a course"),
        (FIRST, course, archive, "exists; choose another file name"),
        (FIRST, course, tmp_path / "no" / "a.zip", "cannot be written"),
    ):
        with pytest.raises(UserError, match=words):
            make_archive(lesson, folder, file)
    with pytest.raises(UserError, match="is not the address"):
        make_archive(FIRST, course, tmp_path / "a.zip", torch_index="x; rm -rf /")
