"""Notebooks and folders that are not what they should be."""

import copy
import json
import os
import socket

from autograder.grading.sample_class import FIRST
from red_team.attack import FULL, Attack, by_edit, cell_of, checks, notebook, solutions, write_notebook

NAME = f"{FIRST}.ipynb"
SOFTMAX_CHECK = "check-loops-softmax"
UNREADABLE = "cannot be read"


def raw(name: str, tries: str, content, problem=UNREADABLE, **more) -> Attack:
    return Attack(name, tries, lambda place, folder: write_notebook(folder, content), problem=problem, **more)


def made(name: str, tries: str, make, **more) -> Attack:
    """`make(place, folder, notebook)` writes what it likes; right answers, so that what is left of them counts."""

    def write(place, folder):
        folder.mkdir()
        make(place, folder, json.dumps(notebook(place, "right")))

    return Attack(name, tries, write, **more)


def linked_notebook(place, folder, text):
    (folder / NAME).symlink_to(place.facts["HOST"] + "/answers.ipynb")


def linked_to_neighbour(place, folder, text):
    (folder / NAME).symlink_to(place.course / "submitted" / "honest_ada" / FIRST / NAME)


def linked_to_device(place, folder, text):
    (folder / NAME).symlink_to("/dev/zero")


def linked_time(place, folder, text):
    (folder / NAME).write_text(text)
    (folder / "timestamp.txt").symlink_to(place.facts["HOST"] + "/diary.txt")


def linked_file(place, folder, text):
    (folder / NAME).write_text(text)
    (folder / "LICENSE").symlink_to(place.course / ".secret")


def hard_link(place, folder, text):
    (folder / NAME).write_text(text)
    os.link(place.facts["HOST"] + "/diary.txt", folder / "notes.txt")


def pipe(place, folder, text):
    os.mkfifo(folder / NAME)


def pipe_beside(place, folder, text):
    (folder / NAME).write_text(text)
    os.mkfifo(folder / "timestamp.txt")


def socket_beside(place, folder, text):
    (folder / NAME).write_text(text)
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
    """Modules that would be found before the real ones, with answers that are wrong without them."""
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
    """Results, records and grades of one's own beside the notebook."""
    write_notebook(folder, notebook(place))
    for name in (".grading/results/x.json", "autograded/x.ipynb", "feedback/x.html"):
        (folder / name).parent.mkdir(parents=True)
        (folder / name).write_text('{"points": 7.0, "verdicts": {"loops.softmax": {"points": 7.0}}}')


def hostile_time(place, folder, text):
    (folder / NAME).write_text(text)
    (folder / "timestamp.txt").write_text("9999999-99-99 99:99:99 ../../x <script>pwned()</script>\n" * 1000)


def odd_time(place, folder, text):
    (folder / NAME).write_text(text)
    (folder / "timestamp.txt").write_bytes(b"\xff\xfe\x00")


def deep_folders(place, folder, text):
    (folder / NAME).write_text(text)
    (folder / "/".join("d" * 50)).mkdir(parents=True)
    for i in range(300):
        (folder / f"{i}").touch()


def for_cells(edit):
    def apply(content):
        for cell in content["cells"]:
            edit(cell)

    return apply


def no_checks(content):
    content["cells"] = [cell for cell in content["cells"] if cell not in checks(content)]


def more_points(content):
    for cell in checks(content):
        cell["metadata"]["nbgrader"] |= {
            "points": 1000,
            "max_points": 1000,
            "locked": False,
            "solution": True,
        }
        cell["source"] = "1000.0"
        cell["outputs"] = [
            {
                "output_type": "execute_result",
                "data": {"text/plain": "7.0"},
                "metadata": {},
                "execution_count": 1,
            }
        ]


def negative_schema(content):
    for cell in checks(content) + solutions(content):
        cell["metadata"]["nbgrader"] |= {
            "schema_version": -1,
            "points": float("nan"),
            "cell_type": [],
            "checksum": {},
        }


def old_schema(content):
    for cell in checks(content):
        cell["metadata"]["nbgrader"] = {
            "schema_version": 1,
            "grade": True,
            "grade_id": SOFTMAX_CHECK,
            "points": 99,
        }


def skipped_by_tags(content):
    content["metadata"]["celltoolbar"] = "x"
    for cell in content["cells"]:
        cell["metadata"]["tags"] = [
            "skip-execution",
            "raises-exception",
            "remove-cell",
            "injected-parameters",
        ]


def every_id_twice(content):
    content["cells"] += copy.deepcopy(content["cells"])


def swapped_ids(content):
    """Every check claims to be that of the first exercise, whose answer is right."""
    answers = solutions(content)
    answers[0]["source"] = (
        "import torch\ndef dot_product_scores(x):\n    return torch.stack([torch.stack([sum(p * r for p, r in "
        "zip(a, b)) for b in x]) for a in x])"
    )
    for cell in checks(content):
        cell["metadata"]["nbgrader"]["grade_id"] = "check-loops-dot_product_scores"


