"""What runs beside students' code. Nothing here is believed by what is outside.

template.py   a warm process: torch is imported once, and every submission runs in a fresh fork of it
memory.py     its memory is made cheap to fork
enter.py      the fork goes into its sandbox, and gives up every right and most of its memory
syscalls.py   rare system calls are refused
session.py    answers requests: run this cell, call this object on these inputs, trace its graph
shell.py      runs cells as a notebook does, and keeps what they show
stubs.py      the course's own functions, which do nothing here

The processes know no expected value, no secret and no grade: the template is started as a new program with an
empty environment, and the folders of the course are not to be seen in the sandbox.
"""
