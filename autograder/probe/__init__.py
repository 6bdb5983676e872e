"""The probe: calls an answer on cases and records what comes out, as plain data.

It runs where the student's code runs. It knows inputs only, never an expected value, and does not know
whether anything is right.
"""

from autograder.probe.run import probe

__all__ = ["probe"]
