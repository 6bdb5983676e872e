"""Folders, files and names that are not what they should be."""

import json
import os
import socket

from autograder.grading.demo.sample_class import FIRST
from red_team.attack import FULL, Attack, notebook, write_notebook

NAME = f"{FIRST}.ipynb"
UNREADABLE = "cannot be read"


def raw(name: str, tries: str, content, problem=UNREADABLE, **more) -> Attack:
    return Attack(name, tries, lambda place, folder: write_notebook(folder, content), problem=problem, **more)


def made(name: str, tries: str, make, **more) -> Attack:
    """Return an attack that hands in what `make(place, folder, text)` writes. `make` may use `text`, a
    notebook with right answers.
    """

    def write(place, folder):
        folder.mkdir()
        make(place, folder, json.dumps(notebook(place, "right")))

    return Attack(name, tries, write, **more)


def beside(name: str, tries: str, make, **more) -> Attack:
    """Return an attack that hands in right answers, and next to them what `make(place, folder)` writes."""

    def write_both(place, folder, text):
        (folder / NAME).write_text(text)
        make(place, folder)

    return made(name, tries, write_both, **more)


def linked(name: str, tries: str, file: str, target: str) -> Attack:
    """Return an attack that hands in a notebook with right answers, and `file` as a link to `target`. `file`
    may be the notebook itself.
    """

    def link(place, folder, text):
        (folder / NAME).write_text(text)
        (folder / file).unlink(missing_ok=True)
        (folder / file).symlink_to(place.filled(target))

    return made(name, tries, link, problem="is a link")


def hard_link(place, folder):
    os.link(place.facts["HOST"] + "/diary.txt", folder / "notes.txt")


def pipe(place, folder, text):
    os.mkfifo(folder / NAME)


def socket_beside(place, folder):
    here = os.getcwd()
    os.chdir(folder)  # the path of a socket is limited to 107 bytes
    try:
        with socket.socket(socket.AF_UNIX) as server:
            server.bind("s")
    finally:
        os.chdir(here)


def folder_as_notebook(place, folder, text):
    (folder / NAME).mkdir()


def two_notebooks(place, folder, text):
    write_notebook(folder, notebook(place))
    (folder / "another.ipynb").write_text(text)


def shadows(place, folder, text):
    """Write wrong answers, and modules that Python would find before the real ones if it looked in this
    folder.
    """
    write_notebook(folder, notebook(place))
    for name in (
        "torch",
        "json",
        "autograder",
        "safetensors",
        "sitecustomize",
        "usercustomize",
        "IPython",
        "os",
    ):
        (folder / f"{name}.py").write_text(
            f"open({place.facts['HOST'] + '/taken'!r}, 'w')\nraise SystemExit(0)\n"
        )
    (folder / "numpy").mkdir()
    (folder / "numpy" / "__init__.py").write_text("softmax = None")
    (folder / "nbgrader_config.py").write_text(f"open({place.facts['HOST'] + '/taken'!r}, 'w')\n")
    (folder / "conftest.py").write_text("raise SystemExit(0)")
    (folder / "autograder.so").write_bytes(b"\x7fELF")
    (folder / "x.pth").write_text("import os")


def own_records(place, folder, text):
    """Write forged results, records and grades next to the notebook."""
    write_notebook(folder, notebook(place))
    for name in (".grading/results/x.json", "autograded/x.ipynb", "feedback/x.html"):
        (folder / name).parent.mkdir(parents=True)
        (folder / name).write_text('{"points": 7.0, "verdicts": {"loops.softmax": {"points": 7.0}}}')


def hostile_time(place, folder):
    (folder / "timestamp.txt").write_text("9999999-99-99 99:99:99 ../../x <script>pwned()</script>\n" * 1000)


def odd_time(place, folder):
    (folder / "timestamp.txt").write_bytes(b"\xff\xfe\x00")


def nested_folders(place, folder):
    nest(folder, "d", 1100)


def long_path(place, folder):
    nest(folder, "d" * 250, 20)


def nest(folder, name, count):
    """Nest `count` folders of this name. Each is made relative to the one above, because the whole path is
    too long for a system call.
    """
    above = os.open(folder, os.O_RDONLY)
    for _ in range(count):
        os.mkdir(name, dir_fd=above)
        below = os.open(name, os.O_RDONLY, dir_fd=above)
        os.close(above)
        above = below
    os.close(above)


def many_files(place, folder):
    for number in range(1100):
        (folder / f"{number}.txt").touch()


def not_entered(place, folder):
    """Change the folder's mode so that it can be listed, but only root can enter it."""
    folder.chmod(0o444)


def sparse_files(place, folder):
    """Write three gigabytes of sparse files, which take no disk space."""
    for number in range(64):
        with (folder / f"data{number}").open("wb") as file:
            file.truncate(48_000_000)


def sparse_notebook(place, folder, text):
    with (folder / NAME).open("wb") as file:
        file.truncate(2**40)


def named(name: str, tries: str) -> Attack:
    def write(place, folder):
        write_notebook(folder, notebook(place, "right"))

    return Attack(name, tries, write, points=FULL, problem="")


ATTACKS = (
    linked("linked_notebook", "the notebook is a link to a file of the host", NAME, "@HOST@/answers.ipynb"),
    linked(
        "linked_file", "a file beside the notebook is a link to the secret", "LICENSE", "@COURSE@/.secret"
    ),
    beside(
        "hard_link",
        "a file beside the notebook is a second name of a file of the host",
        hard_link,
        points=FULL,
    ),
    made("pipe", "the notebook is a pipe", pipe, problem="not a regular file"),
    beside("socket_beside", "a socket beside the notebook", socket_beside, problem="not a regular file"),
    made("folder_as_notebook", "the notebook is a folder", folder_as_notebook, problem="no file"),
    made("two_notebooks", "another notebook beside the wrong one", two_notebooks),
    made("shadows", "modules beside the notebook", shadows),
    made("own_records", "results of one's own beside the notebook", own_records),
    beside("hostile_time", "a time stamp that is none", hostile_time, points=FULL),
    beside("odd_time", "a time stamp that is no text", odd_time, points=FULL),
    beside("nested_folders", "1,100 folders within each other", nested_folders, problem="nested too deeply"),
    beside("long_path", "a path longer than a path may be", long_path, problem="nested too deeply"),
    beside("many_files", "more files than anybody hands in", many_files, problem="holds more than"),
    beside(
        "not_entered",
        "a folder that can be listed and not entered",
        not_entered,
        problem="" if os.geteuid() == 0 else "cannot be read",
        points=FULL if os.geteuid() == 0 else 0.0,
    ),
    beside("sparse_files", "files of three gigabytes beside the notebook", sparse_files, points=FULL),
    made("sparse_notebook", "a notebook of a terabyte", sparse_notebook, problem="larger than"),
    raw("no_text", "bytes that are no text", b"\xff\xfe{}" * 1000, "not saved as UTF-8"),
    raw("too_many_lists", "sixteen million lists", '{"cells": [' + "[]," * 16 * 10**6 + "[]]}", "too many"),
    named("x..", "a name that ends like a way up"),
    named("-rf", "a name that begins like an option"),
    named("*", "a name that stands for all"),
    named("%s{0}$HOME`id`", "a name that is filled in"),
    named("o'neil\"; drop table student; --", "a name that ends a command"),
    named("zoë 李 \u202egpj.exe", "a name in other alphabets, and one that turns around"),
    named("<img src=x onerror=pwned()>", "a name that is a script"),
    named("line\nbreak\t\x1b[2J", "a name of several lines"),
    named("n" * 250, "a name as long as a name may be"),
)
