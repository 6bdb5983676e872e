"""Grading a class in a standard nbgrader course. Read in this order:

course.py       makes a course
settings.py     nbgrader's settings, each with what it prevents
intake.py       a submission before it runs
verdicts.py     its scores after it ran
feedback.py     a graded notebook before it becomes a feedback page
safe_html.py    what students wrote, safe to look at
submission.py   grades one submission and remembers how it went
grade.py        grades them all
table.py        the grades as a table
demo.py         all of it in one go, with a made-up class (sample_class.py)
"""
