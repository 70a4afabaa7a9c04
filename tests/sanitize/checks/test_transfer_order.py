"""Stores of transfers between ranks on MTE3. Source: docs/reference/execution.md, "Synchronisation"."""

import numpy as np
import pytest

from pto_dialect import parse
from pto_dialect.runtime.queues.schedule import Schedule
from pto_dialect.runtime.run.machine import RunOptions
from pto_dialect.sanitize.launch import InstrumentedKernel
from pto_dialect.sanitize.options import SanitizeOptions

PUT = "pto.comm.tput(%to, %from, buf(%t) : !view, !view, !tile)"
STORE = "pto.tstore ins(%t : !tile) outs(%to : !view)"
BARRIER = "pto.barrier <PIPE_MTE3>"
TEXT = """
!view = !pto.partition_tensor_view<1x64xf32>
!tile = !pto.tile_buf<vec, 1x64xf32>
module attributes {{pto.target_arch = "a2a3"}} {{
  func.func @f(%to: !view, %from: !view) {{
    %zero = arith.constant 0 : i64
    %t = pto.alloc_tile addr = %zero : !tile
    {lines}
    return
  }}
}}
"""


def found(*lines: str) -> list[str]:
    """Rules that runs in random orders report."""
    options = RunOptions(schedule=Schedule.parse("random:1", strict=True))
    module = parse(TEXT.format(lines="\n    ".join(lines)))
    kernel = InstrumentedKernel(module, "f", "a2a3", options, SanitizeOptions(frozenset(("race", "sync")), "strict"))
    kernel.run([np.zeros((1, 64), np.float32), np.ones((1, 64), np.float32)])
    return [finding.rule for finding in kernel.observer.findings.all]


# A transfer loads on MTE2 after the stores of the one before it, and stores what it loads.
# A store of the program itself may overlap with the stores of a transfer on either side.
@pytest.mark.parametrize(
    ("lines", "rules"),
    [
        ((PUT, PUT), []),
        ((STORE, PUT), ["sync-mte3-reorder"]),
        ((PUT, STORE), ["sync-mte3-reorder"]),
        ((PUT, BARRIER, STORE), []),
    ],
    ids=["transfers", "store, transfer", "transfer, store", "transfer, barrier, store"],
)
def test_a_transfer_is_in_order_with_the_one_before_it_only(lines: tuple[str, ...], rules: list[str]):
    assert found(*lines) == rules


def test_stores_before_the_last_transfer_are_complete_in_the_next():
    # The first transfer completes what MTE3 has stored, for whoever waits for it: the second does.
    assert found(STORE, PUT.replace("%to, %from", "%from, %from"), PUT) == []
