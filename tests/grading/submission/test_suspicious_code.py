"""Tests which suspicious names are found in a submission's code."""

import collections
import functools
import re
import types
from contextlib import suppress
from importlib import import_module

import numpy as np
import pytest
import torch
from torch import nn
from worked import IMPORTS, worked_sources

from autograder.exercises import all_exercises
from autograder.grading.submission import allowed_names, cell_code
from autograder.grading.submission.allowed_names import IN_CELLS, names_of
from autograder.grading.submission.suspicious_code import suspicious_names
from autograder.schema.exercise import Rules

SOFTMAX = "loops.softmax"
HONEST = [
    "from autograder import check, hint, draw, compare, progress\n"
    "from autograder.notebook import figures\nfrom autograder.notebook.explore import explore",
    "# the probe of autograder.grading, ctypes\nprint('autograder.judge and gc')",
    "for part in model.modules(): print(part, type(part))",
    "%matplotlib inline\nimport torch\n%time softmax(x)",
    "%%timeit\nsoftmax(x)",
    "%timeit -n 10 -r3 softmax(x)",
    "def softmax(:",
    "import numpy as np\nimport matplotlib.pyplot as plt\nplt.plot(np.arange(3))",
    "loss.backward()\noptimizer = torch.optim.Adam(model.parameters())\noptimizer.step()",
    "print(getattr(head, 'q_proj').weight, hasattr(head, name), f'{type(head)}')",
    "from autograder import check, draw\ncheck(Softmax)\nclass Softmax(nn.Module):\n    pass\ndraw(Softmax(), x)",
    "import numpy as np\nrng = np.random.default_rng(0)\nprint(np.array_equal(rng.normal(size=3), x.numpy()))",
    "layer.weight.data = w\nlayer.bias.grad = None\nconfig.n_heads = 4\nprint(torch.__version__)",
    "import functools\nclass A(nn.Module): pass\nlayers = [A, nn.ReLU]\nnorm = functools.partial(nn.LayerNorm, eps=1)",
]
# Honest answers under a rule of form, where a few of the above would be reported.
HONEST_ANSWERS = [
    "def shifted(s):\n    return s - s.amax(-1, keepdim=True)\ndef softmax(s):\n    e = shifted(s).exp()\n"
    "    return e / e.sum(-1, keepdim=True)",
    "import functools, itertools, math\nfrom typing import Callable\n@functools.lru_cache\ndef f(n): return 1",
    "class Softmax(nn.Module):\n    def __init__(self):\n        super().__init__()\n"
    "        self._axis = -1\n    def forward(self, s):\n        return F.relu(s)\nsoftmax = Softmax()",
    "import functools\n@functools.cache\ndef _f(n): return n\n_F = functools.partial(torch.softmax, dim=-1)",
    "class A(nn.Module):\n    @staticmethod\n    def _f(x): return x\n    @property\n    def n(self): return self._n\n"
    "    def g(self):\n        super(A, self).__init__()\n        return [self._f(x) for x in self._n]",
    "from dataclasses import dataclass\nfrom typing import Optional\n@dataclass(frozen=True)\nclass Sizes:\n"
    "    n: int = 3\n    x: Optional[torch.Tensor] = None\ndef f(s: Optional[Sizes] = None) -> Sizes:\n"
    "    assert s is None or isinstance(s, (Sizes, int)), s\n    return s or Sizes()",
    "def f(x, input=None, cls=None):\n    if type(x) is not torch.Tensor:\n        raise TypeError(f'not {type(x)}')\n"
    "    device = 'cuda' if torch.cuda.is_available() else 'cpu'\n    return x.to(device, torch.finfo(x.dtype).dtype)",
    "def f(x):\n    match x:\n        case int() | float():\n            return 1\n        case [first, *rest]:\n"
    "            return rest\n        case {'a': a, **more}:\n            return a",
    "def f(x):\n    raise ValueError(f'{type(x).__name__} has {x.shape}')",
    "import logging\ndef f(x):\n    logging.debug('%s', x.shape)\n    return x",
    "import torch\n@torch.compile(dynamic=True)\ndef softmax(s):\n    return s.exp() / s.exp().sum(-1, keepdim=True)",
    "def f(x, y):\n    for layer, part in zip((x.q_proj, getattr(x, 'k_proj')), y):\n        layer.weight.data = part",
    "class A(nn.Module): pass\nclass B(A): pass\nprint('{0:.3f} {x!r}'.format(B(), x=1))",
    "from decimal import localcontext\nwith localcontext() as context:\n    context.prec = 50",
    "class A:\n    @classmethod\n    def f(cls, n, kind=nn.GELU):\n        return cls(n, kind)\n"
    "    def __enter__(self): return type(self) is A\n    def __exit__(self, *error): self.scale = 1\n"
    "def g(x: list[torch.Tensor]) -> torch.Tensor:\n    return A.f(3, kind=A).scale",
]


