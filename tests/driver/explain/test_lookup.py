"""What --explain shows for names, terms and questions."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from parse_helpers import rules

from pto_dialect.driver.explain.layouts import BY_NAME, order, places
from pto_dialect.driver.explain.listing import UnknownFamilyError, list_operations, list_operations_json
from pto_dialect.driver.explain.lookup import UnknownTermError, explain, explain_json
from pto_dialect.driver.explain.page import Code
from pto_dialect.driver.explain.search.guides import GUIDES, page_text, slug
from pto_dialect.driver.explain.terms import terms
from pto_dialect.ir.core.attributes import ENUMS
from pto_dialect.ir.core.index import OPS
from pto_dialect.passes.registry import PASS_TABLE
from pto_dialect.syntax.types.forms import LONG_KEYS, SHORT_KEYS
from pto_dialect.targets.tile_layouts import NZ_ACC, ZZ_SCALE
from pto_dialect.verify.core.table import CORE_NAMES

DOCS = Path(__file__).parents[3] / "docs"


@pytest.mark.parametrize(
    ("word", "beginning"),
    [
        ("pto.mad", "pto.mad: Multiplies two matrices"),
        ("tadd", "pto.tadd: Adds two tiles"),
        ("TADD", "pto.tadd: "),
        ("tmatmul_acc", "pto.tmatmul.acc: "),
        ("mad-space", "mad-space: lhs lies in l0a"),
        ("nz", "NZ: a layout of tiles"),
        ("MTE2", "PIPE_MTE2: a queue of a core"),
        ("PIPE_V", "PIPE_V: a queue of a core"),
        ("ub", "ub: a memory"),
        ("left", "left: a location of tiles, in l0a"),
        ("sat", "sat: a clause"),
        ("!pto.vreg<64xf32>", "!pto.vreg: Vector register"),
        ("hif8", "!pto.hif8: "),
        ("round_mode", "#pto<round_mode ..>: an enumeration"),
        ("gather_oob", "#pto<gather_oob ..>"),
        ("a2a3", "a2a3: a target"),
        ("v_row", "v_row=: a key of tile types: the number of rows that have content"),
    ],
)
def test_a_name_is_explained(word: str, beginning: str) -> None:
    assert explain(word).startswith(beginning)


def test_every_term_has_a_page() -> None:
    made = {id(maker): maker for maker in terms().values()}
    for maker in made.values():
        page = maker()
        assert page.title and page.sections
    assert set(ENUMS) <= set(terms())


@pytest.mark.parametrize("key", sorted({*SHORT_KEYS, *LONG_KEYS}))
def test_every_key_of_a_tile_type_is_explained(key: str) -> None:
    page = terms()[key]()
    (section,) = [section for section in page.sections if section.title == "Key of !pto.tile_buf"]
    examples = [block.text for block in section.blocks if isinstance(block, Code)]
    assert f"{key}=" in examples[0]
    for example in examples:
        assert rules(f"func.func private @f({example})") == []


@pytest.mark.parametrize(
    ("word", "meant"), [("tmatmull", "pto.tmatmul"), ("pto.mad_bia", "pto.mad_bias"), ("mad-spce", "mad-space")]
)
def test_a_misspelt_name_gets_near_names(word: str, meant: str) -> None:
    with pytest.raises(UnknownTermError, match=f"did you mean {meant}"):
        explain(word)


def test_plain_terms_find_operations() -> None:
    text = explain("row maximum")
    assert text.index("pto.trowmax") < text.index("pto.trowargmax")


def test_a_page_of_the_documentation_is_printed() -> None:
    assert explain("docs/cycles.md") == explain("cycles") == (DOCS / "cycles.md").read_text(encoding="utf-8")
    part = explain("sanitizers#suppress-findings")
    assert part.startswith("## Suppress findings\n") and "\n## " not in part


def test_every_section_of_a_page_is_printed_by_its_anchor() -> None:
    """Also those without a row of phrases, and not what looks like a heading in a block of code."""
    text = (DOCS / "debugger.md").read_text(encoding="utf-8")
    assert "debugger.md#positions" not in GUIDES
    wanted = text[text.index("## Positions") : text.index("## Commands")].rstrip() + "\n"
    assert explain("docs/debugger.md#positions") == explain("debugger#positions") == wanted
    with pytest.raises(UnknownTermError, match=r"docs/debugger\.md has no part 'position'; did you mean positions\?"):
        explain("debugger#position")
    commented = next(page for page in sorted(DOCS.glob("*.md")) if "\n```toml\n# " in page.read_text(encoding="utf-8"))
    title = commented.read_text(encoding="utf-8").split("\n```toml\n# ")[1].partition("\n")[0]
    with pytest.raises(UnknownTermError, match="has no part"):
        explain(f"{commented.stem}#{slug(title)}")


def test_json_has_what_the_text_has() -> None:
    def data(word: str) -> dict[str, Any]:
        return json.loads(explain_json(word))

    operation = data("tadd")
    assert (operation["kind"], operation["name"], operation["version"]) == ("operation", "pto.tadd", 1)
    blocks = {section["title"]: section["blocks"] for section in operation["sections"]}
    assert blocks["Syntax"][0]["text"].startswith("pto.tadd ins(%src0, %src1 : T, T)")
    assert ["pipe", "V"] in blocks["Overview"][0]["rows"]
    rule = data("race-raw")
    assert (rule["kind"], rule["severity"], rule["pass"]) == ("rule", "error", "run")
    assert rule["incorrect"] != rule["correct"]
    assert data("nz")["kind"] == "term"
    assert data("cycles") == {"version": 1, "kind": "page", "name": "cycles", "text": explain("cycles")}
    assert "pto.trowmax" in [one["name"] for one in data("row maximum")["results"]]
    with pytest.raises(UnknownTermError):
        explain_json("pto.taddd")


@pytest.mark.parametrize("word", ["docs/../README.md", "../README", "no-such-page", "/etc/passwd.md", "docs/index.txt"])
def test_other_files_are_no_pages(word: str) -> None:
    assert page_text(word) is None


def test_operations_are_listed() -> None:
    assert list_operations().count("\n") == len(OPS) + 1
    assert [line.split()[0] for line in list_operations("matmul", "a2").splitlines()[1:]] == [
        *("pto.tmatmul", "pto.tmatmul.acc", "pto.tmatmul.bias"),
    ]
    assert '"name": "pto.mad",' in list_operations_json("cube_mad")
    with pytest.raises(UnknownFamilyError, match="did you mean cube_mad"):
        list_operations("cubemad")


def test_locations_of_blocks_are_those_of_numpy() -> None:
    """NZ: blocks column by column, elements of a block row by row."""
    wanted = np.empty((4, 6), int)
    memory = np.arange(24).reshape(2, 2, 2, 3)
    for col in range(2):
        for row in range(2):
            wanted[2 * row : 2 * row + 2, 3 * col : 3 * col + 3] = memory[col, row]
    assert places(4, 6, (2, 3), *BY_NAME["NZ"]) == wanted.tolist()
    assert places(2, 3, None, "col_major", "none_box") == [[0, 2, 4], [1, 3, 5]]


def test_blocks_have_the_bytes_of_their_elements() -> None:
    assert order(NZ_ACC).startswith("Blocks of 16 x 16 elements of 32 bits (1024 bytes)")
    assert order(ZZ_SCALE).startswith("Blocks of 16 x 2 elements of 8 bits (32 bytes)")


def test_parts_of_a_page_are_shown_alone() -> None:
    """By the whole title or its beginning, in the order of the page, after a # or a blank."""
    page = explain("tadd")
    operands = explain("tadd operands")
    assert operands == explain("pto.tadd#Operands")
    heading, _, table = operands.partition("\n\nOPERANDS\n")
    assert heading == page.splitlines()[0] and f"OPERANDS\n{table}" in page
    both = explain("tadd#related, element-types")
    assert [line for line in both.splitlines() if line.isupper()] == ["ELEMENT TYPES", "RELATED OPERATIONS"]
    assert [one["title"] for one in json.loads(explain_json("tadd mistake"))["sections"]] == ["A mistake"]
    assert explain("!pto.tile_buf#example").startswith("!pto.tile_buf: ")
    assert "OVERVIEW" not in explain("scf.for syntax")


