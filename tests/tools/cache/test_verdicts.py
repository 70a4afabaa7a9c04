"""A result from the cache is the result of checking, in every form that it is shown in."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from sampling import sampled

from pto_dialect.accel.cache import read_private, write_private
from pto_dialect.diagnostics.engine import DiagnosticOptions
from pto_dialect.driver import pipeline, verdicts
from pto_dialect.driver.batch import Task
from pto_dialect.driver.command import run_many, run_one
from pto_dialect.driver.inputs import Input, collect
from pto_dialect.driver.options import CycleRequest, Options
from pto_dialect.driver.output import OutputError
from pto_dialect.driver.pipeline import process, process_input
from pto_dialect.driver.report import Reporter, rule_texts
from pto_dialect.driver.result import Result
from pto_dialect.driver.verdicts import Verdicts

LIT_TESTS = Path(__file__).parents[3] / "lit-tests"
FILES = sorted(LIT_TESTS.rglob("*.pto"))

GOOD = "func.func @f() {\n  return\n}\n"
WRONG = "func.func @f() {\n  return %x : i32\n}\n"
WARNING = 'func.func @f() {\n  "my.op"() : () -> ()\n  return\n}\n'

FORMS = (("text", False), ("text", True), ("json", False), ("sarif", False))


@pytest.fixture
def kept(tmp_path: Path) -> Verdicts:
    folder = tmp_path / "cache"
    folder.mkdir(mode=0o700)
    return Verdicts(str(folder), "this version")


def entries(kept: Verdicts) -> list[Path]:
    return sorted(path for path in Path(kept.folder).rglob("*") if path.is_file())


def shown(result: Result, form: tuple[str, bool]) -> str:
    written: list[str] = []
    reporter = Reporter(*form, written.append)
    reporter.add(result.diagnostics, result.counts)
    reporter.finish("end")
    return "".join(written)


class Run(NamedTuple):
    """What a run over inputs has shown and left."""

    code: int
    report: str
    output: str
    files: dict[str, str]


def run(
    inputs: Sequence[Input],
    options: Options,
    kept: Verdicts | None,
    format: str = "text",
    output: str | None = None,
    jobs: int | None = 1,
) -> Run:
    report: list[str] = []
    printed: list[str] = []
    task = Task(options, output, format, False, None, kept)
    reporter = Reporter(format, False, report.append, kept)
    if len(inputs) == 1:
        code = run_one(inputs[0], task, reporter, printed.append)
    else:
        code = run_many(inputs, task, reporter, jobs, _NoProgress, printed.append)
    folder = Path(output) if output else None
    files = {str(path): path.read_text() for path in sorted(folder.rglob("*.pto"))} if folder else {}
    return Run(code, "".join(report), "".join(printed), files)


class _NoProgress:
    def __init__(self, length: int) -> None: ...

    def __enter__(self) -> _NoProgress:
        return self

    def __exit__(self, *_: object) -> None: ...

    def update(self, n_steps: int) -> None: ...


def forbid(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> Result:
        raise AssertionError("it was checked again")

    monkeypatch.setattr(pipeline, "process", fail)


# ---------------------------------------------------------------- the same result


@pytest.mark.parametrize("file", sampled(FILES, 3), ids=lambda file: file.relative_to(LIT_TESTS).as_posix())
def test_what_lit_tests_give_comes_back(file: Path, kept: Verdicts) -> None:
    text = file.read_text(encoding="utf-8")
    schematic = "--allow-schematic" in text
    for options in (
        Options(schematic=schematic, policy=DiagnosticOptions(pedantic=True)),
        Options(schematic=schematic, split_input=True, printing=False, target="a5"),
        Options(schematic=schematic, split_input=True, verify_diagnostics=True),
    ):
        first = process(text, str(file), options)
        kept.keep(text, str(file), options, first)
        again = kept.find(text, str(file), options)
        assert again is not None
        assert (again.ok, again.counts, again.text, again.statistics) == (first.ok, first.counts, first.text, ())
        for form in FORMS:
            assert shown(again, form) == shown(first, form)


def programs(folder: Path) -> list[Input]:
    texts = {"good": GOOD, "wrong": WRONG, "warning": WARNING, "sub/good": GOOD, "sub/empty": "", "sub/é": WRONG}
    for name, text in texts.items():
        path = folder / f"{name}.pto"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    (folder / "bytes.pto").write_bytes(b"func.func @f() {\n  \xff\n}\n")
    return collect([str(folder)], bytes)


@pytest.mark.parametrize("format", ["text", "json", "sarif"])
@pytest.mark.parametrize("printing", [False, True])
def test_a_run_over_a_folder(
    tmp_path: Path, kept: Verdicts, monkeypatch: pytest.MonkeyPatch, format: str, printing: bool
) -> None:
    inputs = programs(tmp_path / "in")
    output = str(tmp_path / "out") + os.sep if printing else None
    options = Options(printing=printing)
    plain = run(inputs, options, None, format, output)
    first = run(inputs, options, kept, format, output)
    assert plain == first
    assert plain.code == 1
    # What is no text, or empty, is looked at again.
    monkeypatch.setattr(pipeline, "process", _only("empty"))
    assert run(inputs, options, kept, format, output) == first


def _only(part: str) -> Any:
    def check(text: str, name: str, options: Options) -> Result:
        assert part in name, f"{name} was checked again"
        return process(text, name, options)

    return check


@pytest.mark.parametrize("format", ["text", "json", "sarif"])
@pytest.mark.parametrize("text", [GOOD, WRONG, WARNING])
def test_a_run_over_one_program(
    tmp_path: Path, kept: Verdicts, monkeypatch: pytest.MonkeyPatch, format: str, text: str
) -> None:
    path = tmp_path / "f.pto"
    path.write_text(text)
    inputs = collect([str(path)], bytes)
    plain = run(inputs, Options(), None, format)
    assert run(inputs, Options(), kept, format) == plain
    forbid(monkeypatch)
    monkeypatch.setattr("pto_dialect.driver.report.rule_texts", lambda: pytest.fail("rules were loaded"))
    assert run(inputs, Options(), kept, format) == plain


@pytest.mark.skipif(sys.platform != "linux", reason="relies on fork")
def test_processes_share_what_is_kept(tmp_path: Path, kept: Verdicts, monkeypatch: pytest.MonkeyPatch) -> None:
    for number in range(40):
        (tmp_path / f"{number}.pto").write_text((GOOD, WRONG, WARNING)[number % 3])
    inputs = collect([str(tmp_path)], bytes)
    options = Options(printing=False)
    plain = run(inputs, options, None)
    assert run(inputs[:10], options, kept, jobs=1).code == 1
    assert run(inputs, options, kept, jobs=2) == plain
    assert len(entries(kept)) == 40
    forbid(monkeypatch)
    monkeypatch.setattr("pto_dialect.driver.workers.in_parallel", lambda *_, **__: pytest.fail("a process was started"))
    assert run(inputs, options, kept, jobs=2) == plain


def test_texts_of_modules_are_held_up_to_a_limit(
    tmp_path: Path, kept: Verdicts, monkeypatch: pytest.MonkeyPatch
) -> None:
    inputs = programs(tmp_path / "in")
    output = str(tmp_path / "out") + os.sep
    first = run(inputs, Options(), kept, output=output)
    monkeypatch.setattr("pto_dialect.driver.batch.HELD_CHARACTERS", 1)
    monkeypatch.setattr(pipeline, "process", _only("empty"))
    assert run(inputs, Options(), kept, output=output) == first


def test_a_pipe_is_read_once(tmp_path: Path, kept: Verdicts) -> None:
    if not hasattr(os, "mkfifo"):
        pytest.skip("needs named pipes")
    from threading import Thread

    pipe = tmp_path / "pipe.pto"
    os.mkfifo(pipe)
    (tmp_path / "f.pto").write_text(GOOD)
    writer = Thread(target=pipe.write_text, args=(WRONG,))
    writer.start()
    found = run(collect([str(pipe), str(tmp_path / "f.pto")], bytes), Options(printing=False), kept)
    writer.join()
    assert found.report.endswith("2 files: 1 ok, 1 failed (1 error, 0 warnings)\n")


def test_an_output_that_cannot_be_written(tmp_path: Path, kept: Verdicts) -> None:
    inputs = programs(tmp_path / "in")
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "sub").write_text("a file")
    told: list[str] = []
    for cache in (None, kept, kept):
        with pytest.raises(OutputError) as caught:
            run(inputs, Options(), cache, output=str(tmp_path / "out"))
        told.append(str(caught.value))
    assert len(set(told)) == 1


# ---------------------------------------------------------------- what a result depends on


def test_other_texts_names_and_options_have_entries_of_their_own(kept: Verdicts) -> None:
    options = Options()
    kept.keep(WRONG, "a.pto", options, process(WRONG, "a.pto", options))
    assert kept.find(WRONG, "a.pto", options) is not None
    assert kept.find(WRONG + "\n", "a.pto", options) is None
    assert kept.find(WRONG, "b.pto", options) is None
    policy = DiagnosticOptions()
    changed = (
        *(options._replace(target="a5"), options._replace(passes=()), options._replace(printing=False)),
        *(options._replace(verify_diagnostics=True), options._replace(split_input=True)),
        *(options._replace(generic=True), options._replace(debuginfo=True), options._replace(portable=False)),
        *(options._replace(schematic=True), options._replace(plans=False), options._replace(proving=60.0)),
        *(options._replace(allow_open=True), options._replace(release="0.55"), options._replace(language="cpp")),
        *(policy._replace(allow=frozenset(["a"])), policy._replace(deny=frozenset(["a"]))),
        *(policy._replace(werror=True), policy._replace(pedantic=True), policy._replace(max_errors=1)),
    )
    tried: set[str] = set()
    for other in changed:
        other = other if isinstance(other, Options) else options._replace(policy=other)
        assert kept.find(WRONG, "a.pto", other) is None
        tried |= {field for field in Options._fields if getattr(other, field) != getattr(options, field)}
    # Statistics, which maps of memory are a form of, cycles, and modules between passes are never kept.
    assert tried == {*Options._fields} - {"statistics", "memory", "cycles", "ir_printing"}
    assert kept.find(WRONG, "a.pto", options._replace(cycles=CycleRequest())) is None
    assert kept.find(WRONG, "a.pto", options._replace(statistics=True)) is None


def test_the_order_of_rules_makes_no_difference(kept: Verdicts) -> None:
    names = [f"rule-{number}" for number in range(50)]
    one = Options(policy=DiagnosticOptions(allow=frozenset(names)))
    other = Options(policy=DiagnosticOptions(allow=frozenset(reversed(names))))
    again = Verdicts(kept.folder, "this version")
    assert kept._key(GOOD, "a", one) == again._key(GOOD, "a", other)


def test_parts_of_a_key_are_distinguished(kept: Verdicts) -> None:
    assert kept._key("ab", "c", Options()) != kept._key("b", "ca", Options())


def test_another_version_has_entries_of_its_own(kept: Verdicts) -> None:
    kept.keep(WRONG, "a.pto", Options(), process(WRONG, "a.pto", Options()))
    assert Verdicts(kept.folder, "another version").find(WRONG, "a.pto", Options()) is None


def test_statistics_are_not_kept(kept: Verdicts) -> None:
    options = Options(statistics=True)
    kept.keep(GOOD, "a.pto", options, process(GOOD, "a.pto", options))
    assert entries(kept) == []


def test_a_fault_of_the_tools_is_not_kept(tmp_path: Path, kept: Verdicts, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> Result:
        raise RuntimeError("fault")

    monkeypatch.setattr(pipeline, "process", fail)
    item = Input("-", "a.pto", "a.pto", GOOD.encode())
    for _ in range(2):
        assert [diag.rule for diag in process_input(item, Options(), kept).diagnostics] == ["internal"]
    assert entries(kept) == []


# ---------------------------------------------------------------- what is not trusted


def only_entry(kept: Verdicts) -> Path:
    result = process(WRONG, "a.pto", Options())
    kept.keep(WRONG, "a.pto", Options(), result)
    (path,) = entries(kept)
    return path


def test_damaged_entries(kept: Verdicts) -> None:
    path = only_entry(kept)
    whole = path.read_bytes()
    for damaged in (b"", whole[:3], whole[:-1], whole[:-1] + b"?", b"\0" * 40, whole + b" "):
        path.write_bytes(damaged)
        assert kept.find(WRONG, "a.pto", Options()) is None
    path.write_bytes(whole)
    assert kept.find(WRONG, "a.pto", Options()) is not None


@pytest.mark.skipif(os.name != "posix", reason="modes of POSIX")
def test_entries_that_others_may_write_to(kept: Verdicts) -> None:
    path = only_entry(kept)
    path.chmod(0o666)
    assert kept.find(WRONG, "a.pto", Options()) is None


def test_an_entry_under_another_name(kept: Verdicts) -> None:
    path = only_entry(kept)
    other = Path(kept._path(kept._key(GOOD, "a.pto", Options())))
    other.parent.mkdir(exist_ok=True)
    path.rename(other)
    assert kept.find(GOOD, "a.pto", Options()) is None


CHANGES: dict[str, Any] = {
    "ok": [1, None, "true"],
    "counts": [None, 1, [1, 2], [1, 2, 3, 4, 5], ["1", 0, 0, 0], [-1, 0, 0, 0], [True, 0, 0, 0]],
    "text": [1, ["a"]],
    "diagnostics": [None, [None], [[]], [["r", 9, "m", None, [], None]], [["r", 2, 5, None, [], None]],
                    [["r", 2, "m", [7, 0, 1], [], None]], [["r", 2, "m", [-1, 0, 1], [], None]],
                    [["r", 2, "m", None, [["n"]], None]], [["r", 2, "m", None, [], 4]]],
    "sources": [None, [[1, 1, "t"]], [["a", "1", "t"]], [["a", 1, ["0", "1"]]], [["a", 1]]],
}  # fmt: skip


@pytest.mark.parametrize(("field", "value"), [(field, value) for field in CHANGES for value in CHANGES[field]])
def test_entries_of_another_form(kept: Verdicts, field: str, value: Any) -> None:
    path = str(only_entry(kept))
    data = json.loads(read_private(path) or b"")
    for changed in ({**data, field: value}, {name: part for name, part in data.items() if name != field}):
        write_private(path, json.dumps(changed).encode())
        assert kept.find(WRONG, "a.pto", Options()) is None
    for whole in (b"[]", b"1", b"\xff", b"[" * 100_000, b'{"key": 1}'):
        write_private(path, whole)
        assert kept.find(WRONG, "a.pto", Options()) is None
    kept.keep(WRONG, "a.pto", Options(), process(WRONG, "a.pto", Options()))
    assert kept.find(WRONG, "a.pto", Options()) is not None


def test_texts_of_rules(kept: Verdicts) -> None:
    texts = kept.rule_texts(rule_texts)
    assert texts == rule_texts()
    assert kept.rule_texts(lambda: pytest.fail("rules were loaded")) == texts
    (path,) = entries(kept)
    for damaged in (b"{}", b"[]", b'{"key": "x"}', b"?"):
        write_private(str(path), damaged)
        assert kept.rule_texts(lambda: {"a": "b"}) == {"a": "b"}
    path.write_bytes(b"")
    assert kept.rule_texts(rule_texts) == texts


# ---------------------------------------------------------------- where nothing can be kept


def test_a_folder_that_cannot_be_written(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    kept = Verdicts(str(tmp_path / "file"), "this version")
    item = Input("-", "a.pto", "a.pto", WRONG.encode())
    for _ in range(2):
        assert process_input(item, Options(), kept).counts.errors == 1
    assert kept.rule_texts(lambda: {"a": "b"}) == {"a": "b"}


def test_a_shelf_that_cannot_be_written(kept: Verdicts, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(verdicts, "write_private", lambda path, data: False)
    kept.keep(WRONG, "a.pto", Options(), process(WRONG, "a.pto", Options()))
    assert kept.find(WRONG, "a.pto", Options()) is None


def test_large_results_are_not_kept(kept: Verdicts, monkeypatch: pytest.MonkeyPatch) -> None:
    result = process(WRONG, "a.pto", Options())
    kept.keep(WRONG, "a.pto", Options(), result._replace(text="x" * (verdicts.LARGEST + 1)))
    assert entries(kept) == []
    kept.keep(WRONG, "a.pto", Options(), result._replace(text="é" * (verdicts.LARGEST // 2)))
    assert entries(kept) == []
    kept.keep(WRONG, "a.pto", Options(), result._replace(text="x" * (verdicts.LARGEST // 2)))
    assert len(entries(kept)) == 1


# ---------------------------------------------------------------- size


@pytest.mark.parametrize(("limit", "value"), [("SHELF_ENTRIES", 3), ("SHELF_BYTES", 1200)])
def test_the_oldest_entries_are_evicted(
    kept: Verdicts, monkeypatch: pytest.MonkeyPatch, limit: str, value: int
) -> None:
    monkeypatch.setattr(verdicts, limit, value)
    monkeypatch.setattr(kept, "_path", lambda key: os.path.join(kept.folder, "00", key))
    result = process(GOOD, "a.pto", Options())._replace(text="x" * 200)
    for number in range(8):
        kept.keep(GOOD, f"{number}.pto", Options(), result)
        for path in entries(kept):
            # Clocks of file systems are coarse.
            status = path.stat()
            os.utime(path, ns=(status.st_mtime_ns - 10**9, status.st_mtime_ns - 10**9))
    found = [number for number in range(8) if kept.find(GOOD, f"{number}.pto", Options()) is not None]
    assert found and found == list(range(8 - len(found), 8))
    assert len(found) == 3


def test_files_of_an_ended_process_are_removed_too(kept: Verdicts, monkeypatch: pytest.MonkeyPatch) -> None:
    path = only_entry(kept)
    left = path.parent / "something.1-2.tmp"
    left.write_bytes(b"x" * 1000)
    os.utime(left, (0, 0))
    monkeypatch.setattr(verdicts, "SHELF_ENTRIES", 1)
    kept.keep(WRONG, "a.pto", Options(), process(WRONG, "a.pto", Options()))
    assert entries(kept) == [path]
