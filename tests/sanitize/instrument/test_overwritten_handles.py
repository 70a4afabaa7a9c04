"""Bytes whose content is still read through another handle. Source: docs/reference/instrumentation.md, "Findings"."""

from __future__ import annotations

import numpy as np
import pytest
from lowering_programs import TILE, add, kernel, load, part, store

from pto_dialect import parse
from pto_dialect.diagnostics.engine import DiagnosticEngine
from pto_dialect.passes.run import run_passes
from pto_dialect.runtime.run.machine import RunOptions
from pto_dialect.sanitize.launch import InstrumentedKernel
from pto_dialect.sanitize.options import SanitizeOptions

_PAIR = f"{TILE}, {TILE}"
SWAP = (
    *(part("p", "a", "c0"), load("p", "x")),
    f"%r, %s = scf.for %i = %c0 to %c4 step %c1 iter_args(%now = %x, %next = %y) -> ({_PAIR}) {{",
    *("%row = arith.muli %i, %c16 : index", part("q", "a", "row"), part("o", "b", "row")),
    *(load("q", "next"), add("now", "now", "z"), store("z", "o")),
    f"scf.yield %next, %now : {_PAIR}",
    "}",
)
"""%z is twice the tile of the iteration; %x and %y change places."""


def findings(text: str) -> list[str]:
    instrumented = InstrumentedKernel(parse(text), None, None, RunOptions(), SanitizeOptions())
    instrumented.run([np.ones(4096, np.float32), np.zeros(4096, np.float32), 4], 1)
    return [one.rule for one in instrumented.observer.findings.all]


def said(text: str) -> list[str]:
    engine = DiagnosticEngine()
    run_passes(parse(text), ["check-memory"], engine, None)
    return [one.rule for one in engine.diagnostics]


@pytest.mark.parametrize("target", ["a2a3", "a5"])
def test_a_result_at_the_address_of_a_carried_tile(target: str) -> None:
    apart = kernel(*SWAP, target=target)
    assert findings(apart) == said(apart) == []
    shared = apart.replace("%z = pto.alloc_tile addr = %at2", "%z = pto.alloc_tile addr = %at0")
    assert findings(shared) == ["mem-overlap"]
    assert said(shared) == ["overlap-tiles"]


def test_a_result_that_is_made_of_the_carried_tile_may_lie_there() -> None:
    """The loop carries the sum: it lies where the tile lay that it was made of."""
    lines = (
        *(part("p", "a", "c0"), load("p", "x"), load("p", "y")),
        f"%r = scf.for %i = %c0 to %c4 step %c1 iter_args(%now = %x) -> ({TILE}) {{",
        *(add("now", "y", "z"), f"scf.yield %z : {TILE}", "}"),
        *(part("o", "b", "c0"), store("r", "o")),
    )
    text = kernel(*lines).replace("%z = pto.alloc_tile addr = %at2", "%z = pto.alloc_tile addr = %at0")
    assert findings(text) == said(text) == []


def test_two_names_for_the_same_bytes() -> None:
    """%z shows what was written through %x, and is changed: %x shows that."""
    lines = (
        *(part("p", "a", "c0"), part("o", "b", "c0"), load("p", "x")),
        *(add("z", "z", "z"), add("x", "x", "x"), store("x", "o")),
    )
    text = kernel(*lines).replace("%z = pto.alloc_tile addr = %at2", "%z = pto.alloc_tile addr = %at0")
    assert findings(text) == said(text) == []
