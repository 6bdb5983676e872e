"""Tests `compare`: right answers in any form get no sentence, and each mistake gets the sentence that names
it.
"""

import pytest
import torch
from answers import answers
from forms import Heads, Layer, attention, heads, layer, post_norm, qkv, reference_layer, tensors
from judged import worked_answer
from torch import nn
from torch.nn import functional as F

from autograder import compare, draw
from autograder.exercises import all_exercises, find
from autograder.grading.worker.answer_graph import answer_graph, case_to_draw
from autograder.graph import Drawing, Node, compared, differences
from autograder.judge import cases_of
from autograder.schema.draw import PUBLIC_SEED

X = tensors((2, 5, 12))[0]
CAUSAL = torch.ones(5, 5).tril().bool()
FUSED = F.scaled_dot_product_attention


def masked(q, k, v, mask):
    return FUSED(q, k, v, attn_mask=mask)


def told(mine, theirs, *inputs):
    return compare(mine, theirs, *inputs).differences


# The modules of the course, and some of its functions.
COMPARED = [exercise.id for exercise in all_exercises() if exercise.procedure == "class"]
COMPARED += [
    "loops.attention_from_loops",
    "matmul.attention",
    "masking.masked_attention",
    "decoder.feed_forward",
]
# Right answers that do differ: they use other operations, or the same in other places, or invisible ones.
OTHER_STRUCTURE = {
    ("loops.attention_from_loops", "online softmax"),
    ("decoder.feed_forward", "feature by feature"),
    ("matmul.attention", "scripted"),
    ("matmul.SelfAttention", "queries and keys in one matrix"),
    ("heads.SelfAttentionHead", "values projected last"),
    ("positions.LearnedPositions", "OneHot"),
    ("llama.LlamaLayer", "added in its own memory"),
    ("llama.Llama", "one hot"),
    ("mla.MultiheadLatentAttention", "Absorbed"),
    ("tasks.SequenceRegressor", "OuterProduct"),
    ("tasks.SequenceRegressor", "Functional"),
    ("rl.DecisionTransformer", "KindByKind"),
    ("images.VisionTransformer", "Convolution"),
}


@pytest.mark.parametrize("exercise_id", COMPARED)
def test_right_answers_agree_with_the_worked_one(exercise_id):
    exercise = find(exercise_id)
    case = case_to_draw(cases_of(exercise, PUBLIC_SEED, False))
    theirs = answer_graph(exercise.worked, exercise.procedure, case)
    right, _ = answers(exercise)
    for name, answer in {"lesson": worked_answer(exercise_id), **right}.items():
        comparison = compared(answer_graph(answer, exercise.procedure, case), theirs)
        assert bool(comparison.mine.stopped) == (name == "scripted"), name
        assert bool(comparison.differences) == ((exercise_id, name) in OTHER_STRUCTURE), (
            name,
            comparison.differences,
        )


def of(scores):
    """Return an attention function that computes its scores with `scores(q, k)`."""
    return lambda q, k, v: scores(q, k).softmax(-1) @ v


ATTENTION = [
    (of(lambda q, k: q @ k.mT), "Theirs scales the scores (\u00d7 0.4082) before softmax; yours does not."),
    (of(lambda q, k: q @ k.mT * 2), "Theirs scales the scores by 0.4082, yours by 2."),
    (of(lambda q, k: -q @ k.mT / 6**0.5), "Theirs scales the scores by 0.4082, yours by -0.4082."),
    (lambda q, k, v: q @ k.mT / 6**0.5 @ v, "Theirs applies softmax once; yours not at all."),
    (
        lambda q, k, v: (q @ k.mT / 6**0.5).softmax(-1).softmax(-1) @ v,
        "Yours applies softmax twice; theirs once.",
    ),
    (
        lambda q, k, v: (q @ k.mT / 6**0.5).softmax(-2) @ v,
        "Theirs applies softmax over axis -1, yours over axis -2.",
    ),
    (lambda q, k, v: (q @ k.mT / 6**0.5).softmax(-1) @ k, "Theirs takes the values from v, yours from k."),
    (
        lambda q, k, v: (q @ k.mT / 6**0.5).softmax(-1),
        "Theirs multiplies two results after softmax; yours does not.",
    ),
    (lambda q, k, v: attention(q, k, v).T, "Theirs gives (4, 3), yours (3, 4)."),
    (lambda q, k, v: (attention(q, k, v), q), "Theirs gives one result, yours 2 results."),
    (lambda q, k, v: None, "Theirs gives a tensor; yours returns None."),
]


@pytest.mark.parametrize("answer, sentence", ATTENTION)
def test_a_difference_in_attention_is_named(answer, sentence):
    assert told(answer, FUSED, *qkv()) == [sentence]


