"""The documented Python interface."""

import subprocess
import sys
from contextlib import nullcontext
from pathlib import Path

import numpy as np
import pytest
from xdsl.dialects.builtin import ModuleOp, UnknownLoc

import pto_dialect
from pto_dialect.api import CheckResult, ParseError, VerifyError
from pto_dialect.diagnostics import Severity
from pto_dialect.runtime.errors import ProgramError

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


TILE = "!pto.tile_buf<vec, 16x64x{}>"
WRONG = f"""func.func @f(%x: i32) {{
  %t = pto.alloc_tile : {TILE.format("f32")}
  %u = pto.alloc_tile : {TILE.format("f16")}
  pto.tadd ins(%t, %t : {TILE.format("f32")}, {TILE.format("f32")}) outs(%u : {TILE.format("f16")})
  return
}}
"""
DIVISION = """func.func @divide(%x: i32) -> i32 {
  %zero = arith.constant 0 : i32
  %y = arith.divsi %x, %zero : i32
  return %y : i32
}
"""


def without_places(text: str) -> pto_dialect.api.Module:
    """A module as a program in Python would have built it."""
    module = pto_dialect.parse(text)
    for op in module.walk():
        op.location = UnknownLoc()
    return module


def test_compile_and_run_refuse_a_wrong_program_as_check_does() -> None:
    """Everything that is found is reported, in the tokens of the commands."""
    module = pto_dialect.parse(WRONG)
    for attempt in (lambda: pto_dialect.compile(module), lambda: pto_dialect.run(module, {"x": 1})):
        with pytest.raises(VerifyError) as caught:
            attempt()
        assert str(caught.value) == str(pto_dialect.check(WRONG))
        assert caught.value.diagnostics[0].span is not None
        assert str(caught.value).startswith("<string>:4:")


@pytest.mark.parametrize(("target", "fits"), [("a2a3", False), ("a5", True)])
def test_verification_is_for_the_target_that_is_requested(target: str, fits: bool) -> None:
    """200 KiB are more than the unified buffer of the one, and fit into that of the other."""
    text = "func.func @f() {\n  %t = pto.alloc_tile : !pto.tile_buf<vec, 200x256xf32>\n  return\n}\n"
    assert pto_dialect.check(text, target).ok == fits
    with nullcontext() if fits else pytest.raises(VerifyError, match="capacity"):
        pto_dialect.compile(pto_dialect.parse(text), target=target)


def test_a_verified_module_need_not_be_verified_again(monkeypatch: pytest.MonkeyPatch) -> None:
    from pto_dialect.runtime import api

    runs: list[object] = []
    verify = api.verify_module
    monkeypatch.setattr(
        api, "verify_module", lambda module, *rest, **more: (runs.append(module), verify(module, *rest, **more))
    )
    module = pto_dialect.parse(DIVISION)
    pto_dialect.compile(module, verify=False)
    assert runs == []
    pto_dialect.compile(module)
    assert runs == [module]
    with pytest.raises(ProgramError):
        pto_dialect.run(module, {"x": 1}, verify=False)
    assert runs == [module]


def test_a_module_without_locations_is_shown_as_the_printer_writes_it() -> None:
    module = without_places(WRONG)
    with pytest.raises(VerifyError) as caught:
        pto_dialect.compile(module)
    shown = str(caught.value)
    assert shown.startswith("<module>:5:") and "pto.tadd ins(%t, %t :" in shown
    lines = pto_dialect.print_module(module).splitlines()
    for diagnostic in caught.value.diagnostics:
        assert diagnostic.span is not None
        assert diagnostic.span.source.line_text(diagnostic.span.line) == lines[diagnostic.span.line - 1]
    assert all(isinstance(op.location, UnknownLoc) for op in module.walk())


@pytest.mark.parametrize("jobs", [1, 2])
def test_a_fault_without_a_location_is_shown_as_the_printer_writes_it(jobs: int) -> None:
    kernel = pto_dialect.compile(without_places(DIVISION))
    with pytest.raises(ProgramError) as caught:
        kernel(1, blocks=jobs, jobs=jobs)
    assert str(caught.value).startswith("<module>:4:5: error: integer division by zero [division-by-zero]\n")
    assert "%y = arith.divsi %x, %zero : i32" in str(caught.value)


def test_what_cannot_be_compiled_is_shown_as_the_printer_writes_it() -> None:
    module = without_places('func.func @f(%x: i32) {\n  "other.op"(%x) : (i32) -> ()\n  return\n}\n')
    with pytest.raises(ProgramError) as caught:
        pto_dialect.compile(module, verify=False)
    assert str(caught.value).startswith("<module>:3:5: error: other.op belongs to an unknown dialect")
    assert '"other.op"(%x)' in str(caught.value)


def test_only_tiles_without_address_are_allocated() -> None:
    """An operation that was added to a program that was read is shown where an operand of it is."""
    module = pto_dialect.parse(WRONG)
    for op in module.walk():
        if op.name == "pto.tadd":
            op.location = UnknownLoc()
    with pytest.raises(VerifyError) as caught:
        pto_dialect.compile(module)
    assert str(caught.value).startswith("<string>:3:3: error: dst and src0 of pto.tadd")


def test_operations_that_cannot_be_printed_are_refused_as_well() -> None:
    """A statement that lacks operands has no custom form."""
    module = without_places(WRONG)
    add = next(op for op in module.walk() if op.name == "pto.tadd")
    block = add.parent
    assert block is not None
    block.insert_op_before(type(add).create(operands=[add.operands[0]]), add)
    with pytest.raises(VerifyError) as caught:
        pto_dialect.compile(module)
    assert "pto.tadd" in str(caught.value)


def test_a_byte_order_mark_is_no_part_of_the_text():
    text = "\ufefffunc.func @f() {\n  return\n}\n"
    assert pto_dialect.check(text).ok
    assert [op.name for op in pto_dialect.parse(text).walk()] == ["builtin.module", "func.func", "func.return"]


@pytest.mark.parametrize(
    ("name", "arguments"), [("run", ({},)), ("compile", ()), ("print_module", ()), ("emit_cpp", ())]
)
def test_a_text_is_no_module(name: str, arguments: tuple[object, ...]) -> None:
    with pytest.raises(TypeError, match=rf"^{name} takes a module, found str; parse\(text\) makes one of a text"):
        getattr(pto_dialect, name)("func.func @f() { return }", *arguments)
