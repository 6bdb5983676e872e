"""Lists of the names that students' code may use without being flagged for a teacher. names_in_code.py uses
these lists.
"""

import builtins
import sys
import types
from functools import cache
from importlib import import_module


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


# Modules and their allowed names. * stands for every public name that is not a module, "observed" for the functions
# whose calls the observer sees under any name, "arrays" for NumPy's array functions and number types, and "dtypes" for
# PyTorch's data types; a name after - is left out. Nothing is listed that gives classes or objects attributes with
# computed names (Enum, TypedDict, SimpleNamespace): through special names, these would reach any object.
IN_ANSWERS = """
__future__: *
abc: ABC abstractmethod
collections: Counter OrderedDict defaultdict deque namedtuple
collections.abc: *
contextlib: contextmanager nullcontext suppress
copy: copy deepcopy
dataclasses: asdict astuple dataclass replace
decimal: Decimal localcontext
fractions: Fraction
functools: cache cached_property cmp_to_key lru_cache partial reduce total_ordering
heapq: *
itertools: *
logging: DEBUG ERROR INFO WARNING debug error info warning
math: *
numbers: *
operator: add and_ eq ge gt itemgetter le lt matmul mod mul ne neg not_ or_ pow sub truediv
random: Random choice choices gauss randint random randrange sample seed shuffle uniform
re: *
string: ascii_letters ascii_lowercase ascii_uppercase digits punctuation whitespace
time: monotonic perf_counter process_time sleep time
torch: observed dtypes BoolTensor ByteTensor DoubleTensor FloatTensor Generator IntTensor LongTensor Size Tensor
torch: __version__ arange as_tensor asarray as_strided autocast broadcast_shapes compile contiguous_format device dtype
torch: e empty empty_like enable_grad exp_ eye finfo from_numpy full get_default_dtype iinfo inf inference_mode
torch: is_grad_enabled is_tensor linspace logspace manual_seed memory_format nan newaxis no_grad normal ones pi
torch: preserve_format promote_types rand rand_like randint randint_like randn randn_like randperm relu_
torch: result_type scalar_tensor
torch: set_default_dtype set_float32_matmul_precision set_grad_enabled set_num_threads set_printoptions tensor
torch: tril_indices triu_indices unique vander vmap zeros
torch.amp: GradScaler autocast
torch.backends.mps: is_available
torch.cuda: Event current_device device_count empty_cache get_device_capability get_device_name is_available
torch.cuda: is_bf16_supported manual_seed manual_seed_all max_memory_allocated memory_allocated memory_reserved
torch.cuda: reset_peak_memory_stats synchronize
torch.cuda.amp: GradScaler autocast
torch.linalg: *
torch.nn: * -ParameterDict
torch.nn.attention: SDPBackend sdpa_kernel
torch.nn.functional: observed celu_ elu_ hardsigmoid hardswish leaky_relu_ logsigmoid relu_ sigmoid tanh threshold
torch.nn.init: *
torch.nn.parameter: Buffer Parameter
torch.nn.utils: skip_init clip_grad_norm_ clip_grad_value_ parameters_to_vector vector_to_parameters
torch.nn.utils.rnn: pack_padded_sequence pack_sequence pad_packed_sequence pad_sequence
torch.special: *
typing: Any Callable ClassVar Dict Final FrozenSet Generator Generic Hashable Iterable Iterator List Literal
typing: Mapping MutableMapping NamedTuple NoReturn Optional Protocol Self Sequence Set TYPE_CHECKING Tuple
typing: TypeAlias TypeVar Union cast overload runtime_checkable
warnings: warn
"""
IN_CELLS = (
    IN_ANSWERS
    + """
IPython.display: HTML Image Latex Markdown Math SVG clear_output display
autograder: check compare draw explore hint mine progress
autograder.figures: Picture attention_maps bars curves expected_and_yours mask one_query panels scores table weights
autograder.notebook.experiment: activations attention_weights compare_runs head_weights limited_threads peak_memory
autograder.notebook.experiment: seconds track train
autograder.notebook.explore: explore
autograder.notebook.figures: Picture attention_maps bars curves expected_and_yours mask one_query panels scores table
autograder.notebook.figures: weights
autograder.notebook.sentence: FEATURES TOKENS embed from_loops
bisect: *
datetime: *
json: dump dumps loads
matplotlib.pyplot: axhline axis axvline bar barh clf close colorbar errorbar figure fill_between gca gcf grid hist
matplotlib.pyplot: imshow legend loglog matshow pcolormesh plot savefig scatter semilogx semilogy show stem step subplot
matplotlib.pyplot: subplots suptitle text tight_layout title xlabel xlim xscale xticks ylabel ylim yscale yticks
numpy: arrays __version__ array asarray ascontiguousarray e errstate eye finfo full iinfo indices inf nan ndarray
numpy: arange newaxis ones pi set_printoptions tri zeros
numpy.linalg: *
numpy.random: choice default_rng normal permutation rand randint randn seed shuffle uniform
pprint: pformat pp pprint
statistics: fmean mean median pstdev quantiles stdev variance
textwrap: dedent fill indent shorten wrap
torch.autograd: grad
torch.fft: *
torch.optim: *
torch.testing: assert_close
torch.utils.data: Dataset Subset TensorDataset random_split
tqdm: tqdm trange
tqdm.auto: tqdm trange
warnings: filterwarnings simplefilter
"""
)
# Types with attributes that lead to other modules, to classes or to the process's memory, each with the attributes
# that do not. (A test walks the attributes of all other types.)
KINDS = """
builtins.AttributeError: name
builtins.NameError: name
builtins.type:
collections.defaultdict:
numpy.ndarray: argpartition astype base byteswap choose compress fill flags flat partition ptp searchsorted strides
numpy.ndarray: tobytes
numpy.random.Generator: beta binomial bytes choice dirichlet exponential f gamma geometric integers laplace multinomial
numpy.random.Generator: normal permutation permuted poisson power random shuffle standard_normal uniform
torch._C.StorageBase:
torch.nn.parameter.UninitializedParameter:
torch.storage._StorageBase:
types.AsyncGeneratorType:
types.CodeType:
types.CoroutineType:
types.FrameType:
types.GeneratorType: close send throw
types.TracebackType:
"""
# Modules whose classes a student's own class may inherit from.
BASES = _words("abc collections torch.nn torch.optim torch.utils.data typing")
BUILTINS = _words(
    "Ellipsis NotImplemented __debug__ __name__ abs all any ascii bin bool bytearray bytes callable chr classmethod "
    "complex dict dir divmod enumerate filter float format frozenset hasattr hash hex id input int isinstance "
    "issubclass iter len list map max min next object oct ord pow print property range repr reversed round set slice "
    "sorted staticmethod str sum super tuple zip"
) | {
    name for name, thing in vars(builtins).items() if isinstance(thing, type) and issubclass(thing, Exception)
}
RESERVED = frozenset(dir(builtins)) - BUILTINS | {"get_ipython"}
ROOTS = {"Exception", "object"} | {name for name in BUILTINS if name.endswith("Error")}
CLASSES = _words("bool dict float frozenset int list set str tuple type")
SHOW_CLASSES = {"hasattr", "isinstance", "issubclass", "print", "repr", "str"}
CALL_CLASSES = {"collections.defaultdict", "typing.cast"}  # their first argument may be a class
# These names must not be rebound: classes may be passed to them, or compared with them, and could then be passed
# to anything.
FIXED = SHOW_CLASSES | CLASSES | {"__class__"}
# Classes that work through special methods, which cannot be changed.
CONTEXTS = _words("contextlib.nullcontext torch.enable_grad torch.inference_mode torch.no_grad")
IMMUTABLE = 1 << 8  # Py_TPFLAGS_IMMUTABLETYPE, among the flags of a class
MAGICS = ("time", "timeit")  # besides matplotlib
# The special names that may be called or defined, and the methods and fields of a namedtuple.
SPECIAL = _words(
    "__abs__ __add__ __all__ __author__ __bool__ __call__ __class__ __contains__ __debug__ __doc__ __enter__ __eq__ "
    "__exit__ __ge__ __getitem__ __gt__ __hash__ __iadd__ __init__ __iter__ __le__ __len__ __lt__ __matmul__ __mul__ "
    "__name__ __ne__ __neg__ __next__ __post_init__ __pow__ __qualname__ __radd__ __repr__ __reversed__ __rmul__ "
    "__rsub__ __rtruediv__ __setitem__ __slots__ __str__ __sub__ __truediv__ __version__ _asdict _fields _make _replace"
)
# Methods of tensors that run other code of the student, whose operations no hook sees.
WITHIN = _words("apply_ backward compile grad_fn map2_ map_ register_hook register_post_accumulate_grad_hook")


