"""Tests the build of notebooks from sources: what students get, which notebooks are out of date, and the
messages for mistakes in a source.
"""

import json
import re
import shutil
from collections import Counter
from functools import cache
from pathlib import Path

import nbformat
import pytest
from nbformat.v4 import new_notebook
from nbgrader import preprocessors

from autograder import dependencies
from autograder.build import stale
from autograder.build.lesson import KINDS, ROOT, Cell, Lesson, find_lessons, lesson_names, read_cells
from autograder.build.make import build, executed_notebook
from autograder.build.notebooks import as_text, reading_notebook, student_notebook, teacher_notebook
from autograder.build.outputs import difference, differences, text_of, trained
from autograder.errors import UserError
from autograder.exercises import all_exercises
from autograder.marks import find_regions, replace_marks, without_regions

# A PNG file with the description "a point".
ONE_PIXEL = bytes.fromhex(
    "89504e470d0a1a0a0000000d49484452000000010000000108000000003a7e9b5500000013744558"
    "744465736372697074696f6e006120706f696e74bb9ff6b20000000a49444154789c636800000082"
    "008177cd72b60000000049454e44ae426082"
)
SMALL = '''# %% [markdown]
r"""
# A small lesson with $\\alpha$

![one grey point](../images/point.png)
"""

# %%
import sys, warnings
print("shown")
print("not shown", file=sys.stderr)
warnings.warn("not shown either")
from IPython.display import HTML, display
display(HTML("a bar"), display_id=True).update(HTML(""))
6 * 7

# %% timing: point
import time
time.time()

# %% explore
import ipywidgets

class Explorer:
    def _repr_mimebundle_(self, include=None, exclude=None):
        live = ipywidgets.IntSlider()._repr_mimebundle_()
        return {**live, "image/png": "iVBORw0KGgo=", "text/plain": "an explorer"}

Explorer()

# %% [markdown] written: small.why (2 points, 5 minutes)
r"""
Why?

### BEGIN SOLUTION
Because of the secretword.
### END SOLUTION
### BEGIN MARK SCHEME
Two points for the schemeword.
### END MARK SCHEME
"""
'''


def make(folder: Path, text: str, name: str = "90_small") -> Lesson:
    for part in ("solutions", "images"):
        (folder / part).mkdir(exist_ok=True)
    (folder / "images" / "point.png").write_bytes(ONE_PIXEL)
    (folder / "solutions" / f"{name}.py").write_text(text, encoding="utf-8")
    return Lesson(name, folder)


def copy_of(lesson: Lesson, folder: Path, text: str = SMALL) -> Lesson:
    """Return a copy of a built lesson with `text` as its source and no student notebook yet."""
    copy = make(folder, text, lesson.name)
    for name in (lesson.executed.name, "built.json"):
        shutil.copy(lesson.executed.with_name(name), copy.executed.parent)
    return copy


@pytest.fixture(scope="module")
def small(tmp_path_factory):
    """The small lesson, built once."""
    lesson = make(tmp_path_factory.mktemp("lessons"), SMALL)
    written = build(None, progress=False, root=lesson.root)
    assert written == ["solutions/90_small.ipynb", "notebooks/90_small.ipynb"]
    return lesson


@pytest.fixture(params=lesson_names())
def lesson(request):
    return Lesson(request.param)


# --- building ---------------------------------------------------------------------------------------------


def test_a_second_build_runs_and_writes_nothing(small):
    before = small.executed.stat().st_mtime_ns, small.student.stat().st_mtime_ns
    assert build(None, progress=False, root=small.root) == []
    assert build(None, check=True, root=small.root) == []
    assert before == (small.executed.stat().st_mtime_ns, small.student.stat().st_mtime_ns)


def test_running_again_gives_the_same_bytes(small):
    assert as_text(executed_notebook(small)) == small.executed.read_text(encoding="utf-8")


def test_stored_outputs_are_quiet_and_still(small):
    cells = {cell.id: cell for cell in nbformat.read(small.executed, as_version=4).cells}
    plain, timing, explorer = (cells[f"90-00{number}"] for number in (2, 3, 4))
    shown = [output.get("text") or output["data"]["text/plain"] for output in plain.outputs]
    assert shown == ["shown\n", "42"]
    assert [list(output["data"]) for output in timing.outputs] == [["image/png", "text/html", "text/plain"]]
    assert '<img alt="a point"' in timing.outputs[0]["data"]["text/html"]
    assert explorer.outputs[0]["data"] == {"image/png": "iVBORw0KGgo=", "text/plain": "an explorer"}
    assert "widgets" not in nbformat.read(small.executed, as_version=4).metadata


