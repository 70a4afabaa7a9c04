"""Comparison of two versions: what differs, and which commits between them made the differences."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

BENCHMARKS = Path(__file__).parents[2] / "benchmarks"

SCRIPT = f"""
import sys
sys.path.append({str(BENCHMARKS)!r})
import two_versions

def said(request):
    import pto_dialect
    for name, value in pto_dialect.VALUES.items():
        if two_versions.selected(request, name):
            yield name, [request["greeting"], str(value)]

if two_versions.is_worker():
    two_versions.answer(said)
else:
    sys.exit(two_versions.run(__file__, "values", {{"greeting": "hello"}}, two_versions.arguments("A.").parse_args()))
"""
VERSIONS = (
    {"a": 1, "b": 1, "c": 1, "d": 1},
    {"a": 1, "b": 2, "c": 2, "d": 1},
    "raise ImportError",
    {"a": 1, "b": 2, "c": 3, "d": 2},
    {"a": 1, "b": 2, "c": 3, "d": 1},
)
"""What the versions say; one of them does not run."""


def git(folder: Path, *words: str) -> None:
    identity = ("-c", "user.name=someone", "-c", "user.email=someone@example.org")
    subprocess.run(["git", *identity, *words], cwd=folder, check=True, stdout=subprocess.DEVNULL)


@pytest.fixture
def script(tmp_path: Path) -> Path:
    """The comparison, beside the trees of the first and the last version."""
    new, package = tmp_path / "new", tmp_path / "new" / "pto_dialect" / "__init__.py"
    package.parent.mkdir(parents=True)
    git(new, "init", "-q")
    for number, version in enumerate(VERSIONS):
        package.write_text(version if isinstance(version, str) else f"VALUES = {version}\n")
        git(new, "add", ".")
        git(new, "commit", "-q", "-m", f"version {number}")
    git(new, "worktree", "add", "-q", "--detach", str(tmp_path / "old"), "HEAD~4")
    (tmp_path / "compare.py").write_text(SCRIPT)
    return tmp_path / "compare.py"


def run(script: Path, *words: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, script.name, *words]
    return subprocess.run(command, cwd=script.parent, capture_output=True, text=True)


def test_the_same_version_says_the_same(script: Path) -> None:
    done = run(script, "new", "new")
    assert (done.returncode, done.stdout) == (0, "4 values with 8 lines: 0 differ\n"), done.stderr


def test_differences_are_shown(script: Path) -> None:
    done = run(script, "old", "new", "--show", "1")
    assert done.returncode == 1
    assert done.stdout.splitlines() == [
        *("--- old b", "+++ new b", "@@ -1,2 +1,2 @@", " hello", "-1", "+2"),
        "4 values with 8 lines: 2 differ",
    ]


def test_commits_that_made_differences(script: Path) -> None:
    done = run(script, "old", "new", "--show", "0", "--history", "--csv", "causes.jsonl")
    # What changed twice counts for both commits; after a version that does not run stands what it may have changed.
    table = [(int(line.split()[0]), line.split()[3]) for line in done.stdout.splitlines()[1:]]
    assert table == [(2, "1"), (1, "3")], done.stdout + done.stderr
    assert (script.parent / "causes.jsonl").read_text().count("version 1") == 2


def test_a_version_that_does_not_run(script: Path) -> None:
    git(script.parent / "new", "checkout", "-q", "HEAD~2")
    done = run(script, "old", "new")
    assert done.returncode == 1 and "a version ended with an error" in done.stderr
