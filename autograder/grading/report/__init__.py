"""The class report: what an instructor wants to know after grading, on one page that needs nothing else.

data.py        the works of a lesson: grades from the gradebook, verdicts from the kept results
summary.py     what is said about a lesson, from its works
pictures.py    the pictures
page.html      the page; names and texts of students are escaped there
"""

from autograder.grading.report.make import report

__all__ = ["report"]
