"""Tests that the outputs of a notebook stay small, however many cells it has."""

from nbformat.v4 import new_output

from autograder.grading.safe import outputs
from autograder.grading.safe.outputs import NO_ROOM, Shown


def test_nothing_is_cleaned_once_the_page_is_full(monkeypatch):
    cleaned, clean = [], outputs.clean
    monkeypatch.setattr(outputs, "clean", lambda *args, **more: cleaned.append(1) or clean(*args, **more))
    shown, full = Shown(), [new_output("display_data", data={"text/html": "<hr>" * 60_000})]
    for _ in range(3):
        (note,) = shown.plain_outputs(full)
        assert note.text == NO_ROOM
    assert len(cleaned) == 1
    assert shown.plain_outputs([]) == []
