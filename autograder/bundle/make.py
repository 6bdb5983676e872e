"""What goes into the student bundle, and the zip itself.

Everything is named here: what is not named is not in it. Notebooks are made anew from the lessons' sources, so that
what somebody wrote into a notebook of the clone stays there; they are those of a course's `release/` to the letter.
"""

import os
import shutil
import signal
import tempfile
import threading
import zipfile
from concurrent.futures import Future, ProcessPoolExecutor
from contextlib import contextmanager
from importlib.metadata import version
from multiprocessing import get_context
from pathlib import Path

from autograder.build.lesson import ROOT, find_lessons
from autograder.errors import UserError

PACKAGE = Path(__file__).resolve().parents[1]
TOP = "attention-by-hand"
# Of the package: what a notebook's tools need, and nothing that holds or makes an answer.
MODULES = (
    "__init__.py",
    "__main__.py",
    "errors.py",
    "files.py",
    "cli/__init__.py",
    "cli/learn.py",
    "exercises/__init__.py",
    "exercises/exercise.py",
    "exercises/recorded.py",
    "exercises/store.py",
    "exercises/values.py",
)
FOLDERS = ("graph", "judge", "judge/findings", "judge/relations", "notebook", "notebook/figures", "probe")
# What it imports; the versions are those of this environment.
REQUIRED = (
    "ipykernel",
    "ipython",
    "ipywidgets",
    "jupyterlab",
    "matplotlib",
    "matplotlib-inline",
    "numpy",
    "pygraphviz",
    "safetensors",
    "torch",
)


def bundle(file: Path, progress: bool = True) -> Path:
    """Writes the zip and prints what is in it. Takes some minutes: every known mistake is run once.

    Raises UserError where the file exists, or cannot be written.
    """
    file = Path(file).absolute()
    if file.exists():
        raise UserError(f"{file} exists; name a new file, or remove it first.")
    if not file.parent.is_dir():
        raise UserError(f"there is no folder {file.parent} to write the bundle into.")
    half = file.with_name(f".{file.name}.{os.getpid()}")
    try:
        with _handled_by(_leave, signal.SIGTERM), tempfile.TemporaryDirectory() as folder:
            lessons = fill(Path(folder), progress)
            _zip(Path(folder), half)
        half.rename(file)
    except OSError as error:
        raise UserError(f"{file} cannot be written: {error.strerror or error}.") from None
    finally:
        half.unlink(missing_ok=True)
    print(f"{file}: {len(lessons)} lessons, {file.stat().st_size / 1e6:.1f} MB, no answers in it.")
    print("Students unpack it and run `make lab` in its folder; its README tells the rest.")
    return file


def _leave(number, frame):
    """Ends the process as Ctrl-C does: what was begun is tidied up."""
    raise SystemExit(128 + number)


@contextmanager
def _handled_by(handler, *numbers: signal.Signals):
    """During the block the signals call the handler; outside the first thread, where none can, nothing changes."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = {number: signal.signal(number, handler) for number in numbers}
    try:
        yield
    finally:
        for number, one in before.items():
            signal.signal(number, one)


def fill(folder: Path, progress: bool = True) -> list[str]:
    """Puts all that the zip holds into a folder; gives the lessons' names."""
    from autograder.build.notebooks import as_text, student_notebook

    lessons = find_lessons(None)
    (folder / "notebooks").mkdir()
    for lesson in lessons:
        text = as_text(student_notebook(lesson))
        (folder / "notebooks" / f"{lesson.name}.ipynb").write_text(text, encoding="utf-8")
    _copy_code(folder)
    _write_texts(folder, lessons[0].name)
    _record(folder / "autograder/exercises/recorded", progress)
    return [lesson.name for lesson in lessons]


def _copy_code(folder: Path) -> None:
    wanted = [*MODULES, *(f"{name}/{path.name}" for name in FOLDERS for path in (PACKAGE / name).glob("*.py"))]
    for name in wanted:
        target = folder / "autograder" / name
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(PACKAGE / name, target)


def _write_texts(folder: Path, first_lesson: str) -> None:
    """Licence, README, Makefile and what pip needs."""
    shutil.copyfile(ROOT / "LICENSE", folder / "LICENSE")
    pins = [f"{name}=={version(name).partition('+')[0]}" for name in REQUIRED]
    known = {
        "FIRST_LESSON": first_lesson,
        "VERSION": version("attention-by-hand"),
        "PINS": "\n".join(pins),
        "DEPENDENCIES": "\n".join(f'    "{pin}",' for pin in pins),
    }
    for template in (PACKAGE / "bundle/student").iterdir():
        text = template.read_text(encoding="utf-8")
        for name, value in known.items():
            text = text.replace(f"@{name}@", value)
        (folder / template.name.removesuffix(".in")).write_text(text, encoding="utf-8")


def _record(folder: Path, progress: bool) -> None:
    """The visible checks as data, several at a time."""
    from tqdm import tqdm

    from autograder.bundle.records import write_exercises
    from autograder.exercises import all_exercises

    folder.mkdir()
    write_exercises(folder, all_exercises())
    context = get_context("spawn")  # subtle: a fork of a process that has run PyTorch may hang.
    ears, mouth = context.Pipe(duplex=False)
    with mouth, ProcessPoolExecutor(min(os.cpu_count() or 1, 8), context, _start, (ears,)) as pool:
        try:
            running = _submitted(pool, folder, all_exercises())
            for done in tqdm(running, unit="file", disable=not progress, leave=False):
                done.result()
        except BaseException:
            mouth.close()
            raise


def _submitted(pool: ProcessPoolExecutor, folder: Path, exercises) -> list[Future]:
    """Everything that is to be written, what takes longest first."""
    from autograder.bundle.records import write_alone, write_pairs

    ids = [one.id for one in sorted(exercises, key=lambda one: -len(one.mistakes))]
    # subtle: workers inherit the mask. Ctrl-C reaches them, too, and is for this process, which ends them.
    with _heard_afterwards(signal.SIGINT, signal.SIGTERM):
        signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
        try:
            return [pool.submit(write, folder, name) for write in (write_pairs, write_alone) for name in ids]
        finally:
            signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})


@contextmanager
def _heard_afterwards(*numbers: signal.Signals):
    """Signals that come during the block act after it: a worker half started would fail loudly.

    A mask alone would not do: any other thread of the process may take the signal, and Python acts in the first one.
    """
    heard = []
    try:
        with _handled_by(lambda number, frame: heard.append(number), *numbers):
            yield
    finally:
        if heard:
            signal.raise_signal(heard[0])


def _start(ears) -> None:
    """A worker, which ends as soon as the process that started it does, or says so by closing its end of a pipe."""
    import torch

    torch.set_num_threads(1)

    def listen():
        try:
            ears.recv()
        except EOFError:
            os._exit(1)

    threading.Thread(target=listen, daemon=True).start()


def _zip(folder: Path, file: Path) -> None:
    """The folder as a zip: the same files in the same order, dated alike, whoever makes it."""
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as archive:
        for path in sorted(path for path in folder.rglob("*") if path.is_file()):
            name = zipfile.ZipInfo(f"{TOP}/{path.relative_to(folder).as_posix()}", (2025, 1, 1, 0, 0, 0))
            name.external_attr, name.compress_type = 0o644 << 16, zipfile.ZIP_DEFLATED
            archive.writestr(name, path.read_bytes())
