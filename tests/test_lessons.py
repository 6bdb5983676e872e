"""The lessons as their author writes them: they run, they agree with each other, and what they say is so."""

import ast
import contextlib
import copy
import doctest
import io
import math
import re
import runpy
from functools import cache
from itertools import pairwise
from pathlib import Path

import jupytext
import pytest
import torch

from autograder.exercises import all_exercises
from autograder.notebook.sentence import TOKENS, embed, from_loops

ROOT = Path(__file__).resolve().parents[1]
LESSONS = sorted(path.stem for path in (ROOT / "solutions").glob("[0-9][0-9]_*.py"))
CLOSING = ["On your own", "In practice", "Read more"]


def source(lesson):
    return ROOT / "solutions" / f"{lesson}.py"


@cache
def cells(lesson):
    return jupytext.read(source(lesson), fmt="py:percent").cells


@cache
def prose(lesson):
    return "\n\n".join(cell.source for cell in cells(lesson) if cell.cell_type == "markdown")


@cache
def ran(lesson):
    """The lesson run from top to bottom as plain Python: its names, and what it printed."""
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        names = runpy.run_path(str(source(lesson)))
    return names, printed.getvalue()


def titles(lesson):
    return [cell.metadata["title"].strip() for cell in cells(lesson) if cell.metadata.get("title")]


@pytest.mark.parametrize("lesson", LESSONS)
def test_runs_as_plain_python(lesson):
    _, printed = ran(lesson)
    assert "In order:" in printed


@pytest.mark.parametrize("lesson", LESSONS)
def test_titles_follow_the_contract(lesson):
    graded = [title for title in titles(lesson) if title.startswith(("exercise:", "check:"))]
    asked = [exercise.id for exercise in all_exercises() if exercise.lesson == lesson]
    assert graded == [f"{kind}: {exercise}" for exercise in asked for kind in ("exercise", "check")]
    assert sum(title.startswith("written:") for title in titles(lesson)) >= 1
    assert titles(lesson).count("explore") >= 1


@pytest.mark.parametrize("lesson", LESSONS)
def test_table_of_points_is_that_of_the_exercises(lesson):
    rows = re.findall(r"^\| (?:`(\w+)`|(a written question.*?)) \| (\d+) \| (\d+) \|$", prose(lesson), re.M)
    told = [(name, int(points), int(minutes)) for name, question, points, minutes in rows if name]
    assert told == [(e.name, e.points, e.minutes) for e in all_exercises() if e.lesson == lesson]
    written = [int(points) for name, question, points, minutes in rows if question]
    in_titles = [re.search(r"\((\d+) points?\)", t)[1] for t in titles(lesson) if t.startswith("written:")]
    assert written == [int(points) for points in in_titles]


@pytest.mark.parametrize("lesson", LESSONS)
def test_headings_are_in_order(lesson):
    headings = re.findall(r"^(#+) (.+)$", re.sub(r"^### (BEGIN|END) .*$", "", prose(lesson), flags=re.M), re.M)
    levels = [len(marks) for marks, _ in headings]
    assert levels[0] == 1 and levels.count(1) == 1
    assert all(after <= before + 1 for before, after in pairwise(levels))
    assert [text for marks, text in headings if len(marks) == 2][-3:] == CLOSING
    numbered = [int(text.split(".")[0]) for marks, text in headings if re.match(r"\d+\. ", text)]
    assert numbered == list(range(1, len(numbered) + 1))


@pytest.mark.parametrize("lesson", LESSONS)
def test_pictures_exist_and_say_what_they_show(lesson):
    pictures = re.findall(r"!\[([^\]]*)\]\(([^)]+)\)", prose(lesson))
    assert len(pictures) >= 3
    for alt, path in pictures:
        assert len(alt) > 60, f"{path}: {alt!r}"
        assert (source(lesson).parent / path).is_file(), path


def numbers_in(text):
    """Decimal numbers of prose; no links, citations, code or section numbers."""
    text = re.sub(r"\[[^\]]*\]\([^)]*\)|arXiv:\S+|`[^`]*`|[Ss]ections? [\d.]+( and [\d.]+)?", " ", text)
    return set(re.findall(r"(?<![\w.])\d+\.\d+(?![\w.]*\w)", text))


