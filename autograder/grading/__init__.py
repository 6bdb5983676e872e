"""Grading a class in a standard nbgrader course. Students' code runs in a sandbox, the verdict is made
outside.

grade.py         grades a class, and prints its grades
grade_new.py     what is new or changed; a submission passes through the folders below, from top to bottom
check_files.py   judges files without a course, in the same sandboxes

course/          makes a course with its settings; what works on this machine
collect/         sorts the archives of a learning-management system into it
submission/      finds a submission, and reads it within limits, trusting nothing
sandbox/         makes a sandbox
worker/          a process runs its code in the sandbox, and is asked what its answers do
judging/         judges its answers outside
parallel/        does all of this for several submissions at a time, on this machine or a cluster
gradebook/       writes scores into nbgrader's gradebook, and reads them
safe/            makes what students wrote and printed safe to look at
pages/           feedback for students and the report for teachers
gradescope/      grades a lesson in Gradescope's container
demo/            a made-up class, for a first try

A folder imports only from those that it needs: submission and worker from sandbox; judging from these and
safe; parallel and gradebook from these; collect from submission and gradebook; pages from gradebook and
collect; course from submission, gradebook and pages; gradescope and demo from all.
"""
