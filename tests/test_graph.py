"""draw and compare: what they show, what they say, and that they leave everything as it was."""

import math
import random
import xml.dom.minidom

import numpy
import pytest
import torch
from torch import nn
from torch.nn import functional as F

from autograder import compare, draw
from autograder.errors import UserError
from autograder.graph import Edge, Node
from autograder.graph.dot import quoted
from autograder.graph.model import MAX_NODES, bounded


def tensors(*shapes):
    generator = torch.Generator().manual_seed(1)
    return [torch.randn(shape, generator=generator) for shape in shapes]


def qkv(n=5):
    return tensors((n, 4), (n, 4), (n, 4))


def labels(drawing):
    return [node.label for node in drawing.nodes]


def named(drawing, label):
    found = [node for node in drawing.nodes if node.label == label]
    assert found, f"no {label} in {labels(drawing)}"
    return found


def sources(drawing, node):
    by_id = {other.id: other for other in drawing.nodes}
    return {by_id[edge.source].label for edge in drawing.edges if edge.target == node.id}


# Answers as students write them.


def loop_attention(q, k, v):
    out = torch.zeros(q.shape[0], v.shape[1])
    for i in range(len(q)):
        scores = torch.stack([q[i] @ k[j] / math.sqrt(q.shape[1]) for j in range(len(k))])
        out[i] = torch.softmax(scores, 0) @ v
    return out


def entry_attention(q, k, v):
    """Loops down to the numbers, softmax by hand."""
    scores = torch.zeros(len(q), len(k))
    for i in range(len(q)):
        for j in range(len(k)):
            for d in range(q.shape[1]):
                scores[i, j] += q[i, d] * k[j, d]
    scores = scores / math.sqrt(q.shape[1])
    powers = torch.exp(scores - scores.max(-1, keepdim=True).values)
    weights = powers / powers.sum(-1, keepdim=True)
    out = torch.zeros(len(q), v.shape[1])
    for i in range(len(q)):
        for j in range(len(k)):
            out[i] += weights[i, j] * v[j]
    return out


def attention(q, k, v):
    return torch.softmax(q @ k.transpose(-2, -1) / math.sqrt(q.shape[-1]), dim=-1) @ v


def split_scale_attention(q, k, v):
    scale = q.shape[-1] ** -0.25
    weights = torch.einsum("nd,md->nm", q * scale, k * scale).softmax(-1)
    return torch.einsum("nm,me->ne", weights, v)


def fused(q, k, v):
    return F.scaled_dot_product_attention(q, k, v)


def unscaled(q, k, v):
    return torch.softmax(q @ k.mT, dim=-1) @ v


class SelfAttention(nn.Module):
    def __init__(self, d_in, d_out):
        super().__init__()
        self.W_query = nn.Parameter(torch.randn(d_in, d_out))
        self.W_key = nn.Parameter(torch.randn(d_in, d_out))
        self.W_value = nn.Parameter(torch.randn(d_in, d_out))

    def forward(self, x):
        return attention(x @ self.W_query, x @ self.W_key, x @ self.W_value)


class Heads(nn.Module):
    def __init__(self, d_model=8, n_heads=2):
        super().__init__()
        self.n_heads = n_heads
        for name in ("q_proj", "k_proj", "v_proj", "out_proj"):
            setattr(self, name, nn.Linear(d_model, d_model))

    def forward(self, x):
        b, n, d = x.shape
        q, k, v = (p(x).view(b, n, self.n_heads, -1).transpose(1, 2) for p in (self.q_proj, self.k_proj, self.v_proj))
        return self.finish(attention(q, k, v).transpose(1, 2).reshape(b, n, d))

    def finish(self, x):
        return self.out_proj(x)


class HeadsInALoop(nn.Module):
    """One packed projection, slices, a Python loop over heads."""

    def __init__(self, d_model=8, n_heads=2):
        super().__init__()
        self.packed, self.last, self.n_heads = nn.Linear(d_model, 3 * d_model), nn.Linear(d_model, d_model), n_heads

    def forward(self, x):
        q, k, v = self.packed(x).chunk(3, dim=-1)
        width, heads = q.size(-1) // self.n_heads, []
        for h in range(self.n_heads):
            part = slice(h * width, (h + 1) * width)
            heads.append(attention(q[..., part], k[..., part], v[..., part]))
        return self.last(torch.cat(heads, dim=-1))


