"""Stored parse tables are those that Lark makes, and a damaged file is not used."""

import subprocess
import sys
from pathlib import Path

import lark
import pytest

from pto_dialect.syntax.read import grammar, table_cache
from pto_dialect.syntax.read.lexer import ProgramLexer
from pto_dialect.syntax.read.parser import ProgramBuilder, ProgramParser

OPTIONS = {"parser": "lalr", "lexer": "basic", "start": "start", "keep_all_tokens": True, "maybe_placeholders": False}
GRAMMAR = """
start: statement*
statement: NAME "=" value ";" -> assign
value: NUMBER | NAME | "(" value ")"
NAME: /[a-z]+/
NUMBER: /[0-9]+/
%ignore " "
"""


class Values(lark.Transformer):
    def value(self, items: list[str]) -> str:
        return items[0] if len(items) == 1 else items[1]

    def assign(self, items: list[str]) -> tuple[str, str]:
        return str(items[0]), str(items[2])

    def start(self, items: list[tuple[str, str]]) -> dict[str, str]:
        return dict(items)


@pytest.fixture
def stored(tmp_path: Path) -> Path:
    path = tmp_path / "small.tables"
    table_cache.store(lark.Lark(GRAMMAR, transformer=Values(), **OPTIONS), str(path))
    return path


def test_a_stored_parser_parses(stored: Path) -> None:
    parser = table_cache.load(str(stored), Values(), "basic")
    assert parser is not None
    assert parser.parse("a = 1; b = ((c));") == {"a": "1", "b": "c"}
    with pytest.raises(lark.exceptions.UnexpectedToken) as caught:
        parser.parse("a = ;")
    assert caught.value.expected == {"LPAR", "NAME", "NUMBER"}


def test_the_stored_program_tables_are_those_of_lark(tmp_path: Path) -> None:
    original = ProgramParser().lark
    fresh = lark.Lark(
        grammar.grammar_text("pto.lark"),
        transformer=ProgramBuilder(),
        **{**OPTIONS, "lexer": original.options.lexer},
    )
    path = str(tmp_path / "pto.tables")
    table_cache.store(fresh, path)
    loaded = table_cache.load(path, ProgramBuilder(), original.options.lexer)
    assert loaded is not None
    mine, theirs = loaded.parser.parser._parse_table, fresh.parser.parser._parse_table
    assert mine.states == theirs.states
    assert (mine.start_states, mine.end_states) == (theirs.start_states, theirs.end_states)
    # Lark numbers states differently each time.
    assert len(original.parser.parser._parse_table.states) == len(theirs.states)


def test_nothing_stored(tmp_path: Path) -> None:
    assert table_cache.load(str(tmp_path / "none"), Values(), "basic") is None


@pytest.mark.parametrize("damage", [b"", b"abc", b"\0" * 100, None])
def test_a_damaged_file_is_not_used(stored: Path, damage: bytes | None) -> None:
    content = stored.read_bytes()
    stored.write_bytes(content[:-1] + b"?" if damage is None else damage)
    assert table_cache.load(str(stored), Values(), "basic") is None


def test_storing_leaves_no_other_file(stored: Path, tmp_path: Path) -> None:
    assert [path.name for path in tmp_path.iterdir()] == [stored.name]
    with pytest.raises(OSError):
        table_cache.store(lark.Lark(GRAMMAR, **OPTIONS), str(tmp_path / "none" / "x.tables"))


def test_tables_go_to_the_cache_directory(tmp_path: Path) -> None:
    code = "from pto_dialect import parse; parse('func.func @f() {\\n  return\\n}\\n')"
    checkout = str(Path(__file__).parents[3])
    for _ in range(2):
        environment = {"XDG_CACHE_HOME": str(tmp_path), "PYTHONPATH": checkout}
        subprocess.run([sys.executable, "-c", code], env=environment, check=True, cwd=checkout)
        names = sorted(path.name.partition("-")[0] for path in (tmp_path / "pto-dialect").iterdir())
        assert names == ["pto"]


def test_packaged_tables_parse_without_a_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    grammar.package_tables(tmp_path)
    assert sorted(file.name.partition("-")[0] for file in tmp_path.iterdir()) == ["pto", "types"]
    assert not any(b"pto_dialect" in file.read_bytes() for file in tmp_path.iterdir())
    monkeypatch.setattr(grammar, "_packaged_file", lambda name, text: str(next(tmp_path.glob(f"{Path(name).stem}-*"))))
    monkeypatch.setattr(grammar, "_build", None)
    parser = ProgramParser()
    assert parser.lark.options.lexer is ProgramLexer


def test_packaged_tables_of_another_version_are_left_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    text = grammar.grammar_text("pto.lark")
    names = {grammar._packaged_file("pto.lark", text), grammar._packaged_file("pto.lark", text + " ")}
    monkeypatch.setattr(lark, "__version__", "1.3.999")
    names.add(grammar._packaged_file("pto.lark", text))
    assert len(names) == 3
