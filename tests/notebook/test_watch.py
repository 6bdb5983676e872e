"""Tests check --watch FILE: an answer in a Python file is judged at each save, as in a notebook, and the
result is remembered next to the file.
"""

import json
import subprocess
import sys

import pytest

from autograder.cli import main
from autograder.lab import folder

STUB = "    # YOUR CODE HERE\n    raise NotImplementedError()\n"
EDITS = """
import sys
from pathlib import Path
from autograder.cli import main
from autograder.notebook import watch

path, stub = Path(sys.argv[1]), sys.argv[2]
text = path.read_text(encoding="utf-8")
scores = text.replace(stub, "    return torch.stack([torch.stack([a @ b for b in x]) for a in x])\\n", 1)
wrong = scores.replace(stub, "    grown = scores.exp()\\n    return grown / grown.sum(0, keepdim=True)\\n", 1)
unread = wrong.replace(stub, "    return (\\n", 1)
fails = wrong.replace(stub, "    return nothing\\n", 1)
ends = wrong + "\\nimport os\\nfound = os._exit(3)\\ndef weighted_sum(weights, values):\\n    return found\\n"
Path("right").write_text(fails, encoding="utf-8")
waits = wrong + '''
import threading
def wait():
    Path(__file__).write_text(Path("right").read_text(encoding="utf-8"), encoding="utf-8")
    threading.Event().wait(1000)
from pathlib import Path
waited = wait()
def weighted_sum(weights, values):
    return waited
'''
edits = iter([scores, wrong, unread, ends, waits, None])

def save(seconds):
    print("SAVED")
    edit = next(edits)
    if edit is None:
        raise KeyboardInterrupt
    path.write_text(edit, encoding="utf-8")

watch.time.sleep = save
raise SystemExit(main(["check", "--watch", str(path)]))
"""


@pytest.fixture(scope="module")
def course(tmp_path_factory):
    """A learner's folder with a Python file for each lesson."""
    return folder.made(tmp_path_factory.mktemp("editor") / "mine", as_files=True)


def test_there_is_a_file_per_lesson_with_its_text_and_its_stubs_and_it_is_never_written_over(course):
    files = sorted((course / "notebooks").glob("*.py"))
    assert len(files) == len(list((course / "solutions").glob("*.ipynb"))) and not list(
        (course / "notebooks").glob("*.ipynb")
    )
    for file in files:
        text = file.read_text(encoding="utf-8")
        compile(text, file.name, "exec")
        assert STUB in text and "attachment:" not in text and "\ncheck(" in text
    kept = files[1].read_text(encoding="utf-8") + "# mine\n"
    files[1].write_text(kept, encoding="utf-8")
    folder.made(course, as_files=True)
    assert files[1].read_text(encoding="utf-8") == kept


def test_each_save_is_judged_and_what_did_not_change_is_not_judged_again(course, tmp_path):
    path = course / "notebooks/01_attention_from_loops.py"
    command = [sys.executable, "-c", EDITS, str(path), STUB]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, encoding="utf-8")
    assert done.returncode == 130 and done.stderr == "autograder: stopped.\n"
    first, scores, wrong, unread, ends, waits, _ = done.stdout.split("SAVED\n")
    assert "✗" not in first and "Next: begin dot_product_scores" in first
    assert "✓ loops.dot_product_scores: right, 4 of 4 points" in scores and "Next: begin softmax" in scores
    assert "✗ loops.softmax: wrong, 0 of 7 points\nYour entries sum to one over the wrong axis." in wrong
    assert "dot_product_scores" not in wrong
    assert "cannot be read as Python, line" in unread and "was never closed" in unread
    assert "ended the Python process (status 3)" in ends
    # This answer never returns; the next save, of an answer that fails, ends it.
    assert "✗ loops.weighted_sum: does not run" in waits and "return nothing" in waits
    kept = course / "notebooks/.attention-by-hand/loops.dot_product_scores.json"
    assert json.loads(kept.read_text())["state"] == "right"
    assert not kept.with_name("loops.attention_from_loops.json").exists()  # it is a stub


def test_what_cannot_be_watched_is_said(tmp_path, capsys):
    assert main(["check", "--watch", str(tmp_path / "nowhere.py")]) == 2
    assert "nowhere.py does not exist" in capsys.readouterr().err
    assert main(["check", "--watch", str(tmp_path)]) == 2
    assert "is not a Python file" in capsys.readouterr().err
