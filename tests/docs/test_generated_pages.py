"""Pages of docs/reference that are generated are what the package says now, and complete."""

import re
from pathlib import Path

import pytest
from groups import each
from markdown_pages import ROOT, headings

from pto_dialect.driver import reference
from pto_dialect.driver.reference import __main__ as command
from pto_dialect.driver.reference.operations import TITLES, computes
from pto_dialect.ir.core.attributes import ENUMS
from pto_dialect.ir.core.base import Shape
from pto_dialect.ir.core.index import OPS
from pto_dialect.ir.core.registry import op_class

PAGES = {name: render() for name, render in reference.PAGES.items()}


@pytest.mark.parametrize("name", PAGES)
def test_a_page_is_current(name: str) -> None:
    text = (ROOT / "docs" / "reference" / name).read_text(encoding="utf-8")
    assert text == PAGES[name], "out of date; run python -m pto_dialect.driver.reference"


def test_the_command_writes_every_page(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(command, "FOLDER", tmp_path)
    command.main()
    assert {path.name: path.read_text(encoding="utf-8") for path in tmp_path.iterdir()} == PAGES


def test_every_operation_has_one_row() -> None:
    rows = re.findall(r"^\| `(pto\.[\w.]+)` \|", PAGES["operations.md"], re.MULTILINE)
    assert sorted(rows) == sorted(OPS)


def test_families_are_those_of_the_index() -> None:
    assert set(TITLES) == {module for module, _, _ in OPS.values()}
    assert len(set(TITLES.values())) == len(TITLES)


@pytest.mark.parametrize("name", PAGES)
def test_rows_have_the_cells_of_their_table(name: str) -> None:
    for block in re.findall(r"(?:^\|.*\n)+", PAGES[name], re.MULTILINE):
        assert len({len(re.findall(r"(?<!\\)\|", line)) for line in block.splitlines()}) == 1, block


@each("mnemonic", OPS, lambda name: OPS[name][0])
def test_what_an_operation_computes_has_no_source_in_it(mnemonic: str) -> None:
    text = computes(op_class(mnemonic))
    assert text and ".md" not in text and " page" not in text


def test_every_enumeration_is_listed() -> None:
    assert [f"| `{name}` |" in PAGES["enumerators.md"] for name in ENUMS].count(False) == 0


def test_the_page_on_the_language_explains_every_shape() -> None:
    page = ROOT / "docs" / "reference" / "language.md"
    assert "Shapes" in headings(page)
    text = page.read_text(encoding="utf-8").partition("## Shapes\n")[2].partition("\n## ")[0]
    rows: list[str] = re.findall(r"^\| ([^|]+?) \|", text, re.MULTILINE)
    explained = {name for row in rows for name in row.split(", ")}
    assert {shape.name.lower().replace("_", " ") for shape in Shape} == explained - {"shape"}


def test_clauses_are_written_as_the_grammar_reads_them() -> None:
    rows = re.findall(r"^\| (`[^|]*`) \| ([^|]*) \| ([^|]*) \| ([^|]*) \|$", PAGES["clauses.md"], re.MULTILINE)
    assert len(rows) == 8 + 5 + 4 + 5 + 15 + 2 + 2 + 6 + 3
    assert rows[0][0] == "`dst_mode(%sub_blockid)` `dst_mode(split_m)` `dst_mode(split_n)`"
    assert [row[3] for row in rows[:13]] == [
        *("`pto.mte_l0c_ub`", "all", "all", "all", "all", "all", "all", "`pto.mte_l0c_gm`"),
        *("all", "all", "all", "`pto.mad`, `pto.mad_acc`, `pto.mad_bias`", "all"),
    ]
