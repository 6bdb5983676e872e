"""Tests an instructor's own exercises: where they are found, and how they are sent to another machine."""

import pytest

from autograder.cli import main
from autograder.errors import UserError
from autograder.exercises import all_exercises, find, own

EXERCISE = """
from autograder.schema import VALUES, Case, Exercise


def {name}(x):
    return {factor} * x


def cases(draw):
    yield Case("some", (draw.normal(3, 2),))


EXERCISE = Exercise(
    minutes=1, difficulty=1, worked={name}, reference=lambda x: {factor} * x, cases=cases,
    aspects={{VALUES: 2}}, mistakes=(), hints=("Look.",),
)
"""


def made(folder, topic="doubling", lesson="91_doubling", name="double_it", factor=2):
    for part in ("solutions", f"exercises/{topic}", "notebooks"):
        (folder / part).mkdir(parents=True)
    (folder / "solutions" / f"{lesson}.py").write_text("# %%\n")
    (folder / "exercises" / topic / "__init__.py").write_text(f'LESSON = "{lesson}"\n')
    (folder / "exercises" / topic / f"{name}.py").write_text(EXERCISE.format(name=name, factor=factor))
    return folder


@pytest.fixture(autouse=True)
def nobody_says_where(monkeypatch):
    monkeypatch.setenv(own.VARIABLE, "")
    monkeypatch.delenv(own.VARIABLE)


@pytest.mark.parametrize("place", [".", "notebooks", "exercises/doubling"])
def test_are_not_known_because_one_works_there(tmp_path, monkeypatch, place):
    monkeypatch.chdir(made(tmp_path / "unplaced/eve") / place)
    assert own.folders() == ()
    with pytest.raises(UserError):
        find("doubling.double_it")


@pytest.mark.parametrize("part", [".", own.COPY])
def test_are_known_where_a_person_names_them(tmp_path, capfd, part):
    made(tmp_path / "mine" / part)
    assert main(["--lessons", str(tmp_path / "mine"), "exercises"]) == 0
    assert "doubling.double_it" in capfd.readouterr().out
    assert main(["--lessons", str(tmp_path), "exercises"]) == 2
    assert "no lessons of your own" in capfd.readouterr().err


def test_another_folder_with_the_same_topic_is_another_exercise(tmp_path):
    for name, factor in {"one": 2, "two": 3}.items():
        own.use(made(tmp_path / name, factor=factor))
        assert find("doubling.double_it").reference(1) == factor
    own.use(None)
    assert not [one for one in all_exercises() if one.topic == "doubling"]


def test_another_machine_learns_them_from_texts(tmp_path):
    own.use(made(tmp_path / "mine", factor=5))
    files = own.packed()
    own.use(None)
    assert own.use_packed(files) and not own.use_packed(files)
    assert find("doubling.double_it").reference(1) == 5
    assert own.use_packed({}) and own.folders() == ()


@pytest.mark.parametrize("taken", [{"topic": "loops"}, {"lesson": "01_doubling"}, {"name": "softmax"}])
def test_a_name_of_the_course_cannot_be_used_again(tmp_path, taken):
    with pytest.raises(UserError, match="is taken by the course"):
        own.check_names(made(tmp_path / "mine", **taken))
    with pytest.raises(UserError, match="there is no lesson in"):
        own.check_names(tmp_path / "empty")
