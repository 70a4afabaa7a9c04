"""States of pipes are distinguished by the order of the accesses that they remember, worked out again from the
accesses."""

from __future__ import annotations

from collections.abc import Hashable
from itertools import combinations
from typing import Any

import pytest

from pto_dialect import parse
from pto_dialect.analysis.abstract_interpreter import AbstractInterpreter
from pto_dialect.diagnostics.engine import DiagnosticEngine
from pto_dialect.passes.check_sync import CheckSyncPass
from pto_dialect.passes.sync_flow import Flow

TILE = "!pto.tile_buf<vec, 16x16xf32>"
PART = "!pto.partition_tensor_view<16x16xf32>"
SIGNALS = (
    '  pto.set_flag["PIPE_MTE2", "PIPE_V", "EVENT_ID0"]\n  pto.wait_flag["PIPE_MTE2", "PIPE_V", "EVENT_ID0"]\n',
    '  pto.set_flag["PIPE_V", "PIPE_MTE2", "EVENT_ID1"]\n  pto.wait_flag["PIPE_V", "PIPE_MTE2", "EVENT_ID1"]\n',
)


def _program(arch: str) -> str:
    """Loads and sums under open conditions, between which flags order some."""
    lines = [f'module attributes {{pto.target_arch = "{arch}"}} {{', f"func.func @f(%p: {PART}, %c: i1, %d: i1) {{"]
    lines += [f"  %t{n} = pto.alloc_tile : {TILE}" for n in range(4)]
    for n in range(12):
        work = f"  pto.tload ins(%p : {PART}) outs(%t{n % 4} : {TILE})"
        if n % 4 == 0:
            inputs = f"%t{n % 3}, %t{(n + 1) % 4} : {TILE}, {TILE}"
            work = f"  pto.tadd ins({inputs}) outs(%t{n % 4} : {TILE})"
        # Ways on which the same is done are equal after it.
        other = ["  } else {", work] if n % 3 else []
        lines += [f"  scf.if %{'cd'[n % 2]} {{", *([] if other else [SIGNALS[n % 2]]), work, *other, "  }"]
    return "\n".join([*lines, "  return", "}", "}"])


def _plainly(flow: Flow) -> Hashable:
    """What pipes know of the accesses, and the accesses, by their locations in sorted lists of all numbers."""
    all_ = [*flow.writers.values(), *(one for readers in flow.readers.values() for one in readers.values())]
    numbers: dict[str, list[int]] = {}
    for one in all_:
        numbers[one.pipe] = sorted({*numbers.get(one.pipe, []), one.number})

    def seen(clock: dict[str, int]) -> Hashable:
        return frozenset((p, n) for p, known in numbers.items() if (n := sum(k <= clock.get(p, 0) for k in known)))

    def access(one: Any) -> Hashable:
        own = one.op if flow.arch == "a2a3" and one.pipe == "PIPE_V" else None
        return one.pipe, numbers[one.pipe].index(one.number), own

    readers = {(place, access(one)) for place, each in flow.readers.items() for one in each.values()}
    return (
        frozenset((pipe, seen(clock)) for pipe, clock in flow.clocks.items()),
        seen(flow.settled),
        frozenset((key, tuple(seen(clock) for _, clock in each)) for key, each in flow.tokens.items() if each),
        frozenset(flow.pending),
        frozenset((place, access(one)) for place, one in flow.writers.items()),
        frozenset(readers),
    )


@pytest.mark.parametrize("arch", ["a5", "a2a3"])
def test_states_are_distinguished_by_the_order_of_accesses(arch: str, monkeypatch: pytest.MonkeyPatch) -> None:
    compared: list[bool] = []
    join = AbstractInterpreter.join

    def looked_at(self: AbstractInterpreter[Any]) -> None:
        for one, other in combinations([world.domain for world in self.states], 2):
            assert not any(one.queues.values()) and not any(other.queues.values())
            alike = one.key() == other.key()
            assert alike == (_plainly(one) == _plainly(other))
            assert not alike or hash(one.key()) == hash(other.key())
            compared.append(alike)
        join(self)

    monkeypatch.setattr(AbstractInterpreter, "join", looked_at)
    module = parse(_program(arch), "program.pto")
    CheckSyncPass().run(module, DiagnosticEngine())
    assert compared.count(True) > 2
    assert compared.count(False) > 5


def test_flows_differ_from_everything_else() -> None:
    key = Flow("a5", None).key()  # pyright: ignore[reportArgumentType]
    assert key == Flow("a5", None).key()  # pyright: ignore[reportArgumentType]
    assert key != "a5"
