"""Replaces steps of nbgrader's own commands. Stock nbgrader executes a submission and reads scores from its
outputs. With these steps, a submission is read within limits, run in a sandbox, and judged from outside.
"""

import os
import shutil
from copy import copy
from dataclasses import asdict
from glob import escape, glob
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import nbformat
from nbconvert.exporters import NotebookExporter
from nbformat import NotebookNode, from_dict
from nbgrader.api import Gradebook, SubmittedNotebook
from nbgrader.converters import BaseConverter
from nbgrader.preprocessors import NbGraderPreprocessor

from autograder.grading.gradebook.fail_closed import require_settings
from autograder.grading.gradebook.graded_notebook import (
    fill_in,
    put_points_into_table,
    show_mark_schemes,
    write_scores,
)
from autograder.grading.gradebook.open_course import read_secret
from autograder.grading.judging import results
from autograder.grading.submission.course_metadata import cells_of_course, with_course_metadata
from autograder.grading.submission.files import Refused, read_time, why_refused
from autograder.grading.submission.limited import read_limited
from autograder.grading.submission.read_submission import notebook_in, read_notebook
from autograder.grading.submission.unit import Unit, unit_of
from autograder.printable import printable
from autograder.untrusted import checked

_nbgraders_own = BaseConverter.init_notebooks
# The files that nbgrader must not copy from a submission: all except text files (such as the time stamp) and files
# without an extension.
NOTHING_BESIDE = [".*", "*.[!t]*", "*.t[!x]*"]


class Releasing(NotebookExporter):
    """Makes the notebook for students. subtle: nbgrader removes the old release first; if it cannot make a
    new one, the old release is restored.
    """

    def __init__(self, config: Any = None, **more: Any) -> None:
        super().__init__(config=config, **more)
        converter: Any = self.parent
        require_settings(converter)
        convert = converter.convert_notebooks

        def convert_or_leave_as_it_was() -> None:
            course = converter.coursedir
            released = Path(course.root, course.release_directory, course.assignment_id)
            with TemporaryDirectory(dir=course.root, prefix=".release-") as kept:
                if released.is_dir():
                    shutil.copytree(released, Path(kept, "before"))
                try:
                    convert()
                except BaseException:  # restore the old release, after Ctrl-C as well
                    if Path(kept, "before").is_dir() and not released.exists():
                        Path(kept, "before").rename(released)
                    raise

        converter.convert_notebooks = convert_or_leave_as_it_was


def take_names_literally() -> None:
    """Make nbgrader's commands find students whose ids contain brackets, which nbgrader would otherwise read
    as a glob pattern.
    """
    BaseConverter.init_notebooks = _find_notebooks


def _find_notebooks(converter: Any) -> None:
    course = converter.coursedir
    source = converter._format_source(course.assignment_id, course.student_id)
    folders = [source] if os.path.isdir(source) else glob(source)
    found = {folder: glob(os.path.join(escape(folder), f"{course.notebook_id}.ipynb")) for folder in folders}
    converter.notebooks = []
    converter.assignments = {folder: notebooks for folder, notebooks in found.items() if notebooks}
    if not converter.assignments:
        _nbgraders_own(converter)  # which prints what was looked for


class PointsOfTheCourse(NbGraderPreprocessor):
    """Copies the points of a lesson's cells into its table of exercises."""

    def preprocess(self, nb: NotebookNode, resources: dict) -> tuple[NotebookNode, dict]:
        put_points_into_table(nb)
        return nb, resources


