"""The zip for students of a graded course, written by `bundle`.

records    the visible checks of an exercise as recorded data
kept       records of earlier bundles, as long as nothing that they depend on has changed
recording  records all exercises, several at a time
contents   the lessons in the zip: the repository's, or those of a course
make       the contents of the zip, and the zip
student/   files that only the zip contains: README, Makefile, packaging
"""

from autograder.bundle.make import bundle

__all__ = ["bundle"]
