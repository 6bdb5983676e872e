"""Tests that the workflow that tries a learner's setup on three systems runs the README's commands. Also
tests the other workflows and .ci/run.
"""

import re
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")
JOB = yaml.safe_load((ROOT / ".github/workflows/learner.yml").read_text(encoding="utf-8"))["jobs"]["learner"]
PYTHON = {
    "py ": ".venv\\Scripts\\python",
    "python3 ": ".venv/bin/python",
}  # by the beginning of the README's block
BLOCKS = re.findall(r"\bOn (Windows|a Mac|Linux)[^\n]*:\n\n```\n(.*?)```", README, re.DOTALL)


def commands(python: str, index: str = "") -> list[str]:
    """Return the commands of the job for this path of the course's Python and this additional package index."""
    assert python in JOB["env"]["PYTHON"] and index in JOB["env"]["INDEX"]
    values = {"env.PYTHON": python, "env.INDEX": index, "matrix.torch": ""}
    lines = [step["run"] for step in JOB["steps"] if "run" in step]
    for name, value in values.items():
        lines = [line.replace(f"${{{{ {name} }}}}", value) for line in lines]
    return [" ".join(line.split()) for line in lines]


@pytest.mark.parametrize("system, block", BLOCKS, ids=[system for system, _ in BLOCKS])
def test_each_line_of_the_readme_is_run(system, block):
    make, install, lab = block.splitlines()
    begin = next(begin for begin in PYTHON if make.startswith(begin))
    run = commands(PYTHON[begin], re.search(r"(--extra-index-url \S+)?$", install)[0])
    assert ("--extra-index-url" in install) is (system == "Linux")
    assert make.replace(begin, "python ") in run and install in run
    assert any(line.startswith(f"{lab} ") for line in run)


def test_there_is_a_block_for_each_system():
    assert {system for system, _ in BLOCKS} == {"Windows", "a Mac", "Linux"}


def test_every_python_of_the_course_and_every_file_is_there():
    first, last = re.search(r"Python 3\.(\d+) to 3\.(\d+)", README).groups()
    assert JOB["strategy"]["matrix"]["python"] == [f"3.{minor}" for minor in range(int(first), int(last) + 1)]
    files = [word for line in commands(PYTHON["py "]) for word in line.split() if word.startswith("tests/")]
    assert files and all((ROOT / file).exists() for file in files)


CI = (ROOT / ".ci/run").read_text(encoding="utf-8")


def test_continuous_integration_runs_every_part_side_by_side():
    job = yaml.safe_load((ROOT / ".github/workflows/test.yml").read_text(encoding="utf-8"))["jobs"]["test"]
    parts = re.findall(r"^    (\w+)\)", CI, re.MULTILINE)
    assert ["whole", *job["strategy"]["matrix"]["part"]] == parts
    *prepared, last = [step["run"] for step in job["steps"] if "run" in step]
    assert last == ".ci/run ${{ matrix.part }}" and all(line.startswith("sudo sysctl ") for line in prepared)


@pytest.mark.parametrize("file", ["book", "learner", "test"])
def test_a_job_that_installs_takes_the_build_for_the_cpu_and_keeps_what_it_downloads(file):
    text = (ROOT / f".github/workflows/{file}.yml").read_text(encoding="utf-8")
    (job,) = [job for job in yaml.safe_load(text)["jobs"].values() if "setup-python" in str(job)]
    (python,) = [step["with"] for step in job["steps"] if "setup-python" in step.get("uses", "")]
    assert python["cache"] == "pip" and (ROOT / python["cache-dependency-path"]).is_file()
    assert "https://download.pytorch.org/whl/cpu" in str(job)


def test_contributing_says_the_limit():
    (limit,) = re.findall(r"^LIMIT=(\d+)$", CI, re.MULTILINE)
    assert f"after {limit} minutes" in (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")


def test_every_folder_of_tests_that_a_part_names_is_there():
    """Check only the folders that a part of .ci/run names, because all others belong to the part `lessons`."""
    named = re.findall(r"tests/\w+", " ".join(re.findall(r'^[A-Z]+="(.*)"$', CI, re.MULTILINE)))
    assert named and all((ROOT / folder).is_dir() for folder in named)
