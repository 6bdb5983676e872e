"""The workflow that proves a learner's way on three systems goes the way that README shows."""

import re
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")
JOB = yaml.safe_load((ROOT / ".github/workflows/learner.yml").read_text(encoding="utf-8"))["jobs"]["learner"]
PYTHON = {"py ": ".venv\\Scripts\\python", "python3 ": ".venv/bin/python"}  # by what begins README's block


def commands(python: str) -> list[str]:
    """What the job runs where this is the path of the course's Python."""
    assert python in JOB["env"]["PYTHON"]
    lines = [step["run"] for step in JOB["steps"] if "run" in step]
    return [
        line.replace("${{ env.PYTHON }}", python).replace("${{ matrix.torch }}", "").strip() for line in lines
    ]


@pytest.mark.parametrize("begin", PYTHON)
def test_each_line_of_the_readme_is_run(begin):
    block = re.search(rf"```\n({begin}-m venv .*?)```", README, re.DOTALL)
    make, install, lab = block[1].splitlines()
    run = commands(PYTHON[begin])
    assert make.replace(begin, "python ") in run and install in run
    assert any(line.startswith(f"{lab} ") for line in run)


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
    assert [step["run"] for step in job["steps"] if "run" in step] == [".ci/run ${{ matrix.part }}"]


def test_every_folder_of_tests_that_a_part_names_is_there():
    """Another folder is in the part `lessons`, which takes what no other names."""
    named = re.findall(r"tests/\w+", " ".join(re.findall(r'^[A-Z]+="(.*)"$', CI, re.MULTILINE)))
    assert named and all((ROOT / folder).is_dir() for folder in named)
