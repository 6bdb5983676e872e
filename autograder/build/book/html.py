"""A Sphinx extension that writes the book's formulas and folded cells.

Formulas become MathML, which browsers render themselves, without a script or the network. A folded cell
becomes a plain <details> element, with a summary that screen readers can read.
"""

import re
from html import escape

from docutils import nodes
from myst_nb.sphinx_ import HideCodeCellNode

from autograder.grading.safe.formulas import mathml

PUNCTUATION = re.compile(r"[.,;:!?)]+")


def setup(app) -> dict:
    """Register the folded cells, and the math renderer `mathml`, which conf.py selects with
    html_math_renderer.
    """
    app.add_html_math_renderer("mathml", (_visit_inline, None), (_visit_block, None))
    app.connect("builder-inited", _write_folds)
    app.connect("doctree-resolved", _take_punctuation)
    return {"parallel_read_safe": True, "parallel_write_safe": True}


def _write_folds(app) -> None:
    """Register how folded cells are written. subtle: this happens after all extensions are set up, so that it
    replaces MyST-NB's way of writing them, whichever extension comes first.
    """
    app.add_node(HideCodeCellNode, override=True, html=(_open_fold, _close_fold))


def _open_fold(translator, node) -> None:
    title = f'<span class="closed">{escape(node["prompt_show"])}</span>'
    title += f'<span class="opened">{escape(node["prompt_hide"])}</span>'
    translator.body.append(f'<details class="fold"><summary>{title}</summary>\n')


def _close_fold(translator, node) -> None:
    translator.body.append("</details>\n")


def _take_punctuation(app, doctree, docname) -> None:
    """Move the punctuation that follows a formula into the formula.

    subtle: a browser may break the line between a formula and a comma, and no joining character prevents it.
    Texts are found by position, because docutils treats equal texts, such as two commas, as the same one.
    """
    for node in list(doctree.findall(nodes.math)):
        place = node.parent.index(node) + 1
        follows = node.parent[place] if place < len(node.parent) else None
        found = PUNCTUATION.match(follows) if isinstance(follows, nodes.Text) else None
        if follows is not None and found:
            node["punctuation"] = found[0]
            node.parent[place] = nodes.Text(follows[found.end() :])


def _visit_inline(translator, node) -> None:
    made, behind = _written(node, block=False), node.get("punctuation", "")
    translator.body.append(f'<span class="unbroken">{made}{behind}</span>' if behind else made)
    raise nodes.SkipNode


def _visit_block(translator, node) -> None:
    source = node.astext()
    pieces = [piece for piece in source.split(r"\qquad") if piece.strip()]
    pieces = pieces if all(map(_is_whole, pieces)) else [source]
    made = "".join(_written(node, block=True, source=piece) for piece in pieces)
    translator.body.append(f'<div class="formula">{made}</div>\n')
    raise nodes.SkipNode


def _is_whole(source: str) -> bool:
    """Return whether a piece of a formula can stand alone, so that on a narrow page it may move to the next
    line.
    """
    pairs = (("{", "}"), (r"\begin", r"\end"), (r"\left", r"\right"))
    return all(source.count(opened) == source.count(closed) for opened, closed in pairs)


def _written(node, block: bool, source: str = "") -> str:
    """Return the formula as MathML. If that fails, return its source and log a warning, which stops the
    build.

    subtle: latex2mathml leaves unknown commands as they are, so a backslash in its result is a failure too.
    """
    from sphinx.util import logging

    source = source or node.astext()
    made = mathml(source, block)
    if made is None or "\\" in made:
        logging.getLogger(__name__).warning("this formula has no MathML: %s", source, location=node)
        return f"<code>{escape(source)}</code>"
    return made
