"""DOT -> SVG, laid out and drawn by Graphviz (inside the pygraphviz wheel: no system package).

The picture is one element without a script, a link or anything fetched. It has a white ground, so it can be read on a
dark page too, and says to a screen reader what it shows.
"""

import os
import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from xml.etree import ElementTree

_SVG = "{http://www.w3.org/2000/svg}"


def svg_of(dot: str, title: str, description: str, said: dict[str, str]) -> str:
    """The picture; `said` holds by name what a box says when it is pointed at."""
    import pygraphviz

    with _silent(), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        drawn = pygraphviz.AGraph(string=dot).draw(format="svg", prog="dot")
    root = ElementTree.fromstring(drawn)
    for group in root.iter(f"{_SVG}g"):
        name = group.find(f"{_SVG}title")
        if name is not None and name.text in said:
            name.text = said[name.text]
        elif name is not None:
            group.remove(name)
    for place, (tag, text) in enumerate((("title", title), ("desc", description))):
        element = ElementTree.Element(_SVG + tag)
        element.text = text
        root.insert(place, element)
    root.attrib |= {"role": "img", "aria-label": title, "style": "max-width:100%;height:auto"}
    ElementTree.register_namespace("", _SVG[1:-1])
    return ElementTree.tostring(root, encoding="unicode") + "\n"


@contextmanager
def _silent() -> Iterator[None]:
    """subtle: the libraries that measure text warn on the process's standard error about fonts, and nbgrader takes a
    line there for a failure."""
    sys.stderr.flush()
    kept = os.dup(2)
    nowhere = os.open(os.devnull, os.O_WRONLY)
    try:
        os.dup2(nowhere, 2)
        yield
    finally:
        os.dup2(kept, 2)
        os.close(kept)
        os.close(nowhere)
