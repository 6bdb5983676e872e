"""Tests what is read from the names that five systems give to files, in the forms that occur in practice."""

from datetime import UTC
from types import SimpleNamespace

import pytest

from autograder.grading.collect.names import Origin, gradescope_metadata, names_of
from autograder.grading.collect.students import Class, Match, id_of_stranger
from autograder.grading.submission.files import Refused

CLASS = {
    "ada": ("Ada", "Lovelace"),
    "mary": ("Mary-Ann", "Smith"),
    "jdoe3": ("John", "Doe"),
    "17051339": ("Alan", "Turing"),
    "wang": ("小明", "王"),
    "bob": ("Bob", "Smith"),
}
STUDENTS = Class(
    SimpleNamespace(id=i, first_name=f, last_name=n, email=f"{i}@x.org") for i, (f, n) in CLASS.items()
)
HUB = "https://github.com/"
# The name, whose it is, its time or "late", and where names of this form were seen. All people are invented, and each
# file is a notebook here.
SEEN = {
    "canvas": [
        ("smithbob_340934_208490284_BobsWork.ipynb", "bob", None),  # HUB/mikewesthad/canvas-unzipper
        ("doejohn_LATE_956227_46792176_project2-1.ipynb", "jdoe3", "late"),  # "grsdetools", canvas rename.py
        ("doejohn_987122_46871556_Project 4.4 (1).ipynb", "jdoe3", None),  # the same
        (
            "smithmaryann_123456_1234567_What They Called It.ipynb",
            "mary",
            None,
        ),  # a grader that reads the user id
        ("王小明_4_7_01.ipynb", "wang", None),  # HUB/instructure/canvas-lms/blob/master/lib/content_zipper.rb
        ("LATE_anon_x1Y2z_9_01.ipynb", "anon_x1Y2z", "late"),  # the same: without a name, LATE stands first
        ("anon_x1Y2z_9_01.ipynb", "anon_x1Y2z", None),  # the same
        ("lovelace--ada_8_9_01.ipynb", "ada", None),  # HUB/instructure/canvas-lms, its spec of 2013
    ],
    "moodle": [
        # HUB/moodle/moodle/blob/main/mod/assign/classes/downloader.php: in folders, in one name, blind, by group
        ("Ada Lovelace_1234_assignsubmission_file/01.ipynb", "ada", None),
        ("Ada Lovelace_1234_assignsubmission_file_01.ipynb", "ada", None),
        ("Participant_38950_assignsubmission_file/01.ipynb", "Participant_38950", None),
        ("C-grp-06-List-01_28387_assignsubmission_file/01.ipynb", "C-grp-06-List-01_28387", None),
        # courses' folders as their scripts name them
        ("Lovelace Ada_101_assignsubmission_file/sub/01.ipynb", "ada", None),
        ("Lovelace, Ada_101_assignsubmission_file_/01.ipynb", "ada", None),
        ("ADA LOVELACE_11194447_assignsubmission_file_/01.ipynb", "ada", None),
        ("Ada LOVELACE (countess)_1446817_assignsubmission_file_/lab/01.ipynb", "ada", None),
        ("TURING,ALAN-17051339_6130510_assignsubmission_file_/17051339_1/01.ipynb", "17051339", None),
    ],
    "blackboard": [
        # HUB/kwurst/bb-file-cleanup/blob/master/test_bbcleanup.py
        (
            "Chapter 13 Problems_jdoe3_attempt_2014-04-30-21-02-38_chapter 13.ipynb",
            "jdoe3",
            "2014-04-30 21:02",
        ),
        # scripts that unpack it: a title of several words, with a number, with underscores; the id again in the file
        (
            "Biostatica week 4_17051339_attempt_2017-12-09-13-41-31_B_17051339.ipynb",
            "17051339",
            "2017-12-09 13:41",
        ),
        ("HW 99_jdoe3_attempt_2017-07-13-20-41-16_HW1.ipynb", "jdoe3", "2017-07-13 20:41"),
        ("Project1_17051339_attempt_2017-09-15-19-05-17_utilities.ipynb", "17051339", "2017-09-15 19:05"),
        (
            "Coursework submission_jdoe3_attempt_2021-12-10-22-29-43_mips_cpu.ipynb",
            "jdoe3",
            "2021-12-10 22:29",
        ),
        ("CW_2_cw2 36_attempt_2019-12-18-02-05-21_x.ipynb", "cw2_36", "2019-12-18 02:05"),  # a group
    ],
    "brightspace": [
        # HUB/saritonin/academic-shell-scripts/blob/main/rename_and_move.sh, which covers groups as well
        ("397063-2557369 - Mary-Ann Smith - Sep 24, 2024 926 PM/01.ipynb", "mary", "2024-09-24 21:26"),
        ("397063-2557369 - Group 3 - John Doe - Sep 24, 2024 926 PM/01.ipynb", "jdoe3", "2024-09-24 21:26"),
        # HUB/cschellenberger/brightspace-assessment-rename, renamer.py
        ("104860-170649 - . Ada Lovelace - Nov 20, 2025 1059 PM/01.ipynb", "ada", "2025-11-20 22:59"),
        # HUB/OfficeCoffee/GradingFileProject/blob/main/Grader.py
        ("123456-123456 - Ada Lovelace - Dec 7, 2024 915 PM - Main.ipynb", "ada", "2024-12-07 21:15"),
        ("123456-123456 - Lovelace, Ada - Dec 7, 2024 915 PM - Main.ipynb", "ada", "2024-12-07 21:15"),
        # scripts of courses: a login before the name, a number before it, no AM or PM
        ("202020-29393 - jdoe3 John Doe - Sep 20, 2024 1035 PM/01.ipynb", "jdoe3", "2024-09-20 22:35"),
        (
            "12345-12345 - 17051339 - Alan Turing- Feb 11, 2016 205 AM - 01.ipynb",
            "17051339",
            "2016-02-11 02:05",
        ),
        ("12345-123456_A00123456_Ada Lovelace_Mar 5, 2024 1523_01.ipynb", "ada", "2024-03-05 15:23"),
    ],
}


