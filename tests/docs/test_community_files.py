"""Files about the project as a whole agree with what it is."""

import re
import tomllib

import pytest
from markdown_pages import ROOT

import pto_dialect

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))


def text(name: str) -> str:
    return (ROOT / name).read_text(encoding="utf-8")


def test_the_citation_names_the_version_and_the_licence() -> None:
    citation = text("CITATION.cff")
    assert f"version: {pto_dialect.__version__}\n" in citation
    assert "license: Apache-2.0\n" in citation and PROJECT["project"]["license"].startswith("Apache-2.0")


@pytest.mark.parametrize("name", [".pre-commit-config.yaml", ".github/workflows/ci.yml"])
def test_named_paths_exist(name: str) -> None:
    named = re.findall(r"(?<![\w./$])((?:tests|examples|docs)/[\w/.-]+)", text(name))
    assert named
    assert [path for path in named if not (ROOT / path).exists()] == []


def test_ci_runs_every_python_that_is_supported() -> None:
    versions = re.search(r"python: \[([^\]]+)\]", text(".github/workflows/ci.yml"))
    assert versions is not None
    assert PROJECT["project"]["requires-python"] == ">=" + re.findall(r"[\d.]+", versions[1])[0]


def test_extras_that_ci_installs_exist() -> None:
    extras = re.findall(r'"\.\[([\w,]+)\]"', text(".github/workflows/ci.yml"))
    assert extras
    assert {name for each in extras for name in each.split(",")} <= set(PROJECT["project"]["optional-dependencies"])


def test_markers_that_ci_deselects_exist() -> None:
    deselected = re.findall(r'-m "not (\w+)"', text(".github/workflows/ci.yml"))
    markers = [marker.partition(":")[0] for marker in PROJECT["tool"]["pytest"]["ini_options"]["markers"]]
    assert deselected and set(deselected) <= set(markers)


def test_the_changelog_has_what_is_to_come() -> None:
    headings = re.findall(r"^## \[([^\]]+)\]", text("CHANGELOG.md"), re.MULTILINE)
    assert headings[0] == "Unreleased"
    assert {"Added", "Changed", "Fixed"} == set(re.findall(r"^### (\w+)", text("CHANGELOG.md"), re.MULTILINE))


def test_hooks_for_other_repositories_call_installed_commands() -> None:
    hooks = re.findall(r"^- id: (\S+)\n(?:  .+\n)*?  entry: (\S+)(.*)$", text(".pre-commit-hooks.yaml"), re.MULTILINE)
    assert [name for name, *_ in hooks] == [command for _, command, _ in hooks] == ["pto-opt", "pto-fmt"]
    assert {command for _, command, _ in hooks} <= set(PROJECT["project"]["scripts"])
    page = text("docs/pto-fmt.md")
    assert all(f"- id: {name}\n" in page for name, *_ in hooks)
