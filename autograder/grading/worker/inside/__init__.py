"""The code that runs in the same process as students' code. Nothing that it reports is trusted outside.

server.py    the fork server: it starts one process for each submission, which enters its sandbox first
warm_up.py   imports and prepares everything, once, before any fork, and makes forks cheap
nobody.py    gives up root's rights where there is no sandbox
requests.py  answers requests in a submission's process: run this cell, call this object on these inputs
shell.py     runs cells as a notebook does, and keeps their outputs
stubs.py     the course's own functions, which do nothing here

These processes know no expected value, no secret and no grade: the fork server is started as a new program
with an empty environment, and the folders of the course are not visible in the sandbox.
"""