def origins(path: str, metadata: dict | None = None, *others: str) -> list:
    paths = [one.split("/") for one in (path, *others)]
    return names_of(paths, metadata or {}, STUDENTS.ids).origins(path.split("/"))


def whose(path: str, metadata: dict | None = None) -> list[tuple]:
    found = origins(path, metadata or {})
    return [
        (
            STUDENTS.find(one).student or id_of_stranger(one),
            "late" if one.late else one.time and f"{one.time:%Y-%m-%d %H:%M}",
        )
        for one in found
    ]


@pytest.mark.parametrize("name, student, time", [one for names in SEEN.values() for one in names])
def test_a_name_that_was_seen_tells_whose_it_is_and_when(name, student, time):
    assert whose(name) == [(student, time)]


# HUB/ucbds-infra/otter-grader, HUB/djhuffman/gradescope_renaming_files, and scripts of courses. A submission may have
# one submitter, several or none; a submitter may have an id, an address or neither. Some ids are numbers, not text, and
# some keys are not needed.
EXPORT = b"""
submission_11: {":submitters": [{":name": Ada Lovelace, ":sid": ada, ":email": a@b.org}], ":score": 1.0, ":history": []}
submission_12: {":submitters": [{":name": John Doe, ":sid": "", ":email": JDoe3@x.org}], ":status": processed}
submission_13: {":submitters": [{":name": Bob Smith, ":sid": "17051339"}, {":name": Mary-Ann Smith, ":sid": null}]}
submission_14: {":submitters": [{":sid": 17051339}]}
submission_15: {":submitters": []}
submission_16: {":submitters": [{":name": Grace Hopper, ":sid": "901", ":email": g@h.org}], ":created_at": "x"}
"""


@pytest.mark.parametrize(
    "number, students",
    [
        (11, "ada"),
        (12, "jdoe3"),
        (13, "17051339 mary"),
        (14, "17051339"),
        (15, ""),
        (16, "Grace_Hopper_g@h.org"),
    ],
)
def test_an_export_of_gradescope_tells_whose_a_folder_is(number, students):
    path = f"assignment_7023745_export/submission_{number}/src/01.ipynb"
    assert [student for student, _ in whose(path, gradescope_metadata(EXPORT))] == students.split()


# What a student's output can look like in the metadata of the whole class.
OUTPUTS = [
    "!binary |-\n    //8=",
    "!!binary é",
    "2026-02-31",
    "!ruby/object:Set {hash: {a: true}}",
    "!!int x",
    "{[1]: x}",
]


@pytest.mark.parametrize("output", OUTPUTS)
def test_no_output_of_one_student_costs_the_places_of_all(output):
    shared = "submission_17: {':submitters': &a [{':sid': ada}]}\nsubmission_18: {':submitters': *a}\n"
    metadata = gradescope_metadata(EXPORT + f"{shared}x:\n  y: {output}\n".encode())
    for number, student in {11: "ada", 12: "jdoe3", 17: "ada", 18: "ada"}.items():
        assert [one for one, _ in whose(f"submission_{number}/01.ipynb", metadata)] == [student]