def look(text: str, before: str = "") -> str:
    """Return the note that asks a teacher to look at a notebook's code. The notebook has the cell `before`
    and then an answer, `text`, which earned points.
    """
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
        ("import autograder.probe.run as r", "autograder.probe.run"),
        (
            "from autograder.grading.worker.inside import requests",
            "autograder.grading.worker.inside.requests",
        ),
        ("from autograder import judge, check", "autograder.judge"),
        ("import autograder\nautograder.probe.probe(1)", "autograder.probe.probe"),
        ("import autograder as a\na.probe.probe", "autograder.probe.probe"),
        ("from autograder.notebook import figures\nfigures.style.os", "autograder.notebook.figures.style.os"),
        ("%time 1\nfrom autograder.exercises import find", "autograder.exercises.find"),
        ("%%time\nfrom autograder.exercises import find", "autograder.exercises.find"),
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
        ("__builtins__['open']", "__builtins__"),
        ("import gc\ngc.get_objects()", "gc"),
        ("frame.f_back.f_globals", ".f_globals"),
        ("open('/proc/self/maps')", "open"),
        ("from torch._C import _nn\nimport torch\ntorch._C._nn", "torch._C._nn"),
        ("from torch import _VF", "torch._VF"),
        ("torch.overrides.sys", "torch.overrides.sys"),
        ("F.importlib.import_module('os')", "torch.nn.functional.importlib.import_module"),
        ("t = torch", "torch as a value"),
        ("for self in [torch]:\n    self._decomp", "torch as a value"),
        ("torch = torch\nself = torch\nself._decomp", "torch as a value"),
        ("import re as torch\ntorch.compile(f)", "torch or re.compile"),
        ("softmax.__globals__", ".__globals__"),
        ("g = getattr", "getattr with a computed name"),
        ("getattr(softmax, '__globals__')", ".__globals__"),
        ("getattr(torch, '_C')", "torch._C"),
        ("getattr(x, name)", "getattr with a computed name"),
        ("for name in ('q', 'k'):\n    getattr(x, name)", "getattr with a computed name"),
        ("getattr(softmax, '__glo' + 'bals__')", "getattr with a computed name"),
        ("setattr(torch, 'exp', None)", "a change to torch.exp"),
        ("torch.exp = None", "a change to torch.exp"),
        ("del torch.exp", "a change to torch.exp"),
        ("T = torch.Tensor\nT.exp = None", "torch.Tensor as a value"),
        ("exec('1')", "exec"),
        ("%matplotlib {exec('1') or 'inline'}", "%matplotlib"),
        ("%matplotlib $name", "%matplotlib"),
        ("get_ipython(exec('1')).run_line_magic('time', '1')", "exec"),
        ("In [1]: torch.exp = None", "a change to torch.exp"),
        ("In [1]: isinstance = f", "another isinstance"),
        ("isinstance(torch, A)", "torch as a value"),
        ("class A(nn.Module):\n    x: torch", "torch as a value"),
        ("class A:\n    @property\n    def __class__(self): return f()", "another __class__"),
        ("class M: pass\nm = M()\nclass A(m):\n    x: torch.Tensor", "a subclass of m"),
        ("class A(M.m):\n    x: torch.Tensor", "a subclass of M.m"),
        ("class A(torch.Tensor): pass", "a subclass of torch.Tensor"),
        ("class A:\n    def f(self): return self._forward_hooks", "._forward_hooks"),
        ("'{0.tb_frame}'.format(trace)", ".format"),
        ("'{0[f]}'.format(x)", ".format"),
        ("text.format(x)", ".format"),
        ("import operator\noperator.attrgetter('x')(f)", "operator.attrgetter"),
        ("from operator import methodcaller as call", "operator.methodcaller"),
        ("type('T', (torch.Tensor,), {'__torch' + '_function__': f})", "type"),
        ("type(*('T', (), {}))", "type"),
        ("kind = type(x)", "type"),
        ("kind = type[int](x)", "type"),
        ("class Kind(type[int]): pass", "type"),
        ("from typing import Type\nclass Kind(Type): pass", "typing.Type"),
        ("type(A)('T', (), {'__torch' + '_function__': f})", "type"),
        ("x.__class__('T', (), {})", "type"),
        ("type(A).__call__(x)", "type"),
        ("match x:\n    case object(__class__=kind): pass", "type"),
        ("from typing import TypedDict", "typing.TypedDict"),
        ("from enum import Enum\nEnum('T', {'__torch' + '_function__': f})", "enum.Enum"),
        ("from types import SimpleNamespace", "types.SimpleNamespace"),
        ("nn.ParameterDict({'__reduce' + '_ex__': f})", "torch.nn.ParameterDict"),
        ("import logging\nlogging.getLogger().addFilter(f)", "logging.getLogger"),
        ("from torch.optim.lr_scheduler import StepLR", "torch.optim.lr_scheduler.StepLR"),
        ("class A:\n    def f(self): self._set_cdata(1)\nA.f(x.untyped_storage())", "._set_cdata"),
        ("x.untyped_storage().from_file('/proc/self/maps', False, 1)", ".from_file"),
        ("nn.LazyLinear(1).weight.cls_to_become.exp = f", ".cls_to_become"),
        ("from functools import wraps", "functools.wraps"),
        ("from typing import get_type_hints", "typing.get_type_hints"),
        ("from dataclasses import make_dataclass", "dataclasses.make_dataclass"),
        ("from typing import Annotated\nAnnotated[torch.Tensor, 1].grad = f", "typing.Annotated"),
        ("%%bash\nls", "%bash"),
        ("!ls", "get_ipython"),
        ("%run other.py", "%run"),
        ("%timeit -n 1 open('x')", "open"),
        ("%%timeit -n1 -r 1\nimport ctypes", "ctypes"),
        ("%timeit --n open('x')", "%timeit"),
        ("%%time\n%%time\n1", "get_ipython"),
        ("import timeit", "timeit"),
        ("import IPython\nIPython.get_ipython().run_cell('1')", "IPython.get_ipython"),
        ("from IPython.display import get_ipython", "IPython.display.get_ipython"),
        ("import pandas", "pandas"),
        ("np.load('x', allow_pickle=True)", "numpy.load"),
        ("-" * 50_000 + "1", "a cell that cannot be read"),
        ("class T(torch.Tensor):\n    def __torch_function__(cls): pass", "__torch_function__"),
        ("class T(torch.Tensor):\n    __torch_function__ = f", "__torch_function__"),
        ("class T(x, metaclass=y): pass", "a class with keywords"),
        ("class W(np.ndarray): pass", "a subclass of np.ndarray"),
        ("from torch import *", "torch.*"),
        ("match torch:\n    case object(sys=s): pass", "torch as a value"),
        ("match x:\n    case object(gi_frame=s): pass", ".gi_frame"),
        ("try: f\nexcept AttributeError as e: e.obj", ".obj"),
        ("(1 for _ in x).gi_frame", ".gi_frame"),
        ("from torch.utils.data import DataLoader", "torch.utils.data.DataLoader"),
        ("rng.bit_generator.ctypes.state.from_address(1)", ".ctypes"),
    ],
)
def test_what_no_cell_needs_is_seen(text, name):
    assert name in suspicious_names([text], {}, [IMPORTS]).cells


