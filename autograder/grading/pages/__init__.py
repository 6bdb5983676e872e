"""Pages that people read: what a student or a teacher sees in a browser.

feedback.py   a student's feedback page
missing.py    logs and counts its pictures that could not be drawn
report/       the class report
templates/    the feedback page, and formgrader's page of a submission
"""
