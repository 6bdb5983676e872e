"""Grades a class in a standard nbgrader course. Students' code runs in a sandbox and is judged outside it.

grade.py         grades a class, and prints its grades
grade_new.py     grades new and changed submissions; each passes through the folders below, from submission/ on
check_files.py   judges files without a course, in the same sandboxes

course/          makes and updates a course, and checks whether grading works on this machine
collect/         sorts the archives of a learning-management system into it
submission/      finds a submission, and reads it within limits, trusting nothing
sandbox/         makes a sandbox
worker/          runs its code in a process in the sandbox, and calls its answers there
judging/         judges its answers outside the sandbox
parallel/        does all of this for several submissions at a time, on this machine or a cluster
gradebook/       writes scores into nbgrader's gradebook, and reads them
safe/            makes what students wrote and printed safe to look at
pages/           feedback for students and the report for teachers
gradescope/      grades a lesson in Gradescope's container
demo/            a made-up class, for a first try

Imports go one way only: submission and worker import from sandbox; judging from these three and safe; parallel
and gradebook from judging and what it needs; collect from submission and gradebook; pages from collect and what
it needs; course from pages and what they need; gradescope and demo from any.
"""
