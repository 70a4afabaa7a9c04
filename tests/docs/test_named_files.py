"""Files that the pages about the project's inside name are there."""

import re
from pathlib import Path

import pytest
from markdown_pages import ROOT

PAGES = ("architecture.md", "contributing.md")
PLACES = ("", "pto_dialect")
"""Folders in which a path of a page may begin."""

_PATH = re.compile(r"`([\w.-]+(?:/[\w.-]+)*(?:/|\.(?:py|lark|pto|md|txt|toml)))`")


def missing(text: str) -> list[str]:
    """Paths in code style that do not exist."""
    named = {match[1] for match in _PATH.finditer(text)}
    return sorted(name for name in named if not any((ROOT / place / name).exists() for place in PLACES))


@pytest.mark.parametrize("page", PAGES)
def test_named_files_exist(page: str) -> None:
    text = (ROOT / "docs" / page).read_text(encoding="utf-8")
    assert len(_PATH.findall(text)) > 20
    assert missing(text) == []


def test_what_is_missing_is_found() -> None:
    assert missing("`setup.py`, `ir/`, `ir/gone.py` and `nowhere/`") == ["ir/gone.py", "nowhere/"]


def test_every_subpackage_is_on_the_page() -> None:
    text = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
    rooms = [
        path.name for path in (ROOT / "pto_dialect").iterdir() if path.is_dir() and (path / "__init__.py").exists()
    ]
    assert [room for room in rooms if f"`pto_dialect/{room}/`" not in text] == []


def test_pages_name_no_file_outside(tmp_path: Path) -> None:
    assert missing(f"`{tmp_path.name}/x.py`") == [f"{tmp_path.name}/x.py"]


ORDER = re.findall(r"`(\w+)`", (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8").partition(". What")[0])
"""Subpackages in the order in which they may know each other, as the page says."""

_IMPORT = re.compile(r"^\s*(?:from (\.*)([\w.]*) import|import (pto_dialect[\w.]*))", re.MULTILINE)


def known_rooms(path: Path) -> set[str]:
    """Subpackages that a file of the package imports from, its own left out."""
    package = path.relative_to(ROOT).parts[:-1]
    found: set[str] = set()
    for dots, module, plain in _IMPORT.findall(path.read_text(encoding="utf-8")):
        above = package[: len(package) - len(dots) + 1] if dots else ()
        name = plain or ".".join((*above, *filter(None, (module,))))
        parts = name.split(".")
        if parts[0] == "pto_dialect" and len(parts) > 1:
            found.add(parts[1])
    return found - set(package[1:2])


def test_imports_go_in_one_direction() -> None:
    rooms = {path.parent.name for path in (ROOT / "pto_dialect").glob("*/__init__.py")} - {"accel"}
    assert sorted(ORDER) == sorted(rooms)
    wrong: list[str] = []
    for place, room in enumerate(ORDER):
        allowed = ORDER[:place] if place > 1 else []
        for path in sorted((ROOT / "pto_dialect" / room).rglob("*.py")):
            late = known_rooms(path) & set(ORDER) - set(allowed)
            wrong += [f"{path.relative_to(ROOT)} knows {other}" for other in sorted(late)]
    assert wrong == []
