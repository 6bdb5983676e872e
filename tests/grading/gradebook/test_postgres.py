"""A gradebook on a Postgres server: a real one, started here on loopback."""

import os
import shutil
import socket
import subprocess
from pathlib import Path

import pytest

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
    pytest.mark.skipif(PROGRAMS is None, reason="no Postgres server is installed (on Debian: apt install postgresql)"),
    pytest.mark.skipif(bool(why_no_sandbox()), reason=why_no_sandbox()),
]


def as_nobody_special(*command: str) -> None:
    """Runs a program of Postgres, which refuses to be run by root."""
    user = ["runuser", "-u", "postgres", "--"] if os.getuid() == 0 else []
    subprocess.run([*user, *command], check=True, capture_output=True, timeout=120)


@pytest.fixture(scope="module")
def server():
    """The URL of a database on a new server, which listens on loopback only and ends with the tests."""
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
        as_nobody_special(str(programs / "initdb"), "-D", data, "-U", "teacher", "--auth", "trust", "--no-sync")
        options = f"-p {port} -c listen_addresses=127.0.0.1 -c unix_socket_directories={folder}"
        start = (str(programs / "pg_ctl"), "-D", data, "-w", "-l", str(folder / "log"), "-o", options, "start")
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
