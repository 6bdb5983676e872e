"""Tests the grading of a class of mostly hostile submissions and some honest ones, in one run. The attacks
are in the other modules of this folder.

`make test` grades some attacks of each kind, `make trial` all of them. No attack may earn more than its
answers deserve, take anything, leave anything behind, or harm anybody.
"""

import hashlib
import io
import json
import os
import signal
import subprocess
import sys
import tempfile
from contextlib import contextmanager, redirect_stderr, suppress
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from sandboxed import waited

import autograder
from autograder.exercises import exercises_of, find
from autograder.grading.course.make import make_course
from autograder.grading.demo.hand_in import hand_in
from autograder.grading.demo.sample_class import FIRST, SOFTMAX, SampleSubmission
from autograder.grading.grade import grade
from autograder.grading.gradebook.open_course import open_course, quiet
from autograder.grading.pages import feedback
from autograder.grading.sandbox.sandbox import why_no_sandbox
from autograder.grading.submission import reading
from autograder.grading.worker.allowance import Allowance
from autograder.judge import cases_of
from red_team import ATTACKS, MODULES, pages, snoop
from red_team.attack import FULL, Place, notebook, write_notebook
from red_team.machine import MARK, STAYS
from red_team.pages import SCRIPT
from red_team.snoop import CONNECT, FILE
from red_team.watch import Listener, adopt_orphans, descendants, files_with, live

pytestmark = pytest.mark.skipif(bool(why_no_sandbox()), reason=f"no sandbox here: {why_no_sandbox()}")

# Enough for honest submissions, which compute for a second or two.
ALLOWANCE = Allowance(cell=4.0, probe=20.0, whole=300.0, memory=1536 * 1024**2, processes=64)
MATMUL, HEADS = "02_attention_as_matmul", "04_heads"


def points_of(lesson: str) -> float:
    """Return the total points of a lesson's exercises."""
    return float(sum(exercise.points for exercise in exercises_of(lesson)))


DESERVED = {FIRST: FULL, MATMUL: points_of(MATMUL), HEADS: points_of(HEADS)}
HONEST = [
    SampleSubmission("honest_zoe"),
    *(SampleSubmission("honest_ada", lesson=lesson) for lesson in DESERVED),
]
LARGEST_FILE = 30_000_000
HARM_A_READER = ("slow_html", "forged_parts", "dense_picture")
SOME = {attack.name for module in MODULES for attack in module.ATTACKS[::15]} | {*HARM_A_READER}


@dataclass
class Class:
    """The graded class, and what was observed while it was graded."""

    course: Path
    host: Path
    attacks: list
    rows: dict = field(default_factory=dict)
    canaries: dict[str, str] = field(default_factory=dict)
    before: dict = field(default_factory=dict)
    left: dict = field(default_factory=dict)
    heard: list = field(default_factory=list)
    said: str = ""
    devices: tuple = ((), ())

    def made_for(self, attack) -> list[Path]:
        """Return the attack's folders of graded notebooks and of feedback, but only those that exist."""
        places = (self.course / "autograded" / attack.name, self.course / "feedback" / attack.name)
        return [place for place in places if place.exists()]

    def outputs(self, attack) -> str:
        """Return the outputs of all cells in the graded notebook as JSON, or "" if there is no notebook."""
        path = self.course / "autograded" / attack.name / attack.lesson / f"{attack.lesson}.ipynb"
        return json.dumps([cell.get("outputs") for cell in cells_of(path)]) if path.exists() else ""


def cells_of(path: Path) -> list[dict]:
    return json.loads(path.read_text(encoding="utf-8"))["cells"]


def canary(where: str) -> str:
    return f"CANARY-{where}-{hashlib.sha256(os.urandom(16)).hexdigest()}"


