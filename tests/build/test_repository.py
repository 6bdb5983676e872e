"""What depends on the course's public address: badges, and the command that installs on Colab."""

import pytest

from autograder.build.lesson import ROOT, find_lessons
from autograder.build.notebooks import student_notebook
from autograder.build.readme import BADGES, LESSONS, readme_with_lessons
from autograder.build.repository import BY_HAND, badges, repository, with_address

ADDRESS = "https://github.com/OWNER/NAME"
INSTALL = f"run `%pip install --no-deps git+{ADDRESS} pygraphviz torchview`"


@pytest.fixture
def root(tmp_path):
    """A clone with the first lesson's folders; tests may write an address into its pyproject.toml."""
    for folder in ("solutions", "images"):
        (tmp_path / folder).symlink_to(ROOT / folder)
    return tmp_path


def test_without_an_address_there_are_no_links(root):
    assert repository(root) == "" and badges("") == ""
    text = f"# Course\n\n{BADGES[0]}\nold\n{BADGES[1]}\n"
    assert "old" not in readme_with_lessons(text, root)


def test_with_an_address_there_are_badges_and_a_lesson_says_how_to_install_from_there(root):
    (root / "pyproject.toml").write_text(f'[project]\nurls.Repository = "{ADDRESS}"\n')
    assert repository(root) == ADDRESS
    shown = badges(ADDRESS)
    assert shown.count("OWNER/NAME") >= 4 and "colab" in shown and "mybinder" in shown and "LICENSE" in shown
    table = readme_with_lessons(f"{LESSONS[0]}\n{LESSONS[1]}\n", root)
    for lesson in find_lessons(None, root):
        assert (
            f"(https://colab.research.google.com/github/OWNER/NAME/blob/main/notebooks/{lesson.name}.ipynb)"
            in table
        )
    opening = student_notebook(find_lessons(None, root)[0]).cells[0].source
    assert INSTALL in opening and BY_HAND not in opening
    assert with_address(BY_HAND, "") == BY_HAND and with_address(BY_HAND, ADDRESS) == INSTALL
