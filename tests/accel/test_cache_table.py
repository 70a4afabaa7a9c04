"""Tables in files: what is added comes back, in company of what others have added; everything else is nothing."""

import os
from pathlib import Path
from typing import Any

import pytest

from pto_dialect.accel.cache import write_private
from pto_dialect.accel.cache_table import CacheTable, table_file


@pytest.fixture
def path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    tmp_path.chmod(0o700)
    monkeypatch.setenv("PTO_CACHE_DIR", str(tmp_path))
    file = table_file("some")
    assert file is not None and os.path.dirname(file) == str(tmp_path)
    return file


def contents(path: str) -> dict[Any, Any]:
    table = CacheTable(path, 10_000)
    return {key: table.get(key) for key in table.read()}


def test_what_is_added_comes_back(path: str) -> None:
    table = CacheTable(path, 10_000)
    table.add("early", 1)
    assert table.get("other") is None
    table.add("a", (1, [2]))
    assert (table.get("a"), table.added) == ((1, [2]), {"early": 1, "a": (1, [2])})
    table.save()
    again = CacheTable(path, 10_000)
    assert (again.get("a"), again.get("early"), again.added) == ((1, [2]), 1, {})


def test_nothing_new_is_not_written(path: str) -> None:
    CacheTable(path, 10_000).save()
    assert not os.path.exists(path)


def test_tables_of_several_processes_come_together(path: str) -> None:
    tables = [CacheTable(path, 10_000) for _ in range(3)]
    for number, table in enumerate(tables):
        assert table.get(number) is None
        table.add(number, str(number))
    for table in tables:
        table.save()
    assert contents(path) == {0: "0", 1: "1", 2: "2"}


def test_a_file_that_has_grown_too_large_begins_again(path: str) -> None:
    table = CacheTable(path, 1000)
    table.add("long", "x" * 900)
    table.save()
    table = CacheTable(path, 1000)
    table.add("more", "y" * 200)
    table.save()
    assert contents(path) == {"more": "y" * 200}


@pytest.mark.parametrize("content", [b"", b"what", b"N", b"[\0\0\0\0", b"c", b"{"])
def test_a_file_that_holds_something_else(path: str, content: bytes) -> None:
    for damaged in (False, True):
        if damaged:
            Path(path).write_bytes(content)
        else:
            write_private(path, content)
        table = CacheTable(path, 10_000)
        assert table.get("a") is None
        table.add("a", 1)
        table.save()
        assert contents(path) == {"a": 1}


def test_a_file_that_others_may_write_to_is_not_used(path: str) -> None:
    table = CacheTable(path, 10_000)
    table.add("a", 1)
    table.save()
    os.chmod(path, 0o666)
    assert table.read() == {}


def test_without_a_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tmp_path.chmod(0o777)
    monkeypatch.setenv("PTO_CACHE_DIR", str(tmp_path))
    assert table_file("some") is None
