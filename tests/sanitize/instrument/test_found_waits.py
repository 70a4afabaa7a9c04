"""How the waits of a run are reported, and what a run reports to have waited for.

Source: docs/reference/cycles.md, "Waits".
"""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from sanitize_programs import barrier, copy, load, program, set_flag, ub, wait_flag

from pto_dialect import parse
from pto_dialect.analysis.cycles.limits import Limits
from pto_dialect.analysis.cycles.schedule import Schedule
from pto_dialect.analysis.cycles.static import table_for
from pto_dialect.analysis.cycles.waits import Wait
from pto_dialect.diagnostics.source import SourceFile, Span
from pto_dialect.ir.core.walk import walk
from pto_dialect.runtime.run.machine import RunOptions
from pto_dialect.sanitize.instrument.cycle_times import CycleTimeline
from pto_dialect.sanitize.instrument.cycle_waits import Cause, Costs, Waits
from pto_dialect.sanitize.instrument.warmth import Warmth
from pto_dialect.sanitize.options import SanitizeOptions
from pto_dialect.sanitize.state.regions import Region
from pto_dialect.sanitize.timed import CycleKernel


def line(number: int) -> Span:
    """A span on a line of a text of ten."""
    return Span(TEXT, 2 * (number - 1), 2 * number - 1)


TEXT = SourceFile("k.pto", "x\n" * 10)
FLAGS = {op.name: op for op in walk(parse(program(set_flag("MTE2", "V", 3), barrier("V")))) if "pto." in op.name}
SITES: Any = {
    1: SimpleNamespace(name="pto.one", span=line(1), op=None),
    2: SimpleNamespace(name="pto.two", span=line(2), op=None),
    3: SimpleNamespace(name="pto.nowhere", span=None, op=None),
    4: SimpleNamespace(name="pto.set_flag", span=line(7), op=FLAGS["pto.set_flag"]),
    5: SimpleNamespace(name="pto.barrier", span=line(8), op=FLAGS["pto.barrier"]),
}


NO_COSTS = Costs(Schedule(), Limits(100))


def thread(pipe: str = "PIPE_V", number: int = 1) -> Any:
    return SimpleNamespace(pipe=pipe, number=number, core="core")


def told(*causes: tuple[Cause, float], whole: float = 100, costs: Costs = NO_COSTS) -> list[Wait]:
    """The waits of one pipe, each cause of which has taken so many cycles."""
    waits = Waits()
    waits.cycles[1] = dict(causes)
    return waits.longest([thread()], SITES, whole, costs)


def places(found: list[Wait]) -> list[tuple[int | None, int | None]]:
    return [(one.line, one.other_line) for one in found]


def test_equal_waits_stand_in_the_order_of_their_lines() -> None:
    """What has no line stands first, by line and then by that of what was waited for."""
    causes = [Cause("flag", "PIPE_MTE2", *sites) for sites in ((2, 1), (1, 2), (1, 3), (1, 1), (3, 2))]
    expected = [(None, 2), (1, None), (1, 1), (1, 2), (2, 1)]
    for order in (causes, causes[::-1]):
        assert places(told(*((cause, 5.0) for cause in order))) == expected


def test_long_waits_stand_first() -> None:
    found = told((Cause("flag", "PIPE_MTE2", 1, 1), 2.0), (Cause("flag", "PIPE_MTE2", 2, 1), 3.0))
    assert [(one.line, one.cycles, one.share) for one in found] == [(2, 3.0, 0.03), (1, 2.0, 0.02)]
    assert [one.share for one in told((Cause("flag", "PIPE_MTE2", 1, 1), 2.0), whole=0)] == [0.0]


def test_waits_that_cost_the_run_precede_long_ones() -> None:
    """First those of the pipe that cost most, of these the longest on the critical path."""
    flags = [Cause("flag", "PIPE_MTE2", 1, 1, 4), Cause("flag", "PIPE_MTE2", 2, 2, 4)]
    data = Cause("reads", "PIPE_MTE2", 3, 1)
    costs = Costs(Schedule(), Limits(100))
    costs.by_group = {("PIPE_V", "PIPE_MTE2", "flag"): 7.0, ("PIPE_M", "PIPE_MTE2", "reads"): 9.0}
    costs.on_path = {("PIPE_V", flags[1]._replace(site=0)): 1.5}
    found = told((flags[0], 4.0), (data, 50.0), (flags[1], 2.0), costs=costs)
    assert [(one.kind, one.cycles, one.cost, one.critical) for one in found] == [
        ("flag", 2.0, 7.0, 1.5), ("flag", 4.0, 7.0, 0.0), ("reads", 50.0, 0.0, 0.0)
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("cause", "through", "event"),
    [
        (Cause("flag", "PIPE_MTE2", 1, 2, 4), 7, "3"),
        (Cause("flag", "PIPE_MTE2", 1, 2), None, ""),
        (Cause("barrier", "PIPE_MTE2", 1, 2, 5), 8, ""),
        (Cause("lock", "PIPE_MTE2", 1, 2, 4), 7, ""),
    ],
)
def test_the_flag_of_a_wait(cause: Cause, through: int | None, event: str) -> None:
    (one,) = told((cause, 1.0))
    assert one == Wait("PIPE_V", "PIPE_MTE2", cause.kind, 1.0, 0.01, "pto.one", 1, "pto.two", 2, through, event)


