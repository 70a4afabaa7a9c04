"""Errors of a running program, before they have a source location."""

from __future__ import annotations

import math

import numpy as np

from pto_dialect.diagnostics.wording import count

OUT_OF_MEMORY = "run-memory"
"""Rule of runs that need more memory than is available."""


class Fault(Exception):
    """A program did something the machine does not allow.

    Kernels and memory functions raise it without knowing the operation that runs; the caller that knows it adds the
    source location and reports a diagnostic (docs/reference/instrumentation.md, "Findings").

    Attributes: rule: kebab-case id of the violated rule, e.g. ``mem-oob``, ``mem-align``, ``unmodelled``. message: what
    happened, with the values involved. notes: further lines that help the reader, possibly empty. needed: the memory
    that is too small for an access, and the bytes that it would need.
    """

    rule: str
    message: str
    notes: tuple[str, ...]
    needed: tuple[str, int] | None

    def __init__(
        self, rule: str, message: str, notes: tuple[str, ...] = (), needed: tuple[str, int] | None = None
    ) -> None:
        super().__init__(rule, message, notes)
        self.rule = rule
        self.message = message
        self.notes = notes
        self.needed = needed

    def __str__(self) -> str:
        return "\n".join((f"{self.rule}: {self.message}", *(f"  note: {note}" for note in self.notes)))


def format_size(number: int) -> str:
    """Returns a size as text: ``3.5 GiB``, ``17 bytes``."""
    if number < 1024:
        return count(number, "byte")
    value, unit = float(number), 0
    while value >= 1024 and unit < 6:
        value, unit = value / 1024, unit + 1
    return f"{value:.3g} {('', 'Ki', 'Mi', 'Gi', 'Ti', 'Pi', 'Ei')[unit]}B"


class TooLarge(MemoryError):
    """A request for ``size`` bytes of memory, more than any array can have."""

    def __init__(self, size: int) -> None:
        super().__init__(f"no array has {size} bytes")
        self.shape = (size,)
        self.dtype = np.dtype(np.uint8)


def exhausted(error: MemoryError) -> Fault:
    """Returns an out-of-memory error as a fault, whose message follows a name; numpy's errors state the size."""
    shape, dtype = getattr(error, "shape", None), getattr(error, "dtype", None)
    request = "" if shape is None or dtype is None else f": {format_size(math.prod(shape) * dtype.itemsize)}"
    return Fault(OUT_OF_MEMORY, f"takes more memory than there is{request}")
