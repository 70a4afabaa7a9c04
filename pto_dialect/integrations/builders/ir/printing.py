"""Texts of operations."""

from __future__ import annotations

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation

from . import conventions
from .errors import MLIRError


def text_of(op: Operation, debug: bool = False, generic: bool = False) -> str:
    """Returns the text of an operation, with its locations or in generic form."""
    from pto_dialect.syntax.print.mlir_names import MlirNames  # deferred: start-up
    from pto_dialect.syntax.print.printer import print_module  # deferred: start-up

    names = MlirNames() if conventions.mlir_names and not generic else None
    try:
        text = print_module(op, generic=generic, debuginfo=debug, names=names)
    except RecursionError:
        raise MLIRError(f"{op.name} has an attribute or a type that is nested too deeply to be printed") from None
    return text if isinstance(op, ModuleOp) else text.rstrip("\n")
