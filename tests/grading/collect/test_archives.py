"""Tests that no file that one student hands in, however hostile, stops others' work from being collected."""

import io
import json
import struct
import zipfile

import pytest
from collected import placed, zipped

from autograder.grading.collect import archives, lessons
from autograder.grading.collect.archives import LONGEST_NAME
from autograder.grading.collect.collect import collect
from autograder.grading.collect.names import Origin, names_of
from autograder.grading.collect.students import Class, id_of_stranger
from autograder.grading.demo.sample_class import FIRST, SECOND
from autograder.grading.submission.read_submission import read_notebook

F = f"{FIRST}.ipynb"
MEGABYTE = 1_000_000


def packed(files: dict[str, bytes | str], how: int = zipfile.ZIP_DEFLATED) -> bytes:
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w", how) as archive:
        for name, text in files.items():
            archive.writestr(name, text)
    return data.getvalue()


def notebook_of(source: str) -> str:
    cell = {"cell_type": "code", "metadata": {}, "source": source, "outputs": [], "execution_count": None}
    return json.dumps({"cells": [cell], "metadata": {}, "nbformat": 4, "nbformat_minor": 4})


def many_blanks() -> bytes:
    """Return an archive of four notebooks, each a megabyte of spaces, which compress to almost nothing."""
    blanks = b" " * MEGABYTE
    return packed({f"{number}.ipynb": blanks for number in range(4)})


def beyond_its_end() -> bytes:
    """Return an archive whose list of files says that its file begins at byte 2**64 - 1."""
    archive = packed({F: b"{}"})
    start = archive.index(b"PK\x01\x02")
    entry, end = bytearray(archive[start : start + 46 + len(F)]), bytearray(archive[start + 46 + len(F) :])
    extra = struct.pack("<HHQ", 1, 8, 2**64 - 1)
    entry[30:32], entry[42:46] = struct.pack("<H", len(extra)), b"\xff" * 4
    end[12:16] = struct.pack("<I", len(entry) + len(extra))
    return archive[:start] + bytes(entry) + extra + bytes(end)


# What the student `evil` hands in, and part of the expected message.
EVIL = {
    "many files": (lambda: packed({f"{n}.ipynb": b"" for n in range(20)}), "more than 10 files"),
    "many notebooks": (lambda: packed({f"{n}.ipynb": b"{}" for n in range(20)}), "more than 10 notebooks"),
    "a long list of files": (
        lambda: packed({f"{'x' * 200}{n}": b"" for n in range(20)}),
        "unplaced/: evil_66 (evil_66_1_x.zip)",
    ),
    "more than it may hold": (many_blanks, "more than 2 megabytes"),
    "packed to grow": (
        lambda: packed({F: b"{}"}, zipfile.ZIP_LZMA),
        "compressed by a method that is not supported",
    ),
    "a name without end": (
        lambda: packed({f"{'_' * 32_000}_attempt_2026-01-01-20-00-00_{F}": b"{}"}),
        "is longer than",
    ),
    "a file without a name": (
        lambda: packed({"x.py": b"", "y.py": b""}).replace(b"x.py", b"\0.py"),
        "unplaced/: evil_66 (), evil_66 (y.py)",
    ),
    "a file beyond the end": (beyond_its_end, "it is damaged (evil_66)"),
    "a path without end": (lambda: packed({"a/" * 30_000 + F: b"{}"}), "is longer than"),
}


@pytest.mark.parametrize("name", EVIL)
def test_what_one_hands_in_has_a_budget_of_its_own(course, texts, tmp_path, capsys, monkeypatch, name):
    make, words = EVIL[name]
    if name == "more than it may hold":
        monkeypatch.setattr(archives, "MOST_IN_ALL", 2 * 1024**2)
    if name == "many files":
        monkeypatch.setattr(archives, "MOST_FILES", 10)
    if name == "many notebooks":
        monkeypatch.setattr(archives, "MOST_NOTEBOOKS", 10)
    if name == "a long list of files":
        monkeypatch.setattr(archives, "LONGEST_LIST", 4_000)
    files = {
        "evil_66_1_x.zip": make(),
        f"lovelaceada_71_2_{F}": texts["done"],
        f"turingalan_72_3_{F}": texts["half"],
    }
    assert not collect(course, [zipped(tmp_path / "x.zip", files)])
    found = placed(course)
    assert {"ada 01": texts["done"], "alan7 01": texts["half"]}.items() <= found.items()
    said = capsys.readouterr().out
    assert words in said and "evil_66" in said


def test_a_name_without_end_of_the_archive_itself_is_refused_and_named(course, texts, tmp_path, capsys):
    long = f"{'_' * 32_000}_attempt_2026-01-01-20-00-00_{F}"
    files = {f"L_ada_attempt_2026-01-01-20-00-00_{F}": texts["done"], long: texts["half"]}
    assert not collect(course, [zipped(tmp_path / "x.zip", files)])
    assert placed(course) == {"ada 01": texts["done"]}
    assert "its name does not say whose work it is" in capsys.readouterr().out


