"""Tests an instructor's own lesson, written by following GRADING.md alone, in the same course as lesson 01."""

import re
import shutil
import zipfile
from pathlib import Path

import pytest
from PIL import Image
from sandboxed import needs_sandbox
from term import autograder, change, nbgrader, run

from autograder.exercises import own
from autograder.grading.demo.hand_in import hand_in
from autograder.grading.demo.sample_class import FIRST, STUB, SampleSubmission

pytestmark = needs_sandbox
BLOCK = re.compile(r"^```python\n# (my_lessons/\S+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
OWN, EXERCISE = "80_pooling", "pooling.mean_pool"
WRONG = "def mean_pool(x):\n    return x.sum(dim=0)\n"


@pytest.fixture(scope="module")
def place(request, tmp_path_factory) -> Path:
    """A folder with `my_lessons` as GRADING.md shows it, already built, and a course made with it."""
    place = tmp_path_factory.mktemp("teacher")
    guide = (request.config.rootpath / "GRADING.md").read_text(encoding="utf-8")
    for name, text in BLOCK.findall(guide):
        (place / name).parent.mkdir(parents=True, exist_ok=True)
        (place / name).write_text(text, encoding="utf-8")
    (place / "my_lessons/images").mkdir()
    Image.new("RGB", (40, 20), "teal").save(place / "my_lessons/images/pooling.png")
    autograder("build", "--in", "my_lessons", cwd=place)
    autograder("course", "my_course", "--only", "01", "--with", "my_lessons", cwd=place)
    return place


@pytest.fixture
def course(place, tmp_path, monkeypatch) -> Path:
    """A copy of the course. The lessons of the copy are also in use in this process."""
    folder = Path(shutil.copytree(place, tmp_path / "place")) / "my_course"
    monkeypatch.setenv(own.VARIABLE, "")
    own.use_course(folder)
    return folder


def points(said: str, student: str) -> float:
    """Return a student's points for the lesson's check from the printed table."""
    (row,) = (line for line in said.splitlines() if line.startswith(student))
    return float(row.split()[1])


def test_it_is_built_and_checked_where_it_is_made(place):
    read = (place / "my_lessons/solutions" / f"{OWN}.ipynb").read_text(encoding="utf-8")
    assert "right, 5 of 5 points" in read and "image/png" in read
    (place / "answer.py").write_text(f"import torch\n{WRONG}")
    said = autograder("--lessons", "my_lessons", "check", EXERCISE, "answer.py", cwd=place, fails=True)
    assert "grow with the length of the sentence" in said
    notebooks = place / "my_lessons/notebooks"
    run(
        "nbconvert",
        "--to=notebook",
        "--execute",
        "--allow-errors",
        "--output=run",
        f"{OWN}.ipynb",
        cwd=notebooks,
        before=["env", f"{own.VARIABLE}={place}/my_lessons/exercises"],
    )
    assert "mean_pool is not written yet" in (notebooks / "run.ipynb").read_text(encoding="utf-8")


def test_a_new_exercise_is_written_beside_the_others_and_can_be_built(tmp_path):
    said = autograder("new", "pooling.max_pool", "--in", "mine", cwd=tmp_path)
    (source,) = (tmp_path / "mine/solutions").glob("*_pooling.py")
    assert "exercises/pooling/max_pool.py" in said and "answers/pooling/max_pool.py" in said
    assert "Every exercise passed the proof" in autograder("build", "--in", "mine", cwd=tmp_path)
    assert ": right, " in source.with_suffix(".ipynb").read_text(encoding="utf-8")
    answers = tmp_path / "mine/answers/pooling/max_pool.py"
    answers.write_text(answers.read_text() + '\nRIGHT["a slip"] = WRONG["none"] = {"x - mean": "x + mean"}\n')
    said = autograder("build", "--in", "mine", cwd=tmp_path, fails=True)
    assert 'pooling.max_pool: the answer "a slip" of RIGHT does not pass' in said and "none" not in said


def test_it_is_graded_named_reported_and_given_back(course):
    for student, answer in {
        "right": "right",
        "sums": "return x.sum(dim=0)",
        "axis": "return x.mean(dim=-1)",
    }.items():
        hand_in(
            course, SampleSubmission(student, answers={EXERCISE: answer}, lesson=OWN, written="The order.")
        )
        hand_in(course, SampleSubmission(student, STUB))
    said = autograder("grade", course, OWN, cwd=course.parent)
    assert [points(said, student) for student in ("right", "sums", "axis")] == [5, 0, 0]
    autograder("report", ".", OWN, cwd=course)
    page = (course / f"report-{OWN}.html").read_text(encoding="utf-8")
    assert "grow with the length of the sentence" in page and "one number for each token" in page
    nbgrader(course, "autograde", OWN, "--force")
    nbgrader(course, "generate_feedback", OWN)
    page = (course / "feedback/sums" / OWN / f"{OWN}.html").read_text(encoding="utf-8")
    assert "What is the mean of two equal tokens?" in page and "data:image/png" in page
    said = autograder("--lessons", ".", "progress", f"submitted/right/{OWN}/{OWN}.ipynb", cwd=course)
    assert "mean_pool" in said


def test_a_change_comes_into_the_course_and_is_graded_again(course):
    folder, file = course.parent, course.parent / "my_lessons/exercises/pooling/mean_pool.py"
    hand_in(course, SampleSubmission("right", lesson=OWN))
    source = course / "source" / OWN / f"{OWN}.ipynb"
    change(source, lambda notebook: notebook.cells[0].update(source="# My own words"))
    autograder("grade", "my_course", cwd=folder)
    file.write_text(file.read_text().replace("VALUES: 4", "VALUES: 9"))
    said = autograder("course", "my_course", "--update", "--with", "my_lessons", cwd=folder)
    assert f"{OWN}: " in said and "1 have handed in" in said and f"{FIRST}: unchanged" in said
    assert "# My own words" in source.read_text(encoding="utf-8")
    said = autograder("grade", "my_course", OWN, cwd=folder)
    assert points(said, "right") == 10


def test_what_was_handed_in_is_judged_with_the_exercises_that_it_answers(course):
    folder = course.parent
    hand_in(course, SampleSubmission("right", lesson=OWN))
    exercises, solution = folder / "my_lessons/exercises/pooling", folder / f"my_lessons/solutions/{OWN}.py"
    (exercises / "mean_pool.py").rename(exercises / "average.py")
    for file in (exercises / "average.py", solution):
        file.write_text(file.read_text().replace("mean_pool", "average"))
    said = autograder("course", "my_course", "--update", "--with", "my_lessons", cwd=folder)
    assert f"{OWN}: left as it is; 1 have handed in" in said and "check-pooling-mean_pool" in said
    assert points(autograder("grade", "my_course", OWN, cwd=folder), "right") == 5


def test_a_course_that_is_not_released_has_no_bundle(course, tmp_path):
    shutil.rmtree(course / "release" / FIRST)
    said = autograder("bundle", tmp_path / "x.zip", "--course", course, cwd=tmp_path, fails=True)
    assert f"{FIRST} is not released" in said


@pytest.mark.trial
def test_students_check_it_with_the_bundle_as_with_the_course(place, tmp_path):
    autograder("bundle", tmp_path / "x.zip", "--course", "my_course", cwd=place)
    with zipfile.ZipFile(tmp_path / "x.zip") as archive:
        archive.extractall(tmp_path)
    top = tmp_path / "attention-by-hand"
    assert {path.stem for path in (top / "notebooks").iterdir()} == {FIRST, OWN}
    for name in (FIRST, OWN):
        released = place / "my_course/release" / name / f"{name}.ipynb"
        assert (top / "notebooks" / f"{name}.ipynb").read_bytes() == released.read_bytes()
    (top / "try.py").write_text(f"from autograder import check\n{WRONG}\ncheck(mean_pool)\n")
    assert "grow with the length of the sentence" in run("try", cwd=top, fails=True)
