"""``canonicalize`` and ``cse`` in pipelines."""

from __future__ import annotations

import pytest

from pto_dialect import parse
from pto_dialect.api import print_module
from pto_dialect.diagnostics.engine import DiagnosticEngine
from pto_dialect.passes.run import run_passes

HEAD = 'module attributes {pto.target_arch = "a5"} {\n  func.func @f(%n: i64, %in: !pto.partition_tensor_view<1x8xf32>)'


def after(passes: list[str], *lines: str, result: str = "") -> list[str]:
    text = "\n".join([f"{HEAD}{result} {{", *lines, "}", "}"])
    module = parse(text)
    assert run_passes(module, passes, DiagnosticEngine(), None)
    printed = print_module(module)
    assert print_module(parse(printed)) == printed
    return [line.strip() for line in printed.splitlines()[2:-2]]


def test_equal_sums_are_computed_once() -> None:
    body = ("%0 = arith.addi %n, %n : i64", "%1 = arith.addi %n, %n : i64", "%2 = arith.muli %0, %1 : i64")
    assert after(["cse"], *body, "return %2 : i64", result=" -> i64") == [
        "%0 = arith.addi %n, %n : i64",
        "%1 = arith.muli %0, %0 : i64",
        "return %1 : i64",
    ]


def test_constants_are_folded() -> None:
    body = ("%a = arith.constant 3 : i64", "%b = arith.constant 4 : i64", "%c = arith.addi %a, %b : i64")
    *_, constant, end = after(["canonicalize"], *body, "return %c : i64", result=" -> i64")
    assert constant.endswith("arith.constant 7 : i64") and end.startswith("return")


@pytest.mark.parametrize("passes", [["canonicalize"], ["cse"], ["canonicalize", "cse", "canonicalize"]])
def test_what_writes_and_orders_stays(passes: list[str]) -> None:
    body = (
        "%t = pto.alloc_tile : !pto.tile_buf<vec, 1x8xf32>",
        "pto.tload ins(%in : !pto.partition_tensor_view<1x8xf32>) outs(%t : !pto.tile_buf<vec, 1x8xf32>)",
        "pto.barrier <PIPE_ALL>",
        "pto.barrier <PIPE_ALL>",
        "return",
    )
    assert after(passes, *body) == list(body)


STREAMS = {
    "pto.init_align": (
        "%s{0} = pto.init_align : !pto.align",
        "%e{0} = pto.vstus %s{0}, %k, %v, %p : !pto.align, i32, !pto.vreg<64xf32>, {1} -> !pto.align",
        "pto.vstas %e{0}, %p, %k : !pto.align, {1}, i32",
    ),
    "pto.vldas": (
        "%s{0} = pto.vldas %p : {1} -> !pto.align",
        "%w{0}, %e{0} = pto.vldus %p, %s{0} : {1}, !pto.align -> !pto.vreg<64xf32>, !pto.align",
    ),
}


@pytest.mark.parametrize("name", STREAMS)
def test_equal_streams_stay_apart(name: str) -> None:
    """Each state continues one stream once."""
    pointer = "!pto.ptr<f32, ub>"
    head = (
        "%z = arith.constant 0 : i64",
        f"%p = pto.castptr %z : i64 -> {pointer}",
        "%k = arith.constant 8 : i32",
        "%i = arith.constant 0 : index",
        f"%v = pto.vlds %p[%i] : {pointer} -> !pto.vreg<64xf32>",
    )
    body = [line.format(number, pointer) for number in (0, 1) for line in STREAMS[name]]
    lines = after(["cse", "verify-structure"], "pto.vecscope {", *head, *body, "}", "return")
    assert sum(name in line for line in lines) == 2


def test_loop_that_reads_a_negative_bound_as_unsigned_stays() -> None:
    head = ("%low = arith.constant 3 : i64", "%high = arith.constant -1 : i64", "%z = arith.constant 0 : i64")
    body = ("%t = pto.castptr %z : i64 -> !pto.ptr<i32, ub>", "pto.barrier <PIPE_ALL>", "}", "return")
    for word, loops in (("unsigned ", 1), ("", 0)):
        lines = after(["canonicalize"], *head, f"scf.for {word}%i = %low to %high step %low : i64 {{", *body)
        assert sum("scf.for" in line for line in lines) == loops