# A method's `self` is whatever it is called with, so no class of PyTorch may be passed to a method.
METHOD = "class A:\n    def f(self):\n        self.exp = 1\n        return self._x\n"


@pytest.mark.parametrize(
    "text, name",
    [
        ("A.f(torch.Tensor)", "torch.Tensor as a value"),
        ("A.f(nn.Module)", "torch.nn.Module as a value"),
        ("A.f(collections.Counter)", "collections.Counter as a value"),
        ("[A.f(x) for x in (torch.Tensor,)]", "torch.Tensor as a value"),
        ("A.f(getattr(torch, 'Tensor'))", "torch.Tensor as a value"),
        ("from typing import Optional\nOptional = A()\nOptional[torch.Tensor]", "another Optional"),
        ("def g(nn): return nn.Linear[torch.Tensor]", "another nn"),
        ("list = A()\nlist[torch.Tensor]", "another list"),
        ("A.f([torch.Tensor][0])", "torch.Tensor as a value"),
        ("[torch.Tensor].pop().x = f", "torch.Tensor as a value"),
        ("A.f(type(x))", "type"),
        ("A.f(x.__class__)", "type"),
        ("nn.Linear.mro()", ".mro"),
        ("x: use(torch.Tensor) = 1", "torch.Tensor as a value"),
        ("x: table[torch.Tensor] = 1", "torch.Tensor as a value"),
        ("A() == torch.Tensor", "torch.Tensor as a value"),
        ("def isinstance(x, a): return A.f(a)\nisinstance(1, torch.Tensor)", "another isinstance"),
        ("collections.defaultdict(torch.Tensor).default_factory", ".default_factory"),
        ("from dataclasses import field\nfield().type", "dataclasses.field"),
        ("def g(self): self.forward = f", "a change to .forward"),
        ("def g(self): self._call_impl = f", "._call_impl"),
        ("def g(self): self.__call__ = f", "a change to .__call__"),
        ("nn.Linear.scale = f", "a change to .scale"),
        ("other._x", "._x"),
        ("class B(A, metaclass=kind): pass", "a class with keywords"),
        ("class B:\n    def __getattr__(self, name): return 1", "__getattr__"),
    ],
)
def test_what_is_changed_is_ones_own_or_it_is_said(text, name):
    assert name in suspicious_names([METHOD + text], {}, [IMPORTS]).cells


