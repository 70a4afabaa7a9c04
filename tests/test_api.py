"""The documented Python interface."""

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from xdsl.dialects.builtin import ModuleOp

import pto_dialect
from pto_dialect.api import CheckResult, ParseError
from pto_dialect.diagnostics import Severity

GOOD = "func.func @f(%a: i32) -> i32 {\n  %0 = arith.addi %a, %a : i32\n  return %0 : i32\n}\n"
PRINTED = """\
module {
  func.func @f(%a: i32) -> i32 {
    %0 = arith.addi %a, %a : i32
    return %0 : i32
  }
}
"""
TWO_UNDEFINED = "func.func @f() {\n  %0 = arith.addi %x, %x : i32\n  return %y : i32\n}\n"
A5_MODULE = 'module attributes {pto.target_arch = "a5"} {\n}\n'


def test_parse_gives_a_module() -> None:
    module = pto_dialect.parse(GOOD)
    assert isinstance(module, ModuleOp)
    assert [op.name for op in module.body.ops] == ["func.func"]


def test_parse_raises_all_syntax_errors() -> None:
    with pytest.raises(ParseError) as caught:
        pto_dialect.parse(TWO_UNDEFINED, filename="kernel.pto")
    error = caught.value
    assert isinstance(error, ValueError)
    assert [diag.message for diag in error.diagnostics] == ["%x is not defined", "%y is not defined"]
    assert str(error).startswith("kernel.pto:2:19: error: %x is not defined [name-undefined]\n")


def test_parse_names_the_text() -> None:
    with pytest.raises(ParseError, match=r"^<string>:1:1: error:"):
        pto_dialect.parse("what is this")


def test_parse_does_not_verify() -> None:
    wrong = GOOD.replace("-> i32", "-> i64")
    assert not pto_dialect.check(wrong).ok
    assert isinstance(pto_dialect.parse(wrong), ModuleOp)


def test_parse_schematic_text() -> None:
    text = "func.func @f(%a: !pto.tile<...>) {\n  return\n}\n"
    with pytest.raises(ParseError, match="type-schematic"):
        pto_dialect.parse(text)
    assert isinstance(pto_dialect.parse(text, schematic=True), ModuleOp)


def test_print_module() -> None:
    module = pto_dialect.parse(GOOD)
    assert pto_dialect.print_module(module) == PRINTED
    generic = pto_dialect.print_module(module, generic=True)
    assert '"arith.addi"(%a, %a)' in generic
    assert pto_dialect.print_module(pto_dialect.parse(generic)) == PRINTED


def test_check_text() -> None:
    assert pto_dialect.check(GOOD) == (True, ())
    result = pto_dialect.check(TWO_UNDEFINED)
    assert isinstance(result, CheckResult)
    assert not result.ok
    assert [diag.severity for diag in result.diagnostics] == [Severity.ERROR] * 2
    assert str(result).startswith("<string>:2:19: error:")


def test_check_reports_everything() -> None:
    many = "".join(f"  %{n} = arith.addi %x{n}, %x{n} : i32\n" for n in range(100))
    assert len(pto_dialect.check(f"func.func @f() {{\n{many}  return\n}}\n").diagnostics) == 100


def test_check_for_a_target() -> None:
    assert pto_dialect.check(A5_MODULE, target="a5").diagnostics == ()
    result = pto_dialect.check(A5_MODULE, target="a3")
    assert result.ok
    assert [diag.rule for diag in result.diagnostics] == ["target-override"]


def test_check_of_an_unknown_target() -> None:
    with pytest.raises(ValueError, match="unknown target, found 'a4'"):
        pto_dialect.check(GOOD, target="a4")


@pytest.mark.parametrize("as_text", [True, False])
def test_check_files(tmp_path: Path, as_text: bool) -> None:
    path = tmp_path / "kernel.pto"
    path.write_text(TWO_UNDEFINED)
    result = pto_dialect.check(str(path) if as_text else path)
    assert not result.ok
    assert str(result).startswith(f"{path}:2:19: error:")


def test_check_a_file_that_is_no_text(tmp_path: Path) -> None:
    path = tmp_path / "kernel"
    path.write_bytes(b"\xff\0")
    assert [diag.rule for diag in pto_dialect.check(str(path)).diagnostics] == ["input-encoding"]


def test_check_files_that_do_not_exist(tmp_path: Path) -> None:
    for missing in ("no-such-kernel.pto", tmp_path / "none"):
        with pytest.raises(FileNotFoundError):
            pto_dialect.check(missing)


@pytest.mark.parametrize("text", ["", "func.func @f() { return }", "a\0b", "x" * 10_000])
def test_one_line_is_text_unless_it_names_a_file(text: str) -> None:
    result = pto_dialect.check(text)
    assert result.ok == (text in ("", "func.func @f() { return }"))
    assert all(diag.span is None or diag.span.source.name == "<string>" for diag in result.diagnostics)


def test_reading_and_checking_need_no_numpy() -> None:
    code = f"""
import sys, pto_dialect
pto_dialect.print_module(pto_dialect.parse({GOOD!r}))
assert pto_dialect.check({GOOD!r}).ok
print("numpy" in sys.modules)
"""
    root = str(Path(pto_dialect.__file__).parents[1])
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=root)
    assert done.stdout == "False\n"


def test_compile_and_run() -> None:
    text = """
func.func @add(%a: !pto.tile<2x8xf32>, %b: !pto.tile<2x8xf32>) -> !pto.tile<2x8xf32> {
  %c = pto.tadd %a, %b : (!pto.tile<2x8xf32>, !pto.tile<2x8xf32>) -> !pto.tile<2x8xf32>
  return %c : !pto.tile<2x8xf32>
}
"""
    a = np.arange(16, dtype=np.float32).reshape(2, 8)
    module = pto_dialect.parse(text)
    np.testing.assert_array_equal(pto_dialect.compile(module, "add", "a5")(a, a), 2 * a)
    results = pto_dialect.run(module, {"a": a, "b": a}, accumulate="exact")
    np.testing.assert_array_equal(results["0"], 2 * a)
