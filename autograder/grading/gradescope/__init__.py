"""A lesson on Gradescope: what is uploaded there, and what runs there for each submission.

make.py      writes autograder.zip from a course
run.py       grades one submission in Gradescope's container, and writes results.json
container/   setup.sh and run_autograder, which Gradescope calls

The layout is that of "Autograder Specifications" (gradescope-autograders.readthedocs.io): the zip is unpacked to
source/, a submission to submission/, and what a student reads is results/results.json.
"""
