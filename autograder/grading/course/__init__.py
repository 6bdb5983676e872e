"""The course of an instructor, before and beside grading.

make.py       makes a standard nbgrader course from the lessons
settings.py   its settings: nbgrader's, each with the trap that it closes
doctor.py     what works on this machine, and what to do about the rest
"""
