"""Letters of a drawing's axes, which numbers are pooled, and what is kept in sight."""

import pytest
import torch
from graph_bank import find
from test_graph import Layer, reference_layer, sources, tensors
from torch import nn
from torch.nn import functional as F
from worked import worked_sources

from autograder import compare, draw
from autograder.graph.axes import Sizes


def worked(lesson, name):
    """A class of a lesson, as its author wrote it."""
    names = {"nn": nn, "F": F, "torch": torch, "math": __import__("math")}
    exec("\n\n".join(worked_sources(lesson).values()), names)
    return names[name]


def axes_after(drawing, op):
    return [node.axes for node in drawing.nodes if node.op == op]


@pytest.mark.parametrize("size, parts, letters", [
    (24, (4, 6), ("H", "D")),
    (24, (6, 4), ("D", "H")),
    (12, (2, 6), ("G", "D")),
    (12, (6, 2), ("D", "G")),
    (12, (3, 4), ("", "")),
    (18, (3, 6), ("", "")),
    (36, (6, 6), ("", "")),
    (72, (12, 6), ("", "")),
    (72, (3, 4, 6), ("", "H", "D")),
    (72, (4, 3, 6), ("H", "", "D")),
    (96, (4, 4, 6), ("", "", "")),
])  # fmt: skip
def test_an_axis_that_is_cut_gets_letters_only_where_it_is_certain(size, parts, letters):
    assert Sizes(heads=4).with_width(24).of_parts(size, parts) == letters


def test_key_value_heads_have_a_letter_of_their_own_until_they_are_copied():
    drawing = draw(worked("05_multi_query_attention", "GroupedQueryAttention")(24, 4, 2), torch.zeros(1, 5, 24))
    copies = [node for node in drawing.nodes if node.op == "repeat_interleave"]
    assert [node.axes for node in copies] == [("B", "H", "N", "D")] * 2
    before = {edge.source for edge in drawing.edges if edge.target in {node.id for node in copies}}
    assert {drawing.nodes[number].axes for number in before} == {("B", "G", "N", "D")}


def test_six_heads_of_width_six_are_not_taken_for_each_other():
    drawing = draw(find("mqa.GroupedQueryAttention").reference(36, 6, 2), torch.zeros(2, 5, 36))
    assert {axes[-2:] for axes in axes_after(drawing, "repeat_interleave")} == {("N", "D")}


@pytest.mark.parametrize("shape", [(5, 5), (1, 1, 5, 5), (1, 4, 5, 5)])
def test_a_mask_of_every_shape_has_queries_and_keys(shape):
    heads = worked("04_heads", "MultiheadSelfAttention")(16, 4)
    drawing = draw(heads, torch.zeros(1, 5, 16), torch.ones(shape, dtype=torch.bool))
    assert next(node for node in drawing.nodes if node.label == "mask").axes[-2:] == ("N", "N")


def test_the_matrices_of_lesson_02_change_one_width_into_the_other():
    drawing = draw(worked("02_attention_as_matmul", "SelfAttention")(4, 3), torch.zeros(5, 4))
    assert axes_after(drawing, "matmul")[0] == ("N", "d_out") and drawing.nodes[-1].axes == ("N", "d_out")


def test_a_mask_stays_in_sight_where_attention_is_closed():
    drawing = draw(worked("06_decoder_layer", "TransformerDecoderLayer")(8, 2, 32), torch.zeros(2, 5, 8))
    part = next(node for node in drawing.nodes if node.kind == "part")
    assert "triu" in sources(drawing, part)


def means(weight):
    return weight.unflatten(0, (3, 2, -1)).mean(dim=1).flatten(0, 1)


def means_along_the_end(weight):
    return weight.T.unflatten(-1, (3, 2, -1)).mean(dim=-2).flatten(1, 2).T


def fused_means(weight):
    rows = weight.T.reshape(5, 6, -1).transpose(1, 2)
    return F.avg_pool1d(rows, 2).permute(2, 1, 0).flatten(0, 1)


def means_of_others(weight):
    return weight.unflatten(0, (2, 3, -1)).mean(dim=0).flatten(0, 1)


def means_in_another_order(weight):
    return weight.unflatten(0, (3, 2, -1)).mean(dim=1).flip(0).flatten(0, 1)


@pytest.mark.parametrize("answer", [means_along_the_end, fused_means])
def test_the_same_numbers_pooled_in_another_form_are_no_difference(answer):
    assert compare(answer, means, *tensors((24, 5))).differences == []


@pytest.mark.parametrize("answer", [means_of_others, means_in_another_order])
def test_a_mean_of_other_numbers_is_named(answer):
    found = compare(answer, fused_means, *tensors((24, 5))).differences
    assert found == ["Yours takes the mean of other groups of numbers than theirs."]


class Besides(Layer):
    """One learned layer more, from the input straight to the attention's result."""

    def __init__(self):
        super().__init__("")
        self.more = nn.Linear(8, 8)
        attend = self.self_attn.forward
        self.self_attn.forward = lambda q, *rest, **options: (attend(q, *rest, **options)[0] + self.more(q), None)


def test_a_learned_layer_beside_the_attention_is_named():
    found = compare(Besides(), reference_layer(), *tensors((2, 5, 8))).differences
    assert found == ["Yours adds a learned layer beside the attention; theirs does not."]
