"""The lessons travel with the package, so that a course or a bundle can be made wherever it is installed: `pip
install` copies them to autograder/lessons. All else about packaging is in pyproject.toml."""

import shutil
from pathlib import Path

from setuptools import setup
from setuptools.command.build_py import build_py

HERE = Path(__file__).parent
LESSONS = ("solutions/*.py", "images/*.png", "LICENSE", "CHANGELOG.md")


class WithLessons(build_py):
    def run(self):
        super().run()
        if self.editable_mode:  # the lessons are read where they are
            return
        for pattern in LESSONS:
            for source in sorted(HERE.glob(pattern)):
                target = Path(self.build_lib, "autograder/lessons", source.relative_to(HERE))
                target.parent.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(source, target)


setup(cmdclass={"build_py": WithLessons})
