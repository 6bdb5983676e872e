"""Packs the feedback pages of a lesson into a zip that Canvas or Moodle accepts.

Each system recognises the student by the file name of a page. This name must contain the numbers that the
system wrote into the names of the downloaded submissions:

    Canvas   NAME_USER_FILE_x.html, or anon_USER_FILE_x.html if grading is anonymous; FILE is the number of
             the student's last file
    Moodle   NAME_USER_assignsubmission_file_/x.html

Sources: infer_comment_context_from_filename in Canvas's abstract_assignment.rb, and importziplib.php in
Moodle's mod/assign/feedback/file.
"""

import zipfile
from collections import defaultdict
from pathlib import Path

from autograder.errors import UserError
from autograder.files import replaced
from autograder.grading.collect.attempts import Memory, Seen
from autograder.grading.collect.names import CANVAS_SAYS, MOODLE_SAYS, Origin
from autograder.grading.collect.people import FILE, People
from autograder.grading.collect.students import Class
from autograder.grading.gradebook.open_course import lessons_of, open_course
from autograder.grading.submission.find import Submission, find_submissions
from autograder.printable import printable

SYSTEMS = {CANVAS_SAYS: "Canvas", MOODLE_SAYS: "Moodle"}
NO_PAGE = "no feedback page yet (`nbgrader generate_feedback` makes it)"
NOT_COLLECTED = "not collected from this system"
DOUBTFUL = f"their number may be somebody else's, according to {FILE}"
NOT_THEIRS = f"the number that they handed in under is not theirs, according to {FILE}"
LONGEST_NAME = 50  # characters


def pack_feedback(folder: Path | str, lesson: str, system: str) -> bool:
    """Write DIR/feedback-LESSON-SYSTEM.zip with the feedback pages of the students who handed in. Print the
    students whose page is left out, and why. Return True if no page is left out.

    Raises UserError if `folder` is not a course, if it has no such `lesson`, if there is nothing to pack, or
    if the zip cannot be written.
    """
    folder = Path(folder).absolute()
    api = open_course(folder)
    lessons_of(api, lesson)
    with api.gradebook as gradebook:
        people = People(folder, Class(gradebook.students))
    pages: dict[str, Path] = {}
    left_out: dict[str, list[str]] = defaultdict(list)
    for submission in find_submissions(folder, lesson, [lesson]):
        page = folder / "feedback" / submission.student / lesson / f"{lesson}.html"
        seen = _last_seen(submission, system)
        if why := _why_not(submission.student, page, seen, people):
            left_out[why].append(submission.student)
        elif seen:
            name = people.rows_of(submission.student)[seen.system, seen.user]
            pages[_name(seen, name, lesson)] = page
    for why, students in left_out.items():
        print(f"not in the zip, {why}: {printable(', '.join(students))}")
    if not pages:
        raise UserError(f"there is no feedback for {lesson} to upload to {SYSTEMS[system]}.")
    path = folder / f"feedback-{lesson}-{system}.zip"
    try:
        _zip(path, pages)
    except OSError as error:
        raise UserError(f"{path} cannot be written: {error.strerror}.") from None
    number = f"{len(pages)} page{'s'[: len(pages) != 1]}"
    print(f"{path}: {number} for {SYSTEMS[system]}, {path.stat().st_size / 1e6:.1f} MB")
    return not left_out


def _last_seen(submission: Submission, system: str) -> Seen | None:
    """Return the student's last attempt that was collected from this system, or None. It must be the last,
    because Canvas refuses the number of an earlier file.
    """
    seen = Memory(submission.folder, submission.student).of(submission.lesson)
    mine = [(one.order, number) for number, one in enumerate(seen) if one.system == system and one.user]
    return seen[max(mine)[1]] if mine else None


def _why_not(student: str, page: Path, seen: Seen | None, people: People) -> str:
    """Return the reason why a student's page cannot be packed, or an empty string if it can."""
    if not page.is_file():
        return NO_PAGE
    if seen is None:
        return NOT_COLLECTED
    if (seen.system, seen.user) not in people.rows_of(student):
        return NOT_THEIRS
    return DOUBTFUL if people.is_doubtful(Origin(seen.system, seen.user)) else ""


def _name(seen: Seen, name: str, lesson: str) -> str:
    """Return the name that a page has in the zip.

    subtle: both systems split a name at its underscores, so no part of it contains one. Canvas reads the
    first parts that are numbers, and treats a submission as anonymous if the first part of its name is
    `anon`.
    """
    letters = "".join(filter(str.isalpha, name))[:LONGEST_NAME]
    who = f"{'student' if letters in ('', 'anon') else letters}_{seen.user}"
    page = f"{lesson.replace('_', '-')}.html"
    if seen.system == MOODLE_SAYS:
        return f"{who}_assignsubmission_file_/{page}"
    return f"{seen.user if seen.user.startswith('anon_') else who}_{seen.order}_{page}"


def _zip(path: Path, pages: dict[str, Path]) -> None:
    with replaced(path) as half, zipfile.ZipFile(half, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, page in pages.items():
            archive.write(page, name)
