"""Tests lesson 20 with the real model: the worked classes compute the same as an independent implementation
that reads the same file.

`make model` fetches the file; without it these tests are skipped.
"""

import random
from pathlib import Path

import pytest
import torch
from judged import worked_answer
from plain_llama import Fast, logits_of
from worked_llama import model_of

from autograder.build.lesson import ROOT
from autograder.notebook import real_model
from autograder.notebook.lessons.tokens import SENTENCES

pytestmark = [
    pytest.mark.skipif(not real_model.is_there(), reason="the real model is not here: make model"),
    pytest.mark.trial,
    pytest.mark.xdist_group("the real model"),
]
TEXTS = (
    "The capital of France is",
    "def add(a, b):\n    return a + b\n\nprint(add(2, 40))  # 42\n",
    "Es war einmal ein König, der hatte drei Töchter. \u4f60\u597d, 1 2 3!",
)


@pytest.fixture(scope="module")
def file():
    return real_model.open_file()


@pytest.fixture(scope="module")
def weights(file):
    return file.state_dict()


@pytest.fixture(scope="module")
def model(file):
    return model_of(file)


@pytest.mark.parametrize("text", TEXTS)
def test_logits_are_those_of_an_independent_reading(text, file, weights, model):
    ids = torch.tensor(file.tokenizer.encode(text))
    with torch.no_grad():
        ours = model(ids[None])[0][0]
        theirs = logits_of(weights, file.sizes, ids)
    assert (ours - theirs).abs().max() < 1e-3


def test_it_goes_on_token_for_token_as_the_independent_reading_does(file, weights, model):
    ids = file.tokenizer.encode("The most important thing about learning is")
    generate = worked_answer("llama.generate_cached")
    ours = generate(model, torch.tensor([ids]), 50, lambda logits: logits.argmax(dim=-1))
    with torch.no_grad():
        # Read prompt and result in one call: each new token must be the most probable one after the tokens
        # before it.
        logits = logits_of(weights, file.sizes, torch.tensor([*ids, *ours]))
    assert logits[len(ids) - 1 : -1].argmax(dim=-1).tolist() == ours


def test_the_plain_model_of_the_benchmark_is_the_same_model(file, weights, model):
    ids = torch.tensor([file.tokenizer.encode(TEXTS[1])])
    plain = Fast(weights, file.sizes)
    with torch.no_grad():
        _, caches = plain(ids[:, :-1], None)
        assert (plain(ids[:, -1:], caches)[0] - model(ids)[0][:, -1:]).abs().max() < 1e-3


def long_text():
    """Return 200 kB of text in several languages: sentences of lesson 10, text of the course, numbers,
    spaces, punctuation and rare characters.
    """
    draw = random.Random(0)
    own = [path.read_text() for path in sorted(Path(ROOT, "solutions").glob("*.py"))]
    pieces = [one for sentences in SENTENCES.values() for one in sentences]
    pieces += ["  \n\t ", "3.14159"]
    pieces += ["a\u0301", "\u00b2\u00bd", "<|im_start|>", "don't I'll we've", "\U0001f600", " \u00df"]
    text = ""
    while len(text.encode()) < 200_000:
        source = draw.choice(own)
        start = draw.randrange(len(source))
        text += "".join(draw.choices(pieces, k=5)) + source[start : start + 300]
    return text


def test_ids_of_lesson_10s_answer_are_those_of_tokenizers(file):
    text, tokenizer = long_text(), file.tokenizer
    expected = tokenizer.encode(text)
    assert tokenizer.encode_by(worked_answer("tokens.bpe_encode"), text) == expected
    assert len(expected) > 40_000


def test_ids_of_a_conversation_are_those_of_the_form_in_which_the_model_was_trained(file):
    tokenizer, chat_ids = file.tokenizer, worked_answer("llama.chat_ids")
    messages = [("system", "Be kind."), ("user", "Hi <|im_end|>")]
    ids = chat_ids(messages, tokenizer.encode, tokenizer.start, tokenizer.end)
    assert tokenizer.decode(ids) == (
        "<|im_start|>system\nBe kind.<|im_end|>\n<|im_start|>user\nHi <|im_end|><|im_end|>\n<|im_start|>assistant\n"
    )
    assert ids.count(tokenizer.start) == 3 and ids.count(tokenizer.end) == 2