class WithoutOutput(Heads):
    def finish(self, x):
        return x


class Layer(nn.Module):
    """A decoder layer with one thing changed."""

    def __init__(self, change="", d_model=8):
        super().__init__()
        self.change = change
        self.self_attn = nn.MultiheadAttention(d_model, 2, batch_first=True)
        self.linear1, self.linear2 = nn.Linear(d_model, 32), nn.Linear(32, d_model)
        self.norm1, self.norm2 = nn.LayerNorm(d_model), nn.LayerNorm(d_model)

    def attend(self, x):
        n = x.size(1)
        mask = None if self.change == "mask" else torch.ones(n, n, dtype=torch.bool).triu(1)
        return self.self_attn(x, x, x, attn_mask=mask, need_weights=False)[0]

    def feed(self, x):
        if self.change == "late activation":
            return F.gelu(self.linear2(self.linear1(x)))
        if self.change == "no activation":
            return self.linear2(self.linear1(x))
        return self.linear2((F.relu if self.change == "relu" else F.gelu)(self.linear1(x)))

    def forward(self, x):
        if self.change == "post-norm":
            x = self.norm1(x + self.attend(x))
            return self.norm2(x + self.feed(x))
        normed = self.norm1(x)
        kept = {"no residual": 0, "normed residual": normed}.get(self.change, x)
        x = kept + self.attend(normed)
        y = self.feed(x if self.change == "norm" else self.norm2(x))
        return x + (x + y) if self.change == "residual again" else x + y


def reference_layer():
    layer = nn.TransformerEncoderLayer(8, 2, 32, dropout=0.0, activation="gelu", norm_first=True, batch_first=True)
    mask = nn.Transformer.generate_square_subsequent_mask(5)
    return lambda x: layer(x, src_mask=mask, is_causal=True)


# draw


@pytest.mark.parametrize("n", [3, 6])
def test_loop_attention_folds_to_the_same_few_boxes(n):
    drawing = draw(loop_attention, *qkv(n))
    assert len(drawing.nodes) == 12
    scores, mixed = named(drawing, "matmul")
    assert (scores.times, mixed.times, named(drawing, "softmax")[0].times) == (n * n, n, n)
    assert sources(drawing, named(drawing, "output")[0]) == {"write"}
    assert f"softmax dim 0, {n} times" in str(drawing)


def test_loops_over_every_number_fold_as_well():
    drawing = draw(entry_attention, *qkv(6))
    assert len(drawing.nodes) < 20
    assert named(drawing, "add")[0].times == 6 * 6 * 4


def test_shapes_stand_on_the_edges():
    q, k, v = tensors((3, 4), (5, 4), (5, 2))
    drawing = draw(attention, q, k, v)
    assert all(isinstance(edge, Edge) for edge in drawing.edges)
    assert {(3, 4), (4, 5), (3, 5), (5, 2), (3, 2)} <= {edge.shape for edge in drawing.edges}
    assert 'label="(N, M)"' in drawing.dot
    assert "N = 3, M = 5, D = 4, E = 2" in drawing.svg()


def fill(q, k, v, mask):
    return (q @ k.mT / 2).masked_fill(~mask, -torch.inf).softmax(-1) @ v


def choose(q, k, v, mask):
    return torch.where(mask, q @ k.mT / 2, torch.tensor(-torch.inf)).softmax(-1) @ v


def added_table(q, k, v, mask):
    table = torch.zeros(mask.shape)
    table[~mask] = -torch.inf
    return (q @ k.mT / 2 + table).softmax(-1) @ v


def assigned(q, k, v, mask):
    scores = q @ k.mT / 2
    scores[~mask] = -1e9
    return scores.softmax(-1) @ v


def in_place(q, k, v, mask):
    scores = q @ k.mT / 2
    scores.masked_fill_(~mask, -torch.inf)
    return scores.softmax(-1) @ v


def by_hand(q, k, v, mask):
    scores = q @ k.mT / 2
    powers = torch.exp(scores - scores.amax(-1, keepdim=True)) * mask
    return powers / powers.sum(-1, keepdim=True) @ v


MASKED = [fill, choose, added_table, assigned, in_place, by_hand]


