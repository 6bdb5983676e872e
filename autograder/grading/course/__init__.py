"""An instructor's course: everything but grading.

make.py       makes a standard nbgrader course from the lessons
lessons.py    its lessons, the instructor's own among them
update.py     brings corrected lessons into it in mid-term
merge.py      merges them with the instructor's changes
news.py       what has changed since the course was made or last updated
person.py     shows or removes everything that a course keeps about one student
settings.py   its settings: nbgrader's, each with what it prevents
doctor.py     what works on this machine, and what to do about the rest
"""
