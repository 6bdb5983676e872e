"""Finds and reads what a student handed in, trusting nothing.

find.py              where the submissions of a course are, and a digest of all that a grade depends on
reading.py           reads a submission once, and makes it ready to run
limited.py           runs work on a submission in a process with limits on time and memory
files.py             files and folders of a submission, never through a link
times.py             reads time stamps with their zones
read_submission.py   its notebook: text and kind of each cell, and pasted pictures
course_metadata.py   takes metadata from the course, and restores checks and missing cells
unit.py              the cells to run, and the exercises to check
suspicious_code.py   names in its code that a teacher should look at (names_in_code.py, allowed_names.py)
"""