@pytest.mark.parametrize("answer", MASKED)
def test_a_mask_is_connected_and_quiet_however_it_is_written(answer):
    drawing = draw(answer, *qkv(), torch.ones(5, 5).tril().bool())
    mask = named(drawing, "mask")[0]
    assert mask.state == ""
    assert any(edge.source == mask.id and edge.quiet for edge in drawing.edges)
    assert [node for node in drawing.nodes if node.role == "mask"]


def test_parameters_are_shown_on_their_own_or_in_their_part():
    drawing = draw(SelfAttention(4, 3), *tensors((2, 5, 4)))
    assert [node.label for node in drawing.nodes if node.kind == "parameter"] == ["W_query", "W_key", "W_value"]
    projection = named(draw(Heads(), *tensors((2, 5, 8))), "q_proj: linear")[0]
    assert projection.detail == "weight (8, 8), bias (8,)"


def test_fused_attention_is_opened_and_framed():
    drawing = draw(Layer(), *tensors((2, 5, 8)), depth=1)
    assert [node.box for node in named(drawing, "softmax")] == ["self_attn"]
    assert {"q_proj: linear", "out_proj: linear", "norm1: layer_norm", "gelu"} <= set(labels(drawing))


def written_rows(x):
    out = torch.empty_like(x)
    for i in range(len(x)):
        out[i] = x[i] * 2
    return out


def written_through_a_view(x):
    out = torch.zeros_like(x)
    rows = out.T
    rows.copy_(x.T * 2)
    return out


def through_plain_numbers(x):
    return torch.tensor([[number.item() * 2 for number in row] for row in x])


@pytest.mark.parametrize("answer", [written_rows, written_through_a_view, through_plain_numbers])
def test_the_output_stays_connected_to_the_input(answer):
    drawing = draw(answer, *tensors((3, 4)))
    reached, grown = {named(drawing, "x")[0].id}, True
    while grown:
        grown = {edge.target for edge in drawing.edges if edge.source in reached} - reached
        reached |= grown
    assert named(drawing, "output")[0].id in reached


def test_a_forward_that_fails_shows_the_operation_and_the_shapes_that_met():
    def wrong(q, k):
        scores = q / 2
        return (scores @ k).softmax(-1)

    drawing = draw(wrong, *tensors((3, 4), (3, 4)))
    failed = [node for node in drawing.nodes if node.state == "failed"]
    assert [node.label for node in failed] == ["matmul"]
    assert sources(drawing, failed[0]) == {"div", "k"}
    assert "Stopped at matmul (@), where (3, 4) and (3, 4) met" in str(drawing)
    assert "where (3, 4) and (3, 4) met" in drawing.svg()


def unfinished(x):
    raise NotImplementedError


def leaves(x):
    raise SystemExit(3)


def unpacks(x):
    _, _, d = x.shape
    return x / d


def forever(x):
    while True:
        x = x + 1


@pytest.mark.parametrize("answer, words", [
    (unfinished, "not written yet"),
    (leaves, "SystemExit"),
    (unpacks, "not enough values to unpack"),
    (forever, "more steps than can be drawn"),
])
def test_draw_never_raises_for_the_code_that_it_draws(answer, words):
    drawing = draw(answer, *tensors((3, 4)))
    assert words in drawing.stopped
    assert len(drawing.nodes) <= MAX_NODES
    assert "image/svg+xml" in drawing._repr_mimebundle_()[0]


class Restless(nn.Module):
    """Changes all that a forward can change."""

    def __init__(self):
        super().__init__()
        self.layer, self.norm, self.calls = nn.Linear(4, 4), nn.BatchNorm1d(4), 0
        self.kept = None

    def forward(self, x):
        print("hello")
        self.calls += 1
        self.eval()
        x *= 2
        self.kept = self.norm(self.layer(x)) + torch.rand(1) + random.random() + numpy.random.rand()
        return F.dropout(self.kept, 0.5, True)


def state_of(model):
    tensors = [tensor.clone() for tensor in model.state_dict().values()]
    return tensors, [p.grad.clone() for p in model.parameters()], [m.training for m in model.modules()]


