"""The names that students' code may use without a person looking at it. Data for names_in_code.py."""


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


# Modules that an answer under a rule of form may use, and those that the student's other cells may use as well.
ANSWERS = _words(
    "__future__ abc collections.abc functools itertools math numbers operator torch torch.nn torch.nn.functional "
    "torch.nn.init torch.nn.modules torch.nn.parameter torch.linalg torch.special typing"
)
CELLS = ANSWERS | _words(
    "IPython IPython.display autograder autograder.figures autograder.notebook.experiment autograder.notebook.explore "
    "autograder.notebook.figures autograder.notebook.sentence bisect collections "
    "copy dataclasses datetime decimal enum fractions heapq matplotlib matplotlib.pyplot numpy numpy.linalg "
    "numpy.random pandas pprint random re statistics string textwrap time timeit torch.nn.utils torch.optim "
    "torch.random torch.vmap tqdm warnings"
)
MAGICS = _words("matplotlib time timeit")

# Names of Python that lead to code or files that nobody has read.
BUILTINS = _words(
    "__builtins__ __import__ __loader__ __spec__ breakpoint compile eval exec exit get_ipython globals help input "
    "locals memoryview open quit vars In Out"
)
BY_NAME = ("getattr", "setattr", "delattr")
# Functions of allowed modules that look up or run what a text names.
LOOKUPS = _words(
    "functools.singledispatch functools.singledispatchmethod functools.update_wrapper operator.attrgetter "
    "operator.methodcaller string.Formatter typing.ForwardRef typing.get_type_hints"
)
# Parts of PyTorch that run a program, read files, or run code whose operations no hook sees.
TORCH = _words("compile export from_file hub jit load save vmap")
# The special names that are allowed.
SPECIAL = _words(
    "__add__ __call__ __class__ __contains__ __doc__ __enter__ __eq__ __exit__ __getitem__ __hash__ __init__ __iter__ "
    "__len__ __main__ __matmul__ __mul__ __name__ __next__ __post_init__ __qualname__ __repr__ __setitem__ __str__ "
    "__sub__ __truediv__"
)
# Attributes that lead from a function, a generator or an error to the frames and the code behind it.
FRAMES = _words(
    "ag_await ag_code ag_frame cr_await cr_code cr_frame f_back f_builtins f_globals f_locals gi_code gi_frame "
    "gi_yieldfrom tb_frame tb_next"
)
# Methods of tensors that run other code of the student, whose operations no hook sees.
WITHIN = _words("apply_ backward grad_fn map2_ map_ register_hook register_post_accumulate_grad_hook")
# Modules of Python that lead further, as attributes of other modules.
MODULES = _words(
    "asyncio atexit builtins codecs concurrent ctypes dis faulthandler gc importlib inspect io linecache marshal mmap "
    "multiprocessing os pathlib pickle pkgutil posix pty resource runpy shutil signal socket subprocess sys tempfile "
    "threading"
)
WRITTEN = _words(
    "bias data grad requires_grad training weight"
)  # attributes of things that are not one's own
