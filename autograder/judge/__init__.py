"""The judge: records in, verdict out.

Pure. It never calls a student's code and never prints; the same records give the same verdict and the same
words in a notebook, on the command line and in the gradebook.
"""

from autograder.judge.expected import Expected
from autograder.judge.judging import RULE, cases_of, judge, not_started, unable_to_run
from autograder.verdict import Verdict

__all__ = ["RULE", "Expected", "Verdict", "cases_of", "judge", "not_started", "unable_to_run"]
