"""Tests the process of a submission: honest code finds what it needs there. Also tests that the fork server
ends with the program that started it, and reveals nothing about that program.
"""

import ast
import json
import os
import socket
import subprocess
import sys
from pathlib import Path

import pytest
from sandboxed import has_ended, needs_sandbox, shown, waited

from autograder.errors import PACKAGE
from autograder.grading.sandbox import sandbox
from autograder.grading.worker import fork_server
from autograder.grading.worker import session as client
from autograder.grading.worker.allowance import Allowance
from autograder.grading.worker.fork_server import ForkServer, ForkServerDied, shared_fork_server
from autograder.grading.worker.session import Ended, Session

ROOT = Path(__file__).parents[3]
HONEST = {
    "await in a cell": "import asyncio\nawait asyncio.sleep(0)\nprint('done')",
    "an event loop": """
import asyncio
async def both():
    return await asyncio.gather(*(asyncio.to_thread(lambda: 1) for _ in range(2)))
import threading
thread = threading.Thread(target=lambda: print("done", asyncio.run(both())))
thread.start(); thread.join()
""",
    "a picture": """
import matplotlib.pyplot as plt
plt.plot([1, 2]); plt.savefig("/tmp/x.png"); plt.show(); print("done")
""",
    "a program": "import subprocess\nprint(subprocess.run(['echo', 'done'], stdout=-1, stderr=-3, text=True).stdout)",
    "a shell": "word = 'done'\n!echo {word} && exit 3",
    "a shell's lines": "lines = !echo done\nprint(*lines)",
    "a pool of processes": """
import multiprocessing
with multiprocessing.get_context("fork").Pool(2) as pool: print("done", pool.map(abs, [-1, 2]))
""",
    "shared numbers": "import multiprocessing\nprint('done', multiprocessing.Value('i', 3).value)",
    "shared tensors": "import torch\nprint('done', torch.ones(3).share_memory_().sum())",
    "loaders": """
import torch
data = torch.utils.data.DataLoader(torch.arange(4), num_workers=2, multiprocessing_context="fork")
print("done", [int(x) for x in data])
""",
    "files": """
import shutil, tempfile, os, pathlib
with tempfile.TemporaryDirectory() as place:
    pathlib.Path(place, "a").write_text("done"); shutil.copy2(f"{place}/a", f"{place}/b"); os.chmod(f"{place}/b", 0o600)
    print(open(f"{place}/b").read(), len(open("/dev/zero", "rb").read(5)), file=open("/dev/null", "w")); print("done")
""",
}


@needs_sandbox
@pytest.mark.parametrize("code", HONEST.values(), ids=HONEST)
def test_honest_code_finds_what_it_needs(code):
    with Session(shared_fork_server()) as session:
        assert "done" in shown(session.cell(code))


@needs_sandbox
def test_no_attribute_of_the_streams_of_a_cell_is_its_shell():
    look = """
import sys, IPython
held = [vars(stream) for stream in (sys.stdout, sys.stderr)]
print(any(value is IPython.get_ipython() for one in held for value in one.values()), file=sys.stderr)
"""
    with Session(shared_fork_server()) as session:
        assert "False" in shown(session.cell(look))


@needs_sandbox
def test_nothing_is_compiled_and_no_back_end_is_called():
    code = """
import torch
def backend(graph, inputs):
    print("called")
    return graph.forward
both = torch.compile(lambda x: x + 1, backend=backend), torch.compile(backend=backend)(lambda x: x + 1)
print([f(torch.ones(1)).item() for f in both])
"""
    with Session(shared_fork_server()) as session:
        assert shown(session.cell(code)).strip() == "[2.0, 2.0]"


def test_code_that_waits_is_not_late_before_it_has_waited_for_several_times_its_seconds():
    with Session(shared_fork_server(), allowance=Allowance(cell=3.0)) as session:
        assert "done" in shown(session.cell("import time; time.sleep(4); print('done')"))


@needs_sandbox
def test_code_that_computes_for_ever_ends_however_long_it_might_wait(monkeypatch):
    monkeypatch.setattr(client, "PATIENCE", 1000)  # only time spent computing counts
    with (
        Session(shared_fork_server(), allowance=Allowance(cell=0.5)) as session,
        pytest.raises(Ended) as ended,
    ):
        session.cell("sum(range(10**15))")  # a single step of Python, in which no signal is handled
    assert ended.value.was_late


