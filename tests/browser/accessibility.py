"""Checks pages, or the parts of them that the course provides, with the accessibility checker axe."""

from axe_playwright_python.sync_playwright import Axe

MOST = 20  # how many elements are named for one violation
WCAG = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"]
COLOURS = ["color-contrast", "link-in-text-block"]
WIDTHS = ["button-name", "link-name", "scrollable-region-focusable", "target-size"]
# The thousands of words in code come in a few styles. While axe runs, only the first visible word of each style is
# shown, and represents the others. Single characters count as a style of their own: axe cannot judge them.
ONE_OF_EACH = """(hide) => {
    const seen = new Set();
    for (const word of document.querySelectorAll(".highlight pre span")) {
        const names = [word, word.parentElement, word.closest(".highlight")].map((one) => one.className);
        const kind = [word.textContent.length > 1, ...names].join();
        word.style.visibility = hide && seen.has(kind) ? "hidden" : "";
        if (word.checkVisibility()) seen.add(kind);
    }
}"""


def assert_accessible(
    page, *parts: str, without: tuple[str, ...] = (), whole: bool = False, again=False
) -> None:
    """Raise AssertionError, naming the elements, if the page violates WCAG 2 at level A or AA.

    `parts` and `without` are CSS selectors. If there are `parts`, only these are checked; what `without`
    selects is never checked. Callers can thus leave out the user interface of JupyterLab and nbgrader, which
    is not ours. `whole` adds axe's rules for whole pages, such as landmarks and the order of headings.
    `again` is for a page that was already checked in another theme or width: only the rules that depend on
    theme or width are run, in half the time.
    """
    rules = {"type": "tag", "values": WCAG + ["best-practice"] * whole}
    if again:
        rules = {"type": "rule", "values": COLOURS + WIDTHS}
    # No preload: axe would fetch style sheets itself, some from addresses that have none.
    options = {"runOnly": rules, "resultTypes": ["violations"], "preload": False}
    context = {"include": [[part] for part in parts or ("html",)], "exclude": [[part] for part in without]}
    page.evaluate(ONE_OF_EACH, True)
    found = Axe().run(page, context=context, options=options)
    page.evaluate(ONE_OF_EACH, False)
    faults = found.response["violations"]
    assert not faults, "\n".join(map(_told, faults))


def assert_no_sideways_scroll(page) -> None:
    """Raise AssertionError if the page is wider than its window."""
    wide, window = page.evaluate("(e => [e.scrollWidth, e.clientWidth])(document.documentElement)")
    assert wide <= window, f"{page.url} is {wide} wide in a window of {window}"


def _told(violation: dict) -> str:
    nodes = violation["nodes"]
    told = [f"\n  {' '.join(map(str, node['target']))}: {node['failureSummary']}" for node in nodes[:MOST]]
    return f"{violation['id']}: {violation['help']} ({len(nodes)} times)" + "".join(told)
