"""Searches the pipeline with which a kernel takes the least time by the cycle model.

A pipeline has stages. One stage after the other tries all its alternatives with the best ones of the others, until no
stage changes any more. Source: docs/optimize.md, "What is tried".
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import product

from xdsl.dialects.builtin import ModuleOp

from pto_dialect.ir.core.types import TileBufType
from pto_dialect.ir.core.walk import walk
from pto_dialect.ir.cube.matmul import PhasedProductOp
from pto_dialect.passes.registry import parse_pipeline

from ..launch.document import Document
from ..tune.measure import Measured, Tuner
from ..tune.side_by_side import measured
from ..tune.space import Candidate

PASSES = "passes"
"""The heading of the pipelines in the table."""

PRODUCTS = (
    "",
    "tile-cube",
    "tile-cube{rows=128 columns=256}",
    "tile-cube{rows=128 columns=128}",
    "tile-cube{rows=64 columns=256}",
    "tile-cube{panel=128}",
)
ROWS = ("", "tile-loops{rows=16}", "tile-loops{rows=32}", "tile-loops{rows=64}", "tile-loops{rows=128}")
SLOTS = ("", "double-buffer", "double-buffer{count=3}", "double-buffer,unroll", "unroll,double-buffer")
MEMORY = ("assign-memory", "assign-memory{reuse=none}")
LOOPS = tuple(",".join(way for way in pair if way) for pair in product(ROWS, SLOTS))
"""Rows and slots together: parts of tiles gain something only if they overlap."""

ORDER = ("insert-sync", "insert-sync,remove-redundant-sync")

_ROUNDS = 3
"""How often the stages are tried."""


def stages_for(module: ModuleOp | None) -> list[tuple[str, ...]]:
    """The alternatives of each stage, of a program; those about products or vector tiles only where it has some.
    ``None`` stands for a program that is not known."""
    ops = [] if module is None else list(walk(module))
    products = module is None or any(isinstance(op, PhasedProductOp) for op in ops)
    vectors = module is None or any(
        isinstance(value.type, TileBufType) and value.type.loc == "vec" for op in ops for value in op.results
    )
    return [*([PRODUCTS] if products else []), LOOPS if vectors else SLOTS, MEMORY, ORDER]


def search(
    tuner: Tuner, document: Document, stages: Sequence[tuple[str, ...]], jobs: int, limit: int
) -> list[Measured]:
    """What became of each pipeline that was tried, in that order; the first one has the first alternative of each
    stage. At most ``limit`` are tried. Raises ``LaunchError`` and ``WorkerError``."""
    found: dict[tuple[str, ...], Measured] = {}

    def measure(pipelines: Iterable[tuple[str, ...]]) -> None:
        new = [one for one in dict.fromkeys(pipelines) if one not in found][: limit - len(found)]
        chosen = [Candidate({PASSES: ",".join(passes)}, document, passes) for passes in new]
        found.update({one.candidate.passes: one for one in measured(tuner, chosen, jobs)} if chosen else {})

    best = [alternatives[0] for alternatives in stages]
    measure([pipeline_of(best)])
    for _ in range(_ROUNDS):
        before = list(best)
        for number, alternatives in enumerate(stages):
            ways = {way: pipeline_of([*best[:number], way, *best[number + 1 :]]) for way in alternatives}
            measure(ways.values())
            best[number] = _fastest(ways, found) or best[number]
        if best == before:
            break
    return list(found.values())


def pipeline_of(ways: Iterable[str]) -> tuple[str, ...]:
    """The passes of one alternative for each stage."""
    return parse_pipeline(",".join(way for way in ways if way))


def _fastest(ways: dict[str, tuple[str, ...]], found: dict[tuple[str, ...], Measured]) -> str | None:
    """The alternative with the least time, of equal ones that with the least memory, then the first."""
    good = [way for way in _measured(ways, found) if not found[ways[way]].reason]
    return min(good, key=lambda way: (found[ways[way]].whole.cycles, found[ways[way]].bytes), default=None)


def _measured(ways: dict[str, tuple[str, ...]], found: dict[tuple[str, ...], Measured]) -> Iterator[str]:
    return (way for way, passes in ways.items() if passes in found)
