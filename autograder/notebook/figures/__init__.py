"""The figures of the lessons. A lesson draws one in a single line: `figures.weights(w, tokens)`.

Every function returns a `Picture`: it shows itself in a notebook as a PNG on an opaque white card (legible in
dark mode and in print), carries an alternative text, and can be written as SVG. Numbers are passed in as
tensors or lists, which are only read.

    tables   numbers with named rows and columns: `table`, `scores`, `weights`
    maps     several attention maps side by side: `attention_maps`
    masks    which query may attend to which key: `mask`
    bars     one chart for each row of numbers: `bars`, `one_query`
    curves   what an experiment measured: `curves`, `panels`
    verdict  a wrong result beside the expected one, for `check`: `expected_and_yours`
    style    cards, axes, and the Picture
    palette  the colours
    words    numbers as text

A figure that only one lesson needs is in autograder/notebook/lessons/TOPIC.py; pictures that appear only in a
lesson's text are made by images/TOPIC.py, which is not part of this package.
"""

from autograder.notebook.figures.bars import bars, one_query
from autograder.notebook.figures.curves import curves, panels
from autograder.notebook.figures.maps import attention_maps
from autograder.notebook.figures.masks import mask
from autograder.notebook.figures.style import Picture
from autograder.notebook.figures.tables import scores, table, weights
from autograder.notebook.figures.verdict import expected_and_yours

__all__ = [
    "Picture",
    "attention_maps",
    "bars",
    "curves",
    "expected_and_yours",
    "mask",
    "one_query",
    "panels",
    "scores",
    "table",
    "weights",
]
