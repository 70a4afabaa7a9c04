"""``--arg NAME=per-core:...`` and ``per-block:...``, and the same in launch files."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

STORE = """
func.func @store(%p: !pto.ptr<i32>, %i: index, %__pypto_spmd_block_idx: i32) attributes {pto.kernel} {
  pto.store_scalar %__pypto_spmd_block_idx, %p[%i] : !pto.ptr<i32>, i32
  return
}
"""
IDX = "__pypto_spmd_block_idx"


def test_launchers_values_need_no_option(pto_run, args) -> None:
    out = pto_run.good(STORE, *args(p="zeros:i32:3", i="per-core:count - 1 - block"), "--blocks", "3", "--dump")
    assert "[2 1 0]" in out


def test_what_is_given_prevails(pto_run, args) -> None:
    np.save("ids.npy", np.array([5, 6, 7], np.int16))
    np.array([7, 8, 9], "<i4").tofile("ids.bin")
    given = args(p="zeros:i32:3", i="per-core:block")
    assert "[5 6 7]" in pto_run.good(STORE, *given, "--arg", f"{IDX}=per-core:ids.npy", "--blocks", "3", "--dump")
    assert "[7 8 9]" in pto_run.good(STORE, *given, "--arg", f"{IDX}=per-block:ids.bin:i32", "--blocks", "3", "--dump")
    assert "[4 4 4]" in pto_run.good(STORE, *given, "--arg", f"{IDX}=4", "--blocks", "3", "--dump")


def test_parts_of_a_buffer_are_written_back_whole(pto_run, args) -> None:
    np.save("p.npy", np.zeros((3, 2), np.int32))
    pto_run.good(STORE, *args(p="per-block:p.npy:inout", i="1"), "--blocks", "3", "--quiet")
    assert np.load("p.npy").tolist() == [[0, 0], [0, 1], [0, 2]]


def test_instrumented(pto_run, args) -> None:
    """Each core stores to a line of the data cache of its own."""
    given = args(p="per-core:zeros:i32:48", i="0")
    rest = "0 " * 15
    shown = f"[0 {rest}1 {rest}2 {rest.rstrip()}]"
    outcome = pto_run(STORE, *given, "--blocks", "3", "--dump", "--sanitize")
    assert outcome.code == 0 and shown in outcome.out


def test_cores_that_share_a_line(pto_run, args) -> None:
    given = args(p="per-core:zeros:i32:6", i="0")
    outcome = pto_run(STORE, *given, "--blocks", "3", "--sanitize")
    assert outcome.code == 3 and "[cache-lost-update]" in outcome.err


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("i", "per-core:block +", "i: 'block +' is no expression over block, count, core,"),
        ("i", "per-core:open(1)", "i: 'open(1)' has no meaning in an expression;"),
        ("i", "per-core:ones:index:2", "argument i (index): it needs one value for each core, 3 for 3 blocks, found 2"),
        ("i", "per-core:1 // block", "argument i (index): '1 // block' divides by zero"),
        ("i", "per-core:block / 2", "argument i (index): it needs an integer, not 0.0 for core 0"),
        (IDX, "per-core:1 << 40", "1099511627776 for core 0 does not fit, values are"),
        ("p", "per-core:block", "it needs an array, not the number 'per-core:block'"),
        ("p", "per-block:zeros:i32:4", "4 elements make no 3 equal parts, one for each block"),
        ("p", "per-block:none.npy", "none.npy"),
        ("i", "per-core:block:inout", "'per-core:block' is no file that :inout could write back to"),
    ],
)
def test_what_does_not_fit(pto_run, args, name: str, value: str, message: str) -> None:
    given = {"p": "zeros:i32:3", "i": "0"} | {name: value}
    if "index" in value:
        np.save("two.npy", np.ones(2, np.int64))
        given[name] = "per-core:two.npy"
    err = pto_run.bad(2, STORE, *args(**given), "--blocks", "3")
    assert message in err


def test_launch_files(pto_run) -> None:
    Path("store.pto").write_text(STORE)
    text = """blocks = 3
[buffers]
part = "per-block:zeros:i32:6"
[[launch]]
arguments = { p = "part", i = "per-core:block % 2" }
[expect]
part = "want.npy"
"""
    np.save("want.npy", np.array([0, 0, 0, 1, 2, 0], np.int32))
    Path("store.launch.toml").write_text(text)
    outcome = pto_run.raw("store.launch.toml")
    assert (outcome.code, outcome.err) == (0, "")
    Path("store.launch.toml").write_text(text.replace("zeros:i32:6", "zeros:i32:7").replace("want.npy", "0"))
    outcome = pto_run.raw("store.launch.toml")
    assert outcome.code == 2
    assert outcome.err.startswith("store.launch.toml:5:15: error: argument p (!pto.ptr<i32, gm>): 7 elements make no 3")
