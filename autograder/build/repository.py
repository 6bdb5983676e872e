"""The public address of the course, from which badges and install commands are made.

It is the entry `Repository` under `[project.urls]` in pyproject.toml. Until there is one, the README has no
badges, and the opening of a lesson asks readers on Colab to upload the course's zip, so that no link is dead.
"""

import re
import tomllib
from pathlib import Path

GITHUB = re.compile(r"https://github\.com/([^/]+/[^/]+)")
COLAB_PICTURE = "https://colab.research.google.com/assets/colab-badge.svg"
FIRST = "notebooks/01_attention_from_loops.ipynb"
# INSTALL begins the command for Colab in a lesson's opening; BY_HAND begins it while the address is unknown.
# The rest of the command names the packages that the lesson imports and Colab lacks. If the course were
# installed with its dependencies, it would replace Colab's own IPython and kernel, which Colab warns against.
INSTALL = "run `%pip install --no-deps {}"
BY_HAND = f"upload the course's zip and {INSTALL.format('attention*.zip')}"


def repository(root: Path) -> str:
    """Return the address of the course's repository, or an empty string if it has none yet."""
    try:
        settings = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))
    except FileNotFoundError:  # an installed package
        return ""
    return settings["project"].get("urls", {}).get("Repository", "")


def with_address(text: str, address: str) -> str:
    """Return a cell's text; if there is an address, change the install command in the text to use it."""
    return text.replace(BY_HAND, INSTALL.format(f"git+{address}")) if address else text


def colab_badge(address: str, notebook: str) -> str:
    """Return a badge in markdown that opens a notebook of the repository in Colab; empty if the address is
    not on GitHub.

    The badge only opens the notebook; a line in the notebook's introduction installs what Colab lacks.
    """
    return (
        f"[![Open in Colab]({COLAB_PICTURE})]({in_colab(address, notebook)})"
        if GITHUB.fullmatch(address)
        else ""
    )


def in_colab(address: str, notebook: str, branch: str = "main") -> str:
    """Return the address that opens a notebook of a GitHub repository in Colab."""
    return address.replace("github.com", "colab.research.google.com/github", 1) + f"/blob/{branch}/{notebook}"


def badges(address: str) -> str:
    """Return the README's badges in markdown; empty if the address is not on GitHub."""
    found = GITHUB.fullmatch(address)
    if not found:
        return ""
    name = found[1]
    rows = (
        ("tests", f"{address}/actions/workflows/test.yml/badge.svg", f"{address}/actions/workflows/test.yml"),
        (
            "Open in Binder",
            "https://mybinder.org/badge_logo.svg",
            f"https://mybinder.org/v2/gh/{name}/main?urlpath=lab/tree/{FIRST}",
        ),
        ("BSD-3-Clause", f"https://img.shields.io/github/license/{name}", "LICENSE"),
    )
    shown = [f"[![{words}]({picture})]({link})" for words, picture, link in rows]
    return "\n".join([*shown, colab_badge(address, FIRST)])
