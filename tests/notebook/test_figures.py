"""Tests the pictures: each is legible, has a description, and is drawn the same every time. Also tests what
an explorer shows where widgets do not work.
"""

import base64
import html
import io
import math
import sys
from importlib import import_module
from pkgutil import iter_modules

import numpy
import pytest
import torch
from PIL import Image

from autograder.errors import UserError
from autograder.notebook import figures, lessons
from autograder.notebook.explore import explore
from autograder.notebook.lessons.assistant import shares
from autograder.notebook.lessons.generation import what_is_left
from autograder.notebook.lessons.images import image_row
from autograder.notebook.lessons.inside import heat
from autograder.notebook.lessons.lm import loss_between
from autograder.notebook.lessons.loops import meanings, weighted_average
from autograder.notebook.lessons.masking import facts_about_masking
from autograder.notebook.lessons.mla import cache_bars
from autograder.notebook.lessons.moe import expert_shares
from autograder.notebook.lessons.mqa import cache_sizes, groups_and_memory
from autograder.notebook.lessons.positions import turned_pairs
from autograder.notebook.lessons.preferences import price, tuning
from autograder.notebook.lessons.rl import poles
from autograder.notebook.lessons.tokens import cut_text
from autograder.notebook.sentence import FEATURES, TOKENS, embed

X = embed()
WEIGHTS = torch.softmax(X @ X.T / 2, dim=-1)
CAUSAL = torch.ones(5, 5, dtype=torch.bool).tril()
LOSSES = {"yours": [2.0, 1.0, 0.5], "PyTorch's": [2.0, 1.1, 0.5]}
DRAWINGS = {
    "table": lambda: figures.table(X, TOKENS, FEATURES, title="x"),
    "scores": lambda: figures.scores(X @ X.T, TOKENS),
    "weights": lambda: figures.weights(WEIGHTS, TOKENS),
    "attention_maps": lambda: figures.attention_maps(
        {"free": WEIGHTS, "the mask": CAUSAL}, TOKENS, sums=True
    ),
    "mask": lambda: figures.mask(CAUSAL, TOKENS),
    "bars": lambda: figures.bars(
        {"head 0": WEIGHTS[0], "head 1": WEIGHTS[1]}, TOKENS, "What the heads see", top=1
    ),
    "one_query": lambda: figures.one_query(WEIGHTS[1], X[1], TOKENS, FEATURES, "dog"),
    "curves": lambda: figures.curves(LOSSES, title="Do they learn alike?", reference={"guessing": 2.08}),
    "panels": lambda: figures.panels({"loss": LOSSES, "size": LOSSES}, title="Two measures", log_y=["size"]),
    "expected_and_yours": lambda: figures.expected_and_yours([[1, 2]], [[1, 3]], (0, 1), "x"),
    "weighted_average": lambda: weighted_average(WEIGHTS[1], X, TOKENS, "dog", FEATURES),
    "meanings": lambda: meanings(
        [1, 1],
        {"the dog saw": [[-1, 2], [-1, 1.9]], "the old saw": [[2, -1]]},
        "Two meanings",
        {"a tool": [2, -1]},
    ),
    "facts_about_masking": lambda: facts_about_masking(
        {"fill with 0": {"weights": [0.05, 1], "empty": [0.5, 0.5], "grad": [0, 0], "half": None}}
    ),
    "cache_sizes": lambda: cache_sizes({"small": (0.5, 2.0), "large": (1.0, 1.0)}),
    "groups_and_memory": lambda: groups_and_memory(8, 2, 3.0, 60.0, "8 heads"),
    "cut_text": lambda: cut_text({"letters": [b"d", b"og"], "words": [b"dog"]}, "Two ways to cut"),
    "cache_bars": lambda: cache_bars(
        {"MHA": 8.0, "MLA": 0.5, "wide": 9.0}, "What a token leaves", "one layer"
    ),
    "expert_shares": lambda: expert_shares({"a run": [[0.5, 0.5], [0.9, 0.1]]}, "Shares of two experts"),
    "image_row": lambda: image_row(
        torch.ones(2, 1, 4, 4), ["one", "two"], "Two images", patch=2, shares=torch.eye(4)[:2], note="a note"
    ),
    "price": lambda: price({"one way": [[(0.6, 0.1), (0.8, 0.4)]]}, "Gained and paid"),
    "tuning": lambda: tuning({"gain": LOSSES, "drift": LOSSES}, [0, 10, 20], "Two charts"),
    "turned_pairs": lambda: turned_pairs(X[1], X[2], [3.0, 1.0, 0.5], 1, "A query and a key one token apart"),
    "loss_between": lambda: loss_between(LOSSES, [50, 100, 150], {"bigrams": 1.5}, "Is it below the level?"),
    "what_is_left": lambda: what_is_left(
        [0.5, 0.3, 0.2], [0.6, 0.4, 0], ["a", "b", "c"], "What a dial leaves"
    ),
    "poles": lambda: poles(torch.linspace(-0.2, 0.2, 28).view(7, 4), "Seven steps with a pole"),
    "shares": lambda: shares({"a rival": [(0.2, 0.1, 0.4)]}, ["sorting"], "Right answers, with intervals"),
    "heat": lambda: heat(
        {"weights": WEIGHTS, "their change": WEIGHTS - WEIGHTS.T}, TOKENS, "Two maps", note="a note"
    ),
}
OF_LESSONS = [
    name
    for module in iter_modules(lessons.__path__)
    for name, made in vars(import_module(f"{lessons.__name__}.{module.name}")).items()
    if hasattr(made, "__wrapped__")
]


