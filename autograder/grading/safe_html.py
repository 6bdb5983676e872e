"""HTML that is safe to look at, made from what students write and print.

Both functions are filters of nbconvert's templates. Text, tables and embedded pictures stay; scripts, forms,
frames and everything that would fetch something go.
"""

import bleach
from bleach.css_sanitizer import CSSSanitizer
from jinja2 import pass_context

TAGS = {
    *bleach.ALLOWED_TAGS,
    "h1",
    "h2",
    "h3",
    "h4",
    "h5",
    "h6",
    "p",
    "br",
    "hr",
    "div",
    "span",
    "pre",
    "code",
    "img",
    "table",
    "thead",
    "tbody",
    "tfoot",
    "tr",
    "th",
    "td",
    "caption",
    "del",
    "s",
    "sub",
    "sup",
    "u",
    "dl",
    "dt",
    "dd",
    "details",
    "summary",
    "figure",
    "figcaption",
    "small",
    "mark",
}
STYLES = [
    "color",
    "background-color",
    "font-family",
    "font-size",
    "font-style",
    "font-weight",
    "text-align",
    "vertical-align",
    "white-space",
    "width",
    "max-width",
    "margin",
    "margin-top",
    "margin-bottom",
    "padding",
    "border",
    "border-left",
    "border-collapse",
    "border-spacing",
    "display",
    "gap",
    "line-height",
]
PLAIN = {"class", "style", "title", "alt", "colspan", "rowspan", "width", "height", "align", "open", "id"}


def clean(html) -> str:
    """The HTML with only what is listed above; the rest is shown as text."""
    text = html.decode(errors="replace") if isinstance(html, bytes) else str(html)
    return bleach.clean(
        text,
        tags=TAGS,
        attributes=_allowed,
        protocols=["http", "https", "mailto", "data"],
        css_sanitizer=CSSSanitizer(allowed_css_properties=STYLES),
    )


@pass_context
def markdown(context, source: str) -> str:
    """Markdown as clean HTML, with the pictures that are attached to the cell."""
    from nbconvert.filters.markdown_mistune import IPythonRenderer, MarkdownWithMath

    attachments = (context.get("cell") or {}).get("attachments", {})
    renderer = IPythonRenderer(escape=False, attachments=attachments, exclude_anchor_links=True)
    return clean(MarkdownWithMath(renderer=renderer).render(source))


def _allowed(tag: str, name: str, value: str) -> bool:
    if tag == "img" and name == "src":
        return value.startswith("data:image/")
    if tag == "a" and name == "href":
        return value.lower().startswith(("http://", "https://", "mailto:", "#"))
    return name in PLAIN
