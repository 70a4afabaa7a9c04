"""Widths of element types."""

from __future__ import annotations

import pytest
from xdsl.dialects import builtin

from pto_dialect.ir.core import types as t
from pto_dialect.ir.core.attributes import EnumAttr
from pto_dialect.ir.core.kinds import PTR_OR_MEMREF
from pto_dialect.syntax.types.parser import parse_type

FLOATS = tuple(
    getattr(builtin, f"{name}Type")()
    for name in ("Float16", "BFloat16", "Float32", "Float64", "Float80", "Float128", "Float8E4M3FN", "Float8E5M2")
    if hasattr(builtin, f"{name}Type")
)


@pytest.mark.parametrize("kind", FLOATS, ids=str)
def test_floats_are_as_wide_as_their_class_says(kind: builtin.AnyFloat) -> None:
    assert t.bit_width(kind) == kind.bitwidth


def test_elements_have_documented_widths() -> None:
    wide = {"hif8": 8, "f8E8M0": 8, "f4E1M2x2": 8, "hif8x2": 16, "bf16x2": 32}
    assert {name: t.bit_width(parse_type(f"!pto.{name}")) for name in wide} == wide
    assert [t.bit_width(builtin.IntegerType(bits)) for bits in (1, 8, 64)] == [1, 8, 64]
    assert t.bit_width(builtin.VectorType(builtin.f32, [4, 2])) == 256
    assert t.bit_width(builtin.FunctionType.from_lists([], [])) is None


def test_kinds_of_classes_accept_what_is_of_these_classes() -> None:
    pointer = parse_type("!pto.ptr<f32>")
    # Computed twice: the second answer is a remembered one.
    for _ in range(2):
        assert PTR_OR_MEMREF.accepts(pointer) and PTR_OR_MEMREF.accepts(t.OpaqueType("!other.kind"))
        assert not PTR_OR_MEMREF.accepts(builtin.i32) and not PTR_OR_MEMREF.accepts(EnumAttr(("Pipe", "PIPE_V")))
