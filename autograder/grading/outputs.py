"""What a submission's cells show, made safe: only known fields, known kinds of data, and clean HTML remain."""

import re

from nbformat import NotebookNode
from nbformat.v4 import new_output

from autograder.grading.safe_html import clean

BASE64 = re.compile(r"[A-Za-z0-9+/=\s]*")
LONGEST_TEXT = 200_000
LONGEST_HTML = 300_000
MOST_OUTPUTS = 200


def plain_outputs(outputs) -> list[NotebookNode]:
    """nbformat outputs from what came out of a sandbox; anything else in it is dropped."""
    made = [_plain(output) for output in outputs[:MOST_OUTPUTS] if isinstance(output, dict)]
    return [output for output in made if output is not None]


def _plain(output: dict) -> NotebookNode | None:
    kind = output.get("output_type")
    if kind == "stream":
        name = "stderr" if output.get("name") == "stderr" else "stdout"
        return new_output("stream", name=name, text=_text(output.get("text")))
    if kind == "error":
        lines = output.get("traceback")
        lines = [_text(line) for line in lines[:50]] if isinstance(lines, list) else []
        return new_output(
            "error", ename=_text(output.get("ename")), evalue=_text(output.get("evalue")), traceback=lines
        )
    if kind in ("display_data", "execute_result") and isinstance(output.get("data"), dict):
        more = {"execution_count": None} if kind == "execute_result" else {}
        return new_output(kind, data=_plain_data(output["data"]), **more)
    return None


def _plain_data(data: dict) -> dict:
    kept = {"text/plain": _text(data.get("text/plain", ""))}
    for mime in ("image/png", "image/jpeg"):
        if isinstance(data.get(mime), str) and BASE64.fullmatch(data[mime]):
            kept[mime] = data[mime]
    if isinstance(data.get("text/html"), str) and len(data["text/html"]) <= LONGEST_HTML:
        kept["text/html"] = clean(data["text/html"])
    return kept


def _text(value) -> str:
    return str(value)[:LONGEST_TEXT] if isinstance(value, str) else ""
