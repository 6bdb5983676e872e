"""Tests that no work is placed in another student's folder, whatever names people use."""

import csv
import json
from types import SimpleNamespace

import pytest
from collected import add_students, placed, zipped

from autograder.errors import UserError
from autograder.grading.collect.collect import collect
from autograder.grading.collect.names import Origin
from autograder.grading.collect.students import Class
from autograder.grading.demo.sample_class import FIRST

F = f"{FIRST}.ipynb"
ATTEMPT = "attempt_2026-01-01-20-00-00"
TWINS = {"a1": ("Anna", "Meier"), "a2": ("Anna", "Meier")}


@pytest.fixture
def hand_in(course, texts, tmp_path, capsys):
    """A function that collects an archive of the given files. It returns whether everything was placed, and
    what was printed.
    """

    def collected(files: dict[str, str], **how) -> tuple[bool, str]:
        archive = zipped(tmp_path / "x.zip", {name: texts.get(what, what) for name, what in files.items()})
        good = collect(course, [archive], **how)
        return good, capsys.readouterr().out

    return collected


def people(course) -> dict[str, str]:
    with (course / "people.csv").open(encoding="utf-8", newline="") as file:
        return {f"{row['system']} {row['number']}": row["student"] for row in csv.DictReader(file)}


def write_people(course, changes: dict[str, str]) -> None:
    """Write people.csv with these changes, as a teacher would edit it."""
    rows = [f"{key.replace(' ', ',')},,{student}" for key, student in (people(course) | changes).items()]
    (course / "people.csv").write_text("\n".join(["system,number,name,student", *rows]), encoding="utf-8-sig")


def test_two_of_one_name_keep_their_own_work_in_every_archive(course, texts, hand_in):
    add_students(course, TWINS)
    _, said = hand_in({f"meieranna_901_5901_{F}": "half", f"meieranna_902_5902_{F}": "done"})
    assert "meieranna_901 (may be a1 or a2), meieranna_902 (may be a1 or a2)" in said
    hand_in({f"meieranna_902_6902_{FIRST}-1.ipynb": "half"})
    mine = {"meieranna_901 01": texts["half"], "meieranna_902 01": texts["half"]}
    assert placed(course) == mine
    assert [path.parts[-3] for path in (course / "earlier").rglob("*.ipynb")] == ["meieranna_902"]


def test_a_person_says_once_who_is_who_and_what_is_there_goes_with_them(course, texts, hand_in):
    add_students(course, TWINS)
    hand_in({f"meieranna_901_5901_{F}": "half", f"meieranna_902_5902_{F}": "done"})
    write_people(course, {"canvas 901": "a1", "canvas 902": "a2"})
    good, said = hand_in({f"meieranna_901_5901_{F}": "half", f"meieranna_902_7002_{F}": "half"})
    assert good and "meieranna_901 to a1" in said
    assert placed(course) == {"a1 01": texts["half"], "a2 01": texts["half"]}


def test_blind_marking_keeps_participants_apart(course, texts, hand_in):
    blind = "Participant_{}_assignsubmission_file_/" + F
    hand_in({blind.format(4711): "half", blind.format(4712): "done"})
    hand_in({blind.format(4712): "half"})
    expected = {"Participant_4711 01": texts["half"], "Participant_4712 01": texts["half"]}
    assert placed(course) == expected


def test_two_numbers_for_one_student_place_neither_and_are_both_named(course, texts, hand_in):
    add_students(course, {"bob": ("Bob", "Smith")})
    files = {f"smithbob_12_102_{F}": "done", f"smithbob_13_103_{F}": "half"}
    good, said = hand_in(files)
    assert not good and placed(course) == {}
    assert "two numbers for one student, bob: canvas 12 and canvas 13" in said
    assert people(course) == {"canvas 12": "?bob", "canvas 13": "?bob"}
    kept = course / "unplaced/bob" / FIRST
    assert {path.name[:3]: path.read_text(encoding="utf-8") for path in kept.iterdir()} == {
        "12_": texts["done"],
        "13_": texts["half"],
    }
    write_people(course, {"canvas 12": "bob", "canvas 13": "eve"})
    assert hand_in(files)[0]
    assert placed(course) == {"bob 01": texts["done"], "eve 01": texts["half"]}


def test_whoever_takes_a_name_later_takes_no_place(course, texts, hand_in):
    hand_in({f"lovelaceada_12_102_{F}": "done"})
    good, said = hand_in({f"lovelaceada_13_203_{F}": "half"})
    assert not good and "ada: canvas 12 and canvas 13" in said
    assert placed(course) == {"ada 01": texts["done"]}


def test_whoever_changes_their_name_stays_who_they_are(course, texts, hand_in):
    hand_in({f"lovelaceada_12_102_{F}": "half"})
    assert hand_in({f"turingalan_12_203_{F}": "done"})[0]
    assert placed(course) == {"ada 01": texts["done"]}


