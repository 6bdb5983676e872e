r"""Renders a page's formulas as MathML, which browsers draw without scripts and without the network.

subtle: latex2mathml copies the text of \text{...} into its result, including any tags. Therefore only the
tags and attributes listed here are copied from its result, with all text escaped; a formula with any other
tag is shown as its source.
"""

import itertools
import re
import secrets
import unicodedata
import xml.etree.ElementTree as ET
from collections.abc import Iterator
from functools import lru_cache
from html import escape, unescape
from time import thread_time
from typing import Any
from urllib.parse import unquote

from jinja2 import pass_context
from jinja2.runtime import Context
from nbconvert.filters.markdown_mistune import InvalidNotebook, IPythonRenderer, MarkdownWithMath

from autograder.grading.safe.budget import LONGEST_SOURCE, budget_of
from autograder.grading.safe.clean_html import as_text, boxed, clean, exceeds
from autograder.grading.safe.highlight import PYTHON, highlighted

MATHML = "{http://www.w3.org/1998/Math/MathML}"
TAGS = {
    *("math", "mrow", "mi", "mn", "mo", "mtext", "mspace", "ms", "mstyle", "mpadded", "mphantom"),
    *("mfrac", "msqrt", "mroot", "msub", "msup", "msubsup", "munder", "mover", "munderover", "mmultiscripts"),
    *("mprescripts", "mtable", "mtr", "mtd", "none"),
}
ROW = {MATHML + tag for tag in ("math", "mrow", "mtd", "mstyle")}
ATTRIBUTES = {
    *("display", "displaystyle", "scriptlevel", "mathvariant", "stretchy", "fence", "separator", "form"),
    *("minsize", "maxsize", "width", "height", "depth", "lspace", "rspace", "linethickness"),
    *("columnalign", "columnspacing", "rowspacing", "columnlines", "rowlines", "accent"),
    *("accentunder", "movablelimits"),
}
# The largest size in each unit; a larger one would push the rest of the page out of reach.
LARGEST = {"": 10, "em": 10, "ex": 20, "pt": 120, "px": 160, "mu": 180, "cm": 4, "mm": 40, "in": 2, "%": 1000}
DEEPEST = 40  # nested elements; the lessons have at most 11, and readers of the page can handle a few hundred
LONGEST = 2000
MOST_FORMULAS = 300
ATTACHMENT = "attachment:"
# subtle: the renderer takes five seconds for a run of 20,000 blanks, so runs of more than these are shortened.
MOST_BLANKS = 200
BLANKS = re.compile(rf"([^\S\n]{{{MOST_BLANKS}}})[^\S\n]+")
FORMULA = re.compile(r"\\[(\[]|\\begin")
SIGN = re.compile("[-−+]")
BEFORE_A_SIGN = re.compile(r"[(\[{,;=<>≤≥≈]")  # a sign after one of these belongs to its number
# latex2mathml writes softmax and ∞ as operators, with a gap on either side.
NAME = re.compile(r"[^\W\d_]{2,}|∞")
FUNCTION = re.compile(r"[^\W\d_]{2,}")
THIN = '<mspace width="0.167em"/>'

# Within a row, all brackets grow to the height of the tallest matrix, so each matrix and its brackets get a separate
# row. A single mark in braces, as in 524{,}288, has no gaps around it.
ROWS = (
    (
        re.compile(r"<mo>[(\[{|]</mo><mtable>(?:(?!<mtable>).)*?</mtable><mo>[)\]}|]</mo>"),
        r"<mrow>\g<0></mrow>",
    ),
    (re.compile(r"<mrow><mo>(.)</mo></mrow>"), r'<mrow><mo lspace="0" rspace="0">\1</mo></mrow>'),
)


@pass_context
def markdown(context: Context, source: str) -> str:
    """Render Markdown as clean HTML with its formulas as MathML. This is a filter for nbconvert's templates.

    subtle: the renderer's time grows with the square of the length, so a text that is absurdly long, or
    contains very many formulas, is shown unrendered. So are the texts after those that filled the page or
    took too long.
    """
    budget = budget_of(context)
    too_long = len(source) > LONGEST_SOURCE or len(FORMULA.findall(source)) > MOST_FORMULAS
    if too_long or budget.text_tags <= 0 or budget.text_seconds <= 0:
        return f"<pre>{as_text(source)}</pre>"
    began = thread_time()
    attachments = (context.get("cell") or {}).get("attachments", {})
    renderer = _Renderer(escape=False, attachments=attachments, exclude_anchor_links=True)
    rendered = MarkdownWithMath(renderer=renderer).render(BLANKS.sub(r"\1", source))
    html = renderer.put_back(clean(rendered, room=budget.room))
    budget.text_tags -= html.count("<")
    budget.text_seconds -= thread_time() - began
    return boxed(html)


@lru_cache(4096)
def mathml(latex: str, block: bool = False) -> str | None:
    """Return the formula as MathML, or None if it is too long or cannot be converted safely."""
    from latex2mathml.converter import convert

    if len(latex) > LONGEST:
        return None
    try:
        made = _written(ET.fromstring(convert(latex, display="block" if block else "inline")))
    except Exception:  # whatever the converter raises, the reader sees the source
        return None
    for pattern, better in ROWS:
        made = pattern.sub(better, made)
    return made


