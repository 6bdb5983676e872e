"""The functions that notebooks call. Read its modules in this order:

check.py       judges an answer and shows the verdict (card.py formats it, show.py displays it)
hint.py        an exercise's hints, one after the other
memory.py      the latest verdicts, stored next to the notebook
standing.py    where a learner is; progress.py and saved.py find it out, progress_card.py shows it
mine.py        the learner's own answers from other lessons
sentence.py    the running example
figures/       what a cell shows; lessons/ has figures of one lesson each; explore.py makes one follow its controls
experiment/    training, measuring, looking into a model
running.py     whether this is a notebook
"""