@pytest.mark.parametrize("lesson", LESSONS)
def test_numbers_in_prose_are_printed_by_a_cell(lesson):
    _, printed = ran(lesson)
    unprinted = {n for n in numbers_in(prose(lesson)) if not re.search(rf"(?<![\d.]){re.escape(n)}(?!\d)", printed)}
    assert not unprinted


def test_numbers_in_finds_the_numbers_of_prose():
    text = "It is 0.68 (not 1.5): see [arXiv:1706.03762](https://arxiv.org/abs/1706.03762), section 3.2.1, `x.9`."
    assert numbers_in(text) == {"0.68", "1.5"}


@pytest.mark.parametrize("lesson", LESSONS)
def test_prints_the_same_on_every_run(lesson):
    again = io.StringIO()
    with contextlib.redirect_stdout(again):
        runpy.run_path(str(source(lesson)))
    assert again.getvalue() == ran(lesson)[1]


@pytest.mark.parametrize("lesson", LESSONS)
def test_worked_examples_of_the_stubs_are_right(lesson):
    names, _ = ran(lesson)
    finder, runner = doctest.DocTestFinder(recurse=False), doctest.DocTestRunner(verbose=False)
    for exercise in all_exercises():
        if exercise.lesson == lesson:
            answer = names[exercise.name]
            assert "Shapes:" in answer.__doc__, exercise.id
            examples = [test for test in finder.find(answer, exercise.name, globs=dict(names)) if test.examples]
            assert examples, f"{exercise.id} has no worked example"
            for test in examples:
                runner.run(test)
    assert runner.failures == 0


@pytest.mark.parametrize("lesson", LESSONS)
def test_answers_take_one_to_fifteen_lines(lesson):
    for cell in cells(lesson):
        if cell.metadata.get("title", "").startswith("exercise:"):
            parts = re.findall(r"### BEGIN SOLUTION\n(.*?)### END SOLUTION", cell.source, re.S)
            assert 1 <= sum(len(part.strip().splitlines()) for part in parts) <= 15
            ast.parse(cell.source)


@pytest.mark.parametrize("lesson", LESSONS)
def test_code_is_narrow_enough_for_a_page(lesson):
    code = [line for cell in cells(lesson) if cell.cell_type == "code" for line in cell.source.splitlines()]
    assert not [line for line in code if len(line) > 100]


def test_loops_and_matmul_agree():
    loops, matmul = ran("01_attention_from_loops")[0], ran("02_attention_as_matmul")[0]
    x = embed()
    assert torch.allclose(loops["dot_product_scores"](x) / math.sqrt(4), matmul["attention_scores"](x, x))
    q, k, v = torch.randn(3, 4), torch.randn(6, 4), torch.randn(6, 5)
    assert torch.allclose(loops["attention_from_loops"](q, k, v), matmul["attention"](q, k, v), atol=1e-5)
    assert loops["tokens"] == matmul["tokens"] == list(TOKENS)


def test_recorded_output_is_what_the_loops_give():
    assert torch.allclose(ran("01_attention_from_loops")[0]["output"], from_loops(), atol=5.1e-5)


def test_one_pass_is_judged_rightly():
    try_one_pass = ran("01_attention_from_loops")[0]["try_one_pass"]

    def one_pass(pairs):
        largest, total, average = torch.tensor(-math.inf), 0.0, 0.0
        for score, value in pairs:
            new = torch.maximum(largest, score)
            shrink, weight = torch.exp(largest - new), torch.exp(score - new)
            largest, total, average = new, total * shrink + weight, average * shrink + weight * value
        return average / total

    def overflows(pairs):
        pairs = [(torch.exp(score), value) for score, value in pairs]
        return sum(weight * value for weight, value in pairs) / sum(weight for weight, _ in pairs)

    assert "right" in try_one_pass(one_pass)
    with pytest.raises(AssertionError, match="not finite"):
        try_one_pass(overflows)


