"""Verification of operations that a Python program has made."""

from __future__ import annotations

from collections.abc import Iterator

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation, Region

from pto_dialect.diagnostics.diagnostic import Diagnostic, Severity
from pto_dialect.diagnostics.engine import DiagnosticEngine, DiagnosticOptions
from pto_dialect.ir.core.location import SourceLoc, share_location, span_of
from pto_dialect.nesting import LIMIT, RULE
from pto_dialect.syntax.print.locations import printed_locations
from pto_dialect.verify.verifier import verify_module

from .errors import refused


def verify(op: Operation) -> bool:
    """Checks an operation and all inside. Raises ``MLIRError`` for errors."""
    module = op if isinstance(op, ModuleOp) else _module_with(op)
    errors = [one for one in diagnose(module) if one.severity is Severity.ERROR]
    if errors:
        raise refused(errors)
    return True


def diagnose(module: ModuleOp) -> tuple[Diagnostic, ...]:
    """Returns what is wrong in a module; what has no Python line is at its line in the printed text."""
    too_deep = _first_nested_deeper(module, LIMIT)
    if too_deep is not None:
        # Rules follow the nesting, and no text of such a program is read.
        message = f"regions nest at most {LIMIT:,} deep"
        return (Diagnostic(RULE, Severity.ERROR, message, span_of(too_deep)),)
    engine = DiagnosticEngine(DiagnosticOptions(max_errors=0))
    verify_module(module, engine)
    if any(one.span is None for one in engine.diagnostics):
        with printed_locations(module):
            engine = DiagnosticEngine(DiagnosticOptions(max_errors=0))
            verify_module(module, engine)
    return engine.diagnostics


def _first_nested_deeper(op: Operation, limit: int) -> Operation | None:
    """Returns the first operation with a region inside more than ``limit`` others."""
    level = [op]
    for _ in range(limit):
        if not level:
            return None
        level = [inner for one in level for region in one.regions for inner in _operations(region) if inner.regions]
    return level[0] if level else None


def _operations(region: Region) -> Iterator[Operation]:
    return (op for block in region.blocks for op in block.ops)


def _module_with(op: Operation) -> ModuleOp:
    """Returns the module around an operation; a new one with a copy where there is none."""
    parent = op.parent_op()
    while parent is not None:
        if isinstance(parent, ModuleOp):
            return parent
        parent = parent.parent_op()
    copy = op.clone()
    for one, other in zip(op.walk(), copy.walk(), strict=True):
        if isinstance(getattr(one, "location", None), SourceLoc):
            share_location(other, one)
    return ModuleOp([copy])
