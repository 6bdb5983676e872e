"""Attempts to get unearned points: with patched libraries, hooks, lying objects, or searches for the expected
values.
"""

from red_team.attack import by_answer, by_cell

ATTACKS = (
    by_cell(
        "patched_probe",
        "the probe is replaced by one that reports success",
        """\
import sys
lie = lambda *args, **how: [{"status": "right", "passed": True, "points": 7.0, "steps": {}}] * 100
for name, module in list(sys.modules.items()):
    if name.startswith("autograder"):
        for part in ("probe", "judge", "observe", "guarded", "encode"):
            if hasattr(module, part):
                setattr(module, part, lie)
""",
    ),
    by_cell(
        "patched_formats",
        "json and safetensors write a verdict",
        """\
import json, safetensors.torch
verdict = json.dumps({"map": {"passed": True, "points": 7.0, "records": [], "found": True, "callable": True}})
json.dumps = lambda *args, **how: verdict
json.loads = lambda *args, **how: {}
safetensors.torch.load = lambda data: {}
""",
    ),
    by_cell(
        "ast_transformer",
        "what is run is rewritten to plain full marks",
        """\
import ast
class Full(ast.NodeTransformer):
    def visit_Module(self, node):
        return ast.parse("7.0")
get_ipython().ast_transformers.append(Full())
get_ipython().input_transformers_post.append(lambda lines: ["7.0"])
""",
    ),
    by_cell(
        "replaced_run_cell",
        "the shell's own method is replaced",
        """\
shell = get_ipython()
type(shell).run = lambda self, source, seconds: [
    {"output_type": "execute_result", "data": {"text/plain": "7.0"}, "metadata": {}, "execution_count": 1}
]
type(shell).run_cell = lambda self, *args, **how: None
""",
    ),
    by_cell(
        "patched_builtins",
        "the language itself lies",
        """\
import builtins
for name in ("isinstance", "len", "id", "all", "any", "sum", "abs", "zip", "callable", "type", "repr", "open"):
    setattr(builtins, name, lambda *args, **how: 1)
""",
    ),
    by_cell(
        "patched_tensor",
        "methods of tensors answer what is asked for",
        """\
import torch
for name in ("detach", "copy_", "sub", "__sub__", "abs", "max", "isfinite", "to", "clone", "numpy", "backward"):
    setattr(torch.Tensor, name, lambda self, *args, **how: torch._C._VariableFunctions.zeros(()))
""",
    ),
    by_cell(
        "tracers",
        "trace, profile and audit hooks stay on",
        """\
import sys, threading
def hook(frame, event, arg):
    for name in ("points", "passed", "verdict"):
        if name in frame.f_locals:
            frame.f_locals[name] = 7.0
    return hook
threading.settrace(hook); threading.setprofile(hook)
sys.addaudithook(lambda event, args: None)
sys.setprofile(hook); sys.settrace(hook)
""",
    ),
    by_cell(
        "frames",
        "what is due is looked for in the callers' frames",
        """\
import sys
def softmax(scores):
    frame = sys._getframe()
    while frame:
        for name, value in frame.f_locals.items():
            if name in ("expected", "due", "want", "right", "secret", "reference", "verdict"):
                print("TOOK", name, value)
        frame = frame.f_back
    return scores * 0
print([name for frame in sys._current_frames().values() for name in frame.f_globals])
softmax(0)
""",
    ),
    by_cell(
        "memory_search",
        "cases, secrets and verdicts are looked for among all objects",
        """\
import gc, re
for thing in gc.get_objects():
    kind = type(thing)
    if kind.__name__ in ("Expected", "Questions", "Verdict", "Gradebook", "Submission", "Unit"):
        print("TOOK", kind, thing)
    if kind is dict:
        for key, value in list(thing.items()):
            if type(value) is str and re.fullmatch("[0-9a-f]{64}", value):
                print("hex", key, value)
""",
    ),
    by_answer(
        "lying_callable",
        "an answer that is everything at once",
        """\
class Answer:
    __name__ = "softmax"
    def __call__(self, *args, **how): return self
    def __getattr__(self, name): return self
    def __eq__(self, other): return True
    def __float__(self): return 7.0
    def __iter__(self): return iter([7.0] * 1000)
softmax = Answer()
""",
    ),
    by_answer(
        "says_not_implemented",
        "an error class that fills the list of its bases",
        """\
Endless = type("NotImplementedError", (Exception,), {"__str__": lambda self: "x" * 10**7})
def softmax(scores):
    raise Endless()
""",
    ),
    by_answer(
        "a_rule_unseen_threads",
        "torch's softmax, in a thread that nobody watches",
        """\
import torch
from concurrent.futures import ThreadPoolExecutor
def softmax(scores):
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(torch.softmax, scores, -1).result()
""",
    ),
    by_answer(
        "a_rule_unseen_modes",
        "torch's softmax, while the watching modes are off",
        """\
import torch
from torch.utils._python_dispatch import _disable_current_modes
def softmax(scores):
    with torch._C.DisableTorchFunction(), _disable_current_modes():
        return torch.softmax(scores, -1)
""",
    ),
)
