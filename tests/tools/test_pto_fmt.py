"""The command ``pto-fmt``."""

from __future__ import annotations

import os
import re
import shlex
from importlib import import_module
from pathlib import Path

import pytest
from click.testing import CliRunner

MAIN = import_module("pto_dialect.tools.pto_fmt").main
PAGE = Path(__file__).parents[2] / "docs" / "pto-fmt.md"

OLD = "module {\nfunc.func @f(){\n  return }\n}\n"
NEW = "module {\n  func.func @f() {\n    return\n  }\n}\n"
BROKEN = "module {\n func.func @f( {\n return\n}\n}\n"


def call(*arguments: str, stdin: bytes = b"") -> tuple[int, str, str]:
    result = CliRunner().invoke(MAIN, arguments, input=stdin, prog_name="pto-fmt")
    assert result.exception is None or isinstance(result.exception, SystemExit), result.exc_info
    return result.exit_code, result.stdout, result.stderr


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_files_and_folders_change_in_place() -> None:
    Path("a.pto").write_text(OLD)
    Path("d").mkdir()
    Path("d/b.pto").write_text(OLD)
    Path("d/c.txt").write_text(OLD)
    assert call("a.pto", "d") == (0, "", "")
    assert (Path("a.pto").read_text(), Path("d/b.pto").read_text()) == (NEW, NEW)
    assert Path("d/c.txt").read_text() == OLD
    before = os.stat("a.pto")
    assert call("a.pto") == (0, "", "")
    assert os.stat("a.pto").st_mtime_ns == before.st_mtime_ns


def test_standard_input_is_printed() -> None:
    assert call(stdin=OLD.encode()) == call("-", stdin=OLD.encode()) == (0, NEW, "")
    assert call(stdin=b"")[1] == ""


def test_check_and_diff_change_nothing() -> None:
    Path("a.pto").write_text(OLD)
    Path("b.pto").write_text(NEW)
    assert call("--check", "a.pto", "b.pto") == (1, "", "a.pto: would be laid out differently\n")
    assert call("--check", "b.pto") == (0, "", "")
    code, out, err = call("--diff", "a.pto", "b.pto")
    assert (code, err) == (0, "")
    assert out.startswith("--- a.pto\n+++ a.pto\n@@ -1,4 +1,5 @@\n module {\n-func.func @f(){\n")
    assert Path("a.pto").read_text() == OLD


def test_a_program_that_cannot_be_read_stays() -> None:
    Path("a.pto").write_text(BROKEN)
    code, out, err = call("a.pto")
    assert (code, out) == (1, "")
    assert err.startswith("a.pto:2:14: error: ") and Path("a.pto").read_text() == BROKEN
    text = f"{OLD}\n// -----\n\n{BROKEN}\n// -----\n{OLD}"
    Path("a.pto").write_text(text)
    code, _, err = call("a.pto")
    assert code == 1 and err.startswith("a.pto:9:14: error: ")
    assert Path("a.pto").read_text() == f"{NEW}\n// -----\n\n{BROKEN}\n// -----\n{NEW}"
    Path("a.pto").write_text(text.replace("func.func @f( {", "func.func @f( { // expected-error {{x}}"))
    assert call("a.pto")[0] == 0


def test_errors_that_are_no_matter_of_layout() -> None:
    text = b"pto.nonsense %a\n  pto.tadd ins(%x:!pto.tile_buf<vec,16x16xf32>) outs(%y:!pto.tile_buf<vec,16x16xf32>)\n"
    code, out, err = call(stdin=text)
    assert (code, err) == (0, "")
    assert out.startswith("pto.nonsense %a\npto.tadd ins(%x : !pto.tile_buf<vec, 16x16xf32>) outs(")


def test_ends_of_lines_stay() -> None:
    Path("a.pto").write_bytes(OLD.replace("\n", "\r\n").encode())
    assert call("a.pto")[0] == 0
    assert Path("a.pto").read_bytes() == NEW.replace("\n", "\r\n").encode()


def test_some_lines() -> None:
    Path("a.pto").write_text(OLD)
    assert call("--lines", "2:2", "a.pto")[0] == 0
    assert Path("a.pto").read_text() == "module {\n  func.func @f() {\n  return }\n}\n"
    for wrong in ("0:1", "3:2", "x", "1:2:3", "-1"):
        code, _, err = call("--lines", wrong, "a.pto")
        assert code == 2 and "FIRST:LAST" in err
    Path("b.pto").write_text(OLD)
    assert call("--lines", "1", "a.pto", "b.pto")[0] == 2


def test_what_is_no_program() -> None:
    Path("a.pto").write_bytes(b"\xff\xfe\x00")
    assert call("a.pto")[0] == 1
    code, _, err = call("none.pto")
    assert code == 2 and "no such file" in err
    Path("empty").mkdir()
    assert call("empty")[0] == 2


def test_the_guide(folder: Path) -> None:
    text = PAGE.read_text(encoding="utf-8")
    program = re.search(r"^```mlir\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)
    console = re.search(r"^```console\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)
    assert program is not None and console is not None
    Path("scale.pto").write_text(program[1])
    parts = console[1].split("$ ")[1:]
    assert len(parts) == 2
    for part in parts:
        command, _, shown = part.partition("\n")
        words, _, source = command.partition(" < ")
        stdin = Path(source).read_bytes() if source else b""
        _, out, err = call(*shlex.split(words)[1:], stdin=stdin)
        assert err + out == shown
    for parameter in MAIN.params:
        assert parameter.name == "paths" or any(option in text for option in parameter.opts), parameter.name


@pytest.mark.parametrize("arguments", ["k.cpp", "--diff k.cpp", "--check k.cpp", "a.pto k.cpp", "k.cpp -"])
def test_kernels_in_cpp_are_refused(arguments: str) -> None:
    Path("k.cpp").write_text("__global__ AICORE void k() {}\n")
    Path("a.pto").write_text(OLD)
    code, printed, message = call(*arguments.split())
    assert (code, printed) == (2, "")
    assert "pto-fmt rewrites .pto programs; C++ kernels are changed by hand" in message
    assert (Path("k.cpp").read_text(), Path("a.pto").read_text()) == ("__global__ AICORE void k() {}\n", OLD)