@pytest.mark.parametrize(
    ("word", "message"),
    [
        ("tadd#operand,foo", "the page of pto.tadd has no part 'foo'; its parts are mechanism, example"),
        ("tadd#syntx", "did you mean syntax"),
        ("race-raw#source", "the page of race-raw has no parts"),
        ("assign-memory#foo", "its parts are overview, syntax, options"),
        ("cycles#foo", "docs/cycles.md has no part 'foo'"),
    ],
)
def test_unknown_parts_are_refused_with_the_known_ones(word: str, message: str) -> None:
    with pytest.raises(UnknownTermError, match=message):
        explain(word)


def test_other_terms_after_an_operation_are_a_search() -> None:
    assert explain("tadd of two rows").startswith("'tadd of two rows' is no name")
    assert explain("tadd#").startswith("'tadd#' is no name")


def test_every_core_operation_and_pass_is_explained() -> None:
    for name in (*CORE_NAMES, *PASS_TABLE):
        assert explain(name).splitlines()[0].startswith((f"{name}: ", "# ")), name
    assert "%lhs     a signless integer or index" in explain("arith.cmpi operands")
    assert explain("return").startswith("func.return: Return from a function.\n")
    assert '"scf.if"(%condition) ({ .. }) : (T) -> (T)' in explain("scf.if#syntax")
    assert "rows" in explain("tile-loops#options") and explain("tile-loops").startswith("# ")
    assert [row["about"] for row in json.loads(explain_json("ceil div"))["results"] if row["kind"] == "core operation"]
