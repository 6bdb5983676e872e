"""Tests the judge: right answers pass however they are written, wrong answers fail, and mistakes are named."""

import json
import re
import subprocess
import sys
import warnings
from concurrent.futures import ThreadPoolExecutor
from threading import Thread

import pytest
import torch
import torch.nn.functional as F
from answers import answers
from judged import (
    HIDDEN,
    IDS,
    PUBLIC,
    expected_of,
    hidden_verdicts,
    is_caught,
    mistake_verdicts,
    sample,
    sampled_verdicts,
    verdict,
    worked_answer,
    wrong_verdicts,
)
from torch import nn
from worked import answer_in, worked_file, worked_sources

from autograder import check
from autograder.build.asked.answers import NAMED_AT_LEAST, says_what_is_wrong
from autograder.exercises import find
from autograder.exercises._shared.token_losses import NOTHING
from autograder.grading.judging.untrusted_records import checked_records
from autograder.judge import Expected, cases_of, judge
from autograder.judge.general import GENERAL
from autograder.probe import probe
from autograder.schema.case import GRADIENTS
from autograder.schema.packed import pack_cases, unpack_cases
from autograder.verdict import NOT_STARTED, PARTLY_RIGHT

every_exercise = pytest.mark.parametrize("exercise_id", IDS)
SAMPLED = "a sample of the visible"
long_checks = pytest.mark.parametrize(
    "which",
    [
        pytest.param(SAMPLED, id="sampled", marks=pytest.mark.sample),
        pytest.param(PUBLIC, id="visible", marks=pytest.mark.trial),
        pytest.param(HIDDEN, id="hidden", marks=pytest.mark.trial),
    ],
)
WITH_ANSWERS = [exercise_id for exercise_id in IDS if answers(find(exercise_id))[0]]


def stub(*args, **kwargs):
    raise NotImplementedError()


class StubInit(nn.Module):
    def __init__(self, *args, **kwargs):
        super().__init__()
        raise NotImplementedError()


@every_exercise
def test_a_stub_is_not_started_and_has_no_points(exercise_id):
    for answer in [stub, StubInit] if find(exercise_id).procedure == "class" else [stub]:
        judged = verdict(exercise_id, answer)
        assert (judged.state, judged.points, judged.passed) == (NOT_STARTED, 0.0, False), judged


@every_exercise
@pytest.mark.parametrize(
    "seeds",
    [
        pytest.param(range(1), id="one", marks=pytest.mark.sample),
        pytest.param(range(4), id="some", marks=pytest.mark.trial),
    ],
)
def test_the_worked_answer_passes_on_every_seed(exercise_id, seeds):
    """Try only hidden cases, because the visible cases have only one seed, and the bundle's tests already try
    the worked answer on it.
    """
    exercise, answer = find(exercise_id), worked_answer(exercise_id)
    for seed in seeds:
        cases = cases_of(exercise, str(seed), hidden=True)
        records = probe(answer, cases, exercise.procedure)
        checked_records(records, exercise, cases)  # grading accepts them as the probe's records
        judged = judge(exercise, cases, records, hidden=True)
        assert judged.passed and judged.points == exercise.points, (seed, judged)


@long_checks
@pytest.mark.parametrize("exercise_id", WITH_ANSWERS)
def test_right_answers_pass_however_written(exercise_id, which):
    right, _ = answers(find(exercise_id))
    if which == SAMPLED:
        right, which = {name: right[name] for name in sample(right)}, PUBLIC
    judged = {name: verdict(exercise_id, answer, which) for name, answer in right.items()}
    assert not {name: (v.state, v.message) for name, v in judged.items() if not v.passed}


@long_checks
@every_exercise
def test_every_mistake_is_named_by_its_own_sentence_and_taken_for_no_other(exercise_id, which, recordings):
    exercise = find(exercise_id)
    for mistake, judged in verdicts_on_mistakes(exercise_id, which, recordings):
        assert not judged.passed and judged.mistake == mistake.id, (mistake.id, judged)
        assert mistake.observation in judged.message and mistake.question in judged.message
        assert judged.points < exercise.points
    if which == PUBLIC:
        expected = expected_of(exercise_id, *which)
        assert all(expected.run(number)[1] for number in range(len(exercise.mistakes)))


