"""The commands of the guides print what they show; `python tests/helpers/guides.py PAGE...` writes that again."""

from pathlib import Path

import pytest
from guides import COMMANDS, DOCS, with_present_output

PAGES = {"lower-cube.md": 3, "lower-vector.md": 3, "from-tiles-to-instructions.md": 6}
PAGES |= {
    "make-a-kernel-fast.md": 5,
    "optimize.md": 1,
    "tile-cube.md": 1,
    "tile-loops.md": 2,
    "double-buffer.md": 1,
    "hoist-sync.md": 1,
    "unroll.md": 1,
}


@pytest.mark.parametrize("page", PAGES)
def test_the_guide_shows_real_output(page: str, tmp_path: Path) -> None:
    text = (DOCS / page).read_text(encoding="utf-8")
    assert len(COMMANDS.findall(text)) == PAGES[page]
    assert with_present_output(text, tmp_path) == text