def test_pictures_travel_in_the_notebook(small):
    for path in (small.executed, small.student):
        cell = nbformat.read(path, as_version=4).cells[0]
        assert "![one grey point](attachment:point.png)" in cell.source
        assert list(cell.attachments["point.png"]) == ["image/png"]


def test_readers_see_answers_without_marks(small):
    cell = nbformat.read(small.executed, as_version=4).cells[-1]
    assert "Because of the secretword.\n\n**How it is marked**\n\nTwo points" in cell.source
    assert "###" not in cell.source


@pytest.mark.parametrize(
    "change",
    [
        lambda lesson: lesson.source.write_text(SMALL.replace("6 * 7", "6 * 8")),
        lambda lesson: lesson.executed.write_text("not a notebook"),
        lambda lesson: lesson.executed.unlink(),
        lambda lesson: (lesson.images / "point.png").write_bytes(ONE_PIXEL + b"\0"),
    ],
)
def test_check_names_an_executed_notebook_that_is_out_of_date(small, tmp_path, change):
    copy = copy_of(small, tmp_path)
    copy.student.parent.mkdir()
    copy.student.write_bytes(small.student.read_bytes())
    assert build(None, check=True, root=tmp_path) == []
    change(copy)
    assert "solutions/90_small.ipynb" in build(None, check=True, root=tmp_path)


def test_check_names_a_student_notebook_that_was_edited(small, tmp_path):
    copy = copy_of(small, tmp_path)
    assert build(["90_small"], check=True, root=tmp_path) == ["notebooks/90_small.ipynb"]
    assert not copy.student.exists()


def test_a_notebook_that_a_learner_worked_in_is_left_alone(small, tmp_path, capsys):
    copy = copy_of(small, tmp_path)
    copy.student.parent.mkdir()
    worked_in = small.student.read_text().replace("6 * 7", "6 * 7 + 1")
    assert worked_in != small.student.read_text()
    copy.student.write_text(worked_in)
    assert build(None, progress=False, root=tmp_path) == []
    assert copy.student.read_text() == worked_in
    assert "changes of yours" in capsys.readouterr().out
    copy.student.unlink()
    assert build(None, progress=False, root=tmp_path) == ["notebooks/90_small.ipynb"]
    assert copy.student.read_bytes() == small.student.read_bytes()


def test_a_new_source_renews_a_notebook_that_nobody_changed(small, tmp_path):
    copy = make(tmp_path, SMALL.replace("6 * 7", "6 * 8"))
    copy.student.parent.mkdir()
    copy.student.write_bytes(small.student.read_bytes())
    assert "notebooks/90_small.ipynb" in build(None, progress=False, root=tmp_path)


# --- mistakes in a source ---------------------------------------------------------------------------------

ANSWER = "def softmax(scores):\n    ### BEGIN SOLUTION\n    return scores\n    ### END SOLUTION\n"
BAD = {
    "unknown title": ("# %% exercize: loops.softmax\nx = 1\n", "cell 1 (exercize: loops.softmax)", KINDS[0]),
    "unknown exercise": (f"# %% exercise: loops.sofmax\n{ANSWER}", "cell 1", "loops.softmax"),
    "other lesson": (f"# %% exercise: loops.softmax\n{ANSWER}", "cell 1", "belongs to lesson 01_attention"),
    "no marks": ("# %% exercise: loops.softmax\nx = 1\n", "cell 1", "BEGIN SOLUTION"),
    "stray marks": (f"# %%\n{ANSWER}", "cell 1", "does not belong in this kind of cell"),
    "open marks": ("# %% exercise: a.b\n### BEGIN SOLUTION\nx = 1\n", "cell 1", "never closed"),
    "an end alone": ("# %% exercise: a.b\n### END SOLUTION\n", "cell 1", "END SOLUTION"),
    "a mark in a line": (
        f"# %% exercise: loops.softmax\n{ANSWER}# END SOLUTION\n",
        "cell 1",
        "alone on its line",
    ),
    "marks in marks": (
        "# %% exercise: a.b\n### BEGIN SOLUTION\n### BEGIN MARK SCHEME\n",
        "cell 1",
        "inside another",
    ),
    "no picture": ("# %% timing: nothing\nx = 1\n", "cell 1 (timing: nothing)", "images/nothing.png"),
    "no points": (
        '# %% [markdown] written: a.why\nr"""\nWhy?\n"""\n',
        "cell 1",
        "points and minutes in the title",
    ),
    "elsewhere": ('# %% [markdown]\nr"""\n![a](x.png)\n"""\n', "cell 1", "../images/"),
    "no alternative": ('# %% [markdown]\nr"""\n![](../images/point.png)\n"""\n', "cell 1", "alternative"),
    "fails": ("# %%\nx = 1\n\n# %%\nx / 0\n", "cell 2", "ZeroDivisionError: division by zero"),
    "address": ("# %%\nobject()\n", "cell 1", "memory address"),
}


