"""What a search tries: the stages of a pipeline, and the alternatives of each that concern a program.

Source: docs/optimize.md, "What is tried".
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.scf import ForOp
from xdsl.ir import Operation

from pto_dialect.analysis.queues import is_pop
from pto_dialect.analysis.target import profile_of
from pto_dialect.ir.core.roles import Role, has_role
from pto_dialect.ir.core.types import TileBufType
from pto_dialect.ir.core.walk import walk
from pto_dialect.ir.cube.matmul import PhasedProductOp
from pto_dialect.ir.scalar.query import CoreQueryOp
from pto_dialect.passes.loops.join import has_joinable
from pto_dialect.passes.panels.resize import AXES, is_resizable
from pto_dialect.passes.registry import PASS_TABLE, parse_pipeline

Ways = tuple[str, ...]
"""One alternative for each stage."""


class Stage(NamedTuple):
    """A stage: its alternatives, of which the first one does the least, and the one that usually helps. ``with_next``:
    its alternatives need those of the next stage to gain something."""

    ways: tuple[str, ...]
    usual: str
    with_next: bool = False


PRODUCTS = (
    "",
    "tile-cube",
    "tile-cube{rows=128 columns=256}",
    "tile-cube{rows=256 columns=128}",
    "tile-cube{rows=128 columns=128}",
    "tile-cube{rows=64 columns=256}",
    "tile-cube{panel=64}",
    "tile-cube{panel=128}",
    "tile-cube{panel=256}",
)
PANELS = tuple(
    (axis, int(size))
    for axis in ("columns", "rows")
    for size in reversed(PASS_TABLE["resize-panels"].options[axis][1:])
)
"""Rows or columns of panels."""
TRANSFERS = ("", "join-transfers")
QUEUES = ("", "delay-pops")
SLOTS = (
    "",
    "double-buffer",
    "double-buffer{count=3}",
    "double-buffer{count=4}",
    "double-buffer,unroll",
    "unroll,double-buffer",
    "unroll{factor=4},double-buffer",
)
MEMORY = ("assign-memory", "assign-memory{reuse=none}", "assign-memory{reuse=safe}")
ORDER = ("insert-sync", "insert-sync,remove-redundant-sync")
NESTED = "insert-sync,hoist-sync"
"""For programs with loops, in which a pass may make others."""
LOCKS = "insert-sync{style=buf}"
INSTRUCTIONS = ("", "lower-vector")

_ROWS = [int(rows) for rows in PASS_TABLE["tile-loops"].options["rows"]]


def stages_for(module: ModuleOp | None, target: str | None = None, blocks: int = 1) -> list[Stage]:
    """Returns the stages for a program, which a launch runs in ``blocks`` blocks; ``None`` stands for one that is not
    known."""
    ops = [] if module is None else list(walk(module))
    heights = set(_heights(ops))
    a5 = module is not None and profile_of(module, target).arch == "a5"
    stages: list[Stage] = []
    sharing = _sharing(blocks if not any(isinstance(op, CoreQueryOp) for op in ops) else 1)
    if module is None or any(isinstance(op, PhasedProductOp) for op in ops):
        stages.append(_products(sharing))
    panels = (
        []
        if module is None
        else [f"resize-panels{{{axis}={size}}}" for axis, size in PANELS if is_resizable(module, AXES[axis], size)]
    )
    if panels:
        stages.append(Stage(("", *panels), "", with_next=True))
    tallest = max(heights, default=0 if module is not None else max(_ROWS) + 1)
    rows = [rows for rows in sorted(_ROWS, reverse=True) if rows < tallest]
    if rows:
        shared = [f"tile-loops{{rows={number} blocks={sharing}}}" for number in rows if sharing != "1"]
        ways = ("", *shared, *(f"tile-loops{{rows={number}}}" for number in rows))
        stages.append(Stage(ways, "", with_next=True))
    if module is None or any(has_joinable(op) for op in ops if has_role(op, Role.FUNCTION)):
        stages.append(Stage(TRANSFERS, TRANSFERS[-1]))
    if any(is_pop(op) for op in ops):
        stages.append(Stage(QUEUES, QUEUES[-1]))
    stages += [
        Stage(SLOTS, "double-buffer"),
        Stage(MEMORY, MEMORY[0]),
        Stage(_orders(ops, a5), ORDER[0]),
    ]
    if a5 and heights:
        stages.append(Stage(INSTRUCTIONS, ""))
    return stages


def _orders(ops: Iterable[Operation], a5: bool) -> Ways:
    """Returns the stage of flags."""
    loops = any(isinstance(op, ForOp) for op in ops)
    return (*ORDER, *((NESTED,) if loops else ()), *((LOCKS,) if a5 else ()))


def _sharing(blocks: int) -> str:
    """Returns the option of passes that lets blocks of a launch share a kernel."""
    return max((number for number in PASS_TABLE["tile-cube"].options["blocks"] if int(number) <= blocks), key=int)


def _products(shared: str) -> Stage:
    """Returns the stage of matrix products, which several blocks can share."""
    if shared == "1":
        return Stage(PRODUCTS, "tile-cube")
    ways = [way[:-1] + f" blocks={shared}}}" if "{" in way else f"{way}{{blocks={shared}}}" for way in PRODUCTS[1:]]
    return Stage((*PRODUCTS[:2], *ways), ways[0])


def pipeline_of(ways: Iterable[str]) -> tuple[str, ...]:
    """Returns the passes of one alternative for each stage."""
    return parse_pipeline(",".join(way for way in ways if way))


def changes(ways: Ways, stages: Sequence[Stage]) -> Iterator[Ways]:
    """Yields all pipelines that differ in one stage, or in one and what it needs of the next one."""
    for number, stage in enumerate(stages):
        for way in stage.ways:
            if way == ways[number]:
                continue
            yield (*ways[:number], way, *ways[number + 1 :])
            if stage.with_next and ways[number + 1] != stages[number + 1].usual:
                yield (*ways[:number], way, stages[number + 1].usual, *ways[number + 2 :])


def _heights(ops: Iterable[Operation]) -> Iterator[int]:
    """Yields the rows of vector tiles."""
    for op in ops:
        for value in op.results:
            if isinstance(value.type, TileBufType) and value.type.loc == "vec":
                yield value.type.valid_rows
