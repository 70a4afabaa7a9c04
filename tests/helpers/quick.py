"""Names the tests that `make quick` runs: those of changed files, then some of every layer.

Usage: python tests/helpers/quick.py changed|layers

Changed files are those that differ from ``origin/main``, or are not yet known to git. A changed test is run; for a
module of the package, the tests in its folder that import it; for a helper of tests, the tests that import it. The
tests of the layers are listed in ``tests/quick.txt``.
"""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
MOST = 16
"""Test files of changed files: others wait for `make test`."""


def changed_files() -> list[str]:
    """Files that differ from ``origin/main`` and still exist."""
    names: list[str] = []
    for command in (
        ("git", "diff", "--name-only", "--merge-base", "--diff-filter=d", "origin/main"),
        ("git", "ls-files", "--others", "--exclude-standard"),
    ):
        done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
        names += done.stdout.splitlines()
    return names


def importing(folder: Path, module: str) -> list[Path]:
    """Test files below a folder that import a module."""
    name, _, last = module.rpartition(".")
    pattern = re.compile(rf"(?:from|import) {re.escape(module)}\b|from {re.escape(name)} import .*\b{last}\b")
    files = sorted(folder.rglob("test_*.py"))
    return [file for file in files if pattern.search(file.read_text(encoding="utf-8"))]


def tests_of(name: str) -> list[Path]:
    """Test files for a changed file."""
    path = Path(name)
    parts = path.parts
    if parts[0] == "tests" and path.name.startswith("test_") and path.suffix == ".py":
        return [ROOT / path]
    if parts[:2] == ("tests", "helpers"):
        return importing(ROOT / "tests", path.stem)
    if parts[0] == "tests":
        tests = (ROOT / folder / "test_snapshots.py" for folder in path.parents)
        return [file for file in tests if file.exists()]
    if parts[0] == "pto_dialect" and path.suffix == ".py":
        folder = ROOT / "tests" / parts[1]
        return importing(folder, ".".join(path.with_suffix("").parts)) if folder.is_dir() else []
    return []


def main() -> None:
    """Prints the tests in one line."""
    if sys.argv[1:] == ["changed"]:
        files = dict.fromkeys(file for name in changed_files() for file in tests_of(name))
        tests = [file.relative_to(ROOT).as_posix() for file in files][:MOST]
    else:
        lines = (ROOT / "tests" / "quick.txt").read_text(encoding="utf-8").splitlines()
        tests = [line for line in lines if line and not line.startswith("#")]
    print(*tests)


if __name__ == "__main__":
    main()