@pytest.mark.parametrize("case", BAD)
def test_a_mistake_in_a_source_is_told_with_lesson_and_cell(tmp_path, case):
    text, *words = BAD[case]
    lesson = make(tmp_path, text)
    with pytest.raises(UserError) as caught:
        build(None, progress=False, root=tmp_path)
    assert "\n" not in str(caught.value)
    for word in ["90_small", *words]:
        assert word in str(caught.value)
    assert not lesson.executed.exists()


@pytest.mark.parametrize(
    "change, words",
    [
        (lambda text: text + f"\n# %% exercise: loops.softmax\n{ANSWER}", "is in the lesson twice"),
        (
            lambda text: text.replace("# %% exercise: loops.softmax", "# %%"),
            "a SOLUTION region does not belong",
        ),
        (lambda text: text + "\n# %% check: loops.softmax\ncheck(softmax)\n", "remove this cell"),
        (
            lambda text: re.sub(r"# %% exercise: loops.softmax\n.*?(?=# %%)", "", text, flags=re.S),
            'has no cell with the title "exercise: loops.softmax"',
        ),
    ],
)
def test_each_exercise_of_a_lesson_has_one_cell_for_its_answer(tmp_path, change, words):
    source = Lesson("01_attention_from_loops").source.read_text(encoding="utf-8")
    lesson = make(tmp_path, change(source), "01_attention_from_loops")
    with pytest.raises(UserError, match=re.escape(words)):
        student_notebook(lesson)


# --- the real lessons -------------------------------------------------------------------------------------


def test_the_committed_notebooks_are_current():
    assert build(None, check=True) == []


def test_stored_progress_shows_the_points_that_exercises_have_now():
    points = Counter()
    for exercise in all_exercises():
        points[exercise.lesson.replace("_", " ")] += exercise.points
    stored = [stale.stored_notebook(lesson) for lesson in find_lessons(None)]
    printed = "\n".join(text_of(cell) for notebook in stored for cell in notebook.cells if "outputs" in cell)
    shown = re.findall(r"^(\d\d [a-z ]+): \d+ of (\d+) points", printed, flags=re.M)
    assert len(shown) > len(stored)
    assert not [(lesson, of) for lesson, of in shown if points[lesson] != int(of)]


# Lines that the lessons' own experiments need too, and that reveal nothing of an answer.
EVERYDAY = {"with torch.no_grad():", "loss.backward()", "x = layer(x)", "break"}
EVERYDAY |= {
    "for layer in self.layers:",
    "for _ in range(n_new):",
    "optimizer.zero_grad()",
    "optimizer.step()",
}
EVERYDAY |= {"return ids", "return merges", "return loss.item()", "self.n_heads = n_heads"}


def test_students_get_no_answer_no_hidden_test_and_no_marking_scheme(lesson):
    """Search the students' notebook for each line that occurs only inside marked regions."""
    received = as_text(student_notebook(lesson))
    received_lines = {
        line.strip() for cell in student_notebook(lesson).cells for line in cell.source.split("\n")
    }
    for cell in read_cells(lesson):
        regions = find_regions(cell.text)
        outside = set(map(str.strip, replace_marks(_without_all(cell.text), {}).split("\n")))
        for line in {line.strip() for region in regions for line in region.lines} - outside - EVERYDAY:
            assert len(line) < 3 or line not in received_lines, (cell.id, line)
            if len(line) > 8:
                assert json.dumps(line, ensure_ascii=False)[1:-1] not in received, (cell.id, line)
    for word in ("BEGIN", "END SOLUTION", "hidden=True", "HIDDEN", "MARK SCHEME", "AUTOGRADER_SECRET"):
        assert word not in received