MASKS = [
    (lambda q, k, v, mask: attention(q, k, v), "Theirs masks the scores before softmax; yours does not."),
    (
        lambda q, k, v, mask: (q @ k.mT / 12**0.5).softmax(-1).masked_fill(~mask, 0) @ v,
        "Theirs masks the scores before softmax; yours does not.",
    ),
    (lambda q, k, v, mask: masked(q, k, v, ~mask.T), "Yours blocks other positions than theirs."),
    (lambda q, k, v, mask: masked(q, k, v, mask.T), "Yours blocks other positions than theirs."),
]


@pytest.mark.parametrize("answer, sentence", MASKS)
def test_a_difference_in_the_mask_is_named(answer, sentence):
    assert told(answer, masked, X[0], X[0], X[0], CAUSAL) == [sentence]


def test_a_mask_that_only_mine_has_is_named():
    only = told(lambda q, k, v: masked(q, k, v, CAUSAL), attention, X[0], X[0], X[0])
    assert only == ["Yours masks the scores before softmax; theirs does not."]


HEADS = [
    (
        heads(finish=lambda self, mixed: mixed.transpose(1, 2).flatten(2)),
        "Theirs applies a learned projection after the values are mixed; yours does not.",
    ),
    (
        heads(qkv=lambda self, x: (self.split(self.q_proj(x)), self.split(self.k_proj(x)), self.split(x))),
        "Theirs uses v_proj; yours does not.",
    ),
    (
        heads(split=lambda self, x: x.reshape(len(x), self.n_heads, -1, self.d_head)),
        "Yours puts the entries in another order than theirs.",
    ),
]


@pytest.mark.parametrize("made, sentence", HEADS)
def test_a_difference_in_heads_is_named(made, sentence):
    assert told(made(), Heads(), X) == [sentence]


def normed_residual(self, x):
    x = self.norm1(x)
    x = x + self.attend(x)
    return x + self.feed(self.norm2(x))


LAYERS = [
    (
        {"attend": lambda self, x: self.self_attn(x, x, x)[0]},
        "Theirs masks the scores before softmax; yours does not.",
    ),
    (
        {"forward": lambda self, x: self.feed(self.norm2(x + self.attend(self.norm1(x))))},
        "Theirs adds an input back to what was computed from it twice; yours once.",
    ),
    (
        {"forward": lambda self, x: x + Layer.forward(self, x)},
        "Yours adds an input back to what was computed from it 3 times; theirs twice.",
    ),
    (
        {"forward": normed_residual},
        "Yours adds back the normalised input; theirs adds back the input itself.",
    ),
    ({"forward": post_norm}, "Yours normalises after the residual sum; theirs before a learned projection."),
    ({"norm": nn.Identity()}, "Theirs normalises twice; yours once."),
    ({"act": lambda self, u: F.relu(u)}, "Theirs applies gelu, yours relu."),
    ({"act": lambda self, u: F.gelu(u, approximate="tanh")}, "Theirs applies gelu, yours gelu (tanh form)."),
    ({"act": lambda self, u: u * torch.sigmoid(u)}, "Theirs applies gelu, yours silu."),
    ({"act": lambda self, u: u * torch.sigmoid(1.702 * u)}, "Theirs applies gelu, yours sigmoid."),
    ({"act": lambda self, u: u}, "Theirs applies gelu once; yours not at all."),
    (
        {"feed": lambda self, x: F.gelu(self.linear2(self.linear1(x)))},
        "Theirs applies a learned projection after gelu; yours does not.",
    ),
]


@pytest.mark.parametrize("changes, sentence", LAYERS)
def test_a_difference_in_a_layer_is_named(changes, sentence):
    mine = layer(**changes)()
    if "norm" in changes:
        mine.norm2 = nn.Identity()
    assert told(mine, reference_layer(), X) == [sentence]


def own_norm(x):
    return x / (x * x).mean(-1, keepdim=True).sqrt()


@pytest.mark.parametrize("mine", [lambda x: x + own_norm(x), lambda x: own_norm(x) * 3 + x])
def test_what_is_added_back_to_a_norm_by_hand_is_a_residual(mine):
    assert told(mine, lambda x: x + F.rms_norm(x, x.shape[-1:]), X) == []
    assert told(mine, lambda x: F.rms_norm(x, x.shape[-1:]), X) == [
        "Yours adds an input back to what was computed from it once; theirs not at all."
    ]


def test_a_sum_of_powers_has_no_residual():
    """Try the inner part of GELU, written by hand."""
    assert told(lambda x: (x + 0.044715 * x**3).tanh(), torch.tanh, X) == []


