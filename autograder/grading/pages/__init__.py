"""Makes the pages that students and teachers see in a browser.

feedback.py       a student's feedback page
feedback_zip.py   the feedback pages of a class, under names that Canvas and Moodle accept
missing.py        logs and counts pictures that could not be drawn
report/           the class report
templates/        the feedback page, and formgrader's page of a submission
"""
