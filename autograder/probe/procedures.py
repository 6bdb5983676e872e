"""How an answer that is not simply called is put to the test.

A procedure is called as `procedure(answer, *args, **kwargs)` and returns what is to be recorded.
"""

PROCEDURES = {}
