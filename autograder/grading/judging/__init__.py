"""Judges a submission's answers, outside the process in which they ran.

run.py                 runs one submission in its sandboxes, and judges it
questions.py           runs an answer, in another process, on the cases of its exercise
reruns.py              reruns the answers' recorded steps with different numbers
patience.py            shortens the time limits of code that depends on an answer that did not return
untrusted_records.py   checks every field of a reply before the judge reads it
results.py             stores results in the course's folder
"""
