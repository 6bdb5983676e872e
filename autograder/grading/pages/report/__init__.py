"""The class report: what an instructor wants to know after grading, on one self-contained page.

data.py        the submissions of a lesson: grades from the gradebook, verdicts from the stored results
summary.py     the contents for a lesson, from its submissions
page.html      the page, with its diagrams; names and texts of students are escaped there
"""

from autograder.grading.pages.report.make import report

__all__ = ["report"]