@pytest.mark.parametrize(
    "text, names",
    [
        ("class A(nn.Module):\n    def embed(self, x): return x", []),
        ("def f(x):\n    embed = x + 1\n    return embed", []),
        ("embed = A()", ["another embed"]),
        ("class A:\n    def cast(x): return x\n    cast(torch.Tensor)", ["another cast"]),
        ("def f(cast): return cast(torch.Tensor, 1)", ["another cast"]),
    ],
)
def test_a_method_or_a_local_variable_may_be_called_like_a_function_of_the_lesson(text, names):
    given = f"{IMPORTS}\nfrom typing import cast\nfrom autograder.notebook.sentence import embed"
    assert suspicious_names([text], {}, [given]).cells == names


INSIDE = (types.ModuleType, types.FrameType, types.CodeType)


def test_what_values_have_leads_inside_by_reported_names_alone():
    linear, numbers = nn.Linear(2, 2), np.ones(3)
    with pytest.raises(AttributeError) as raised:
        torch.is_not_there  # noqa: B018
    waiting = [
        torch.ones(2, requires_grad=True).sum(),
        linear,
        nn.MultiheadAttention(4, 2),
        numbers,
        numbers.dtype,
    ]
    waiting += [
        np.random.default_rng(0),
        torch.optim.Adam(linear.parameters()),
        torch.Generator(),
        torch.float32,
    ]
    waiting += [
        torch.no_grad(),
        (one for one in ()),
        raised.value,
        collections.Counter("a"),
        re.match("a", "a"),
    ]
    waiting += [
        functools.partial(max),
        functools.lru_cache(max),
        collections.defaultdict(list),
        types.SimpleNamespace(),
    ]
    seen: dict[int, object] = {}
    for value in waiting:  # the list grows on the way
        assert not isinstance(value, INSIDE) and "ctypes" not in type(value).__module__
        if id(value) in seen or len(seen) > 5000:
            continue
        seen[id(value)] = value
        waiting += (
            value.values() if isinstance(value, dict) else value if isinstance(value, (list, tuple)) else ()
        )
        for name in dir(value):
            if not name.startswith("__") and name not in allowed_names.inner():
                with suppress(Exception):  # `grad_dtype` of a tensor that is no leaf
                    waiting.append(getattr(value, name))


