"""Small functions of generated code and its parts: names, shifts that are bounded, bytes of memrefs, signals between
blocks, and values of work-items that are put together. Source: docs/reference/execution.md, "Launches".
"""

from __future__ import annotations

import ast
from typing import Any

import numpy as np
import pytest
from parse_helpers import parsed
from run_time_tiles import refused
from xdsl.dialects.builtin import AffineMapAttr, MemRefType, ModuleOp, StridedLayoutAttr, f16, f32
from xdsl.ir.affine import AffineMap

from pto_dialect.runtime.compile.names import LONGEST, readable
from pto_dialect.runtime.compile.placement import memref_bytes
from pto_dialect.runtime.compile.source_check import _bounded
from pto_dialect.runtime.errors import ProgramError
from pto_dialect.runtime.faults import Fault
from pto_dialect.runtime.run.kernel import orders_blocks
from pto_dialect.runtime.run.windows import Bounded, Layout
from pto_dialect.runtime.simt.selection import choose, merge


@pytest.mark.parametrize(("name", "wanted"), [
    ("abc", "abc"), ("a" * LONGEST, "a" * LONGEST), ("a" * (LONGEST + 1), "a" * LONGEST), ("a.b", "a_b"), ("é", ""),
    ("xé", "x"), ("éa", "a"), ("ｋ", ""), ("1a", "1a"), ("", ""),
    ("a" * (LONGEST - 1) + "é" + "b", "a" * (LONGEST - 1)),
])  # fmt: skip
def test_readable_parts_of_names(name: str, wanted: str) -> None:
    """ASCII letters and digits, as many as fit."""
    assert readable(name) == wanted


@pytest.mark.parametrize(("text", "bounded"), [
    ("min(a, 64)", True), ("max(a, 64)", False), ("a.min(64)", False), ("min", False), ("a", False), ("f(a)(3)", False),
])  # fmt: skip
def test_shifts_by_the_smaller_of_two_numbers(text: str, bounded: bool) -> None:
    assert _bounded(ast.parse(text, mode="eval").body) == bounded


@pytest.mark.parametrize(("layout", "wanted"), [
    (StridedLayoutAttr((8, 1)), 4 * (3 * 8 + 8)), (StridedLayoutAttr((8, None)), None),
    (StridedLayoutAttr((None, 1)), None), (AffineMapAttr(AffineMap.from_callable(lambda i, j: (j, i))), None),
])  # fmt: skip
def test_bytes_of_memrefs_with_a_layout(layout: Any, wanted: int | None) -> None:
    """Only strides that the type states say how far it reaches."""
    type_: Any = MemRefType(f32, (4, 8), layout)
    if wanted is None:
        with pytest.raises(ProgramError, match="known at run time only"):
            memref_bytes(type_, ModuleOp([]))
    else:
        assert memref_bytes(type_, ModuleOp([])) == wanted
        assert memref_bytes(MemRefType(f16, (4, 8), layout), ModuleOp([])) == wanted // 2


@pytest.mark.parametrize(("statement", "orders"), [
    ("pto.sync.set <PIPE_MTE3>, 3", False), ("pto.sync.set <PIPE_MTE3>, 3 {ffts_mode = 0 : i32}", True),
    ("pto.sync.set <PIPE_MTE3>, 3 {ffts_mode = 1 : i32}", False),
    ("pto.sync.set <PIPE_MTE3>, 3 {ffts_mode = 2 : i32}", False), ("pto.set_cross_block <PIPE_MTE3>, 3", True),
    ("pto.wait_cross_block <PIPE_MTE3>, 3", True), ("pto.barrier #pto.pipe<PIPE_ALL>", False),
])  # fmt: skip
def test_signals_between_blocks(statement: str, orders: bool) -> None:
    module, _ = parsed(
        f'module attributes {{pto.target_arch = "a5"}} {{\nfunc.func @k() {{\n{statement}\nreturn\n}}\n}}'
    )
    assert module is not None
    name = statement.split()[0]
    (op,) = (op for op in module.walk() if op.name == name)
    assert orders_blocks(op) == orders


def test_values_that_differ_are_numbers() -> None:
    condition = np.array([True, False, True])
    a, b, other = np.array([1, 2, 3]), np.array([4, 5, 6]), object()
    assert choose(condition, a, b).tolist() == [1, 5, 3]
    assert choose(condition, np.ones((3, 2)), np.zeros((3, 2))).tolist() == [[1, 1], [0, 0], [1, 1]]
    assert choose(condition, other, other) is other
    for first, second in ((a, other), (other, a), (other, object())):
        name = type(first).__name__
        refused("unmodelled", f"values of kind {name} that differ between work-items",
                lambda x=first, y=second: choose(condition, x, y))  # fmt: skip
    assert merge(condition, a, None) is a and merge(condition, None, b) is b
    assert merge(condition, a, b).tolist() == [1, 5, 3]


class One(Bounded):
    """The windows of one launch."""

    __slots__ = ("layout",)


@pytest.mark.parametrize(("shape", "strides", "offset", "inside"), [
    ((), (), 0, True), ((), (), 60, True), ((), (), 64, False), ((2, 4), (16, 4), 32, True),
    ((2, 4), (16, 4), 36, False),
    ((2, 4), (-16, 4), 16, True), ((2, 4), (-16, 4), 12, False),
])  # fmt: skip
def test_accesses_to_windows(shape: tuple[int, ...], strides: tuple[int, ...], offset: int, inside: bool) -> None:
    """All of an access lies in one buffer, here one of 64 bytes."""
    arena = One("gm", 4096)
    arena.layout = Layout({"a": 64}, 1)
    if inside:
        assert arena.array(shape, np.dtype(np.float32), offset, strides).shape == shape
        return
    low = offset + sum(min((n - 1) * s, 0) for n, s in zip(shape, strides, strict=True))
    high = offset + 4 + sum(max((n - 1) * s, 0) for n, s in zip(shape, strides, strict=True))
    text = "x".join(map(str, shape)) or "1"
    where = "are outside" if low >= 0 else "are in the window of no rank"
    with pytest.raises(Fault) as caught:
        arena.array(shape, np.dtype(np.float32), offset, strides)
    assert caught.value.rule == "mem-oob"
    assert caught.value.message.startswith(f"access to {text} elements of float32: bytes [{low}, {high}) {where}")
