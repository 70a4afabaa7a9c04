"""The search for a pipeline: what is tried, and what the command says. Source: docs/optimize.md, "What is tried"."""

from __future__ import annotations

import json
from importlib import import_module
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from plain_products import Plain

from pto_dialect import parse
from pto_dialect.driver.optimize.search import LOOPS, MEMORY, ORDER, PRODUCTS, SLOTS, pipeline_of, stages_for

OPTIMIZE = import_module("pto_dialect.tools.pto_optimize").main
OPT = import_module("pto_dialect.tools.pto_opt").main

TILE = "!pto.tile_buf<vec, 512x64xf32>"
PART = "!pto.partition_tensor_view<512x64xf32>"
PROGRAM = f"""
module attributes {{pto.target_arch = "a5"}} {{
func.func @f(%a: !pto.ptr<f32>, %b: !pto.ptr<f32>) attributes {{pto.entry}} {{
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  %c512 = arith.constant 512 : index
  %av = pto.make_tensor_view %a, shape = [%c512, %c64], strides = [%c64, %c1] : !pto.tensor_view<?x?xf32>
  %bv = pto.make_tensor_view %b, shape = [%c512, %c64], strides = [%c64, %c1] : !pto.tensor_view<?x?xf32>
  %p = pto.partition_view %av, offsets = [%c0, %c0], sizes = [%c512, %c64] : !pto.tensor_view<?x?xf32> -> {PART}
  %q = pto.partition_view %bv, offsets = [%c0, %c0], sizes = [%c512, %c64] : !pto.tensor_view<?x?xf32> -> {PART}
  %x = pto.alloc_tile : {TILE}
  pto.tload ins(%p : {PART}) outs(%x : {TILE})
  pto.texp ins(%x : {TILE}) outs(%x : {TILE})
  pto.tstore ins(%x : {TILE}) outs(%q : {PART})
  return
}}
}}
"""
ARGUMENTS = ("--arg", "a=random:f32:512x64", "--arg", "b=zeros:f32:512x64")


def optimized(folder: Path, text: str, *options: str) -> Result:
    """The command on a program."""
    path = folder / "program.pto"
    path.write_text(text, encoding="utf-8")
    return CliRunner().invoke(OPTIMIZE, [str(path), *options])


def test_the_fastest_pipeline_is_a_command(tmp_path: Path) -> None:
    found = optimized(tmp_path, PROGRAM, *ARGUMENTS, "--output-format", "json", "-o", str(tmp_path / "fast.pto"))
    assert found.exit_code == 0, found.output
    tried = json.loads(found.stdout)["candidates"]
    assert len({json.dumps(one) for one in tried}) == len(tried) > 10
    text = optimized(tmp_path, PROGRAM, *ARGUMENTS)
    command = text.stdout.splitlines()[-1]
    assert command.startswith("pto-opt -p '")
    passes = command.split("'")[1]
    assert "tile-loops" in passes
    assert "double-buffer" in passes
    assert min(tried, key=lambda one: one["cycles"])["cycles"] < 0.85 * tried[0]["cycles"]
    again = CliRunner().invoke(OPT, ["-p", passes, str(tmp_path / "program.pto")])
    assert again.stdout.strip() == (tmp_path / "fast.pto").read_text(encoding="utf-8").strip()


def test_no_more_than_the_limit_is_tried(tmp_path: Path) -> None:
    found = optimized(tmp_path, PROGRAM, *ARGUMENTS, "--limit", "3", "--output-format", "json")
    assert len(json.loads(found.stdout)["candidates"]) == 3


def test_processes_find_the_same(tmp_path: Path) -> None:
    one, two = (optimized(tmp_path, PROGRAM, *ARGUMENTS, "--limit", "6", "-j", jobs) for jobs in ("1", "2"))
    assert one.stdout == two.stdout


def test_products_get_other_tiles(tmp_path: Path) -> None:
    plain = Plain(64, 128, 64, loops="ijp")
    arguments = [f"--arg={name}=random:{kind}:{size}" for name, kind, size in
                 (("a", "f16", "64x64"), ("b", "f16", "64x128"), ("c", "f32", "64x128"))]  # fmt: skip
    found = optimized(tmp_path, str(plain), *arguments, "--limit", "4")
    assert found.exit_code == 0, found.output
    assert "4 right, compared with the program without passes; the fastest is passes=tile-cube" in found.stdout


def test_a_proof(tmp_path: Path) -> None:
    found = optimized(tmp_path, PROGRAM, *ARGUMENTS, "--limit", "4", "--prove")
    assert found.exit_code == 0, found.output
    assert "keep every bit that @f computes" in found.stderr


def test_a_program_that_is_wrong_with_every_pipeline(tmp_path: Path) -> None:
    found = optimized(tmp_path, PROGRAM, "--arg", "a=random:f32:512x64", "--arg", "b=zeros:f32:32x64", "--limit", "2")
    assert found.exit_code == 1
    assert "2 candidates: none is right" in found.stdout


@pytest.mark.parametrize("options", [(), ("--arg", "a")])
def test_wrong_command_lines(tmp_path: Path, options: tuple[str, ...]) -> None:
    found = optimized(tmp_path, PROGRAM, *options) if options else CliRunner().invoke(OPTIMIZE, ["missing.pto"])
    assert found.exit_code == 2
    assert "Traceback" not in found.output


def test_stages_are_those_of_the_program() -> None:
    vector, product = (parse(text, "p.pto") for text in (PROGRAM, str(Plain(32, 32, 32))))
    assert stages_for(vector) == [LOOPS, MEMORY, ORDER]
    assert stages_for(product) == [PRODUCTS, SLOTS, MEMORY, ORDER]
    assert stages_for(None) == [PRODUCTS, LOOPS, MEMORY, ORDER]


def test_every_alternative_is_a_pipeline() -> None:
    for stage in stages_for(None):
        for way in stage:
            assert ",".join(pipeline_of([way])) == way
