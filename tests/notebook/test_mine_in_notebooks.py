"""Tests `mine` in real notebooks: lesson 20 runs in a learner's folder in which some lessons are answered,
and some of the answers are wrong.
"""

import re

import nbformat
import pytest
from nbclient import NotebookClient
from worked import worked_sources

from autograder.lab.folder import made
from autograder.notebook import real_model

pytestmark = [pytest.mark.trial, pytest.mark.xdist_group("the real model")]
WRITTEN = {  # lesson -> edits of its worked answers, by exercise
    "07_positions": {},
    "08_normalisation": {"norms.rms_norm": ("square", "abs")},
    "10_tokenisation": {},
    "12_generation": {"generation.sample": ("return", "return return")},
    "20_real_model": {},
}
LOADS = "model = load(dequantise_q4)"
COMPARE = """from autograder.notebook.real_model.plain import plain_model
with torch.no_grad():
    print(f"apart: {(logits - plain_model(file)(ids)).abs().max().item()}")
"""


def fill(path, edits):
    """Put the lesson's worked answers, changed by `edits`, into a student notebook; return the notebook."""
    notebook = nbformat.read(str(path), 4)
    answers = worked_sources(path.stem)
    for exercise, (old, new) in edits.items():
        assert old in answers[exercise]
        answers[exercise] = answers[exercise].replace(old, new)
    by_cell = {exercise.replace(".", "-"): text for exercise, text in answers.items()}
    for cell in notebook.cells:
        cell.source = by_cell.get(cell.metadata.get("nbgrader", {}).get("grade_id"), cell.source)
    nbformat.write(notebook, str(path))
    return notebook


@pytest.fixture(scope="module")
def shown(tmp_path_factory):
    """The text that is printed by lesson 20 up to the cell that loads its model, by COMPARE if the real model
    is there, and by the cell with the table of answers.
    """
    folder = made(tmp_path_factory.mktemp("learner")) / "notebooks"
    for lesson, edits in WRITTEN.items():
        notebook = fill(folder / f"{lesson}.ipynb", edits)
    code = [
        cell for cell in notebook.cells if cell.cell_type == "code" and not cell.source.startswith("draw(")
    ]
    until = next(place for place, cell in enumerate(code) if LOADS in cell.source)
    last = [cell for cell in code[until + 1 :] if cell.source.startswith("mine.table(")]
    compare = [nbformat.v4.new_code_cell(COMPARE)] if real_model.is_there() else []
    notebook.cells = [*code[: until + 1], *compare, *last]
    place = {"metadata": {"path": str(folder)}}
    NotebookClient(notebook, timeout=300, kernel_name="python3", resources=place).execute()
    outputs = [output for cell in notebook.cells for output in cell.outputs]
    return "\n".join(
        output.get("text", "") or output.get("data", {}).get("text/plain", "") for output in outputs
    )


def test_what_is_right_there_is_used_and_what_is_not_is_named(shown):
    assert "Your rms_norm of lesson 08 normalisation is not used: it does not pass its check yet." in shown
    assert "Your sample of lesson 12 generation is not used: its cell cannot be read as Python" in shown
    assert shown.count("is not used") == 2


def test_the_last_table_counts_them(shown):
    table = shown[shown.rindex("bpe_encode ") :]
    assert table.count("yours, from lesson") == 10 and "10 of 15 parts of this model are yours." in table
    for name, lesson in (("rms_norm", "08"), ("next_token_loss", "11"), ("sample", "12"), ("chat_ids", "20")):
        assert re.search(rf"^{name} +not yours yet: it is built in {lesson}", table, re.M)


@pytest.mark.skipif(not real_model.is_there(), reason="the real model is not here: make model")
def test_the_model_of_all_these_parts_is_the_model(shown):
    assert float(shown.partition("apart: ")[2].split()[0]) < 1e-3
    assert "' Paris'" in shown