def test_names_that_no_file_of_ours_can_hold_cost_nobody_anything(course, texts, tmp_path):
    """Collect from a folder on disk, where names may be any bytes, not only UTF-8."""
    there = tmp_path / "there"
    there.mkdir()
    for name, text in ((f"lovelace\udcffada_71_1_{F}", "done"), (f"turingalan_72_2_{F}", "half")):
        (there / name).write_text(texts[text])
    assert collect(course, [there])
    assert placed(course) == {"ada 01": texts["done"], "alan7 01": texts["half"]}


def test_no_name_of_a_file_reaches_the_terminal_as_it_is(course, texts, tmp_path, capsys):
    files = {"turingalan_72_2_x\x1b[2J.pdf": "x", "kovalevskayasofya_73_3_\u202ex.md": "x", "x.\x1b[31m": "x"}
    assert not collect(course, [zipped(tmp_path / "x.zip", files)])
    said = capsys.readouterr().out
    assert "x\\x1b[2J.pdf" in said and "\x1b" not in said and "\u202e" not in said


def test_a_folder_of_a_student_has_a_name_that_a_file_system_takes(course, texts, tmp_path):
    name = "\u738b" * 100 + f"_66_1_{F}"  # 300 bytes
    assert len(name) <= LONGEST_NAME
    assert collect(course, [zipped(tmp_path / "x.zip", {name: texts["done"]})])
    ((student, text),) = placed(course).items()
    assert student.endswith("_66 01") and text == texts["done"]
    longest = Origin("gradescope", "1" * LONGEST_NAME, name="x" * LONGEST_NAME)
    assert len(id_of_stranger(longest)) <= 128  # as many characters as a gradebook in PostgreSQL takes


def test_a_notebook_that_breaks_the_reader_stops_nobody_else(course, texts, tmp_path, monkeypatch):
    def read(path):
        if "worksheets" in path.read_text(encoding="utf-8"):
            raise ZeroDivisionError
        return read_notebook(path)

    monkeypatch.setattr(lessons, "read_notebook", read)
    files = {f"lovelaceada_71_1_{F}": texts["done"], f"turingalan_72_2_{F}": '{"worksheets": []}'}
    assert collect(course, [zipped(tmp_path / "x.zip", files)])
    assert placed(course).keys() == {"ada 01", "alan7 01"}


# A megabyte of the worst input for each pattern that reads students' texts. A quadratic pattern would take hours.
WORST = {
    "blanks": " " * MEGABYTE,
    "underscores": "_" * MEGABYTE,
    "digits": "1" * MEGABYTE,
    "numbers": "_1" * (MEGABYTE // 2),
    "dashes": " - " * (MEGABYTE // 3),
    "brackets": "(" * MEGABYTE,
    "letters": "a" * MEGABYTE,
    "letters and digits": "a1 " * (MEGABYTE // 3),
    "dots": "." * MEGABYTE,
    "dates": "1-1_a_Jan 1, " * (MEGABYTE // 13),
}
AROUND = (
    "{}",
    "{}_1_2_x.ipynb",
    "a{}_1_assignsubmission_file_x",
    "a{}_attempt_2026-01-01-20-00-00_x",
    "1-2 - a{}",
)


@pytest.mark.parametrize("name", WORST)
def test_a_name_of_a_megabyte_takes_no_time(name):
    for form in AROUND:
        path = form.format(WORST[name])
        names = names_of([[path], ["a", path], ["b_1_assignsubmission_file_", path]], {}, {"ada"})
        assert names.origins([path]) == []


@pytest.mark.parametrize("name", WORST)
def test_the_longest_name_of_a_person_takes_no_time(name):
    part = f"{WORST[name][:200]}_66_assignsubmission_file_"
    (origin,) = names_of([[part]], {}).origins([part])
    assert Class([]).find(origin).student is None and len(id_of_stranger(origin)) < LONGEST_NAME


@pytest.mark.parametrize("name", WORST)
def test_a_notebook_of_a_megabyte_of_the_worst_is_placed_with_the_others(course, texts, tmp_path, name):
    """Check that the search for names of exercises in a notebook takes linear time. The search has no time
    limit, and an earlier pattern took quadratic time on spaces.
    """
    worst = WORST[name][:999_000]
    text = notebook_of(worst)
    files = {f"lovelaceada_71_2_{F}": texts["done"], "evil_66_1_x.ipynb": text}
    assert collect(course, [zipped(tmp_path / "x.zip", files)])
    assert placed(course) == {"ada 01": texts["done"], "evil_66 01": text}


def test_lines_of_blanks_are_read_in_time(course, texts, tmp_path):
    source = (" " * 900 + "\n") * 1_000
    text = notebook_of(source + "def softmax(scores):\n    return 1")
    files = {f"lovelaceada_71_2_{SECOND}.ipynb": texts["second"], "turingalan_72_1_x.ipynb": text}
    assert collect(course, [zipped(tmp_path / "x.zip", files)])
    assert placed(course) == {"ada 02": texts["second"], "alan7 01": text}
