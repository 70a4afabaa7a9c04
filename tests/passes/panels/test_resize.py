"""Panels of other sizes. Source: docs/resize-panels.md, "What is a panel"."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest

from examples.check import FOLDER
from examples.int8_dequant_gemm.inputs import GROUP, cases
from pto_dialect import parse, print_module
from pto_dialect.api import check
from pto_dialect.diagnostics.diagnostic import Severity
from pto_dialect.diagnostics.engine import DiagnosticEngine, DiagnosticOptions
from pto_dialect.passes.registry import make_pass
from pto_dialect.runtime.run.launch import Kernel
from pto_dialect.runtime.run.machine import RunOptions

ROWS, WIDTH = 32, 128
PART, TILE = "!pto.partition_tensor_view<16x32xf32>", "!pto.tile_buf<vec, 16x32xf32>"
COLUMN = "!pto.tile_buf<vec, 16x1xf32, blayout=col_major>"
LOAD = f"pto.tload ins(%p : {PART}) outs(%x : {TILE})"
STORE = f"pto.tstore ins(%y : {TILE}) outs(%q : {PART})"
TWICE = f"pto.tadd ins(%x, %x : {TILE}, {TILE}) outs(%y : {TILE})"
SUM = f"pto.trowsum ins(%x : {TILE}) outs(%s : {COLUMN})"
SUBTRACT = f"pto.trowexpandsub ins(%x, %s : {TILE}, {COLUMN}) outs(%y : {TILE})"


def program(*lines: str, rows: bool = False, bound: str = "", stride: int = WIDTH, before: str = "") -> str:
    """A loop over the panels of 32 columns, or of 16 rows, of an array of 32 rows and 128 columns."""
    step, last, at = ("%c16", "%c32", "[%i, %c0]") if rows else ("%c32", "%c128", "[%c0, %i]")
    kinds = f"!pto.tensor_view<?x?xf32> -> {PART}"
    sizes = (0, 1, 16, 32, 64, 128)
    constants = "\n".join(f"%c{number} = arith.constant {number} : index" for number in sizes)
    body = "\n".join(lines)
    return f"""
    module attributes {{pto.target_arch = "a2a3"}} {{
    func.func @f(%a: !pto.ptr<f32>, %b: !pto.ptr<f32>, %n: index) attributes {{pto.entry}} {{
    {constants}
    %stride = arith.constant {stride} : index
    %v = pto.make_tensor_view %a, shape = [%c32, %c128], strides = [%c128, %c1] : !pto.tensor_view<?x?xf32>
    %w = pto.make_tensor_view %b, shape = [%c32, %c128], strides = [%stride, %c1] : !pto.tensor_view<?x?xf32>
    %x = pto.alloc_tile : {TILE}
    %y = pto.alloc_tile : {TILE}
    %s = pto.alloc_tile : {COLUMN}
    {before}
    scf.for %i = %c0 to {bound or last} step {step} {{
    %p = pto.partition_view %v, offsets = {at}, sizes = [%c16, %c32] : {kinds}
    %q = pto.partition_view %w, offsets = {at}, sizes = [%c16, %c32] : {kinds}
    {body}
    }}
    return
    }}
    }}"""


def part(view: str, at: str) -> str:
    """16 rows and 32 columns of an array from a position on."""
    sizes = "sizes = [%c16, %c32] : !pto.tensor_view<?x?xf32>"
    return f"%r = pto.partition_view %{view}, offsets = [{at}], {sizes} -> {PART}"


def resized(text: str, call: str) -> tuple[str, list[str]]:
    """The text after the pass, and what it reports."""
    module = parse(text, "program.pto")
    engine = DiagnosticEngine(DiagnosticOptions(max_errors=0, pedantic=True))
    make_pass(call, None).run(module, engine)
    found = print_module(module)
    assert not [one for one in check(found).diagnostics if one.severity is Severity.ERROR]
    return found, [one.message for one in engine.diagnostics]


def run(text: str, number: int = ROWS, *passes: str) -> np.ndarray[Any, np.dtype[np.float32]]:
    """What a program stores."""
    module, engine = parse(text), DiagnosticEngine()
    for call in (*passes, "assign-memory", "insert-sync"):
        make_pass(call, None).run(module, engine)
    result = np.zeros((2 * ROWS, WIDTH), np.float32)
    Kernel(module, None, None, RunOptions()).run([values(), result, number], 1)
    return result


def values() -> np.ndarray[Any, np.dtype[np.float32]]:
    """The array that programs load; more rows than its view has."""
    return np.random.default_rng(1).integers(-50, 50, (2 * ROWS, WIDTH)).astype(np.float32)


@pytest.mark.parametrize("columns", [16, 64, 128])
def test_columns(columns: int) -> None:
    text = program(LOAD, TWICE, STORE)
    found, said = resized(text, f"resize-panels{{columns={columns}}}")
    assert not said
    assert set(re.findall(r"vec, 16x(\d+)xf32>", found)) == {str(columns)}
    assert f"step %c{columns}" in found
    wanted = np.zeros((2 * ROWS, WIDTH), np.float32)
    wanted[:16] = 2 * values()[:16]
    assert np.array_equal(run(text, ROWS, f"resize-panels{{columns={columns}}}"), wanted)


@pytest.mark.parametrize("rows", [4, 8, 32])
def test_rows_with_their_sums(rows: int) -> None:
    """A column of values for rows has as many rows as the panel."""
    text = program(LOAD, SUM, SUBTRACT, STORE, rows=True)
    found, said = resized(text, f"resize-panels{{rows={rows}}}")
    assert not said
    assert f"vec, {rows}x32xf32>" in found
    wanted = np.zeros((2 * ROWS, WIDTH), np.float32)
    part = values()[:ROWS, :32]
    wanted[:ROWS, :32] = part - part.sum(1, keepdims=True)
    assert np.array_equal(run(text, ROWS, f"resize-panels{{rows={rows}}}"), wanted)


@pytest.mark.parametrize("number", [0, 1, 16, 17, 32, 40])
def test_the_last_panel_may_reach_beyond_a_bound_that_only_a_run_knows(number: int) -> None:
    """The smaller panels are those of which the larger ones consist."""
    text = program(LOAD, TWICE, STORE, rows=True, bound="%n")
    wanted = np.zeros((2 * ROWS, WIDTH), np.float32)
    reached = -(-number // 16) * 16
    wanted[:reached, :32] = 2 * values()[:reached, :32]
    assert np.array_equal(run(text, number), wanted)
    assert np.array_equal(run(text, number, "resize-panels{rows=8}"), wanted)


ONES = f"pto.texpands ins(%one : f32) outs(%y : {TILE})"
ADD = f"pto.tadd ins(%x, %y : {TILE}, {TILE}) outs(%x : {TILE})"
STORE_X = STORE.replace("%y", "%x")
ONE = "%one = arith.constant 1.0 : f32\n"


def test_a_tile_with_equal_elements_may_be_filled_before() -> None:
    text = program(LOAD, ADD, STORE_X, before=ONE + ONES)
    wanted = np.zeros((2 * ROWS, WIDTH), np.float32)
    wanted[:16] = values()[:16] + 1
    assert resized(text, "resize-panels{columns=64}")[0].count("16x64xf32>) outs(%y") == 0
    assert np.array_equal(run(text, ROWS, "resize-panels{columns=64}"), wanted)


PANEL_BEFORE = f"""{part("v", "%c0, %c0")}
pto.tload ins(%r : {PART}) outs(%y : {TILE})"""
OTHER_PLACE = f"""%j = arith.addi %i, %c1 : index
{LOAD}
{TWICE}
{STORE}"""
BLOCK = "%block64 = pto.get_block_idx\n%block = arith.index_cast %block64 : i64 to index"
OF_BLOCK = f"""{part("v", "%block, %c0")}
pto.tload ins(%r : {PART}) outs(%y : {TILE})"""
OTHER_TILE = f"%z = pto.alloc_tile : {TILE}"
ADD_ON = ADD.replace("outs(%x", "outs(%y")
OTHER_ROWS = f"""{part("w", "%c16, %i")}
pto.tload ins(%r : {PART}) outs(%y : {TILE})"""
FIXED = f"""{part("w", "%c16, %c0")}
pto.tload ins(%r : {PART}) outs(%z : {TILE})
pto.tstore ins(%z : {TILE}) outs(%r : {PART})"""
FLAGS = "pto.set_flag[<PIPE_MTE2>, <PIPE_V>, <EVENT_ID0>]\npto.wait_flag[<PIPE_MTE2>, <PIPE_V>, <EVENT_ID0>]"
PERHAPS = f"scf.for %j = %c0 to %n step %c1 {{\n{LOAD}\n}}"
TRANSPOSE = f"pto.ttrans ins(%x, %y : {TILE}, {TILE}) outs(%y : {TILE})"

CHOSEN = """%first = arith.cmpi eq, %n, %c0 : index
%chosen = arith.select %first, %a, %b : !pto.ptr<f32>
%w = pto.make_tensor_view %chosen"""


@pytest.mark.parametrize(
    ("text", "columns", "reason"),
    [
        (program(LOAD, TWICE, STORE).replace("%w = pto.make_tensor_view %b", CHOSEN), 64, "which array it uses"),
        (program(LOAD, ADD_ON, STORE), 64, "a tile keeps something from the panel before"),
        (program(LOAD, ADD, STORE_X, before=PANEL_BEFORE), 64, "a tile of the panel is used outside of the loop"),
        (program(LOAD, SUM, TWICE, STORE), 64, "together with one that is the same for all"),
        (program(LOAD, TWICE, STORE), 256, "128 is no multiple of 256"),
        (program(LOAD, TWICE, STORE, bound="%n"), 64, "nobody knows that whole panels"),
        (program(LOAD, TWICE, STORE, stride=64), 64, "nobody knows that the rows of its array are apart"),
        (program(OTHER_PLACE), 64, "for something else than a part of an array"),
        (program(OF_BLOCK, LOAD, ADD, STORE_X, before=BLOCK), 64, "it depends on the number of the block"),
        (program(FIXED, LOAD, TWICE, STORE, before=OTHER_TILE), 64, "other panels may be stored to the same elements"),
        (program(FLAGS, LOAD, TWICE, STORE), 64, "flags and barriers are those of panels of this size"),
        (program(OTHER_ROWS, LOAD, ADD, STORE_X), 64, "it uses an array that panels are stored to"),
        (program(LOAD, TRANSPOSE, STORE), 64, "together with one that is the same for all"),
        (program(LOAD, TWICE, STORE, rows=True), 64, "no loop over whole columns of an array"),
        (program(PERHAPS, TWICE, STORE), 64, "a tile may keep something from the panel before"),
    ],
    ids=[
        "an array that a run selects",
        "a sum over panels",
        "a panel loaded before",
        "a sum of a row",
        "too wide",
        "an open bound",
        "rows share elements",
        "its position is a number",
        "rows of a block",
        "a store that is the same for all",
        "flags",
        "a load of what is stored",
        "transposed",
        "panels of rows",
        "loaded perhaps",
    ],
)
def test_panels_that_keep_their_size(text: str, columns: int, reason: str) -> None:
    call = f"resize-panels{{columns={columns}}}"
    found, said = resized(text, call)
    (message,) = said
    assert message.startswith("panels keep their columns: ")
    assert reason in message
    assert found == print_module(parse(text))


@pytest.mark.parametrize("target", ["a2a3", "a5"])
@pytest.mark.parametrize("columns", [32, 128, 256])
def test_both_kinds_of_cores(target: str, columns: int) -> None:
    """Entries of the queue become as wide as the panels."""
    case = next(one for one in cases() if one.program == "per_group.pto")
    text = (FOLDER / "int8_dequant_gemm" / case.program).read_text(encoding="utf-8")
    found, said = resized(text, f"resize-panels{{columns={columns}}}")
    times = columns // 64
    assert said == [f"the slots of queue 0 take {times} times as many bytes of %slots"] * (2 * (times > 1))
    assert found.count(f"slot_size = {8192 * columns // 64}") == 2
    assert f"size = {16384 * columns // 64}" in found
    module, engine = parse(found), DiagnosticEngine()
    for call in ("assign-memory", "insert-sync"):
        make_pass(call, target).run(module, engine)
    data = {name: value.copy() for name, value in case.data.items() if isinstance(value, np.ndarray)}
    data["slots"] = np.zeros(case.blocks * 4096 * max(times, 1), np.float32)
    Kernel(module, "per_group", target, RunOptions()).run(list(data.values()), case.blocks)
    weights = (np.repeat(data["scale"], GROUP, 0) * data["w"]).astype(np.float16)
    wanted = data["x"].astype(np.float64) @ weights.astype(np.float64)
    assert np.allclose(data["y"], wanted, rtol=1e-5, atol=1e-4)


def test_queues_that_divide_the_columns() -> None:
    """Each vector core has half of the columns of an entry."""
    text = (FOLDER / "int8_dequant_gemm" / "per_group.pto").read_text(encoding="utf-8")
    found, (message,) = resized(text.replace("split = 1", "split = 2"), "resize-panels{columns=32}")
    assert "entries of the queue are split along the panels" in message
    assert "slot_size = 4096" not in found


@pytest.mark.parametrize(
    ("file", "call", "reason"),
    [
        (
            "int8_dequant_gemm/per_group.pto",
            "resize-panels{columns=16}",
            "16 columns of a tile of the panel are no mult",
        ),
        ("lowering/gemm_tiles.pto", "resize-panels{rows=8}", "blocks of 16, which 8 is no multiple of"),
    ],
)
def test_sizes_that_no_tile_has(file: str, call: str, reason: str) -> None:
    text = (FOLDER / file).read_text(encoding="utf-8")
    found, (message,) = resized(text, call)
    assert reason in message
    assert found == print_module(parse(text))


def test_sorted_rows() -> None:
    """Rows that are sorted one after the other: the loop over them has the rows of the panel."""
    text = (FOLDER / "topk_routing" / "topk_routing.pto").read_text(encoding="utf-8")
    module, engine = parse(text), DiagnosticEngine()
    for call in ("resize-panels{rows=4}", "assign-memory", "insert-sync"):
        make_pass(call, "a2a3").run(module, engine)
    scores = np.random.default_rng(2).permutation(32 * 128).reshape(32, 128).astype(np.float32) / 512
    experts, weights = np.zeros((32, 8), np.int32), np.zeros((32, 8), np.float32)
    Kernel(module, "topk_routing", "a2a3", RunOptions()).run([scores, experts, weights, 32], 2)
    best = np.argsort(-scores, 1)[:, :8]
    powers = np.exp(np.take_along_axis(scores, best, 1) - scores.max(1, keepdims=True))
    assert np.array_equal(experts, best)
    assert np.allclose(weights, powers / powers.sum(1, keepdims=True), rtol=1e-5)
    assert "4x128xf32" in print_module(module)
