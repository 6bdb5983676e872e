"""Tests what is added to a student's feedback page, and what must never reach it."""

import re
from dataclasses import replace

import nbformat
import pytest
import torch
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook
from torch import nn

from autograder.exercises import find
from autograder.grading.course.make import CONFIG
from autograder.grading.demo.demo import make_feedback
from autograder.grading.demo.hand_in import hand_in
from autograder.grading.demo.sample_class import FIRST, SampleSubmission
from autograder.grading.grade import grade
from autograder.grading.gradebook.open_course import open_course
from autograder.grading.judging import results, run
from autograder.grading.judging.results import Result
from autograder.grading.pages import feedback, missing
from autograder.grading.pages.feedback import LEFT_OUT, FitForStudents
from autograder.grading.sandbox.sandbox import why_no_sandbox
from autograder.grading.worker.answer_graph import answer_graph, case_to_draw
from autograder.graph import as_data
from autograder.judge import cases_of
from autograder.schema.draw import PUBLIC_SEED
from autograder.verdict import RIGHT, WRONG, Picture, Verdict

LESSON, KEY = "04_heads", "ab" * 32
SOFTMAX, HEADS = "loops.softmax", "heads.MultiheadSelfAttention"
PICTURE = Picture([[0.5, 0.5]], [[1.0, float("nan")]], (0, 1), "the result <b>")


class MultiheadSelfAttention(nn.Module):
    """A wrong answer, which does not scale the scores."""

    def __init__(self, d_model, n_heads):
        super().__init__()
        self.n_heads = n_heads
        self.q_proj, self.k_proj, self.v_proj, self.out_proj = (nn.Linear(d_model, d_model) for _ in range(4))

    def forward(self, x):
        q, k, v = (
            part(x).unflatten(-1, (self.n_heads, -1)).transpose(1, 2)
            for part in (self.q_proj, self.k_proj, self.v_proj)
        )
        return self.out_proj((torch.softmax(q @ k.mT, -1) @ v).transpose(1, 2).flatten(2))


def graph_of(answer, exercise_id: str = HEADS) -> dict:
    exercise = find(exercise_id)
    case = case_to_draw(cases_of(exercise, PUBLIC_SEED, False))
    return as_data(answer_graph(answer, exercise.procedure, case))


def a_verdict(picture: Picture | None = None, hidden: bool = False, state: str = WRONG) -> Verdict:
    return Verdict(SOFTMAX, state, (), picture=picture, hidden=hidden)


def check_cell(exercise_id: str):
    kind = {"grade_id": f"check-{exercise_id.replace('.', '-')}", "grade": True, "locked": True}
    return new_code_cell("check()", metadata={"nbgrader": kind})


def fitted(folder, result: Result | None, *exercises: str, key: str = KEY) -> nbformat.NotebookNode:
    """Return what the preprocessor makes of a graded notebook with checks of these exercises. `result`, if
    there is one, is saved under KEY; the preprocessor looks in the current folder for a result saved under
    `key`.
    """
    if result is not None:
        results.save(folder, KEY, result)
    notebook = new_notebook(
        cells=[check_cell(e) for e in exercises], metadata={"autograder": {"result": key}}
    )
    notebook, _ = FitForStudents().preprocess(notebook, {"inlining": {"css": []}})
    return notebook


def shown(notebook) -> str:
    outputs = [output for cell in notebook.cells if cell.cell_type == "code" for output in cell.outputs]
    return "".join(output.data["text/html"] for output in outputs)


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_a_wrong_answer_stands_beside_what_is_due(folder):
    page = shown(fitted(folder, Result(verdicts={SOFTMAX: a_verdict(PICTURE)}), SOFTMAX))
    assert 'src="data:image/png;base64,' in page
    assert "Expected, yours and the difference for the result &lt;b&gt;" in page


def test_numbers_of_hidden_cases_are_never_shown(folder):
    assert shown(fitted(folder, Result(verdicts={SOFTMAX: a_verdict(PICTURE, hidden=True)}), SOFTMAX)) == ""


def test_a_module_stands_beside_the_reference_with_what_differs(folder):
    result = Result(verdicts={HEADS: a_verdict()}, graphs={HEADS: graph_of(MultiheadSelfAttention)})
    page = shown(fitted(folder, result, HEADS))
    assert 'src="data:image/svg+xml;base64,' in page
    assert "before softmax; yours does not" in page
    assert "<details>" not in page


def test_a_module_of_the_same_structure_is_folded(folder):
    result = Result(verdicts={HEADS: a_verdict()}, graphs={HEADS: graph_of(find(HEADS).reference)})
    assert shown(fitted(folder, result, HEADS)).startswith("<details>")


def test_a_right_answer_of_another_structure_is_shown_alone(folder):
    verdict, graph = a_verdict(state=RIGHT), graph_of(MultiheadSelfAttention)
    page = shown(fitted(folder, Result(verdicts={HEADS: verdict}, graphs={HEADS: graph}), HEADS))
    assert page.startswith("<details><summary>What your code computes</summary>") and "Theirs" not in page


@pytest.mark.parametrize(
    "graph",
    [
        {},
        {"nodes": "<script>"},
        graph_of(MultiheadSelfAttention) | {"title": "<img src=x onerror=alert(1)>\n"},
    ],
    ids=["empty", "no nodes", "a title with a line break"],
)
def test_what_is_no_graph_is_not_drawn_and_counted(folder, graph):
    page = shown(fitted(folder, Result(verdicts={HEADS: a_verdict()}, graphs={HEADS: graph}), HEADS))
    assert page == LEFT_OUT and len(missing.taken()) == 1


