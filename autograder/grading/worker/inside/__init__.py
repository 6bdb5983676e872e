"""The grader's code that runs in the same process as students' code. The grader outside therefore trusts
nothing that this code reports.

server.py    the fork server: starts a process for each submission and puts it into its sandbox
warm_up.py   imports and prepares everything once, before any fork, and makes forks cheap
nobody.py    drops root privileges where there is no sandbox
requests.py  answers requests in a submission's process: run this cell, call this object on these inputs
shell.py     runs cells as a notebook does, and keeps their outputs
stubs.py     replaces the course's own functions with functions that do nothing

These processes know no expected value, no secret and no grade: the fork server is started as a new program
with an almost empty environment, and the folders of the course are not visible in the sandbox.
"""
