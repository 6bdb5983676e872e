"""A Sphinx extension: formulas as MathML, which browsers draw by themselves, without a script or the network."""

from docutils import nodes

from autograder.grading.formulas import mathml


def setup(app) -> dict:
    """Registers the renderer `mathml` for conf.py's html_math_renderer."""
    app.add_html_math_renderer("mathml", (_visit_inline, None), (_visit_block, None))
    return {"parallel_read_safe": True, "parallel_write_safe": True}


def _visit_inline(translator, node) -> None:
    translator.body.append(_written(node, block=False))
    raise nodes.SkipNode


def _visit_block(translator, node) -> None:
    translator.body.append(f'<div class="formula">{_written(node, block=True)}</div>\n')
    raise nodes.SkipNode


def _written(node, block: bool) -> str:
    """The formula, or a warning, which stops the build, and its source where it cannot be written."""
    from sphinx.util import logging

    source = node.astext()
    made = mathml(source, block)
    if made is None:
        logging.getLogger(__name__).warning("this formula has no MathML: %s", source, location=node)
    return made or f"<code>{source}</code>"
