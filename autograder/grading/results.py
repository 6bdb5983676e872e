"""What came of running one submission: outputs, verdicts, and what went wrong. Plain data, kept as JSON.

Results stand in DIR/.grading/results under the key of their unit, so that what was run once is not run again.
"""

import json
from dataclasses import asdict, dataclass, field
from pathlib import Path

from autograder.files import write_whole


@dataclass
class Result:
    """`outputs` by cell number, `verdicts` and `graphs` by exercise id; `problem` says in words what ended the
    run early, if anything did, and `look` what a person should look at; `seconds` is what each part took."""

    outputs: dict[int, list] = field(default_factory=dict)
    verdicts: dict[str, dict] = field(default_factory=dict)
    graphs: dict[str, dict] = field(default_factory=dict)
    problem: str = ""
    look: str = ""
    seconds: dict[str, float] = field(default_factory=dict)


def save(folder: Path, key: str, result: Result) -> None:
    """Keeps a result of the course in `folder`."""
    write_whole(_path(folder, key), json.dumps(asdict(result)))


def load(folder: Path, key: str) -> Result | None:
    """The result with this key, or None where there is none that can be read."""
    try:
        data = json.loads(_path(folder, key).read_text(encoding="utf-8"))
        data["outputs"] = {int(cell): outputs for cell, outputs in data["outputs"].items()}
        return Result(**data)
    except (OSError, ValueError, TypeError, KeyError, AttributeError):
        return None


def _path(folder: Path, key: str) -> Path:
    return folder / ".grading" / "results" / f"{key}.json"
