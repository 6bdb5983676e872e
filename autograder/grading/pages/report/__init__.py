"""The class report: everything that an instructor wants to know after grading, on one self-contained page.

data.py        reads the submissions of a lesson: grades from the gradebook, verdicts from the stored results
summary.py     computes, from the submissions of a lesson, what the report shows about it
make.py        writes the page
page.html      the template of the page, with its diagrams; students' names and texts are escaped there
"""

from autograder.grading.pages.report.make import report

__all__ = ["report"]