def other_ids(content):
    for number, value in enumerate(
        [None, 7, [], {}, "x" * 10**6, "../../x", "check-loops-nothing", "<script>"]
    ):
        content["cells"].insert(
            0,
            cell_of(
                "7.0",
                id=f"c{number}",
                metadata={
                    "nbgrader": {
                        "grade": True,
                        "locked": True,
                        "solution": False,
                        "grade_id": value,
                        "points": 5,
                        "schema_version": 3,
                    }
                },
            ),
        )
    content["cells"][0]["metadata"]["nbgrader"] = "not a dict"


def new_grade_cells(content):
    for number, name in enumerate(("check-matmul-attention", "check-heads-split_heads", "bonus")):
        content["cells"].append(
            cell_of(
                "100.0",
                id=f"new{number}",
                metadata={
                    "nbgrader": {
                        "grade": True,
                        "locked": True,
                        "solution": False,
                        "grade_id": name,
                        "points": 100,
                        "task": False,
                        "cell_type": "code",
                        "schema_version": 3,
                        "checksum": "x",
                    }
                },
            )
        )


def retyped(content):
    for cell in checks(content) + solutions(content):
        if cell["cell_type"] == "code":
            cell["cell_type"] = "markdown"
            del cell["outputs"], cell["execution_count"]
        else:
            cell |= {"cell_type": "code", "outputs": [], "execution_count": None}


def raw_cells(content):
    for cell in solutions(content):
        cell["cell_type"] = "raw"
        cell.pop("outputs", None), cell.pop("execution_count", None)


def backwards(content):
    content["cells"].reverse()


def checks_first(content):
    first = checks(content)
    content["cells"] = first + [cell for cell in content["cells"] if cell not in first]


def other_kernel(content):
    kernel = {"name": "bash", "display_name": "x", "language": "bash", "argv": ["touch", "/x"]}
    content["metadata"]["kernelspec"] = kernel
    content["metadata"]["language_info"] = {"name": "bash"}


def listed_source(content):
    for cell in content["cells"]:
        cell["source"] = list(cell["source"])


def wrong_source(content):
    content["cells"][2]["source"] = {"a": 1}


def large_source(content):
    content["cells"].insert(1, cell_of("x = '" + "y" * 10**7 + "'"))


def slow_source(content):
    """IPython rewrites one magic at a time, and reads the whole cell again each time."""
    content["cells"].insert(1, cell_of("a = %time 1\n" * 60000))
    content["cells"].insert(1, cell_of("x = [" + "(" * 100 + ")" * 100 + "]\n" + "-" * 50000 + "1", id="b"))
    content["cells"].insert(1, cell_of("x" + ".y" * 100000, id="c"))
    content["cells"].insert(
        1, cell_of("if 1:\n" + "".join(" " * i + "if 1:\n" for i in range(2, 90)), id="d")
    )


def many_cells(content):
    empty = cell_of("", "markdown")
    content["cells"] += [empty | {"id": f"e{number}"} for number in range(100000)]


def half_characters(content):
    text = json.dumps(content).replace("return scores * 0", "return scores * 0 # \\ud800")
    return text


def zero_bytes(content):
    content["cells"].insert(1, cell_of("x = 1\0\r\n\u2028\u202e\x1b[2J"))


def version_3(content):
    cells = [
        {
            "cell_type": "code",
            "language": "python",
            "input": cell["source"],
            "outputs": [],
            "collapsed": False,
            "prompt_number": 1,
            "metadata": cell["metadata"],
        }
        for cell in solutions(content)
    ]
    return {"nbformat": 3, "nbformat_minor": 0, "metadata": {"name": "x"}, "worksheets": [{"cells": cells}]}


def future_version(content):
    content["nbformat"] = 99


def wild_numbers(content):
    return json.dumps(content).replace('"execution_count": null', '"execution_count": 1e999', 1)


def huge_numbers(content):
    return json.dumps(content).replace('"nbformat_minor"', '"x": ' + "9" * 5000 + ', "nbformat_minor"', 1)


def same_key_twice(content):
    return json.dumps(content)[:-1] + ', "metadata": {"a": 1}, "cells": []}'


def named(name: str, tries: str) -> Attack:
    def write(place, folder):
        write_notebook(folder, notebook(place, "right"))

    return Attack(name, tries, write, points=FULL, problem="")


