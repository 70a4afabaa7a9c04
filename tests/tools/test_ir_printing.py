"""The module between passes: which passes print it, with which banner, and what is refused."""

from __future__ import annotations

import re
from importlib import import_module
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

MAIN = import_module("pto_dialect.tools.pto_opt").main

PROGRAM = """\
module attributes {pto.target_arch = "a5"} {
  func.func @twice(%in: !pto.partition_tensor_view<16x64xf32>) {
    %c0 = arith.constant 7 : i64
    %a = pto.alloc_tile : !pto.tile_buf<vec, 16x64xf32>
    pto.tload ins(%in : !pto.partition_tensor_view<16x64xf32>) outs(%a : !pto.tile_buf<vec, 16x64xf32>) loc("m.py":3:5)
    return
  }
}
"""


@pytest.fixture
def opt(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.chdir(tmp_path)

    def run(*arguments: str, text: str = PROGRAM) -> Result:
        Path("p.pto").write_text(text, encoding="utf-8")
        return CliRunner().invoke(MAIN, ["--no-cache", "p.pto", *arguments], prog_name="pto-opt")

    return run


def dumps(result: Result) -> list[tuple[str, str, str]]:
    """Of each banner when it is printed, the class of the pass, and its name."""
    banner = r"^// -----// IR Dump (Before|After) (.+?) \(([\w-]+)\) //----- //$"
    return re.findall(banner, result.stderr, re.MULTILINE)


def test_each_pass_prints_the_module_after_it(opt) -> None:
    result = opt("--lower", "--mlir-print-ir-after-all")
    assert result.exit_code == 0
    assert dumps(result) == [
        ("After", "VerifyShapesPass", "verify-shapes"),
        ("After", "AssignMemoryPass", "assign-memory"),
        ("After", "InsertSyncPass", "insert-sync"),
    ]
    last = result.stderr.split("(insert-sync) //----- //\n")[1]
    assert last == f"{result.stdout}\n\n"
    assert "addr" not in result.stderr.split("IR Dump")[1]


def test_each_pass_prints_the_module_before_it(opt) -> None:
    result = opt("-p", "verify-structure,verify-shapes,assign-memory", "-mlir-print-ir-before-all")
    assert [name for _, _, name in dumps(result)] == ["verify-structure", "assign-memory"]
    assert "addr" not in result.stderr


def test_named_passes_print_the_module(opt) -> None:
    result = opt(
        "-p",
        "canonicalize,cse,assign-memory",
        "--mlir-print-ir-before=cse",
        "--print-ir-after=canonicalize,assign-memory",
    )
    assert [(when, name) for when, _, name in dumps(result)] == [
        ("After", "canonicalize"),
        ("Before", "cse"),
        ("After", "assign-memory"),
    ]


def test_passes_that_change_nothing_print_nothing_on_change(opt) -> None:
    result = opt("-p", "canonicalize,cse,verify-shapes", "--mlir-print-ir-after-change")
    assert [name for *_, name in dumps(result)] == ["canonicalize"]
    assert "arith.constant" not in result.stderr
    named = opt("-p", "canonicalize,cse", "--mlir-print-ir-after-change", "--mlir-print-ir-after=cse")
    assert dumps(named) == []


def test_a_failed_pass_prints_what_it_leaves(opt) -> None:
    wrong = PROGRAM.replace("return", "pto.tadd ins(%a, %a : !pto.tile_buf<vec, 16x64xf32>, "
                            "!pto.tile_buf<vec, 16x64xf32>) outs(%in : !pto.partition_tensor_view<16x64xf32>)\n    "
                            "return")  # fmt: skip
    assert dumps(opt("--mlir-print-ir-after-failure")) == []
    result = opt("--mlir-print-ir-after-failure", text=wrong)
    assert (result.exit_code, result.stdout) == (1, "")
    assert [cls for _, cls, _ in dumps(result)] == ["VerifyShapesPass Failed"]


def test_printed_modules_have_the_form_that_is_wanted(opt) -> None:
    result = opt("-p", "cse", "--mlir-print-ir-after-all", "--mlir-print-debuginfo", "--mlir-print-ir-module-scope")
    assert "(cse) ('builtin.module' operation) //----- //\n" in result.stderr
    assert 'loc("m.py":3:5)' in result.stderr
    assert '"pto.alloc_tile"()' in opt("-p", "cse", "--mlir-print-ir-after-all", "--print-op-generic").stderr


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--mlir-print-ir-after=cse",), "cse is not among the passes that run"),
        (("--mlir-print-ir-after=css",), "unknown pass 'css', did you mean cse?"),
        (("--mlir-print-ir-after-all", "."), "prints the module of one program"),
        (("--mlir-print-ir-after-all", "--fix"), "--fix and --format run no passes"),
    ],
)
def test_refused(opt, arguments: tuple[str, ...], message: str) -> None:
    result = opt(*arguments)
    assert result.exit_code == 2
    assert message in result.stderr
