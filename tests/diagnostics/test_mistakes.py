"""Frequent mistakes of people and of code generators, over all surfaces of the language.

Each is reported once, where a person would look for it, with what would be right; done so, the program is accepted.
"""

from __future__ import annotations

import re
import shlex
from importlib import import_module
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from groups import in_groups

from pto_dialect.api import check
from pto_dialect.diagnostics.diagnostic import Diagnostic, Severity

from .implementation_names import RAW_WORDS
from .mistake_table import Mistake, Told, mistakes

ROWS = mistakes()
TEXTS = [row for row in ROWS if row.frame != "run"]
RUNS = [row for row in ROWS if row.frame == "run"]
COPY = """func.func @copy(%x: !pto.ptr<f32>, %y: !pto.ptr<f32>) attributes {pto.kernel} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %c8 = arith.constant 8 : index
  %xv = pto.make_tensor_view %x, shape = [%c4, %c8], strides = [%c8, %c1] : !pto.tensor_view<4x8xf32>
  %yv = pto.make_tensor_view %y, shape = [%c4, %c8], strides = [%c8, %c1] : !pto.tensor_view<4x8xf32>
  %xp = pto.partition_view %xv, offsets = [%c0, %c0], sizes = [%c4, %c8]
    : !pto.tensor_view<4x8xf32> -> !pto.partition_tensor_view<4x8xf32>
  %yp = pto.partition_view %yv, offsets = [%c0, %c0], sizes = [%c4, %c8]
    : !pto.tensor_view<4x8xf32> -> !pto.partition_tensor_view<4x8xf32>
  %a = pto.alloc_tile : !pto.tile_buf<vec, 4x8xf32>
  pto.tload ins(%xp : !pto.partition_tensor_view<4x8xf32>) outs(%a : !pto.tile_buf<vec, 4x8xf32>)
  pto.tstore ins(%a : !pto.tile_buf<vec, 4x8xf32>) outs(%yp : !pto.partition_tensor_view<4x8xf32>)
  return
}
"""
_INCOMPLETE = "sync-unpaired"
"""A flag of a row stands without its other end, which is not what the row is about."""


def told(text: str, lines_before: int) -> list[Told]:
    """What checking ``text`` reports: its errors, without any its warnings."""
    found = [d for d in check(text).diagnostics if d.severity is not Severity.INFO and d.rule != _INCOMPLETE]
    errors = [d for d in found if d.severity is Severity.ERROR]
    return [_told(diagnostic, lines_before) for diagnostic in errors or found]


def _told(diagnostic: Diagnostic, lines_before: int) -> Told:
    assert diagnostic.span is not None
    line, column = diagnostic.span.source.line_col(diagnostic.span.start)
    severity = diagnostic.severity.name.lower()
    return Told(severity, line - lines_before, column, diagnostic.message, diagnostic.help or "")


def _id(row: Mistake) -> str:
    return f"{row.file}-{row.title}"


@in_groups("row", TEXTS, _id)
def test_mistake(row: Mistake) -> None:
    found = told(*row.program(row.wrong))
    expected = row.expected()
    assert [told[:4] for told in found] == [told[:4] for told in expected]
    for got, wanted in zip(found, expected, strict=True):
        assert got.help.startswith(wanted.help) and bool(got.help) == bool(wanted.help)
        assert not RAW_WORDS.search(got.message + got.help)
    assert told(*row.program(row.right)) == []


def launched(folder: Path, command: str) -> Result:
    """``pto-run`` with the options of ``command`` in ``folder``."""
    (folder / "copy.pto").write_text(COPY)
    main = import_module("pto_dialect.tools.pto_run").main
    return CliRunner().invoke(main, ["copy.pto", *shlex.split(command)], prog_name="pto-run")


@pytest.mark.parametrize("row", RUNS, ids=_id)
def test_mistake_in_a_launch(row: Mistake, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (command,), (right,), ((code, message),) = row.wrong, row.right, [entry.split(" ", 1) for entry in row.told]
    wrong = launched(tmp_path, command.removeprefix("$ "))
    assert wrong.exit_code == int(code)
    errors = [line for line in wrong.stderr.splitlines() if re.match(r"(?:\S+: )?[eE]rror: ", line)]
    assert len(errors) == 1
    assert re.sub(r"^[eE]rror: ", "", errors[0]) == message
    assert not RAW_WORDS.search(message)
    assert launched(tmp_path, right.removeprefix("$ ")).exit_code == 0


def test_the_table_is_large_and_its_mistakes_are_reported_once() -> None:
    assert len(ROWS) >= 150 and len({(row.file, row.title) for row in ROWS}) == len(ROWS)
    assert len({row.frame for row in ROWS}) >= 12
    once = [row for row in ROWS if len(row.told) == 1]
    assert len(once) >= 0.95 * len(ROWS) and all(row.told for row in ROWS)
