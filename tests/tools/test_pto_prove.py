"""``pto prove``: verdicts, exit codes and reports. Source: docs/reference/order-proof.md, "Verdicts"."""

from __future__ import annotations

import json
import re
import sys
from importlib import import_module
from pathlib import Path
from types import ModuleType

import pytest
from click.testing import CliRunner, Result
from guides import COMMANDS, with_present_output

MAIN = import_module("pto_dialect.tools.pto_prove").main
PAGE = Path(__file__).parents[2] / "docs" / "prove.md"
OPEN = """\
func.func @open(%q: !pto.ptr<i64, gm>, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.for %i = %c0 to %n step %c1 {
    %event = pto.load_scalar %q[%i] : !pto.ptr<i64, gm> -> i64
    %id = arith.index_cast %event : i64 to index
    pto.set_flag_dyn["PIPE_MTE2", "PIPE_V", %id]
    pto.wait_flag_dyn["PIPE_MTE2", "PIPE_V", %id]
  }
  return
}
"""


@pytest.fixture
def kernel(tmp_path: Path) -> Path:
    """The program of the guide."""
    text, _ = re.findall(r"^```mlir\n(.*?)^```$", PAGE.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)
    path = tmp_path / "kernel.pto"
    path.write_text(text, encoding="utf-8")
    return path


def prove(*arguments: object, text: str | None = None) -> Result:
    return CliRunner().invoke(MAIN, [str(one) for one in arguments], input=text)


def test_commands_of_the_guide_print_what_it_shows(tmp_path: Path) -> None:
    text = PAGE.read_text(encoding="utf-8")
    assert len(COMMANDS.findall(text)) == 3
    assert with_present_output(text, tmp_path) == text


def test_race_of_the_guide_is_refuted_by_its_smallest_call(kernel: Path) -> None:
    result = prove(kernel, "--output-format", "json")
    (function,) = json.loads(result.stdout)["functions"]
    assert result.exit_code == 3
    assert (function["name"], function["core"], function["verdict"]) == ("turns", None, "refuted")
    witness = function["witness"]
    assert (witness["arguments"], witness["kind"]) == ({"n": 3}, "race-war")
    assert (witness["first"]["operation"], witness["first"]["iteration"]) == ("pto.tadd", [0])
    assert (witness["second"]["operation"], witness["second"]["iteration"]) == ("pto.tload", [])
    assert witness["bytes"] == ["ub", 0, 1024]
    assert result.stderr == "1 function: 0 proven, 1 refuted (1 confirmed by a run), 0 undecided\n"


def test_correction_of_the_guide_is_proven(kernel: Path) -> None:
    text = kernel.read_text(encoding="utf-8")
    flag = '%s_flag["PIPE_V", "PIPE_MTE2", "EVENT_ID0"]\n'
    text = text.replace("      %t = pto.multi_tile_get %x[%c0]", f"pto.{flag % 'wait'}%t = pto.multi_tile_get %x[%c0]")
    text = text.replace("    }\n    pto.wait_flag", f"pto.{flag % 'set'}    }}\n    pto.wait_flag")
    result = prove("-", text=text)
    assert (result.exit_code, result.stdout.splitlines()[-1]) == (0, "1 function: 1 proven, 0 refuted, 0 undecided")


def test_assumption_is_part_of_the_verdict(kernel: Path) -> None:
    result = prove(kernel, "--assume", "n % 2 == 0")
    assert result.exit_code == 0
    assert "note: assumed: n % 2 == 0" in result.stdout


@pytest.mark.parametrize("condition", ["n %", "n * m == 0", "n", "f(n) < 2", "n % 0 == 1", "1.5 < n"])
def test_assumption_that_is_not_understood_is_a_wrong_command_line(kernel: Path, condition: str) -> None:
    result = prove(kernel, "--assume", condition)
    assert result.exit_code == 2
    assert condition in result.stderr


def test_undecided_function_has_its_exit_code_and_reason() -> None:
    result = prove("-", text=OPEN)
    assert result.exit_code == 4
    assert "7:5: info: the order of the pipes in @open is undecided: pto.set_flag_dyn: its id" in result.stdout
    assert result.stdout.splitlines()[-1] == "1 function: 0 proven, 0 refuted, 1 undecided"
    assert prove("-", "--allow-undecided", text=OPEN).exit_code == 0


def test_program_with_errors_has_no_verdict() -> None:
    result = prove("-", text="func.func @f() {\n  pto.nothing\n  return\n}\n")
    assert (result.exit_code, result.stdout.splitlines()[-1]) == (1, "0 functions: 0 proven, 0 refuted, 0 undecided")


def test_sarif_has_a_result_for_each_function(kernel: Path) -> None:
    (run,) = json.loads(prove(kernel, "--output-format", "sarif").stdout)["runs"]
    assert [(one["ruleId"], one["level"]) for one in run["results"]] == [("order-refuted", "error")]


@pytest.mark.parametrize("package", [None, ModuleType("islpy")], ids=("missing", "broken"))
def test_missing_package_is_named_with_its_command(
    kernel: Path, monkeypatch: pytest.MonkeyPatch, package: ModuleType | None
) -> None:
    monkeypatch.setitem(sys.modules, "islpy", package)
    result = prove(kernel)
    assert (result.exit_code, result.stderr) == (
        2,
        "error: pto prove needs the package islpy: pip install 'pto-dialect[prove]'\n",
    )


