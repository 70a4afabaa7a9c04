"""Programs in notebooks."""

import subprocess
import sys
from html.parser import HTMLParser
from importlib.util import find_spec
from pathlib import Path

import pytest

from pto_dialect.api import check, parse
from pto_dialect.integrations.notebook import findings_html, module_html, pto, result_html, tile_html
from pto_dialect.ir.core.types import TileBufType

ROOT = Path(__file__).parents[2]
WRONG = 'func.func @f(%a: i32) {\n  %b = arith.add %a, %a : i32 // <"&">\n  return\n}\n'
RIGHT = "func.func @f() {\n  return\n}\n"


class Words(HTMLParser):
    """The text of a page, and its open elements at the end."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.text = ""
        self.open: list[str] = []
        self.feed(page)
        self.close()

    def handle_data(self, data: str) -> None:
        self.text += data

    def handle_starttag(self, tag: str, attrs: object) -> None:
        self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


class Shell:
    """What the magic needs of IPython."""

    def __init__(self) -> None:
        self.user_ns: dict[str, object] = {}


def test_findings_are_shown_with_their_lines() -> None:
    page = Words(result_html(check(WRONG)))
    assert page.open == []
    assert "2:8" in page.text and "unknown operation 'arith.add' [op-unknown]" in page.text
    assert '%b = arith.add %a, %a : i32 // <"&">' in page.text and "help: did you mean" in page.text
    assert findings_html([]) == "<p>nothing found</p>"


def test_modules_and_tile_types_are_shown() -> None:
    assert "func.func @f()" in Words(module_html(parse(RIGHT))).text
    module = parse("func.func @f(%t: !pto.tile_buf<vec, 16x64xf32, valid=16x?>) {\n  return\n}\n")
    (type_,) = [
        arg.type for op in module.walk() for region in op.regions for block in region.blocks for arg in block.args
    ]
    assert isinstance(type_, TileBufType)
    page = Words(tile_html(type_))
    assert page.open == [] and "16 × 64" in page.text and "16 × ?" in page.text and "4,096" in page.text


def test_the_magic_checks_and_binds() -> None:
    shell = Shell()
    assert pto("kernel", RIGHT, shell) is None
    assert set(shell.user_ns) == {"kernel", "kernel_text"}
    assert not pto("other", WRONG, shell).ok
    assert "other" not in shell.user_ns
    with pytest.raises(ValueError, match="takes a name"):
        pto("a b", RIGHT, shell)


@pytest.mark.skipif(not (find_spec("nbmake") and find_spec("ipykernel")), reason="the extra notebook is not installed")
def test_the_example_notebooks_run() -> None:
    call = [
        sys.executable,
        "-m",
        "pytest",
        "-q",
        "-p",
        "no:cacheprovider",
        "-p",
        "no:pytest-lsp",
        "--nbmake",
        str(ROOT / "examples" / "notebooks"),
    ]
    done = subprocess.run(call, capture_output=True, text=True, check=False, cwd=ROOT)
    assert done.returncode == 0, done.stdout
    assert "2 passed" in done.stdout