@pytest.fixture(
    scope="module",
    params=[pytest.param("some", marks=pytest.mark.sample), pytest.param("all", marks=pytest.mark.trial)],
)
def graded(cleared, request):
    """The class of attacks, honest submissions and oddities, graded once."""
    attacks = [attack for name, attack in ATTACKS.items() if name in SOME or request.param == "all"]
    place = cleared / request.param
    place.mkdir()
    known = Class(make_course(place / "course"), place / "host", attacks)
    place_canaries(known)
    listener = Listener(known.host)
    adopt_orphans()
    try:
        place = Place(known.course, facts(known, listener))
        for work in HONEST:
            hand_in(known.course, work)
        for attack in known.attacks:
            attack.hand_in(place)
        submit_oddities(known, place)
        known.before = snapshot(known.course / "submitted")
        before, devices = descendants(), device_files()
        said = io.StringIO()
        with swapped_when_read(known, "swapper"), redirect_stderr(said):
            rows = grade(known.course, workers=6, allowance=ALLOWANCE)
        known.rows = {(row.student, row.lesson): row for row in rows}
        known.left, known.devices = new_processes(before), (devices, device_files())
        make_pages(known)
    finally:
        listener.close()
        os.environ.pop("RED_TEAM", None)
    known.heard, known.said = listener.heard, said.getvalue()
    return known


@pytest.fixture(scope="module")
def cleared():
    """A folder that is removed afterwards.

    subtle: it is not one of pytest's own folders, because pytest would crash, even in its next run, when it
    clears up deeply nested folders.
    """
    top = Path(tempfile.mkdtemp(prefix="red-"))
    yield top
    subprocess.run(["rm", "-rf", str(top)], check=True)


def place_canaries(known: Class) -> None:
    """Put a random word, the canary, in each place that no attack may read: the gradebook, the source,
    another student's work, the environment and the host.
    """
    words = {where: canary(where) for where in ("gradebook", "source", "neighbour", "environment", "host")}
    known.host.mkdir()
    (known.host / "diary.txt").write_text(words["host"])
    (known.host / "answers.ipynb").write_text(
        (known.course / "source" / FIRST / f"{FIRST}.ipynb").read_text()
    )
    (known.course / "source" / FIRST / "notes.txt").write_text(words["source"])
    (known.course / "submitted" / "honest_ada" / FIRST).mkdir(parents=True)
    (known.course / "submitted" / "honest_ada" / FIRST / "own.txt").write_text(words["neighbour"])
    with open_course(known.course).gradebook as gradebook:
        gradebook.update_or_create_student(words["gradebook"])
    os.environ["RED_TEAM"] = words["environment"]
    known.canaries = words | {"secret": (known.course / ".secret").read_text().strip()}


def facts(known: Class, listener: Listener) -> dict[str, str]:
    return {
        "COURSE": str(known.course),
        "HOST": str(known.host),
        "PORT": str(listener.port),
        "ABSTRACT": listener.abstract,
        "SOCKET": listener.path,
        "PID": str(os.getpid()),
        "PACKAGE": os.path.dirname(autograder.__file__),
    }


def submit_oddities(known: Class, place: Place) -> None:
    """Hand in a submission that is swapped later, and folders that grading should leave out."""
    write_notebook(known.course / "submitted" / "swapper" / FIRST, notebook(place))
    for folder in (
        known.course / "submitted" / "linked" / FIRST,
        known.course / "submitted" / "linked_whole",
    ):
        folder.parent.mkdir(exist_ok=True)
        folder.symlink_to(known.course / "source")
    (known.course / "submitted" / ".dotted" / FIRST).mkdir(parents=True)
    os.makedirs(os.fsencode(known.course / "submitted") + b"/no_text\xff/" + FIRST.encode())


@contextmanager
def swapped_when_read(known: Class, student: str):
    """Replace a student's notebook, once it has been read, with a link to right answers, and put a link to a
    diary next to it.
    """
    look_at = reading.read_submission

    def look_and_swap(folder, lesson):
        seen = look_at(folder, lesson)
        if folder.parent.name == student:
            (folder / f"{lesson}.ipynb").unlink()
            (folder / f"{lesson}.ipynb").symlink_to(known.host / "answers.ipynb")
            (folder / "LICENSE").symlink_to(known.host / "diary.txt")
        return seen

    reading.read_submission = look_and_swap
    try:
        yield
    finally:
        reading.read_submission = look_at


