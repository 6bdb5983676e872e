"""Follows one of our Dockerfiles without Docker, in a folder that stands in for the image's root."""

import re
import shutil
import subprocess
import sys
from pathlib import Path

from autograder.build.lesson import ROOT


def steps(name: str) -> list[tuple[str, str]]:
    """Return (instruction, its arguments) for each line of docker/NAME.Dockerfile."""
    text = (ROOT / "docker" / f"{name}.Dockerfile").read_text(encoding="utf-8")
    lines = [line for line in text.splitlines() if line and not line.startswith("#")]
    return [tuple(line.split(" ", 1)) for line in lines]


def copied(name: str, context: Path, root: Path) -> Path:
    """Carry out the WORKDIR and COPY instructions before the first RUN of pip, and return the folder in which
    pip runs.
    """
    place = root
    for word, rest in steps(name):
        if word == "WORKDIR":
            place = root / rest.lstrip("/")
            place.mkdir(parents=True, exist_ok=True)
        elif word == "COPY":
            *sources, target = rest.split(" ")
            to = root / target.lstrip("/") if target.startswith("/") else place / target
            for source in (context / one for one in sources):
                if source.is_dir():
                    shutil.copytree(source, to, ignore=shutil.ignore_patterns("__pycache__", "*.pyc"))
                else:
                    to.mkdir(parents=True, exist_ok=True)
                    shutil.copy(source, to)
        elif word == "RUN" and rest.startswith("pip "):
            return place
    raise AssertionError("nothing is installed")


def installed(name: str) -> list[str]:
    """Return the packages that the Dockerfile installs with pip, without build arguments and quotes."""
    (line,) = (rest for word, rest in steps(name) if word == "RUN" and rest.startswith("pip "))
    words = re.sub(r"\$\{TORCH_INDEX:[^}]*\}|\$\{HUB:[^}]*\}|\"", "", line).split()
    assert words[:3] == ["pip", "install", "--no-cache-dir"]
    return words[3:]


def pip(*words: object) -> None:
    """Run pip; raise AssertionError with its error output if it fails."""
    command = [sys.executable, "-m", "pip", "--disable-pip-version-check", *map(str, words)]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
