"""Source locations of operations without a source text: those in the text that the printer makes of them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from itertools import accumulate

from xdsl.ir import Operation

from pto_dialect.accel.collector import paused
from pto_dialect.diagnostics.source import SourceFile
from pto_dialect.ir.core.location import locate, span_of

from .printer import ModulePrinter

NAME = "<module>"
"""The file in diagnostics about such operations."""


class _PlacingPrinter(ModulePrinter):
    """Records the output pieces of each statement."""

    def __init__(self, generic: bool) -> None:
        super().__init__(generic, debuginfo=False, portable=False)
        self.pieces: dict[Operation, tuple[int, int]] = {}
        self.begun: dict[Operation, int] = {}

    def _leaf(self, op: Operation) -> str:
        self.pieces[op] = (len(self.out), len(self.out) + 1)
        return super()._leaf(op)

    def _composite(self, op: Operation) -> None:
        self.begun[op] = len(self.out)
        super()._composite(op)

    def _location(self, op: Operation) -> str:
        self.pieces[op] = (self.begun[op], len(self.out))
        return super()._location(op)


@contextmanager
def printed_locations(module: Operation) -> Iterator[None]:
    """Context in which the operations of ``module`` are located in its printed text, except those with a location in
    another text."""
    before = {op: op.location for op in module.walk() if span_of(op) is None}
    try:
        with paused():
            _place(module, before)
        yield
    finally:
        for op, location in before.items():
            op.location = location


def _place(module: Operation, operations: Iterable[Operation]) -> None:
    for generic in (False, True):
        printer = _PlacingPrinter(generic)
        try:
            source = SourceFile(NAME, printer.run(module))
        except Exception:
            # Operations that break the rules of their form may have no custom form, nor even a generic one.
            continue
        starts = list(accumulate(map(len, printer.out), initial=0))
        for op, (first, last) in printer.pieces.items():
            if op in operations:
                text = source.text[starts[first] : starts[last]]
                start = starts[first] + len(text) - len(text.lstrip())
                locate(op, source, start, starts[first] + len(text.rstrip()))
        return
