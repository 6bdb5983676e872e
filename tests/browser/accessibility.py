"""What axe says about a page, or about the parts of it that are ours."""

from axe_playwright_python.sync_playwright import Axe

WCAG = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"]


def faults(page, *parts: str, without: tuple[str, ...] = (), whole: bool = False) -> list[str]:
    """Violations of WCAG 2 at levels A and AA, one line each, with the elements; empty where there are none.

    With selectors only those parts are looked at, less what is in `without`: the user interface around them is not
    ours (JupyterLab, nbgrader). `whole` adds axe's rules for whole pages: landmarks, headings in order.
    """
    options = {"runOnly": {"type": "tag", "values": WCAG + ["best-practice"] * whole}, "resultTypes": ["violations"]}
    context = {"include": [[part] for part in parts or ("html",)], "exclude": [[part] for part in without]}
    found = Axe().run(page, context=context, options=options)
    return [_line(violation) for violation in found.response["violations"]]


def _line(violation: dict) -> str:
    nodes = [f"\n  {' '.join(map(str, node['target']))}: {node['failureSummary']}" for node in violation["nodes"][:8]]
    return f"{violation['id']}: {violation['help']} ({len(violation['nodes'])} times)" + "".join(nodes)
