"""What the sanitizers see of functions that start together."""

from __future__ import annotations

import numpy as np
from group_programs import cube, module, vector

import pto_dialect
from pto_dialect import PerCore
from pto_dialect.runtime.compile.group import Member, join
from pto_dialect.runtime.run.machine import RunOptions
from pto_dialect.sanitize.launch import InstrumentedKernel
from pto_dialect.sanitize.options import SanitizeOptions
from pto_dialect.sanitize.report.findings import Finding

BACK = "pto.sync.set #pto.pipe<PIPE_MTE3>, 4\n    pto.sync.wait #pto.pipe<PIPE_MTE2>, 5\n    "
"""The vector core waits for a signal that the cube core sends when it has this one."""


def findings(one: str, other: str) -> list[Finding]:
    members = [pto_dialect.parse(module(one), "cube.pto"), pto_dialect.parse(module(other), "vector.pto")]
    options = RunOptions(fill="poison")
    group = join([Member(member) for member in members])
    # The cores store numbers to lines of data caches that they share.
    sanitize = SanitizeOptions(SanitizeOptions().checks - {"cache"})
    kernel = InstrumentedKernel(None, None, None, options, sanitize, group=group)
    between, out = np.zeros(2, np.int32), np.zeros(4, np.int32)
    values = [between, PerCore("block"), PerCore("block + 7"), between, out, PerCore("block"), PerCore("subblock")]
    kernel.run(values, 2)
    return kernel.observer.findings.all


def test_functions_in_order_have_no_findings() -> None:
    assert findings(cube(), vector()) == []


def test_a_race_between_functions_names_both_files() -> None:
    race, signal = findings(cube(), vector(wait=False))
    assert race.rule == "race-cross-core"
    assert "S of AIV0 reads bytes [0, 4) of gm 'produce.arg0'" in race.message
    assert "pto.store_scalar (line 3 of cube.pto)" in race.message
    assert race.span is not None
    assert race.span.source.name == "vector.pto"
    assert signal.rule == "sync-flag-unconsumed"
    assert signal.span is not None
    assert signal.span.source.name == "cube.pto"


def test_a_deadlock_shows_where_every_function_waits() -> None:
    waits = cube().replace("    return", "    pto.sync.wait #pto.pipe<PIPE_MTE2>, 6\n    return")
    (found,) = findings(waits, vector(more=BACK))
    assert found.rule == "sync-deadlock"
    places = [(text.partition(":")[0], span and span.source.name) for text, span in found.notes if "waits for" in text]
    assert places == [("AIC", "cube.pto"), ("AIV0", "vector.pto"), ("AIV1", "vector.pto")]
