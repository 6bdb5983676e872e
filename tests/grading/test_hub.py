"""Tests a real JupyterHub with two users: the teacher's server has this repository, and the student's has the
bundle. The test runs the commands in GRADING.md, and sends the requests that a student's browser would send.
Both servers run as one user of this machine, each in its own home folder; test_term.py tests the exchange
between two users.

Skipped if JupyterHub or its proxy, the npm package `configurable-http-proxy`, is missing.
"""

import json
import os
import re
import shutil
import socket
import subprocess
import sys
import time
import zipfile
from importlib.util import find_spec
from pathlib import Path
from urllib.error import HTTPError, URLError
from urllib.parse import urlencode
from urllib.request import Request, urlopen

import pytest
from sandboxed import needs_sandbox
from term import add_to_settings, autograder, nbgrader

from autograder.build.lesson import ROOT
from autograder.grading.demo.hand_in import notebook_text
from autograder.grading.demo.sample_class import FIRST, SOFTMAX, SampleSubmission
from autograder.grading.gradebook.open_course import open_course

pytestmark = [
    pytest.mark.trial,
    needs_sandbox,
    pytest.mark.skipif(not find_spec("jupyterhub"), reason="there is no JupyterHub"),
    pytest.mark.skipif(
        not shutil.which("configurable-http-proxy"), reason="there is no proxy for JupyterHub"
    ),
]
TEACHER, STUDENT, TOKEN = "teacher", "student", "t" * 32
PATIENCE = 300  # seconds, for a slow machine
CONFIG = """
from jupyterhub.auth import DummyAuthenticator
from jupyterhub.spawner import LocalProcessSpawner

rooms = {rooms!r}


class Room(LocalProcessSpawner):
    def make_preexec_fn(self, name):
        return lambda: None

    def user_env(self, env):
        return env | rooms[self.user.name]["env"]

    def start(self):
        self.notebook_dir = rooms[self.user.name]["folder"]
        self.popen_kwargs = {{"cwd": self.notebook_dir}}
        return super().start()


c = get_config()
c.JupyterHub.spawner_class = Room
c.JupyterHub.authenticator_class = DummyAuthenticator
c.Authenticator.allow_all = True
c.JupyterHub.bind_url = "http://127.0.0.1:{ports[0]}"
c.JupyterHub.hub_port = {ports[1]}
c.ConfigurableHTTPProxy.api_url = "http://127.0.0.1:{ports[2]}"
c.ConfigurableHTTPProxy.auth_token = "{token}"
c.JupyterHub.services = [{{"name": "test", "api_token": "{token}"}}]
scopes = ["admin:users", "admin:servers", "access:servers"]
c.JupyterHub.load_roles = [{{"name": "test", "scopes": scopes, "services": ["test"]}}]
c.Spawner.cmd = [{python!r}, "-m", "jupyterhub.singleuser"]
c.Spawner.args = ["--allow-root"]
c.Spawner.start_timeout = c.Spawner.http_timeout = {patience}
"""


def free_ports(number: int) -> list[int]:
    with_ports = [socket.create_server(("127.0.0.1", 0)) for _ in range(number)]
    ports = [one.getsockname()[1] for one in with_ports]
    for one in with_ports:
        one.close()
    return ports


class Hub:
    """A running hub, to which this class sends requests as an administrator's program would."""

    def __init__(self, address: str):
        self.address = address

    def ask(self, path: str, method: str = "GET", body: bytes | None = None):
        """Send a request to the hub, or to a server behind it. Return the parsed answer, or None if it is
        empty.
        """
        request = Request(f"{self.address}/{path}", body, {"Authorization": f"token {TOKEN}"}, method=method)
        with urlopen(request, timeout=PATIENCE) as answer:
            text = answer.read()
        return json.loads(text) if text else None

    def until(self, path: str, is_good) -> None:
        """Repeat the request until the answer is good; raise AssertionError if that takes too long."""
        end = time.monotonic() + PATIENCE
        while time.monotonic() < end:
            try:
                if is_good(self.ask(path)):
                    return
            except (HTTPError, URLError, ConnectionError):
                pass
            time.sleep(0.5)
        raise AssertionError(f"{path} did not become ready")

    def start_server(self, user: str) -> None:
        self.ask(f"hub/api/users/{user}", "POST", b"{}")
        self.ask(f"hub/api/users/{user}/server", "POST", b"{}")
        self.until(f"hub/api/users/{user}", lambda answer: answer["servers"].get("", {}).get("ready"))

    def save(self, path: str, notebook: dict) -> None:
        """Save a notebook as the student."""
        body = {"type": "notebook", "format": "json", "content": notebook}
        self.ask(f"user/{STUDENT}/api/contents/{path}", "PUT", json.dumps(body).encode())

    def press(self, button: str, **words: str) -> dict:
        """Press one of nbgrader's buttons as the student; return the server's answer."""
        answer = self.ask(f"user/{STUDENT}/assignments/{button}", "POST", urlencode(words).encode())
        assert answer["success"], answer
        return answer


