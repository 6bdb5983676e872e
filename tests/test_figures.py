"""The pictures: drawn the same every time, legible, described; and the explorers' fallbacks."""

import base64
import html
import io
import subprocess
import sys
from pathlib import Path

import numpy
import pytest
import torch
from PIL import Image
from torch import nn

from autograder.notebook import figures
from autograder.notebook.explore import explore
from autograder.notebook.look import head_weights
from autograder.notebook.sentence import FEATURES, TOKENS, embed

ROOT = Path(__file__).resolve().parents[1]
X = embed()
WEIGHTS = torch.softmax(X @ X.T / 2, dim=-1)
CAUSAL = torch.ones(5, 5, dtype=torch.bool).tril()
MEASURED = [{"d_k": d, **{f"{key}_{name}": d / 64 for key in ("variance", "largest", "gradient")
                          for name in ("raw", "scaled")}} for d in (4, 64)]
DRAWINGS = {
    "table": lambda: figures.table(X, TOKENS, FEATURES, title="x"),
    "scores": lambda: figures.scores(X @ X.T, TOKENS),
    "weights": lambda: figures.weights(WEIGHTS, TOKENS),
    "weights_side_by_side": lambda: figures.weights_side_by_side(WEIGHTS, WEIGHTS.T, TOKENS, ("a", "b")),
    "softmax_steps": lambda: figures.softmax_steps([0, 3, -2, 0, 2], TOKENS),
    "scales": lambda: figures.scales([0, 3, -2, 0, 2], TOKENS, {"half": 0.5, "one": 1}),
    "weighted_average": lambda: figures.weighted_average(WEIGHTS[1], X, TOKENS, "dog", FEATURES),
    "one_query": lambda: figures.one_query(WEIGHTS[1], X[1], TOKENS, FEATURES, "dog"),
    "saturation": lambda: figures.saturation(MEASURED),
    "timing": lambda: figures.timing([2, 4], {"a": [1, 2], "b": [0.1, 0.2], "c": [0.01, 0.01]}),
    "learning": lambda: figures.learning([2.0, 1.0, 0.5]),
    "dot_product": lambda: figures.dot_product(X[1].tolist(), X[4].tolist(), ("dog", "cat"), FEATURES),
    "loops_and_matmul": figures.loops_and_matmul,
    "attention_flow": figures.attention_flow,
    "self_attention": figures.self_attention,
    "recurrence": lambda: figures.recurrence(TOKENS),
    "mask": lambda: figures.mask(CAUSAL, TOKENS),
    "mask_patterns": lambda: figures.mask_patterns({"causal": (CAUSAL, "not ahead")}, TOKENS),
    "mask_conventions": lambda: figures.mask_conventions(CAUSAL, TOKENS),
    "mask_and_weights": lambda: figures.mask_and_weights(CAUSAL, WEIGHTS, TOKENS),
    "mask_broadcasting": lambda: figures.mask_broadcasting(CAUSAL, CAUSAL[[4, 2]], ("long", "short")),
    "mask_before_or_after": lambda: figures.mask_before_or_after([0, 3, -2, 0, 2], CAUSAL[1], TOKENS, "dog"),
    "influence": lambda: figures.influence({"free": WEIGHTS, "masked": WEIGHTS.tril()}, TOKENS),
    "by_position": lambda: figures.by_position({"a": [2.1, 0.0], "b": [0.0, 0.0]}, 2.08, ["s1", "s2"]),
    "attention_maps": lambda: figures.attention_maps({"a": WEIGHTS, "b": WEIGHTS.tril()}, TOKENS),
    "reshaping": lambda: figures.reshaping(X, TOKENS, FEATURES),
    "split_trap": lambda: figures.split_trap(TOKENS),
    "heads_of_a_word": lambda: figures.heads_of_a_word(WEIGHTS[:2], TOKENS, "saw"),
    "multihead_flow": figures.multihead_flow,
    "cross_flow": figures.cross_flow,
    "learning_alike": lambda: figures.learning_alike([2.0, 1.0], [2.0, 1.1]),
    "weights_times_values": lambda: figures.weights_times_values(WEIGHTS, X, TOKENS, FEATURES),
    "learned_matrices": figures.learned_matrices,
    "padded_batch": lambda: figures.padded_batch([["the", "dog"], ["cat"]]),
    "packed_weights": figures.packed_weights,
    "cache_block": lambda: figures.cache_block(TOKENS),
    "pooled_heads": figures.pooled_heads,
    "writing": lambda: figures.writing(TOKENS),
    "kv_sharing": figures.kv_sharing,
    "sharing_order": figures.sharing_order,
    "cache_sizes": lambda: figures.cache_sizes({"small": (0.5, 2.0), "large": (1.0, 1.0)}),
    "price_of_sharing": lambda: figures.price_of_sharing([4, 2, 1], {"mean": [1, 0.7, 0.3]}, guessing=0.125),
    "groups_and_memory": lambda: figures.groups_and_memory(8, 2, 3.0, 60.0, "8 heads"),
    "decoder_flow": figures.decoder_flow,
    "cross_layer_flow": figures.cross_layer_flow,
    "over_depth": lambda: figures.over_depth({"a": [1e-3, 1.0], "b": [1.0, 1.0]}),
    "activations": figures.activations,
    "expected_and_yours": lambda: figures.expected_and_yours([[1, 2]], [[1, 3]], (0, 1), "x"),
}


