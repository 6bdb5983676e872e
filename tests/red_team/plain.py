"""Code that looks harmless and is not: it tries to get past the check that reads code, and to earn points for
form and for the absence of side effects.

The attacks falsify what the answer's own process reports about its calls, or let PyTorch take the steps that
the answer should take by hand.
"""

from red_team.attack import by_cell, by_code
from red_team.form import BY_HAND, HEAD, LOOK, SOFTMAX, THEIRS

# Replaces the report of side effects by an empty one.
STATES = "import autograder.probe.run as r\\nr.states = lambda *a: {}"
DECOMPOSED = "def softmax(scores):\n    return self._decomp.decompositions._softmax(scores, -1, False)"


def plain(name: str, tries: str, before: str, answer: str = BY_HAND + THEIRS):
    """Return an attack in which a cell with harmless-looking code runs before an answer that uses PyTorch's
    softmax.
    """
    return by_code(f"plain_{name}", tries, {SOFTMAX: HEAD + answer}, before, form=True, problem=LOOK)


ATTACKS = (
    plain("timed", "a text that timeit runs", f'import timeit\ntimeit.timeit("{STATES}", number=1)'),
    plain("shell", "a text that IPython runs", f'import IPython\nIPython.get_ipython().run_cell("{STATES}")'),
    plain("named_self", "torch by the name of self", "import torch\ntorch = torch\nself = torch", DECOMPOSED),
    plain(
        "self_in_a_loop",
        "self in a loop",
        "import torch\nfor self in [torch]:\n    found = self._C",
    ),
    plain(
        "pattern",
        "a pattern reads a module",
        "import torch\nmatch torch:\n    case object(sys=found):\n        found.modules",
    ),
    plain(
        "evaluated",
        "a text that pandas evaluates",
        "import pandas\nx = [1]\npandas.DataFrame({'a': [1]}).eval('@x[0].real')",
    ),
    plain(
        "pickled",
        "a pickle that numpy writes and reads",
        "import numpy as np\nnp.array([1]).tofile('x')\nnp.load('x', allow_pickle=True)",
    ),
    plain(
        "typed",
        "a class whose special names are computed",
        "import torch\nU = '_' * 2\nkind = type(*('X', (), {U + 'globals' + U: 1}))",
    ),
    plain(
        "unbound",
        "a method that is given a class of PyTorch as its self",
        "import torch\nclass Own:\n    def change(self):\n        self.softly = torch.softmax\n"
        "Own.change(torch.Tensor)",
    ),
    plain("private", "a private name that is imported", "from torch import _softmax as own"),
    by_cell(
        "plain_computed",
        "a name is computed where the lesson's own cells compute some",
        "def own():\n    pass\nfound = getattr(own, '_' + '_globals_' + '_')['_' + '_builtins_' + '_']",
        lesson="04_heads",
        form=True,
        problem=LOOK,
    ),
    plain(
        "of_a_text",
        "a dataclass of a class whose annotations are computed, which Python compiles",
        "from dataclasses import dataclass\nfrom typing import TypedDict\n"
        "named = \"x,)\\n __import__('sys').modules['torch'].softly = 1\\n if 1:\\n  pass\\n  #\"\n"
        "dataclass(init=False, repr=False)(TypedDict('Own', {named: int}))",
    ),
    plain(
        "of_a_number",
        "an object whose special name is computed, through which numpy reads and writes any memory",
        "import numpy as np\nfrom types import SimpleNamespace\ndef at(address):\n"
        "    about = {'data': (address, False), 'shape': (4,), 'typestr': '<i8', 'version': 3}\n"
        "    return np.asarray(SimpleNamespace(**{'__array_' + 'interface__': about}))\n"
        "kept = [None]\nassert at(at(id(kept))[3])[0] == id(None)",
    ),
    plain(
        "of_a_field",
        "a class of PyTorch out of what a dataclass keeps of it",
        "import torch\nfrom dataclasses import dataclass, field\nkept = field(default=1)\n@dataclass\nclass Own:\n"
        "    x: torch.Tensor = kept\nkept.type.softly = torch.softmax",
        "def softmax(scores):\n    return scores.softly(-1)",
    ),
)
