"""Writes tests/wheels.json: which wheel pip chooses for each pinned direct dependency on Windows and on
macOS.

It asks the package index, so it is not a test: run `python tests/wheels.py` after `make lock`.
test_environment.py compares the file with the lock.
"""

import json
import subprocess
import sys
import tempfile
from pathlib import Path

import test_environment

PLATFORMS = {
    "Windows": ("win_amd64",),
    "Mac": ("macosx_14_0_arm64", "macosx_12_0_arm64", "macosx_11_0_arm64", "macosx_10_13_universal2"),
}
FILE = Path(__file__).with_suffix(".json")


def chosen(platforms: tuple[str, ...], python: str) -> list[str]:
    """Return the file names of the wheels that pip chooses on these platforms. Raise CalledProcessError if
    one is missing.
    """
    pins = [
        f"{need.name}=={test_environment.LOCK[need.name]}"
        for need in test_environment.RUNTIME
        if not need.marker
    ]
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder, "report.json")
        command = [
            sys.executable,
            "-m",
            "pip",
            "install",
            "-q",
            "--dry-run",
            "--no-deps",
            "--ignore-installed",
        ]
        command += [
            "--only-binary=:all:",
            f"--python-version={python}",
            f"--target={folder}",
            f"--report={report}",
        ]
        subprocess.run([*command, *(f"--platform={one}" for one in platforms), *pins], check=True)
        found = json.loads(report.read_text())["install"]
    return sorted(one["download_info"]["url"].rpartition("/")[2] for one in found)


if __name__ == "__main__":
    table = {
        f"{name} {python}": chosen(platforms, python)
        for name, platforms in PLATFORMS.items()
        for python in test_environment.PYTHONS
    }
    FILE.write_text(json.dumps(table, indent=1) + "\n", encoding="utf-8")
