"""``pto-opt --stats``: counts of operations, memory and synchronisation."""

from __future__ import annotations

import json
import subprocess
import sys
from collections import Counter
from importlib import import_module
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

import pto_dialect

MAIN = import_module("pto_dialect.tools.pto_opt").main
CHECKOUT = Path(__file__).parents[2]
EXAMPLES = sorted((CHECKOUT / "examples").rglob("*.pto"))

TILE = "!pto.tile_buf<vec, 16x64xf32>"
PROGRAM = f"""\
module attributes {{pto.target_arch = "a5"}} {{
  func.func @first(%n: index) {{
    %c1024 = arith.constant 1024 : i64
    %c8192 = arith.constant 8192 : i64
    %a = pto.alloc_tile addr = %c1024 : {TILE}
    %b = pto.alloc_multi_tile addr = %c8192 : !pto.multi_tile_buf<{TILE}, count=2>
    %p = pto.castptr %c8192 : i64 -> !pto.ptr<f16, l1>
    %q = pto.castptr %p : !pto.ptr<f16, l1> -> !pto.ptr<i8, l1>
    pto.set_flag[<PIPE_MTE2>, <PIPE_V>, <EVENT_ID3>]
    pto.set_flag[<PIPE_MTE2>, <PIPE_V>, <EVENT_ID1>]
    pto.wait_flag[<PIPE_MTE2>, <PIPE_V>, <EVENT_ID3>]
    pto.wait_flag[<PIPE_MTE2>, <PIPE_V>, <EVENT_ID1>]
    pto.get_buf "PIPE_V", 5, 0
    pto.rls_buf "PIPE_V", 5, 0
    pto.barrier <PIPE_V>
    return
  }}
  func.func @second(%a: {TILE}) {{
    pto.tadd ins(%a, %a : {TILE}, {TILE}) outs(%a : {TILE})
    return
  }}
}}
"""
BYTES = 16 * 64 * 4


def stats(tmp_path: Path, *options: str, text: str = PROGRAM) -> Result:
    path = tmp_path / "program.pto"
    path.write_text(text, encoding="utf-8")
    return CliRunner().invoke(MAIN, [str(path), *options])


def counted(tmp_path: Path, text: str = PROGRAM) -> dict:
    result = stats(tmp_path, "--stats=json", text=text)
    assert result.exit_code == 0, result.output
    (program,) = json.loads(result.stdout)["programs"]
    return program


def test_functions_and_module(tmp_path: Path) -> None:
    program = counted(tmp_path)
    assert program["target"] == "a5"
    assert program["capacity"]["ub"] == 256 * 1024
    assert program["capacity"]["gm"] is None
    assert [function["name"] for function in program["functions"]] == ["first", "second"]
    totals = [function["operations"]["total"] for function in program["functions"]]
    assert program["module"]["operations"]["total"] == sum(totals)
    assert program["functions"][1]["operations"]["families"] == {
        "func": {"func.func": 1, "func.return": 1},
        "tile_elementwise": {"pto.tadd": 1},
    }
    assert program["functions"][1]["memory"] == {}
    assert program["functions"][1]["sync"] == []


def test_memory(tmp_path: Path) -> None:
    memory = counted(tmp_path)["module"]["memory"]
    assert memory["ub"] == {"tiles": 3, "buffers": 0, "bytes": 3 * BYTES, "pointers": 0, "end": 8192 + 2 * BYTES}
    assert memory["l1"] == {"tiles": 0, "buffers": 0, "bytes": 0, "pointers": 1, "end": 8192}


def test_synchronisation(tmp_path: Path) -> None:
    assert counted(tmp_path)["module"]["sync"] == [
        {"kind": "barrier", "between": "PIPE_V", "ids": [], "first": 1, "second": 0},
        {"kind": "flag", "between": "PIPE_MTE2 -> PIPE_V", "ids": ["1", "3"], "first": 2, "second": 2},
        {"kind": "lock", "between": "PIPE_V", "ids": ["5"], "first": 1, "second": 1},
    ]


