"""The code that runs beside students' code. Nothing that it says is believed outside.

These processes know no expected value, no secret and no grade: the fork server is started as a new program with an
empty environment, and the folders of the course cannot be seen in the sandbox.
"""
