"""Checks rules of form: which operations an answer must not use, and whether it must or must not loop.

The rules are judged by the operations that the observed calls use (autograder.probe.observe), never by the
source text.
"""

import math
from collections.abc import Iterable
from functools import lru_cache
from typing import Any

import torch

from autograder.errors import UserError
from autograder.judge.formatting import sizes_of_axes
from autograder.probe.observe import MATRIX_PRODUCTS
from autograder.probe.traced import LOOP, PRODUCTS
from autograder.schema.case import Case
from autograder.schema.exercise import Exercise, Rules
from autograder.values import Record

Usage = dict[str, Any]  # as autograder.probe.observe.Usage.as_data writes it
Observed = list[tuple[Case, Usage]]

# All names of the operations in each group: torch's functions, kernels, nn's functions and classes.
FUSED = (
    "torch:scaled_dot_product_attention",
    "torch:_scaled_dot_product",
    "aten::_scaled_dot_product",
    "aten::_safe_softmax",
    "aten::_fused_sdp",
    "nn:multi_head_attention_forward",
    "aten::_native_multi_head_attention",
    "torch:flex_attention",
)
MULTIHEAD = (
    "nn:multi_head_attention_forward",
    "torch:multi_head_attention_forward",
    "nn:MultiheadAttention.forward",
    "aten::_native_multi_head_attention",
    "torch.nn.modules.activation.MultiheadAttention",
    "scripted MultiheadAttention",
)
# Not `Transformer.generate_square_subsequent_mask`, which makes a mask and no attention.
TRANSFORMER = (
    "torch.nn.modules.transformer.Transformer",
    "nn:Transformer.forward",
    "nn:TransformerEncoder",
    "nn:TransformerDecoder",
)
NORMS = (
    "layer_norm",
    "rms_norm",
    "batch_norm",
    "group_norm",
    "instance_norm",
    "local_response_norm",
    "renorm",
)
# PyTorch's cross-entropies. A divergence from one-hot targets is another way to write the exercise.
CROSS_ENTROPY = (
    "cross_entropy",
    "nll_loss",
    "linear_cross_entropy",
    "binary_cross_entropy",
    "multilabel_",
)
KINDS_OF_LOSS = (
    "CrossEntropyLoss",
    "NLLLoss",
    "LinearCrossEntropyLoss",
    "AdaptiveLogSoftmax",
    "BCE",
)
KINDS_OF_NORM = ("LayerNorm", "RMSNorm", "BatchNorm", "GroupNorm", "InstanceNorm", "LocalResponseNorm")
SOFTMAX = ("softmax", "softmin", "logsumexp", "logcumsumexp", "cross_entropy", "nll_loss")
GROUPS = {
    "torch's softmax family": (
        *(
            f"torch:{log}{name}"
            for name in SOFTMAX
            for log in ("", "log_", "_log_", "special_", "special_log_")
        ),
        "torch:gumbel_softmax",
        "torch:_sparse_softmax",
        "torch:_masked_softmax",
        "aten::_softmax",
        "aten::_log_softmax",
        "aten::logsumexp",
        "aten::_logsumexp",
        "aten::logcumsumexp",
        "aten::_logcumsumexp",
        "aten::_masked_softmax",
        "aten::_sparse_softmax",
        "aten::_sparse_log_softmax",
        "torch.nn.modules.activation.Softmax",
        *FUSED,
        *MULTIHEAD,
        *TRANSFORMER,
    ),
    "fused attention": (*FUSED, *MULTIHEAD, *TRANSFORMER),
    "nn.MultiheadAttention": (*MULTIHEAD, *TRANSFORMER),
    "enable_gqa": ("enable_gqa",),
    "PyTorch's own cross-entropy": (
        *(f"{kind}{name}" for kind in ("torch:", "torch:_", "aten::", "aten::_") for name in CROSS_ENTROPY),
        *(
            f"{kind}{name}"
            for kind in ("torch.nn.modules.loss.", "nn:", "scripted ")
            for name in KINDS_OF_LOSS
        ),
    ),
    "PyTorch's own norms": (
        *(f"{name}{norm}" for name in ("torch:", "torch:native_", "torch:_native_") for norm in NORMS),
        *(f"aten::{name}{norm}" for name in ("", "native_", "_native_", "_fused_") for norm in NORMS),
        "torch:_fused_rms_norm",
        "torch:normalize",
        *(f"{name}{kind}" for name in ("nn:", "scripted ") for kind in KINDS_OF_NORM),
        *(f"torch.nn.modules.{module}." for module in ("normalization", "batchnorm", "instancenorm")),
    ),
    # `Tensor.unfold` makes views along one axis. It shares its name with `F.unfold`, but calls none of the
    # functions that are listed here.
    "F.unfold, F.fold and the pixel shuffles": (
        *(f"{seen}{name}" for seen in ("torch:", "aten::") for name in ("im2col", "col2im")),
        *(f"{seen}pixel_{name}" for seen in ("torch:", "aten::") for name in ("shuffle", "unshuffle")),
        "torch.nn.modules.fold.",
        "torch.nn.modules.pixelshuffle.",
    ),
    "PyTorch's own optimisers": ("optim:", "torch:_fused_ada", "aten::_fused_ada"),
    # The profiler sees the autograd engine run, whatever started it; forward mode has its own kernels.
    "autograd": ("autograd::engine", "torch:backward", "torch:_make_dual", "aten::_make_dual"),
    "PyTorch's own Transformer layer": (
        "torch.nn.modules.transformer.Transformer",
        "nn:TransformerEncoderLayer.",
        "nn:TransformerDecoderLayer.",
        "torch:_transformer_encoder_layer_fwd",
        "aten::_transformer_encoder_layer_fwd",
        "scripted Transformer",
    ),
}
# Parts of PyTorch that reimplement its operations in Python, with the same kernels as an answer written by
# hand.
IN_PYTHON = tuple(
    f"python:{part}"
    for part in (
        *("_decomp", "_inductor", "_meta_registrations", "_native", "_numpy", "_prims", "_refs"),
        *("ao", "fx", "masked", "nested", "onnx", "sparse"),
    )
)
MATRIX_PRODUCT = "a matrix product"
# Groups visible only in the names of modules and functions: their kernels are those of an answer written by
# hand.
TOLD_BY_NAMES = {
    "nn.MultiheadAttention",
    "enable_gqa",
    "PyTorch's own Transformer layer",
    "PyTorch's own optimisers",
    "autograd",
}
# With these the numbers of a tensor leave PyTorch, and what happens to them is not observed.
OUTSIDE = (
    "numpy",
    "__array__",
    "__dlpack__",
    "data_ptr",
    "untyped_storage",
    "_typed_storage",
    "__reduce_ex__",
)
# A matrix product takes ten or twenty operations. With this many tokens, at least one operation for each of
# them is a loop.
LONG_SENTENCE = 30
# An outer product is entry by entry. Kernels that may be one, or another product, are judged by their shapes.
OUTER = MATRIX_PRODUCTS | {"aten::addr"}
# These move, select or sum numbers; none multiplies two tensors. (A test tries each.)
_HARMLESS = (
    "cat stack concat vstack hstack column_stack row_stack clone contiguous copy_ to double float type_as reshape "
    "flatten repeat repeat_interleave tile roll flip index index_select index_put index_put_ __getitem__ gather "
    "scatter scatter_ take take_along_dim masked_select masked_scatter masked_fill masked_fill_ where tril triu sum "
    "nansum mean amax amin cumsum cummax sort topk _to_copy detach expand zeros_like ones_like full_like fill_ zero_ "
    "index_add index_add_ index_copy index_copy_ scatter_add scatter_add_"
)
READ_NOTHING = frozenset(("empty_like", "new_empty", "new_full", "new_ones", "new_zeros"))
HARMLESS = frozenset(_HARMLESS.split()) | READ_NOTHING

