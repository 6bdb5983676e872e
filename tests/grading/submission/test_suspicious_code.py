"""Suspicious names in a submission's code."""

import pytest
from worked import IMPORTS, worked_sources

from autograder.exercises import all_exercises
from autograder.grading.submission import names_in_code
from autograder.grading.submission.suspicious_code import suspicious_names
from autograder.schema.exercise import Rules

SOFTMAX = "loops.softmax"
HONEST = [
    "from autograder import check, hint, draw, compare, progress\n"
    "from autograder.notebook import figures\nfrom autograder.notebook.explore import explore",
    "# the probe of autograder.grading, ctypes\nprint('autograder.judge and gc')",
    "for part in model.modules(): print(part)\nself.modules = 3",
    "%matplotlib inline\nimport torch\n%time softmax(x)",
    "%%timeit\nsoftmax(x)",
    "%timeit -n 10 -r3 softmax(x)",
    "def softmax(:",
    "import numpy as np\nimport matplotlib.pyplot as plt\nplt.plot(np.arange(3))",
    "loss.backward()\noptimizer = torch.optim.Adam(model.parameters())\noptimizer.step()",
    "for name in 'qkv':\n    print(getattr(head, name).weight, getattr(head, f'{name}_proj'))",
    "layer.weight.data = w\nlayer.bias.grad = None",
]
# In an answer under a rule of form: a few of the above are looked at there.
HONEST_ANSWERS = [
    "def shifted(s):\n    return s - s.amax(-1, keepdim=True)\ndef softmax(s):\n    e = shifted(s).exp()\n"
    "    return e / e.sum(-1, keepdim=True)",
    "import functools, itertools, math\nfrom typing import Callable\n@functools.lru_cache\ndef f(n): return 1",
    "class Softmax(nn.Module):\n    def __init__(self):\n        super().__init__()\n"
    "        self._axis = -1\n    def forward(self, s):\n        return F.relu(s)\nsoftmax = Softmax()",
    "def f(x):\n    B, N, F = x.shape\n    return torch.zeros(B, F)",
    "def f(x):\n    raise ValueError(f'{type(x).__name__} has {x.shape}')",
]


def look(text: str, before: str = "") -> str:
    """What is said of a notebook with this answer, which earned points, and perhaps another cell before it."""
    return suspicious_names([before, text], {SOFTMAX: [text]}, [IMPORTS]).text([SOFTMAX])


@pytest.mark.parametrize(
    "before, answer", [*((text, "") for text in HONEST), *(("", text) for text in HONEST_ANSWERS)]
)
def test_honest_code_reaches_for_nothing(before, answer):
    assert not look(answer, before)


def test_no_worked_answer_under_a_rule_of_form_reaches_for_anything():
    ruled = [exercise for exercise in all_exercises() if exercise.rules != Rules()]
    assert len(ruled) > 10
    assert not [one.id for one in ruled if look(worked_sources(one.lesson)[one.id])]


@pytest.mark.parametrize(
    "text, name",
    [
        ("import autograder.probe.run as r", "autograder.probe"),
        ("from autograder.grading.worker.inside import requests", "autograder.grading"),
        ("from autograder import judge, check", "autograder.judge"),
        ("import autograder\nautograder.probe.probe = None", "autograder.probe"),
        ("import autograder as a\na.probe.probe", "autograder.probe"),
        ("%time 1\nfrom autograder.exercises import find", "autograder.exercises"),
        ("%%time\nfrom autograder.exercises import find", "autograder.exercises"),
    ],
)
def test_the_graders_modules_are_seen(text, name):
    assert suspicious_names(["x = 1", text], {}, [IMPORTS]).grader == [name]