def _written(element: ET.Element, depth: int = 0) -> str:
    """Return an element as text, with only the attributes in ATTRIBUTES. Raises ValueError for a tag that is
    not in TAGS, for a size that is too large, and for a formula that is nested too deeply.
    """
    tag = element.tag.removeprefix(MATHML)
    sizes = [text for name, text in element.attrib.items() if name in ATTRIBUTES]
    if tag not in TAGS or depth > DEEPEST or any(exceeds(text, LARGEST) for text in sizes):
        raise ValueError(tag)
    known = "".join(
        f' {name}="{escape(text)}"' for name, text in element.attrib.items() if name in ATTRIBUTES
    )
    if element.get("display") == "block":
        known += ' tabindex="0"'  # lets a wide formula be scrolled by keyboard
    text = element.text or ""
    if tag == "mo" and NAME.fullmatch(text):
        tag = "mi"
    if tag == "mtext":  # a space at either end would be lost
        text = text.replace(" ", "\u00a0").replace("\\_", "_")
    _bind_signs(element)
    inside = escape(text) + "".join(_spaced(element, depth + 1))
    return f"<{tag}{known}>{inside}</{tag}>"


def _spaced(element: ET.Element, depth: int) -> Iterator[str]:
    """Yield the rewritten children of an element. In a row, also yield a thin gap between the name of a
    function and a neighbour that is neither a bracket nor a sign, as TeX does: log p, but log(p).
    """
    before = None
    for part in element:
        if before is not None and element.tag in ROW:
            pair = before, part
            if any(map(_is_function, pair)) and not any(map(_is_sign, pair)):
                yield THIN
        yield _written(part, depth)
        before = part


def _is_function(element: ET.Element) -> bool:
    """Return whether an element is the name of a function, with or without a subscript or superscript: log,
    softmax, max over j.
    """
    tag = element.tag.removeprefix(MATHML)
    if tag in ("msub", "msup", "munder", "munderover", "msubsup") and len(element):
        return _is_function(element[0])
    return tag in ("mi", "mo") and bool(FUNCTION.fullmatch(element.text or ""))


def _is_sign(element: ET.Element) -> bool:
    """Return whether an element is a bracket, an arithmetic sign or a gap."""
    return element.tag.removeprefix(MATHML) in ("mo", "mspace") and not _is_function(element)


def _bind_signs(element: ET.Element) -> None:
    """Mark a sign as a prefix if it belongs to the number after it, such as the minus in (2, -1). Without
    this mark, a browser leaves a gap between the sign and the number, unless the sign comes first in its row.
    """
    for before, sign in itertools.pairwise(element):
        if SIGN.fullmatch(sign.text or "") and BEFORE_A_SIGN.fullmatch(before.text or ""):
            sign.set("form", "prefix")


def _plain_name(name: str) -> str:
    """Return a picture's name in a standard form, because spaces and non-ASCII characters can be written in
    several ways.
    """
    return unicodedata.normalize("NFC", unquote(unescape(name)))


class _Renderer(IPythonRenderer):
    """Replaces each formula with a placeholder, so that the HTML around it can be cleaned separately."""

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self._mark = f"formula{secrets.token_hex(8)}n"  # cannot be guessed by the author of the text
        self._formulas: list[tuple[str, str]] = []
        self._shown: set[str] = set()

    def inline_math(self, body: str) -> str:
        return self._marked(body, f"${body}$", block=False)

    def block_math(self, body: str) -> str:
        return self._marked(body, f"$${body}$$", block=True)

    def latex_environment(self, name: str, body: str) -> str:
        text = f"\\begin{{{name}}}{body}\\end{{{name}}}"
        return self._marked(text, text, block=True)

    def block_code(self, code: str, info: str | None = None) -> str:
        """Return a block of code as HTML; only Python is coloured."""
        language = (info or "").strip().partition(" ")[0].lower()
        return highlighted(code) if language in PYTHON else f"<pre><code>{escape(code)}</code></pre>"

    def image(self, text: str, url: str, title: str | None = None) -> str:
        """Return the picture, or its alternative text if the picture cannot be embedded. subtle: the
        alternative text goes into an attribute, which cannot contain MathML, so its formulas remain source.
        """
        text = self._replaced(text, 1)
        try:
            return super().image(text, url, title)
        except (InvalidNotebook, StopIteration):
            return escape(text)

    def _embed_image_or_attachment(self, src: str) -> str:
        """Return an embedded picture, or its address if the notebook does not contain the picture, or if the
        text shows it already: a short text could repeat a large picture a thousand times. subtle: without
        this, nbconvert would fail to make the page of a notebook in which a picture is missing.
        """
        if not src.startswith(ATTACHMENT):
            return super()._embed_image_or_attachment(src)
        names = {_plain_name(name): name for name in self.attachments}
        name = names.get(_plain_name(src.removeprefix(ATTACHMENT)))
        if name is None or name in self._shown:
            return src
        self._shown.add(name)
        return super()._embed_image_or_attachment(ATTACHMENT + name)

    def _marked(self, latex: str, source: str, block: bool) -> str:
        source = escape(source)
        self._formulas.append((mathml(latex, block) or source, source))
        return f"{self._mark}{len(self._formulas) - 1}e"

    def put_back(self, html: str) -> str:
        """Return the HTML with the formulas in place of their placeholders."""
        return self._replaced(html, 0)

    def _replaced(self, html: str, which: int) -> str:
        return re.sub(f"{self._mark}(\\d+)e", lambda mark: self._formulas[int(mark[1])][which], html)
