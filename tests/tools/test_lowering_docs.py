"""The guides to lowering show what the commands really print.

`python tests/tools/test_lowering_docs.py` writes the present output into them.
"""

import doctest
import re
import tempfile
from pathlib import Path

import pytest
from guides import inside, shown

DOCS = Path(__file__).parents[2] / "docs"
PAGES = ("lowering.md", "insert-sync.md", "assign-memory.md")

_NAMED = re.compile(r"^`([\w.-]+)`[^`]*?\n```mlir\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_BLOCK = re.compile(r"^```console\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def present(text: str, folder: Path) -> str:
    """The page with what its commands print now; ``cat`` shows files that are there from then on."""
    for name, program in _NAMED.findall(text):
        (folder / name).write_text(program, encoding="utf-8")

    def block(found: re.Match[str]) -> str:
        lines: list[str] = []
        for part in found[1].split("$ ")[1:]:
            command, _, below = part.partition("\n")
            if command.startswith("cat "):
                (folder / command.removeprefix("cat ")).write_text(below, encoding="utf-8")
            lines.append(f"$ {command}\n{shown(command)}")
        return f"```console\n{''.join(lines)}```"

    with inside(folder):
        return _BLOCK.sub(block, text)


@pytest.mark.parametrize("page", PAGES)
def test_the_page_shows_real_output(page: str, tmp_path: Path):
    text = (DOCS / page).read_text(encoding="utf-8")
    assert present(text, tmp_path) == text


def test_the_library_does_what_the_page_says(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.chdir(tmp_path)
    for name, program in _NAMED.findall((DOCS / "lowering.md").read_text(encoding="utf-8")):
        Path(name).write_text(program, encoding="utf-8")
    result = doctest.testfile(str(DOCS / "lowering.md"), module_relative=False)
    assert (result.attempted, result.failed) == (8, 0)


if __name__ == "__main__":
    for page in PAGES:
        with tempfile.TemporaryDirectory() as folder:
            text = present((DOCS / page).read_text(encoding="utf-8"), Path(folder))
        (DOCS / page).write_text(text, encoding="utf-8")
