"""Tests that the last attempt counts, in whatever order the archives are collected, and that an untouched
notebook replaces no answers.
"""

import nbformat
import pytest
from collected import placed, stamp, zipped

from autograder.grading.collect.collect import collect
from autograder.grading.demo.sample_class import FIRST, SECOND

F = f"{FIRST}.ipynb"


@pytest.fixture
def archive(texts, tmp_path):
    def made(name: str, files: dict[str, str]):
        return zipped(tmp_path / name, {path: texts.get(what, what) for path, what in files.items()})

    return made


def kept(course) -> list[str]:
    return [path.read_text(encoding="utf-8") for path in sorted((course / "earlier").rglob("*.ipynb"))]


def test_an_older_archive_of_canvas_puts_nothing_back(course, texts, archive, capsys):
    first = archive("a.zip", {f"lovelaceada_LATE_71_50001_{F}": "half"})
    second = archive("b.zip", {f"lovelaceada_71_70001_{FIRST}-1.ipynb": "done"})
    collect(course, [first])
    collect(course, [second])
    capsys.readouterr()
    collect(course, [first])
    assert placed(course) == {"ada 01": texts["done"]} and stamp(course, "ada") is None
    assert "older than the one that counts: ada" in capsys.readouterr().out


def test_an_archive_that_was_collected_is_known_where_the_system_tells_no_order(
    course, texts, archive, capsys
):
    name = f"Ada Lovelace_501_assignsubmission_file_/{F}"
    first, second = archive("a.zip", {name: "half"}), archive("b.zip", {name: "done"})
    for one in (first, second, first):
        collect(course, [one])
    assert placed(course) == {"ada 01": texts["done"]}
    assert "collected before; a different one counts now: ada" in capsys.readouterr().out


def test_what_a_teacher_put_in_the_place_stays_until_something_new_comes(course, texts, archive):
    one = archive("a.zip", {f"lovelaceada_71_1_{F}": "half", f"lovelaceada_71_2_{FIRST}-1.ipynb": "done"})
    collect(course, [one])
    (course / "submitted/ada" / FIRST / F).write_text(texts["half"], encoding="utf-8")
    collect(course, [one])
    assert placed(course) == {"ada 01": texts["half"]}
    collect(course, [archive("b.zip", {f"lovelaceada_71_3_{FIRST}-2.ipynb": "stub"})])
    assert placed(course) == {"ada 01": texts["half"]}


def test_an_earlier_attempt_that_a_teacher_took_away_costs_no_other(course, texts, archive):
    attempts = [texts["done"] + "\n" * number for number in range(4)]
    for number, text in enumerate(attempts, start=1):
        if number == 4:
            (course / "earlier/ada" / FIRST / "1.ipynb").unlink()
        collect(course, [archive(f"{number}.zip", {f"lovelaceada_71_{number}_{F}": text})])
    assert kept(course) == attempts[1:3]


def test_a_stamp_that_a_teacher_wrote_stays(course, archive):
    one = archive("a.zip", {f"Ada Lovelace_501_assignsubmission_file_/{F}": "done"})
    collect(course, [one])
    (course / "submitted/ada" / FIRST / "timestamp.txt").write_text("2026-01-01 10:00:00 UTC")
    collect(course, [one])
    assert stamp(course, "ada") == "2026-01-01 10:00:00 UTC"


def test_a_notebook_as_released_replaces_no_answers(course, texts, archive, capsys):
    name = "Ada Lovelace_501_assignsubmission_file_/{}"
    collect(course, [archive("a.zip", {name.format(F): "done"})])
    capsys.readouterr()
    collect(course, [archive("b.zip", {name.format("all/" + F): "stub"})])
    assert placed(course) == {"ada 01": texts["done"]} and kept(course) == [texts["stub"]]
    assert "without answers; one with answers counts: ada" in capsys.readouterr().out


def test_nor_does_it_count_beside_one_with_answers(course, texts, archive):
    files = {"lovelaceada_71_1_Untitled.ipynb": "done", f"lovelaceada_71_2_{F}": "stub"}
    collect(course, [archive("a.zip", files)])
    assert placed(course) == {"ada 01": texts["done"]}


def test_answers_replace_a_notebook_as_released_whatever_else_was_written(course, texts, archive):
    name = f"Ada Lovelace_501_assignsubmission_file_/{F}"
    beside = nbformat.reads(texts["stub"], 4)
    beside.cells.append(nbformat.v4.new_code_cell("def softmax(scores):\n    return scores.softmax(-1)"))
    for number, text in enumerate((texts["stub"], texts["half"], nbformat.writes(beside))):
        collect(course, [archive(f"{number}.zip", {name: text})])
        assert placed(course) == {"ada 01": text}


def test_one_lesson_alone_is_placed_and_others_are_kept_aside_and_named(course, texts, archive, capsys):
    folder = "Ada Lovelace_501_assignsubmission_file_/all.zip"
    inner = archive(
        "inner.zip", {f"notebooks/{F}": "done", f"notebooks/{SECOND}.ipynb": "second"}
    ).read_bytes()
    collect(course, [archive("a.zip", {folder: inner})], lesson=SECOND)
    assert placed(course) == {"ada 02": texts["second"]}
    said = capsys.readouterr().out
    assert f"1  of another lesson; kept under unplaced/: ada ({FIRST})" in said
    assert (course / "unplaced/ada" / FIRST / F).read_text(encoding="utf-8") == texts["done"]


@pytest.mark.parametrize("ending", [".ipynb.txt", ".ipynb.json", ".IPYNB"])
def test_a_notebook_that_a_browser_renamed_is_taken(course, texts, archive, ending):
    assert collect(course, [archive("a.zip", {f"lovelaceada_1_2_{FIRST}{ending}": "done"})])
    assert placed(course) == {"ada 01": texts["done"]}


# By system, a file name that holds half past midnight in the school's time zone.
SCHOOL = {
    "blackboard": f"L_ada_attempt_2026-01-02-00-30-00_{F}",
    "brightspace": f"1-2 - Ada Lovelace - Jan 2, 2026 1230 AM/{F}",
    "brightspace, British": f"1-2 - Ada Lovelace - 2 January, 2026 12:30 AM/{F}",
}


@pytest.mark.parametrize("system", SCHOOL)
def test_times_are_the_schools_and_it_is_said_which(course, archive, capsys, system):
    one = archive("a.zip", {SCHOOL[system]: "done"})
    collect(course, [one], timezone="Europe/Berlin")
    assert stamp(course, "ada") == "2026-01-01 23:30:00 UTC"
    said = capsys.readouterr().out
    assert "in the time zone Europe/Berlin (--timezone)" in said and "due 2026-01-02 01:00 CET" in said
    with (course / "nbgrader_config.py").open("a") as settings:
        settings.write('c.Course.timezone = "America/New_York"\n')
    collect(course, [one])
    assert "in the time zone America/New_York (c.Course.timezone)" in capsys.readouterr().out
    assert stamp(course, "ada") == "2026-01-02 05:30:00 UTC"
