"""Answers whose numbers are right, but which compute them in a forbidden way and hide this from the observer
of operations.
"""

from red_team.attack import Attack, by_code

HEAD = "import math\nimport torch\nimport torch.nn.functional as F\nfrom torch import nn\n"
BY_HAND = """\
def by_hand(scores):
    grown = torch.exp(scores - scores.amax(-1, keepdim=True))
    return grown / grown.sum(-1, keepdim=True)
"""
IDLE = """\
def idle(x):
    for row in x:
        for entry in row:
            entry + 1
"""
SCORES, SOFTMAX, SUM, ATTENTION = range(4)
LOOK = "look at its code"


def by_cells(name: str, tries: str, answers: dict[int, str], before: str = "", **more) -> Attack:
    """Return an attack that puts each piece of code in `answers`, headed by imports of PyTorch, into the
    answer cell with its number; all other answers are wrong. `before` is the code of a cell that runs before
    the answer cells.
    """
    return by_code(
        name, tries, {number: HEAD + code for number, code in answers.items()}, before, form=True, **more
    )


def softmax(name: str, tries: str, code: str, before: str = "", **more) -> Attack:
    return by_cells(f"form_{name}", tries, {SOFTMAX: BY_HAND + code}, before, **more)


def product(name: str, code: str, **more) -> Attack:
    """Return an attack whose three answers compute matrix products with `product`, which `code` defines.
    Before that, they run idle loops, because the exercises ask for loops.
    """
    scores = f"{code}\n{IDLE}\ndef dot_product_scores(x):\n    idle(x)\n    return product(x, x.T)\n"
    attention = f"""{code}\n{IDLE}
def attention_from_loops(q, k, v):
    idle(q)
    return product(torch.softmax(product(q, k.T) / math.sqrt(q.shape[1]), -1), v)
"""
    total = f"{code}\n{IDLE}\ndef weighted_sum(weights, values):\n    idle(weights)\n"
    total += "    return product(weights, values)\n"
    cells = {SCORES: scores, SUM: total, ATTENTION: attention}
    return by_cells(f"form_product_{name}", "a product of tables with idle loops beside it", cells, **more)


NUMPYS = """\
class Product(torch.autograd.Function):
    @staticmethod
    def forward(ctx, a, b):
        ctx.save_for_backward(a, b)
        return torch.tensor(a.numpy() @ b.numpy())
    @staticmethod
    def backward(ctx, g):
        a, b = ctx.saved_tensors
        return torch.tensor(g.numpy() @ b.numpy().T), torch.tensor(a.numpy().T @ g.numpy())
def product(a, b):
    return Product.apply(a, b)
"""
SOLVE = """\
def product(a, b):
    n, m = a.shape
    left = torch.cat([torch.cat([torch.eye(n), -a], 1), torch.cat([torch.zeros(m, n), torch.eye(m)], 1)])
    right = torch.cat([torch.zeros(n, b.shape[1]), b])
    return torch.linalg.solve_triangular(left, right, upper=True)[:n]
"""
FORGED_USAGE = """
def nothing(self):
    return {"names": ["torch:exp"], "calls": 9, "kernels": 9, "lines": 9, "largest": 1, "products": False,
            "work": [0] * 63, "sizes": []}
"""
THEIRS = "def softmax(scores):\n    return torch.softmax(scores, -1)"
FORK = """\
def softmax(scores):
    read, write = os.pipe()
    if os.fork() == 0:
        os.write(write, torch.softmax(scores.detach(), -1).numpy().tobytes())
        os._exit(0)
    os.close(write)
    data = bytearray()
    while part := os.read(read, 65536):
        data += part
    numbers = torch.frombuffer(data, dtype=scores.dtype).reshape(scores.shape)
    hand = by_hand(scores)
    return hand + (numbers - hand).detach()
"""
LAZY = """\
class Lazy(torch.Tensor):
    @staticmethod
    def __new__(cls, scores):
        lazy = torch.Tensor._make_subclass(cls, torch.empty_like(scores.detach()))
        lazy.scores = scores
        return lazy
    @classmethod
    def __torch_dispatch__(cls, function, types, args=(), kwargs=None):
        args = [torch.softmax(a.scores, -1) if isinstance(a, cls) else a for a in args]
        return function(*args, **(kwargs or {}))
def softmax(scores):
    return Lazy(scores)
"""

