"""HTML that is safe to look at, made from texts and outputs of students.

`clean` is a filter of nbconvert's templates. Text, tables and embedded pictures stay; scripts, forms, frames and
everything that would fetch something go, and so do ids, most classes, and positions, which could place a student's
words elsewhere on the page. The pages' own styles keep the rest in its box (room.css).
"""

import html
import re

from pygments.token import STANDARD_TYPES

LISTED_TAGS = (
    "a abbr b blockquote br caption code dd del details div dl dt em figcaption figure h1 h2 h3 h4 h5 h6 hr i img li "
    "mark ol p pre s small span strong sub summary sup table tbody td tfoot th thead tr u ul"
)
TAGS = set(LISTED_TAGS.split())
EMPTY = {"br", "hr", "img"}
LISTED_STYLES = (
    "color background-color font-family font-size font-style font-weight text-align vertical-align white-space width "
    "max-width margin margin-top margin-bottom padding border border-left border-collapse border-spacing display gap "
    "line-height"
)
STYLES = set(LISTED_STYLES.split())
PLAIN = {"class", "style", "title", "alt", "align", "open"}
SIZED = {"colspan", "rowspan", "width", "height"}
# subtle: the pages' own classes (Bootstrap's) can lay a text over the whole page. These cannot: of code that is
# coloured, of a table of pandas, and of our own pictures.
CLASSES = {"highlight", "dataframe", "wide", "graphs", *STANDARD_TYPES.values()} - {""}
DEEPEST = 100
TAG = re.compile(r"<(/?)([a-zA-Z][a-zA-Z0-9]*)(?=[\s/>])")
ATTRIBUTE = re.compile(r"""[\s/]*([^\s"'<>/=]+)(?:\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s"'<>`]+)))?""")
TAG_END = re.compile(r"[\s/]*>")
BARE_AND = re.compile(r"&(?!(?:#\d{1,7}|#[xX][0-9a-fA-F]{1,6}|[a-zA-Z][a-zA-Z0-9]{1,31});)")
STYLE_VALUE = re.compile(r"""(?:[-+#.,%'"\w\s]|rgba?\([\d\s.,%]*\)){,200}""")
COLOUR = re.compile(r"#\w+|rgba?\([^)]*\)")
SIZE = re.compile(r"(\d+(?:\.\d*)?|\.\d+)([a-z%]*)", re.IGNORECASE)
# The largest sizes by their unit, so that what follows can be reached; no other unit stays. subtle: a text that is
# larger than the text around it would multiply with every tag within another.
LARGEST = {"": 400, "px": 400, "pt": 300, "em": 25, "rem": 25, "ex": 50, "ch": 100, "%": 100}
LARGEST_OF = {
    "font-size": {"px": 72, "pt": 54, "rem": 4, "em": 1, "%": 100},
    "line-height": {"": 4, "px": 100, "pt": 75, "em": 4, "rem": 4, "%": 400},
    **{name: LARGEST | {"": 4000, "px": 4000} for name in ("width", "max-width", "height")},
    **{name: {"": 1000} for name in ("colspan", "rowspan")},
}
NEGATIVE = re.compile(r"-\s*[\d.]")  # moves what follows, or the text itself, out of its place


def clean(source: str | bytes) -> str:
    """The HTML with nothing but the tags and attributes listed above; other tags are shown as text.

    subtle: it is not parsed as a browser would, which takes hours for some short texts. The result is written anew from
    known tags, with every value and text escaped, in time that grows with the length.
    """
    text = source.decode(errors="replace") if isinstance(source, bytes) else str(source)
    made: list[str] = []
    opened: list[str] = []
    position = 0
    while (begin := text.find("<", position)) >= 0:
        made.append(as_text(text[position:begin]))
        position = _tag(text, begin, made, opened)
    made.append(as_text(text[position:]))
    made += [f"</{tag}>" for tag in reversed(opened)]
    return "".join(made)


def _tag(text: str, begin: int, made: list[str], opened: list[str]) -> int:
    """Adds the tag that begins there to `made`, and returns the place after it."""
    found = TAG.match(text, begin)
    tag = found[2].lower() if found else ""
    if not found or tag not in TAGS or (not found[1] and len(opened) >= DEEPEST):
        made.append("&lt;")
        return begin + 1
    position, attributes = found.end(), []
    while attribute := ATTRIBUTE.match(text, position):
        name, value = attribute[1].lower(), attribute[2] or attribute[3] or attribute[4] or ""
        attributes.append(_attribute(tag, name, html.unescape(value)))
        position = attribute.end()
    end = TAG_END.match(text, position)
    if end is None:
        made.append(as_text(text[begin:position]))
        return position
    if not found[1]:
        made.append(f"<{tag}{''.join(attributes)}>")
        if tag not in EMPTY:
            opened.append(tag)
    elif tag in opened:
        while (last := opened.pop()) != tag:
            made.append(f"</{last}>")
        made.append(f"</{tag}>")
    return end.end()


def _attribute(tag: str, name: str, value: str) -> str:
    """The attribute as text, with a space before it; empty if it is not allowed."""
    if not _allowed(tag, name, value):
        return ""
    if name in ("class", "style"):
        kept = _style(value) if name == "style" else " ".join(one for one in value.split() if one in CLASSES)
        return f' {name}="{html.escape(kept)}"' if kept else ""
    return f' {name}="{html.escape(value)}"'


def _style(text: str) -> str:
    """The declarations that only change how text looks."""
    declarations = [part.partition(":") for part in text.split(";")]
    return " ".join(
        f"{name.strip().lower()}: {value.strip()};"
        for name, _, value in declarations
        if name.strip().lower() in STYLES
        and STYLE_VALUE.fullmatch(value)
        and not NEGATIVE.search(value)
        and not _is_too_large(name.strip().lower(), value)
    )


def _is_too_large(name: str, value: str) -> bool:
    """Whether a size in the value of a style or an attribute is above its limit."""
    largest = LARGEST_OF.get(name, LARGEST)
    sizes = SIZE.findall(COLOUR.sub("", value))
    return any(float(size) > largest.get(unit.lower(), -1) for size, unit in sizes) or (
        name == "font-size" and "larger" in value.lower()
    )


def as_text(text: str) -> str:
    """Text that stays text on a page."""
    return BARE_AND.sub("&amp;", text).replace("<", "&lt;").replace(">", "&gt;")


def _allowed(tag: str, name: str, value: str) -> bool:
    if tag == "img" and name == "src":
        return value.startswith("data:image/")
    if tag == "a" and name == "href":
        return value.lower().startswith(("http://", "https://", "mailto:", "#"))
    if name in SIZED:
        return not _is_too_large(name, value)
    return name in PLAIN or (name == "tabindex" and value == "0")  # what is scrolled is reached by keyboard