ATTACKS = (
    made(
        "linked_notebook",
        "the notebook is a link to a file of the host",
        linked_notebook,
        problem="is a link",
    ),
    made(
        "linked_to_neighbour",
        "the notebook is a link to somebody's",
        linked_to_neighbour,
        problem="is a link",
    ),
    made(
        "linked_to_device", "the notebook is a link to an endless file", linked_to_device, problem="is a link"
    ),
    made("linked_time", "the time stamp is a link", linked_time, problem="is a link"),
    made(
        "linked_file", "a file beside the notebook is a link to the secret", linked_file, problem="is a link"
    ),
    made(
        "hard_link",
        "a file beside the notebook is a second name of a file of the host",
        hard_link,
        points=FULL,
    ),
    made("pipe", "the notebook is a pipe", pipe, problem="no regular file"),
    made("pipe_beside", "the time stamp is a pipe", pipe_beside, problem="no regular file"),
    made("socket_beside", "a socket beside the notebook", socket_beside, problem="no regular file"),
    made("folder_as_notebook", "the notebook is a folder", folder_as_notebook, problem="no file"),
    made("two_notebooks", "another notebook beside the wrong one", two_notebooks),
    made("shadows", "modules beside the notebook", shadows),
    made("own_records", "results of one's own beside the notebook", own_records),
    made("hostile_time", "a time stamp that is none", hostile_time, points=FULL),
    made("odd_time", "a time stamp that is no text", odd_time, points=FULL),
    made("deep_folders", "many folders and files beside the notebook", deep_folders, points=FULL),
    raw("empty", "an empty file", b"", "empty file"),
    raw("half", "half a notebook", b'{"cells": [{"cell_type": "code", "sour'),
    raw("no_text", "bytes that are no text", b"\xff\xfe{}" * 1000),
    raw("deep_json", "JSON nested a million times", "[" * 10**6 + "]" * 10**6),
    raw("a_number", "JSON that is no notebook", "7"),
    raw("a_list", "JSON that is a list", "[]"),
    raw(
        "no_cells", "cells that are none", '{"cells": 7, "metadata": {}, "nbformat": 4, "nbformat_minor": 5}'
    ),
    raw("many_lists", "two million lists", '{"cells": [' + "[]," * 2 * 10**6 + "[]]}"),
    raw("archive", "another kind of file", b"PK\x03\x04" + b"\0" * 1000),
    raw("zeros", "sixty megabytes of nothing", b"\0" * 60_000_000, "larger than"),
    by_edit("no_cells_left", "a notebook without a cell", lambda content: content["cells"].clear()),
    by_edit("no_checks", "the checks are deleted", no_checks),
    by_edit("more_points", "checks with more points, outputs and another text", more_points),
    by_edit("negative_schema", "metadata of impossible kinds", negative_schema),
    by_edit("old_schema", "metadata of an old form", old_schema),
    by_edit("skipped_by_tags", "tags that have cells skipped or removed", skipped_by_tags),
    by_edit("every_id_twice", "every cell twice", every_id_twice),
    by_edit("swapped_ids", "every check is that of the one right answer", swapped_ids, points=4.0),
    by_edit("other_ids", "grade ids that are none", other_ids),
    by_edit("new_grade_cells", "grade cells of one's own, and of other lessons", new_grade_cells),
    by_edit("retyped", "code for text and text for code", retyped),
    by_edit("raw_cells", "answers as raw cells", raw_cells),
    by_edit("backwards", "all cells in the other order", backwards),
    by_edit("checks_first", "checks before the answers", checks_first, answers="right", points=FULL),
    by_edit("no_ids", "no metadata at all", for_cells(lambda cell: cell.update(metadata={}))),
    by_edit("other_kernel", "a kernel that is another program", other_kernel, answers="right", points=FULL),
    by_edit(
        "listed_source", "every cell a list of single letters", listed_source, answers="right", points=FULL
    ),
    by_edit("wrong_source", "a cell whose text is no text", wrong_source, problem=UNREADABLE),
    by_edit("large_source", "a cell of ten megabytes", large_source),
    by_edit("slow_source", "cells that take long to read", slow_source),
    by_edit("many_cells", "a hundred thousand cells", many_cells, answers="right", points=FULL),
    by_edit("half_characters", "half a character in an answer", half_characters),
    by_edit("zero_bytes", "control characters in a cell", zero_bytes),
    by_edit("version_3", "a notebook of an old version", version_3),
    by_edit(
        "future_version", "a notebook of a version that is not there yet", future_version, problem=UNREADABLE
    ),
    by_edit("wild_numbers", "a number that is infinite", wild_numbers),
    by_edit("huge_numbers", "a number of five thousand digits", huge_numbers, problem=UNREADABLE),
    by_edit("same_key_twice", "cells given twice", same_key_twice),
    named("a b", "a name with a space"),
    named("x..", "a name that ends like a way up"),
    named("-rf", "a name that begins like an option"),
    named("*", "a name that stands for all"),
    named("[a-z]?", "a name that stands for some"),
    named("%s{0}$HOME`id`", "a name that is filled in"),
    named("o'neil\"; drop table student; --", "a name that ends a command"),
    named("zoë 李 \u202egpj.exe", "a name in other alphabets, and one that turns around"),
    named("<img src=x onerror=pwned()>", "a name that is a script"),
    named("line\nbreak\t\x1b[2J", "a name of several lines"),
    named("=1+1", "a name that is a formula"),
    named("n" * 250, "a name as long as a name may be"),
)
