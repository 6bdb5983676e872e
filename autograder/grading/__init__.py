"""Grades a class in a standard nbgrader course. Students' code runs in a sandbox and is judged outside it.

grade.py         grades a class, and prints its grades
grade_new.py     grades new and changed submissions, with the help of the folders from submission/ to gradebook/ below
check_files.py   judges files without a course, in the same kind of sandbox

course/          makes and updates a course, and checks whether grading works on this machine
collect/         sorts the files of downloaded archives (Canvas, Moodle, ...) into the course
submission/      finds submissions, and reads them within limits, without trusting their contents
sandbox/         makes sandboxes
worker/          runs the submission's code in a process in the sandbox, and calls its answers there
judging/         judges the answers outside the sandbox
parallel/        runs and judges several submissions at a time, on this machine or on a cluster
gradebook/       writes scores to nbgrader's gradebook, and reads them back
safe/            makes text and outputs from students safe to display
pages/           writes feedback for students and the report for teachers
gradescope/      grades a lesson in Gradescope's container
demo/            an invented class, for a first try

Imports go one way only. The lowest folders are sandbox and safe; submission may import from both, and worker
only from sandbox. The other folders follow in the order judging, parallel, gradebook, collect, pages, course,
gradescope, demo, and each imports only from folders that come before it. tests/grading/test_rooms.py holds
the exact list.
"""
