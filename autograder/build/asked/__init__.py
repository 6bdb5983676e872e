"""The requirements for the course's exercises and lessons, and the proof that an exercise or a lesson meets
them.

rule.py       a rule: a requirement in words, and the check that yields a sentence for each violation
subject.py    an exercise or a lesson as the rules see it: its files, its notebook, its verdicts
exercises.py  the rules for an exercise
answers.py    the rules that run an exercise's answers and mistakes, also for instructors' own exercises
lessons.py    the rules for a lesson
table.py      a table of all rules, for CONTRIBUTING.md

`python -m autograder prove NAME` prints a sentence for each violation; the course's tests require that there
are none.
"""

from difflib import get_close_matches
from pathlib import Path

from autograder.build.asked.answers import ANSWER_RULES
from autograder.build.asked.exercises import EXERCISE_RULES
from autograder.build.asked.lessons import LESSON_RULES
from autograder.build.asked.rule import faults_by
from autograder.build.asked.subject import LessonSubject
from autograder.build.lesson import ROOT, Lesson, lesson_names
from autograder.errors import UserError
from autograder.exercises import nearest

__all__ = ["faults_in_folder", "faults_of_exercise", "faults_of_lesson", "prove"]


def prove(name: str, root: Path = ROOT) -> list[str]:
    """Return a sentence for each fault of an exercise, or of a lesson and all its exercises.

    Raises UserError if no lesson or exercise is called `name`, or if a source cannot be read.
    """
    if name in lesson_names(root):
        lesson = LessonSubject(Lesson(name, root))
        faults = faults_by(LESSON_RULES, lesson)
        ids = [exercise.id for exercise in lesson.exercises]
        return faults + [
            fault for exercise_id in ids for fault in faults_of_exercise(exercise_id, root, lesson)
        ]
    if "." not in name:
        near = next(iter(get_close_matches(name, lesson_names(root), n=1)), None) or nearest(name)
        answer = "`python -m autograder check EXERCISE_ID FILE` judges an answer."
        hint = f"did you mean {near}?" if near else f"`python -m autograder exercises` lists them; {answer}"
        raise UserError(f"there is no lesson or exercise {name!r}; {hint}")
    return faults_of_exercise(name, root)


def faults_of_lesson(lesson: Lesson) -> list[str]:
    """Return what is wrong with the text and the cells of a lesson, leaving out its exercises."""
    return faults_by(LESSON_RULES, LessonSubject(lesson))


def faults_of_exercise(
    exercise_id: str, root: Path = ROOT, lesson: LessonSubject | None = None, run: bool = True
) -> list[str]:
    """Return what is wrong with an exercise. If `run` is False, no answer to it is called."""
    from autograder.exercises import find

    exercise = find(exercise_id)
    lesson = lesson or LessonSubject(Lesson(exercise.lesson, root))
    return faults_by((*EXERCISE_RULES, *(ANSWER_RULES if run else ())), lesson.exercise(exercise))


def faults_in_folder(folder: Path) -> list[str]:
    """Return what is wrong with the answers and mistakes of an instructor's own exercises."""
    from autograder.exercises import all_exercises

    topics = {path.name for path in (folder / "exercises").iterdir()}
    own = [exercise for exercise in all_exercises() if exercise.topic in topics]
    subjects = [LessonSubject(Lesson(exercise.lesson, folder)).exercise(exercise) for exercise in own]
    return [fault for subject in subjects for fault in faults_by(ANSWER_RULES, subject)]
