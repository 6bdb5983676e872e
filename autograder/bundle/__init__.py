"""The zip that students of a graded course get. `bundle` is the one entry; see its modules in this order:

records.py   the visible checks as recorded data
make.py      what goes into the zip, and the zip
student/     the files that are in the zip alone: README, Makefile, packaging
"""

from autograder.bundle.make import bundle

__all__ = ["bundle"]
