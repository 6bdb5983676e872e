"""The zip for students of a graded course, written by `bundle`.

    records   the visible checks as recorded data
    contents  its lessons: the repository's, or those of a course
    make      the contents of the zip, and the zip
    student/  files that only the zip contains: README, Makefile, packaging
"""

from autograder.bundle.make import bundle

__all__ = ["bundle"]