@pytest.mark.parametrize("name", DRAWINGS)
def test_a_picture_is_drawn_described_and_the_same_again(name):
    picture = DRAWINGS[name]()
    assert len(picture.alt) > 40
    assert picture.png().startswith(b"\x89PNG")
    assert picture.svg() == DRAWINGS[name]().svg()
    assert "<dc:date>" not in picture.svg()


def test_every_picture_is_drawn_here():
    assert set(DRAWINGS) == set(figures.__all__) - {"Picture"}


@pytest.mark.parametrize("name", DRAWINGS)
def test_a_picture_is_as_legible_on_a_dark_page(name):
    """Its card is opaque: only the corners and the rim let the page through."""
    picture = Image.open(io.BytesIO(DRAWINGS[name]().png()))
    alpha = numpy.asarray(picture.convert("RGBA"))[..., 3]
    assert (alpha[10:-10, 10:-10] == 255).all() and alpha[0, 0] == 0


def test_a_picture_shows_itself_with_its_text():
    picture = DRAWINGS["weights"]()
    data, metadata = picture._repr_mimebundle_()
    assert base64.b64decode(data["image/png"]) == picture.png()
    assert picture.alt in data["text/plain"] and metadata["image/png"]["alt"] == picture.alt
    assert f'<img alt="{html.escape(picture.alt)}"' in data["text/html"]  # JupyterLab has no text for a PNG


def test_a_mask_is_told_in_words_and_influence_counts_its_leaks():
    assert "dog may look at the, dog; saw may look at" in DRAWINGS["mask"]().alt
    assert "the may look at nothing" in figures.mask(CAUSAL & False, TOKENS).alt
    told = DRAWINGS["influence"]().alt
    assert "free: 10 of 10 outputs" in told and "masked: 0 of 10 outputs" in told


def test_head_weights_are_those_of_pytorchs_module():
    torch.manual_seed(0)
    theirs, mine = nn.MultiheadAttention(8, 2, batch_first=True), nn.Module()
    mine.q_proj, mine.k_proj = nn.Linear(8, 8), nn.Linear(8, 8)
    with torch.no_grad():
        theirs.in_proj_bias.normal_()
        for part, rows in ((mine.q_proj, slice(0, 8)), (mine.k_proj, slice(8, 16))):
            part.weight.copy_(theirs.in_proj_weight[rows])
            part.bias.copy_(theirs.in_proj_bias[rows])
    x, context, mask = torch.randn(3, 8), torch.randn(5, 8), CAUSAL[2:]
    want = theirs(x, context, context, attn_mask=~mask, average_attn_weights=False)[1]
    assert torch.allclose(head_weights(mine, x, 2, mask, context), want, atol=1e-6)


def test_pictures_leave_their_numbers_alone():
    values = X.clone().requires_grad_()
    figures.table(values, TOKENS, FEATURES)
    assert torch.equal(values, X) and values.grad is None


def test_one_word_and_wide_tables_fit():
    assert figures.weights([[1.0]], ["dog"]).png()
    assert figures.scores([[1e4, -1e4]], ["dog"], ["saw", "cat"]).png()


def test_importing_figures_does_not_load_matplotlib():
    program = "import sys, autograder.notebook.figures; sys.exit('matplotlib' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", program], cwd=ROOT, check=False).returncode == 0


def test_images_are_what_their_script_draws():
    script = [sys.executable, str(ROOT / "images" / "make_images.py"), "--check"]
    ran = subprocess.run(script, cwd=ROOT, capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stdout + ran.stderr


def _draw(scale, word):
    return figures.one_query(torch.softmax(scale * (X @ X.T)[TOKENS.index(word)], -1), X[0], TOKENS, FEATURES, word)


CHOICES = {"scale": (0.0, 2.0, 0.5, 0.5), "word": ["dog", "saw"]}


def test_an_explorer_carries_widget_and_picture():
    explorer = explore(_draw, **CHOICES)
    data, _ = explorer._repr_mimebundle_()
    kind = "application/vnd.jupyter.widget-view+json"
    view, own = data[kind], explorer.widget()._repr_mimebundle_()[kind]
    assert view.keys() == own.keys() and view["version_major"] == own["version_major"]
    assert base64.b64decode(data["image/png"]) == _draw(0.5, "dog").png()


def test_the_figure_follows_its_sliders():
    scale, word, figure = explore(_draw, **CHOICES).widget().children
    scale.value, word.value = 2.0, "saw"
    assert figure.value == _draw(2.0, "saw").html()


def test_an_explorer_without_ipywidgets_shows_its_start(monkeypatch, capsys):
    monkeypatch.setitem(sys.modules, "ipywidgets", None)
    data, _ = explore(_draw, **CHOICES)._repr_mimebundle_()
    assert set(data) == {"text/html", "image/png", "text/plain"}
    assert capsys.readouterr().out.count("\n") == 1


def test_an_explorer_names_a_choice_it_does_not_understand():
    with pytest.raises(ValueError, match="scale should be"):
        explore(_draw, scale=3, word=["dog"])
