"""Writes grades to nbgrader's gradebook, and reads them.

open_course.py       opens a course: nbgrader's API for it, its secret, its lock, and its log
fail_closed.py       stops nbgrader if the settings of a course were not loaded
zone.py              finds the time zone of the course's school
recorder.py          writes scores and graded notebooks, all from one process
late.py              computes penalties for late work
graded_notebook.py   puts verdicts, outputs and marking schemes into a graded notebook
nbgrader_steps.py    replaces steps of nbgrader's own commands, such as `autograde`
outcomes.py          stores the outcome of grading each submission, so that the next run continues from there
table.py             shows the grades as a table
exporters.py         writes the grades as CSV files for other systems
"""