@pytest.mark.parametrize(
    "text, name",
    [
        ("import ctypes", "ctypes"),
        ("import sys\nsys.modules['torch']", "sys"),
        ("__import__('os')", "__import__"),
        ("import gc\ngc.get_objects()", "gc"),
        ("frame.f_back.f_globals", ".f_globals"),
        ("open('/proc/self/maps')", "open"),
        ("from torch._C import _nn\nimport torch\ntorch._C._nn", "torch._C"),
        ("torch.overrides.sys", "torch.overrides"),
        ("t = torch", "torch as a value"),
        ("getattr(softmax, '__glo' + 'bals__')", "'__glo'"),
        ("softmax.__globals__", ".__globals__"),
        ("g = getattr", "getattr"),
        ("torch.exp = None", "a change of torch.exp"),
        ("T = torch.Tensor\nT.exp = None", "a change of .exp"),
        ("exec('1')", "exec"),
        ("getattr(x, name)", "getattr"),
        ("getattr(x, '_' + '_globals_' + '_')", "getattr"),
        ("for a in (f'{1}',):\n    getattr(f, a)", "getattr"),
        ("for a in 'xy':\n    a = b\n    getattr(f, a)", "getattr"),
        ("for a in ('f_back', 'x'):\n    getattr(f, a)", ".f_back"),
        ("import operator\noperator.attrgetter('x')(f)", "operator.attrgetter"),
        ("from operator import methodcaller as call", "operator.methodcaller"),
        ("print('{0.__globals__[x]}'.format(f))", "'{0.__globals__[x]}'"),
        ("type('T', (torch.Tensor,), {'__torch' + '_function__': f})", "a class made by type"),
        ("import functools\nfunctools.wraps(f, ('_' + '_globals_' + '_',))(g)", "functools.wraps"),
        ("from typing import get_type_hints", "typing.get_type_hints"),
        ("%%bash\nls", "%bash"),
        ("!ls", "get_ipython"),
        ("%run other.py", "%run"),
        ("%timeit -n 1 open('x')", "open"),
        ("%%timeit -n1 -r 1\nimport ctypes", "ctypes"),
        ("%timeit --n open('x')", "%timeit"),
        ("%%time\n%%time\n%%time\n%%time\n%%time\n1", "magics within magics"),
        ("-" * 50_000 + "1", "a cell that cannot be read"),
        ("class T(torch.Tensor):\n    def __torch_function__(cls): pass", "__torch_function__"),
        ("from torch import *", "all of torch"),
        ("match x:\n    case list(__class__=c, _hidden=d): pass", "_hidden"),
    ],
)
def test_what_no_cell_needs_is_seen(text, name):
    assert name in look("", before=text)


@pytest.mark.parametrize(
    "text, name",
    [
        ("import numpy as np", "numpy"),
        ("import autograder", "autograder"),
        ("softmax = torch.vmap(f)", "torch.vmap"),
        ("x.register_hook(print)", ".register_hook"),
        ("for name in 'qkv':\n    getattr(x, f'{name}_proj')", "getattr"),
        ("('{0.' + '_' + '_class_' + '_}').format(x)", ".format of a computed text"),
    ],
)
def test_what_no_answer_needs_is_seen_where_it_earned_points(text, name):
    assert name in look(text)
    assert not suspicious_names([text], {SOFTMAX: [text]}, [IMPORTS]).text([])


def test_a_long_list_is_cut():
    text = "\n".join(f"import {'long' * 20}{i}" for i in range(50))
    assert "46 more" in look(text)
    assert len(look(text)) < 200


def test_a_cell_that_is_too_long_is_not_parsed_but_reported(monkeypatch):
    long, parsed = "x = [" + "1," * 60_000 + "]", []
    parse = names_in_code.ast.parse
    monkeypatch.setattr(names_in_code.ast, "parse", lambda code: parsed.append(code) or parse(code))
    assert "a cell that cannot be read" in look("x = softmax", long)
    assert long not in parsed


def test_the_cell_of_an_exercise_may_use_what_its_worked_answer_uses_and_no_more():
    exercise = next(one for one in all_exercises() if one.id == "finetune.replace_linears")
    answer = worked_sources(exercise.lesson)[exercise.id]
    assert suspicious_names([answer], {}, [IMPORTS]).cells == ["setattr"]
    assert suspicious_names([answer], {}, [IMPORTS], {answer: [exercise]}).cells == []
    more = f"{answer}\n    delattr(model, name)\n    setattr(model, '__class__', None)"
    assert suspicious_names([more], {}, [IMPORTS], {more: [exercise]}).cells == [".__class__", "delattr"]
    assert suspicious_names([answer, "setattr(a, b, c)"], {}, [IMPORTS], {answer: [exercise]}).cells == [
        "setattr"
    ]
