"""Tests that archives of five systems are sorted into a course, and that nothing is lost silently."""

import errno
import os
import stat
import unicodedata
import zipfile
from datetime import UTC, datetime

import nbformat
import pytest
from collected import placed, stamp, zipped

from autograder.errors import UserError
from autograder.grading.collect import archives, lessons
from autograder.grading.collect.collect import _Sorter, collect
from autograder.grading.demo.sample_class import FIRST, SECOND
from autograder.grading.gradebook.open_course import open_course
from autograder.grading.submission.find import digest, find_submissions

HERE = datetime.now().astimezone().strftime("%z")


def utc(text: str) -> str:
    time = datetime.strptime(f"{text} {HERE}", "%Y-%m-%d %H:%M %z")
    return f"{time.astimezone(UTC):%Y-%m-%d %H:%M:%S} UTC"


YML = """
submission_11:
  :submitters:
  - :name: Ada Lovelace
    :sid: ada
    :email: ada@example.org
  - :name: Alan Turing
    :sid:
    :email: alan7@example.org
  :created_at: 2026-01-01 22:10:00.5 Z
submission_12:
  :submitters: [{":name": Sofya Kovalevskaya, ":sid": sofya}]
  :created_at: 2026-01-03 22:10:00 Z
"""
F = f"{FIRST}.ipynb"
# Each system's archive of the same class: ada hands in twice, and only the second is done; alan7 hands in half,
# late; sofya another lesson.
SYSTEMS = {
    "canvas": {
        f"lovelaceada_71_901_{F}": "half",
        f"lovelaceada_71_950_{FIRST}-1.ipynb": "done",
        f"turingalan_LATE_72_902_{FIRST} (1).ipynb": "half",
        "kovalevskayasofya_73_903_homework_2_2026.ipynb": "second",
    },
    "moodle": {
        f"Ada Lovelace_501_assignsubmission_file_/{F}": "done",
        f"Alan Turing_502_assignsubmission_file_{F}": "half",
        "Sofya Kovalevskaya_503_assignsubmission_file/Untitled.ipynb": "second",
    },
    "blackboard": {
        f"Lesson_1_ada_attempt_2026-01-01-20-00-00_{F}": "half",
        f"Lesson_1_ada_attempt_2026-01-01-22-10-00_{F}": "done",
        "Lesson_1_ada_attempt_2026-01-01-22-10-00.txt": "stub",
        f"Lesson_1_alan7_attempt_2026-01-03-22-10-00_{F}": "half",
        "Lesson_1_sofya_attempt_2026-01-01-22-10-00_mine.ipynb": "second",
    },
    "brightspace": {
        "index.html": "stub",
        f"123-456 - Ada Lovelace - Jan 1, 2026 830 PM/{F}": "half",
        f"123-456 - Ada Lovelace - Jan 1, 2026 1010 PM/{F}": "done",
        f"124-456 - Alan Turing- Jan 3, 2026 1010 PM - {F}": "half",
        "125-456 - Sofya Kovalevskaya - Jan 1, 2026 1010 PM/x.ipynb": "second",
    },
    "gradescope": {
        "assignment_9_export/submission_metadata.yml": YML,
        f"assignment_9_export/submission_11/{F}": "done",
        "assignment_9_export/submission_12/x.ipynb": "second",
    },
}


@pytest.mark.parametrize("system", SYSTEMS)
@pytest.mark.parametrize("unpacked", [False, True], ids=["zip", "folder"])
def test_each_systems_archive_finds_its_places(course, texts, tmp_path, system, unpacked, capsys):
    archive = zipped(
        tmp_path / "x.zip", {name: texts.get(what, what) for name, what in SYSTEMS[system].items()}
    )
    if unpacked:
        with zipfile.ZipFile(archive) as file:
            file.extractall(tmp_path / "unpacked")
    assert collect(course, [tmp_path / "unpacked" if unpacked else archive])
    alan = "done" if system == "gradescope" else "half"  # on Gradescope, alan7 hands in together with ada
    expected = {"ada 01": texts["done"], "alan7 01": texts[alan], "sofya 02": texts["second"]}
    assert placed(course) == expected
    late = {
        "canvas": "2026-01-02 00:00:01 UTC",
        "moodle": None,
        "blackboard": utc("2026-01-03 22:10"),
        "brightspace": utc("2026-01-03 22:10"),
        "gradescope": "2026-01-01 22:10:00 UTC",
    }
    assert stamp(course, "alan7") == late[system]
    assert "0 files could not be placed" in capsys.readouterr().out


