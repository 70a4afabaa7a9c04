"""Assembly formats of xDSL's operation classes that are compiled when something parses or prints with them.

xDSL compiles the assembly format of an operation when the class is made, which is most of the time that loading
``arith`` takes. This package parses and prints core operations itself; in ``xdsl-opt`` the formats are compiled on
first use.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from pto_dialect.accel import enabled


class DeferredFormat:
    """Represents a ``FormatProgram`` of xDSL that is not compiled yet."""

    def __init__(self, make: Any, text: str, op_def: Any) -> None:
        self._make = make
        self._parts = (text, op_def)
        self._program: Any = None

    def _ready(self) -> Any:
        if self._program is None:
            self._program = self._make(*self._parts)
        return self._program

    def parse(self, parser: Any, op_type: Any) -> Any:
        """Parses an operation and returns it."""
        return self._ready().parse(parser, op_type)

    def print(self, printer: Any, op: Any) -> None:
        """Prints an operation."""
        self._ready().print(printer, op)


@contextmanager
def deferred_formats() -> Iterator[None]:
    """Operation classes that xDSL makes in this block have deferred formats."""
    if not enabled("formats"):
        yield
        return
    from xdsl.irdl.declarative_assembly_format import FormatProgram  # deferred: start-up

    make = FormatProgram.from_str
    FormatProgram.from_str = staticmethod(lambda text, op_def: DeferredFormat(make, text, op_def))  # pyright: ignore
    try:
        yield
    finally:
        FormatProgram.from_str = staticmethod(make)