@pytest.mark.parametrize("wrapped", [False, True])
def test_draw_changes_nothing(wrapped, capfd, recwarn):
    model, (x,) = Restless(), tensors((3, 4))
    model(x.clone()).sum().backward()
    model.train()
    before, given = state_of(model), x.clone()
    states = torch.get_rng_state(), random.getstate(), numpy.random.get_state()[1].copy()
    calls = nn.Module.__call__, torch.zeros, torch.is_grad_enabled()
    capfd.readouterr()

    if wrapped:
        draw(lambda x: model(x), x).svg()
    else:
        draw(model, x).svg()
        assert model.calls == 1

    after = state_of(model)
    assert all(torch.equal(a, b) for a, b in zip([*before[0], *before[1], given], [*after[0], *after[1], x]))
    assert before[2] == after[2]
    assert torch.equal(states[0], torch.get_rng_state())
    assert states[1] == random.getstate()
    assert (states[2] == numpy.random.get_state()[1]).all()
    assert calls == (nn.Module.__call__, torch.zeros, torch.is_grad_enabled())
    assert capfd.readouterr() == ("", "")
    assert not recwarn.list


HOSTILE = '</svg><script>alert(1)</script>"];x[image="/etc/passwd", URL="http://a.b"]\n\\N&lt;'


class Hostile(nn.Module):
    def __init__(self):
        super().__init__()
        name = HOSTILE.replace(".", "_")
        self.layers = nn.ModuleDict({name: nn.Sequential(nn.Linear(4, 4), nn.ReLU()), name + "2": nn.Linear(4, 4)})

    def forward(self, x):
        for layer in self.layers.values():
            x = layer(x)
        return x


def test_names_from_outside_stay_text():
    drawing = draw(Hostile(), *tensors((3, 4)))
    assert "alert(1)" in str(drawing) and "alert(1)" in drawing.nodes[1].box
    for text in (drawing.svg(), draw(lambda x: int(HOSTILE), torch.ones(1)).svg()):
        assert {node.tagName for node in xml.dom.minidom.parseString(text).getElementsByTagName("*")} <= {
            "svg", "title", "desc", "g", "rect", "path", "text"}
    assert all(len(node.label) <= 60 and node.label.isprintable() for node in drawing.nodes)
    assert quoted('a"b\\') == '"a\\"b\\\\"'
    import pygraphviz

    graph = pygraphviz.AGraph(string=drawing.dot)
    keys = {key for item in [*graph.nodes(), *graph.edges()] for key in item.attr.to_dict()}
    assert not keys & {"image", "URL", "href", "shapefile", "fontpath", "imagepath"}
    assert len(graph.nodes()) == len(drawing.nodes)


def test_the_number_of_boxes_is_bounded():
    def long(x):
        for i in range(400):
            x = torch.sin(x) * (i + 2)
        return x

    drawing = draw(long, *tensors((2, 2)))
    assert len(drawing.nodes) <= MAX_NODES
    assert any("more steps" in label for label in labels(drawing))
    assert bounded([Node(0, "input", "", "x")], []) == ([Node(0, "input", "", "x")], [])


def test_the_same_graph_gives_the_same_bytes():
    model, (x,) = Heads(), tensors((2, 5, 8))
    first, second = draw(model, x), draw(model, x)
    assert first.svg() == second.svg() == first._repr_svg_()
    assert first.dot == second.dot
    assert (first.nodes, first.edges, str(first)) == (second.nodes, second.edges, str(second))


def test_the_picture_speaks():
    data, _ = draw(attention, *qkv())._repr_mimebundle_()
    root = xml.dom.minidom.parseString(data["image/svg+xml"]).documentElement
    assert root.getAttribute("role") == "img"
    assert root.getAttribute("aria-label").startswith("Computation graph of attention: from q, k, v by")
    assert "softmax dim -1" in data["text/plain"]
    assert "softmax" in root.getElementsByTagName("desc")[0].firstChild.data


@pytest.mark.parametrize("arguments, words", [
    ((3, torch.ones(2)), "takes a function or a module"),
    ((Heads, torch.ones(2)), "Heads is a class"),
    ((attention,), "needs the inputs too"),
    ((Heads(),), "needs the inputs too"),
])
def test_bad_use_gives_one_sentence(arguments, words):
    with pytest.raises(UserError, match=words) as caught:
        draw(*arguments)
    assert "\n" not in str(caught.value)


def test_modules_and_keywords_may_be_inputs():
    def feed_forward(x, linear1, linear2):
        return linear2(F.gelu(linear1(x)))

    drawing = draw(feed_forward, *tensors((3, 4)), nn.Linear(4, 9), linear2=nn.Linear(9, 4))
    assert labels(drawing) == ["x", "linear1: linear", "gelu", "linear2: linear", "output"]


