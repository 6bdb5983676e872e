"""Makes, updates and checks an instructor's course. Grading is in the other folders.

make.py       makes a standard nbgrader course from the lessons
lessons.py    adds lessons to a course, including the instructor's own
update.py     brings corrected lessons into a course in mid-term
merge.py      merges a corrected lesson with the instructor's changes
news.py       finds what has changed since the course was made or last updated
person.py     shows or removes everything that a course keeps about one student
settings.py   changes nbgrader's settings where they are unsafe, and says what each change prevents
doctor.py     checks what works on this machine, and says what to do about the rest
"""