@pytest.mark.parametrize("name", DRAWINGS)
def test_a_picture_is_described_the_same_again_and_as_legible_on_a_dark_page(name):
    """Check that the picture is opaque except at its corners and rim, so that a dark page does not show
    through.
    """
    picture = DRAWINGS[name]()
    assert len(picture.alt) > 40
    assert picture.svg() == DRAWINGS[name]().svg() and "<dc:date>" not in picture.svg()
    alpha = numpy.asarray(Image.open(io.BytesIO(picture.png())).convert("RGBA"))[..., 3]
    assert (alpha[10:-10, 10:-10] == 255).all() and alpha[0, 0] == 0


def test_every_picture_is_drawn_here():
    assert set(DRAWINGS) == {*figures.__all__, *OF_LESSONS} - {"Picture"}


def test_a_picture_shows_itself_with_its_text():
    picture = DRAWINGS["weights"]()
    data, metadata = picture._repr_mimebundle_()
    assert base64.b64decode(data["image/png"]) == picture.png()
    assert picture.alt in data["text/plain"] and metadata["image/png"]["alt"] == picture.alt
    assert f'<img alt="{html.escape(picture.alt)}"' in data["text/html"]  # JupyterLab has no text for a PNG


def test_a_mask_is_told_in_words():
    assert "dog may attend to the, dog; saw may attend to" in DRAWINGS["mask"]().alt
    assert "the may attend to nothing" in figures.mask(CAUSAL & False, TOKENS).alt


def test_maps_are_told_by_their_numbers_masks_in_words_and_large_ones_by_the_strongest():
    told = DRAWINGS["attention_maps"]().alt
    assert (
        "free: the: 0.26, 0.16" in told
        and "the mask: the may attend to the; dog may attend to the, dog" in told
    )
    large = torch.eye(12).roll(1, dims=1)
    told = figures.attention_maps({"shifted": large}, "abcdefghijkl", framed={"shifted": large > 0}).alt
    assert (
        "a attends most to b (1)" in told
        and "l attends most to a (1)" in told
        and "12 cells are framed" in told
    )


def test_a_map_of_something_other_than_attention_is_not_told_as_attention():
    told = figures.attention_maps(
        {"m": torch.eye(12)}, "abcdefghijkl", note="row: position, column: feature"
    ).alt
    assert "b is largest at b (1)" in told and "attend" not in told


def test_infinity_is_written():
    bias = torch.arange(5) - torch.arange(5)[:, None] + torch.where(CAUSAL, 0.0, -torch.inf)
    assert "the: 0, \u2212\u221e" in figures.attention_maps({"bias": bias}, TOKENS).alt


def lines_of(picture):
    """Return the drawn lines of a picture by label; if a line has no label, matplotlib gives it a numbered
    one.
    """
    return {line.get_label(): line for axes in picture.figure.axes for line in axes.get_lines()}


def test_curves_are_told_and_stand_where_x_says():
    picture = figures.curves(
        {"a": [1, 4], "b": [2]}, [16, 32], title="Time", xlabel="n", ylabel="ms", log_x=True
    )
    assert picture.alt == "Time. ms over n. a: 1 at 16, 4 at 32. b: 2 at 16."
    assert lines_of(picture)["a"].get_xdata().tolist() == [16, 32]
    assert figures.curves({"a": torch.ones(3)}, ["x", "y", "z"], title="t").alt.endswith(
        "a: 1 at x, 1 at y, 1 at z."
    )


def test_several_runs_are_drawn_with_their_mean():
    lines = lines_of(figures.curves({"three seeds": [[0.0, 1.0], [1.0, 2.0], [2.0, 6.0]]}, title="Seeds"))
    assert lines["three seeds"].get_ydata().tolist() == [1.0, 3.0] and len(lines) == 4


def test_lines_that_coincide_are_both_seen_and_neither_stands_out():
    one, other = lines_of(figures.curves({"a": [1, 2], "b": [1, 2]}, title="t")).values()
    assert other.get_linewidth() < one.get_linewidth() < 1.5 * other.get_linewidth()
    assert other.get_linestyle() == "--"


def test_a_line_that_is_not_finite_is_drawn_as_far_as_it_goes():
    picture = figures.curves({"post-norm": [2.1, math.nan, math.nan], "pre-norm": [2.1, 1.0, 0.1]}, title="t")
    assert picture.png() and "nan at 2" in picture.alt


