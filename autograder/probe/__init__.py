"""The probe calls an answer on cases and records the results as plain data.

It runs in the process of the student's code. It gets the inputs but no expected values, so it cannot tell
whether a result is right.
"""

from autograder.probe.run import probe

__all__ = ["probe"]