def test_another_norm_is_named():
    assert told(nn.RMSNorm(12), nn.LayerNorm(12), X) == [
        "Theirs normalises with layer_norm, yours with rms_norm."
    ]


class OneHead(nn.Module):
    """Attention with bare weight matrices; `used` names those for queries, keys and values."""

    def __init__(self, *used):
        super().__init__()
        self.used = used
        for name in ("W_query", "W_key", "W_value"):
            setattr(self, name, nn.Parameter(torch.ones(12, 4)))

    def forward(self, x):
        q, k, v = (x @ getattr(self, name) for name in self.used)
        return attention(q, k, v)


@pytest.mark.parametrize(
    "used, unused",
    [(("W_query", "W_key", "W_key"), "W_value"), (("W_query", "W_query", "W_value"), "W_key")],
)
def test_a_parameter_that_only_theirs_uses_is_named(used, unused):
    theirs = OneHead("W_query", "W_key", "W_value")
    assert told(OneHead(*used), theirs, X) == [f"Theirs uses {unused}; yours does not."]


def test_inputs_that_only_theirs_uses_are_named_in_order():
    found = told(lambda a, *_: a.relu(), lambda a, b, c, d, e: (a + b + c + d + e).relu(), *[X] * 5)
    assert found == [f"Theirs uses {name}; yours does not." for name in ("_[0]", "_[1]", "_[2]", "_[3]")]


def test_the_order_in_which_keys_are_repeated_is_told():
    keys = torch.zeros(1, 2, 5, 6)
    found = compare(lambda k: k.repeat(1, 2, 1, 1), lambda k: k.repeat_interleave(2, dim=1), keys)
    assert found.differences == ["Yours puts the entries in another order than theirs."]
    assert [
        [node.op for node in side.nodes if node.state == "differs"] for side in (found.mine, found.theirs)
    ] == [["repeat"], ["repeat_interleave"]]
    again = told(
        lambda k: k[:, :, None].expand(1, 2, 2, 5, 6).flatten(1, 2),
        lambda k: k.repeat_interleave(2, dim=1),
        keys,
    )
    assert again == []


def test_each_kind_of_item_is_told_of_in_a_test():
    tested = "\n".join(sentence for _, sentence in [*ATTENTION, *MASKS, *HEADS, *LAYERS])
    for kind, words in differences._DOES.items():
        assert words.format("gelu") in tested, kind


def test_inputs_have_my_names_on_both_sides():
    def mine(a, b, c):
        return attention(a, b, b)

    found = compare(mine, FUSED, *tensors((4, 6), (5, 6), (5, 6)))
    assert found.differences == ["Theirs takes the values from c, yours from b."]
    assert [node.label for node in found.theirs.nodes if node.kind == "input"] == ["a", "b", "c"]


def test_both_stand_side_by_side_under_the_sentences():
    found = compare(of(lambda q, k: q @ k.mT), FUSED, *qkv())
    picture = found.svg()
    assert picture.index("yours") < picture.index("theirs: scaled_dot_product_attention")
    assert found.differences[0] in picture and found.differences[0] in str(found)
    assert "\u2260 matmul" in picture


def test_only_the_step_that_differs_is_marked():
    found = compare(layer(act=lambda self, u: F.relu(u))(), reference_layer(), X)
    marked = [
        [node.op for node in side.nodes if node.state == "differs"] for side in (found.mine, found.theirs)
    ]
    assert marked == [["relu"], ["gelu"]]


# --- what could not be compared is never "no difference" ----------------------------------------------------


def unfinished(q, k, v):
    raise NotImplementedError


def test_a_failing_side_is_told_and_nothing_else():
    sentence = "could not be compared. Stopped by NotImplementedError: not written yet."
    assert told(unfinished, attention, *qkv()) == [f"Yours {sentence}"]
    assert told(attention, unfinished, *qkv()) == [f"Theirs {sentence}"]


def test_a_rule_that_fails_is_an_error(monkeypatch):
    def failing(*_):
        raise KeyError("a rule of ours")

    monkeypatch.setattr(differences.scores, "_masks", failing)
    with pytest.raises(KeyError, match="a rule of ours"):
        compare(attention, attention, *qkv())


def test_what_is_not_there_as_a_whole_is_not_compared():
    """Expect that incomplete drawings are not compared: a drawing from another process may be truncated."""
    whole = draw(torch.relu, X)
    nodes, edges = whole.whole
    part = Drawing("part", [*nodes, Node(99, "note", "", "and more")], edges)
    assert compared(part, whole).differences == ["Yours has too many steps to be compared."]
    assert compared(whole, part).differences == ["Theirs has too many steps to be compared."]
