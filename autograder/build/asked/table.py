"""All rules as a table in markdown, for CONTRIBUTING.md."""

from autograder.build.asked.answers import ANSWER_RULES
from autograder.build.asked.exercises import EXERCISE_RULES
from autograder.build.asked.lessons import LESSON_RULES


def table_of_rules() -> str:
    """Return a table with a row for each rule."""
    rules = [("An exercise", rule.asks) for rule in (*EXERCISE_RULES, *ANSWER_RULES)]
    rules += [("A lesson", rule.asks) for rule in LESSON_RULES]
    rows = [f"| {subject} has | {asks} |" for subject, asks in rules]
    return "\n".join(["| | what is required |", "|---|---|", *rows])
