"""Tests limits on work: everything that an answer reads and creates counts, no matter into how many pieces it
is divided.
"""

import pytest
from answers import answers
from judged import verdict

from autograder.exercises import find
from autograder.judge import RULE

IN_PIECES = {
    "fast.linear_attention": ("row by row", "sums from scratch", "rows beside ballast"),
    "fast.tiled_attention": ("query by query", "halves of the keys"),
    "fast.tiled_backward": ("query by query", "halves of the keys"),
    "mla.latent_attention": ("full keys in blocks",),
    "moe.MixtureOfExperts": ("calls for show",),
}
HONEST = {
    "fast.linear_attention": ("rows appended", "large chunks"),
    "fast.tiled_attention": ("each query alone", "results of all blocks"),
    "fast.tiled_backward": ("each query alone", "written to all keys"),
    "mla.latent_attention": ("query by query",),
    "moe.MixtureOfExperts": ("Weighted",),
}


def each(known: dict) -> list[tuple[str, str]]:
    return [(exercise_id, name) for exercise_id, names in known.items() for name in names]


@pytest.mark.parametrize("exercise_id, name", each(IN_PIECES))
def test_too_much_work_is_seen_in_pieces_of_any_size(exercise_id, name):
    exercise = find(exercise_id)
    told = verdict(exercise_id, answers(exercise)[1][name])
    assert told.mistake == RULE
    assert exercise.rules.work[0] in told.message
    assert told.points == 0


@pytest.mark.parametrize("exercise_id, name", each(HONEST))
def test_many_small_steps_are_not_too_much_work(exercise_id, name):
    assert verdict(exercise_id, answers(find(exercise_id))[0][name]).passed
