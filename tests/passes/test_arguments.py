"""Arguments as different memory: where a pass relies on it, and says so. Source: docs/reference/execution.md,
"Launches".
"""

from __future__ import annotations

import re

import numpy as np
import pytest

from pto_dialect import parse
from pto_dialect.diagnostics.engine import DiagnosticEngine, DiagnosticOptions
from pto_dialect.passes.registry import make_pass
from pto_dialect.runtime.run.launch import Kernel
from pto_dialect.runtime.run.machine import RunOptions

VIEW = "!pto.tensor_view<?x?xf32>"


def program(body: str, rows: int) -> str:
    """A function with three arrays of 64 x 16 elements; ``PART name array row`` is a part of ``rows`` rows, ``LOAD part
    tile``, ``STORE tile part`` and ``DOUBLE tile`` are operations on its elements."""
    part, tile = f"!pto.partition_tensor_view<{rows}x16xf32>", f"!pto.tile_buf<vec, {rows}x16xf32>"
    body = re.sub(
        r"PART (\w+) (\w) (%\w+)",
        rf"%\1 = pto.partition_view %v\2, offsets = [\3, %c0], sizes = [%c{rows}, %c16] : {VIEW} -> {part}",
        body,
    )
    body = re.sub(r"LOAD (\w+) (\w+)", rf"pto.tload ins(%\1 : {part}) outs(%\2 : {tile})", body)
    body = re.sub(r"STORE (\w+) (\w+)", rf"pto.tstore ins(%\1 : {tile}) outs(%\2 : {part})", body)
    body = re.sub(r"DOUBLE (\w+)", rf"pto.tadd ins(%\1, %\1 : {tile}, {tile}) outs(%\1 : {tile})", body)
    numbers = "".join(f"  %c{n} = arith.constant {n} : index\n" for n in (0, 1, 8, 16, 32, 64))
    views = "".join(
        f"  %v{name} = pto.make_tensor_view %{name}, shape = [%c64, %c16], strides = [%c16, %c1] : {VIEW}\n"
        for name in "abc"
    )
    tiles = "".join(f"  %{name} = pto.alloc_tile : {tile}\n" for name in "xy")
    head = ", ".join(f"%{name}: !pto.ptr<f32>" for name in "abc")
    return (
        'module attributes {pto.target_arch = "a5"} {\n'
        f"func.func @f({head}) attributes {{pto.entry}} {{\n{numbers}{views}{tiles}{body}\n  return\n}}\n}}\n"
    )


def two_loops(read: str, between: str = "") -> str:
    """b = 2 a, then c = 2 b, in two loops over rows; the first one reads a from row ``read`` on."""
    return program(
        f"""
        scf.for %i = %c0 to %c64 step %c16 {{
          PART p a {read}
          PART q b %i
          PART r c %i
          LOAD p x
          DOUBLE x
          STORE x q
          {between}
        }}
        scf.for %i = %c0 to %c64 step %c16 {{
          PART q b %i
          PART r c %i
          LOAD q y
          DOUBLE y
          STORE y r
        }}""",
        16,
    )


def tall(row: str) -> str:
    """Rows of b from ``row`` on are twice those of a."""
    return program(f"  PART p a %c0\n  PART q b {row}\n  LOAD p x\n  DOUBLE x\n  STORE x q", 32)


def results(text: str, name: str, shared: str) -> tuple[list[bytes], set[frozenset[str]]]:
    """What remains in the arrays after ``name``, where two of them are one; which ones the remarks name."""
    module = parse(text, "program.pto")
    engine = DiagnosticEngine(DiagnosticOptions(pedantic=True))
    if name:
        make_pass(name, None).run(module, engine)
    found = {frozenset(re.findall(r"%(\w)", one.message)) for one in engine.diagnostics if "arguments" in one.rule}
    rng = np.random.default_rng(7)
    arrays = {name: rng.integers(-9, 9, (64, 16)).astype(np.float32) for name in "abc"}
    if shared:
        arrays[shared[1]] = arrays[shared[0]]
    Kernel(module, None, None, RunOptions()).run(list(arrays.values()), 1)
    return [array.tobytes() for array in arrays.values()], found


FUSED = "fuse-loops"
SPLIT = "tile-loops{rows=8}"


@pytest.mark.parametrize(
    ("text", "name", "named"),
    [
        (two_loops("%i"), FUSED, set()),
        (two_loops("%c0"), FUSED, {"ac"}),
        (two_loops("%i", "DOUBLE x\n          STORE x r"), FUSED, {"bc"}),
        (tall("%c0"), SPLIT, set()),
        (tall("%c16"), SPLIT, {"ab"}),
    ],
    ids=["rows", "first rows", "a store between", "in place", "other rows"],
)
def test_a_remark_names_what_has_to_be_different_memory(text: str, name: str, named: set[str]) -> None:
    assert results(text, name, "")[0] == results(text, "", "")[0]
    assert results(text, name, "")[1] == {frozenset(pair) for pair in named}
    for shared in ("ab", "ac", "bc"):
        if frozenset(shared) not in {frozenset(pair) for pair in named}:
            assert results(text, name, shared)[0] == results(text, "", shared)[0], shared
    for pair in named:
        assert results(text, name, pair)[0] != results(text, "", pair)[0]
