"""Rules for a lesson's source."""

import re
from collections.abc import Iterator
from itertools import pairwise

from autograder.build.asked.exercises import given_away
from autograder.build.asked.rule import Rule, adds_to
from autograder.build.asked.subject import LessonSubject
from autograder.build.repository import BY_HAND
from autograder.exercises import all_exercises

IMPORTS = (
    "import math",
    "import torch",
    "import torch.nn.functional as F",
    "from torch import nn",
    "from autograder import check, compare, draw, explore, figures, hint, progress",
)
WITH_MINE = IMPORTS[-1].replace("hint", "hint, mine")  # in lessons that build on answers from other lessons
STANDARD = ("collections", "itertools", "re")  # modules of the standard library that are allowed besides math
OF_THE_LESSON = ("experiment", "lessons", "real_model", "sentence")
CLOSING = ["On your own", "In practice", "Read more"]
ALT, WIDTH, IMPORTED, SAMPLES = 60, 100, 8, 3
# The parts of an idea's section: name, and a pattern that finds the part.
IDEA = {
    "**The question.**": r"\*\*The question\.\*\*",
    "a picture or a figure": r"!\[|figures\.",
    "an example (By hand)": r"\bBy hand\b",
    "**The formula**": r"\*\*The formula",
    "### Exercise: `name`": r"### Exercise: `",
    "**What goes wrong.**": r"\*\*What goes wrong\.\*\*",
    "**See it run.**": r"\*\*See it run\.\*\*",
}
# Pairs of parts by their position in IDEA: the first must come before the second. "What goes wrong" and "See
# it run" may come in either order.
ORDER = ((0, 1), (0, 3), (3, 4), (4, 5), (1, 4), (4, 6))

LESSON_RULES: list[Rule[LessonSubject]] = []


@adds_to(
    LESSON_RULES,
    f"at most {IMPORTED} imports in its first code cell: those of lesson 01, and others that it needs",
)
def _imports(subject: LessonSubject) -> Iterator[str]:
    code = next((cell.text for cell in subject.cells if cell.is_code), "")
    lines = [line.replace(WITH_MINE, IMPORTS[-1]) for line in code.splitlines() if line]
    own = [line for line in lines if line.startswith("from autograder.notebook.")]
    plain = [line for line in lines if line not in own]
    known = (*IMPORTS, *(f"import {name}" for name in STANDARD))
    strange = [line for line in plain if line not in known]
    strange += [line for line in own if not line.split(".")[2].startswith(OF_THE_LESSON)]
    if strange:
        yield f"its first code cell should import only what all lessons import, not {', '.join(strange)}."
    if plain[-1:] != [IMPORTS[-1]]:
        yield f'its first code cell lacks the line "{IMPORTS[-1]}", after PyTorch\'s.'
    shared = [line for line in plain if line in IMPORTS]
    if shared != sorted(shared, key=IMPORTS.index):
        yield f"its first code cell imports in a different order from the other lessons: {', '.join(IMPORTS)}."
    if own != sorted(own) or lines[len(plain) :] != own:
        yield "the lines `from autograder.notebook...` must end its first code cell, in alphabetical order."
    if len(lines) > IMPORTED:
        yield f"its first code cell has {len(lines)} lines; at most {IMPORTED} are allowed."


@adds_to(LESSON_RULES, "an opening that says what you need, how long it takes, and how to start")
def _opening(subject: LessonSubject) -> Iterator[str]:
    text = subject.cells[0].text if subject.cells else ""
    if "**You need**" not in text:
        yield 'its first cell lacks a paragraph "**You need** ...": which lessons, and what else.'
    if "**You spend** about" not in text:
        yield 'its first cell lacks a paragraph "**You spend** about N minutes ..."; the build puts the number in.'
    for words in ("`torch`", "`autograder`", "`python -m autograder lab`", BY_HAND):
        if words not in text:
            yield f"its first cell does not say how to start: {words} is missing. Copy it from lesson 01."


@adds_to(
    LESSON_RULES,
    "its exercises in the order of their numbers, a written question, an explorer, and `progress()` at the end",
)
def _parts(subject: LessonSubject) -> Iterator[str]:
    order = [cell.name for cell in subject.of_kind("exercise")]
    expected = [exercise.id for exercise in subject.exercises]
    if order != expected:
        yield f"its exercises are in the order {', '.join(order)}; by their numbers it should be {', '.join(expected)}."
    for kind, what in (("written", "a written question"), ("explore", "an explorer")):
        if not subject.of_kind(kind):
            yield f"it has no cell for {what}, with the title {kind}."
    if not subject.cells or subject.cells[-1].text.strip() != "progress()":
        yield "its last cell is not progress()."


