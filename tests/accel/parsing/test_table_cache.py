"""Stored parse tables are those that Lark makes, and a damaged file is not used."""

import subprocess
import sys
from pathlib import Path

import lark
import pytest
from lark.parsers.lalr_analysis import Shift

from pto_dialect.accel.parsing import table_cache
from pto_dialect.syntax.read import grammar
from pto_dialect.syntax.read.lark_tables import OPTIONS, NoLexer, build, tables_of
from pto_dialect.syntax.read.parser import ProgramParser

CHECKOUT = str(Path(__file__).parents[3])
GRAMMAR = """
start: statement*
statement: NAME "=" value ";" -> assign
?value: NUMBER | NAME | "(" value ")"
NAME: /[a-z]+/
NUMBER: /[0-9]+/
"""


def test_stored_tables_come_back() -> None:
    tables = build(GRAMMAR)
    assert table_cache.decode(table_cache.encode(tables)) == tables
    assert tables.literals == {"=": "EQUAL", ";": "SEMICOLON", "(": "LPAR", ")": "RPAR"}


@pytest.mark.parametrize("name", grammar.GRAMMARS)
def test_tables_say_what_those_of_lark_say(name: str) -> None:
    parser = lark.Lark(grammar.grammar_text(name), lexer=NoLexer, **OPTIONS)
    tables = tables_of(parser)
    original = parser.parser.parser.parser.parse_table
    assert len(tables.states) == len(original.states)
    assert (tables.start, tables.end) == (original.start_states["start"], original.end_states["start"])
    for number, entries in original.states.items():
        actions = tables.actions(number)
        assert set(actions) == set(entries)
        for symbol, (kind, target) in entries.items():
            if kind is Shift:
                assert actions[symbol] == target
                continue
            rule = tables.rules[-1 - actions[symbol]]
            assert (rule.symbol, rule.size) == (target.origin.name, len(target.expansion))
            assert rule.method == (target.alias or target.origin.name)


@pytest.mark.parametrize("data", [b"", b"N", b"i\0\0\0\0", b"(\x01\0\0\0i\x04\0\0\0", b"{", b"what"])
def test_data_of_another_kind_is_not_used(data: bytes) -> None:
    assert table_cache.decode(data) is None
    assert table_cache.decode(table_cache.encode(build(GRAMMAR))[:-1] + data) is None


def test_tables_of_another_form_are_not_used(monkeypatch: pytest.MonkeyPatch) -> None:
    data = table_cache.encode(build(GRAMMAR))
    monkeypatch.setattr(table_cache, "FORMAT", 999)
    assert table_cache.decode(data) is None


def parse_alone(cache: Path, text: str, report: str) -> str:
    """What a process of its own prints that reads ``text``, which may be wrong."""
    code = (
        "import sys\nfrom pto_dialect import parse\n"
        f"try:\n    parse({text!r})\nexcept ValueError:\n    pass\nprint({report})"
    )
    environment = {"XDG_CACHE_HOME": str(cache), "PYTHONPATH": CHECKOUT}
    command = [sys.executable, "-c", code]
    return subprocess.run(command, env=environment, check=True, cwd=CHECKOUT, capture_output=True, text=True).stdout


def test_tables_go_to_the_cache_directory(tmp_path: Path) -> None:
    for _ in range(2):
        parse_alone(tmp_path, "func.func @f() {\n  return\n}\n", "0")
        names = sorted(path.name.partition("-")[0] for path in (tmp_path / "pto-dialect").iterdir())
        assert names == ["pto"]


def test_damaged_tables_in_the_cache_are_built_again(tmp_path: Path) -> None:
    text = "func.func @f() {\n  return\n}\n"
    loaded = "'lark' in sys.modules"
    assert parse_alone(tmp_path, text, loaded) == "True\n"
    (file,) = (tmp_path / "pto-dialect").iterdir()
    whole = file.read_bytes()
    for damaged in (b"", whole[:-1], whole[:-1] + b"?", b"\0" * 100):
        file.write_bytes(damaged)
        assert parse_alone(tmp_path, text, loaded) == "True\n"
    assert parse_alone(tmp_path, text, loaded) == "False\n"


@pytest.mark.parametrize(
    "statement", ["", "  %0 = pto.alloc_tile : !pto.tile_buf<vec, 16x64xf32>\n", "  return %x : i32\n", "  ?\n"]
)
def test_lark_is_loaded_for_building_only(tmp_path_factory: pytest.TempPathFactory, statement: str) -> None:
    cache = tmp_path_factory.getbasetemp() / "tables"
    cache.mkdir(exist_ok=True)
    text = f"func.func @f() {{\n{statement}  return\n}}\n"
    parse_alone(cache, text, "0")
    assert parse_alone(cache, text, "'lark' in sys.modules") == "False\n"


def test_packaged_tables_parse_without_a_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    grammar.package_tables(tmp_path)
    assert sorted(file.name.partition("-")[0] for file in tmp_path.iterdir()) == ["pto", "types"]
    assert not any(b"pto_dialect" in file.read_bytes() for file in tmp_path.iterdir())
    monkeypatch.setattr(grammar, "_packaged_file", lambda name, text: str(next(tmp_path.glob(f"{Path(name).stem}-*"))))
    monkeypatch.setattr(grammar, "cache_folder", None)
    assert ProgramParser().grammar.tables.rules


def test_packaged_tables_of_another_version_are_left_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    text = grammar.grammar_text("pto.lark")
    names = {grammar._packaged_file("pto.lark", text), grammar._packaged_file("pto.lark", text + " ")}
    monkeypatch.setattr(table_cache, "FORMAT", 999)
    names.add(grammar._packaged_file("pto.lark", text))
    assert len(names) == 3