@pytest.mark.parametrize("system", SYSTEMS)
def test_an_archive_that_is_given_again_changes_nothing_that_a_grade_depends_on(
    course, texts, tmp_path, system
):
    files = {name: texts.get(what, what) for name, what in SYSTEMS[system].items()}
    archive, digests = zipped(tmp_path / "x.zip", files), []
    for _ in range(2):
        collect(course, [archive])
        digests.append({one: digest(one) for one in find_submissions(course, None, [FIRST, SECOND])})
    assert digests[0] == digests[1] and len(digests[0]) == 3


def test_what_comes_again_replaces_the_earlier_one_which_is_kept(course, texts, tmp_path, capsys):
    names = {"half": "71_901", "done": "71_950"}
    for what, numbers in names.items():
        collect(course, [zipped(tmp_path / f"{what}.zip", {f"lovelaceada_{numbers}_{F}": texts[what]})])
    assert placed(course) == {"ada 01": texts["done"]}
    assert [path.read_text() for path in (course / "earlier").rglob("*.ipynb")] == [texts["half"]]
    collect(course, [tmp_path / "done.zip"])
    assert "1 as before" in capsys.readouterr().out
    for what, hour in {"done": "22", "half": "20"}.items():
        collect(
            course, [zipped(tmp_path / "x.zip", {f"L_ada_attempt_2026-01-01-{hour}-00-00_{F}": texts[what]})]
        )
    assert placed(course) == {"ada 01": texts["done"]} and stamp(course, "ada") == utc("2026-01-01 22:00")
    collect(course, [zipped(tmp_path / "x.zip", {f"L_ada_attempt_2026-01-02-20-00-00_{F}": texts["half"]})])
    kept = course / "earlier/ada" / FIRST
    assert {path.name for path in kept.iterdir()} == {"1.ipynb", "2.ipynb", "2.txt"}
    assert (kept / "2.txt").read_text() == utc("2026-01-01 22:00")


def test_whoever_cannot_be_placed_is_named(course, texts, tmp_path, capsys):
    stripped = nbformat.reads(texts["second"], 4)
    for number, cell in enumerate(stripped.cells):
        cell.metadata, cell.id = {}, f"x{number}"
    files = {
        f"Ada Lovelace_1_assignsubmission_file_/{F}": texts["done"],
        f"Wei Zhang_2_assignsubmission_file_/{F}": texts["done"],
        f"Wei Zhang_3_assignsubmission_file_/{F}": texts["half"],
        "Alan Turing_4_assignsubmission_file_/essay.pdf": "%PDF",
        "Sofya Kovalevskaya_5_assignsubmission_file_/homework.ipynb": nbformat.writes(stripped),
        "Nobody Knows_6_assignsubmission_file_/homework.ipynb": texts["broken"],
        f"{F}": texts["done"],
        f"__MACOSX/Ada Lovelace_1_assignsubmission_file_/._{F}": "x",
    }
    assert not collect(course, [zipped(tmp_path / "x.zip", files)])
    assert placed(course).keys() == {"ada 01", "Wei_Zhang_2 01", "Wei_Zhang_3 01", "sofya 02"}
    said = capsys.readouterr().out
    for words in (
        "not in the gradebook; each is placed under this name (write in people.csv who it is): "
        "Wei_Zhang_2, Wei_Zhang_3, Nobody_Knows_6",
        "not a notebook; kept under unplaced/: alan7 (essay.pdf)",
        "homework.ipynb: nothing in it says which lesson it is (Nobody_Knows_6)",
        f"not placed: {F}: its name does not say whose work it is",
        "3 files could not be placed",
    ):
        assert words in said


# The files that a student hands in, the one that counts, and part of the expected message.
ONE = "Sofya Kovalevskaya_5_assignsubmission_file"
ODD = {
    "folders in folders": ({"a/b/c/d/e.ipynb": "done"}, "done", ""),
    "a zip with a folder": (
        {"homework.zip": {"week 1/e.ipynb": "done", "week 1/data.csv": "x"}},
        "done",
        "with a notebook; left in the archive: .csv",
    ),
    "a zip in a zip": ({"homework.zip": {"more.zip": "x"}}, None, "unplaced/: sofya (more.zip)"),
    "an empty zip": ({"homework.zip": {}}, None, "unplaced/: sofya (homework.zip)"),
    "a damaged zip": ({"homework.zip": "PK"}, None, "unplaced/: sofya (homework.zip)"),
    "a PDF beside it": (
        {"essay.pdf": "x", "e.ipynb": "done"},
        "done",
        "with a notebook; left in the archive: .pdf",
    ),
    "a text alone": ({"onlinetext.html": "x"}, None, "unplaced/: sofya (onlinetext.html)"),
    "many files": ({f"{i}.py": "x" for i in range(9)}, None, "sofya (7.py), and 1 more"),
    "two notebooks": (
        {"a.ipynb": "half", "b.ipynb": "done"},
        "done",
        "more than one notebook: the last counts",
    ),
    "one notebook twice": (
        {"a.ipynb": "done", "b.ipynb": "done"},
        "done",
        "1  not the last of several: sofya",
    ),
    "checkpoints": (
        {".ipynb_checkpoints/a.ipynb": "half", "a.ipynb": "done"},
        "done",
        "1  hidden, or from the system itself",
    ),
    "of macOS": (
        {"__MACOSX/._a.ipynb": "half", ".DS_Store": "x", "a.ipynb": "done"},
        "done",
        "2  hidden, or from the system itself",
    ),
    "umlauts taken apart": ({"Au\u0308ßerung.ipynb": "done"}, "done", ""),
    "an export of Gradescope": (
        {"submission_metadata.yml": YML, "submission_11/a.ipynb": "done"},
        "done",
        "with a notebook; left in the archive: .yml",
    ),
}


