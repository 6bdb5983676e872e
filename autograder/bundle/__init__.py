"""The zip for students of a graded course, written by `bundle`.

records    writes the visible checks of an exercise as recorded data
kept       caches the recorded data for later bundles; it stays valid until something it depends on changes
recording  records all exercises, several at a time
contents   selects the lessons in the zip: the repository's, or those of a course
needed     finds the modules and packages that the notebooks need
make       puts the contents of the zip together, and writes it
student/   holds files that only the zip contains: README, Makefile, packaging
"""

from autograder.bundle.make import bundle

__all__ = ["bundle"]