def make_pages(known: Class) -> None:
    """Make the feedback pages of attacks that could harm a reader."""
    api = open_course(known.course)
    harmful = [*snoop.ATTACKS, *pages.ATTACKS, *(ATTACKS[name] for name in HARM_A_READER)]
    with quiet(known.course / "grading.log"):
        for attack in (attack for attack in harmful if attack in known.attacks):
            done = api.generate_feedback(attack.lesson, attack.name)
            assert done["success"], done


def new_processes(before: dict[int, str]) -> dict[int, str]:
    """Return this process's descendants that are not in `before`, after giving them 5 seconds to end."""

    def left() -> dict[int, str]:
        return {pid: command for pid, command in descendants().items() if pid not in before}

    waited(lambda: not left(), seconds=5)
    return left()


def device_files() -> tuple:
    files = [*(f"/dev/{name}" for name in ("null", "zero", "full", "random", "urandom")), sys.executable]
    states = [(os.stat(file).st_mode, os.stat(file).st_mtime_ns) for file in files]
    return *states, tuple(os.listxattr(sys.executable)) if hasattr(os, "listxattr") else ()


def snapshot(folder: Path) -> dict:
    """Return the mode, time of change and size of everything under a folder except "swapper", without
    following links. `rglob` is not used because some attacks make it fail.
    """
    seen, waiting = {}, [folder]
    while waiting:
        with (
            suppress(OSError),
            os.scandir(waiting.pop()) as entries,
        ):  # a path may be too long, or a folder closed
            for entry in entries:
                if entry.name != "swapper":
                    about = entry.stat(follow_symlinks=False)
                    seen[entry.path] = about.st_mode, about.st_mtime_ns, about.st_size
                    if entry.is_dir(follow_symlinks=False):
                        waiting.append(entry.path)
    return seen


# --- each attack --------------------------------------------------------------------------------------------


@pytest.fixture
def rows(graded):
    """Each attack with its row of grades."""
    return [(attack, graded.rows[attack.name, attack.lesson]) for attack in graded.attacks]


def test_nothing_undeserved_is_earned(graded, rows):
    for attack, row in rows:
        assert row.total == attack.points or (attack.form and "look at its code" in row.problem), row
        assert sum(row.max_points.values()) == sum(
            graded.rows["honest_ada", attack.lesson].max_points.values()
        ), row


def test_what_became_of_it_is_told(rows):
    asked = [(attack, row) for attack, row in rows if attack.problem is not None]
    assert not [row for attack, row in asked if attack.problem not in row.problem]
    assert not [row for attack, row in asked if row.problem and not attack.problem]
    assert not [row for _, row in rows if "this machine" in row.problem]
    assert not [row for _, row in rows if len(row.problem) >= 200]


def test_nothing_is_taken(graded):
    for attack in graded.attacks:
        assert not files_with(list(graded.canaries.values()), graded.made_for(attack)), attack.name
        assert "TOOK" not in graded.outputs(attack), attack.name


def test_what_is_kept_of_it_is_small(graded):
    for attack in graded.attacks:
        sizes = [path.stat().st_size for place in graded.made_for(attack) for path in place.rglob("*")]
        submitted = graded.course / "submitted" / attack.name / attack.lesson / f"{attack.lesson}.ipynb"
        given = submitted.stat().st_size if submitted.is_file() else 0
        assert max(sizes, default=0) < LARGEST_FILE + 2 * given, attack.name


def test_no_script_reaches_a_browser(graded):
    for attack in graded.attacks:
        for page in (graded.course / "feedback" / attack.name).rglob("*.html"):
            assert not live(page.read_text(encoding="utf-8"), "pwned("), attack.name
        for path in (graded.course / "autograded" / attack.name).rglob("*.ipynb"):
            for cell in cells_of(path):
                for data in (output.get("data", {}) for output in cell.get("outputs", [])):
                    assert data.keys() <= {"text/plain", "text/html", "image/png", "image/jpeg"}, attack.name
                    assert not live("".join(data.get("text/html", "")), "pwned("), attack.name


