"""Rules for an exercise's answers: right ones pass, wrong ones do not, and messages say why.

All answers are tried on the visible cases; worked answers are also tried on hidden ones. `make trial` tries
all answers on hidden cases as well, with many seeds.
"""

from collections.abc import Iterator

from autograder.build.asked.rule import Rule, adds_to
from autograder.build.asked.subject import ExerciseSubject
from autograder.judge import cases_of, judge
from autograder.probe import probe
from autograder.verdict import Verdict

NAMED_AT_LEAST = 0.9  # share of the answers in WRONG (they match no known mistake) to be explained
LINES, WIDTH = 3, 320
SEEDS = (("public", False), ("0", True))

ANSWER_RULES: list[Rule[ExerciseSubject]] = []


@adds_to(ANSWER_RULES, "a worked answer that passes, on visible and on hidden cases")
def _worked(subject: ExerciseSubject) -> Iterator[str]:
    exercise = subject.exercise
    for seed, hidden in SEEDS:
        cases = cases_of(exercise, seed, hidden)
        records = probe(exercise.worked or exercise.reference, cases, exercise.procedure)
        verdict = judge(exercise, cases, records, hidden)
        if not verdict.passed:
            yield f"its worked answer does not pass: {verdict.message}"


@adds_to(ANSWER_RULES, "right answers that pass, and wrong ones that do not")
def _answers(subject: ExerciseSubject) -> Iterator[str]:
    for name, verdict in subject.verdicts("RIGHT").items():
        if not verdict.passed:
            yield f'the answer "{name}" of RIGHT does not pass: {verdict.message}'
    for name, verdict in subject.verdicts("WRONG").items():
        if verdict.passed or verdict.points >= verdict.max_points:
            yield f'the answer "{name}" of WRONG passes; add a case that shows what is wrong with it.'


@adds_to(ANSWER_RULES, "mistakes that are rejected, each with its own sentences")
def _mistakes(subject: ExerciseSubject) -> Iterator[str]:
    for mistake, verdict in zip(subject.exercise.mistakes, subject.mistakes, strict=True):
        if verdict.passed:
            yield f'the mistake "{mistake.title}" passes; add a case that shows it.'
        elif verdict.mistake != mistake.id:
            message = verdict.message.splitlines()[0]
            yield f'the mistake "{mistake.title}" gets the message of another: {message}'


@adds_to(
    ANSWER_RULES,
    f"messages for {NAMED_AT_LEAST:.0%} of its `WRONG` answers that say what kind of thing is wrong",
)
def _messages(subject: ExerciseSubject) -> Iterator[str]:
    verdicts = subject.verdicts("WRONG")
    plain = [name for name, verdict in verdicts.items() if not says_what_is_wrong(verdict)]
    if len(plain) > (1 - NAMED_AT_LEAST) * len(verdicts):
        yield (
            f'{len(plain)} of {len(verdicts)} answers of WRONG get no more than "Work this one out by hand": '
            f"{', '.join(sorted(plain))}; add a mistake or a need."
        )


def says_what_is_wrong(verdict: Verdict) -> bool:
    """Return whether the message explains the fault, rather than only naming an entry that differs."""
    return verdict.mistake is not None or "Work this one" not in verdict.message


@adds_to(ANSWER_RULES, f"messages of at most {LINES} lines")
def _short(subject: ExerciseSubject) -> Iterator[str]:
    for verdict in (*subject.mistakes, *subject.verdicts("WRONG").values()):
        lines = verdict.message.splitlines()
        if len(lines) > LINES or any(len(line) >= WIDTH for line in lines):
            yield f"this message is longer than {LINES} lines of {WIDTH} characters: {verdict.message}"
