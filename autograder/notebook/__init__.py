"""The functions that notebooks call. Read the modules in this order:

check.py       judges an answer and shows the verdict (card.py formats it, show.py displays it)
hint.py        shows an exercise's hints, one at a time
memory.py      stores the latest verdicts next to the notebook
standing.py    a learner's state in each exercise; progress.py and saved.py find it out, and progress_card.py shows it
mine.py        returns the learner's own answers from other lessons
sentence.py    the running example
figures/       draws what cells show; lessons/ has the figures of single lessons; explore.py makes a figure
               follow its controls
experiment/    trains, measures, and looks into a model
running.py     detects whether a notebook is running
"""
