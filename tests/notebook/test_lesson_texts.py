"""Tests the training texts of lesson 11: one text is always available, and if another is not, a printed line
says why.
"""

import urllib.error

import pytest

from autograder.notebook.lessons import lm

TEXT = "To be, or not to be.\n"


def test_the_python_reference_is_plain_english_with_one_paragraph_a_line():
    text = lm.python_reference()
    assert len(text) > 200_000 and text.isascii() and "\n\n" not in text and "  " not in text
    assert text == lm.read_text()


def test_a_text_of_ones_own_is_read_as_it_is(tmp_path):
    path = tmp_path / "mine.txt"
    path.write_text(TEXT * 1000)
    assert lm.read_text(path) == TEXT * 1000


@pytest.mark.parametrize("content, said", [(None, "cannot be read"), (TEXT, "has 21 characters")])
def test_a_text_that_will_not_do_is_told_and_replaced(content, said, tmp_path, capsys):
    path = tmp_path / "mine.txt"
    if content is not None:
        path.write_text(content)
    assert lm.read_text(path) == lm.python_reference()
    assert said in capsys.readouterr().out


def test_shakespeare_is_fetched_once_without_what_is_around_the_works(tmp_path, capsys):
    source, path = tmp_path / "pg100.txt", tmp_path / "shakespeare.txt"
    source.write_text(f"licence\n*** START OF THE BOOK ***\n{TEXT}*** END OF THE BOOK ***\nlicence\n")
    assert lm.fetch_shakespeare(path, source.as_uri()) == path
    assert path.read_text() == TEXT and "Set own_text = " in capsys.readouterr().out
    source.unlink()
    assert lm.fetch_shakespeare(path, source.as_uri()) == path


def test_without_a_network_it_says_so_and_what_to_do(tmp_path, capsys, monkeypatch):
    def offline(url, timeout):
        raise urllib.error.URLError("no address associated with this name")

    monkeypatch.setattr(lm, "urlopen", offline)
    assert lm.fetch_shakespeare(tmp_path / "shakespeare.txt") is None
    told = capsys.readouterr().out
    assert "no address associated" in told and "Is this computer online?" in told and lm.SHAKESPEARE in told
    assert list(tmp_path.iterdir()) == []