def test_the_name_of_another_in_moodle_takes_no_place_in_a_later_archive(course, texts, hand_in):
    name = "Ada Lovelace_{}_assignsubmission_file_/" + F
    hand_in({name.format(30001): "done"})
    good, said = hand_in({name.format(30009): "half"})
    assert not good and "ada: moodle 30001 and moodle 30009" in said
    assert placed(course) == {"ada 01": texts["done"]}
    # Another lesson is another assignment, in which Moodle gives new numbers.
    assert hand_in({name.format(30077): "second"})[0]
    assert placed(course)["ada 02"] == texts["second"]


@pytest.mark.parametrize(
    "name", ["ada", "alan7", "\uff4c\uff4f\uff56\uff45\uff4c\uff41\uff43\uff45ada", "ada@example.org"]
)
def test_a_display_name_that_is_an_id_or_looks_like_a_name_is_nobody(course, hand_in, name):
    _, said = hand_in({f"{name}_13_103_{F}": "half"})
    (student,) = {key.split(" ")[0] for key in placed(course)}
    assert student not in ("ada", "alan7") and student.endswith("_13")
    assert "not in the gradebook" in said


@pytest.mark.parametrize(
    "given", ["ADA", "\uff41\uff44\uff41", "\u0430d\u0430"], ids=["case", "width", "Cyrillic"]
)
def test_ids_of_the_system_are_taken_letter_by_letter(course, texts, hand_in, given):
    files = {f"L_ada_{ATTEMPT}_{F}": "done", f"L_{given}_{ATTEMPT}_{F}": "half"}
    hand_in(files)
    found = placed(course)
    assert found.pop("ada 01") == texts["done"] and list(found.values()) == [texts["half"]]


def test_an_id_with_an_underscore_is_not_the_id_behind_it(course, texts, hand_in):
    add_students(course, {"evil_ada": ("E", "A")})
    hand_in({f"L_1_{who}_{ATTEMPT}_{F}": "half" for who in ("evil_ada", "more_ada", "alan7")})
    assert placed(course).keys() == {"evil_ada 01", "more_ada 01", "alan7 01"}


def test_a_match_by_name_alone_is_said_and_remembered(course, hand_in):
    good, said = hand_in({f"lovelaceada_12_102_{F}": "done"})
    assert good and "found only by name; check them once in people.csv: ada (lovelaceada)" in said
    assert people(course) == {"canvas 12": "ada"}
    assert "found only by name" not in hand_in({f"lovelaceada_12_102_{F}": "done"})[1]


@pytest.mark.parametrize(
    "name", ["Gruppe A-Cyd Muster020", "Default group-Cyd Muster020", "Muster020 Cyd", "Cyd Muster020"]
)
def test_names_behind_a_group_and_names_with_digits_are_found(course, hand_in, name):
    add_students(course, {"s020": ("Cyd", "Muster020"), "s021": ("Cyd", "Muster021")})
    assert hand_in({f"{name}_30028_assignsubmission_file_/{F}": "done"})[0]
    assert placed(course).keys() == {"s020 01"}


def test_a_hyphen_in_a_name_is_no_group(course, hand_in):
    add_students(course, {"lena": ("Lena", "Meier"), "al": ("Anna-Lena", "Meier")})
    hand_in({f"Anna-Lena Meier_5_assignsubmission_file_/{F}": "done"})
    assert placed(course).keys() == {"al 01"}


def test_a_strangers_folder_is_never_that_of_a_student(course, texts, hand_in):
    add_students(course, {"ada_12": ("Other", "Person")})
    hand_in({f"ada_12_102_{F}": "half"})
    assert "ada_12 01" not in placed(course) and len(placed(course)) == 1


def test_strangers_are_known_once_the_class_is(course, texts, hand_in):
    name = f"Grace Hopper_7_assignsubmission_file_/{F}"
    hand_in({name: "half"})
    assert placed(course).keys() == {"Grace_Hopper_7 01"}
    add_students(course, {"grace": ("Grace", "Hopper")})
    assert hand_in({name: "done"})[0]
    assert placed(course) == {"grace 01": texts["done"]}


def test_what_is_no_notebook_goes_with_them_too(course, hand_in):
    file = "hoppergrace_7_102_homework.py"
    hand_in({file: "import torch"})
    assert people(course) == {"canvas 7": "hoppergrace_7"}
    add_students(course, {"grace": ("Grace", "Hopper")})
    write_people(course, {"canvas 7": "grace"})
    hand_in({file: "import torch"})
    assert [path.name for path in (course / "unplaced").iterdir()] == ["grace"]


def test_one_number_under_two_names_is_nobodys(course, hand_in):
    files = {
        f"Ada Lovelace_5_assignsubmission_file_/{F}": "done",
        f"Alan Turing_5_assignsubmission_file_/{F}": "half",
    }
    good, said = hand_in(files)
    assert not good and placed(course) == {} and "a number that may be someone else's, " in said


@pytest.mark.parametrize("row", ["canvas,12,x", "canvas,12,x,../up", "canvas,12,x,", "canvas,12,x,.hidden"])
def test_a_file_of_people_that_cannot_be_read_is_refused_in_words(course, hand_in, row):
    (course / "people.csv").write_text(f"system,number,name,student\n{row}\n")
    with pytest.raises(UserError, match=r"people\.csv, line 2"):
        hand_in({f"lovelaceada_12_102_{F}": "done"})
    assert placed(course) == {}