def test_tiles_that_are_values(tmp_path: Path) -> None:
    tile = "!pto.tile<4x8xf16>"
    text = f".arg %a : {tile}\n%b = tadd %a, %a : {tile}\n%c = tadd %b, %b : {tile}\n"
    assert counted(tmp_path, text)["module"]["memory"] == {
        "values": {"tiles": 2, "buffers": 0, "bytes": 2 * 4 * 8 * 2, "pointers": 0, "end": 0}
    }


def test_memrefs_of_run_time_size_count_without_bytes(tmp_path: Path) -> None:
    space = "#pto.address_space<vec>"
    text = f"""\
func.func @f(%n: index) {{
  %a = memref.alloc() : memref<4x8xf32, {space}>
  %b = memref.alloc(%n) : memref<?x8xf32, {space}>
  return
}}
"""
    assert counted(tmp_path, text)["module"]["memory"]["ub"]["bytes"] == 4 * 8 * 4
    assert counted(tmp_path, text)["module"]["memory"]["ub"]["buffers"] == 2


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_totals_are_those_of_a_walk(path: Path, tmp_path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    walked = Counter(op.name for op in pto_dialect.parse(text).walk() if op.name != "builtin.module")
    families = counted(tmp_path, text)["module"]["operations"]["families"]
    found = Counter({name: number for family in families.values() for name, number in family.items()})
    assert found == walked


def test_text(tmp_path: Path) -> None:
    result = stats(tmp_path, "--stats")
    assert result.exit_code == 0
    tables = result.stdout.split("\n\n")
    assert [table.splitlines()[0].rpartition("/")[2] for table in tables] == [
        "program.pto: module (a5, release 0.64)",
        "program.pto: @first (a5, release 0.64)",
        "program.pto: @second (a5, release 0.64)",
    ]
    rows = [line.split() for line in tables[1].splitlines()]
    assert ["ub", "3", "-", "-", str(3 * BYTES), "(5%)", str(8192 + 2 * BYTES), str(256 * 1024)] in rows
    assert ["PIPE_MTE2", "->", "PIPE_V", "1,", "3", "2", "2"] in rows
    assert "func.func @" not in result.stdout


def test_option_before_the_file_and_several_programs(tmp_path: Path) -> None:
    for name in ("a", "b"):
        (tmp_path / f"{name}.pto").write_text(PROGRAM, encoding="utf-8")
    result = CliRunner().invoke(MAIN, ["--stats=json", str(tmp_path), "-j", "2"])
    assert [Path(program["file"]).name for program in json.loads(result.stdout)["programs"]] == ["a.pto", "b.pto"]
    result = CliRunner().invoke(MAIN, ["--stats", str(tmp_path / "a.pto")])
    assert "@second" in result.stdout


def test_wrong_programs_have_none(tmp_path: Path) -> None:
    chunks = f"{PROGRAM}// -----\nfunc.func @wrong() {{\n  return %x : i32\n}}\n"
    result = stats(tmp_path, "--stats=json", "--split-input-file", text=chunks)
    assert result.exit_code == 1
    assert len(json.loads(result.stdout)["programs"]) == 1
    assert "name-undefined" in result.stderr


def test_no_output_file(tmp_path: Path) -> None:
    assert stats(tmp_path, "--stats", "-o", str(tmp_path / "x")).exit_code == 2
    assert stats(tmp_path, "--stats=xml").exit_code == 2


def test_counting_is_only_loaded_when_wanted(tmp_path: Path) -> None:
    path = tmp_path / "program.pto"
    path.write_text(PROGRAM, encoding="utf-8")
    code = (
        "import sys; from pto_dialect.driver.pipeline import process_input;"
        "from pto_dialect.driver.inputs import Input;"
        "from pto_dialect.driver.options import Options;"
        f"process_input(Input({str(path)!r}, 'p', 'p'), Options());"
        "print('pto_dialect.driver.statistics' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=CHECKOUT)
    assert done.stdout == "False\n"


@pytest.mark.parametrize("value", ["", "=text", "=json"])
def test_the_long_name_is_the_same(value: str) -> None:
    short, long = (CliRunner().invoke(MAIN, [f"{name}{value}", "-"], PROGRAM) for name in ("--stats", "--statistics"))
    assert short.exit_code == long.exit_code == 0
    assert short.output == long.output != ""
