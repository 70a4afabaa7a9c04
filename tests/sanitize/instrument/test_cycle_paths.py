"""What an instruction without tiles moves, as the cycle model sees it. Source: docs/reference/cycles.md, "Pipes"."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from groups import in_groups
from sanitize_programs import barrier, load, program, store, ub

from pto_dialect import parse
from pto_dialect.analysis.cycles.static import table_for
from pto_dialect.runtime.run.machine import RunOptions
from pto_dialect.sanitize.instrument.cycle_times import CycleTimeline, _path_of
from pto_dialect.sanitize.options import SanitizeOptions
from pto_dialect.sanitize.timed import CycleKernel


def thread(pipe: str, kind: str) -> Any:
    return SimpleNamespace(pipe=pipe, core=SimpleNamespace(kind=kind))


@pytest.mark.parametrize("kind", ["aic", "aiv", "all"])
@in_groups(
    ("name", "pipe", "path"),
    [
        ("mte_gm_ub", "PIPE_MTE2", "gm:ub"),
        ("mte_gm_l1", "PIPE_MTE2", "gm:l1"),
        ("mte_ub_gm", "PIPE_MTE3", "ub:gm"),
        ("mte_l1_l0a_mx", "PIPE_MTE1", "l1:l0a"),
        ("mte_l0c_gm", "PIPE_FIX", "l0c:gm"),
        ("copy_gm_to_ubuf", "PIPE_MTE2", "gm:ub"),
        ("copy_gm_to_cbuf_multi_nd2nz", "PIPE_MTE2", "gm:l1"),
        ("copy_matrix_cc_to_gm", "PIPE_FIX", "l0c:gm"),
        ("load_cbuf_to_cb_mx", "PIPE_MTE1", "l1:l0b"),
        ("mte_gm_moon", "PIPE_MTE2", None),
        ("tprefetch", "PIPE_MTE2", None),
        ("vadd", "PIPE_V", ""),
        ("mad", "PIPE_M", ""),
        ("set_flag", "PIPE_S", ""),
        ("mte_gm_ub", "PIPE_S", ""),
    ],
)
def test_memories_of_a_transfer(name: str, pipe: str, path: str | None, kind: str) -> None:
    expected = path if path is not None else "gm:l1" if kind == "aic" else "gm:ub"
    assert _path_of(name, thread(pipe, kind)) == expected


def cycles(text: str) -> CycleKernel:
    timeline = CycleTimeline(table_for("a5", None), "a5", {}, False)
    kernel = CycleKernel(parse(text), None, None, RunOptions(), SanitizeOptions(frozenset()), timeline)
    kernel.run([np.zeros(64, np.float32), np.zeros(64, np.float32)], 1)
    return kernel


def test_transfers_of_pointers_take_their_time_on_their_pipes() -> None:
    lines = (ub("x", 0), load("%x"), barrier("ALL"), store("%x"))
    found = cycles(program(*lines)).cycles("k.pto")
    assert {line.operation.removeprefix("pto."): line.pipe for line in found.lines if "mte" in line.operation} == {
        "mte_gm_ub": "PIPE_MTE2",
        "mte_ub_gm": "PIPE_MTE3",
    }
    busy = sum(found.pipes[pipe].cycles for pipe in ("PIPE_MTE2", "PIPE_MTE3"))
    assert found.total.cycles >= busy > 0
    assert found.total.low <= found.total.cycles <= found.total.high


def test_a_transfer_costs_what_its_bytes_cost() -> None:
    """Twice the bytes take longer, and a second transfer of the same bytes is counted under the same line."""
    once = cycles(program(ub("x", 0), load("%x"))).cycles("k.pto")
    loop = ("scf.for %i = %i0 to %i3 step %i1 {", load("%x"), "}")
    thrice = cycles(program(ub("x", 0), *loop)).cycles("k.pto")
    (one,), (three,) = ([line for line in each.lines if "mte" in line.operation] for each in (once, thrice))
    assert (one.count, three.count) == (1, 3)
    assert 0 < three.estimate.cycles <= one.estimate.cycles


def test_what_the_scalar_unit_does_takes_no_time() -> None:
    scalar = (
        "%v = pto.load_scalar %a[%i3] : !pto.ptr<f32, gm> -> f32",
        "pto.store_scalar %v, %b[%i1] : !pto.ptr<f32, gm>, f32",
    )
    alone = cycles(program(*scalar)).cycles("k.pto")
    assert (alone.lines, alone.pipes, alone.total.high) == ([], {}, 0)
    moves = (ub("x", 0), load("%x"))
    with_both, without = (cycles(program(*lines)).cycles("k.pto") for lines in ((*moves, *scalar), moves))
    assert [line.operation for line in with_both.lines] == [line.operation for line in without.lines]
    assert with_both.total.cycles == without.total.cycles > 0