@adds_to(LESSON_RULES, f"one title, headings that skip no level, and at the end {', '.join(CLOSING)}")
def _headings(subject: LessonSubject) -> Iterator[str]:
    levels = [level for level, _ in subject.headings]
    if levels[:1] != [1] or levels.count(1) != 1:
        yield "it must have exactly one title (#), at its top."
    for (before, text), (level, heading) in pairwise(subject.headings):
        if level > before + 1:
            yield f'the heading "{heading}" skips a level after "{text}".'
    sections = [text for level, text in subject.headings if level == 2]
    if sections[-len(CLOSING) :] != CLOSING:
        yield f"its last three sections are not {', '.join(CLOSING)}."
    numbers = [int(number) for _, text in subject.headings for number in re.findall(r"^(\d+)\. ", text)]
    if numbers != list(range(1, len(numbers) + 1)):
        yield f"its sections have the numbers {', '.join(map(str, numbers))}; number them from 1 on, without a gap."
    for line in re.findall(r".*\S #{2,4} .*|.*[.?!] \d\. [A-Z].*|.*[.?!] - [*A-Z].*|.*\. -$", subject.prose):
        yield f'a heading or a list item does not begin its line: "{line[:WIDTH]}".'


@adds_to(LESSON_RULES, f"for each exercise a section with these, in order: {'; '.join(IDEA)}")
def _ideas(subject: LessonSubject) -> Iterator[str]:
    for heading, text in subject.sections.items():
        if "### Exercise: `" not in text:
            continue
        found = [re.search(pattern, text) for pattern in IDEA.values()]
        names = list(IDEA)
        for name, match in zip(names, found, strict=True):
            if match is None:
                yield f'the section "{heading}" lacks {name}.'
        for first, second in ORDER:
            before, after = found[first], found[second]
            if before and after and before.start() > after.start():
                yield f'in the section "{heading}", {names[second]} comes before {names[first]}.'


@adds_to(LESSON_RULES, f"pictures with a description of more than {ALT} characters")
def _pictures(subject: LessonSubject) -> Iterator[str]:
    for alt, path in re.findall(r"!\[([^\]]*)\]\(([^)]+)\)", subject.prose):
        if len(alt) <= ALT:
            yield f"{path} is described by {alt!r}; say what it shows to someone who cannot see it."


@adds_to(LESSON_RULES, "each figure that it shows on the last line of a cell")
def _figures(subject: LessonSubject) -> Iterator[str]:
    for cell in subject.cells:
        begun = re.findall(r"^[^\s#)].*", cell.text, re.M) if cell.is_code else []
        for line in begun[:-1]:
            if line.startswith("figures."):
                yield f"nobody sees {line}, because more code follows it: make it the last line of its cell."


@adds_to(
    LESSON_RULES,
    "a line in the marking scheme for each point of a written question, "
    f"and {SAMPLES} sample answers, the best one first",
)
def _written(subject: LessonSubject) -> Iterator[str]:
    for cell in subject.of_kind("written"):
        scheme = cell.text.partition("### BEGIN MARK SCHEME")[2]
        if (marks := scheme.count("**1 point**")) != cell.points:
            yield (
                f'{cell.name} is worth {cell.points} points, but "**1 point**" is in its marking scheme {marks} times.'
            )
        given = re.findall(r"^\*([\w ]+?) points?\.\* \"", scheme.partition("**Sample answers.**")[2], re.M)
        if len(given) < SAMPLES or len(set(given)) < len(given) or given[0] != str(cell.points):
            yield (
                f"{cell.name} has sample answers of {', '.join(given) or 'no'} points; after **Sample answers.** "
                f'write at least {SAMPLES}, as in *{cell.points} points.* "...", of different quality, the best first.'
            )


@adds_to(LESSON_RULES, f"code lines of at most {WIDTH} characters")
def _width(subject: LessonSubject) -> Iterator[str]:
    for cell in subject.cells:
        for line in cell.text.splitlines() if cell.is_code else ():
            if len(line) > WIDTH:
                yield f'this line has {len(line)} characters; at most {WIDTH} are allowed: "{line.strip()}".'


@adds_to(LESSON_RULES, "no answer to a written question, and no sentence of a mistake, in what students get")
def _given(subject: LessonSubject) -> Iterator[str]:
    for cell in subject.of_kind("written"):
        for fault in given_away(cell, subject.received):
            yield f"{cell.name}: {fault}"
    text = "\n".join(subject.received)
    for exercise in all_exercises():
        for mistake in exercise.mistakes:
            for words in (mistake.id, mistake.observation, mistake.question):
                if words in text:
                    yield f'students can read "{words}", which belongs to a mistake of {exercise.id}.'