# --- the class ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("work", HONEST, ids=lambda work: f"{work.student} {work.lesson}")
def test_honest_neighbours_lose_nothing(graded, work):
    row = graded.rows[work.student, work.lesson]
    assert not row.problem
    assert row.total == DESERVED[work.lesson], row


def test_everyone_is_graded(graded):
    handed_in = {(attack.name, attack.lesson) for attack in graded.attacks}
    assert handed_in - graded.rows.keys() == set()
    assert len(handed_in) >= (40 if len(graded.attacks) == len(ATTACKS) else len(MODULES))


@pytest.mark.parametrize("name", [f"linked/{FIRST}", "linked_whole", ".dotted", "no_text\\udcff"])
def test_folders_that_are_left_out_are_named(graded, name):
    lines = [line for line in graded.said.splitlines() if "is left out" in line]
    assert sum(name in line for line in lines) == 1


def test_no_process_is_left(graded):
    assert graded.left == {}


def test_nobody_was_called(graded):
    assert graded.heard == []
    assert not (graded.host / "taken").exists()


def test_the_machine_is_as_it_was(graded):
    assert graded.devices[0] == graded.devices[1]


def test_submissions_are_not_changed(graded):
    assert snapshot(graded.course / "submitted") == graded.before


def test_no_canary_is_in_any_result(graded):
    folders = [graded.course / name for name in ("autograded", "feedback", ".grading")]
    assert not files_with(list(graded.canaries.values()), folders)


def test_hidden_inputs_are_not_told(graded):
    cases = cases_of(find(SOFTMAX), graded.canaries["secret"], hidden=True)
    numbers = [
        str(scores.flatten()[0].item()) for case in cases for scores in (*case.args, *case.kwargs.values())
    ]
    long = [number for number in numbers if len(number) > 12]
    assert len(long) > 5
    assert not files_with(
        long, [graded.course / name / "hidden_inputs" for name in ("autograded", "feedback")]
    )


def test_a_picture_that_takes_hours_is_left_out(graded):
    page = graded.course / "feedback" / "dense_picture" / HEADS / f"{HEADS}.html"
    assert feedback.TOO_LARGE in page.read_text(encoding="utf-8")


def test_a_file_swapped_after_it_was_read_counts_for_nothing(graded):
    row = graded.rows["swapper", FIRST]
    assert row.total == 0
    assert not files_with(
        [graded.canaries["host"]], [graded.course / "autograded", graded.course / "feedback"]
    )


# --- the detectors detect -----------------------------------------------------------------------------------


def run_outside(code: str) -> str:
    """Run an attack's code without a sandbox; return what it printed."""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=600)
    return done.stdout


def test_a_leak_would_be_seen(tmp_path):
    word = canary("host")
    (tmp_path / "diary.txt").write_text(word)
    shown = run_outside(FILE.replace("@HOST@", str(tmp_path)))
    (tmp_path / "kept").mkdir()
    (tmp_path / "kept" / "page.html").write_text(shown)
    assert files_with([word], [tmp_path / "kept"])


def test_a_connection_would_be_heard(tmp_path_factory):
    folder = tmp_path_factory.mktemp("s")
    listener = Listener(folder)
    code = CONNECT.replace("@PORT@", str(listener.port)).replace("@ABSTRACT@", listener.abstract)
    shown = run_outside(code.replace("@SOCKET@", listener.path))
    assert shown.count("TOOK") == 3
    assert waited(lambda: len(listener.heard) == 3)
    listener.close()
    assert len(listener.heard) == 3


def test_a_process_left_behind_would_be_seen():
    adopt_orphans()
    before = descendants()
    subprocess.run(
        [sys.executable, "-c", STAYS], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, timeout=600
    )
    left = waited(lambda: [pid for pid, said in descendants().items() if pid not in before and MARK in said])
    assert len(left) == 1
    for pid in left:
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)


@pytest.mark.parametrize("html", [SCRIPT, "<a href='javascript:pwned()'>", "<style>pwned()</style>"])
def test_a_live_script_would_be_seen(html):
    assert live(html, "pwned(")
    assert not live(html.replace("<", "&lt;"), "pwned(")