@cache
def names_of(module: str, lists: str) -> frozenset[str] | None:
    """Return the allowed names of a module. The set is empty for a package that is not listed itself but
    contains allowed modules. Return None if `lists` does not allow the module at all.
    """
    from torch import dtype
    from torch.overrides import get_overridable_functions

    lines = [line.partition(":") for line in lists.split("\n") if line.startswith(module)]
    names = {name for path, _, words in lines if path == module for name in words.split()}
    if not names:
        return frozenset() if any(path.startswith(f"{module}.") for path, _, _ in lines) else None
    there = import_module(module) if names & {"*", "arrays", "observed"} else None
    things = vars(there) if there else {}
    if "*" in names:
        public = getattr(there, "__all__", None) or dir(there)
        names |= {name for name in public if not isinstance(getattr(there, name), types.ModuleType)}
    if "observed" in names:
        names |= {function.__name__ for function in get_overridable_functions()[there]}
    names = {name for name in names if not name.startswith("_") or name in SPECIAL}
    if "dtypes" in names:
        names |= {name for name, thing in things.items() if isinstance(thing, dtype)}
    if "arrays" in names:
        kinds, numbers = (things["ufunc"], type(things["concatenate"])), things["generic"]
        names |= {name for name, thing in things.items() if isinstance(thing, kinds) or _is_a(thing, numbers)}
    return frozenset(name for name in names if f"-{name}" not in names)