def test_students_get_what_nbgrader_makes_of_the_teachers_notebook(lesson):
    """Run the nbgrader preprocessors of a course on the teacher's notebook, and compare the result with the
    student notebook. The two could differ, because the student notebook is made without nbgrader, which the
    package for learners does not require.
    """
    made = teacher_notebook(lesson)
    for step in (
        preprocessors.LockCells(),
        preprocessors.ClearSolutions(),
        preprocessors.ClearOutput(),
        preprocessors.ClearHiddenTests(),
        preprocessors.ClearMarkScheme(enforce_metadata=False),
        preprocessors.ComputeChecksums(),
        preprocessors.CheckCellMetadata(),
    ):
        made, _ = step.preprocess(made, {})
    assert as_text(student_notebook(lesson)) == as_text(made)


def test_students_get_no_mistakes(lesson):
    """Search the notebook for the ids and messages of known mistakes, and for the name of the package that
    holds their code, because a mistake is nearly an answer.
    """
    received = as_text(student_notebook(lesson))
    assert "autograder.exercises" not in received
    assert not [words for words in words_of_mistakes() if words in received]


@cache
def words_of_mistakes() -> set[str]:
    """Return the ids, observations and questions of all known mistakes, as they would appear in a notebook's
    file.
    """
    from autograder.exercises import all_exercises

    mistakes = [mistake for exercise in all_exercises() for mistake in exercise.mistakes]
    assert len(mistakes) > 3000
    words = {text for one in mistakes for text in (one.id, one.observation, one.question)}
    return {json.dumps(text, ensure_ascii=False)[1:-1] for text in words}


def _without_all(text):
    for kind in ("SOLUTION", "HIDDEN TESTS", "MARK SCHEME"):
        text = without_regions(text, kind)
    return text


def test_student_notebooks_are_valid_for_nbgrader(lesson):
    from nbgrader.nbgraderformat import MetadataValidator

    notebook = student_notebook(lesson)
    nbformat.validate(notebook)
    MetadataValidator().validate_nb(notebook)
    assert notebook.metadata.kernelspec.name == "python3"
    assert all(not cell.get("outputs") for cell in notebook.cells)
    ids = [cell.id for cell in notebook.cells]
    assert len(set(ids)) == len(ids)
    for cell in notebook.cells:
        if "nbgrader" in cell.metadata:
            assert cell.metadata.nbgrader.schema_version == 3
            assert cell.metadata.nbgrader.checksum
            assert cell.metadata.deletable is False


def test_every_exercise_is_a_stub_with_its_check(lesson):
    from autograder.exercises import all_exercises

    cells = {cell.id: cell for cell in student_notebook(lesson).cells}
    for exercise in all_exercises():
        if exercise.lesson == lesson.name:
            grade_id = exercise.id.replace(".", "-")
            assert "raise NotImplementedError()" in cells[grade_id].source
            assert cells[f"check-{grade_id}"].source == f"check({exercise.name})"
            assert cells[f"check-{grade_id}"].metadata.nbgrader.points == exercise.points


def test_the_teachers_notebook_keeps_everything_and_the_readers_has_no_marks(lesson):
    assert not any(find_regions(cell.source) for cell in reading_notebook(lesson).cells)
    assert [cell.source for cell in teacher_notebook(lesson).cells if cell.cell_type == "code"] == [
        cell.text for cell in read_cells(lesson) if cell.is_code
    ]


def test_building_a_real_lesson_again_gives_the_same_bytes():
    first = Lesson(lesson_names()[0], ROOT)
    assert as_text(executed_notebook(first)) == first.executed.read_text(encoding="utf-8")


def test_what_belongs_to_another_lesson_does_not_make_a_lesson_run_again(monkeypatch):
    first, _, second, *_ = find_lessons(None)
    before = {lesson.name: stale._digest(lesson) for lesson in (first, second)}

    def changed(module, more):
        """Return the numbers of the lessons that would run again if `more` were appended to this module."""
        text_of = dependencies._text
        with monkeypatch.context() as patch:
            patch.setattr(dependencies, "_text", lambda one: (text_of(one) or b"") + more * (one == module))
            return [one.name[:2] for one in (first, second) if stale._digest(one) != before[one.name]]

    assert changed("autograder.judge.judging", b"\nx = 1\n") == ["01", "03"]
    assert changed("autograder.notebook.lessons.masking", b"\nx = 1\n") == ["03"]
    assert changed("autograder.exercises.loops.softmax", b"\nx = 1\n") == ["01"]
    assert changed("autograder.judge.judging", b"\n# a comment\n") == []
    assert changed("autograder.build.new", b"\nx = 1\n") == []
    documented, plain = 'def one():\n    """Return 1."""\n    return 1', "def one():\n    return 1"
    assert dependencies.code(documented) == dependencies.code(plain) != dependencies.code("one = 1")


