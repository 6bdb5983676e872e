"""Makes HTML from students' texts and outputs safe to display.

`clean` keeps text, tables and embedded pictures. It removes scripts, forms, frames and everything that would
be fetched, and also ids, most classes, and positioning, which could move a student's text to another part of
the page. On a page, `boxed` keeps the remaining HTML from closing the page's own elements, and the pages'
style sheet (room.css) limits the size of what it shows.
"""

import html
import re
from dataclasses import dataclass, field

from pygments.token import STANDARD_TYPES

from autograder.grading.safe.pictures import Room

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
# subtle: the pages' own classes (Bootstrap's) can lay a text over the whole page. These cannot: the
# classes of highlighted code, of pandas tables, and of our own pictures.
CLASSES = {"highlight", "dataframe", "wide", "graphs", *STANDARD_TYPES.values()} - {""}
DEEPEST = 100
# subtle: a browser closes some elements by itself (a list item when the next one begins, a heading when another begins
# within it) and ignores some start tags (a cell's outside a table). The end tags that are then left over would close
# the page's own elements. By the rules of HTML, no tag in TAGS closes an element outside an open applet. No browser
# runs applets any more; all treat this tag as an unknown element, which has no style.
BOX = "applet"
# subtle: a browser lays out the content of a flex or grid container several times, so the time grows exponentially with
# nested containers. Our own cards have one flex container, within at most one other element.
DISPLAYS, DEEPEST_FLEX = {"block", "inline", "inline-block"}, 1
# subtle: when a browser closes an open paragraph, row or list item by itself, it opens all of these that are still
# open again in the next one: 300 KB made a million elements.
OPENED_AGAIN = {"a", "b", "code", "em", "i", "s", "small", "strong", "u"}
MOST_OPENED_AGAIN = 5  # within each other
TAG = re.compile(r"<(/?)([a-zA-Z][a-zA-Z0-9]*)(?=[\s/>])")
ATTRIBUTE = re.compile(r"""[\s/]*([^\s"'<>/=]+)(?:\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s"'<>`]+)))?""")
TAG_END = re.compile(r"[\s/]*>")
BARE_AND = re.compile(r"&(?!(?:#\d{1,7}|#[xX][0-9a-fA-F]{1,6}|[a-zA-Z][a-zA-Z0-9]{1,31});)")
STYLE_VALUE = re.compile(r"""(?:[-+#.,%'"\w\s]|rgba?\([\d\s.,%]*\)){,200}""")
COLOUR = re.compile(r"#\w+|rgba?\([^()]*\)")
SIZE = re.compile(r"(\d+(?:\.\d*)?|\.\d+)([a-z%]*)", re.IGNORECASE)
# The largest size in each unit, so that the rest of the page stays within reach; sizes in other units are removed.
# subtle: a font size larger than that of the surrounding text would multiply with every nested tag. In margins
# and padding, percentages in nested elements whose width depends on their content take a browser exponential time.
LARGEST = {"": 400, "px": 400, "pt": 300, "em": 25, "rem": 25, "ex": 50, "ch": 100}
LARGEST_OF = {
    "font-size": {"px": 72, "pt": 54, "rem": 4, "em": 1, "%": 100},
    "line-height": {"": 4, "px": 100, "pt": 75, "em": 4, "rem": 4, "%": 400},
    **{name: LARGEST | {"": 4000, "px": 4000, "%": 100} for name in ("width", "max-width", "height")},
    **{name: {"": 20} for name in ("colspan", "rowspan")},
}
MOST_SPANNED = 5000  # in one text: browsers take minutes for a table with many wide cells
PICTURES = ("data:image/png;", "data:image/jpeg;", "data:image/gif;")
OWN = "data:image/svg+xml;"  # subtle: never a student's: a short SVG can draw a shape a million times
NEGATIVE = re.compile(r"-\s*[\d.]")  # moves the text itself, or what follows it, to another part of the page


@dataclass
class _Page:
    """A text that is being rewritten: the output so far, the open tags, how many more columns and rows its
    table cells may span in total, and the kinds of pictures that are allowed.
    """

    pictures: tuple[str, ...]
    room: Room
    made: list[str] = field(default_factory=list)
    opened: list[str] = field(default_factory=list)
    spans: int = MOST_SPANNED


def clean_again(source: str | bytes) -> str:
    """Clean HTML a second time, for a page, and put it in a box. Keep our own pictures of graphs, which were
    added after the first cleaning. This is a filter for nbconvert's templates.
    """
    return boxed(clean(source, (*PICTURES, OWN)))


def boxed(html: str) -> str:
    """Return clean HTML in an element that its tags cannot close, however badly they are nested. subtle: they
    can if the page puts that element in a table.
    """
    return f"<{BOX}>{html}</{BOX}>"


