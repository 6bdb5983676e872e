"""Tests a learner's slips: each gets one clear sentence, never a traceback, and never the claim that the
fault is ours.

All slips happen in one real kernel, in which lesson 01 is half finished. Afterwards, none of that work is
lost.
"""

import re

import nbformat
import pytest
from nbclient import NotebookClient

from autograder.errors import OUR_ERROR, PACKAGE

SETUP = """
import signal, threading, torch
import numpy as np
from functools import partial
from autograder import check, compare, draw, explore, figures, hint, mine, progress

def dot_product_scores(x):
    return torch.stack([torch.stack([one @ other for other in x]) for one in x])

def softmax(scores):
    grown = torch.exp(scores - scores.amax(-1, keepdim=True))
    return grown / grown.sum(-1, keepdim=True)

def stopped(scores):
    signal.raise_signal(signal.SIGINT)

def sofmax(scores):
    return softmax(scores)

x, w = torch.eye(2), torch.eye(2)
check(softmax)"""
# The slip, and what the message must contain.
SLIPS = {
    # check
    "check()": "missing a required argument: 'answer'. Write it like this: check(softmax)",
    "check(softmax, hiden=True)": "(did you mean `hidden`?)",
    "check(softmax, 'loops.softmax', True)": "too many positional arguments. Write it like this: check(softmax)",
    "check(softmax, x)": "`exercise` cannot be of type Tensor",
    "check(softmax, 3)": "`exercise` cannot be of type int",
    "check(softmax, softmax)": "`exercise` cannot be of type function",
    "check(answr=softmax)": "(did you mean `answer`?)",
    "check(softmax, 'loops.sofmax')": "did you mean loops.softmax?",
    "check(softmax, 'softmax')": "did you mean loops.softmax?",
    "check('softmax')": "without quotes",
    "check(softmax(x))": "which is a result",
    "check(None)": "check received a NoneType",
    "check(3)": "check received an int",
    "check([softmax])": "check received a list",
    "check({'softmax': softmax})": "check received a dict",
    "check(sofmax)": "Did you mean `softmax`?",
    "check(print)": "The exercises of this lesson are dot_product_scores, softmax, weighted_sum",
    "check(lambda scores: scores)": "The exercises of this lesson are",
    "check(partial(softmax))": "The exercises of this lesson are",
    "check(torch)": "which is a result",
    "check(check)": "does not know which exercise",
    "check(stopped, 'loops.softmax')": "You stopped check before it was done. Nothing has changed.",
    "softmax, kept = softmax(x), softmax\ncheck(softmax)": "`softmax` is a tensor of shape (2, 2) now",
    "softmax = 3\ncheck(softmax, 'loops.softmax')": "`softmax` is an int now, not your answer",
    "softmax = kept": None,
    "def softmax(scores):\n    exit()\ncheck(softmax)": "SystemExit: exit() ends Python",
    "import sys\ndef softmax(scores):\n    sys.exit(3)\ncheck(softmax)": "instead of ending Python?",
    "def softmax(scores):\n    return [float(x) for row in scores for x in row]\ncheck(softmax)": (
        "How many axes does that tensor have"
    ),
    "def softmax(scores):\n    return torch.ones(10**12) * scores\ncheck(softmax)": "4,000.0 GB does not fit",
    "check(np.exp)": "The exercises of this lesson are",
    "check(...)": "which is a result",
    "check(softmax, '')": "there is no exercise ''",
    "check(softmax, '01')": "there is no exercise '01'",
    "check(softmax, ' loops.softmax ')": "did you mean loops.softmax?",
    "check(dot_product_scores, 'loops.softmax')": "What does Python's message say about that line?",
    "check(torch.softmax)": "missing 1 required positional arguments",
    "softmax = kept\ncheck(softmax)": None,
    "Check(softmax)": "`Check` is not defined. Did you mean `check`?",
    "thread = threading.Thread(target=lambda: check(softmax)); thread.start(); thread.join()": (
        "this check was called in a thread. Call it in a cell of its own."
    ),
    # names that are not there
    "check(weighted_sum)": "`weighted_sum` is not defined yet. Run the cell that defines it",
    "check(weigthed_sum)": "`weigthed_sum` is not defined. Did you mean `weighted_sum`?",
    "check(wsum)": "`wsum` is not defined. The exercises of this lesson are",
    "hint(weighted_sum)": "`weighted_sum` is not defined yet",
    "draw(attention_from_loops, x, x, x)": "`attention_from_loops` is not defined yet",
    "weighted_sum(w, x)": "`weighted_sum` is not defined yet",
    # hint
    "hint()": "missing a required argument: 'exercise'. Write it like this: hint(\"loops.softmax\")",
    "hint('loops.softmax', 2)": "too many positional arguments",
    "hint(3)": "`exercise` cannot be of type int",
    "hint(None)": "`exercise` cannot be of type NoneType",
    "hint(x)": "Tensor",
    "hint('softmx')": "Did you mean `softmax`?",
    "hint('loops.softmx')": "Did you mean `softmax`?",
    "hint('')": "The exercises of this lesson are",
    "hint('lesson 1')": "The exercises of this lesson are",
    "hint(print)": "There is no exercise 'print'",
    "hint('SOFTMAX')": "Did you mean `softmax`?",
    "hint(' weighted sum')": "Did you mean `weighted_sum`?",
    "hint('check(softmax)')": "Did you mean `softmax`?",
    "hint(b'softmax')": "`exercise` cannot be of type bytes",
    "import autograder; autograder.hnt('softmax')": "autograder has no 'hnt'; it has check, compare, draw,",
    "hint(exercise='softmax', number=2)": "unexpected keyword argument 'number'",
    # progress
    "progress('progress.json')": 'progress(save="progress.json")',
    "progress(saev='x.json')": "(did you mean `save`?)",
    "progress(save=True)": "`save` cannot be of type bool",
    "progress(load=3)": "`load` cannot be of type int",
    "progress(load='nowhere.json')": "nowhere.json cannot be used",
    "open('none.json', 'w').write('[]'); progress(load='none.json')": "none.json holds no saved check",
    "open('old.json', 'w').write('{\"loops.softmax\": 3}'); progress(load='old.json')": "holds no saved check",
    "open('text.json', 'w').write('hello'); progress(load='text.json')": "is not a file that progress(save=",
    "open('deep.json', 'w').write('[' * 10**5); progress(load='deep.json')": "is not a file that progress(save=",
    "progress(load='.')": ". cannot be used (Is a directory)",
    "progress(lesson=1)": "unexpected keyword argument 'lesson'",
    "progress(save='')": "cannot be written",
    "progress(save='/')": "/ cannot be written (no file can have this name)",
    "progess()": "Did you mean `progress`?",
    "progress(softmax)": "too many positional arguments",
    # draw and compare
    "draw()": "Write it like this: draw(attention, q, k, v)",
    "draw('softmax', x)": "draw takes a function or a module and its inputs",
    "draw(softmax(x))": "draw takes a function or a module and its inputs",
    "draw(torch.nn.Linear, x)": "Linear is a class",
    "draw(torch.nn.Linear(2, 2))": "draw needs the inputs too",
    "draw(softmax, x, depth='1')": "depth counts",
    "draw(softmax, x, engine=2)": "`engine` cannot be of type int",
    "draw(softmax)": "missing 1 required positional argument",
    "compare()": "Write it like this: compare(mine, theirs, x)",
    "compare(softmax, x)": "compare takes a function or a module and its inputs",
    "compare(softmax)": "missing a required argument: 'theirs'",
    # explore
    "explore()": "missing a required argument: 'draw'. Write it like this: explore(lambda scale",
    "explore(3, scale=(0.0, 1.0, 0.1, 0.5))": "explore needs a function as its first argument",
    "explore(softmax)": "explore needs at least one choice",
    "explore(lambda scale: scale, scale=1)": "scale should be four numbers",
    "explore(lambda scale: scale, scale=(0, 1))": "scale should be four numbers",
    "explore(lambda scale: scale, scale=(0.0, float('inf'), 1.0, 1.0))": "scale should be four numbers",
    "explore(lambda by: figures.weights(by, ['a', 'b']), by=[w, x])": "<picture: Attention weights.",
    "explore(lambda by: by, scale=[1, 2])": "explore cannot call your function with scale",
    "explore(lambda by: 1 / by, by=[0, 1])": "and it raised ZeroDivisionError: division by zero (line 1: explore(",
    "explore(lambda scale: scale, scale=[1, 2])": "should return a figure",
    # mine and figures
    "mine()": "missing a required argument: 'exercise'",
    "mine(softmax, None)": "`exercise` cannot be of type function",
    "mine('softmax', None)": "did you mean loops.softmax?",
    "mine.table(3)": "`exercises` cannot be of type int",
    "mine.table('loops.softmx')": "did you mean loops.softmax?",
    "figures.weights()": "missing a required argument: 'values'. Write it like this: weights(values, tokens)",
    "figures.weights(w, tokns=['a'])": "(did you mean `tokens`?)",
    "figures.weights('w', ['a', 'b'])": "weights cannot draw this",
    "figures.weigths(w)": "figures has no 'weigths'; it has",
    "figures.table(w, 3, 4)": "table cannot draw this",
}
NOT_OF_OURS = re.compile(rf"Traceback|{re.escape(str(PACKAGE))}|{re.escape(OUR_ERROR)}|-->|<module>")