def verdicts_on_mistakes(exercise_id, which, recordings):
    """Return the verdicts on known mistakes. Depending on `which`, a sample of the mistakes or all of them
    are judged on the visible cases, or every fourth one is judged on the hidden cases.
    """
    if which == SAMPLED:
        return sampled_verdicts(exercise_id)
    return mistake_verdicts(exercise_id, recordings) if which == PUBLIC else hidden_verdicts(exercise_id)


@pytest.mark.trial
@every_exercise
def test_hidden_cases_catch_every_mistake(exercise_id):
    exercise, expected = find(exercise_id), expected_of(exercise_id, *HIDDEN)
    assert not [one.id for one in exercise.mistakes if not is_caught(exercise, expected, one.answer)]


@pytest.mark.sample
@pytest.mark.parametrize("exercise_id", WITH_ANSWERS)
def test_some_other_wrong_answers_do_not_pass(exercise_id):
    _, wrong = answers(find(exercise_id))
    judged = {name: verdict(exercise_id, wrong[name]) for name in sample(wrong)}
    assert not [name for name, v in judged.items() if v.passed or v.points >= v.max_points]


@pytest.mark.trial
@pytest.mark.parametrize("exercise_id", WITH_ANSWERS)
def test_other_wrong_answers_do_not_pass_and_most_are_named(exercise_id):
    judged = wrong_verdicts(exercise_id)
    assert not [name for name, v in judged.items() if v.passed or v.points >= v.max_points]
    share = sum(map(says_what_is_wrong, judged.values())) / max(1, len(judged))
    assert share >= NAMED_AT_LEAST, sorted(name for name, v in judged.items() if not says_what_is_wrong(v))


@pytest.mark.trial
@pytest.mark.parametrize("exercise_id", WITH_ANSWERS)
def test_other_wrong_answers_do_not_pass_hidden(exercise_id):
    exercise, expected = find(exercise_id), expected_of(exercise_id, *HIDDEN)
    _, wrong = answers(exercise)
    assert not [name for name, answer in wrong.items() if not is_caught(exercise, expected, answer)]


# Messages


ZERO_BY_ZERO = (
    "Where can a NaN or an infinity come from: 0/0, inf - inf, the logarithm of 0, exp of a large number?"
)
ROUNDED = "Does a step round, use half precision, or add a small number?"
ZERO_WEIGHTS = "Some of your weights are 0 but should not be."


def all_messages(exercise_id, which, recordings):
    """Return the messages about known mistakes and, depending on `which`, about all, every eighth or none of
    the other wrong answers.
    """
    wrong = []
    if which == PUBLIC:
        wrong = list(wrong_verdicts(exercise_id).values())
    elif which == HIDDEN:
        some = list(answers(find(exercise_id))[1].values())[::8]
        wrong = [verdict(exercise_id, answer, HIDDEN) for answer in some]
    mistakes = [judged for _, judged in verdicts_on_mistakes(exercise_id, which, recordings)]
    return [one.message for one in [*wrong, *mistakes]]


@long_checks
@every_exercise
def test_messages_are_short_and_hidden_ones_give_no_number_of_a_case(exercise_id, which, recordings):
    exercise = find(exercise_id)
    told = (*exercise.mistakes, *exercise.invariants, *GENERAL)
    texts = {text for one in told for text in (one.observation, one.question)} | {
        ZERO_BY_ZERO,
        ROUNDED,
        ZERO_WEIGHTS,
    }
    texts |= {text for words in exercise.needs.values() for text in words}
    texts |= {case.family for case in expected_of(exercise_id, *HIDDEN).cases}
    parts = {name for case in expected_of(exercise_id, *HIDDEN).cases for name in case.weights}
    texts |= {".".join(name.split(".")[:depth]) for name in parts for depth in range(1, 4)}
    for message in all_messages(exercise_id, which, recordings):
        lines = message.splitlines()
        assert 1 <= len(lines) <= 3 and all(len(line) < 320 for line in lines), message
        assert "Traceback" not in message and "autograder" not in message
        if which == HIDDEN:
            left = re.sub(r"Look at lines? [\d, and]*\d\.", "", message)  # a line of the answer's own
            for text in sorted(texts, key=len, reverse=True):
                left = left.replace(text, "")
            assert not re.search(r"\d", left), message


