"""The course of an instructor, before and beside grading.

make.py       makes a standard nbgrader course from the lessons
lessons.py    which lessons it has, an instructor's own among them
update.py     brings mended lessons into it in mid-term
merge.py      and what the instructor has changed in the old ones
settings.py   its settings: nbgrader's, each with the trap that it closes
doctor.py     what works on this machine, and what to do about the rest
"""
