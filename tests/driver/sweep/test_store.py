"""Files of results: records are added one by one, and none is lost or kept twice."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from pto_dialect.driver.launch.session import Settings
from pto_dialect.driver.launch.suite import FileResult
from pto_dialect.driver.sweep.jobs import Job
from pto_dialect.driver.sweep.show import plot, table_text
from pto_dialect.driver.sweep.store import Store, StoreError, read_records, record_of, result_of_record
from pto_dialect.driver.sweep.work import Done


def record(number: int, code: int = 0, **point: object) -> dict[str, object]:
    job = Job("t.launch.toml", "", point or {"n": number}, Settings(), {}, {}, f"key{number}")  # pyright: ignore
    outcome = FileResult(job.label, code, number / 1000, "out", "error: wrong\n" if code else "")
    return record_of(job, Done(job.key, outcome, worker="w:1"))


def write(path: Path, *numbers: int) -> None:
    store = Store(str(path))
    store.open()
    for number in numbers:
        store.add(record(number))
    store.close()


@pytest.mark.parametrize("suffix", [".jsonl", ".parquet"])
def test_records_come_back(tmp_path: Path, suffix: str) -> None:
    if suffix == ".parquet":
        pytest.importorskip("pyarrow", reason="Parquet needs the extra cluster")
    path = tmp_path / f"r{suffix}"
    write(path, 2, 1)
    write(path, 3)
    found = read_records(str(path))
    assert [one["key"] for one in found] == ["key2", "key1", "key3"]
    assert found[0] == record(2)
    assert result_of_record(found[0], "t") == FileResult("t", 0, 0.002, "out", "")
    assert [path.name for path in tmp_path.iterdir()] == [f"r{suffix}"]


def test_a_line_that_was_cut_off_goes_away(tmp_path: Path) -> None:
    path = tmp_path / "r.jsonl"
    write(path, 1)
    whole = path.read_text()
    path.write_text(whole + whole[:40])
    assert list(Store(str(path)).records) == ["key1"]
    write(path, 2)
    assert [json.loads(line)["key"] for line in path.read_text().splitlines()] == ["key1", "key2"]


def test_a_run_that_was_ended_leaves_the_journal_of_a_parquet_file(tmp_path: Path) -> None:
    pytest.importorskip("pyarrow", reason="Parquet needs the extra cluster")
    path = tmp_path / "r.parquet"
    write(path, 1)
    store = Store(str(path))
    store.open()
    store.add(record(2))
    store._stream.close()
    assert list(Store(str(path)).records) == ["key1", "key2"]
    write(path, 3)
    assert [one["key"] for one in read_records(str(path))] == ["key1", "key2", "key3"]


ONE_LINE = ["notes\n", "notes", "{}\n", '{"key": "mine"}\n', "[" * 100_000]


@pytest.mark.parametrize("text", ["no results\nat all\n", '{"key": 1}\n{}\n', *ONE_LINE])
def test_other_files_are_refused(tmp_path: Path, text: str) -> None:
    path = tmp_path / "r.jsonl"
    path.write_text(text)
    with pytest.raises(StoreError, match="is no file of results: line 1"):
        Store(str(path))
    with pytest.raises(StoreError, match=r"ends neither in \.jsonl nor in \.parquet"):
        Store(str(tmp_path / "r.csv"))


def test_the_table_is_in_the_order_of_the_values() -> None:
    records = [record(1, n=32, kind="b"), record(2, n=4, kind="b"), record(3, 1, n=4, kind="a")]
    assert table_text(records).splitlines() == [
        "launch file     n  kind   ms  result",
        "t.launch.toml   4     a  3.0  failed  wrong",
        "t.launch.toml   4     b  2.0  passed",
        "t.launch.toml  32     b  1.0  passed",
        "3 launches: 1 failed, 2 passed",
    ]


def test_a_plot(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib", reason="plots need the extra plot")
    records = [record(number, n=number, kind=kind) for number in (1, 2) for kind in ("a", "b")]
    for name in ("p.png", "p.svg"):
        plot(records, str(tmp_path / name), None, "kind")
    assert (tmp_path / "p.png").read_bytes().startswith(b"\x89PNG")
    assert "kind = b" in (tmp_path / "p.svg").read_text() or (tmp_path / "p.svg").stat().st_size > 1000
    for x, by in (("m", None), (None, "m")):
        with pytest.raises(StoreError, match="'m' is not swept; there are: n, kind"):
            plot(records, str(tmp_path / "q.png"), x, by)
