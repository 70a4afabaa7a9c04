"""Whether a tag may be released: every file that states a version has that of the tag, and the changelog has a section
for it with a date. ``--notes`` prints this section. Needs nothing but Python."""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]

VERSIONS = {
    "pto_dialect/version.py": r'__version__ = "([^"]+)"',
    "CITATION.cff": r"^version: (\S+)$",
}
"""Files that state the version, each with the pattern of it; ``PACKAGES`` are those of editors."""
PACKAGES = ("grammar/package.json", "tools/vscode/package.json")


def stated(root: Path = ROOT) -> dict[str, str]:
    """The version that each file states."""
    found: dict[str, str] = {}
    for name, pattern in VERSIONS.items():
        match = re.search(pattern, (root / name).read_text(encoding="utf-8"), re.MULTILINE)
        found[name] = match[1] if match is not None else ""
    for name in PACKAGES:
        found[name] = json.loads((root / name).read_text(encoding="utf-8"))["version"]
    return found


def section(version: str, changelog: str) -> str | None:
    """The text below the heading of a version that has a date; ``None`` where there is none."""
    heading = rf"^## \[{re.escape(version)}\] - \d{{4}}-\d\d-\d\d$"
    found = re.search(rf"{heading}\n(.*?)(?=^## |\Z)", changelog, re.MULTILINE | re.DOTALL)
    return None if found is None else found[1].strip() + "\n"


def problems(tag: str, root: Path = ROOT) -> list[str]:
    """Why the tag may not be released; empty if it may."""
    version = tag.removeprefix("v")
    found = [
        f"{name} has version {other!r}, the tag {version!r}" for name, other in stated(root).items() if other != version
    ]
    if section(version, (root / "CHANGELOG.md").read_text(encoding="utf-8")) is None:
        found.append(f"CHANGELOG.md has no section '## [{version}] - YYYY-MM-DD'")
    return found


def main(arguments: list[str]) -> int:
    """The exit code: 0 if the tag may be released."""
    tag = arguments[0]
    found = problems(tag)
    for text in found:
        print(f"error: {text}", file=sys.stderr)
    if "--notes" in arguments and not found:
        print(section(tag.removeprefix("v"), (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")) or "", end="")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