@pytest.mark.parametrize(
    "text, name",
    [
        ("import numpy as np", "numpy"),
        ("import autograder", "autograder"),
        ("x.register_hook(print)", ".register_hook"),
        ("model.compile()", ".compile"),
    ],
)
def test_what_no_answer_needs_is_seen_where_it_earned_points(text, name):
    assert name in look(text)
    assert not suspicious_names([text], {SOFTMAX: [text]}, [IMPORTS]).text([])


def test_what_the_lessons_own_cells_use_may_be_used_and_no_more():
    given = "import gymnasium\nfrom autograder.notebook.lessons.rl import play\ngymnasium.make('x')"
    assert not suspicious_names([f"{given}\nplay(1).x"], {}, [IMPORTS, given]).text([])
    more = ["gymnasium.logger.sys", "from autograder.notebook.lessons.rl import torch as t"]
    found = suspicious_names(more, {}, [IMPORTS, given])
    assert found.cells == ["gymnasium.logger.sys"]
    assert found.grader == ["autograder.notebook.lessons.rl.torch"]


@pytest.mark.parametrize(
    "given, text, name",
    [
        (
            "from autograder import figures\nfigures.bars(x)",
            "figures.style.os",
            "autograder.figures.style.os",
        ),
        (
            "from autograder.notebook.lessons import assistant as world\nworld.documents(3)",
            "world.F.importlib",
            "autograder.notebook.lessons.assistant.F.importlib",
        ),
    ],
)
def test_a_module_of_ours_that_a_lesson_uses_leads_no_further(given, text, name):
    assert not suspicious_names([given], {}, [given]).grader
    assert suspicious_names([text], {}, [given]).grader == [name]


def test_what_a_lessons_own_cells_look_up_may_not_be_looked_up_elsewhere():
    given = "for name, size in vars(file.sizes).items():\n    getattr(lora, name)"
    found = suspicious_names(["getattr(f, '__glo' + 'bals__')\nvars()"], {}, [given])
    assert found.cells == ["getattr with a computed name", "vars"]


def test_the_lists_name_what_the_package_offers():
    for name in ("figures", "experiment"):
        module = import_module(f"autograder.notebook.{name}")
        assert names_of(module.__name__, IN_CELLS) == {*module.__all__}


def test_a_long_list_is_cut():
    text = "\n".join(f"import {'long' * 20}{i}" for i in range(50))
    assert "46 more" in look(text)
    assert len(look(text)) < 200


def test_a_cell_that_is_too_long_is_not_parsed_but_reported(monkeypatch):
    long, parsed = "x = [" + "1," * 60_000 + "]", []
    parse = cell_code.ast.parse
    monkeypatch.setattr(cell_code.ast, "parse", lambda code: parsed.append(code) or parse(code))
    assert "a cell that cannot be read" in look("x = softmax", long)
    assert long not in parsed


def test_the_cell_of_an_exercise_may_use_what_its_worked_answer_uses_and_no_more():
    exercise = next(one for one in all_exercises() if one.id == "finetune.replace_linears")
    answer = worked_sources(exercise.lesson)[exercise.id]
    assert suspicious_names([answer], {}, [IMPORTS]).cells == ["setattr with a computed name"]
    assert suspicious_names([answer], {}, [IMPORTS], {answer: [exercise]}).cells == []
    more = f"{answer}\n    vars(model)\n    setattr(model, '__class__', None)"
    assert suspicious_names([more], {}, [IMPORTS], {more: [exercise]}).cells == [
        "a change to .__class__",
        "vars",
    ]
    assert suspicious_names([answer, "setattr(a, b, c)"], {}, [IMPORTS], {answer: [exercise]}).cells
