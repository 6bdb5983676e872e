"""Judges a submission's answers, outside its process.

run.py                 runs one submission in its sandboxes, and judges it
questions.py           runs the cases of one exercise on an answer in another process
reruns.py              runs the recorded steps of answers again, on other numbers
patience.py            shortens the limits of code that needs an answer that did not return
untrusted_records.py   checks every field of a reply, before the judge reads it
results.py             the results, kept in the course's folder
"""
