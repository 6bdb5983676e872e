"""Grading a class in a standard nbgrader course. Students' code runs in a sandbox, the verdict is made outside.

A course         course.py makes one; settings.py has nbgrader's settings, each with what it prevents
One submission   submission.py (where it lies, whether it is done), intake.py (before it runs), unit.py (what is
                 run of it), reach.py (what its code reaches for), run.py (runs and judges it), outputs.py (what it
                 shows, made safe), results.py (kept)
Its process      sandbox.py (bubblewrap), cgroups.py (limits by the kernel), template.py (the warm process),
                 session.py (the talk with it), inside/ (what runs there), questions.py (what is asked of an answer)
A class          grade.py (reads, runs, records), pool.py (in parallel), record.py and verdicts.py (into nbgrader's
                 gradebook), table.py (the grades)
What is read     feedback.py and drawn.py (what is added to a student's page), formulas.py and safe_html.py (what
                 students wrote, safe to look at), report/ (the class on one page), exporters.py (Canvas, Moodle)
To try it        demo.py, with a made-up class (sample_class.py)

check_files.py judges files without a course, in the same sandboxes.
"""

import sys

# subtle: jsonschema, which comes with nbformat, would build a grammar of international web addresses when it is
# imported, a fourth of the time that grading takes to start. Nobody here asks whether a text is such an address.
sys.modules.setdefault("rfc3987_syntax", None)
