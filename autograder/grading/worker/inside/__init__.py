"""The code that runs beside students' code. Nothing that it says is believed outside.

server.py    the fork server: it starts one process for each submission, which enters its sandbox first
warm_up.py   what it imports and prepares before that, once, and how its memory is made cheap to fork
requests.py  answers requests in a submission's process: run this cell, call this object on these inputs
shell.py     runs cells as a notebook does, and keeps what they show
stubs.py     the course's own functions, which do nothing here

These processes know no expected value, no secret and no grade: the fork server is started as a new program with an
empty environment, and the folders of the course cannot be seen in the sandbox.
"""
