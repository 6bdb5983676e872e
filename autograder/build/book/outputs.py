"""The stored outputs of a cell, as the book shows them.

A picture gets its alternative text and width; a graph is shown as SVG, with the same graph in words folded below.
"""

import io
from base64 import b64decode
from html import escape

from nbformat.v4 import new_output

SVG, PNG, HTML, TEXT = "image/svg+xml", "image/png", "text/html", "text/plain"


def shown(outputs: list) -> tuple[list, dict]:
    """(the outputs to show, MyST-NB's settings of their picture)."""
    kept, settings = [], {}
    for output in outputs:
        data = output.get("data", {})
        if SVG in data:
            settings = _settings(output, SVG)
            kept += [_only(output, SVG), _in_words(data[TEXT])]
        elif PNG in data:
            settings = _settings(output, PNG)
            kept.append(_only(output, PNG))
        else:
            kept.append(output)
    return kept, settings


def said_by_check(outputs: list) -> list:
    """The tick of a check without the number that it returns."""
    return [output for output in outputs if output.output_type == "display_data"]


def _only(output, kind: str):
    metadata = {kind: {k: v for k, v in output.metadata.get(kind, {}).items() if k != "alt"}}
    return new_output("display_data", data={kind: output.data[kind]}, metadata=metadata)


def _settings(output, kind: str) -> dict:
    alt = output.metadata.get(kind, {}).get("alt") or _description(output.data[kind])
    return {"mystnb": {"image": {"alt": alt}}}


def _description(png: str) -> str:
    """What the picture's own file says that it shows: pictures of the clock have no other text."""
    from PIL import Image

    with Image.open(io.BytesIO(b64decode(png))) as image:
        return image.text["Description"]


def _in_words(text: str):
    html = (
        '<details class="in-words"><summary>The same graph in words</summary>'
        f'<pre tabindex="0" aria-label="The graph in words">{escape(text)}</pre></details>'
    )
    return new_output("display_data", data={HTML: html})