def clean(source: str | bytes, pictures: tuple[str, ...] = PICTURES, room: Room | None = None) -> str:
    """Return the HTML with only the allowed tags and attributes; other tags are shown as text.

    subtle: the source is not parsed as a browser would parse it, because that takes hours for some short
    texts. Instead, one pass in linear time recognises the known tags and rewrites them, and escapes every
    value and text.
    """
    text = source.decode(errors="replace") if isinstance(source, bytes) else str(source)
    page = _Page(pictures, room or Room())
    position = 0
    while (begin := text.find("<", position)) >= 0:
        page.made.append(as_text(text[position:begin]))
        position = _tag(text, begin, page)
    page.made.append(as_text(text[position:]))
    page.made += [f"</{tag}>" for tag in reversed(page.opened)]
    return "".join(page.made)


def _tag(text: str, begin: int, page: _Page) -> int:
    """Append to `page` the tag that begins at `begin`, and return the position after it. If no complete,
    allowed tag begins there, append the characters that were read, escaped as text.
    """
    made, opened = page.made, page.opened
    found = TAG.match(text, begin)
    tag = found[2].lower() if found else ""
    if not found or tag not in TAGS or (not found[1] and _is_too_deep(tag, opened)):
        made.append("&lt;")
        return begin + 1
    position, attributes = found.end(), []
    while attribute := ATTRIBUTE.match(text, position):
        name, value = attribute[1].lower(), attribute[2] or attribute[3] or attribute[4] or ""
        attributes.append(_attribute(tag, name, html.unescape(value), page))
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


def _is_too_deep(tag: str, opened: list[str]) -> bool:
    """Return whether this tag may not be opened within those that are open."""
    again = tag in OPENED_AGAIN and sum(one in OPENED_AGAIN for one in opened) >= MOST_OPENED_AGAIN
    return again or len(opened) >= DEEPEST


def _attribute(tag: str, name: str, value: str, page: _Page) -> str:
    """Return the attribute as text, with a space before it, or an empty string if it is not allowed."""
    if not _allowed(tag, name, value, page):
        return ""
    if name == "class":
        kept = " ".join(one for one in value.split() if one in CLASSES)
    elif name == "style":
        kept = _style(value, page)
    else:
        return f' {name}="{html.escape(value)}"'
    return f' {name}="{html.escape(kept)}"' if kept else ""


def _style(text: str, page: _Page) -> str:
    """Return the allowed declarations of a style: those that only change how text looks, with sizes within
    the limits.
    """
    declarations = [part.partition(":") for part in text.split(";")]
    return " ".join(
        f"{name.strip().lower()}: {value.strip()};"
        for name, _, value in declarations
        if name.strip().lower() in STYLES
        and STYLE_VALUE.fullmatch(value)
        and not NEGATIVE.search(value)
        and not _is_too_large(name.strip().lower(), value)
        and (name.strip().lower() != "display" or _may_be_displayed_as(value, page))
    )


def _may_be_displayed_as(value: str, page: _Page) -> bool:
    """Return whether the next element may have this value of the style `display`."""
    kind = value.strip().lower()
    return kind in DISPLAYS or (kind == "flex" and len(page.opened) <= DEEPEST_FLEX)


def _is_too_large(name: str, value: str) -> bool:
    """Return whether the value of the style or attribute `name` contains a size above its limit."""
    too_large = exceeds(COLOUR.sub("", value), LARGEST_OF.get(name, LARGEST))
    return too_large or (name == "font-size" and "larger" in value.lower())


def exceeds(value: str, largest: dict[str, int]) -> bool:
    """Return whether `value` contains a size that is above its unit's limit in `largest`, or whose unit has
    no limit there.
    """
    return any(float(size) > largest.get(unit.lower(), -1) for size, unit in SIZE.findall(value))


def as_text(text: str) -> str:
    """Escape text, so that a page shows any tags in it and does not interpret them. Character references such
    as `&lt;` stay as they are.
    """
    return BARE_AND.sub("&amp;", text).replace("<", "&lt;").replace(">", "&gt;")


def _allowed(tag: str, name: str, value: str, page: _Page) -> bool:
    if tag == "img" and name == "src":
        is_known = value.startswith(page.pictures)
        return is_known and (value.startswith(OWN) or page.room.holds(value.partition(",")[2]))
    if tag == "a" and name == "href":
        return value.lower().startswith(("http://", "https://", "mailto:", "#"))
    if name in ("colspan", "rowspan"):
        page.spans -= int(value) if (fits := value.isdecimal() and not _is_too_large(name, value)) else 0
        return fits and page.spans >= 0
    if name in SIZED:
        return not _is_too_large(name, value)
    return name in PLAIN or (name == "tabindex" and value == "0")  # lets it be scrolled by keyboard