def test_pictures_leave_their_numbers_alone():
    values = X.clone().requires_grad_()
    figures.table(values, TOKENS, FEATURES)
    assert torch.equal(values, X) and values.grad is None


def test_one_word_and_wide_tables_fit():
    assert figures.weights([[1.0]], ["dog"]).png()
    assert figures.scores([[1e4, -1e4]], ["dog"], ["saw", "cat"]).png()


def _draw(scale, word):
    return figures.one_query(
        torch.softmax(scale * (X @ X.T)[TOKENS.index(word)], -1), X[0], TOKENS, FEATURES, word
    )


CHOICES = {"scale": (0.0, 2.0, 0.5, 0.5), "word": ["dog", "saw"]}


def test_an_explorer_carries_widget_and_picture():
    explorer = explore(_draw, **CHOICES)
    data, _ = explorer._repr_mimebundle_()
    kind = "application/vnd.jupyter.widget-view+json"
    view, own = data[kind], explorer.widget()._repr_mimebundle_()[kind]
    assert view.keys() == own.keys() and view["version_major"] == own["version_major"]
    assert base64.b64decode(data["image/png"]) == _draw(0.5, "dog").png()


def test_the_figure_follows_its_field_its_slider_and_its_menu():
    (field, slider), word, figure = _controls(explore(_draw, **CHOICES))
    field.value, word.label = 2.0, "saw"
    assert figure.value == _draw(2.0, "saw").html() and slider.value == 2.0
    slider.value = 0.5000000000000001
    assert figure.value == _draw(0.5, "saw").html() and field.value == 0.5


def test_a_menu_offers_whatever_is_in_its_list():
    drawn = explore(lambda by: figures.weights(by, TOKENS), by=[WEIGHTS, WEIGHTS.tolist(), (WEIGHTS, 1)])
    menu, figure, _style = drawn.widget().children
    menu.value = 1
    assert figure.value == figures.weights(WEIGHTS.tolist(), TOKENS).html()


def _controls(explorer):
    (row, *others, _style) = explorer.widget().children
    return row.children, *others


def test_an_explorer_without_ipywidgets_shows_its_start(monkeypatch, capsys):
    monkeypatch.setitem(sys.modules, "ipywidgets", None)
    data, _ = explore(_draw, **CHOICES)._repr_mimebundle_()
    assert set(data) == {"text/html", "image/png", "text/plain"}
    assert capsys.readouterr().out.count("\n") == 1


@pytest.mark.parametrize(
    "draw, choices, said",
    [
        (_draw, {"scale": 3, "word": ["dog"]}, "scale should be four numbers"),
        (_draw, {"scale": (2.0, 0.0, 0.5, 1.0), "word": ["dog"]}, "scale should be four numbers"),
        (_draw, {"scale": (0.0, "2", 0.5, 1.0), "word": ["dog"]}, "scale should be four numbers"),
        (_draw, {"scale": (0.0, math.inf, 0.5, 1.0), "word": ["dog"]}, "scale should be four numbers"),
        (_draw, {"scale": (0.0, 2.0, 0.5, 0.5), "word": []}, "word should be four numbers .* or a list"),
        (
            _draw,
            {"scale": (0.0, 2.0, 0.5, 0.5)},
            "explore cannot call your function with scale: missing a required argument: 'word'",
        ),
        (_draw, {}, "needs at least one choice"),
        ("no function", CHOICES, "needs a function as its first argument"),
        (lambda **values: 3, CHOICES, "should return a figure, .* returned int"),
    ],
    ids=range(9),
)
def test_an_explorer_says_in_one_sentence_what_it_does_not_understand(draw, choices, said):
    with pytest.raises(UserError, match=said):
        explore(draw, **choices)


def test_an_explorer_shows_the_error_of_its_function_where_the_figure_was():
    drawn = explore(lambda scale, word: _draw(scale, word[int(scale) :]), **CHOICES)
    (field, _slider), _word, figure = _controls(drawn)
    field.value = 2.0
    assert "ValueError" in figure.value and "img" not in figure.value


@pytest.mark.parametrize(
    "drawn",
    [
        lambda: figures.weights(torch.ones(5), TOKENS),
        lambda: figures.weights(WEIGHTS, TOKENS[:2]),
        lambda: figures.table("abc", TOKENS, FEATURES),
        lambda: figures.weights(None, 3),
        lambda: figures.curves({}, title="t"),
        lambda: figures.mask([], TOKENS),
        lambda: figures.attention_maps([WEIGHTS], TOKENS),
        lambda: figures.one_query(WEIGHTS, X, TOKENS, FEATURES, "dog"),
    ],
    ids=range(8),
)
def test_a_figure_says_what_it_takes_and_what_it_was_given(drawn):
    with pytest.raises(UserError) as caught:
        drawn()
    text = "\n".join(caught.value._render_traceback_())
    assert "It takes " in text and "It was given " in text and "Traceback" not in text
    assert ", to draw " in " ".join(text.split())
