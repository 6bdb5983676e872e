"""Tests that names and texts of students cannot move the cursor, forge a row of a table or reverse words."""

import json
from argparse import Namespace

import pytest

from autograder.cli import main, teach
from autograder.errors import UserError
from autograder.grading.gradebook.table import Row, table
from autograder.printable import printable
from autograder.verdict import WRONG, Verdict

HOSTILE = {
    "an escape": "eve\x1b[1A\x1b[2Kada",
    "a title": "eve\x1b]0;x\x07",
    "a return": "eve\rada",
    "a line": "eve\nada  25  graded",
    "another line": "eve\u2028ada\x85ada\x0bada",
    "backspaces": "eve\x08\x08\x08ada",
    "an escape in one": "eve\x9b2J",
    "turned round": "eve\u202eada\u2066",
    "half a character": "eve\udcff",
}
PLAIN = Namespace(json=False)
every_name = pytest.mark.parametrize("name", HOSTILE.values(), ids=HOSTILE)


@pytest.mark.parametrize(
    "name", ["Ada Lovelace", "山田　太郎", "علی\u200cرضا", "Zoë", "a\\b", "", "✓ 7 of 7"]
)
def test_other_names_stay_as_they_are(name):
    assert printable(name) == name


def row(student: str, problem: str = "") -> Row:
    return Row(student, "01_x", {"q": 1.0}, {"q": 2.0}, problem)


@every_name
def test_a_name_makes_one_row_of_the_table(name):
    honest = table([row("ada"), row("eve")]).splitlines()
    shown = table([row("ada"), row(name)])
    assert all(line.isprintable() for line in shown.split("\n"))
    assert len(shown.splitlines()) == len(honest)
    assert len(table([row("ada"), row("eve", problem=name)]).splitlines()) == len(honest)


@every_name
def test_a_name_in_json_is_whole_and_on_one_line(name):
    text = json.dumps(row(name, name).as_json())
    assert text.isprintable() and text.isascii()
    assert json.loads(text)["student"] == name


@every_name
def test_what_is_said_of_a_file_is_one_line(name, monkeypatch, capsys):
    def refuse(arguments):
        raise UserError(f"{name} cannot be read.")

    monkeypatch.setattr(teach, "_report", refuse)
    assert main(["report", "x"]) == 2
    teach._show_unreadable(PLAIN, name, f"{name} is empty.")
    said = capsys.readouterr().err.split("\n")
    assert len(said) == 3 and all(line.isprintable() for line in said)


@every_name
def test_the_words_of_an_error_are_shown_as_such(name, capsys):
    verdict = Verdict("loops.softmax", WRONG, (), f"ValueError: {name}\nWhy?")
    teach._show_verdict(PLAIN, "answer.py", verdict)
    lines = capsys.readouterr().out.split("\n")
    assert all(line.isprintable() for line in lines)
    assert "ValueError: eve" in lines[2]