@needs_sandbox
def test_sockets_count_as_memory():
    with Session(shared_fork_server()) as session:
        before = session._sandbox.usage().memory
        session.cell("import socket; pairs = [socket.socketpair() for _ in range(100)]")
        assert session._sandbox.usage().memory - before >= 200 * sandbox.BUFFER


@needs_sandbox
def test_threads_count_as_processes():
    """Check that threads count as processes, because one submission could otherwise use up the process ids of
    the whole machine.
    """
    start = (
        "import threading, time\nfor _ in range(200): threading.Thread(target=time.sleep, args=(9,)).start()"
    )
    with Session(shared_fork_server()) as session, pytest.raises(Ended, match="too many processes"):
        session.cell(f"{start}\ntime.sleep(5)")


@needs_sandbox
def test_a_submission_stays_one_session():
    """Check that a submission cannot start further sessions. The kernel shares processors among sessions, so
    many sessions would starve the other submissions.
    """
    told = "import os\nif os.fork() == 0:\n    os.setsid(); os._exit(os.getsid(0) != os.getsid(os.getppid()))"
    with Session(shared_fork_server()) as session:
        assert shown(session.cell(f"{told}\nprint(os.wait()[1])")) == "0\n"


STARTS = """
import os, sys, time
from autograder.grading.worker import fork_server
last = "from autograder.grading.worker.inside.server import main"
assert last in fork_server.START
fork_server.START = fork_server.START.replace(last, "import time; time.sleep(600)")
if sys.argv[1] == "before its first line":
    wait = f"import os, time\\nwhile os.getppid() == {os.getpid()}: time.sleep(0.01)\\n"
    fork_server.START = wait + fork_server.START
print(fork_server.ForkServer()._process.pid, flush=True)
time.sleep(600)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux tells a process that its parent has ended")
@pytest.mark.parametrize("when", ["while it imports", "before its first line"])
def test_the_warm_process_ends_with_the_one_that_started_it(when):
    """Expect the warm process to be killed when the process that started it ends: the warm process sleeps, so
    it cannot end by itself.
    """
    starter = subprocess.Popen(
        [sys.executable, "-c", STARTS, when],
        stdout=subprocess.PIPE,
        text=True,
        env=os.environ | {"PYTHONPATH": str(PACKAGE.parent)},
    )
    warm = int(starter.stdout.readline())
    starter.kill()
    starter.wait()
    starter.stdout.close()
    assert waited(lambda: has_ended(warm))


@pytest.mark.parametrize("kind", [socket.SOCK_STREAM, fork_server.SOCKET_KIND], ids=["elsewhere", "here"])
def test_a_fork_server_that_ends_says_why(monkeypatch, kind):
    monkeypatch.setattr(fork_server, "SOCKET_KIND", kind)
    monkeypatch.setattr(fork_server, "START", "raise SystemExit('torch is broken')")
    with ForkServer() as server, pytest.raises(ForkServerDied, match="torch is broken"):
        server.wait_until_warm()


def test_the_warm_process_shows_nothing_of_its_start(monkeypatch):
    monkeypatch.setenv("RED_TEAM", "seen")
    with ForkServer() as server:
        server.wait_until_warm()
        for name in ("environ", "cmdline"):
            text = Path(f"/proc/{server._process.pid}/{name}").read_bytes()
            assert text.strip(b"\0") in (b"", b"autograder")


SILENCED = """
import importlib, json, sys
from autograder.grading.worker.inside import stubs
stubs.silence_the_course()
for name, names in json.loads(sys.argv[1]).items():
    module = importlib.import_module(name)
    print(name, all(getattr(module, one) is stubs._do_nothing for one in names))
"""


def test_of_what_lessons_import_only_what_shows_something_does_nothing():
    """Check that, of the modules of autograder.notebook from which lessons import, stubs replace only those
    in autograder.notebook.lessons, because an answer may compute with any of the others, even with one that
    imports a replaced module.
    """
    imported = {}
    for file in (ROOT / "solutions").glob("*.py"):
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ImportFrom) and node.module.startswith("autograder.notebook."):
                imported.setdefault(node.module, []).extend(alias.name for alias in node.names)
    command = [sys.executable, "-c", SILENCED, json.dumps(imported)]
    done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=300)
    nothing = dict(line.rsplit(" ", 1) for line in done.stdout.splitlines())
    assert nothing.keys() == imported.keys() and len(nothing) > 10
    silent = {name for name, does_nothing in nothing.items() if does_nothing == "True"}
    assert silent == {name for name in nothing if name.startswith("autograder.notebook.lessons.")}