class LimitedReading(NotebookExporter):
    """Reads a submission within limits, and follows no links.

    subtle: if `pre_convert_hook` raises an error, nbgrader only logs it and continues. Therefore a submission
    is refused later, when its conversion begins; an error there stops only this submission.
    """

    def __init__(self, config: Any = None, **more: Any) -> None:
        super().__init__(config=config, **more)
        assert self.parent is not None, "a converter of nbgrader makes it"
        self._converter = self.parent
        require_settings(self._converter)
        # Grading uses no file except the notebook, so modules and archives are not even copied. subtle: nbgrader's
        # exchange also leaves out the files in `ignore`, so only this converter's copy of the list is extended.
        self._converter.coursedir = copy(self._converter.coursedir)
        self._converter.coursedir.ignore = [*self._converter.coursedir.ignore, *NOTHING_BESIDE]
        begin = self._converter.init_destination

        def refuse_or_begin(assignment_id: str, student_id: str) -> bool:
            # nbgrader's converters run in the course's folder.
            read_limited(_check_folder, Path("submitted", student_id, assignment_id), assignment_id)
            return begin(assignment_id, student_id)

        self._converter.init_destination = refuse_or_begin

    def from_filename(self, filename: str, resources: Any = None, **more: Any) -> tuple[NotebookNode, dict]:
        # The second time, nbgrader reads the notebook that we wrote.
        if not self._converter._sanitizing:
            return super().from_filename(filename, resources, **more)
        notebook = from_dict(read_limited(read_notebook, Path(filename)))
        return self.from_notebook_node(notebook, resources, **more)


def _check_folder(folder: Path, lesson: str) -> None:
    if why := why_refused(folder):
        raise Refused(why)
    if (name := notebook_in(folder, lesson).name) != f"{lesson}.ipynb":
        raise Refused(
            f"{printable(name)} is not named {lesson}.ipynb, and nbgrader's own command takes no other name; "
            f"`python -m autograder grade . {lesson}` grades it"
        )
    # subtle: nbgrader reads the whole time stamp, and stops grading the whole class if it contains no time.
    read_time(folder, for_nbgrader=True)


class TrustTheCourse(NbGraderPreprocessor):
    """Takes all metadata from the gradebook and none from the student, and restores graded cells that are
    missing.

    Also resets the scores of an earlier run. If the present run fails, the submission then has neither old
    scores nor a zero, and is marked for manual grading.
    """

    def preprocess(self, nb: NotebookNode, resources: dict) -> tuple[NotebookNode, dict]:
        place = resources["nbgrader"]
        with Gradebook(place["db_url"]) as gradebook:
            course_cells = cells_of_course(gradebook.find_notebook(place["notebook"], place["assignment"]))
            for grade in _row(gradebook, place).grades:
                grade.auto_score, grade.needs_manual_grade = None, True
            gradebook.db.commit()
        return with_course_metadata(nb, course_cells), resources


class GradeSubmission(NbGraderPreprocessor):
    """Runs and judges the notebook, or takes the stored result of an identical notebook, and writes the
    scores. Puts the outputs, the verdicts and, for formgrader, the marking schemes into the notebook.
    """

    def preprocess(self, nb: NotebookNode, resources: dict) -> tuple[NotebookNode, dict]:
        place, folder = resources["nbgrader"], Path.cwd()
        lesson = nbformat.read(
            Path("source", place["assignment"], f"{place['notebook']}.ipynb"), as_version=4
        )
        secret = read_secret(folder)
        unit = checked(Unit, read_limited(lambda: asdict(unit_of(nb, lesson))))
        key = unit.key(secret)
        result = results.load(folder, key)
        if result is None:
            result = self._run(unit, secret, folder, place["student"])
            results.save(folder, key, result)
        points = fill_in(nb, result, key)
        with Gradebook(place["db_url"]) as gradebook:
            write_scores(_row(gradebook, place), nb, points, self.log)
            gradebook.db.commit()
        show_mark_schemes(nb, lesson)
        return nb, resources

    def _run(self, unit: Unit, secret: str, folder: Path, student: str) -> results.Result:
        """Run the unit, and return its result. If this raises, nbgrader logs the error and leaves the
        submission without scores.
        """
        # Imported here because importing PyTorch takes longer than most commands take altogether.
        from autograder.grading.judging.run import HowToRun, failure, run_here

        try:
            return run_here(unit, HowToRun(secret), hidden=(folder,))
        except Exception as error:  # logged by its kind, and raised again
            self.log.error("%s: %s", student, failure(error))
            raise


def _row(gradebook: Gradebook, place: dict) -> SubmittedNotebook:
    return gradebook.find_submission_notebook(place["notebook"], place["assignment"], place["student"])
