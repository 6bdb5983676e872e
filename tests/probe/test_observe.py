"""Tests that what `Usage` has counted for the largest call is kept, even if a later call raises."""

from contextlib import suppress

from autograder.probe.observe import LARGEST_POWER, Usage, observed


def test_a_call_that_raises_takes_back_nothing_of_those_before_it():
    usage = Usage()
    usage.calls, usage.work = 7, [5] * LARGEST_POWER
    with suppress(ValueError), observed(usage, closely=True):
        raise ValueError
    assert (usage.calls, usage.work) == (7, [5] * LARGEST_POWER)
