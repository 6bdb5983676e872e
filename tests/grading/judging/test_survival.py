"""Tests that whatever an answer does or returns, there is a verdict with a kind message, and the process goes
on unharmed.
"""

import contextlib
import random
import re
import sys
import threading
import warnings

import numpy as np
import pytest
import torch
from judged import verdict
from torch import nn

from autograder.exercises import find
from autograder.grading.check_files import check_files
from autograder.grading.worker.allowance import USUAL, Allowance
from autograder.isolation import quiet, reproducible
from autograder.probe import run
from autograder.verdict import DOES_NOT_RUN, NOT_STARTED, RIGHT, WRONG

SOFTMAX, MODULE, PROJECT = "loops.softmax", "matmul.SelfAttention", "matmul.project_qkv"


def right(scores):
    grown = torch.exp(scores - scores.amax(-1, keepdim=True))
    return grown / grown.sum(-1, keepdim=True)


@contextlib.contextmanager
def unharmed():
    """Assert that the code in a `with` block leaves the process as it was: random numbers, settings, streams
    and limits.
    """

    def state():
        return (
            torch.get_rng_state().tolist(),
            random.getstate(),
            np.random.get_state()[1].tolist(),
            torch.get_default_dtype(),
            torch.is_grad_enabled(),
            torch.are_deterministic_algorithms_enabled(),
            torch.is_deterministic_algorithms_warn_only_enabled(),
            torch.backends.cuda.flash_sdp_enabled(),
            (sys.stdout, sys.stderr, sys.stdin),
            sys.getrecursionlimit(),
            sys.gettrace(),
        )

    before = state()
    yield
    assert state() == before


@pytest.fixture(autouse=True)
def short_limits(monkeypatch):
    monkeypatch.setattr(run, "SECONDS_PER_CALL", 0.4)


def is_kind(message: str) -> bool:
    """Return whether a message has one to three lines and shows nothing of our code or of Python's own error
    reports.
    """
    ours = re.search(r"Traceback|autograder|site-packages|\.py\b", message)
    return 1 <= len(message.splitlines()) <= 3 and not ours


# What an answer may return


class Liar:
    """Claims to equal everything, and to be a tensor."""

    shape, dtype, ndim = (3, 8), torch.float32, 2

    def __eq__(self, other):
        return True

    def __hash__(self):
        return 0

    def __len__(self):
        raise RuntimeError("no")

    def __repr__(self):
        raise RuntimeError("no")

    @classmethod
    def __torch_function__(cls, function, types, args=(), kwargs=None):
        return torch.zeros(())

    @property
    def __class__(self):
        return torch.Tensor


class Own(torch.Tensor):
    """A tensor on which every PyTorch function except `repr` returns zero."""

    @classmethod
    def __torch_function__(cls, function, types, args=(), kwargs=None):
        if function is torch.Tensor.__repr__:
            return "right"
        return torch.zeros(())


class LyingList(list):
    def __iter__(self):
        while True:
            yield torch.zeros(3)


class LyingTuple(tuple):
    def __len__(self):
        return 10**12


RETURNED = {
    "nothing": lambda s: None,
    "a tuple": lambda s: (right(s),),
    "a list": lambda s: right(s).tolist(),
    "a numpy array": lambda s: right(s).detach().numpy(),
    "a float": lambda s: 0.5,
    "a huge int": lambda s: 10**5000,
    "text": lambda s: "right",
    "a dict": lambda s: {1: right(s)},
    "a set": lambda s: {1},
    "a type": lambda s: torch.Tensor,
    "a module": lambda s: nn.Softmax(-1),
    "a function": lambda s: right,
    "a generator": lambda s: (row for row in right(s)),
    "an endless generator": lambda s: iter(int, 1),
    "an endless list": lambda s: LyingList([1]),
    "a tuple that lies": lambda s: LyingTuple((1,)),
    "a liar": lambda s: Liar(),
    "a tensor subclass": lambda s: right(s).as_subclass(Own),
    "a sparse tensor": lambda s: right(s).to_sparse(),
    "a meta tensor": lambda s: torch.empty(s.shape, device="meta"),
    "a quantized tensor": lambda s: torch.quantize_per_tensor(right(s).detach(), 0.1, 0, torch.qint8),
    "NaN": lambda s: right(s) * float("nan"),
    "infinity": lambda s: right(s) + float("inf"),
    "float16": lambda s: right(s).half(),
    "float64": lambda s: right(s).double(),
    "integers": lambda s: right(s).long(),
    "booleans": lambda s: right(s) > 0.5,
    "complex numbers": lambda s: right(s).to(torch.complex64),
    "another shape": lambda s: right(s)[None],
    "a scalar": lambda s: right(s).sum(),
    "nothing inside": lambda s: s[..., :0],
    "a view of zeros": lambda s: torch.zeros(()).expand(s.shape),
    "its input": lambda s: s,
    "a huge view": lambda s: torch.zeros(1).expand(10**9),
    "nested without end": lambda s: (lambda x: x.append(x) or x)([]),
}
SOME = ("a tuple", "nothing", "a list", "a generator", "a liar")