# compare

RIGHT = [loop_attention, entry_attention, attention, split_scale_attention]


@pytest.mark.parametrize("answer", RIGHT)
def test_right_attention_in_any_form_shows_no_difference(answer):
    assert compare(answer, fused, *qkv()).differences == []
    assert compare(fused, answer, *qkv()).differences == []


@pytest.mark.parametrize("answer", MASKED)
def test_right_masks_in_any_form_show_no_difference(answer):
    def reference(q, k, v, mask):
        return F.scaled_dot_product_attention(q, k, v, attn_mask=mask)

    assert compare(answer, reference, *qkv(), torch.ones(5, 5).tril().bool()).differences == []


@pytest.mark.parametrize("answer", [Heads, HeadsInALoop])
def test_right_heads_in_any_form_show_no_difference(answer):
    x = tensors((2, 5, 8))[0]
    assert compare(answer(), nn.MultiheadAttention(8, 2, batch_first=True), x).differences == []
    assert compare(Heads(), answer(), x).differences == []


def no_softmax(q, k, v):
    return q @ k.mT / 2 @ v


def scaled_up(q, k, v):
    return (q @ k.mT * 2).softmax(-1) @ v


def scaled_late(q, k, v):
    return (q @ k.mT).softmax(-1) / 2 @ v


def over_queries(q, k, v):
    return (q @ k.mT / 2).softmax(0) @ v


def keys_as_values(q, k, v):
    return (q @ k.mT / 2).softmax(-1) @ k


def softmax_twice(q, k, v):
    return (q @ k.mT / 2).softmax(-1).softmax(-1) @ v


@pytest.mark.parametrize("answer, sentence", [
    (unscaled, "Theirs scales the scores (\u00d7 0.5) before softmax; yours does not scale at all."),
    (scaled_up, "Theirs scales the scores by 0.5, yours by 2."),
    (scaled_late, "Theirs scales the scores (\u00d7 0.5) before softmax; yours scales after it."),
    (no_softmax, "Theirs applies softmax once; yours not at all."),
    (softmax_twice, "Yours applies softmax twice; theirs once."),
    (over_queries, "Theirs applies softmax over axis -1, yours over axis -2."),
    (keys_as_values, "Theirs takes the values from v, yours from k."),
])
def test_what_is_wrong_in_attention_is_named(answer, sentence):
    assert compare(answer, fused, *qkv()).differences == [sentence]


def test_a_missing_output_projection_is_named():
    found = compare(WithoutOutput(), nn.MultiheadAttention(8, 2, batch_first=True), *tensors((2, 5, 8)))
    assert found.differences == ["Theirs puts a projection after the mixed values; yours does not."]


@pytest.mark.parametrize("change, sentences", [
    ("", []),
    ("mask", ["Theirs masks the scores before softmax; yours does not."]),
    ("no residual", ["Theirs adds an input back to what was computed from it twice; yours once."]),
    ("residual again", ["Yours adds an input back to what was computed from it 3 times; theirs twice."]),
    ("normed residual", ["Yours adds back the normalised input; theirs adds back the input itself."]),
    ("norm", ["Theirs normalises twice; yours once."]),
    ("post-norm", ["Yours normalises after the sum, theirs before the part that is added."]),
    ("relu", ["Theirs applies gelu, yours relu."]),
    ("no activation", ["Theirs applies gelu once; yours not at all."]),
    ("late activation", ["Theirs applies gelu before its last linear step, yours after it."]),
])
def test_what_is_wrong_in_a_layer_is_named(change, sentences):
    assert compare(Layer(change), reference_layer(), *tensors((2, 5, 8))).differences == sentences


def test_both_stand_side_by_side():
    found = compare(unscaled, fused, *qkv())
    assert "yours: unscaled" in found.svg() and "theirs: fused" in found.svg()
    assert found.differences[0] in found.svg() and found.differences[0] in str(found)
    xml.dom.minidom.parseString(found._repr_mimebundle_()[0]["image/svg+xml"])


def test_a_failing_side_is_told_and_nothing_else():
    found = compare(unfinished, attention, torch.ones(1)).differences
    assert found == ["Yours could not be compared. Stopped by NotImplementedError: not written yet."]
