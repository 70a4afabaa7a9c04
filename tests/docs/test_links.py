"""Links between the pages of the project lead to files and headings that exist."""

from pathlib import Path

import pytest
from markdown_pages import ROOT, anchor, headings, links, pages

EACH = pytest.mark.parametrize("page", pages(), ids=lambda page: str(page.relative_to(ROOT)))


def broken(page: Path) -> list[str]:
    found: list[str] = []
    for target in links(page):
        name, _, place = target.partition("#")
        file = (page.parent / name).resolve() if name else page
        if not file.exists() or (place and place not in map(anchor, headings(file))):
            found.append(target)
    return found


@EACH
def test_links_resolve(page: Path) -> None:
    assert broken(page) == []


@EACH
def test_a_page_has_one_title(page: Path) -> None:
    assert headings(page)
    assert page.read_text(encoding="utf-8").startswith(("# ", "<"))


def test_what_is_broken_is_found(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text("# One `word`\n[a](#one-word) [b](#two) [c](gone.md) [d](page.md#one-word) [e](https://x.y/z)\n")
    assert broken(page) == ["#two", "gone.md"]


def test_the_readme_leads_to_every_page_of_docs() -> None:
    reached = {(ROOT / target.partition("#")[0]).resolve() for target in links(ROOT / "README.md")}
    assert {page for page in (ROOT / "docs").glob("*.md") if page not in reached} == set()
