"""Puts the pictures of a lesson into the notebook itself, so that the notebook is a single file.

subtle: JupyterLab does not show an SVG that is an attachment (only PNG, JPEG, GIF, BMP and WebP), so the PNG
that images/make_images.py draws for each SVG is embedded instead.
"""

import re
from base64 import b64encode
from pathlib import Path

from autograder.marks import SourceError

PICTURE = re.compile(r"!\[(?P<alt>[^\]]*)\]\((?P<path>[^)\s]+)\)")
FOLDER = "../images/"


def embed(text: str, images: Path) -> tuple[str, dict]:
    """Return the markdown text with its pictures turned into attachments, and a dict of these attachments.
    Raises SourceError if a picture is missing or has no alternative text.
    """
    attachments = {}

    def attach(match: re.Match) -> str:
        file = _file(match["path"], match["alt"], images)
        attachments[file.name] = {"image/png": b64encode(file.read_bytes()).decode("ascii")}
        return f"![{match['alt']}](attachment:{file.name})"

    return PICTURE.sub(attach, text), attachments


def pictures_of(text: str) -> list[str]:
    """Return the names, without extension, of the pictures that a markdown text shows."""
    return [Path(match["path"]).stem for match in PICTURE.finditer(text)]


def _file(path: str, alt: str, images: Path) -> Path:
    if not path.startswith(FOLDER) or "/" in path[len(FOLDER) :]:
        raise SourceError(f"the picture {path} is not in {FOLDER}, where pictures belong")
    if not alt.strip():
        raise SourceError(f"the picture {path} has no alternative text; say what it shows")
    file = (images / path[len(FOLDER) :]).with_suffix(".png")
    if not file.is_file():
        drawn = (images / "make_images.py").is_file()
        mend = "images/make_images.py draws it" if drawn else "put it there, as a PNG"
        raise SourceError(f"there is no picture images/{file.name}; {mend}")
    return file
