"""The code that runs in one process with students' code. Nothing that it says is believed outside.

server.py    the fork server: it starts one process for each submission, which enters its sandbox first
warm_up.py   imports and preparations before that, once, which also make its memory cheap to fork
requests.py  answers requests in a submission's process: run this cell, call this object on these inputs
shell.py     runs cells as a notebook does, and keeps their outputs
stubs.py     the course's own functions, which do nothing here

These processes know no expected value, no secret and no grade: the fork server is started as a new program
with an empty environment, and the folders of the course are not visible in the sandbox.
"""