@pytest.fixture(scope="module")
def said(tmp_path_factory):
    """The text that each slip shows."""
    sources = [SETUP, *SLIPS, "progress()"]
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(source) for source in sources])
    place = {"metadata": {"path": str(tmp_path_factory.mktemp("clumsy"))}}
    NotebookClient(notebook, timeout=100, allow_errors=True, kernel_name="python3", resources=place).execute()
    return {source: _text(cell.outputs) for source, cell in zip(sources, notebook.cells, strict=True)}


def _text(outputs):
    parts = [
        one.get("text", "")
        or one.get("data", {}).get("text/plain", "")
        or "\n".join(one.get("traceback", []))
        for one in outputs
    ]
    return " ".join("\n".join(parts).split())


@pytest.mark.parametrize("slip", [one for one, words in SLIPS.items() if words is not None])
def test_a_slip_is_told_in_a_sentence_and_is_never_ours(slip, said):
    assert SLIPS[slip] in said[slip], said[slip]
    assert said[slip] and not NOT_OF_OURS.search(said[slip]), said[slip]
    assert len(said[slip]) < 400, said[slip]
    assert "is next" not in said[slip]  # which would mean that nothing was written


def test_after_all_slips_nothing_is_lost(said):
    assert "✓ softmax done 7 of 7" in said["progress()"], said["progress()"]
