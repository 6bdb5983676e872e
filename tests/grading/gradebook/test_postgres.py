"""Tests a gradebook on a real Postgres server, which is started here on loopback."""

import os
import re
import shutil
import socket
import subprocess
import sys
from pathlib import Path

import pytest
from sqlalchemy import create_engine, text
from term import add_to_settings

from autograder.grading.demo.hand_in import hand_in
from autograder.grading.demo.sample_class import FIRST, SOFTMAX, STUB, WRITTEN, SampleSubmission
from autograder.grading.grade import grade
from autograder.grading.gradebook.open_course import open_course, quiet
from autograder.grading.sandbox.sandbox import why_no_sandbox

PROGRAMS = max(Path("/usr/lib/postgresql").glob("*/bin/initdb"), default=None)
CLASS = (
    SampleSubmission("ada", answers={SOFTMAX: "SMX-01"}, written=WRITTEN),
    SampleSubmission("bo", STUB),
    SampleSubmission("cy", file=""),
)
pytestmark = [
    pytest.mark.skipif(
        PROGRAMS is None, reason="no Postgres server is installed (on Debian: apt install postgresql)"
    ),
    pytest.mark.skipif(bool(why_no_sandbox()), reason=why_no_sandbox()),
]


def as_nobody_special(*command: str) -> None:
    """Run a Postgres program as an ordinary user, because Postgres refuses to run as root."""
    user = ["runuser", "-u", "postgres", "--"] if os.getuid() == 0 else []
    subprocess.run([*user, *command], check=True, capture_output=True, timeout=600)


@pytest.fixture(scope="module")
def server():
    """The URL of a database on a new server, which listens on loopback only and is stopped after the tests."""
    # subtle: not under pytest's folder, which the server's user may not enter.
    folder = Path(f"/tmp/postgres-of-{os.getpid()}")
    folder.mkdir(mode=0o700)
    try:
        if os.getuid() == 0:
            shutil.chown(folder, "postgres", "postgres")
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        programs, data = PROGRAMS.parent, str(folder / "data")
        as_nobody_special(
            str(programs / "initdb"), "-D", data, "-U", "teacher", "--auth", "trust", "--no-sync"
        )
        options = f"-p {port} -c listen_addresses=127.0.0.1 -c unix_socket_directories={folder}"
        start = (
            str(programs / "pg_ctl"),
            "-D",
            data,
            "-w",
            "-l",
            str(folder / "log"),
            "-o",
            options,
            "start",
        )
        as_nobody_special(*start)
        try:
            yield f"postgresql://teacher@127.0.0.1:{port}/postgres"
        finally:
            as_nobody_special(str(programs / "pg_ctl"), "-D", data, "-m", "immediate", "stop")
    finally:
        shutil.rmtree(folder)


def test_the_same_grades_on_a_server(server, empty_course, tmp_path):
    plain, served = (Path(shutil.copytree(empty_course, tmp_path / name)) for name in ("plain", "served"))
    with (served / "nbgrader_config.py").open("a") as config:
        config.write(f"\nc = get_config()\nc.CourseDirectory.db_url = {server!r}\n")
    (served / "gradebook.db").unlink()
    with quiet(served / "grading.log"):
        made = open_course(served).generate_assignment(FIRST, force=True)
    assert made["success"], made
    for folder in (plain, served):
        for work in CLASS:
            hand_in(folder, work)
    assert grade(served, FIRST) == grade(plain, FIRST)
    assert not (served / "gradebook.db").exists()
    hand_in(served, SampleSubmission("bo", written=WRITTEN))
    again = {row.student: row for row in grade(served, FIRST)}
    assert again["bo"].total > again["ada"].total > 0


def test_a_gradebook_that_moves_keeps_what_was_given_by_hand(server, first_course, request, tmp_path):
    """Run move_gradebook.py as GRADING.md shows it, unchanged except for the database's URL."""
    guide = (request.config.rootpath / "GRADING.md").read_text(encoding="utf-8")
    program = re.search(r"```python\n# move_gradebook.py\n(.*?)```", guide, re.DOTALL)[1]
    place, url = "postgresql://USER@HOST/DATABASE?sslmode=require", server.replace("/postgres", "/moved")
    with create_engine(server, isolation_level="AUTOCOMMIT").connect() as connection:
        connection.execute(text("create database moved"))
    course = Path(shutil.copytree(first_course, tmp_path / "course"))
    for work in CLASS:
        hand_in(course, work)
    grade(course)
    with open_course(course).gradebook as book:
        book.update_or_create_assignment(FIRST, duedate="2026-01-02 00:00:00 UTC")
        book.update_or_create_student("ada", first_name="Ada", email="ada@example.org")
        book.grant_extension(FIRST, "ada", days=2)
        book.find_grade("loops-why_scale", FIRST, FIRST, "ada").manual_score = 3.5
        book.find_comment("loops-why_scale", FIRST, FIRST, "ada").manual_comment = "Good."
        book.db.commit()
    subprocess.run([sys.executable, "-c", program.replace(place, url)], cwd=course, check=True, timeout=120)
    add_to_settings(course, f"\nc.CourseDirectory.db_url = {url!r}\n")
    (course / "gradebook.db").unlink()
    assert {row.student: row.points["why_scale"] for row in grade(course)}["ada"] == 3.5
    with open_course(course).gradebook as book:
        assert f"{book.find_submission(FIRST, 'ada').duedate:%d}" == "04"
        assert book.find_student("ada").email == "ada@example.org"
        assert book.find_comment("loops-why_scale", FIRST, FIRST, "ada").manual_comment == "Good."
    assert open_course(course).generate_assignment(FIRST, force=True)["success"]
    assert not (course / "gradebook.db").exists()
