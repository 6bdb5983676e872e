"""Notebooks whose cells and metadata differ from what was handed out."""

import copy
import json

from red_team.attack import FULL, by_edit, cell_of, checks, solutions

UNREADABLE = "cannot be read"


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


def every_id_twice(content):
    content["cells"] += copy.deepcopy(content["cells"])


def swapped_ids(content):
    """Make every check claim to be the check of the first exercise, whose answer is right."""
    answers = solutions(content)
    answers[0]["source"] = (
        "import torch\ndef dot_product_scores(x):\n    return torch.stack([torch.stack([sum(p * r for p, r in "
        "zip(a, b)) for b in x]) for a in x])"
    )
    for cell in checks(content):
        cell["metadata"]["nbgrader"]["grade_id"] = "check-loops-dot_product_scores"


def grade_cell(number: int, grade_id, points: int, **more) -> dict:
    """Return a cell that claims to be a check worth this many points, and to have earned them all."""
    claims = {"grade": True, "locked": True, "solution": False, "schema_version": 3, "grade_id": grade_id}
    return cell_of(f"{points}.0", id=f"c{number}", metadata={"nbgrader": claims | {"points": points} | more})


def other_ids(content):
    for number, value in enumerate(
        [None, 7, [], {}, "x" * 10**6, "../../x", "check-loops-nothing", "<script>"]
    ):
        content["cells"].insert(0, grade_cell(number, value, 5))
    content["cells"][0]["metadata"]["nbgrader"] = "not a dict"


def new_grade_cells(content):
    for number, name in enumerate(("check-matmul-attention", "check-heads-split_heads", "bonus")):
        content["cells"].append(grade_cell(number, name, 100, task=False, cell_type="code", checksum="x"))


def retyped(content):
    for cell in checks(content) + solutions(content):
        if cell["cell_type"] == "code":
            cell["cell_type"] = "markdown"
            del cell["outputs"], cell["execution_count"]
        else:
            cell |= {"cell_type": "code", "outputs": [], "execution_count": None}


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


def slow_source(content):
    """Add a cell of magic commands, and three cells that are slow to parse. IPython rewrites the commands one
    at a time, and rereads the whole cell each time.
    """
    content["cells"].insert(1, cell_of("a = %time 1\n" * 20000))
    content["cells"].insert(1, cell_of("x = [" + "(" * 100 + ")" * 100 + "]\n" + "-" * 50000 + "1", id="b"))
    content["cells"].insert(1, cell_of("x" + ".y" * 100000, id="c"))
    content["cells"].insert(
        1, cell_of("if 1:\n" + "".join(" " * i + "if 1:\n" for i in range(2, 90)), id="d")
    )


def short_lines(content):
    """Add a cell of short lines, whose syntax tree takes a thousand times the memory of their text."""
    content["cells"].insert(1, cell_of("x\n" * 250_000))


def deep_sources(content):
    content["cells"].insert(1, cell_of("x = " + "-" * 90_000 + "1"))
    content["cells"].insert(1, cell_of("x = " + "[" * 90_000 + "]" * 9_000, id="b"))


def many_tags(content):
    """Give a cell thousands of tags that are not strings, so that each is compared with every other."""
    content["cells"][1]["metadata"]["tags"] = [{"tag": number} for number in range(7000)]


def shown(content, outputs):
    content["cells"].insert(1, cell_of("x = 1", outputs=outputs))


def many_kinds(content):
    data = {f"text/x{number}": number for number in range(12000)}
    shown(content, [{"output_type": "display_data", "data": data, "metadata": {}}])


def much_text(content):
    content["cells"] += [cell_of("word " * 1000, "markdown", id=f"t{number}") for number in range(500)]


DENSE = """\
import torch
from torch import nn
class MultiheadSelfAttention(nn.Module):
    def __init__(self, d_model, n_heads):
        super().__init__()
        self.q_proj, self.k_proj, self.v_proj, self.out_proj = (nn.Linear(d_model, d_model) for _ in range(4))
    def forward(self, x, mask=None):
        made, steps = [x], [torch.sin, torch.cos, torch.tanh, torch.sigmoid, torch.relu, torch.abs, torch.neg]
        for number in range(60):
            made.append(steps[number % len(steps)](torch.stack(made).amax(0)))
        return self.out_proj(made[-1])
"""


def dense_picture(content):
    """Write an answer in which every step reads all earlier ones, so that placing the arrows of its graph
    takes hours.
    """
    answer = next(
        cell for cell in solutions(content) if "class MultiheadSelfAttention" in "".join(cell["source"])
    )
    answer["source"] = DENSE


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


def huge_numbers(content):
    return json.dumps(content).replace('"nbformat_minor"', '"x": ' + "9" * 5000 + ', "nbformat_minor"', 1)


def same_key_twice(content):
    return json.dumps(content)[:-1] + ', "metadata": {"a": 1}, "cells": []}'


ATTACKS = (
    by_edit("more_points", "checks with more points, outputs and another text", more_points),
    by_edit("negative_schema", "metadata of impossible kinds", negative_schema),
    by_edit("every_id_twice", "every cell twice", every_id_twice),
    by_edit("swapped_ids", "every check is that of the one right answer", swapped_ids, points=4.0),
    by_edit("other_ids", "grade ids that are none", other_ids),
    by_edit("new_grade_cells", "grade cells of one's own, and of other lessons", new_grade_cells),
    by_edit("retyped", "code for text and text for code", retyped),
    by_edit("backwards", "all cells in the other order", backwards),
    by_edit("checks_first", "checks before the answers", checks_first, answers="right", points=FULL),
    by_edit("other_kernel", "a kernel that is another program", other_kernel, answers="right", points=FULL),
    by_edit(
        "listed_source", "every cell a list of single letters", listed_source, answers="right", points=FULL
    ),
    by_edit("wrong_source", "a cell whose text is no text", wrong_source, problem=""),
    by_edit("slow_source", "cells that take long to read", slow_source),
    by_edit("short_lines", "half a megabyte of short lines", short_lines),
    by_edit("deep_sources", "code that is nested without end", deep_sources),
    by_edit("many_tags", "seven thousand tags", many_tags),
    by_edit("many_kinds", "an output of twelve thousand kinds", many_kinds),
    by_edit("much_text", "two million characters of text", much_text, problem="characters of text"),
    by_edit("dense_picture", "a module whose picture takes hours", dense_picture, "stub", lesson="04_heads"),
    by_edit("many_cells", "a hundred thousand cells", many_cells, answers="right", points=FULL),
    by_edit("half_characters", "half a character in an answer", half_characters),
    by_edit("zero_bytes", "control characters in a cell", zero_bytes),
    by_edit("version_3", "a notebook of an old version", version_3),
    by_edit("huge_numbers", "a number of five thousand digits", huge_numbers, problem=UNREADABLE),
    by_edit("same_key_twice", "cells given twice", same_key_twice),
)
