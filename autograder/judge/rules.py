"""Rules of form: what an answer may not use, and whether it must or may not loop.

Decided from the operations that a call really used (autograder.probe.observe), never from its text.
"""

from collections.abc import Iterable

from autograder.exercises.exercise import Case, Exercise, Rules

# Each group by the names under which it can be seen: torch's functions, kernels, nn's functions and classes.
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
# Not `Transformer.generate_square_subsequent_mask`, which is a mask and no attention.
TRANSFORMER = (
    "torch.nn.modules.transformer.Transformer",
    "nn:Transformer.forward",
    "nn:TransformerEncoder",
    "nn:TransformerDecoder",
)
GROUPS = {
    "torch's softmax family": (
        "torch:softmax",
        "torch:log_softmax",
        "torch:logsumexp",
        "torch:softmin",
        "torch:special_softmax",
        "torch:gumbel_softmax",
        "torch:logcumsumexp",
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
    ),
    "fused attention": (*FUSED, *MULTIHEAD, *TRANSFORMER),
    "nn.MultiheadAttention": (*MULTIHEAD, *TRANSFORMER),
    "enable_gqa": ("enable_gqa",),
    "PyTorch's own Transformer layer": (
        "torch.nn.modules.transformer.Transformer",
        "nn:TransformerEncoderLayer.",
        "nn:TransformerDecoderLayer.",
        "aten::_transformer_encoder_layer_fwd",
        "scripted Transformer",
    ),
}
MATRIX_PRODUCT = "a matrix product"


def broken_rule(exercise: Exercise, cases: list[Case], records: list[dict]) -> tuple[str, str] | None:
    """(what is seen, the question to ask) of the first rule that is broken, or None."""
    usages = [record["steps"]["usage"] for record in records if "usage" in record.get("steps", ())]
    if exercise.rules != Rules() and any(usage.get("kind") == "error" for usage in usages):
        # What cannot be looked at keeps no rule: it may have noticed that somebody looks.
        return (
            "The numbers are right, but a call whose operations are watched stops with an error.",
            "What does your code do otherwise when it is watched?",
        )
    usages = [usage for usage in usages if usage.get("kind") != "error"]
    names = {name for usage in usages for name in usage["names"]}
    for group in exercise.rules.forbidden:
        if group == MATRIX_PRODUCT:
            if any(usage["products"] for usage in usages):
                return (
                    "The numbers are right, but a matrix product does the work here.",
                    "Can you get the same entry with a loop over positions, one dot product at a time?",
                )
        elif used := _used(GROUPS[group], names):
            detail = "" if used.startswith("aten::") else f" ({used.split(':')[-1]})"
            return (
                f"The numbers are right, but they come from {group}{detail}, which is what you are "
                "building here.",
                "Which smaller steps is it made of?",
            )
    return _broken_loops(exercise, usages)


def _used(patterns: Iterable[str], names: set[str]) -> str | None:
    # A name that people know rather than that of a kernel below it.
    known_first = sorted(names, key=lambda name: (name.startswith("aten::"), name))
    return next((name for name in known_first if name.startswith(tuple(patterns))), None)


def _broken_loops(exercise, usages) -> tuple[str, str] | None:
    # Two cases of a small and a larger size are observed: work that grows with the size is a loop.
    if exercise.rules.loops is None or len(usages) < 2:
        return None
    small, large = usages[0], usages[-1]
    more_calls = large["calls"] > small["calls"]
    more_lines = large["lines"] > small["lines"]
    if exercise.rules.loops == "required" and not more_calls:
        return (
            "The numbers are right, but no Python loop does the work: as many operations run for a long "
            "input as for a short one.",
            "How would you fill one entry, and then the next?",
        )
    if exercise.rules.loops == "forbidden" and (more_calls or more_lines):
        return (
            "The numbers are right, but Python loops over positions: a longer input runs more steps.",
            "Which single product gives all these entries at once?",
        )
    return None
