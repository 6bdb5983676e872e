"""Tests code in a sandbox: what it can find, and what memory it is charged for."""

import pytest

from autograder.grading.sandbox.sandbox import why_no_sandbox
from autograder.grading.worker.fork_server import ForkServer
from autograder.grading.worker.session import Session

pytestmark = pytest.mark.skipif(bool(why_no_sandbox()), reason=f"no sandbox here: {why_no_sandbox()}")


@pytest.fixture(scope="module")
def session():
    with ForkServer() as server:
        server.wait_until_warm()
        with Session(server) as session:
            yield session


def shown(session, code: str) -> str:
    return "".join(one.get("text", "") or str(one) for one in session.cell(code))


def test_proc_holds_processes_alone(session):
    found = shown(session, "import os\nprint([one for one in os.listdir('/proc') if not one.isdigit()])")
    assert set(eval(found)) == {"self", "thread-self"}


def test_no_rules_can_be_kept_in_the_kernel(session):
    code = "import ctypes\nlibc = ctypes.CDLL(None, use_errno=True)\nfor number in (444, 445, 446):\n"
    code += "    print(libc.syscall(number, None, 0, 1), ctypes.get_errno())"
    assert shown(session, code).split() == ["-1", "1"] * 3


def test_addresses_that_are_read_and_never_written_are_charged(session):
    before = session._sandbox.usage().memory
    size = 2 * 1024**3
    code = f"""
import mmap
there = mmap.mmap(-1, {size}, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS, prot=mmap.PROT_READ)
there.madvise(15)  # MADV_NOHUGEPAGE
zeros = sum(there[begin] for begin in range(0, {size}, 4096))
print(zeros)
"""
    assert shown(session, code) == "0\n"
    after = session._sandbox.usage().memory
    assert after - before > 0.9 * 8 * size / 4096


def test_what_students_run_comes_after_the_grader(session):
    import os

    assert int(shown(session, "print(os.nice(0))")) == min(19, os.nice(0) + 5)
