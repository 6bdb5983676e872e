"""Makes the outputs of a submission's cells safe: only known fields, known kinds of data, and clean HTML
remain.
"""

import json
import re
from typing import Any

from nbformat import NotebookNode
from nbformat.v4 import new_output

from autograder.grading.safe.clean_html import clean
from autograder.grading.safe.pictures import Room
from autograder.untrusted import as_text

# subtle: nbconvert's time for a terminal's escape sequence grows with the square of its length; colours are short.
LONG_ESCAPE = re.compile(r"\x1b\[[^@-~\n]{50,}")
BASE64 = re.compile(r"[A-Za-z0-9+/=\s]*")
LONGEST_TEXT = 200_000
LONGEST_HTML = 300_000
LARGEST_PICTURE = 4_000_000
MOST_OUTPUTS = 200
MOST_SHOWN = 20_000_000
# Tags, colours and lines cost a browser far more than other characters do. A page shows at most 50,000 of them.
COSTLY, COST = re.compile(r"<|\\u001b|\\[nr]"), 400
TOO_LARGE = "\n(This picture is too large to be shown here, or damaged.)"
NO_ROOM = "(The notebook has more output than this page can show; the rest is left out.)"


class Shown:
    """Makes the outputs of one submission safe, and limits their total size."""

    def __init__(self) -> None:
        self._left = MOST_SHOWN
        self._room = Room()

    def plain_outputs(self, outputs: list) -> list[dict]:
        """Return the outputs of one cell in nbformat's form, with only the fields that are known and safe. If
        an output would exceed what is left of the submission's total size, a note replaces it and the rest,
        in later cells as well.
        """
        made: list[dict] = []
        for output in outputs[:MOST_OUTPUTS]:
            # An output that will not be shown is not cleaned, because that would take time.
            if self._left > 0 and (plain := _plain(output, self._room)):
                text = json.dumps(plain)
                self._left -= len(text) + COST * len(COSTLY.findall(text))
                if self._left > 0:
                    made.append(plain)
            if self._left <= 0:
                return [*made, new_output("stream", name="stderr", text=NO_ROOM)]
        return made


def _plain(output: Any, room: Room) -> NotebookNode | None:
    kind = output.get("output_type") if isinstance(output, dict) else None
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
        return new_output(kind, data=_plain_data(output["data"], room), **more)
    return None


def _plain_data(data: dict, room: Room) -> dict:
    kept = {"text/plain": _text(data.get("text/plain", ""))}
    for mime in ("image/png", "image/jpeg"):
        picture = data.get(mime)
        if not isinstance(picture, str) or not BASE64.fullmatch(picture):
            continue
        if len(picture) <= LARGEST_PICTURE and room.holds(picture):
            kept[mime] = picture
        else:
            kept["text/plain"] += TOO_LARGE
    if isinstance(data.get("text/html"), str) and len(data["text/html"]) <= LONGEST_HTML:
        kept["text/html"] = clean(_text(data["text/html"], LONGEST_HTML), room=room)
    return kept


def _text(value: object, longest: int = LONGEST_TEXT) -> str:
    return LONG_ESCAPE.sub("", as_text(value, longest))