def test_functions_that_call_each_other_are_undecided_once() -> None:
    text = "".join(
        f"func.func @{one}() {{\n  func.call @{other}() : () -> ()\n  return\n}}\n" for one, other in ("ab", "ba", "cc")
    )
    result = prove("-", text=text)
    assert (result.exit_code, result.stdout.splitlines()[-1]) == (4, "2 functions: 0 proven, 0 refuted, 2 undecided")
    assert result.stdout.count("or calls itself [order-undecided]") == 2


def test_a_name_that_no_function_has_is_a_warning(kernel: Path) -> None:
    result = prove(kernel, "--assume", "nn % 2 == 0")
    assert result.stderr.startswith("warning: no function has the argument 'nn' of the assumption 'nn % 2 == 0'")
    assert "warning" not in prove(kernel, "--assume", "n % 2 == 0").stderr


STORES = """\
func.func @late(%p: !pto.partition_tensor_view<16x16xf32>) {
  %l0 = arith.constant 0 : i64
  %x = pto.alloc_tile addr = %l0 : !pto.tile_buf<vec, 16x16xf32>
  pto.tstore ins(%x : !pto.tile_buf<vec, 16x16xf32>) outs(%p : !pto.partition_tensor_view<16x16xf32>)
  pto.tstore ins(%x : !pto.tile_buf<vec, 16x16xf32>) outs(%p : !pto.partition_tensor_view<16x16xf32>)
  return
}
func.func @left() {
  pto.set_flag["PIPE_MTE2", "PIPE_V", "EVENT_ID0"]
  return
}
func.func @never() {
  pto.wait_flag["PIPE_MTE2", "PIPE_V", "EVENT_ID0"]
  return
}
"""
"""Faults that a run reports as two warnings and an error."""


def test_severity_is_that_of_the_rule_of_a_run() -> None:
    result = prove("-", text=STORES)
    assert result.exit_code == 3
    assert re.findall(r"^<stdin>\S* (\w+):", result.stdout, re.MULTILINE) == ["warning", "warning", "error"]
    assert len(re.findall(r"note: confirmed by a run", result.stdout)) == 3


def test_one_function_is_chosen() -> None:
    result = prove("-", "--entry", "left", "--output-format", "json", text=STORES)
    assert [one["name"] for one in json.loads(result.stdout)["functions"]] == ["left"]
    result = prove("-", "--entry", "right", text=STORES)
    assert (result.exit_code, "there is no function 'right'" in result.stderr) == (2, True)


TWICE = """\
func.func @f() {
  %l0 = arith.constant 0 : i64
  %x = pto.alloc_tile addr = %l0 : !pto.tile_buf<vec, 16x16xf32>
  %s = arith.constant 2.0 : f32
  pto.tmuls ins(%x, %s : !pto.tile_buf<vec, 16x16xf32>, f32) outs(%x : !pto.tile_buf<vec, 16x16xf32>)
  pto.tmuls ins(%x, %s : !pto.tile_buf<vec, 16x16xf32>, f32) outs(%x : !pto.tile_buf<vec, 16x16xf32>)
  return
}
"""
"""In order on a5 only, where V needs no barriers."""


@pytest.mark.parametrize(
    ("settings", "code"),
    [('target = "a5"', 0), ('target = "a2a3"', 3), ("target = 5", 2)],
    ids=("in-order", "out-of-order", "wrong"),
)
def test_settings_of_the_project_count_unless_they_are_refused(tmp_path: Path, settings: str, code: int) -> None:
    path = tmp_path / "k.pto"
    path.write_text(TWICE, encoding="utf-8")
    (tmp_path / "pto.toml").write_text(f"{settings}\n", encoding="utf-8")
    assert prove(path).exit_code == code
    assert prove(path, "--no-config", "--target", "a5").exit_code == 0


def test_errors_are_in_the_report() -> None:
    result = prove("-", "--output-format", "json", text="func.func @f() {\n  pto.nothing\n  return\n}\n")
    assert result.exit_code == 1
    (error,) = json.loads(result.stdout)["errors"]
    assert (error["severity"], error["location"]["start"]["line"]) == ("error", 2)


def test_definitions_are_about_cpp_files(kernel: Path) -> None:
    result = prove(kernel, "-D", "WIDE=1")
    assert (result.exit_code, "there is none among the inputs" in result.stderr) == (2, True)


def test_empty_file_covers_no_function(kernel: Path, tmp_path: Path) -> None:
    empty = tmp_path / "empty.cert"
    empty.write_text("", encoding="utf-8")
    result = prove("--check", empty, kernel)
    shown = "no certificate for @turns\n0 certificates: 0 refused, 1 function without one\n"
    assert (result.exit_code, result.stdout) == (4, f"{kernel}: {shown}")
    assert prove("--check", empty, kernel, "--allow-undecided").exit_code == 0


def test_certificates_go_to_a_file_only(kernel: Path) -> None:
    result = prove(kernel, "--certificate", "-")
    assert (result.exit_code, "takes the name of a file" in result.stderr) == (2, True)
