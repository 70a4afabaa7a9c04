"""Where the tables of a grammar come from: the installation, else the user's cache folder, else they are built."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from pto_dialect.syntax.read import grammar, lark_tables
from pto_dialect.syntax.read.lalr import Tables, _unless_single

TABLES: Any = object()


class Disk:
    """Stands for what is stored, and counts how often tables are built."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, packaged: bytes | None, file: str | None) -> None:
        self.files: dict[str, bytes] = {}
        self.built = 0
        monkeypatch.setattr(grammar, "grammar_text", lambda name: f"text of {name}")
        monkeypatch.setattr(grammar, "_packaged", lambda path: packaged)
        monkeypatch.setattr(grammar, "_cache_file", lambda name, text: file)
        monkeypatch.setattr(grammar, "read_private", self.files.get)
        monkeypatch.setattr(grammar, "write_private", self.files.__setitem__)
        monkeypatch.setattr(lark_tables, "build", self.build)
        monkeypatch.setattr(grammar.table_cache, "encode", lambda tables: b"good")
        monkeypatch.setattr(grammar.table_cache, "decode", lambda stored: TABLES if stored == b"good" else None)

    def build(self, text: str) -> Tables:
        assert text == "text of pto.lark"
        self.built += 1
        return TABLES

    def ask(self) -> int:
        """How often tables have been built once somebody has got them."""
        assert grammar._tables("pto.lark") is TABLES
        return self.built


def test_tables_of_an_installation(monkeypatch: pytest.MonkeyPatch) -> None:
    disk = Disk(monkeypatch, b"good", "file")
    assert disk.ask() == 0 and disk.files == {}


def test_tables_that_do_not_fit_are_built_again(monkeypatch: pytest.MonkeyPatch) -> None:
    """The installation is not changed, nor is the cache read."""
    disk = Disk(monkeypatch, b"bad", "file")
    assert (disk.ask(), disk.ask()) == (1, 2) and disk.files == {}


def test_tables_are_kept_in_the_cache_folder(monkeypatch: pytest.MonkeyPatch) -> None:
    disk = Disk(monkeypatch, None, "file")
    assert (disk.ask(), disk.ask()) == (1, 1) and disk.files == {"file": b"good"}
    disk.files["file"] = b"bad"
    assert (disk.ask(), disk.ask()) == (2, 2) and disk.files == {"file": b"good"}


def test_without_a_cache_folder_they_are_built_each_time(monkeypatch: pytest.MonkeyPatch) -> None:
    disk = Disk(monkeypatch, None, None)
    assert (disk.ask(), disk.ask()) == (1, 2) and disk.files == {}


def test_names_of_files_tell_versions_apart(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(grammar, "cache_folder", lambda: str(tmp_path))
    first, second = (grammar._cache_file("pto.lark", text) for text in ("a", "b"))
    assert first is not None and second is not None and first != second
    assert Path(first).parent == tmp_path and Path(first).name.startswith("pto-") and first.endswith(".tables")
    monkeypatch.setattr(grammar, "__version__", "0.0.0")
    assert grammar._cache_file("pto.lark", "a") != first
    monkeypatch.setattr(grammar, "cache_folder", lambda: None)
    assert grammar._cache_file("pto.lark", "a") is None


def test_a_file_that_is_not_there_brings_nothing(tmp_path: Path) -> None:
    assert grammar._packaged(str(tmp_path / "nothing")) is None


def test_what_a_rule_with_one_part_gives() -> None:
    """That part as it is; with several parts, what its method makes of them."""
    call = _unless_single(lambda parts: ("made", *parts))
    assert (call(["one"]), call(["one", "two"]), call([])) == ("one", ("made", "one", "two"), ("made",))
