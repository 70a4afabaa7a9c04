"""Shared parts of the code generators of vector operations: element types, masks, attributes, results."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from xdsl.ir import SSAValue

from pto_dialect.analysis.type_facts import enumerator
from pto_dialect.ir.core import types as t
from pto_dialect.ir.core.base import PtoOp
from pto_dialect.runtime.compile.generator import Expr, Generator
from pto_dialect.runtime.numerics.formats import Format
from pto_dialect.runtime.vector.register import FINEST

from ..registry import kernel


def register_format(value: SSAValue, g: Generator) -> Format:
    """Returns the format of the lanes of a register."""
    assert isinstance(value.type, t.VRegType)
    return g.format(value.type.element)


def mask_step(value: SSAValue) -> int:
    """Returns the distance of the bits of two lanes of a predicate."""
    assert isinstance(value.type, t.MaskType)
    return FINEST[value.type.granularity]


def required_enumerator(op: PtoOp, g: Generator, name: str) -> str:
    """Returns the enumerator of a required attribute; raises an error of an unverified operation where it is absent or
    not an enumerator."""
    value = enumerator(op, name)
    if not value:
        raise g.error("unmodelled", f"{op.name} without {name} cannot be executed", op)
    return value


def define_result(op: PtoOp, g: Generator, function: Any, *arguments: Any) -> None:
    """Defines the results of ``op``, in order, as what ``function`` returns."""
    text = f"{g.argument(function)}({', '.join(g.argument(a) for a in arguments)})"
    if len(op.results) == 1:
        g.define(op.results[0], text)
        return
    names = [g.bind(result) for result in op.results]
    g.emitter.line(f"{', '.join(names)} = {text}")


def direct(table: Mapping[str, tuple[Any, ...]]) -> None:
    """Registers operations, by name, whose results are a function of all operands; the rest of a row are further
    arguments."""

    @kernel(*table)
    def applied(op: PtoOp, g: Generator) -> None:
        function, *more = table[op.name]
        define_result(op, g, function, *op.operands, *more)


def pointer(value: SSAValue, g: Generator) -> Expr:
    """Returns the pointer of a pointer or memref operand."""
    return g.name(value) if isinstance(value.type, t.PtrType) else Expr(f"core.pointer_of({g.name(value)})")


def access(op: PtoOp, g: Generator, name: str, step: str, updated: SSAValue | None) -> tuple[Expr, Expr]:
    """Returns pointer and first byte of an access at operand ``name`` plus ``step`` bytes.

    With a result for the updated base the access is at the base itself (docs/reference/vectors.md, "Loads and stores");
    see ``update``.
    """
    base = g.operand(op, name)
    assert base is not None
    return pointer(base, g), Expr("0" if updated is not None else step)


def update(base: Expr, step: str, updated: SSAValue | None, g: Generator) -> None:
    """Defines the result for the updated base, where there is one."""
    if updated is not None:
        g.define(updated, f"{base}.shifted({step})")


def optional_result(op: PtoOp, count: int) -> SSAValue | None:
    """Returns the result after the first ``count`` ones, if there is one."""
    return op.results[count] if len(op.results) > count else None
