"""The class report: what an instructor wants to know after grading, on one page that needs nothing else."""

from autograder.grading.pages.report.make import report

__all__ = ["report"]