TABLE = (
    "a matrix of all queries and all keys",
    "What must be kept when one block of keys is finished?",
)


def _refuse_unknown(exercise: Exercise) -> None:
    """Raise UserError if the rules of an exercise forbid an unknown group, or have an unknown value of
    `loops`.
    """
    rules, groups = exercise.rules, (MATRIX_PRODUCT, *GROUPS)
    if rules.loops not in (None, "required", "forbidden"):
        raise UserError(f'{exercise.id}: loops must be "required" or "forbidden", not {rules.loops!r}.')
    for group in rules.forbidden:
        if group not in groups:
            raise UserError(f"{exercise.id}: {group!r} cannot be forbidden; choose from {', '.join(groups)}.")


def suspects(exercise: Exercise) -> tuple[str, ...]:
    """Return prefixes of the names of operations that the rules forbid, or that take numbers out of PyTorch.
    Return an empty tuple if the exercise has no rules.
    """
    if exercise.rules == Rules():
        return ()
    _refuse_unknown(exercise)
    groups = (PRODUCTS if group == MATRIX_PRODUCT else GROUPS[group] for group in exercise.rules.forbidden)
    loop = (LOOP,) if exercise.rules.loops == "forbidden" else ()
    return (*loop, *(name for group in groups for name in group), *(f"torch:{name}" for name in OUTSIDE))


