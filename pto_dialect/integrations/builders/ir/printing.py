"""Texts of operations."""

from __future__ import annotations

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation

from . import conventions


def text_of(op: Operation, debug: bool = False, generic: bool = False) -> str:
    """Returns the text of an operation, with its locations or in generic form."""
    from pto_dialect.syntax.print.mlir_names import MlirNames  # deferred: start-up
    from pto_dialect.syntax.print.printer import print_module  # deferred: start-up

    names = MlirNames() if conventions.mlir_names and not generic else None
    text = print_module(op, generic=generic, debuginfo=debug, names=names)
    return text if isinstance(op, ModuleOp) else text.rstrip("\n")
