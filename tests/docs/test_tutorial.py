"""Every step of the tutorial was run: its commands print what is below them, mistakes included."""

from pathlib import Path

from guides import COMMANDS, DOCS, with_present_output


def test_the_tutorial_shows_real_output(tmp_path: Path) -> None:
    text = (DOCS / "tutorial.md").read_text(encoding="utf-8")
    assert len(COMMANDS.findall(text)) == 13
    assert with_present_output(text, tmp_path) == text
