"""The probe calls an answer on cases and records what comes out, as plain data.

It runs where the student's code runs. It knows only inputs, no expected values, and so does not know whether
anything is right.
"""

from autograder.probe.run import probe

__all__ = ["probe"]