# What an answer may do


class Hostile(Exception):
    def __str__(self):
        raise RuntimeError("even this")

    __repr__ = __str__


class Final(BaseException):
    pass


def _raise(error):
    raise error


def _recursion(scores):
    return _recursion(scores)


def _loop(scores):
    while True:
        pass


def _endless_prints(scores):
    while True:
        print("x" * 1000)


DONE = {
    "raises": lambda s: _raise(ValueError("too long " * 1000 + "\nsecond line")),
    "hostile exception": lambda s: _raise(Hostile()),
    "not an Exception": lambda s: _raise(Final("bye")),
    "sys.exit": lambda s: sys.exit(0),
    "exit": lambda s: exit(),
    "StopIteration": lambda s: next(iter(())),
    "GeneratorExit": lambda s: _raise(GeneratorExit()),
    "MemoryError": lambda s: _raise(MemoryError()),
    "recursion": _recursion,
    "huge allocation": lambda s: torch.zeros(10**15),
    "syntax error": lambda s: eval("1 +"),
    "no arguments": lambda: None,
    "too many arguments": lambda s, mask: s,
    "endless loop": _loop,
    "endless prints": _endless_prints,
}  # a loop that swallows every exception cannot be ended from inside; see the files below


def ignoring_weights(answer):
    return lambda x, *weights: answer(x)


def late(does):
    """Return an answer that is right except on tensors of four axes, on which it calls `does`."""
    return lambda scores: does(scores) if scores.dim() == 4 else right(scores)


def test_prints_and_warnings_are_no_mistake(capsys):
    def chatty(scores):
        print("hello")
        print("hello", file=sys.stderr)
        warnings.warn("careful", stacklevel=1)
        return right(scores)

    with unharmed(), warnings.catch_warnings():
        warnings.simplefilter("error")
        assert verdict(SOFTMAX, chatty).state == RIGHT
    assert capsys.readouterr() == ("", "")


def _takes_streams():
    sys.stdout = sys.stderr = None


CHANGES = {
    "random numbers": lambda: (random.random(), np.random.rand(), torch.rand(3)),
    "default dtype": lambda: torch.set_default_dtype(torch.float64),
    "gradients": lambda: torch.set_grad_enabled(False),
    "streams": _takes_streams,
    "recursion": lambda: sys.setrecursionlimit(10**6),
}


@pytest.mark.parametrize("name", CHANGES)
def test_what_an_answer_changes_is_set_back(name):
    with unharmed():
        judged = verdict(SOFTMAX, lambda scores: (CHANGES[name](), right(scores))[1])
    assert judged.max_points == find(SOFTMAX).points
    assert judged.state == RIGHT or name != "random numbers"


def test_memory_that_nobody_fills_is_no_number():
    with reproducible():
        assert torch.empty(4).isnan().all()


# Modules


def module(init):
    """Return a module class with this constructor and no forward."""

    def constructor(self, *sizes):
        nn.Module.__init__(self)
        init(self, *sizes)

    return type("SelfAttention", (nn.Module,), {"__init__": constructor})


def parts(*names: str, make=lambda d_in, d_out: nn.Parameter(torch.randn(d_in, d_out))):
    """Return a constructor that sets attributes with these names on the instance; `make` makes their values."""

    def init(self, d_in, d_out):
        for name in names:
            setattr(self, name, make(d_in, d_out))

    return init


NAMES = ("W_query", "W_key", "W_value")
OTHER_NAMES = module(parts("q", "k", "v"))


class LyingParameters(OTHER_NAMES):
    def named_parameters(self, *args, **kwargs):
        return iter([("W_query", None)])


class LazyMeta(nn.Module):
    def __init__(self, d_in, d_out):
        super().__init__()
        parts(*NAMES, make=lambda *sizes: nn.Parameter(torch.empty(sizes, device="meta")))(self, d_in, d_out)

    def forward(self, x):
        return x @ self.W_query


MODULES = {
    "other names": OTHER_NAMES,
    "no parameters": module(lambda self, d_in, d_out: None),
    "other arguments": module(lambda self, n_tokens, d_in, d_out: None),
    "no arguments": module(lambda self: None),
    "no module": type("NoModule", (), {"__init__": parts(*NAMES)}),
    "no super().__init__": type("NoSuper", (nn.Module,), {"__init__": parts(*NAMES)}),
    "parameters that lie": LyingParameters,
    "a constructor without end": module(lambda self, *sizes: _loop(None)),
    "parts that are text": module(parts(*NAMES, make=lambda *sizes: "weights")),
    "parts without numbers": LazyMeta,
    "a function": lambda x: x,
    "an instance": OTHER_NAMES(2, 3),
}
ANSWERS = {
    **{name: (SOFTMAX, answer, [WRONG]) for name, answer in RETURNED.items()},
    **{f"{name} in place of three": (PROJECT, ignoring_weights(RETURNED[name]), [WRONG]) for name in SOME},
    **{name: (SOFTMAX, answer, [DOES_NOT_RUN]) for name, answer in DONE.items()},
    **{f"late: {name}": (SOFTMAX, late(DONE[name]), [WRONG]) for name in ("raises", "endless loop")},
    **{f"module: {name}": (MODULE, answer, [WRONG, DOES_NOT_RUN]) for name, answer in MODULES.items()},
}


