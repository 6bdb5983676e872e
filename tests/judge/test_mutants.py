"""Makes small slips in the worked answers, and tests that the visible cases detect every slip that changes
what is computed.
"""

import pytest
from judged import IDS
from survivors import EQUIVALENT, is_listed, tried


@pytest.mark.trial
@pytest.mark.parametrize("exercise_id", IDS)
def test_every_slip_is_seen_that_changes_anything(exercise_id):
    _, survivors = tried(exercise_id)
    assert not [what for what in survivors if not is_listed(exercise_id, what)]
    assert not set(EQUIVALENT.get(exercise_id, {})) - set(survivors)
