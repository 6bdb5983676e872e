"""Tests that a verdict depends only on the answer, not on other threads or on the settings of a session."""

import inspect
import locale
import os
import subprocess
import sys
import warnings
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path

import numpy as np
import pytest
import torch
from judged import IDS, PUBLIC, expected_of, worked_answer
from worked import answer_in, worked_file

from autograder import check
from autograder.exercises import find
from autograder.grading.check_files import check_files
from autograder.grading.judging.untrusted_records import checked_records
from autograder.judge import Expected, judge
from autograder.probe import probe
from autograder.probe.build import states_as_given
from autograder.values.compare import same_value
from autograder.values.encode import encode

REPLACE = "finetune.replace_linears"  # its models have weights that no case names
WITH_MODULES = [one for one in IDS if "Module(" in Path(inspect.getfile(find(one).cases)).read_text()]
SOFTMAX = """
import torch

def softmax(scores):
    grown = torch.exp(scores - scores.max(dim=-1, keepdim=True).values)
    return grown / grown.sum(dim=-1, keepdim=True)
"""


def test_eight_right_answers_that_are_judged_at_once_pass_twenty_times():
    exercise, cases = find(REPLACE), expected_of(REPLACE, *PUBLIC).cases[:3]
    records = probe(worked_answer(exercise.id), cases, exercise.procedure)
    expected = Expected(exercise, cases)

    def passes(number: int) -> bool:
        torch.rand(number)  # the thread's own use of the random numbers of the process
        read = checked_records(records, exercise, cases)
        return judge(exercise, cases, read, expected=expected).passed

    with ThreadPoolExecutor(8) as pool:
        assert all(pool.map(passes, range(8 * 20)))


def test_right_answers_in_one_command_pass(tmp_path):
    for name in "abcd":
        (tmp_path / f"{name}.py").write_text(worked_file(find(REPLACE)), encoding="utf-8")
    judged = check_files(REPLACE, [str(file) for file in tmp_path.glob("*.py")])
    assert [verdict.passed for verdict in judged] == [True] * 4


@pytest.mark.parametrize("exercise_id", WITH_MODULES)
def test_what_a_case_gives_is_made_without_the_random_numbers_of_the_process(exercise_id):
    case = next(case for case in expected_of(exercise_id, *PUBLIC).cases if "Module(" in repr(case))
    before = torch.get_rng_state()
    first = encode(states_as_given(case))
    assert torch.equal(torch.get_rng_state(), before)
    torch.rand(3)
    assert same_value(encode(states_as_given(case)), first)


def softmax(scores):
    return answer_in(SOFTMAX, "softmax")(scores)


def with_default_type():
    torch.set_default_dtype(torch.float64)


def on_a_gpu_that_is_not_there():
    torch.set_default_device("cuda")


def without_gradients():
    torch.set_grad_enabled(False)


def with_warnings_as_errors():
    warnings.simplefilter("error")


def in_another_language():
    with suppress(locale.Error):
        locale.setlocale(locale.LC_ALL, "de_DE.UTF-8")


def with_numpy_that_raises():
    np.seterr(all="raise")


SETTINGS = (
    with_default_type,
    on_a_gpu_that_is_not_there,
    without_gradients,
    with_warnings_as_errors,
    in_another_language,
    with_numpy_that_raises,
)


@pytest.fixture
def session():
    """A session in which a test may change settings of the whole process; afterwards they are restored."""
    folder, errors, language = os.getcwd(), np.geterr(), locale.setlocale(locale.LC_ALL)
    with warnings.catch_warnings():
        yield
    os.chdir(folder)
    np.seterr(**errors)
    locale.setlocale(locale.LC_ALL, language)
    torch.set_grad_enabled(True)
    torch.set_default_dtype(torch.float32)
    torch.set_default_device(None)


@pytest.mark.parametrize("setting", SETTINGS, ids=lambda setting: setting.__name__)
@pytest.mark.parametrize("exercise_id", ["loops.softmax", "matmul.SelfAttention", "lm.adamw_step"])
def test_no_setting_of_a_session_changes_a_verdict(exercise_id, setting, session, capsys):
    answer = worked_answer(exercise_id)
    setting()
    assert check(answer, exercise_id) == find(exercise_id).points


def test_a_check_leaves_the_settings_of_a_session_alone(session):
    torch.set_default_dtype(torch.float64)
    before = torch.get_rng_state(), os.getcwd()
    check(softmax)
    assert torch.get_default_dtype() == torch.float64 and os.getcwd() == before[1]
    assert torch.equal(torch.get_rng_state(), before[0])


@pytest.mark.skipif(os.name == "nt", reason="Windows deletes no folder in which a process runs")
def test_in_a_folder_that_was_deleted_a_check_and_the_command_give_a_true_verdict(tmp_path, session, capsys):
    file, gone = tmp_path / "answer.py", tmp_path / "gone"
    file.write_text(SOFTMAX, encoding="utf-8")
    gone.mkdir()
    os.chdir(gone)
    gone.rmdir()
    assert check(softmax) == find("loops.softmax").points
    command = [sys.executable, "-m", "autograder", "check", "loops.softmax", str(file)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300)
    assert (done.returncode, done.stderr) == (0, "") and "7 of 7 points" in done.stdout


def test_two_checks_in_two_threads_wait_for_each_other(capsys):
    with ThreadPoolExecutor(2) as pool:
        assert list(pool.map(check, [softmax] * 4)) == [find("loops.softmax").points] * 4