def test_a_list_is_no_graph(folder):
    assert shown(fitted(folder, Result(verdicts={HEADS: a_verdict()}, graphs={HEADS: []}), HEADS)) == ""


def test_the_page_says_what_was_not_run(folder):
    first = fitted(folder, Result(problem="its <code> did not stop")).cells[0].source
    assert first.startswith("*Cells of the lesson that no answer needs were not run.")
    assert "its &lt;code&gt; did not stop" in first


@pytest.mark.parametrize("key", ["", "../../secret", "ab" * 31, 7, None])
def test_a_key_that_is_none_opens_no_file(folder, key):
    assert len(fitted(folder, Result(), SOFTMAX, key=key).cells) == 1


def test_a_submission_ends_as_a_picture_on_the_page(course):
    """Hand in and grade a submission with two wrong answers, make its feedback page, and find the pictures of
    both.
    """
    hand_in(course, SampleSubmission("ada", answers={SOFTMAX: "SMX-01", "loops.weighted_sum": "LOOP-17"}))
    grade(course, sandboxed=not why_no_sandbox())
    make_feedback(course, [FIRST])
    page = (course / "feedback" / "ada" / FIRST / f"{FIRST}.html").read_text()
    assert page.count('alt="Expected, yours and the difference for ') == 2


def test_a_picture_that_fails_is_left_out_logged_with_its_place_and_counted(folder, monkeypatch, capsys):
    monkeypatch.setattr(feedback, "checked", lambda *_: 1 / 0)
    picture = replace(PICTURE, title="drawn nowhere else")
    page = shown(fitted(folder, Result(verdicts={SOFTMAX: a_verdict(picture)}), SOFTMAX))
    assert page == LEFT_OUT
    logged = (folder / "grading.log").read_text()
    assert f"the picture of {SOFTMAX}" in logged and "ZeroDivisionError" in logged and "Traceback" in logged
    missing._print_count()
    assert "pictures missing from feedback pages: 1; grading.log says why" in capsys.readouterr().err
    assert missing.taken() == []


def graded_module(course):
    """Hand in and grade a right module."""
    work = SampleSubmission("ada", lesson="02_attention_as_matmul")
    hand_in(course, work)
    (row,) = grade(course, workers=1, sandboxed=not why_no_sandbox())
    assert row.points["SelfAttention"] > 0


def test_a_graph_that_is_sent_is_not_missing(course):
    graded_module(course)
    assert missing.taken() == []


def test_a_graph_that_is_not_sent_is_logged_with_its_place_and_counted(course, monkeypatch, capsys):
    monkeypatch.setattr(run, "LARGEST_GRAPH", 0)
    graded_module(course)
    logged = (course / "grading.log").read_text()
    assert (
        "the picture of matmul.SelfAttention ('ada', 02_attention_as_matmul) is missing: what was sent"
        in logged
    )
    missing._print_count()
    assert "pictures missing from feedback pages: 1; grading.log says why" in capsys.readouterr().err


WHY_NO_GRAPH = [
    ({"ended": -9}, "its process ended with status -9"),
    (
        {"raised": "KeyError in graph/fold.py, line 7"},
        "'KeyError in graph/fold.py, line 7' while it was drawn",
    ),
    ({"raised": "\n\u202e"}, "'\\n\\u202e' while it was drawn"),
    ({"graph": []}, "what was sent is not a dict of at most 1000000 characters"),
    ({}, "what was sent is not a dict of at most 1000000 characters"),
]


@pytest.mark.parametrize("reply, why", WHY_NO_GRAPH)
def test_why_there_is_no_graph_is_told_in_words_of_ours(reply, why):
    assert run._why_no_graph(reply) == why


# --- the page -----------------------------------------------------------------------------------------------


def test_a_whole_page_is_self_contained(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "nbgrader_config.py").write_text(CONFIG)
    graded = new_notebook(
        cells=[new_markdown_cell("A formula $x^2$ <script>alert(1)</script>"), check_cell(HEADS)],
        metadata={"autograder": {"result": KEY}},
    )
    for cell in graded.cells[1:]:
        cell.metadata.nbgrader |= {"schema_version": 3, "solution": False, "points": 10.0, "task": False}
    results.save(
        tmp_path, KEY, Result({}, {HEADS: a_verdict(PICTURE)}, {HEADS: graph_of(MultiheadSelfAttention)})
    )
    api = open_course(tmp_path)
    with api.gradebook as book:
        book.add_assignment(LESSON)
        book.add_notebook(LESSON, LESSON)
        book.add_grade_cell(
            "check-heads-MultiheadSelfAttention", LESSON, LESSON, max_score=10, cell_type="code"
        )
        book.add_student("ada")
        book.add_submission(LESSON, "ada")
        book.db.commit()
    for place in ("source", "autograded/ada"):
        path = tmp_path / place / LESSON / f"{LESSON}.ipynb"
        path.parent.mkdir(parents=True)
        nbformat.write(graded, path)
    assert api.generate_feedback(LESSON)["success"]
    page = (tmp_path / "feedback" / "ada" / LESSON / f"{LESSON}.html").read_text()
    assert "<script" not in page.lower() and "default-src 'none'" in page
    assert not re.search(r"""(src|href)\s*=\s*["']?(?!["']?(data:|#))\S""", page)
    assert page.count("<math") == 1
    assert page.count('src="data:image/') == 2
