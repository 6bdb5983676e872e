"""Turns lesson sources into notebooks. `make.build` is the entry point; read the modules in this order:

lesson.py     finds a lesson's files, and reads the cells of its source with their kinds
minutes.py    fills in the table of exercises in a lesson's first cell, and how long the lesson takes
pictures.py   puts pictures into the notebook
notebooks.py  makes the notebooks for teachers, students and readers, without running anything
execute.py    runs a notebook and keeps the outputs that are the same on every run
outputs.py    decides whether two runs of a cell gave the same output
stale.py      decides whether an executed notebook is out of date
make.py       rebuilds what is out of date
readme.py     updates the README's table of lessons and CONTRIBUTING's table of rules
asked/        holds the requirements for exercises and lessons, and proves that they are met
"""