def judged_by_rules(
    exercise: Exercise, cases: list[Case], records: list[Record]
) -> tuple[tuple[str, str] | None, str]:
    """Return (rule, note): the message of the first broken rule, or None; and a note if forbidden operations
    are used, but the result does not need them.
    """
    rule = broken_rule(exercise, cases, records)
    asides = [steps["aside"] for record in records if "aside" in (steps := record.get("steps", {}))]
    if rule is None or not asides:
        return rule, ""
    if broken_rule(exercise, cases, [_without_asides(record) for record in records]) is None:
        where = _lines(asides, "beside") or "your code"
        return None, (
            f"In {where} you use something that is forbidden here, but your result does not need it. You can "
            "remove it; it costs no points."
        )
    where = _lines(asides, "within")
    return (f"{rule[0]} Look at {where}." if where else rule[0], rule[1]), ""


def _lines(asides: list[dict], which: str) -> str:
    """Return the line numbers that the probe found, as text ("lines 2, 3 and 5", "line 2"); empty if there
    are none.
    """
    lines = sorted({line for one in asides for line in one[which]})
    *first, last = map(str, lines or [""])
    if not lines:
        return ""
    return f"lines {', '.join(first)} and {last}" if first else f"line {last}"


def _without_asides(record: Record) -> Record:
    """Return the record with its usage reduced to the operations that the result needs."""
    steps = record.get("steps", {})
    needed = steps.get("aside", {}).get("needed")
    return record | {"steps": steps | {"usage": needed}} if needed else record


def is_rerun(exercise: Exercise, cases: Iterable[Case]) -> bool:
    """Return whether the recorded kernels can prove that a rule is kept. If so, a hidden check runs them
    again on other numbers.

    If no case checks gradients, an answer may compute outside PyTorch, where no kernels are recorded, so they
    prove nothing. A rule that only limits the amount of work is not checked in this way either: with other
    numbers, tokens may be routed to other experts.
    """
    rules = exercise.rules
    by_kernels = rules.loops or rules.large or set(rules.forbidden) - TOLD_BY_NAMES
    return bool(by_kernels) and any(case.gradients for case in cases)


def broken_rule(exercise: Exercise, cases: list[Case], records: list[Record]) -> tuple[str, str] | None:
    """Return an observation and a question about the first broken rule, or None."""
    if exercise.rules == Rules() and not any(case.entries for case in cases):
        return None
    observed = [
        (case, record["steps"]["usage"])
        for case, record in zip(cases, records, strict=True)
        if "usage" in record.get("steps", ())
    ]
    names = {name for _, usage in observed for name in usage["names"]}
    for group in exercise.rules.forbidden:
        if group == MATRIX_PRODUCT:
            loop = "Which loop over positions gives the same entries, one dot product at a time?"
            if any(usage["products"] for _, usage in observed):
                return "Your numbers are right, but a matrix product does the work here.", loop
            if any(_bulk_product(exercise, case, usage) for case, usage in observed):
                return "Your numbers are right, but one operation does the work of a matrix product.", loop
        elif used := _used((*GROUPS[group], *IN_PYTHON), names):
            told = used.startswith("torch") or used.startswith("nn:")
            detail = f" ({used.split(':')[-1]})" if told else ""
            return (
                (
                    f"Your numbers are right, but they come from {group}{detail}, which is what you are "
                    "building here."
                ),
                "Which smaller steps is it made of?",
            )
    too_much = _table(exercise, observed) or _too_much_work(exercise, observed)
    if exercise.rules == Rules(work=exercise.rules.work):
        return too_much
    return _left_pytorch(cases, names) or _broken_loops(exercise, observed) or too_much


def _table(exercise: Exercise, observed: Observed) -> tuple[str, str] | None:
    if any(case.entries and case.observe and usage["largest"] >= case.entries for case, usage in observed):
        tensor, question = exercise.rules.large or TABLE
        return f"Your numbers are right, but your code creates {tensor} on the way.", question
    return None


