"""Inputs on which the exercises' graphs are compared, and what must and must not be found (test_graph_bank.py)."""

import torch

from autograder.exercises import all_exercises, find

_GENERATOR = torch.Generator().manual_seed(3)


def normal(*shape):
    return torch.randn(shape, generator=_GENERATOR)


def _mask(*shape):
    """A mask with both kinds of entries in each row, no row empty, nothing symmetric about it."""
    bits = torch.rand(shape, generator=_GENERATOR) < 0.6
    bits[..., 0] = True
    bits[..., -1] = False
    return bits


# exercise -> (arguments of the constructor or None, arguments of the call): all sizes different.
INPUTS = {
    "loops.dot_product_scores": (None, (normal(5, 3),)),
    "loops.softmax": (None, (normal(4, 3),)),
    "loops.weighted_sum": (None, (normal(4, 5).softmax(-1), normal(5, 3))),
    "loops.attention_from_loops": (None, (normal(4, 6), normal(5, 6), normal(5, 3))),
    "matmul.attention_scores": (None, (normal(2, 4, 6), normal(2, 5, 6))),
    "matmul.attention": (None, (normal(2, 4, 6), normal(2, 5, 6), normal(2, 5, 3))),
    "matmul.project_qkv": (None, (normal(2, 5, 6), normal(6, 3), normal(6, 3), normal(6, 3))),
    "matmul.SelfAttention": ((6, 3), (normal(2, 5, 6),)),
    "masking.masked_attention": (None, (normal(2, 4, 6), normal(2, 5, 6), normal(2, 5, 3), _mask(2, 4, 5))),
    "masking.combine_masks": (None, (torch.ones(5, 5).tril().bool(), _mask(3, 5))),
    "heads.SelfAttentionHead": ((6, 3), (normal(2, 5, 6), _mask(2, 5, 5))),
    "heads.split_heads": (None, (normal(2, 5, 12), 3)),
    "heads.merge_heads": (None, (normal(2, 3, 5, 4),)),
    "heads.MultiheadSelfAttention": ((18, 3), (normal(2, 5, 18), _mask(2, 1, 5, 5))),
    "heads.MultiheadCrossAttention": ((18, 3), (normal(2, 5, 18), normal(2, 5, 18), _mask(2, 1, 5, 5))),
    "mqa.MultiQueryAttention": ((18, 3), (normal(2, 5, 18), _mask(2, 1, 5, 5))),
    "mqa.GroupedQueryAttention": ((36, 6, 2), (normal(2, 5, 36), _mask(2, 1, 5, 5))),
    "mqa.pool_kv_heads": (None, (normal(24, 12), 6, 2)),
    "decoder.feed_forward": (None, (normal(2, 5, 4), torch.nn.Linear(4, 9), torch.nn.Linear(9, 4))),
    "decoder.TransformerDecoderLayer": ((12, 3, 20), (normal(2, 5, 12),)),
    "decoder.CrossAttentionDecoderLayer": ((12, 3, 20), (normal(2, 4, 12), normal(2, 5, 12), _mask(2, 5))),
}
# A second call where the first cannot show something: a context of another length, a memory of the same length.
ALSO = {
    "heads.MultiheadCrossAttention": (normal(2, 4, 18), normal(2, 5, 18), _mask(2, 1, 4, 5)),
    "decoder.CrossAttentionDecoderLayer": (normal(2, 5, 12), normal(2, 5, 12), _mask(2, 5)),
}


def with_graphs():
    """The exercises that have a graph to look at."""
    return [exercise for exercise in all_exercises() if exercise.id in INPUTS]


def compared(exercise_id, answer):
    """The differences between an answer and the reference, both made where they are classes."""
    init, inputs = INPUTS[exercise_id]
    reference = find(exercise_id).reference
    if init is not None:
        answer, reference = _made(answer, init), _made(reference, init)
    said = []
    for given in (inputs, ALSO.get(exercise_id)):
        said += _compared(answer, reference, given) if given else []
    return list(dict.fromkeys(said))


def _compared(answer, reference, inputs):
    from autograder.graph import compare
    from autograder.graph.differences import found

    copied = tuple(value.clone() if isinstance(value, torch.Tensor) else value for value in inputs)
    comparison = compare(answer, reference, *copied)
    # `compare` never fails, whatever a rule does: a rule that raises must fail here.
    if not (comparison.mine.stopped or comparison.theirs.stopped):
        found(comparison.mine.whole, comparison.theirs.whole)
    return comparison.differences


def _made(cls, init):
    torch.manual_seed(0)
    return cls(*init)
