"""A learner's own folder: notebooks to work in, and worked lessons to read.

The folder stores a digest of each notebook that was handed out. A notebook is brought up to date only if its
cells are unchanged; one that the learner has changed is left alone.
"""

import contextlib
import hashlib
import json
import re
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

from autograder.errors import UserError
from autograder.files import write_whole
from autograder.notebook.memory import FOLDER as MEMORY

HOME = Path(__file__).resolve().parents[2]  # a clone or a bundle holds notebooks here, next to the package
DEFAULT = "attention-by-hand"
GIVEN = ".given.json"
PICTURE = re.compile(r"!\[([^\]]*)\]\([^)]*\)")


def made(folder: Path | None, as_files: bool = False) -> Path:
    """Make the learner's folder or bring it up to date, and return it. The default is `attention-by-hand` in
    the current folder; in an unpacked bundle it is the bundle's own folder, which is returned as it is.

    With `as_files`, a Python file for each lesson takes the place of the notebook to work in, even in a
    bundle.

    Raises UserError if the folder cannot be made, or if there are no notebooks.
    """
    if folder is None and _is_bundle():
        if not as_files:
            return HOME
        folder = HOME
    folder = (Path(DEFAULT) if folder is None else folder).absolute()
    try:
        _bring_up_to_date(folder, as_files)
    except OSError as error:
        raise UserError(
            f"{folder} cannot be used ({error.strerror or error}); choose another folder, as in: "
            "python -m autograder lab FOLDER"
        ) from None
    if not any((folder / "notebooks").glob("*.py" if as_files else "*.ipynb")):
        raise UserError(
            "there are no notebooks here; run this command in the folder that you unpacked, "
            "the one that contains `notebooks`."
        )
    return folder


def _is_bundle() -> bool:
    return (HOME / "notebooks").is_dir() and not (HOME / "solutions").is_dir()


def _bring_up_to_date(folder: Path, as_files: bool) -> None:
    given = _read(folder / GIVEN)
    for name, text in _files():
        if as_files and name.startswith("notebooks/") and name.endswith(".ipynb"):
            name, text = f"{name.removesuffix('.ipynb')}.py", as_percent(text)
        path = folder / name
        digest = _digest(text)
        now = _digest(path.read_text(encoding="utf-8", errors="replace")) if path.exists() else None
        if now is None or (now == given.get(name) and now != digest):
            write_whole(path, text)
            given[name] = digest
        elif (
            path.suffix in (".ipynb", ".py")
            and now != given.get(name)
            and given.get(name) not in (None, digest)
        ):
            print(f"{name} holds your changes and stays as it is; rename it to get the new edition as well.")
    write_whole(folder / GIVEN, json.dumps(given, indent=2))


def _files() -> Iterator[tuple[str, str]]:
    """Yield the name and text of every notebook, and of the verdicts stored next to it. In a clone or a
    bundle these are existing files, in which somebody may have begun to work; in an installed package, the
    notebooks are built; an installed bundle has none.
    """
    if (HOME / "notebooks").is_dir():
        for kind in ("notebooks/*.ipynb", f"notebooks/{MEMORY}/*.json", "solutions/*.ipynb"):
            for path in sorted(HOME.glob(kind)):
                yield path.relative_to(HOME).as_posix(), path.read_text(encoding="utf-8")
        return
    if find_spec("autograder.build") is None:  # a bundle that was installed elsewhere
        return
    from autograder.build.lesson import find_lessons
    from autograder.build.notebooks import as_text, reading_notebook, student_notebook

    for lesson in find_lessons(None):
        yield f"notebooks/{lesson.name}.ipynb", as_text(student_notebook(lesson))
        yield f"solutions/{lesson.name}.ipynb", as_text(reading_notebook(lesson))


def as_percent(text: str) -> str:
    """Return the text of a notebook as Python in the percent format, which editors show as cells. Pictures
    are replaced by their descriptions.
    """
    parts = []
    for cell in json.loads(text)["cells"]:
        source = "".join(cell["source"])
        if cell["cell_type"] == "code":
            parts.append(f"# %%\n{source}\n")
        else:
            lines = PICTURE.sub(r"(Picture: \1)", source).splitlines()
            parts.append("# %% [markdown]\n" + "".join(f"# {line}".rstrip() + "\n" for line in lines))
    return "\n".join(parts)


def _digest(text: str) -> str:
    """Return a digest of the whole text or, if it is a notebook, only of its cells: JupyterLab changes the
    rest of a notebook just by opening it.
    """
    with contextlib.suppress(ValueError, LookupError, TypeError):
        text = json.dumps(
            [[cell["cell_type"], "".join(cell["source"])] for cell in json.loads(text)["cells"]]
        )
    return hashlib.sha256(text.encode(errors="replace")).hexdigest()


def _read(path: Path) -> dict[str, str]:
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}
