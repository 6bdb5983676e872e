"""nbgrader's gradebook: where grades are written and read.

open_course.py       opens a course: nbgrader's API for it, its secret, its lock, and its log
fail_closed.py       stops nbgrader if the settings of a course were not loaded
zone.py              the time zone of the course's school
recorder.py          writes scores and graded notebooks, all from one process
late.py              penalties for late work
graded_notebook.py   verdicts, outputs and marking schemes in a graded notebook
nbgrader_steps.py    grading as a step of nbgrader's own `autograde`
outcomes.py          the outcome of grading each submission, so that the next run continues from there
table.py             the grades as a table
exporters.py         the grades as CSV files for other systems
"""