@pytest.fixture
def course(first_course, tmp_path) -> Path:
    folder = Path(shutil.copytree(first_course, tmp_path / "course"))
    add_to_settings(folder, f'c.Exchange.root = "{tmp_path / "exchange"}"\n')
    return folder


@pytest.fixture
def student(course, tmp_path) -> dict:
    """The folder and the environment variables of the student's server. The variables point to the bundle and
    to the settings that GRADING.md shows.
    """
    autograder(
        "bundle",
        tmp_path / "b.zip",
        "--course",
        course,
        cwd=tmp_path,
        env=os.environ | {"XDG_CACHE_HOME": str(tmp_path)},
    )
    with zipfile.ZipFile(tmp_path / "b.zip") as bundle:
        bundle.extractall(tmp_path / "image")
    guide = (ROOT / "GRADING.md").read_text(encoding="utf-8")
    settings = re.search(r"\*\*Students' settings\*\*.*?```python\n(.*?)```", guide, re.DOTALL)[1]
    known = {
        "nlp_2026": open_course(course).coursedir.course_id,
        "/srv/nbgrader/exchange": str(tmp_path / "exchange"),
    }
    for shown, real in known.items():
        assert shown in settings
        settings = settings.replace(shown, real)
    (tmp_path / "etc").mkdir()
    (tmp_path / "etc" / "nbgrader_config.py").write_text(re.sub("^ +", "", settings, flags=re.MULTILINE))
    (tmp_path / STUDENT).mkdir()
    paths = [str(tmp_path / "image" / "attention-by-hand"), os.environ.get("PYTHONPATH", "")]
    home = {"HOME": str(tmp_path / STUDENT), "USER": STUDENT, "JUPYTER_CONFIG_PATH": str(tmp_path / "etc")}
    return {
        "folder": str(tmp_path / STUDENT),
        "env": home | {"PYTHONPATH": os.pathsep.join(filter(None, paths))},
    }


@pytest.fixture
def hub(course, student, tmp_path):
    teacher = {
        "folder": str(course),
        "env": {"HOME": str(tmp_path), "PYTHONPATH": os.environ.get("PYTHONPATH", "")},
    }
    ports = free_ports(3)
    rooms = {TEACHER: teacher, STUDENT: student}
    config = CONFIG.format(rooms=rooms, ports=ports, token=TOKEN, python=sys.executable, patience=PATIENCE)
    (tmp_path / "jupyterhub_config.py").write_text(config)
    with (tmp_path / "hub.log").open("w") as log:
        process = subprocess.Popen(
            [sys.executable, "-m", "jupyterhub"], cwd=tmp_path, stdout=log, stderr=subprocess.STDOUT
        )
        try:
            running = Hub(f"http://127.0.0.1:{ports[0]}")
            running.until("hub/api/", lambda answer: "version" in answer)
            for user in rooms:
                running.start_server(user)
            yield running
        finally:
            process.terminate()
            process.wait(60)
    print((tmp_path / "hub.log").read_text()[-4000:])


def test_a_lesson_goes_from_the_teacher_s_server_to_the_student_s_and_back(hub, course, student):
    course_id = open_course(course).coursedir.course_id
    of_lesson = {"course_id": course_id, "assignment_id": FIRST}
    nbgrader(course, "release_assignment", FIRST)
    (lesson,) = hub.ask(f"user/{TEACHER}/formgrader/api/assignments")
    assert lesson["name"] == FIRST
    hub.press("fetch", **of_lesson)
    notebook = f"{FIRST}/{FIRST}.ipynb"
    released = json.loads((course / "release" / FIRST / f"{FIRST}.ipynb").read_text(encoding="utf-8"))
    assert len(hub.ask(f"user/{STUDENT}/api/contents/{notebook}")["content"]["cells"]) == len(
        released["cells"]
    )

    answered = json.loads(notebook_text(course, SampleSubmission("x", answers={SOFTMAX: "SMX-01"})))
    hub.save(notebook, answered)
    names = [cell["metadata"].get("nbgrader", {}).get("grade_id") for cell in answered["cells"]]
    until_softmax = answered["cells"][: names.index("check-loops-softmax") + 1]  # all of it takes minutes
    hub.save(notebook.replace(f"{FIRST}.ipynb", "a.ipynb"), answered | {"cells": until_softmax})
    said = hub.press("validate", path=f"{FIRST}/a.ipynb")
    assert "What is exp(1000) in float32?" in json.dumps(said)
    hub.press("submit", **of_lesson)

    nbgrader(course, "collect", FIRST)
    autograder("grade", course, cwd=course)
    nbgrader(course, "generate_feedback", FIRST)
    nbgrader(course, "release_feedback", FIRST)
    hub.press("fetch_feedback", **of_lesson)
    (page,) = Path(student["folder"], FIRST, "feedback").rglob("*.html")
    assert "What is exp(1000) in float32?" in page.read_text(encoding="utf-8")

    # The student's image lacks the teacher's commands, and says so.
    done = subprocess.run(
        [sys.executable, "-m", "autograder", "grade", "."],
        cwd="/",
        env=os.environ | student["env"],
        capture_output=True,
        text=True,
    )
    assert done.returncode == 2 and "the package that students get" in done.stderr