def _too_much_work(exercise: Exercise, observed: Observed) -> tuple[str, str] | None:
    close = {case.family: (case.work, usage["work"]) for case, usage in observed if case.observe}
    for limit, work in close.values():
        # subtle: some of a submission's programs may be missing.
        if limit is None or (limit.beyond and limit.beyond not in close):
            continue
        smallest = limit.pieces.bit_length() - 1
        less = limit.times * sum(close[limit.beyond][1][smallest:]) if limit.beyond else 0
        if sum(work[smallest:]) - less >= limit.limit:
            needed, question = exercise.rules.work
            return f"Your numbers are right, but they take {needed}.", question
    return None


def _used(patterns: Iterable[str], names: set[str]) -> str | None:
    """Return the first pattern that one of the names begins with, or None. (The pattern is returned rather
    than the name, because the names come from a student's process and are not shown.)
    """
    return next((pattern for pattern in patterns if any(name.startswith(pattern) for name in names)), None)


def _left_pytorch(cases: list[Case], names: set[str]) -> tuple[str, str] | None:
    if not any(case.gradients for case in cases):
        return None
    for name in OUTSIDE:
        if f"torch:{name}" in names:
            return (
                f"Your numbers are right, but your code leaves PyTorch on the way (with {name}).",
                "Which tensor operation does the same?",
            )
    return None


def _bulk_product(exercise: Exercise, case: Case, usage: Usage) -> bool:
    """Return whether one operation multiplies and sums for more than one row or column of the result.

    In a loop, each operation makes at most one row, or works entry by entry and reads about as much as it
    makes. A matrix product, under any name, reads far more than it makes, or is a kernel that combines entries
    of several tensors but not entry by entry. If it is written as one broadcast product, it makes far more
    entries than any matrix of the exercise has.
    """
    sizes = sizes_of_axes(exercise, case)
    row = max((sizes.get(letter, 1) for letter in exercise.rules.rows.split()), default=math.inf)
    tables = [shape.split() for shape in exercise.shapes.values()] + [["N", "M"]]
    largest = max(math.prod(sizes.get(letter, 1) for letter in table) for table in tables)
    for name, tensors, read, made in usage["sizes"]:
        if made <= row or name.rpartition(":")[2] in HARMLESS:
            continue
        # subtle: three tensors of the same size may be read entry by entry, as in torch.where and addcmul.
        # An operation that reads only single numbers is no matrix product: `max` of one returns two, value
        # and index.
        combines = tensors > 1 and name.startswith("aten::") and not _is_entry_by_entry(name)
        if combines or read > 3 * made or (read and made > largest):
            return True
    return False


@lru_cache(1000)
def _is_entry_by_entry(kernel: str) -> bool:
    """Return whether each entry that a kernel makes depends on a single entry of each tensor, or may do so
    (see OUTER). PyTorch tags such kernels.
    """
    name = kernel.removeprefix("aten::").partition(" ")[0]
    packet = getattr(torch.ops.aten, name, None) if name.isidentifier() else None
    if not isinstance(packet, torch._ops.OpOverloadPacket):
        return False
    return kernel in OUTER or any(
        torch.Tag.pointwise in getattr(packet, one).tags for one in packet.overloads()
    )


def _broken_loops(exercise: Exercise, observed: Observed) -> tuple[str, str] | None:
    # A small and a larger case are observed closely: work that grows with the size is a loop.
    close = [usage for case, usage in observed if case.observe]
    if exercise.rules.loops is None or len(close) < 2:
        return None
    small, large = close[0], close[-1]
    more_kernels, more_lines = (large[count] > small[count] for count in ("kernels", "lines"))
    if exercise.rules.loops == "required" and not more_kernels:
        return (
            (
                "Your numbers are right, but no Python loop does the work: a long input runs as many "
                "operations as a short one."
            ),
            "How would a loop fill one entry, and then the next?",
        )
    # subtle: a loop may run as many idle iterations for a short input as it needs for a long one.
    many = any(_is_long(case) and usage["calls"] >= LONG_SENTENCE for case, usage in observed)
    if exercise.rules.loops == "forbidden" and (more_kernels or more_lines or many):
        return (
            "Your numbers are right, but Python loops over positions: a longer input runs more steps.",
            "Which single product gives all these entries at once?",
        )
    return None


def _is_long(case: Case) -> bool:
    return bool(case.args) and all(argument.shape[-2] >= LONG_SENTENCE for argument in case.args)