@pytest.mark.parametrize("exercise, answer, states", ANSWERS.values(), ids=ANSWERS)
def test_whatever_an_answer_is_and_does_there_is_a_kind_verdict(exercise, answer, states, capsys):
    with unharmed():
        judged = verdict(exercise, answer)
    assert judged.state in states and judged.points == 0 and is_kind(judged.message), judged
    assert capsys.readouterr() == ("", "")


def test_other_part_names_are_listed_beside_those_expected():
    message = verdict(MODULE, OTHER_NAMES).message
    assert "Expected parts: W_query, W_key, W_value; found: q, k, v." in message


# The dangerous ones, each in a separate process


PRELUDE = """
import ctypes, os, signal, sys, threading, time
import torch

def right(scores):
    grown = torch.exp(scores - scores.amax(-1, keepdim=True))
    return grown / grown.sum(-1, keepdim=True)
"""
FILES = {
    "right": ("softmax = right", RIGHT),
    "sys.exit in the file": ("softmax = right\nsys.exit(3)", RIGHT),
    "os._exit": ("def softmax(scores): os._exit(0)", DOES_NOT_RUN),
    "os._exit in the file": ("os._exit(0)", DOES_NOT_RUN),
    "segfault": ("def softmax(scores): ctypes.string_at(0)", DOES_NOT_RUN),
    "abort": ("def softmax(scores): os.abort()", DOES_NOT_RUN),
    "kills itself": ("def softmax(scores): os.kill(os.getpid(), signal.SIGKILL)", DOES_NOT_RUN),
    "allocation by bytes": ("def softmax(scores): return bytearray(10**11)", DOES_NOT_RUN),
    "endless loop in the file": ("softmax = right\nwhile True: pass", None),
    "stubborn loop": (
        "def softmax(scores):\n    while True:\n        try:\n            while True: pass\n"
        "        except BaseException: pass",
        DOES_NOT_RUN,
    ),
    "blocked signals": (
        "def softmax(scores):\n    signal.pthread_sigmask(signal.SIG_BLOCK, range(1, 64))\n"
        "    while True: time.sleep(1)",
        DOES_NOT_RUN,
    ),
    "closes all files": ("def softmax(scores):\n    os.closerange(0, 100)\n    return right(scores)", None),
    "writes to all files": (
        "def softmax(scores):\n    for n in range(3, 20):\n        try: os.write(n, b'{}')\n"
        "        except OSError: pass\n    return right(scores)",
        None,
    ),
    "a thread left behind": (
        "def softmax(scores):\n    threading.Thread(target=time.sleep, args=(60,)).start()\n    return right(scores)",
        RIGHT,
    ),
    "not there": ("", NOT_STARTED),
    "not callable": ("softmax = 3", NOT_STARTED),
    "stub": ("def softmax(scores): raise NotImplementedError()", NOT_STARTED),
    "no kernel": ("def softmax(scores): return scores.to('meta').cpu()", DOES_NOT_RUN),
    "import of nothing": ("import nosuchmodule", NOT_STARTED),
}


ENDLESS = (
    "endless loop in the file",
    "stubborn loop",
    "blocked signals",
    "closes all files",
    "writes to all files",
)


def test_dangerous_answers_end_only_their_own_process(tmp_path):
    files = {name: tmp_path / f"{n}.py" for n, name in enumerate(FILES)}
    for name, (text, _) in FILES.items():
        files[name].write_text(PRELUDE + text + "\n", encoding="utf-8")
    quick = [name for name in FILES if name not in ENDLESS]
    with unharmed():
        judged = {}
        # Only code that never ends reaches a limit, however busy the machine is.
        for names, allowance in ((quick, USUAL), (ENDLESS, Allowance(6.0, 6.0))):
            verdicts = check_files(SOFTMAX, [str(files[name]) for name in names], allowance=allowance)
            judged |= dict(zip(names, verdicts, strict=True))
    for name, (_, state) in FILES.items():
        verdict_ = judged[name]
        assert state is None or verdict_.state == state, (name, verdict_)
        assert verdict_.state == RIGHT or is_kind(verdict_.message), (name, verdict_)
        assert verdict_.passed == (verdict_.state == RIGHT)
    assert judged["right"].passed


def test_a_probe_in_a_thread_leaves_the_screen_to_the_others():
    screen, entered, seen = sys.stdout, threading.Event(), threading.Event()

    def probing():
        with quiet():
            entered.set()
            seen.wait(60)

    thread = threading.Thread(target=probing)
    thread.start()
    entered.wait(60)
    during = sys.stdout
    seen.set()
    thread.join()
    assert during is screen and sys.stdout is screen