# Reaches the checker's own objects by computed names, to replace the observer.
REACHED = """\
builtin = getattr(by_hand, "_" + "_globals_" + "_")["_" + "_builtins_" + "_"]
get = builtin.get if isinstance(builtin, dict) else lambda name: getattr(builtin, name)
loaded = get("_" + "_import_" + "_")("s" + "ys").modules
probe = "auto" + "grader.probe."
"""
NOTHING_SEEN = (
    REACHED
    + """\
observe = loaded[probe + "observe"]
def seen(self):
    return {"names": ["torch:exp"], "calls": 9, "kernels": 9 + len(self.sizes), "lines": 9, "largest": 1,
            "products": False, "work": [0] * 63, "sizes": []}
observe.Usage.as_data = seen
"""
)
NO_PROGRAM = "loaded[probe + 'program'].Recorder.data = lambda self, output: b''\n"
OWN_PROGRAM = """\
import json, zlib
def own_data(self, output):
    constant = ["", [output.tolist(), str(output.dtype)[6:], list(output.shape)], [100]]
    return zlib.compress(json.dumps({"steps": [constant], "output": {"tensor": 100}}).encode())
loaded[probe + "program"].Recorder.data = own_data
"""
SEQUENCE = """\
import numpy as np
class Rows:
    def __init__(self, a, b):
        self.a, self.b = a, b
    def __len__(self):
        return len(self.a)
    def __getitem__(self, i):
        if i >= len(self.a):
            raise IndexError
        return (self.a.detach().numpy() @ self.b.detach().numpy())[i].tolist()
class Product(torch.autograd.Function):
    @staticmethod
    def forward(ctx, a, b):
        ctx.save_for_backward(a, b)
        return torch.tensor(Rows(a, b))
    @staticmethod
    def backward(ctx, g):
        a, b = ctx.saved_tensors
        return torch.tensor(Rows(g, b.T)), torch.tensor(Rows(a.T, g))
def product(a, b):
    return Product.apply(a, b)
"""
OWN_OPERATION = """\
@torch.library.custom_op("own::soft", mutates_args=())
def soft(scores: torch.Tensor) -> torch.Tensor:
    return torch.softmax(scores, -1)
def back(ctx, g):
    p, = ctx.saved_tensors
    return p * (g - (g * p).sum(-1, keepdim=True))
soft.register_autograd(back, setup_context=lambda ctx, inputs, output: ctx.save_for_backward(output))
def softmax(scores):
    return soft(scores)
"""
OWN_KERNEL = """\
library = torch.library.Library("aten", "IMPL")
library.impl("erfinv", lambda x: torch.ops.aten._softmax.default(x, -1, False), "CPU")
class Own(torch.autograd.Function):
    @staticmethod
    def forward(ctx, scores):
        p = torch.erfinv(scores)
        ctx.save_for_backward(p)
        return p
    @staticmethod
    def backward(ctx, g):
        p, = ctx.saved_tensors
        return p * (g - (g * p).sum(-1, keepdim=True))
def softmax(scores):
    return Own.apply(scores)
"""
ATTACKS = (
    softmax("observer_replaced", "what is seen is made up", NOTHING_SEEN + THEIRS, problem=LOOK),
    softmax(
        "no_program", "the same, and no program is left", NOTHING_SEEN + NO_PROGRAM + THEIRS, problem=LOOK
    ),
    softmax(
        "own_program",
        "the same, and a program of constants",
        NOTHING_SEEN + OWN_PROGRAM + THEIRS,
        problem=LOOK,
    ),
    softmax(
        "attrgetter",
        "the same by attrgetter",
        "import operator\n"
        + NOTHING_SEEN.replace("getattr(by_hand, ", "operator.attrgetter(").replace(
            '_")[', '_")(by_hand)[', 1
        )
        + THEIRS,
    ),
    product("observer_replaced", BY_HAND + NOTHING_SEEN + "def product(a, b):\n    return a @ b"),
    product("sequence", SEQUENCE),
    product(
        "prod",
        """\
def product(a, b):
    wide = a[:, :, None].expand(-1, -1, b.shape[1]), b[None].expand(len(a), -1, -1)
    return torch.stack(wide).prod(0).sum(1)""",
    ),
    product(
        "cumprod",
        """\
def product(a, b):
    wide = a[:, :, None].expand(-1, -1, b.shape[1]), b[None].expand(len(a), -1, -1)
    return torch.stack(wide).cumprod(0)[1].sum(1)""",
    ),
    product(
        "norms",
        """\
def product(a, b):
    wide = a[:, :, None].expand(-1, -1, b.shape[1]), b[None].expand(len(a), -1, -1)
    plus, minus = torch.stack(wide).sum(0), torch.stack((wide[0], -wide[1])).sum(0)
    return (plus.norm(dim=1) ** 2 - minus.norm(dim=1) ** 2) / 4""",
    ),
    product(
        "scattered",
        """\
def product(a, b):
    wide = a[:, :, None].expand(-1, -1, b.shape[1]), b[None].expand(len(a), -1, -1)
    both = torch.stack(wide)
    zeros = torch.zeros(1, *both.shape[1:], dtype=torch.long)
    return both[:1].clone().scatter_reduce(0, zeros, both[1:], "prod").sum((0, 2))""",
    ),
    softmax(
        "cache",
        "what earlier calls found out is given again",
        """
kept = {}
def softmax(scores):
    key = tuple(scores.shape), float(scores.detach().double().sum())
    if key not in kept:
        kept[key] = torch.softmax(scores, -1)
        return kept[key]
    return by_hand(scores)
""",
    ),
    softmax(
        "every_second",
        "calls are counted: every second is honest",
        """
calls = 0
def softmax(scores):
    global calls
    calls += 1
    return by_hand(scores) if calls % 2 else torch.softmax(scores, -1)
""",
    ),
    softmax(
        "sees_a_tracer",
        "honest while a tracer is set",
        """\
import sys
def softmax(scores):
    return by_hand(scores) if sys.gettrace() else torch.softmax(scores, -1)""",
    ),
    softmax(
        "no_gradients",
        "honest only where a gradient is asked for",
        """\
def softmax(scores):
    return by_hand(scores) if scores.requires_grad else torch.softmax(scores, -1)""",
    ),
    softmax(
        "gradient_alone_in_a_function",
        "the numbers by hand, their gradient from torch",
        """
class Own(torch.autograd.Function):
    @staticmethod
    def forward(ctx, scores):
        ctx.save_for_backward(scores)
        return by_hand(scores)
    @staticmethod
    def backward(ctx, g):
        p = torch.softmax(ctx.saved_tensors[0], -1)
        return p * (g - (g * p).sum(-1, keepdim=True))
def softmax(scores):
    return Own.apply(scores)
""",
    ),
    softmax(
        "within_backward",
        "torch's softmax where a backward pass calls it",
        """
def softmax(scores):
    found = []
    with torch.enable_grad():
        some = torch.zeros(1, requires_grad=True)
        some.register_hook(lambda g: found.append(torch.softmax(scores, -1)))
        (some * 1).sum().backward()
    return found[0]
""",
    ),
    softmax(
        "idle_in_a_thread",
        "so many idle operations that no profiler looks, and a thread",
        """
import threading
def softmax(scores):
    for _ in range(300):
        scores + 1
    found = []
    thread = threading.Thread(target=lambda: found.append(torch.softmax(scores, -1)))
    thread.start()
    thread.join()
    return found[0]
""",
    ),
    softmax("forked", "another process computes and sends the numbers back", "import os\n" + FORK),
    softmax(
        "own_transformer",
        "a cell that is not Python until IPython is told to rewrite it",
        THEIRS,
        before="get_ipython().input_transformers_post.append(lambda lines: ['x = 1'])\n",
    ),
    softmax(
        "modules_of_torch",
        "the checker's modules by what torch's modules import",
        "o = F.torch.overrides.warnings.sys.modules['auto' + 'grader.probe.observe']"
        + FORGED_USAGE
        + "o.Usage.as_data = nothing\n"
        + THEIRS,
    ),
    softmax(
        "pickle",
        "the same by a pickle",
        "import pickle\no = pickle.loads(b'cautograder.probe.observe\\nUsage\\n.')"
        + FORGED_USAGE
        + "o.as_data = nothing\ndef softmax(scores):\n    return torch.softmax(scores, -1)",
    ),
    softmax(
        "replaced_hooks",
        "torch's own hooks are switched off",
        "torch.overrides.TorchFunctionMode.__enter__ = lambda self: self\n"
        "torch.overrides.TorchFunctionMode.__exit__ = lambda self, *_: None\n" + THEIRS,
    ),
    softmax(
        "replaced_names",
        "what looks at names is given others",
        "class Other:\n    __name__ = 'exp'\n    def __call__(self, *args):\n        return theirs(*args)\n"
        "theirs, torch.softmax = torch.softmax, Other()\n" + THEIRS,
    ),
    softmax("lazy", "the result is computed only when it is read", LAZY),
    softmax(
        "losses",
        "softmax out of a loss",
        """
def softmax(scores):
    rows = scores.reshape(-1, scores.shape[-1])
    columns = [F.cross_entropy(rows, torch.full((len(rows),), j), reduction="none") for j in range(rows.shape[-1])]
    return torch.exp(-torch.stack(columns, -1)).reshape(scores.shape)
""",
    ),
    softmax(
        "distribution",
        "softmax out of a distribution",
        """\
def softmax(scores):
    return torch.distributions.Categorical(logits=scores).probs""",
    ),
    softmax(
        "scripted",
        "softmax in TorchScript",
        """\
theirs = torch.jit.trace(lambda scores: torch.softmax(scores, -1), torch.zeros(2, 2))
def softmax(scores):
    return theirs(scores)""",
    ),
    softmax(
        "kernel",
        "the kernel by its name",
        """\
def softmax(scores):
    return torch.ops.aten._softmax(scores, -1, False)""",
    ),
    softmax(
        "of_attention",
        "softmax out of fused attention",
        """
def softmax(scores):
    keys = scores.shape[-1]
    eye = torch.eye(keys)
    flat = scores.reshape(-1, keys)
    return F.scaled_dot_product_attention(flat, eye, eye, scale=1.0).reshape(scores.shape)
""",
    ),
    product("conv", "def product(a, b):\n    return F.conv1d(a[None].mT, b.T[:, :, None])[0].T"),
    product(
        "padded_conv",
        """\
def product(a, b):
    n, m = a.shape
    pad = max(0, (m - n) // 2)
    return F.conv1d(a.T[None], b.T[:, :, None], padding=pad)[0].T[pad : pad + n]""",
    ),
    product(
        "after_many_sizes",
        """\
def product(a, b):
    idle = sum(torch.zeros(n).sum() for n in range(2, 500))
    return (a[:, :, None] * b[None]).sum(1) + idle""",
    ),
    product("solve", SOLVE),
    product("broadcast", "def product(a, b):\n    return (a[:, :, None] * b[None]).sum(1)"),
    product(
        "mapped",
        "def product(a, b):\n    return torch.vmap(lambda r: torch.vmap(lambda c: (r * c).sum(), 1)(b))(a)",
    ),
    product(
        "bilinear",
        "def product(a, b):\n    return F.bilinear(torch.ones(len(a), 1), a, b.T[:, None].contiguous())",
    ),
    product(
        "into_a_view",
        "def product(a, b):\n    return torch.mm(a, b, out=torch.empty(1, len(a), b.shape[1])[0])",
    ),
    product("halves", "def product(a, b):\n    return torch.cat([part @ b for part in a.split(2)])"),
    product("numpy", "import numpy as np\n" + NUMPYS),
    softmax(
        "partial",
        "getattr as a part of another call, with a name that is put together",
        """\
import functools
look = functools.partial(getattr, torch, "soft" + "max")
def softmax(scores):
    return look()(scores, -1)""",
        problem=LOOK,
    ),
    softmax(
        "matched",
        "a pattern reads what a function holds",
        """\
def held(thing):
    match thing:
        case object(__globals__=found):
            return found
get = held(by_hand)["__builtins__"]
get = get if isinstance(get, dict) else vars(get)
"""
        + FORGED_USAGE
        + """\
get["__import__"]("sys").modules["auto" + "grader.probe.observe"].Usage.as_data = nothing
"""
        + THEIRS,
        problem=LOOK,
    ),
    softmax(
        "subclasses",
        "the observer among all classes that there are",
        """\
usage = [one for one in ().__class__.__base__.__subclasses__() if one.__name__ == "Usage"][0]
"""
        + FORGED_USAGE
        + "usage.as_data = nothing\n"
        + THEIRS,
        problem=LOOK,
    ),
    softmax(
        "decoded",
        "the checker's name in another alphabet",
        """\
import codecs, sys
observe = sys.modules[codecs.decode("nhgbtenqre.cebor.bofreir", "rot13")]
"""
        + FORGED_USAGE
        + "observe.Usage.as_data = nothing\n"
        + THEIRS,
        problem=LOOK,
    ),
    softmax("own_operation", "an operation of one's own in PyTorch's library", OWN_OPERATION, problem=LOOK),
    softmax("own_kernel", "the softmax in the place of another kernel", OWN_KERNEL, problem=LOOK),
    softmax(
        "modes_off",
        "all of PyTorch's modes are switched off",
        """\
from torch.utils._python_dispatch import _disable_current_modes
def softmax(scores):
    with _disable_current_modes():
        return torch.softmax(scores, -1)""",
        problem=LOOK,
    ),
    softmax(
        "functions_off",
        "PyTorch's function modes are switched off",
        """\
def softmax(scores):
    with torch._C.DisableTorchFunction():
        return torch.softmax(scores, -1)""",
        problem=LOOK,
    ),
    softmax(
        "formatted",
        "a format string calls it",
        """\
class Soft:
    def __init__(self, scores):
        self.scores = scores
    def __format__(self, how):
        self.found = torch.softmax(self.scores, -1)
        return ""
def softmax(scores):
    soft = Soft(scores)
    f"{soft}"
    return soft.found""",
    ),
    softmax(
        "read",
        "a descriptor calls it",
        """\
class Soft:
    def __get__(self, holder, kind=None):
        return torch.softmax(holder.scores, -1)
class Holder:
    soft = Soft()
    def __init__(self, scores):
        self.scores = scores
def softmax(scores):
    return Holder(scores).soft""",
    ),
    softmax(
        "subclassed",
        "it comes with a subclass",
        """\
class Base:
    def __init_subclass__(cls):
        cls.soft = staticmethod(torch.softmax)
class Own(Base):
    pass
def softmax(scores):
    return Own.soft(scores, -1)""",
    ),
    softmax(
        "reduced",
        "a copy calls it",
        """\
import copy
class Soft:
    def __init__(self, scores):
        self.scores = scores
    def __reduce__(self):
        return torch.softmax, (self.scores, -1)
def softmax(scores):
    return copy.copy(Soft(scores))""",
    ),
    softmax(
        "warned",
        "a warning calls it",
        """\
import warnings
def softmax(scores):
    found, before = [], warnings.showwarning
    warnings.showwarning = lambda *args, **more: found.append(torch.softmax(scores, -1))
    warnings.simplefilter("always")
    warnings.warn("now")
    warnings.showwarning = before
    return found[0]""",
    ),
    softmax(
        "by_gradient",
        "softmax as the gradient of the logarithm of a sum",
        """\
def softmax(scores):
    with torch.enable_grad():
        given = scores if scores.requires_grad else scores.detach().requires_grad_()
        total = given.exp().sum(-1).log().sum()
        return torch.autograd.grad(total, given, create_graph=True)[0]""",
        problem=LOOK,
    ),
    product(
        "lerp",
        """\
def product(a, b):
    shape = len(a), a.shape[1], b.shape[1]
    return torch.lerp(a.new_zeros(shape), b[None].expand(shape), a[:, :, None].expand(shape)).sum(1)""",
    ),
    product(
        "covariance",
        """\
def product(a, b):
    both = torch.cov(torch.cat([a, b.T]), correction=0)[: len(a), len(a) :]
    return (both + torch.outer(a.mean(1), b.mean(0))) * a.shape[1]""",
    ),
    product(
        "bags",
        """\
def product(a, b):
    n, m = a.shape
    rows, starts = torch.arange(m).repeat(n), torch.arange(0, n * m, m)
    return F.embedding_bag(rows, b, starts, mode="sum", per_sample_weights=a.reshape(-1))""",
    ),
    by_cells(
        "form_padded_loop",
        "a loop of always the same number of turns where none is allowed",
        {
            1: """
def attention(q, k, v):
    rows = []
    for i in range(40):
        rows.append(torch.softmax((k @ q[..., min(i, q.shape[-2] - 1), :, None]).mT / math.sqrt(q.shape[-1]), -1) @ v)
    return torch.cat(rows[: q.shape[-2]], -2)
"""
        },
        lesson="02_attention_as_matmul",
    ),
)
