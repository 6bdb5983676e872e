"""Pictures and stored outputs of a cell, as the book shows them.

A picture gets its alternative text and its width. Because it has a width, Sphinx makes it a link to the
picture's own file, so that it can be enlarged on a phone. A graph is shown as SVG, with the same graph in
words folded below.
"""

import io
import re
from base64 import b64decode
from html import escape
from pathlib import Path

from nbformat.v4 import new_output

from autograder.build.pictures import FOLDER, PICTURE
from autograder.notebook.figures.style import SCREEN_DPI

SVG, PNG, HTML, TEXT = "image/svg+xml", "image/png", "text/html", "text/plain"
WIDTH = re.compile(r'<svg[^>]*? width="([0-9.]+)(pt|px|)"')
NOTEBOOK = re.compile(r"(href='[0-9a-z_]+)\.ipynb\b")  # another lesson, in the table of `mine`
COLUMNS = re.compile(r"\S {2,}\S")
WIDE = 560  # pixels: a wider picture scrolls on a phone, because scaled down it would be too small to read
PIXELS = {"pt": SCREEN_DPI / 72, "px": 1, "": 1}


def with_pictures(text: str, images: Path) -> str:
    """Return the markdown text with the paths that its pictures have in the book, and with the width at which
    each picture was drawn.
    """

    def placed(match: re.Match) -> str:
        name = match["path"].removeprefix(FOLDER)
        width = _width((images / name).read_text(encoding="utf-8"))
        alt = " ".join(match["alt"].split())
        return f"![{alt}](../../../images/{name}){{width={width}px{' .wide' * (width > WIDE)}}}"

    return PICTURE.sub(placed, text)


def shown(outputs: list) -> tuple[list, dict]:
    """Return the outputs to show, and MyST-NB's settings for the picture among them."""
    kept, settings = [], {}
    for output in outputs:
        data = output.get("data", {})
        if SVG in data:
            kept += [_only(output, SVG), _in_words(data[TEXT])]
            settings = _settings(output, kept[-2], SVG)
        elif PNG in data:
            kept.append(_only(output, PNG))
            settings = _settings(output, kept[-1], PNG)
        elif HTML in data:
            kept.append(new_output("display_data", data={HTML: NOTEBOOK.sub(r"\1.html", data[HTML])}))
        else:
            kept.append(output)
    return kept, settings


def has_columns(outputs: list) -> bool:
    """Return whether any output has text in columns, which would be lost if its lines were wrapped."""
    texts = ("".join(output.get("text", "")) for output in outputs)
    return any(len(COLUMNS.findall(text)) > 1 for text in texts)


def said_by_check(outputs: list) -> list:
    """Return what a check displays (the tick), without the points that it returns."""
    return [output for output in outputs if output.output_type == "display_data"]


def _only(output, kind: str):
    given = output.metadata.get(kind, {})
    width = given.get("width") or (_width(output.data[SVG]) if kind == SVG else None)
    metadata = {kind: {"width": width}} if width else {}
    return new_output("display_data", data={kind: output.data[kind]}, metadata=metadata)


def _width(svg: str) -> int:
    """Return the width of a drawing in screen pixels."""
    found = WIDTH.search(svg)
    assert found is not None, "our drawings say how wide they are"
    number, unit = found.groups()
    return round(float(number) * PIXELS[unit])


def _settings(output, made, kind: str) -> dict:
    alt = _description(output.data[PNG]) if kind == PNG else output.metadata[SVG]["alt"]
    wide = made.metadata.get(kind, {}).get("width", 0) > WIDE
    return {"mystnb": {"image": {"alt": alt} | ({"classes": "wide"} if wide else {})}}


def _description(png: str) -> str:
    """Return the description stored in a PNG (given as base64), or an empty string if it has none."""
    from PIL import Image

    with Image.open(io.BytesIO(b64decode(png))) as image:
        return image.info.get("Description", "")


def _in_words(text: str):
    html = (
        '<details class="in-words"><summary>The same graph in words</summary>'
        f'<pre tabindex="0" aria-label="The graph in words">{escape(text)}</pre></details>'
    )
    return new_output("display_data", data={HTML: html})