def test_a_spreadsheet_may_write_the_file_with_semicolons(course, hand_in):
    (course / "people.csv").write_bytes("\ufeffsystem;number;name;student\r\ncanvas;12;x;alan7\r\n".encode())
    hand_in({f"lovelaceada_12_102_{F}": "done"})
    assert placed(course).keys() == {"alan7 01"}


def of_gradescope(people: dict[str, tuple[str, str, str]]) -> dict[str, str]:
    """Return an export of Gradescope. `people` maps what each person hands in to their name, id and address."""
    rows = [
        f"submission_{number}: {{':submitters': [{json.dumps(dict(zip(GIVEN, person, strict=True)))}]}}"
        for number, person in enumerate(people.values())
    ]
    files = {f"export/submission_{number}/{F}": what for number, what in enumerate(people)}
    return {"export/submission_metadata.yml": "\n".join(rows), **files}


GIVEN = (":name", ":sid", ":email")
ADA, EVE = ("Ada Lovelace", "ada", "ada@example.org"), ("Eve Evil", "ada", "eve@example.org")


def test_whoever_writes_the_id_of_another_takes_no_place(course, texts, hand_in):
    add_students(course, {"eve": ("Eve", "Evil")})
    files = of_gradescope({"half": ADA, "done": EVE})
    for _ in range(2):
        good, said = hand_in(files)
        assert not good and placed(course) == {"ada 01": texts["half"]}
        assert "someone else's, eve: gradescope eve@example.org (ada and eve); nothing of theirs" in said
    assert people(course) == {"gradescope eve@example.org": "?eve"}
    write_people(course, {"gradescope eve@example.org": "eve"})
    assert hand_in(files)[0] and placed(course) == {"ada 01": texts["half"], "eve 01": texts["done"]}


def test_one_id_under_two_addresses_places_neither_and_both_are_named(course, texts, hand_in):
    files = of_gradescope({"half": ADA, "done": EVE})
    good, said = hand_in(files)
    assert not good and placed(course) == {}
    assert "for one student, ada: gradescope ada@example.org and gradescope eve@example.org" in said
    write_people(course, {"gradescope ada@example.org": "ada", "gradescope eve@example.org": "eve"})
    assert hand_in(files)[0] and placed(course) == {"ada 01": texts["half"], "eve 01": texts["done"]}


def test_one_id_under_two_names_without_addresses_places_neither(course, hand_in):
    good, said = hand_in(of_gradescope({"half": ("Ada", "ada", ""), "done": ("Eve", "ada", "")}))
    assert not good and placed(course) == {} and "ada: gradescope ada; nothing of theirs" in said


# Ids, and names, of two people who are not in the gradebook. In people.csv some of them look alike.
ALIKE = {
    "a space": (("900", "Gil"), ("900\u00a0", "Fay")),
    "an apostrophe": (("!9", "Gil"), ("'!9", "Fay")),
    "a formula": (("x;'=1", "Gil"), ("x;=1", "Fay")),
    "lines": (("900", "Gil\rGood"), ("901", "Fay\nLi, x\u2028")),
}


@pytest.mark.parametrize("address", [True, False])
@pytest.mark.parametrize("what", ALIKE)
def test_collecting_again_swaps_nobody(course, texts, hand_in, what, address):
    (gil, gils), (fay, fays) = ALIKE[what]
    gil, fay = (gils, gil, "gil@x.org" * address), (fays, fay, "fay@x.org" * address)
    files, runs = of_gradescope({"half": gil, "done": fay}), []
    for _ in range(3):
        hand_in(files)
        runs.append((placed(course), people(course)))
    assert runs[0] == runs[1] == runs[2]
    if address or what != "a space":  # one id of two people without addresses is doubtful
        assert sorted(runs[0][0].values()) == sorted([texts["half"], texts["done"]])


@pytest.mark.parametrize(
    "row, why",
    [("canvas,12,x,bob", "canvas 12 has two students"), (f"canvas,13,{'x' * 200_000},bob", "cannot be read")],
)
def test_a_file_of_people_with_a_wrong_row_is_refused_in_words(course, hand_in, row, why):
    (course / "people.csv").write_text(f"system,number,name,student\ncanvas,12,x,ada\n{row}\n")
    with pytest.raises(UserError, match=rf"people\.csv, line 3: .*{why}"):
        hand_in({f"lovelaceada_12_102_{F}": "done"})


def test_an_id_within_a_name_is_no_better_than_the_name():
    rows = [("a1234", "Ada", "Lovelace"), ("b1234", "Bob", "Smith")]
    known = Class(SimpleNamespace(id=i, first_name=f, last_name=n, email="") for i, f, n in rows)
    assert known.find(Origin("moodle", "1", name="b1234 Bob Smith")).student == "b1234"
    assert known.find(Origin("moodle", "1", name="a1234 Bob Smith")).may_be == ("a1234", "b1234")
    assert known.find(Origin("moodle", "1", name="a1234 Somebody")).may_be == ("a1234",)