@every_exercise
def test_cases_survive_the_way_to_another_process(exercise_id):
    for case, told in zip(
        cases := expected_of(exercise_id, *HIDDEN).cases, unpack_cases(pack_cases(cases)), strict=True
    ):
        assert (told.gradients, told.observe, told.fresh) == (case.gradients, case.observe, case.fresh)
        for mine, theirs in zip(case.args, told.args, strict=True):
            if isinstance(mine, torch.Tensor):
                torch.testing.assert_close(mine, theirs, rtol=0, atol=0, equal_nan=True)
                assert mine.stride() == theirs.stride() or mine.is_contiguous()


# Points


CUT_OFF = """

_right = {name}


def {name}(*args, **kwargs):
    return _cut(_right(*args, **kwargs))
"""
CUT_OFF_CLASS = """

_Right = {name}


class {name}(_Right):
    def forward(self, *args, **kwargs):
        return _cut(super().forward(*args, **kwargs))
"""
CUT = """

def _cut(value):
    if isinstance(value, (tuple, list)):
        return type(value)(map(_cut, value))
    return value.detach() if isinstance(value, torch.Tensor) else value
"""


def cut_off(exercise):
    """Return the text of a file whose answer is right except for its gradients."""
    wrapper = CUT_OFF_CLASS if exercise.procedure == "class" else CUT_OFF
    return worked_file(exercise) + CUT + wrapper.format(name=exercise.name)


NOTHING_RETURNED = "heads.copy_weights"  # there is no result to cut off
PARTLY = [
    exercise_id
    for exercise_id in IDS
    if GRADIENTS in find(exercise_id).aspects
    and exercise_id != NOTHING_RETURNED
    and exercise_id in worked_sources(find(exercise_id).lesson)
]


@pytest.mark.parametrize("exercise_id", PARTLY)
def test_partial_credit_is_the_sum_of_the_aspects(exercise_id):
    exercise = find(exercise_id)
    answer = answer_in(cut_off(exercise), exercise.name)
    judged = verdict(exercise_id, answer)
    assert judged.state == PARTLY_RIGHT
    lost = [
        GRADIENTS,
        *(name for name in exercise.aspects if name == NOTHING),
    ]  # their result must have a graph
    assert judged.points == exercise.points - sum(exercise.aspects[name] for name in lost) > 0
    assert judged.points == sum(aspect.points for aspect in judged.aspects)


@pytest.mark.parametrize("exercise_id", [PARTLY[0], PARTLY[-1]])
def test_a_check_and_the_command_line_give_the_same_numbers(exercise_id, tmp_path, capsys):
    exercise = find(exercise_id)
    file = tmp_path / "answer.py"
    file.write_text(cut_off(exercise), encoding="utf-8")
    command = [sys.executable, "-m", "autograder", "check", exercise_id, str(file), "--json"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300)
    row = json.loads(done.stdout)
    mine = verdict(exercise_id, answer_in(cut_off(exercise), exercise.name))
    assert done.returncode == 1 and not row["passed"]
    assert (row["points"], row["max_points"], row["mistake"]) == (mine.points, mine.max_points, mine.mistake)
    # The line number and the file differ; observation and question do not.
    assert row["message"].splitlines()[:2] == mine.message.splitlines()[:2]
    assert check(answer_in(cut_off(exercise), exercise.name), exercise_id) == mine.points
    assert type(check(worked_answer(exercise_id), exercise_id)) is float


def test_a_mistake_is_not_named_for_numbers_that_it_would_get_right():
    def dot_product_scores(x):
        return torch.stack([torch.stack([(a @ b).detach() for b in x]) for a in x]) * 1.001

    judged = verdict("loops.dot_product_scores", dot_product_scores)
    assert judged.points == 0 and judged.mistake is None and "The values are right" not in judged.message


