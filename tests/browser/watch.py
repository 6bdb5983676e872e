"""Watches a page for errors in the console, and for requests to anywhere but this machine."""

import re

# (pattern of an expected error, why it is not ours to mend)
EXPECTED = (
    (
        r"ERR_UNKNOWN_URL_SCHEME.*attachment:",
        "JupyterLab and Notebook 7 put a text cell into the page before they put its attached pictures into it",
    ),
    (
        r"reading 'schema'\).*static/notebook/notebook_core",
        "Notebook 7.6 trips over a setting of its own and goes on",
    ),
    (
        r"403 \(Forbidden\).*/static/notebook/\w+\.woff",
        "jupyter_server remembers a font by its name alone: after JupyterLab had it, Notebook 7 is denied its own",
    ),
    (
        r"'filebrowser:open-path' not registered.*static/notebook",
        "Notebook 7.6 calls a command of JupyterLab",
    ),
    (
        r"Could not restore the debugger state: Canceled future",
        "the page asks the kernel for its debugger's state, and is closed before the answer on a busy machine",
    ),
)
LOCAL = re.compile(r"(https?|wss?)://(127\.0\.0\.1|localhost)[:/]|(file|data|blob|about|attachment):")


class Watch:
    """Collects in `seen` the errors and requests that are not expected."""

    def __init__(self):
        self.seen: list[str] = []

    def over(self, context) -> None:
        """Watch every page of a browser's context."""
        context.on("request", self._request)
        context.on("console", self._console)
        context.on("weberror", lambda error: self._note(" ".join(f"uncaught {error.error.stack}".split())))

    def _request(self, request) -> None:
        if not LOCAL.match(request.url):
            self._note(f"request to {request.url}")

    def _console(self, message) -> None:
        if message.type == "error":
            self._note(f"console: {message.text} ({message.location['url']})")

    def _note(self, text: str) -> None:
        if not any(re.search(pattern, text) for pattern, _ in EXPECTED):
            self.seen.append(text)
