"""Files about the project as a whole agree with what it is."""

import re
import runpy
import sys
import tomllib
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
import setuptools
from markdown_pages import ROOT

import pto_dialect

sys.path.append(str(ROOT / "docs" / "site"))

release_check = import_module("release_check")

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
    headings = re.findall(r"^## \[([^\]]+)\] - (\S+)", text("CHANGELOG.md"), re.MULTILINE)
    assert headings[0][0] == pto_dialect.__version__
    assert headings[0][1] == "unreleased" or re.fullmatch(r"\d{4}-\d\d-\d\d", headings[0][1])
    assert {"Added", "Changed", "Fixed"} == set(re.findall(r"^### (\w+)", text("CHANGELOG.md"), re.MULTILINE))


def test_hooks_for_other_repositories_call_installed_commands() -> None:
    hooks = re.findall(r"^- id: (\S+)\n(?:  .+\n)*?  entry: (\S+)(.*)$", text(".pre-commit-hooks.yaml"), re.MULTILINE)
    assert [name for name, *_ in hooks] == [command for _, command, _ in hooks] == ["pto-opt", "pto-fmt"]
    assert {command for _, command, _ in hooks} <= set(PROJECT["project"]["scripts"])
    page = text("docs/pto-fmt.md")
    assert all(f"- id: {name}\n" in page for name, *_ in hooks)


def test_every_file_states_the_same_version() -> None:
    assert set(release_check.stated().values()) == {pto_dialect.__version__}


def test_a_tag_is_released_only_with_its_version_and_a_dated_section(tmp_path: Path) -> None:
    for name in (*release_check.VERSIONS, *release_check.PACKAGES, "CHANGELOG.md"):
        copy = tmp_path / name
        copy.parent.mkdir(parents=True, exist_ok=True)
        copy.write_text(text(name), encoding="utf-8")
    changelog = tmp_path / "CHANGELOG.md"
    version = pto_dialect.__version__
    undated = re.sub(r"^(## \[[^\]]+\]) - \S+", r"\1 - unreleased", changelog.read_text(encoding="utf-8"), flags=re.M)
    changelog.write_text(undated, encoding="utf-8")
    assert release_check.problems(f"v{version}", tmp_path) == [
        f"CHANGELOG.md has no section '## [{version}] - YYYY-MM-DD'"
    ]
    changelog.write_text(f"# Changelog\n\n## [{version}] - 2026-12-01\n\n### Added\n\n- All.\n", encoding="utf-8")
    assert release_check.problems(f"v{version}", tmp_path) == []
    assert release_check.section(version, changelog.read_text(encoding="utf-8")) == "### Added\n\n- All.\n"
    wrong = release_check.problems("v9.9.9", tmp_path)
    assert len(wrong) == 1 + len(release_check.VERSIONS) + len(release_check.PACKAGES)


def metadata(monkeypatch: pytest.MonkeyPatch, **variables: str) -> dict[str, Any]:
    """What setup.py passes to setuptools, with variables of a workflow."""
    for name in ("GITHUB_REPOSITORY", "GITHUB_REF_NAME", "GITHUB_REF_TYPE"):
        monkeypatch.delenv(name, raising=False)
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    passed: dict[str, Any] = {}
    monkeypatch.setattr(setuptools, "setup", lambda **given: passed.update(given))
    runpy.run_path(str(ROOT / "setup.py"))
    return passed


def test_addresses_are_those_of_the_workflow_that_builds(monkeypatch: pytest.MonkeyPatch) -> None:
    plain = metadata(monkeypatch)
    assert (plain["project_urls"], plain["long_description"]) == ({}, text("README.md"))
    assert metadata(monkeypatch, GITHUB_REPOSITORY="a b/c")["project_urls"] == {}
    built = metadata(
        monkeypatch, GITHUB_REPOSITORY="o/pto", GITHUB_REF_TYPE="tag", GITHUB_REF_NAME="v0.1.0"
    )  # fmt: skip
    assert built["project_urls"]["Issues"] == "https://github.com/o/pto/issues"
    links = re.findall(r"\]\(([^()\s]+)\)", built["long_description"])
    assert len(links) > 60
    assert [link for link in links if not link.startswith(("https://", "#"))] == []
    assert "(https://github.com/o/pto/blob/v0.1.0/docs/pto-opt.md)" in built["long_description"]
    assert {"readme", "urls"} <= set(PROJECT["project"]["dynamic"])


def test_a_release_has_no_stored_password_and_few_rights() -> None:
    workflow = text(".github/workflows/release.yml")
    assert "secrets." not in workflow and "password" not in workflow.partition("jobs:")[2]
    jobs = dict(re.findall(r"^  (\w+):\n(.*?)(?=^  \w+:\n|\Z)", workflow.partition("jobs:\n")[2], re.M | re.S))
    rights = {name: set(re.findall(r"^      ([\w-]+): write$", job, re.M)) for name, job in jobs.items()}
    assert rights == {
        "build": {"id-token", "attestations"},
        "extension": set(),
        "publish": {"id-token"},
        "page": {"contents"},
    }
    assert "permissions:\n  contents: read\n" in workflow
    assert "environment: pypi" in jobs["publish"] and "needs: [build, extension]" in jobs["publish"]
    assert "actions/checkout" not in jobs["publish"]
    order = ["release_check.py", "python -m build", "twine check --strict", "attest-build-provenance", "attest-sbom"]
    places = [jobs["build"].index(step) for step in order]
    assert places == sorted(places)


def test_no_page_claims_that_the_package_is_on_an_index() -> None:
    """Until it is: pages install it from a checkout, or state what the name in brackets stands for."""
    assert "`pip install pto-dialect`" not in text("README.md")
    assert "pypi.org" not in "".join(page.read_text(encoding="utf-8") for page in (ROOT / "docs").glob("*.md"))
