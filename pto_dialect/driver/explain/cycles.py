"""What the cycle model says of an example."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final

from pto_dialect.analysis.cycles.static import static_cycles
from pto_dialect.diagnostics.engine import DiagnosticEngine
from pto_dialect.diagnostics.source import SourceFile
from pto_dialect.syntax.read.parser import parse_program

from .examples import Example

EVIDENCE: Final = {
    "measured": "from measurements of this operation and type",
    "neighbour": "from measurements of other operations of its class, or on the other chip",
    "published": "from a rate or latency that was published",
    "family": "from the law of the family alone",
    "assumed": "from the bytes that it touches alone",
}
"""What figures rest on, as docs/reference/cycles.md has it."""


def cycles(example: Example, targets: Iterable[str]) -> Iterator[tuple[str, ...]]:
    """Target, cycles, lower and upper bound and evidence of the operation in its example, for targets that have it."""
    for target in targets:
        module = parse_program(SourceFile("example.pto", example.program), DiagnosticEngine())
        assert module is not None
        lines = static_cycles(module, "example.pto", target, None, {}).lines
        line = {line.operation: line for line in reversed(lines)}.get(example.name)
        if line is not None:
            found = line.estimate
            yield target, f"{found.cycles:.0f}", f"{found.low:.0f}", f"{found.high:.0f}", found.evidence
