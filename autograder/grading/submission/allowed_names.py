"""The names that students' code may use without a person having to look at it. Data for names_in_code.py."""

import builtins
import types
from functools import cache
from importlib import import_module


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


# Modules and their allowed names. * stands for every public name that is no module, "observed" for the
# functions that
# the observer sees by whatever name they are called, and "dtypes" for PyTorch's data types.
IN_ANSWERS = """
__future__: *
abc: ABC abstractmethod
collections: Counter OrderedDict defaultdict deque namedtuple
collections.abc: *
contextlib: contextmanager nullcontext suppress
copy: copy deepcopy
dataclasses: asdict astuple dataclass field replace
functools: cache cached_property cmp_to_key lru_cache partial reduce total_ordering
heapq: *
itertools: *
math: *
numbers: *
operator: add and_ eq ge gt itemgetter le lt matmul mod mul ne neg not_ or_ pow sub truediv
random: Random choice choices gauss randint random randrange sample seed shuffle uniform
re: *
string: ascii_letters ascii_lowercase ascii_uppercase digits punctuation whitespace
torch: observed dtypes BoolTensor FloatTensor Generator LongTensor Size Tensor arange as_tensor asarray memory_format
torch: as_strided broadcast_shapes device dtype e empty empty_like enable_grad exp_ eye finfo from_numpy full
torch: get_default_dtype iinfo inf inference_mode is_grad_enabled is_tensor linspace logspace manual_seed nan newaxis
torch: no_grad normal ones pi promote_types rand rand_like randint randint_like randn randn_like randperm relu_
torch: result_type scalar_tensor set_default_dtype set_grad_enabled set_num_threads set_printoptions tensor
torch: tril_indices triu_indices unique vander zeros contiguous_format
torch.backends.mps: is_available
torch.cuda: is_available
torch.linalg: *
torch.nn: *
torch.nn.functional: observed celu_ elu_ hardsigmoid hardswish leaky_relu_ logsigmoid relu_ sigmoid tanh threshold
torch.nn.init: *
torch.nn.parameter: Buffer Parameter
torch.nn.utils: skip_init clip_grad_norm_ clip_grad_value_ parameters_to_vector vector_to_parameters
torch.nn.utils.rnn: pack_padded_sequence pack_sequence pad_packed_sequence pad_sequence
torch.special: *
types: SimpleNamespace
typing: Any Callable ClassVar Dict Final FrozenSet Generator Generic Hashable Iterable Iterator List Literal Mapping
typing: MutableMapping NamedTuple NoReturn Optional Protocol Sequence Set Tuple Type TypeAlias TypeVar TypedDict
typing: TYPE_CHECKING Union cast overload
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
json: dumps loads
matplotlib.pyplot: axhline axis axvline bar barh clf close colorbar errorbar figure fill_between gca gcf grid hist
matplotlib.pyplot: imshow legend loglog matshow pcolormesh plot scatter semilogx semilogy show stem step subplot
matplotlib.pyplot: subplots suptitle text tight_layout title xlabel xlim xscale xticks ylabel ylim yscale yticks
numpy: abs add allclose any all arange argmax argmin argpartition argsort array array_equal array_split asarray
numpy: ascontiguousarray atleast_2d average bincount bool_ broadcast_to ceil clip column_stack concatenate convolve copy
numpy: corrcoef cos cumprod cumsum diag diff divide dot e einsum errstate exp expand_dims eye finfo flip float16 float32
numpy: float64 floor full full_like hstack iinfo inf indices int16 int32 int64 int8 integer interp isclose isfinite isin
numpy: isinf isnan kron linspace log log10 log1p log2 logical_and logical_not logical_or logspace matmul max maximum
numpy: mean median meshgrid min minimum mod moveaxis multiply nan nan_to_num ndarray negative newaxis nonzero ones
numpy: ones_like outer pad percentile pi power prod ptp quantile ravel repeat reshape rint roll round set_printoptions
numpy: sign sin sort split sqrt square squeeze stack std subtract sum swapaxes take take_along_axis tan tanh tensordot
numpy: tile transpose tri tril triu uint8 unique var vstack where zeros zeros_like
numpy.linalg: *
numpy.random: choice default_rng normal permutation rand randint randn seed shuffle uniform
pprint: pformat pp pprint
statistics: fmean mean median pstdev quantiles stdev variance
textwrap: dedent fill indent shorten wrap
time: monotonic perf_counter process_time sleep time
torch: vmap
torch.autograd: grad
torch.fft: *
torch.optim: *
torch.optim.lr_scheduler: *
torch.testing: assert_close
torch.utils.data: DataLoader Dataset TensorDataset
tqdm: tqdm trange
tqdm.auto: tqdm trange
warnings: filterwarnings simplefilter
"""
)
# Modules whose classes an own class may be made from: what they keep in private attributes leads nowhere.
BASES = _words("abc collections torch torch.nn torch.optim torch.optim.lr_scheduler torch.utils.data typing")
BUILTINS = _words(
    "Ellipsis NotImplemented __debug__ __name__ abs all any ascii bin bool bytearray bytes callable chr complex dict "
    "dir divmod enumerate filter float format frozenset hasattr hash hex id input int isinstance issubclass iter len "
    "list map max min next object oct ord pow print property range repr reversed round set slice sorted staticmethod "
    "str sum super tuple zip"
) | {
    name for name, thing in vars(builtins).items() if isinstance(thing, type) and issubclass(thing, Exception)
}
RESERVED = frozenset(dir(builtins)) - BUILTINS | {"get_ipython"}
ROOTS = {"object"} | {
    name for name in BUILTINS if isinstance(getattr(builtins, name), type) and name.endswith("Error")
}
SHOW_CLASSES = {"isinstance", "issubclass", "print", "repr", "str", "super"}
CLASSES = {name for name in BUILTINS if isinstance(getattr(builtins, name), type)} | {"type"}
# These must never be rebound: their arguments and results are taken for harmless.
FIXED = SHOW_CLASSES | ROOTS | {"property", "self", "staticmethod", "type"}
ON_CLASSES = {"dataclasses.dataclass", "functools.total_ordering"}
ON_METHODS = _words(
    "abc.abstractmethod functools.cached_property torch.enable_grad torch.inference_mode torch.no_grad"
)
MAGICS = ("matplotlib", "time", "timeit")
# The special names that may be called or defined.
SPECIAL = _words(
    "__add__ __all__ __author__ __call__ __contains__ __debug__ __doc__ __eq__ __getitem__ __hash__ __init__ __iter__ "
    "__len__ __lt__ __matmul__ __mul__ __name__ __neg__ __next__ __post_init__ __qualname__ __repr__ __setitem__ "
    "__slots__ __str__ __sub__ __truediv__"
)
WRITTEN = (
    "bias",
    "data",
    "grad",
    "requires_grad",
    "training",
    "weight",
)  # attributes of what is not one's own
# What Python's frames, codes, generators and cells have, the object for which an AttributeError was raised,
# and what of
# the modules above leads to other modules or to the process's memory: of a DataLoader, of NumPy's arrays.
INNER = {
    name for kind in vars(types).values() for name in dir(kind) if "_" in name and name[0] != "_"
} | _words("cffi ctypes multiprocessing_context obj reducer")
# Methods of tensors that run other code of the student, whose operations no hook sees.
WITHIN = _words("apply_ backward compile grad_fn map2_ map_ register_hook register_post_accumulate_grad_hook")


@cache
def names_of(module: str, lists: str) -> frozenset[str] | None:
    """Return the allowed names of a module; None if it is not in `lists`, an empty set for a package of such
    modules.
    """
    from torch import dtype
    from torch.overrides import get_overridable_functions

    lines = [line.partition(": ") for line in lists.split("\n") if line.startswith(module)]
    names = {name for path, _, words in lines if path == module for name in words.split()}
    if not names:
        return frozenset() if any(path.startswith(f"{module}.") for path, _, _ in lines) else None
    there = import_module(module) if names & {"*", "observed"} else None
    if "*" in names:
        public = getattr(there, "__all__", None) or dir(there)
        names = {name for name in public if not isinstance(getattr(there, name), types.ModuleType)}
    if "observed" in names:
        names |= {function.__name__ for function in get_overridable_functions()[there]}
    if "dtypes" in names:
        names |= {name for name, thing in vars(there).items() if isinstance(thing, dtype)}
    return frozenset(name for name in names if not name.startswith("_"))
