"""Turns lesson sources into notebooks. `make.build` is the one entry; read the modules in this order:

lesson.py     a lesson's files, and the kind of each cell of its source
pictures.py   pictures, put into the notebook
notebooks.py  the teacher's, the students' and the readers' notebook, without running anything
execute.py    runs a notebook and keeps the outputs that are the same on every run
outputs.py    whether two runs of a cell gave the same output
stale.py      what an executed notebook depends on, and whether it is out of date
make.py       makes what is out of date
readme.py     the README's table of lessons, CONTRIBUTING's table of rules
asked/        the requirements for an exercise and a lesson, and the proof that they are met
"""