def test_times_of_gradescope_are_read_with_their_zones():
    for text in (
        "2026-01-01 10:00:00.500000000 -08:00",
        "2026-01-01 18:00:00.5 Z",
        "2026-01-01T18:00:00+00:00",
    ):
        data = f"submission_1: {{':submitters': [{{':sid': ada}}], ':created_at': {text}}}"
        (origin,) = origins("submission_1/01.ipynb", gradescope_metadata(data.encode()))
        assert origin.time.astimezone(UTC).hour == 18


@pytest.mark.parametrize("data", [b"", b"a: [", b"\xff\xff", b"- a", b"x: " + b"[" * 10_000])
def test_metadata_that_cannot_be_read_are_refused(data):
    with pytest.raises(Refused):
        gradescope_metadata(data)


def test_names_and_ids_are_the_same_after_people_csv():
    origin = Origin("gradescope", "900\u00a0", (" ada ", "\t"), "Fay\rLi\u200b\ud800 \x00x")
    assert origin == Origin("gradescope", "900", ("ada",), "Fay Li x")
    assert "\ud800" not in Origin("gradescope", "\ud800").user


def test_no_other_character_stands_for_a_letter_of_an_id_or_address():
    known = Class([SimpleNamespace(id="Kay", first_name="K", last_name="L", email="nikola@x.org")])
    for text in ("\u212aay", "ni\u212aola@x.org"):
        assert known.find(Origin("gradescope", "1", (text,))) == Match()
    assert known.find(Origin("gradescope", "1", ("NIKOLA@x.org",))) == Match("Kay")


def test_two_of_one_name_are_nobody_in_particular():
    twins = Class(SimpleNamespace(id=i, first_name="Wei", last_name="Li", email="") for i in ("wei1", "wei2"))
    (origin,) = origins("Wei Li_5_assignsubmission_file/01.ipynb")
    assert twins.find(origin) == Match(may_be=("wei1", "wei2")) and id_of_stranger(origin) == "Wei_Li_5"


def test_a_name_is_known_however_its_letters_are_put_together():
    author = Class(
        [SimpleNamespace(id="k\u00e4te", first_name="K\u00e4te", last_name="M\u00fcller", email=None)]
    )
    (origin,) = origins("Ka\u0308te Mu\u0308ller_5_assignsubmission_file/01.ipynb")
    assert author.find(origin).student == "k\u00e4te"


@pytest.mark.parametrize("date", ["2014-13-30", "0001-01-01", "9999-12-31"])
def test_no_time_is_made_up_or_too_far_for_a_zone(date):
    (origin,) = origins(f"HW_jdoe3_attempt_{date}-23-59-59_x.ipynb")
    assert origin.time is None


# A system's name for the work of a person, and for the work of a person whose own name makes it ambiguous.
FORGED = {
    "another's number": [
        "John Doe_3_assignsubmission_file",
        "John Doe_3_assignsubmission_file_8_assignsubmission_file",
    ],
    "an earlier time": [
        "1-2 - A B - Jan 3, 2026 830 PM",
        "1-2 - A B - Jan 1, 2026 830 PM - Jan 3, 2026 830 PM",
    ],
}


@pytest.mark.parametrize("name", FORGED)
def test_a_name_that_can_be_read_in_two_ways_is_nobodys(name):
    good, forged = FORGED[name]
    for inside in ("01.ipynb", f"{good}_01.ipynb"):
        assert len(origins(f"{good}/{inside}")) == 1
        assert origins(f"{forged}/{inside}", None, f"{good}/01.ipynb") == []


OTHERS = {
    "canvas": "doejohn_3_4_01.ipynb",
    "moodle": "John Doe_3_assignsubmission_file_01.ipynb",
    "blackboard": "HW_jdoe3_attempt_2026-01-01-20-00-00_01.ipynb",
    "brightspace": "1-2 - John Doe - Jan 1, 2026 830 PM - 01.ipynb",
}


@pytest.mark.parametrize("other", OTHERS)
@pytest.mark.parametrize("system", OTHERS)
def test_nobody_hands_in_for_another_by_the_name_of_a_file(system, other):
    mine = (
        OTHERS[system].replace("John Doe", "Bob Smith").replace("doejohn", "smithbob").replace("jdoe3", "bob")
    )
    for path in (mine.replace("01.ipynb", OTHERS[other]), mine.replace("01.ipynb", f"x.zip/{OTHERS[other]}")):
        found = [STUDENTS.find(origin).student for origin in origins(path, None, OTHERS[system])]
        # In these systems' own names it would be unclear which part is whose.
        unclear = system == other in ("moodle", "brightspace") and "/" not in path
        assert found == ([] if unclear else ["bob"])
