"""Finds and reads the work that students handed in, without trusting any of it.

find.py              finds a course's submissions, and computes a digest of everything that a grade depends on
reading.py           reads a submission once, and makes it ready to run
limited.py           runs, in a process with limits on time and memory, the functions that read submissions
files.py             opens files and folders of a submission, never through a link
times.py             reads time stamps with their zones
read_submission.py   reads the notebook: text and kind of each cell, and pasted pictures
course_metadata.py   takes metadata from the course, and restores checks and missing cells
unit.py              selects the cells to run, and the exercises to check
cell_code.py         parses cells, and finds what their imported names stand for
suspicious_code.py   finds names in code that a teacher should look at
names_in_code.py     finds the names in one cell that are not allowed
allowed_names.py     lists the names that are allowed
"""
