"""The result of running one submission: outputs, verdicts, and what went wrong.

Results are stored as JSON in DIR/.grading/results. The file's name is the key of the submission's unit (see
submission/unit.py), so that no unit is run twice.
"""

import json
from dataclasses import asdict, dataclass, field
from pathlib import Path

from autograder.errors import OUR_ERROR
from autograder.files import write_whole
from autograder.untrusted import checked
from autograder.verdict import Verdict


@dataclass
class Result:
    """The result of one submission.

    - `outputs` maps cell numbers to outputs in nbformat's form, which are safe to show.
    - `verdicts` and `graphs` map exercise ids to verdicts and to graphs. A graph is stored unchecked, as the
      student's process sent it; autograder.graph.from_data checks and reads it.
    - `problem` says what ended the run early, if anything did.
    - `review_note` says what a teacher should look at.
    - `seconds` maps each part of the run to the time that it took.
    - `missing_graphs` maps an exercise id to the reason why there is no graph although the answer's code ran.
    """

    outputs: dict[int, list[dict]] = field(default_factory=dict)
    verdicts: dict[str, Verdict] = field(default_factory=dict)
    graphs: dict[str, dict] = field(default_factory=dict)
    problem: str = ""
    review_note: str = ""
    seconds: dict[str, float] = field(default_factory=dict)
    missing_graphs: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Failed:
    """A submission that could not be read, run or judged, through no fault of the student. `reason` is one
    sentence; `trace` is the traceback, if there is one; `ours` is True if the fault is the autograder's and
    False if it is the machine's.
    """

    reason: str
    trace: str = ""
    ours: bool = False

    def __str__(self) -> str:
        if self.ours:
            return f"not graded: {OUR_ERROR} ({self.reason})"
        return f"not graded: this machine could not run it: {self.reason}"


def save(folder: Path, key: str, result: Result) -> None:
    """Store a result in the course in `folder`."""
    write_whole(_path(folder, key), json.dumps(asdict(result)))


def load(folder: Path, key: str) -> Result | None:
    """Return the result with this key, or None if there is none or it cannot be read."""
    try:
        return checked(Result, json.loads(_path(folder, key).read_text(encoding="utf-8")))
    except (OSError, ValueError, RecursionError):
        return None


def _path(folder: Path, key: str) -> Path:
    return folder / ".grading" / "results" / f"{key}.json"
