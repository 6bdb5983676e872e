"""Tests that the wrong answers of the sample class are the mistakes that they claim to be."""

import nbformat
import pytest

from autograder.exercises import find
from autograder.grading.demo.hand_in import notebook_text
from autograder.grading.demo.sample_class import CLASS, SampleSubmission
from autograder.judge import cases_of, judge
from autograder.probe import probe

MISTAKES = sorted(
    (exercise_id, answer)
    for exercise_id, answer in {item for work in CLASS for item in work.answers.items()}
    if answer in {mistake.id for mistake in find(exercise_id).mistakes}
)


@pytest.mark.parametrize("exercise_id, mistake", MISTAKES)
def test_wrong_answers_of_the_sample_class_are_the_mistakes_they_claim(empty_course, exercise_id, mistake):
    """Prove that the judge recognises the mistake in each wrong answer, as typed into the notebook."""
    exercise = find(exercise_id)
    work = SampleSubmission("somebody", answers={exercise_id: mistake}, lesson=exercise.lesson)
    names = {}
    for cell in nbformat.reads(notebook_text(empty_course, work), as_version=4).cells:
        is_answer = cell.metadata.get("nbgrader", {}).get("solution")
        if cell.cell_type == "code" and (is_answer or cell.source.startswith("import")):
            exec(cell.source, names)
    cases = cases_of(exercise)
    found = judge(exercise, cases, probe(names[exercise.name], cases, exercise.procedure))
    assert found.points < exercise.points
    assert found.mistake == mistake
