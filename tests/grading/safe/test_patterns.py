"""Tests that no regular expression becomes slow on hostile texts: each is tried on long texts made to slow it
down.
"""

import pkgutil
import re
import time
from importlib import import_module

import pytest

from autograder.grading import safe, submission
from autograder.grading.submission.unit import INSTALLS, STAR

SIZE = 100_000
SECONDS = 3  # CPU time for one text: linear patterns take thousandths, quadratic ones minutes
UNITS = (" ", "\n", "a", "1", "<", "&", "\\\n", "rgb(", "<a b=", "<mo>(</mo><mtable>", "-n 1 ", "!x -m ")
STARTS = ("", "import", "!")
AT_A_PLACE = ("clean_html.ATTRIBUTE", "clean_html.TAG_END")  # matched at a place, never searched for


def patterns() -> dict[str, re.Pattern]:
    """Return, by name, the regular expressions in the modules that handle what students wrote."""
    found = {}
    for room in (safe, submission):
        for one in pkgutil.iter_modules(room.__path__, f"{room.__name__}."):
            for name, thing in vars(import_module(one.name)).items():
                if isinstance(thing, re.Pattern):
                    found[f"{one.name.rpartition('.')[2]}.{name}"] = thing
    return found


@pytest.mark.parametrize("name", patterns())
def test_a_pattern_takes_time_in_proportion_to_the_text(name):
    pattern = patterns()[name]
    for text in (start + unit * (SIZE // len(unit)) for start in STARTS for unit in UNITS):
        began = time.process_time()
        (pattern.match if name in AT_A_PLACE else pattern.search)(text)
        pattern.fullmatch(text)
        assert time.process_time() - began < SECONDS, text[:20]


def test_they_still_find_what_they_should():
    assert STAR.search("from torch import *") and STAR.search("from torch import ( *)")
    assert INSTALLS.sub("", "%pip install x\n!python -m pip install \\\n y\nx = 1") == "\n\nx = 1"
