"""What depends on the course's public address: badges, and the command that installs on Colab."""

from autograder.build import find_lessons
from autograder.build.lesson import Lesson
from autograder.build.notebooks import student_notebook
from autograder.build.readme import BADGES, readme_with_lessons
from autograder.build.repository import BY_HAND, badges, repository, with_address

ADDRESS = "https://github.com/OWNER/NAME"
INSTALL = f"run `%pip install --no-deps git+{ADDRESS} pygraphviz torchview`"


def test_without_an_address_there_are_no_links(tmp_path):
    assert repository(tmp_path) == "" and badges("") == ""
    text = f"# Course\n\n{BADGES[0]}\nold\n{BADGES[1]}\n"
    assert "old" not in readme_with_lessons(text, tmp_path)


def test_with_an_address_there_are_badges(tmp_path):
    (tmp_path / "pyproject.toml").write_text(f'[project]\nurls.Repository = "{ADDRESS}"\n')
    assert repository(tmp_path) == ADDRESS
    shown = badges(ADDRESS)
    assert shown.count("OWNER/NAME") >= 4 and "colab" in shown and "mybinder" in shown and "LICENSE" in shown


def test_with_an_address_a_lesson_says_how_to_install_from_there(tmp_path):
    (tmp_path / "pyproject.toml").write_text(f'[project]\nurls.Repository = "{ADDRESS}"\n')
    real = find_lessons(None)[0]
    for folder in ("solutions", "images"):
        (tmp_path / folder).symlink_to(real.root / folder)
    opening = student_notebook(Lesson(real.name, tmp_path)).cells[0].source
    assert INSTALL in opening and BY_HAND not in opening
    assert with_address(BY_HAND, "") == BY_HAND and with_address(BY_HAND, ADDRESS) == INSTALL
