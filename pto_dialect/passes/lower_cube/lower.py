"""``lower-cube``: tile operations of the cube core become the instructions that carry them out.

Source: docs/reference/layouts.md, "Moves between tiles".
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation

from pto_dialect.analysis.target import profile_of
from pto_dialect.diagnostics.diagnostic import Diagnostic
from pto_dialect.diagnostics.engine import DiagnosticEngine
from pto_dialect.ir.core.base import Effect, PtoOp, op_spec
from pto_dialect.ir.core.location import span_of
from pto_dialect.ir.core.roles import Role, has_role
from pto_dialect.ir.core.walk import walk
from pto_dialect.passes.base import PtoPass
from pto_dialect.verify.engine.rule import ERROR, LOWER_CUBE, rule

from .geometry import NotLoweredError
from .table import is_cube, places, row_of
from .writer import Function, Writer

_GOOD = """module attributes {pto.target_arch = "a5"} {
  func.func @f() {
    %c0 = arith.constant 0 : i64
    %a = pto.alloc_tile addr = %c0 : !pto.tile_buf<mat, 16x16xf16, blayout=col_major, slayout=row_major>
    %l = pto.alloc_tile addr = %c0 : !pto.tile_buf<left, 16x16xf16, slayout=row_major>
    pto.tmov ins(%a : !pto.tile_buf<mat, 16x16xf16, blayout=col_major, slayout=row_major>)
      outs(%l : !pto.tile_buf<left, 16x16xf16, slayout=row_major>)
    return
  }
}
"""

NOT_LOWERED = rule(
    "lower-cube-unsupported",
    ERROR,
    LOWER_CUBE,
    "tile operations of the cube core have addresses, and instructions that do the same",
    source='docs/reference/layouts.md, "Moves between tiles"',
    bad=_GOOD.replace(" addr = %c0", ""),
    good=_GOOD,
)


@dataclass(frozen=True)
class LowerCubePass(PtoPass):
    """Puts instructions in the place of all tile operations of the cube core."""

    name: ClassVar[str] = "lower-cube"

    def run(self, module: ModuleOp, engine: DiagnosticEngine) -> None:
        """Changes ``module``; each operation that is not lowered is an error, and nothing changes then."""
        lowered: list[Operation] = []
        functions: list[Function] = []
        failed = False
        for op in walk(module):
            if not has_role(op, Role.FUNCTION) or not op.regions[0].blocks:
                continue
            found = [inner for inner in walk(op) if is_cube(inner)]
            if not found:
                continue
            function = Function(op)
            functions.append(function)
            for inner in found:
                error = lower(inner, function, self.target)
                if error is not None:
                    failed = True
                    engine.report(_told(error))
            lowered += found
        if failed:
            for function in functions:
                function.take_back()
            return
        _remove(lowered)


def lower(op: Operation, function: Function, target: str | None) -> NotLoweredError | None:
    """Writes the instructions of ``op`` in front of it; returns what stands in the way."""
    profile = profile_of(op, target)
    if profile.arch != "a5":
        return NotLoweredError(op, f"{profile.arch} has no instructions with sizes as operands", "a5 has")
    row = row_of(op)
    if row is None:
        source, dst = places(op)
        way = f" from {source} to {dst}" if source and dst else f" to {dst}" if dst else ""
        return NotLoweredError(op, f"no instruction does {op.name}{way}")
    try:
        row.lower(Writer(function, op), profile)
    except NotLoweredError as error:
        return error
    return None


def _told(error: NotLoweredError) -> Diagnostic:
    message = f"lower-cube cannot lower {error.op.name}: {error.reason}"
    return Diagnostic(NOT_LOWERED.id, NOT_LOWERED.severity, message, span_of(error.op), (), error.help)


def _remove(lowered: list[Operation]) -> None:
    """Removes operations and the handles that nobody uses any more."""
    for op in lowered:
        handles = [value.owner for value in op.operands if isinstance(value.owner, Operation)]
        op.detach()
        op.erase()
        for handle in handles:
            _remove_unused(handle)


def _remove_unused(op: Operation) -> None:
    waiting = [op]
    while waiting:
        handle = waiting.pop()
        if handle.parent is None or any(result.uses for result in handle.results) or not _is_handle(handle):
            continue
        waiting += [value.owner for value in handle.operands if isinstance(value.owner, Operation)]
        handle.detach()
        handle.erase()


def _is_handle(op: Operation) -> bool:
    if isinstance(op, PtoOp):
        return op_spec(type(op)).effect is Effect.HANDLE
    return has_role(op, Role.CONSTANT) or (has_role(op, Role.SCALAR) and not op.regions)


def cube_operations(module: Operation) -> Iterator[Operation]:
    """The tile operations of the cube core in ``module``."""
    return (op for op in walk(module) if is_cube(op))