def _is_a(thing: object, kind: type) -> bool:
    return isinstance(thing, type) and issubclass(thing, kind)


def _thing(path: str) -> object:
    module, _, name = path.rpartition(".")
    return getattr(import_module(module), name, None)


@cache
def is_closed(path: str) -> bool:
    """Return whether the path names a class whose attributes a student's code could change, which would
    affect all its instances. PyTorch's layers and the classes in CONTEXTS do not count.
    """
    from torch import nn

    root = path.partition(".")[0]
    thing = _thing(path) if root == "torch" or root in sys.stdlib_module_names else None
    is_open = path in CONTEXTS or (_is_a(thing, nn.Module) and thing is not nn.Module)
    return isinstance(thing, type) and not thing.__flags__ & IMMUTABLE and not is_open


@cache
def inner() -> frozenset[str]:
    """Return the names of attributes that lead to Python's internals: the attributes of the classes in KINDS,
    except those that KINDS allows or that harmless classes have as well.
    """
    from torch import Tensor, nn

    kinds = [_thing(word[:-1]) for word in KINDS.split() if word.endswith(":")]
    found = {name for kind in kinds for name in vars(kind) if not name.startswith("__")}
    plain = (dict, Exception, list, set, str, Tensor, nn.Module)
    return frozenset(found.difference(KINDS.split(), *map(dir, plain)))


@cache
def unchanged() -> frozenset[str]:
    """Return the names of attributes that must not be set, because setting them could make a layer misreport
    what it computes.
    """
    from torch import nn

    return frozenset(name for name in dir(nn.Module()) if not name.startswith("__")) | {"__class__"}