def test_the_example_shows_the_mistake_that_is_named():
    class MultiheadSelfAttention(nn.Module):
        """Merges its heads without transposing them back (MHA-33), and never raises ValueError."""

        def __init__(self, d_model, n_heads):
            super().__init__()
            self.n_heads = n_heads
            self.q_proj, self.k_proj, self.v_proj, self.out_proj = (
                nn.Linear(d_model, d_model) for _ in range(4)
            )

        def forward(self, x, mask=None):
            heads = (
                part(x).unflatten(-1, (self.n_heads, -1)) for part in (self.q_proj, self.k_proj, self.v_proj)
            )
            mixed = F.scaled_dot_product_attention(*(head.transpose(1, 2) for head in heads), mask)
            return self.out_proj(mixed.reshape(x.shape))

    judged = verdict("heads.MultiheadSelfAttention", MultiheadSelfAttention)
    assert judged.mistake == "MHA-33" and "entry [" in judged.message and "ValueError" not in judged.message


def test_a_mistake_is_named_also_where_the_answer_cuts_off_gradients_that_nobody_asks_for():
    def summed(policy_chosen, policy_rejected, reference_chosen, reference_rejected, beta=0.1):
        before = (reference_chosen - reference_rejected).detach()
        return -F.logsigmoid(beta * (policy_chosen - policy_rejected - before)).sum()

    assert verdict("preferences.dpo_loss", summed).mistake == "DPO-13"


def test_an_infinity_that_is_missing_is_no_matter_of_order_or_rounding():
    def merged(out_a, lse_a, out_b, lse_b):
        a, b = lse_a.clamp(min=-1e30), lse_b.clamp(min=-1e30)
        lse = torch.logaddexp(a, b)
        return (a - lse).exp()[..., None] * out_a + (b - lse).exp()[..., None] * out_b, lse

    message = verdict("fast.merge_attention", merged).message
    assert message.startswith("For a query without any keys your logsumexp is finite.")


def test_a_sign_is_blamed_only_if_positive_numbers_come_out_right():
    def sequence_log_prob(logits, ids, answer):
        """Count the tokens after the answer, too. The log-probabilities are all negative, as they should be,
        so the message must not mention their sign.
        """
        of_ids = logits[:, :-1].log_softmax(-1).gather(-1, ids[:, 1:, None])[..., 0]
        return (of_ids * answer[:, 1:].int().cummax(1).values).sum(1)

    assert "negative" not in verdict("preferences.sequence_log_prob", sequence_log_prob).message


@pytest.mark.parametrize("in_a_thread", [False, True], ids=["by rows", "by tables, in a thread"])
def test_a_product_of_tables_is_seen_in_a_thread_and_among_products_of_rows(in_a_thread):
    def weighted_sum(weights, values):
        output, product = torch.zeros(weights.shape[0], values.shape[1]), []
        for i in range(weights.shape[0]):
            for j in range(values.shape[0]):
                output[i] = output[i] + (weights[i : i + 1, j : j + 1] @ values[j : j + 1])[0]
        if in_a_thread:
            thread = Thread(target=lambda: product.append(weights @ values))
            thread.start()
            thread.join()
        return product[0] if in_a_thread else output

    judged = verdict("loops.weighted_sum", weighted_sum)
    assert judged.passed is not in_a_thread
    assert ("a matrix product does the work" in judged.message) is in_a_thread


def test_what_an_answer_of_our_own_warns_of_is_not_shown_in_a_graders_thread_either():
    def warning(scores):
        warnings.warn("a mistake of a library", stacklevel=2)
        return torch.softmax(scores, dim=-1)

    expected = Expected(find("loops.softmax"), expected_of("loops.softmax", *PUBLIC).cases[:1])
    with warnings.catch_warnings(record=True) as seen, ThreadPoolExecutor(1) as pool:
        warnings.simplefilter("always")
        (record,) = pool.submit(expected.records_of, warning).result()
    assert not seen and record["status"] == "answered"
