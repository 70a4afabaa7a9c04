"""Each finding knows the event that showed it first, which is one of its operation; operations know their loops."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from sanitize_programs import copy, instrumented, load, program, store, ub

X, Y = ub("x", 0), ub("y", 64)
TWO = "%c2 = arith.constant 2 : i64"
T, I = "!pto.tile_buf<vec, 16x16xf32>", "!pto.tile_buf<vec, 16x16xi32>"  # noqa: E741


def tiles(*lines: str) -> str:
    """Tiles %a and %b that share their first byte, %d elsewhere, and indices %i beyond the tiles."""
    return "\n".join(
        (
            "func.func @k(%out: !pto.ptr<f32, gm>) attributes {pto.kernel} {",
            *(f"  %at{n} = arith.constant {n} : i64" for n in (0, 8192, 16384, 32768)),
            "  %one = arith.constant 1.0 : f32",
            "  %zero = arith.constant 0.0 : f32",
            "  %n = arith.constant 900 : i32",
            *(f"  %{name} = pto.alloc_tile addr = %at{at} : {T}" for name, at in (("a", 0), ("b", 0), ("d", 8192))),
            f"  %i = pto.alloc_tile addr = %at16384 : {I}",
            f"  %t = pto.alloc_tile addr = %at32768 : {I}",
            f"  pto.texpands ins(%one : f32) outs(%a : {T})",
            *(f"  {line}" for line in lines),
            "  return\n}\n",
        )
    )


CASES: dict[str, tuple[str, dict[str, Any]]] = {
    "mem-oob-tile": (
        tiles(
            f"pto.texpands ins(%n : i32) outs(%i : {I})",
            f"pto.tgather ins(%a, %i, %t : {T}, {I}, {I}) outs(%d : {T})",
        ),
        {},
    ),
    "mem-overlap": (
        tiles(f"pto.texpands ins(%zero : f32) outs(%b : {T})", f"pto.tabs ins(%a : {T}) outs(%d : {T})"),
        {},
    ),
    "numeric-nan-inf": (tiles(f"pto.tdivs ins(%a, %zero : {T}, f32) outs(%d : {T})"), {"checks": {"numeric"}}),
    "mem-uninit": (program(X, store("%x")), {}),
    "race-raw": (program(X, load("%x"), store("%x")), {"sync": "strict", "checks": {"race"}}),
    "race-waw": (program(X, Y, TWO, load("%x"), copy("%y", "%x")), {"sync": "strict", "checks": {"race"}}),
}


@pytest.mark.parametrize("rule", CASES)
def test_event_of_a_finding(rule: str) -> None:
    text, options = CASES[rule]
    kernel = instrumented(text, verify=False, **options)
    buffers = [np.arange(64, dtype=np.float32), np.zeros(64, np.float32)]
    kernel.run(buffers[: 1 if "%out" in text else 2], 1)
    found = [one for one in kernel.observer.findings.all if one.rule == rule]
    assert found
    log = kernel.observer.log
    for one in found:
        assert one.event > 0
        site = kernel.observer.sites[log.site[one.event]]
        assert site.span is not None and one.span is not None and site.span.line == one.span.line


def test_loops_of_an_operation() -> None:
    """By the names of their counters, those without a name by their depth."""
    lines = ["scf.for %i = %i0 to %i1 step %i1 {", "scf.for %0 = %i0 to %i1 step %i1 {", load("%x"), "}",
             store("%x"), "}", "pto.barrier #pto.pipe<PIPE_ALL>"]  # fmt: skip
    kernel = instrumented(program(X, *lines))
    loops = {site.name: site.loops for site in kernel.observer.sites}
    assert (loops["pto.mte_gm_ub"], loops["pto.mte_ub_gm"], loops["pto.barrier"]) == (("i", "1"), ("i",), ())
