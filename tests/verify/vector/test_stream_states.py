"""Each state of a stream continues with it once: on every path at most one use. Source: docs/reference/constraints.md,
"Vector registers".
"""

from __future__ import annotations

import pytest
from tile_programs import findings

HEAD = """%p0 = arith.constant 0 : i64
    %p = pto.castptr %p0 : i64 -> !pto.ptr<f32, ub>
    %n = pto.get_block_idx
    %c0 = arith.constant 0 : i64
    %some = arith.cmpi eq, %n, %c0 : i64
    %s = pto.vldas %p : !pto.ptr<f32, ub> -> !pto.align
"""
USE = "%v{0}, %t{0} = pto.vldus %p, %s : !pto.ptr<f32, ub>, !pto.align -> !pto.vreg<64xf32>, !pto.align"


def branch(then: list[str], other: list[str]) -> list[str]:
    return ["scf.if %some {", *then, "} else {", *other, "}"]


def used(number: int) -> list[str]:
    return [USE.format(number)]


ONCE = {
    "once": used(0),
    "then": branch(used(0), []),
    "either": branch(used(0), used(1)),
    "either, deeper": branch(branch(used(0), used(1)), used(2)),
    "either of either": branch(branch(used(0), used(1)), branch(used(2), used(3))),
}
TWICE = {
    "twice": [*used(0), *used(1)],
    "twice in one branch": branch([*used(0), *used(1)], []),
    "twice in one branch, once in the other": branch([*used(0), *used(1)], used(2)),
    "in a branch and behind it": [*branch(used(0), []), *used(1)],
    "in a branch and before it": [*used(0), *branch([], used(1))],
    "in two branches": [*branch(used(0), []), *branch(used(1), [])],
    "in a branch and a deeper one": branch([*used(0), *branch(used(1), [])], []),
    "in two deeper ones": branch([*branch(used(0), []), *branch([], used(1))], []),
}


@pytest.mark.parametrize("name", ONCE)
def test_one_use_on_every_path(name: str) -> None:
    assert "align-chain" not in findings(HEAD + "\n".join(ONCE[name]), "a5")


@pytest.mark.parametrize("name", TWICE)
def test_two_uses_on_a_path(name: str) -> None:
    assert "align-chain" in findings(HEAD + "\n".join(TWICE[name]), "a5")