@pytest.mark.parametrize("name", ODD)
def test_whatever_a_student_hands_in_is_accounted_for(course, texts, tmp_path, capsys, name):
    files, counts, words = ODD[name]
    packed = {}
    for file, what in files.items():
        if isinstance(what, dict):
            inner = zipped(tmp_path / "inner.zip", {one: texts.get(text, text) for one, text in what.items()})
            what = inner.read_bytes()
        packed[f"{ONE}/{file}"] = texts.get(what, what) if isinstance(what, str) else what
    assert collect(course, [zipped(tmp_path / "x.zip", packed)]) == (counts is not None)
    assert placed(course) == ({"sofya 01": texts[counts]} if counts else {})
    said = capsys.readouterr().out
    assert words in said and (words or len(said.splitlines()) == 7), said
    kept = [path.read_text(encoding="utf-8") for path in (course / "earlier").rglob("*.ipynb")]
    assert kept == ([texts["half"]] if name == "two notebooks" else [])


def test_names_that_do_not_say_how_they_are_written_are_read(course, texts, tmp_path):
    with open_course(course).gradebook as book:
        book.add_student("kaete", first_name="Käte", last_name="Müller")
    name = unicodedata.normalize("NFD", f"Käte Müller_7_assignsubmission_file/{F}").encode()
    archive = zipped(tmp_path / "x.zip", {"?" * len(name): texts["done"]})
    archive.write_bytes(archive.read_bytes().replace(b"?" * len(name), name))
    assert collect(course, [archive])
    assert placed(course).keys() == {"kaete 01"}


def test_a_byte_order_mark_hides_no_lesson(course, texts, tmp_path):
    collect(course, [zipped(tmp_path / "x.zip", {"lovelaceada_1_2_mine.ipynb": "\ufeff" + texts["second"]})])
    assert placed(course).keys() == {"ada 02"}


def test_a_damaged_notebook_is_of_the_lesson_of_the_others_so_that_it_gets_a_page(course, texts, tmp_path):
    files = {f"lovelaceada_1_2_{F}": texts["done"], "turingalan_3_4_x.ipynb": texts["broken"]}
    assert collect(course, [zipped(tmp_path / "x.zip", files)])
    assert placed(course) == {"ada 01": texts["done"], "alan7 01": texts["broken"]}


def test_a_hostile_archive_writes_nothing_outside_and_ends(course, texts, tmp_path, capsys):
    before = set(tmp_path.rglob("*"))
    archive = tmp_path / "x.zip"
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED) as file:
        file.writestr(f"../../../evil_1_2_{F}", texts["done"])
        file.writestr(f"/etc/evil_3_4_{F}", texts["done"])
        file.writestr(f"..\\..\\evil_5_6_{F}", texts["done"])
        file.writestr(f"..._7_8_{F}", texts["done"])
        file.writestr(f"bomb_9_1_{F}", b" " * (archives.MOST_BYTES + 1))
        link = zipfile.ZipInfo(f"link_10_2_{F}")
        link.external_attr = (stat.S_IFLNK | 0o777) << 16
        file.writestr(link, "/etc/passwd")
        nested = zipped(tmp_path / "y.zip", {f"../{F}": texts["done"]}).read_bytes()
        file.writestr("nested_11_3_x.zip", nested)
        file.writestr("../../people_12_4_../../x.py", "import this")
    assert not collect(course, [archive])
    strangers = ("evil_1", "evil_3", "evil_5", "7", "nested_11")
    assert placed(course).keys() == {f"{name} 01" for name in strangers}
    changed = set(tmp_path.rglob("*")) - before - {archive, tmp_path / "y.zip"}
    rooms = {course / name for name in ("submitted", "unplaced", ".collected", ".grading", "people.csv")}
    assert all(rooms & {path, *path.parents} for path in changed)
    said = capsys.readouterr().out
    assert "it is larger than" in said and "it is a link" in said
    (tmp_path / "no.zip").write_text("no")
    with pytest.raises(UserError, match="not a zip archive"):
        collect(course, [tmp_path / "no.zip"])


