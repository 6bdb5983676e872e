"""Tests what happens while learners work: changed settings, stale code, displays, results passed instead of
functions.
"""

import nbformat
import pytest
from nbclient import NotebookClient

SETUP = (
    "import math, os, torch\nimport matplotlib.pyplot as plt\nfrom autograder import check, hint, progress"
)
SOFTMAX = """
def softmax(scores):
    {}
    grown = torch.exp(scores - scores.max(dim=-1, keepdim=True).values)
    return grown / grown.sum(dim=-1, keepdim=True)"""
CELLS = {
    "setup": SETUP,
    "right": SOFTMAX.format("pass"),
    "check right": "check(softmax)",
    "broken": SOFTMAX.format("pass (").replace("sum", "mean"),
    "check stale": "check(softmax)",
    "mended": SOFTMAX.format("pass"),
    "check mended": "check(softmax)",
    "renamed": SOFTMAX.format("pass").replace("softmax", "my_softmax"),
    "check renamed": "check(softmax)",
    "with its check": SOFTMAX.format("1") + "\ncheck(softmax)",
    "another with its check": SOFTMAX.format("2") + "\ncheck(softmax)",
    "with its check again": SOFTMAX.format("1") + "\ncheck(softmax)",
    "again": SOFTMAX.format("0"),
    "result": "x = torch.rand(3, 4)\ncheck(softmax(x))",
    "overwritten": "softmax = softmax(x)\ncheck(softmax, 'loops.softmax')",
    "overwritten by a number": "softmax = 3\ncheck(softmax)",
    "shows": SOFTMAX.format(
        "display('shown by the answer'); plt.plot([1, 2]); plt.show(); os.system('echo said by a program')"
    ),
    "check shows": "check(softmax)",
    "open figure": SOFTMAX.format("plt.imshow(scores.detach().reshape(-1, scores.shape[-1]).numpy())"),
    "check open figure": "check(softmax)",
    "check within": SOFTMAX.format("check(softmax)"),
    "check check within": "check(softmax)",
    "asks": SOFTMAX.format("n = input('how many?')"),
    "check asks": "check(softmax)",
    "default type": "torch.set_default_dtype(torch.float64)\n" + SOFTMAX.format("pass"),
    "check default type": "check(softmax)",
    "still the default type": "print(torch.get_default_dtype())\ntorch.set_default_dtype(torch.float32)",
    "default device": "torch.set_default_device('meta')\n" + SOFTMAX.format("pass"),
    "check default device": "check(softmax)",
    "still the default device": "print(torch.get_default_device())\ntorch.set_default_device(None)",
    "slow": SOFTMAX.format("import time; time.sleep(0.12)"),
    "check slow": "check(softmax)",
    "instance": "from torch import nn\nclass SelfAttention(nn.Module):\n    def forward(self, x):\n        return x\n"
    "head = SelfAttention()\ncheck(head)",
    "hint": 'hint("softmax")',
    "nothing can be written": "from autograder.notebook import memory\ndef fail(*args):\n    raise PermissionError()\n"
    "memory.write_whole = fail\n" + SOFTMAX.format("pass") + "\ncheck(softmax)\nprogress()",
}


class Watching(NotebookClient):
    """Keeps everything that is displayed during the run, including what is replaced or cleared later."""

    def process_message(self, message, cell, index):
        text = message["content"].get("data", {}).get("text/plain", "")
        self.on_the_way.setdefault(index, []).append(text)
        return super().process_message(message, cell, index)


@pytest.fixture(scope="module")
def shown(tmp_path_factory):
    """The text that each cell shows in the end and, under `NAME, on the way`, all that it has shown; all
    cells run in one real kernel.
    """
    notebook = nbformat.v4.new_notebook(
        cells=[nbformat.v4.new_code_cell(source) for source in CELLS.values()]
    )
    place = {"metadata": {"path": str(tmp_path_factory.mktemp("notebook"))}}
    client = Watching(notebook, timeout=600, allow_errors=True, kernel_name="python3", resources=place)
    client.on_the_way = {}
    client.execute()
    texts = {name: _text(cell.outputs) for name, cell in zip(CELLS, notebook.cells, strict=True)}
    on_the_way = {
        f"{name}, on the way": "\n".join(client.on_the_way.get(i, ())) for i, name in enumerate(CELLS)
    }
    return texts | on_the_way


def _text(outputs):
    parts = []
    for output in outputs:
        data = output.get("data", {})
        parts.append(
            output.get("text", "") or data.get("text/plain", "") or "\n".join(output.get("traceback", []))
        )
        parts += [kind for kind in data if kind == "image/png"]
    return "\n".join(parts)


RIGHT = "✓ loops.softmax: right, 7 of 7 points"


def test_an_answer_that_its_cell_no_longer_gives_is_told_first(shown):
    assert RIGHT in shown["check right"] and "older version" not in shown["check right"]
    assert "older version" in shown["check stale"].splitlines()[0]
    assert "the last run of the cell that defines `softmax` failed" in shown["check stale"]
    assert "older version" not in shown["check mended"] and RIGHT in shown["check mended"]
    assert "your cell now defines `my_softmax`" in shown["check renamed"]


def test_an_answer_whose_own_cell_checks_it_is_no_older_version(shown):
    assert RIGHT in shown["with its check again"] and "older version" not in shown["with its check again"]


def test_a_result_an_instance_and_a_name_that_is_something_else_now(shown):
    assert "a tensor of shape (3, 4), which is a result" in shown["result"]
    assert "without parentheses" in shown["result"]
    assert "`softmax` is a tensor of shape (3, 4) now, not your answer" in shown["overwritten"]
    assert "`softmax` is an int now" in shown["overwritten by a number"]
    assert "Pass the class itself: check(SelfAttention)" in shown["instance"]


def test_what_an_answer_shows_is_kept_back_and_costs_nothing(shown):
    for name in ("check shows", "check open figure"):
        assert RIGHT in shown[name], shown[name]
        assert (
            "image/png" not in shown[name] and "shown by" not in shown[name] and "said by" not in shown[name]
        )


def test_a_check_within_the_answer_and_a_question_to_nobody_end_at_once(shown):
    assert "check was called inside the answer" in shown["check check within"]
    assert len(shown["check check within"]) < 1000
    assert "keyboard" in shown["check asks"]


def test_a_check_is_deaf_to_settings_of_the_session_and_leaves_them(shown):
    assert RIGHT in shown["check default type"] and "torch.float64" in shown["still the default type"]
    assert RIGHT in shown["check default device"] and "meta" in shown["still the default device"]


def test_a_check_that_takes_long_shows_that_it_is_at_work(shown):
    assert RIGHT in shown["check slow"]
    assert "Checking: case" in shown["check slow, on the way"]
    assert "Checking: case" not in shown["check slow"]  # at the end it is gone
    assert "Checking" not in shown["check right, on the way"]


def test_hint_takes_the_name_alone(shown):
    assert "Hint 1 of" in shown["hint"]


def test_where_nothing_can_be_written_progress_knows_the_session(shown):
    assert "Nothing can be written in this folder" in shown["nothing can be written"]
    assert "Progress: 7 of" in shown["nothing can be written"]