# --- what counts as the same output -----------------------------------------------------------------------


def cell_that_printed(text, code="print(1)", kind="plain"):
    output = nbformat.v4.new_output("stream", name="stdout", text=text)
    return Cell(kind, True, code, "an-id"), nbformat.v4.new_code_cell(code, id="an-id", outputs=[output])


@pytest.mark.parametrize(
    "stored, given, is_same",
    [
        ("loss 0.6931, 3 steps", "loss 0.6931, 3 steps", True),
        ("loss 0.6931", "loss  0.6932", True),
        ("loss 0.6931", "loss 0.6951", False),
        ("3 steps", "4 steps", False),
        ("12345 steps", "12346 steps", False),
        ("1.2e-07", "1.3e-07", True),
        ("1.2e-07", "1.2e-06", False),
        ("a table\n-----\n 1.0", "a table\n------\n1.0", True),
        ("True", "False", False),
        ("a dog FORGED 42", "a dog", False),
        ("a dog", "a dog and a cat", False),
    ],
)
def test_words_are_compared_to_the_letter_and_numbers_as_they_are_printed(stored, given, is_same):
    (_, old), (_, new) = cell_that_printed(stored), cell_that_printed(given)
    assert (difference(old, new) == "") == is_same


def test_of_what_was_trained_the_words_of_its_own_code_are_asked():
    train = Cell("plain", True, "model = train(net, batches)", "train")
    code = 'print(f"the loss is {model.loss}")'

    def found(stored, given):
        cell, old = cell_that_printed(stored, code)
        empty = nbformat.v4.new_code_cell(train.text, id="train")
        cells = [train, cell]
        fresh = cell_that_printed(given, code)[1]
        return differences(cells, *(new_notebook(cells=[empty, one]) for one in (old, fresh)))

    assert found("the loss is 0.61", "the loss is 0.35") == []
    assert found("the FORGED is 0.61", "the loss is 0.35") != []
    assert trained([Cell("check", True, "check(train)", "a"), Cell("plain", True, "x = 1", "b")]) == set()


@pytest.mark.parametrize(
    "right, forged",
    [
        ('"shown\\n"', '"shown FORGED 42\\n"'),
        ('<img alt=\\"a point\\"', '<b>FORGED 42</b><img alt=\\"a point\\"'),
        ('"iVBORw0KGgo="', '"FORGED42"'),
    ],
    ids=["text", "HTML", "picture"],
)
def test_an_output_that_was_edited_is_named_and_does_not_outlive_a_build(small, tmp_path, right, forged):
    copy = copy_of(small, tmp_path)
    text = small.executed.read_text(encoding="utf-8")
    assert right in text
    copy.executed.write_text(text.replace(right, forged), encoding="utf-8")
    named, _ = build(None, check=True, root=tmp_path)
    assert named.startswith("solutions/90_small.ipynb: its outputs are not those that `build` wrote")
    assert "solutions/90_small.ipynb" in build(None, progress=False, root=tmp_path)
    assert copy.executed.read_text(encoding="utf-8") == text
    assert build(None, check=True, root=tmp_path) == []


def test_prose_is_renewed_without_a_run(small, tmp_path, monkeypatch):
    copy = copy_of(small, tmp_path, SMALL.replace("A small lesson", "A lesson with another name"))
    monkeypatch.setattr("autograder.build.make.executed_notebook", lambda lesson: pytest.fail("it was run"))
    assert "solutions/90_small.ipynb" in build(None, progress=False, root=tmp_path)
    assert "A lesson with another name" in copy.executed.read_text(encoding="utf-8")
    assert build(None, check=True, root=tmp_path) == []
    assert '"shown\\n"' in copy.executed.read_text(encoding="utf-8")


def test_a_redrawn_picture_is_put_in_without_a_run(small, tmp_path, monkeypatch):
    copy = copy_of(small, tmp_path)
    build(None, progress=False, root=tmp_path)
    (copy.images / "point.png").write_bytes(ONE_PIXEL + b"\0")
    monkeypatch.setattr("autograder.build.make.executed_notebook", lambda lesson: pytest.fail("it was run"))
    assert build(None, check=True, root=tmp_path) == ["solutions/90_small.ipynb", "notebooks/90_small.ipynb"]
    build(None, progress=False, root=tmp_path)
    assert build(None, check=True, root=tmp_path) == []