@pytest.mark.parametrize("top", ["", "assignment_1_export/"])
def test_who_is_who_on_gradescope_is_not_for_a_student_to_say(course, texts, tmp_path, top):
    own = YML.replace("sofya", "SOFYA").replace(": ada", ": sofya").replace("SOFYA", "ada")
    files = {
        f"{top}submission_11/submission_metadata.yml": own,
        f"{top}submission_11/{F}": "done",
        f"{top}submission_12/{F}": "half",
        f"{top}submission_metadata.yml": YML,
    }
    packed = {name: texts.get(text, text) for name, text in files.items()}
    packed |= {"__MACOSX/._x": "x", "how to unpack this.txt": "x"}
    assert collect(course, [zipped(tmp_path / "x.zip", packed)])
    everyone = {"ada 01": texts["done"], "alan7 01": texts["done"], "sofya 01": texts["half"]}
    assert placed(course) == everyone
    del packed[f"{top}submission_metadata.yml"]
    assert not collect(course, [zipped(tmp_path / "x.zip", packed)])
    del packed[f"{top}submission_12/{F}"]
    assert collect(course, [zipped(tmp_path / "x.zip", packed | {f"{top}submission_metadata.yml": YML})])
    assert placed(course) == everyone


def test_metadata_that_cannot_be_read_stop_it_with_their_name(course, texts, tmp_path):
    files = {"submission_metadata.yml": YML + "x: [", f"submission_11/{F}": texts["done"]}
    with pytest.raises(UserError, match=r"x\.zip: submission_metadata\.yml.* cannot be read: it is damaged"):
        collect(course, [zipped(tmp_path / "x.zip", files)])
    assert placed(course) == {}


def test_the_archive_of_a_class_that_is_too_large_is_named(course, texts, tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(archives.Entry.read, "__defaults__", (500_000,))
    inner = zipped(tmp_path / "1.zip", {f"lovelaceada_1_2_{F}": texts["half"]}).read_bytes()
    large = zipped(tmp_path / "2.zip", {f"turingalan_3_4_{F}": texts["half"], "x": os.urandom(500_000)})
    archive = zipped(tmp_path / "x.zip", {"1.zip": inner, "2.zip": large.read_bytes()})
    assert not collect(course, [archive])
    assert placed(course) == {"ada 01": texts["half"]}
    assert "not placed: 2.zip: it is an archive that is larger than" in capsys.readouterr().out


def no_space(path: str):
    """Return a function in place of one that writes to its second argument. It fails if `path` is in it."""

    def write(source, target, *_):
        if path in str(target):
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(target))
        target.write_bytes(source.read_bytes())

    return write


def test_a_full_disk_takes_no_time_stamp(course, texts, tmp_path, monkeypatch):
    first, second = (
        zipped(tmp_path / f"{day}.zip", {f"L_ada_attempt_2026-01-0{day}-22-10-00_{F}": texts[what]})
        for day, what in ((1, "half"), (2, "done"))
    )
    collect(course, [first])
    for fails in (
        ("shutil.copyfile", no_space("/submitted/")),
        ("write_whole", lambda *_: no_space("")(0, "")),
    ):
        with monkeypatch.context() as patch:
            patch.setattr(f"autograder.grading.collect.place.{fails[0]}", fails[1])
            with pytest.raises(UserError, match="No space left on device"):
                collect(course, [second])
        assert placed(course) == {"ada 01": texts["half"]} and stamp(course, "ada") == utc("2026-01-01 22:10")
    assert collect(course, [second])
    assert placed(course) == {"ada 01": texts["done"]} and stamp(course, "ada") == utc("2026-01-02 22:10")


def test_a_full_disk_stops_it_with_one_sentence(course, texts, tmp_path, monkeypatch):
    archive = zipped(tmp_path / "x.zip", {f"lovelaceada_1_2_{F}": texts["done"]})
    with monkeypatch.context() as patch:
        patch.setattr(_Sorter, "_keep", lambda *_: no_space("")(0, "a file"))
        with pytest.raises(UserError, match=r"a file: No space left on device\. .*collect again"):
            collect(course, [archive])
    assert not list(course.glob(".collect-*")) and collect(course, [archive])


def test_on_a_machine_that_is_too_busy_nothing_is_collected(course, texts, tmp_path, monkeypatch):
    def read_limited(*_):
        raise TimeoutError("this machine is too busy to read it")

    monkeypatch.setattr(lessons, "read_limited", read_limited)
    archive = zipped(
        tmp_path / "x.zip", {name: texts.get(what, what) for name, what in SYSTEMS["canvas"].items()}
    )
    with pytest.raises(UserError, match=r"too busy to read .*Nothing was collected; run the command again"):
        collect(course, [archive])
    assert placed(course) == {}
