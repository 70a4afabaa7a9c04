"""Classes of xDSL whose assembly formats are read when somebody wants to read or print with them.

xDSL turns the format of an operation into a program as soon as the class is made, which is most of the time that
``arith`` takes to load. This package reads and prints core operations itself; in ``xdsl-opt`` the programs are made on
their first use.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from pto_dialect.accel import enabled


class DeferredFormat:
    """Stands for a ``FormatProgram`` of xDSL."""

    def __init__(self, make: Any, text: str, op_def: Any) -> None:
        self._make = make
        self._parts = (text, op_def)
        self._program: Any = None

    def _ready(self) -> Any:
        if self._program is None:
            self._program = self._make(*self._parts)
        return self._program

    def parse(self, parser: Any, op_type: Any) -> Any:
        """The operation that stands in the text."""
        return self._ready().parse(parser, op_type)

    def print(self, printer: Any, op: Any) -> None:
        """Writes an operation."""
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
