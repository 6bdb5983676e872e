"""What axe says about a page, or about the parts of it that are ours."""

from axe_playwright_python.sync_playwright import Axe

MOST = 20  # elements that are told of one violation
WCAG = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"]


def assert_accessible(page, *parts: str, without: tuple[str, ...] = (), whole: bool = False) -> None:
    """Raises AssertionError where the page violates WCAG 2 at levels A and AA, and names the elements.

    With selectors only those parts are looked at, less what is in `without`: the user interface around them is not
    ours (JupyterLab, nbgrader). `whole` adds axe's rules for whole pages: landmarks, headings in order.
    """
    options = {"runOnly": {"type": "tag", "values": WCAG + ["best-practice"] * whole}, "resultTypes": ["violations"]}
    context = {"include": [[part] for part in parts or ("html",)], "exclude": [[part] for part in without]}
    found = Axe().run(page, context=context, options=options)
    faults = found.response["violations"]
    assert not faults, "\n".join(map(_told, faults))


def _told(violation: dict) -> str:
    nodes = violation["nodes"]
    told = [f"\n  {' '.join(map(str, node['target']))}: {node['failureSummary']}" for node in nodes[:MOST]]
    return f"{violation['id']}: {violation['help']} ({len(nodes)} times)" + "".join(told)
