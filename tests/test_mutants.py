"""Slips of the pen in the worked answers: the visible cases see every one that changes what is computed."""

import functools
import re

import pytest
from judged import IDS, is_caught
from mutants import mutants
from worked import answer_in, worked_file, worked_sources

from autograder.exercises import all_exercises
from autograder.judge import Expected, cases_of

SECONDS = 0.5

# Mutants that compute the same as the worked answer, and why: first those of one kind, wherever they stand,
SAME_KIND = (
    (
        r"torch\.(randn|rand|empty|zeros)\(.* -> self\.",
        "the values that a parameter starts with are replaced",
    ),
    (r"transpose\((-?\d), (-?\d)\).* -> .*transpose\(\2, \1\)", "a pair of axes is swapped in either order"),
    (r"^raise \w+\(.* -> raise \w+\(", "the words of an error are free"),
    (
        r"need_weights=False.*\)\[0\] -> .*\)\[0\]",
        "the weights come beside the output, which is what is taken",
    ),
    (r"\bq\.(shape|size).* -> .*\bk\.(shape|size)", "queries and keys are equally wide by the contract"),
    (r"device=\w+\.device.* -> ", "the machine that runs the tests has one device"),
)
# then single ones.
SHARED_EVENLY = "raise ValueError(f'{n_heads} heads cannot share {d_model} features evenly')"
FUSED = "heads = F.scaled_dot_product_attention"
EQUIVALENT = {
    "loops.dot_product_scores": {
        "scores[i, j] = (x[i] * x[j]).sum() -> scores[j, i] = (x[i] * x[j]).sum()": "the table is symmetric",
    },
    "loops.weighted_sum": {
        "output = values.new_zeros(weights.shape[0], values.shape[1]) -> "
        "output = weights.new_zeros(weights.shape[0], values.shape[1])": "both inputs have one type",
    },
    "loops.attention_from_loops": {
        "rows.append(sum((w * v_j for w, v_j in zip(weights, v)))) -> "
        "rows.append(sum((w * v_j for w, v_j in zip(v, weights))))": "a product has no order",
    },
    "mqa.MultiQueryAttention": {
        f"{FUSED}(q, k.expand_as(q), v.expand_as(q), mask) -> {FUSED}({other}, mask)": (
            "fused attention lets one head serve all by itself"
        )
        for other in ("q, k, v.expand_as(q)", "q, k.expand_as(q), v")
    },
    "mqa.pool_kv_heads": {
        "groups = weight.reshape(n_kv_heads, n_heads // n_kv_heads, -1, d_model) -> "
        "groups = weight.reshape(n_kv_heads, n_heads // n_kv_heads, d_model, -1)": (
            "the last two axes are only put together again"
        ),
    },
    "heads.MultiheadCrossAttention": {
        f"{before} -> {after}": "a ValueError is asked for in self-attention only"
        for before, after in (
            ("if d_model % n_heads:", "if n_heads % n_heads:"),
            ("if d_model % n_heads:", "if d_model % d_model:"),
            (SHARED_EVENLY, "pass"),
            (SHARED_EVENLY, SHARED_EVENLY.replace("ValueError(", "").replace(")", "")),
        )
    },
}


@functools.cache
def tried(exercise_id: str) -> tuple[int, tuple[str, ...]]:
    """How many mutants there are, and which are not told from the worked answer."""
    exercise = next(exercise for exercise in all_exercises() if exercise.id == exercise_id)
    source = worked_sources(exercise.lesson).get(exercise.id)
    if source is None:
        return 0, ()
    expected = Expected(exercise, cases_of(exercise))
    count, survivors = 0, []
    for what, changed in mutants(source):
        count += 1
        try:
            answer = answer_in(worked_file(exercise, changed), exercise.name)
        except Exception:
            continue
        if not is_caught(exercise, expected, answer, SECONDS):
            survivors.append(what)
    return count, tuple(survivors)


def is_listed(exercise_id: str, what: str) -> bool:
    """Whether a mutant is known to compute the same as the worked answer."""
    return what in EQUIVALENT.get(exercise_id, {}) or any(re.search(kind, what) for kind, _ in SAME_KIND)


@pytest.mark.parametrize("exercise_id", IDS)
def test_every_slip_is_seen_that_changes_anything(exercise_id):
    _, survivors = tried(exercise_id)
    assert not [what for what in survivors if not is_listed(exercise_id, what)]
    assert not set(EQUIVALENT.get(exercise_id, {})) - set(survivors)
