"""Helpers for the lessons' experiments: `from autograder.notebook.experiment import train`.

    training  one loop for every model: `train`, `limited_threads`
    runs      a table of several variants, each with several seeds: `compare_runs`
    track     a progress bar for any other loop: `for step in track(range(600))`
    measure   time and memory of a call: `seconds`, `peak_memory`
    look      what happens inside a model: `activations`, `attention_weights`, `head_weights`

The model, the data and the loss are defined in the lesson.
"""

from autograder.notebook.experiment.look import activations, attention_weights, head_weights
from autograder.notebook.experiment.measure import peak_memory, seconds
from autograder.notebook.experiment.runs import compare_runs
from autograder.notebook.experiment.track import track
from autograder.notebook.experiment.training import limited_threads, train

__all__ = [
    "activations",
    "attention_weights",
    "compare_runs",
    "head_weights",
    "limited_threads",
    "peak_memory",
    "seconds",
    "track",
    "train",
]