def test_waits_of_the_scalar_unit_are_those_of_what_it_issues() -> None:
    waits = Waits()
    waits.cycles = {1: {Cause("flag", "PIPE_MTE2", 1, 1): 1.0}, 2: {Cause("flag", "PIPE_MTE2", 2, 1): 9.0}}
    assert places(waits.longest([thread(), thread("PIPE_S", 2)], SITES, 10, NO_COSTS)) == [(1, 1)]


# ------------------------------------------------------------ of runs


X, Y = ub("x", 0), ub("y", 256)
TWO = "%c2 = arith.constant 2 : i64"
ORDERS = {
    "a flag": ([set_flag("MTE2", "V"), wait_flag("MTE2", "V")], "flag"),
    "a barrier": ([barrier("ALL")], "barrier"),
    "a buffer id": (
        ['pto.get_buf "PIPE_MTE2", 3, 0', None, 'pto.rls_buf "PIPE_MTE2", 3, 0', 'pto.get_buf "PIPE_V", 3, 0'],
        "lock",
    ),
}


def waited(*lines: str) -> list[Wait]:
    timeline = CycleTimeline(table_for("a5", None), "a5", {}, False)
    kernel = CycleKernel(parse(program(*lines)), None, None, RunOptions(), SanitizeOptions(frozenset()), timeline)
    kernel.run([np.zeros(64, np.float32), np.zeros(64, np.float32)], 1)
    return kernel.cycles("k.pto").waits


@pytest.mark.parametrize("way", ORDERS)
def test_what_a_copy_has_waited_for(way: str) -> None:
    """V waits until the load is done, through whatever orders the two."""
    order, kind = ORDERS[way]
    lines: list[str] = [line for line in order if line is not None]
    if None in order:
        place = order.index(None)
        between = [*lines[:place], load("%x"), *lines[place:], copy("%x", "%y"), 'pto.rls_buf "PIPE_V", 3, 0']
    else:
        between = [load("%x"), *lines, copy("%x", "%y")]
    found = [one for one in waited(X, Y, TWO, *between) if one.pipe == "PIPE_V"]
    assert [(one.kind, one.awaited, one.operation) for one in found] == [(kind, "PIPE_MTE2", "pto.mte_ub_ub")]
    assert found[0].other == "pto.mte_gm_ub" and found[0].cycles > 0


# ------------------------------------------------------------ memory that was not read before


def test_bytes_that_come_the_first_time_take_their_share_of_the_bandwidth() -> None:
    """docs/reference/cycles.md: cores that run share what global memory gives."""
    table = table_for("a5", None)
    timeline = CycleTimeline(table, "a5", {}, False)
    bytes_per_cycle = table.value_of("machine", "memory_gbps") * 1e3 / table.value_of("machine", "clock_mhz")
    small: Any = SimpleNamespace(cycles=1.0, low=0.5, high=1.5, evidence="published")
    gm: Any = SimpleNamespace(public=True, capacity=1 << 24)
    ub_: Any = SimpleNamespace(public=False, capacity=1 << 24)
    sizes = (1 << 20, 3 << 19)
    regions: Any = [(gm, Region(place, size), False) for place, size in zip((1 << 22, 1 << 23), sizes, strict=True)]
    for blocks in (1, 2):
        timeline.warmth = Warmth()
        block: Any = SimpleNamespace(count=blocks, index=0)
        who: Any = SimpleNamespace(core=SimpleNamespace(block=block, kind="aic"))
        assert timeline.shared(small, "gm:l1", who, [(ub_, regions[0][1], True)], 0.0) is small
        first = timeline.shared(small, "gm:l1", who, [*regions, (ub_, regions[0][1], True)], 0.0)
        assert first.cycles == pytest.approx(sum(sizes) * blocks / bytes_per_cycle)
        assert (first.low, first.high, first.evidence) == (0.5, pytest.approx(2 * first.cycles), "published")
        # All of it is there now; only what is new counts.
        later = first.cycles
        assert timeline.shared(small, "gm:l1", who, regions, later) is small
        new: Any = (gm, Region(0, 1 << 20), False)
        fresh = timeline.shared(small, "gm:l1", who, [*regions, new], later)
        assert fresh.cycles == pytest.approx((1 << 20) * blocks / bytes_per_cycle)
        # What is written waits for no memory, and is in the cache afterwards.
        timeline.warmth = Warmth()
        written: Any = [(gm, Region(0, 1 << 20), True)]
        assert timeline.shared(small, "l0c:gm", who, written, 0.0) is small
        assert timeline.shared(small, "gm:l1", who, [new], 2.0) is small
        long: Any = SimpleNamespace(cycles=1e9, low=1.0, high=1e9, evidence="published")
        timeline.warmth = Warmth()
        assert timeline.shared(long, "gm:l1", who, regions, 0.0) is long
