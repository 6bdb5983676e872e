"""Tests that the records of an earlier bundle are reused if, and only if, recording them again would give the
same records.
"""

import os
import subprocess
import sys
from types import SimpleNamespace

import pytest

from autograder.bundle import kept
from autograder.bundle.recording import record
from autograder.exercises import find, own

EXERCISE = """
from autograder.exercises._{topic} import FACTOR
from autograder.schema import VALUES, Case, Exercise, edit


def double_it(x):
    return FACTOR * x


def cases(draw):
    yield Case("some", (draw.normal(3, 2),))


EXERCISE = Exercise(
    minutes=1, difficulty=1, worked=double_it, reference=lambda x: FACTOR * x, cases=cases, aspects={{VALUES: 2}},
    mistakes=(edit("one more", {{"FACTOR * x": "FACTOR * x + 1"}}, "It is one too large.", "Where is one added?"),),
    hints=("Look.",),
)
"""


@pytest.fixture(autouse=True)
def cache(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "caches"))
    yield kept.kept_in()
    own.use(None)


def exercise_in(folder, factor=2, topic="twofold"):
    """Write an instructor's own exercise and, next to it, a module that it imports; return the exercise."""
    for part in ("solutions", f"exercises/{topic}"):
        (folder / part).mkdir(parents=True, exist_ok=True)
    (folder / "solutions" / "91_twofold.py").write_text("# %%\n")
    (folder / f"exercises/{topic}/__init__.py").write_text('LESSON = "91_twofold"\n')
    (folder / f"exercises/_{topic}.py").write_text(f"FACTOR = {factor}\n")
    (folder / f"exercises/{topic}/double_it.py").write_text(EXERCISE.format(topic=topic))
    own.use(folder)
    return find(f"{topic}.double_it")


def name_of(exercise) -> str:
    return kept.Names().of(exercise.id)


def test_a_file_is_recorded_once(tmp_path, cache, monkeypatch):
    record(tmp_path / "first", (find("loops.softmax"),), progress=False)
    assert [path.name for path in cache.iterdir()] == [name_of(find("loops.softmax"))]
    monkeypatch.setattr(
        "autograder.bundle.recording._write", lambda tasks, progress: pytest.fail("written again")
    )
    record(tmp_path / "second", (find("loops.softmax"),), progress=False)
    first, second = (sorted((tmp_path / one).iterdir()) for one in ("first", "second"))
    assert len(first) == 2 and [one.name for one in first] == [one.name for one in second]
    assert all(one.read_bytes() == other.read_bytes() for one, other in zip(first, second))


def test_a_module_that_an_exercise_imports_changes_its_name(tmp_path):
    before = name_of(exercise_in(tmp_path))
    others = name_of(find("loops.softmax"))
    after = name_of(exercise_in(tmp_path, factor=3))
    assert before != after
    assert name_of(find("loops.softmax")) == others


def test_another_version_of_a_package_changes_the_name(monkeypatch):
    before = name_of(find("loops.softmax"))
    newer = SimpleNamespace(name="torch", version="99")
    monkeypatch.setattr(kept, "distributions", lambda: [newer])
    assert before != name_of(find("loops.softmax"))


LOADED = """
import sys
from pathlib import Path
from autograder.bundle.records import write_exercise
from autograder.exercises import find
find(sys.argv[1])
write_exercise(Path(sys.argv[2]), sys.argv[1])
print(*(name for name in sys.modules if name.startswith("autograder")))
"""


def test_all_that_recording_loads_counts(tmp_path):
    """Check that the name of a cached file depends on every module that recording loads. Leave out the other
    exercises, which `find` reads as well, and the code that makes the bundle's notebooks and lists its
    requirements.
    """
    exercise_id = "mla.latent_cache_bytes"
    done = subprocess.run(
        [sys.executable, "-c", LOADED, exercise_id, tmp_path], capture_output=True, text=True, check=True
    )
    aside = ("exercises.", "bundle", "build", "dependencies", "marks", "requirements")
    loaded = {name.removeprefix("autograder.") for name in done.stdout.split()}
    needed = {name.removeprefix("autograder.") for name in kept.Names().needed(exercise_id)}
    assert {name for name in loaded if not name.startswith(aside)} <= needed


def test_an_exercise_that_another_imports_counts():
    assert "autograder.exercises.tokens.bpe_encode" in kept.Names().needed("tokens.bpe_decode")


def test_where_nothing_can_be_kept_a_bundle_is_made_all_the_same(tmp_path, monkeypatch):
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file"))
    kept.keep("name", tmp_path / "file")
    assert not kept.take("name", tmp_path / "taken") and not (tmp_path / "taken").exists()


def test_what_was_not_used_for_a_month_goes(tmp_path, cache):
    (tmp_path / "file").write_text("")
    for name in ("old", "used"):
        kept.keep(name, tmp_path / "file")
        os.utime(cache / name, (0, 0))
    assert kept.take("used", tmp_path / "taken")
    kept.forget_old()
    assert [path.name for path in cache.iterdir()] == ["used"]
