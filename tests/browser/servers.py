"""Local servers; each is stopped together with every process that it started."""

import json
import os
import subprocess
import sys
import threading
import time
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import psutil

TOKEN = "a-token-of-these-tests"
START = 120  # seconds; a busy machine takes long
# The settings that `python -m autograder lab` makes, too. They turn off requests for news and updates.
SETTINGS = {
    "@jupyterlab/apputils-extension:notification": {"fetchNews": "false", "checkForUpdates": False},
}


@dataclass(frozen=True)
class Jupyter:
    """A running Jupyter server: its address, the folder that it shows, and the folder of its settings and
    logs.
    """

    address: str
    folder: Path
    home: Path

    def url(self, path: str) -> str:
        return f"{self.address}{path}?token={TOKEN}"


@contextmanager
def jupyter(folder: Path, home: Path, start: tuple[str, ...] = (), **more: str):
    """Yield a JupyterLab that runs in `folder` as if for a separate user, whose settings and logs are in
    `home`. `start`, if given, replaces the usual command; `more` is added to the server's environment
    variables.
    """
    for name in ("runtime", "settings", "overrides"):
        (home / name).mkdir(parents=True)
    (home / "overrides/overrides.json").write_text(json.dumps(SETTINGS), encoding="utf-8")
    command = [
        *(start or (sys.executable, "-m", "jupyterlab", f"--ServerApp.root_dir={folder}")),
        "--no-browser",
        "--ip=127.0.0.1",
        "--port=8890",
        "--ServerApp.port_retries=500",
        f"--IdentityProvider.token={TOKEN}",
        f"--LabApp.app_settings_dir={home}/overrides",
    ]
    with (home / "server.log").open("wb") as log:
        server = subprocess.Popen(
            command + ["--allow-root"] * (os.geteuid() == 0),
            cwd=folder if folder.is_dir() else home,
            env=_environment(home) | more,
            stdout=log,
            stderr=log,
        )
        try:
            yield Jupyter(_address(server, home), folder, home)
        finally:
            _stop(server)


def _environment(home: Path) -> dict[str, str]:
    own = {
        "HOME": home,
        "IPYTHONDIR": home / "ipython",
        "JUPYTER_CONFIG_DIR": home / "config",
        "JUPYTER_DATA_DIR": home / "data",
        "JUPYTER_RUNTIME_DIR": home / "runtime",
        "JUPYTERLAB_SETTINGS_DIR": home / "settings",
        "JUPYTERLAB_WORKSPACES_DIR": home / "workspaces",
        "JUPYTER_PREFER_ENV_PATH": "1",
        "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
    }
    return os.environ | {name: str(value) for name, value in own.items()}


def _address(server: subprocess.Popen, home: Path) -> str:
    """Wait until the server has written its address to a file, and return the address."""
    end = time.monotonic() + START
    while time.monotonic() < end and server.poll() is None:
        for file in (home / "runtime").glob("jpserver-*.json"):
            try:
                return json.loads(file.read_text())["url"]
            except ValueError:  # half written
                continue
        time.sleep(0.1)
    raise RuntimeError("Jupyter does not start:\n" + (home / "server.log").read_text()[-3000:])


def _stop(server: subprocess.Popen) -> None:
    """Terminate the server, which ends its kernels; then kill those of its processes that are still running."""
    try:
        family = [psutil.Process(server.pid), *psutil.Process(server.pid).children(recursive=True)]
    except psutil.NoSuchProcess:
        family = []
    server.terminate()
    try:
        server.wait(20)
    except subprocess.TimeoutExpired:
        server.kill()
        server.wait()
    for process in family:
        if process.is_running():
            process.kill()


class _Quiet(SimpleHTTPRequestHandler):
    def log_message(self, *_):
        """Print nothing."""


@contextmanager
def files(folder: Path):
    """Serve the files of a folder over HTTP; yield the address."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(_Quiet, directory=str(folder)))
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}/"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