def test_merge_and_blocks_are_judged_rightly():
    names, _ = ran("02_attention_as_matmul")
    assert "rank is 2" in names["try_merge"](lambda w_q, w_k: w_q @ w_k.T / math.sqrt(w_q.shape[1]))
    with pytest.raises(AssertionError, match="other scores"):
        names["try_merge"](lambda w_q, w_k: w_q @ w_k.T)

    def only_queries(q, k, v, size):
        return torch.cat([names["attention"](block, k, v) for block in q.split(size)])

    assert "right" in names["try_in_blocks"](only_queries)
    with pytest.raises(AssertionError, match="blocks of 7"):
        names["try_in_blocks"](lambda q, k, v, size: only_queries(q, k[:size], v[:size], size))


def test_masking_and_heads_give_the_numbers_of_the_loops():
    masking, heads = ran("03_masking")[0], ran("04_heads")[0]
    x = embed()
    assert torch.allclose(masking["masked_attention"](x, x, x, torch.ones(5, 5) > 0), from_loops(), atol=5.1e-5)
    head, module = heads["SelfAttentionHead"](4), heads["MultiheadSelfAttention"](4, 1)
    for made in (head, module):
        heads["put_in"](made, torch.eye(4))
        assert torch.allclose(made(x[None])[0], from_loops(), atol=5.1e-5)
    assert torch.equal(heads["causal"], masking["causal"])
    assert masking["tokens"] == heads["tokens"] == list(TOKENS)


def test_the_mirror_is_learned_behind_the_mask_and_only_there():
    names, _ = ran("03_masking")
    honest, cheat = names["honest_losses"], names["cheat_losses"]
    assert (honest[:6] - math.log(8)).abs().max() < 0.05 and honest[6:].max() < 0.01
    assert cheat.max() < 0.01


def test_new_words_and_packed_texts_are_judged_rightly():
    names, _ = ran("03_masking")
    causal_mask = names["causal_mask"]
    assert "lower right" in names["try_causal_for_new"](lambda n, m: causal_mask(m)[m - n :])
    with pytest.raises(AssertionError, match="1 queries and 5 keys"):
        names["try_causal_for_new"](lambda n, m: causal_mask(m)[:n])

    def packed(text_of):
        return (text_of[:, None] == text_of) & causal_mask(len(text_of))

    assert "by itself" in names["try_packed_mask"](packed)
    with pytest.raises(AssertionError, match="text 1 hears"):
        names["try_packed_mask"](lambda text_of: causal_mask(len(text_of)))


def test_two_heads_divide_the_work_and_one_cannot():
    names, _ = ran("04_heads")
    x, mask = names["reporters"][2].embed(names["sentence"]), names["mask"]
    seen = names["head_weights"](names["reporters"][2].attention, x, 2, mask)
    before = seen[:, range(2, 10), range(1, 9)].mean(dim=-1)
    first = seen[:, 2:, 0].mean(dim=-1)
    assert (before.max(), first.max()) > (0.95, 0.95) and before.argmax() != first.argmax()
    assert names["comparison"].differences == []


def _cut(module, n_heads, head_class):
    """The heads of a multi-head module, one module each."""
    parts = ("q_proj", "k_proj", "v_proj")
    heads = [head_class(12, 12 // n_heads) for _ in range(n_heads)]
    for name in parts:
        layer = getattr(module, name)
        for head, weight, bias in zip(heads, layer.weight.chunk(n_heads), layer.bias.chunk(n_heads), strict=True):
            getattr(head, name).load_state_dict({"weight": weight, "bias": bias})
    return heads


def test_lists_of_heads_and_silent_heads_are_judged_rightly():
    names, _ = ran("04_heads")
    assert "cut in rows" in names["try_as_list"](lambda m, n: _cut(m, n, names["SelfAttentionHead"]))
    with pytest.raises(AssertionError, match="which rows are whose"):
        names["try_as_list"](lambda m, n: _cut(m, n, names["SelfAttentionHead"])[::-1])

    def without_head(module, n_heads, h):
        quiet = copy.deepcopy(module)
        with torch.no_grad():
            quiet.out_proj.weight.unflatten(1, (n_heads, -1))[:, h] = 0
        return quiet

    assert "one head less" in names["try_without_head"](without_head)
    with pytest.raises(AssertionError, match="every part once"):
        names["try_without_head"](lambda module, n_heads, h: without_head(module, n_heads, 0))
