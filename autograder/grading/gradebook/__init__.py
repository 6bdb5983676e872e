"""nbgrader's gradebook: where grades are written and read.

open_course.py       nbgrader's API for a course, the course's secret; one `grade` at a time; log lines in a file
zone.py              the time zone of the course's school
recorder.py          writes scores and the graded notebook, as one writer
graded_notebook.py   verdicts, outputs and marking schemes in a graded notebook
nbgrader_steps.py    grading as a step of nbgrader's own `autograde`
outcomes.py          the outcome of grading each submission, so that the next run continues from there
table.py             the grades as a table
exporters.py         the grades as CSV files for other systems
"""
