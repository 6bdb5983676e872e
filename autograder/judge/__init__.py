"""The judge turns the records of an answer into a verdict.

It is pure: it never calls a student's code and never prints. The same records give the same verdict and the
same words in a notebook, on the command line and in the gradebook.
"""

from autograder.judge.expected import Expected
from autograder.judge.judging import RULE, cases_of, judge, not_started, unable_to_run
from autograder.verdict import Verdict

__all__ = ["RULE", "Expected", "Verdict", "cases_of", "judge", "not_started", "unable_to_run"]
