"""Grading a class in a standard nbgrader course. Students' code runs in a sandbox, the verdict is made outside.

grade.py         grades a class, and prints its grades
grade_new.py     what is new or changed: what happens to a submission is in the folders below, from top to bottom
check_files.py   judges files without a course, in the same sandboxes

course/          a course is made, with its settings; what works on this machine
collect/         what a learning-management system gives is sorted into it
submission/      a submission is found, read within limits, and trusted in nothing
sandbox/         a sandbox is made
worker/          a process runs its code in the sandbox, and is asked what its answers do
judging/         its answers are judged outside
parallel/        all of this for several submissions at a time, on this machine or a cluster
gradebook/       scores are written into nbgrader's gradebook, and read from it
safe/            what students wrote and printed is made safe to look at
pages/           feedback for students and the report for teachers
gradescope/      a lesson is graded in Gradescope's container
demo/            a made-up class, to try it

A folder imports only from those that it needs: submission and worker from sandbox; judging from these and safe;
parallel and gradebook from these; collect from submission and gradebook; pages from gradebook and collect; course
from submission, gradebook and pages; gradescope and demo from all.
"""
