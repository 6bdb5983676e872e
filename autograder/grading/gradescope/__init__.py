"""Grades a lesson on Gradescope: makes the archive that is uploaded there, and grades each submission there.

make.py      writes autograder.zip from a course
run.py       grades one submission in Gradescope's container, and writes results.json
container/   setup.sh and run_autograder, which Gradescope calls

The layout follows "Autograder Specifications" (gradescope-autograders.readthedocs.io): the zip is unpacked to
source/, and a submission to submission/; the student is shown results/results.json.
"""
