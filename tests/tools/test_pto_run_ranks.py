"""``--ranks``: command lines, launch files, what they store, and one located error for each wrong one."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

RING = """!cell = !pto.partition_tensor_view<1xi32>
func.func @ring(%x: !pto.ptr<i32>, %next: !pto.ptr<i32>, %told: !pto.ptr<i32>, %next_told: !pto.ptr<i32>,
                  %mine: !pto.ptr<i32>, %y: !pto.ptr<i32>) attributes {pto.kernel} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %one = arith.constant 1 : i32
  %tv = pto.make_tensor_view %told, shape = [%c1], strides = [%c1] : !pto.tensor_view<1xi32>
  %sv = pto.make_tensor_view %next_told, shape = [%c1], strides = [%c1] : !pto.tensor_view<1xi32>
  %tp = pto.partition_view %tv, offsets = [%c0], sizes = [%c1] : !pto.tensor_view<1xi32> -> !cell
  %sp = pto.partition_view %sv, offsets = [%c0], sizes = [%c1] : !pto.tensor_view<1xi32> -> !cell
  %value = pto.load_scalar %x[%c0] : !pto.ptr<i32> -> i32
  pto.store_scalar %value, %next[%c0] : !pto.ptr<i32>, i32
  pto.cmo.cacheinvalid %next single_cache_line : !pto.ptr<i32>
  pto.comm.tnotify(%sp, %one : !cell, i32) {notifyOp = #pto<notify_op set>}
  pto.comm.twait(%tp, %one : !cell, i32) {cmp = #pto<wait_cmp eq>}
  %got = pto.load_scalar %mine[%c0] : !pto.ptr<i32> -> i32
  pto.store_scalar %got, %y[%c0] : !pto.ptr<i32>, i32
  return
}
"""
ARGUMENTS = {
    "x": "split:x.npy", "next": "w@+1", "told": "told", "next_told": "told@+1", "mine": "w", "y": "zeros:i32:1",
}  # fmt: skip
HEAD = 'program = "ring.pto"\nranks = 3\n[windows]\nw = "zeros:i32:1"\ntold = "zeros:i32:1"\n'
OTHER = HEAD.replace("zeros:i32:1", "zeros:i32:1{rank}", 1)


@pytest.fixture(autouse=True)
def files(pto_run) -> None:
    Path("ring.pto").write_text(RING)
    np.save("x.npy", np.array([5, 6, 7], np.int32))


def table(**changes: str) -> str:
    return "[arguments]\n" + "".join(f'{name} = "{value}"\n' for name, value in {**ARGUMENTS, **changes}.items())


def launch(pto_run, text: str, *options: str):
    Path("t.launch.toml").write_text(text)
    return pto_run.raw("t.launch.toml", *options)


def stored() -> list[int]:
    return [int(np.load(path)[0]) for path in sorted(Path().glob("y*.npy"))]


@pytest.mark.parametrize("options", [(), ("-j", "2"), ("-j", "8"), ("--sanitize",)])
def test_a_launch_file(pto_run, options: tuple[str, ...]) -> None:
    text = HEAD + table() + '[expect]\nmine = "split:want.npy"\ntold = 1\n[outputs]\ny = "y{rank}.npy"\n'
    np.save("want.npy", np.array([7, 5, 6], np.int32))
    outcome = launch(pto_run, text, "--quiet", *options)
    assert (outcome.code, outcome.out, outcome.err) == (0, "", "")
    assert stored() == [7, 5, 6]


def test_a_command_line(pto_run) -> None:
    given = [f"--arg={name}={value}" for name, value in ARGUMENTS.items()]
    windows = ["--window=w=zeros:i32:1", "--window=told=zeros:i32:1"]
    outcome = pto_run.raw("ring.pto", "--ranks", "3", *windows, *given, "--out=y=y{rank}.npy", "--expect=told=1")
    assert (outcome.code, outcome.err) == (0, "")
    assert outcome.out.splitlines()[:4] == [
        "rank 0", "told: i32 1 = [1]", "mine: i32 1 = [7]", "y: i32 1 = [7] -> y0.npy"
    ]  # fmt: skip
    assert stored() == [7, 5, 6]


def test_the_option_prevails_and_placeholders_count(pto_run) -> None:
    np.save("x.npy", np.arange(4, dtype=np.int32))
    text = HEAD + table(y="zeros:i32:{ranks}") + '[expect]\nx = "rank"\n[outputs]\ny = "y{rank}.npy"\n'
    assert launch(pto_run, text, "--ranks", "4").code == 0
    assert [np.load(f"y{rank}.npy").shape for rank in range(4)] == [(4,)] * 4


def test_one_rank_may_differ_and_launches_follow_each_other(pto_run) -> None:
    plain = RING.replace(" attributes {pto.kernel}", "")
    other = plain.partition("\n")[2].replace("@ring", "@other").replace("store_scalar %value", "store_scalar %one")
    Path("ring.pto").write_text(plain + other)
    # The second launch has signals of its own: the others have been given already.
    text = HEAD + 'again = "zeros:i32:1"\n' + '[buffers]\ny = "zeros:i32:1"\n'
    mine = table(y="y").replace("[", "[launch.")
    launches = f'[[launch]]\nentry = "ring"\n{mine}[launch.rank.1]\nentry = "other"\n'
    again = '[[launch]]\nentry = "ring"\n' + table(x="y", y="zeros:i32:1", told="again", next_told="again@+1").replace(
        "[", "[launch."
    )
    again += '[launch.expect]\nmine = "split:want.npy"\n'
    np.save("want.npy", np.array([1, 7, 5], np.int32))
    for options in ((), ("-j", "3"), ("--sanitize",)):
        outcome = launch(pto_run, text + launches + again, "--quiet", *options)
        assert (outcome.code, outcome.err) == (0, ""), outcome


def test_an_expectation_names_its_rank(pto_run) -> None:
    outcome = launch(pto_run, HEAD + table() + '[expect]\ny = 7\n[outputs]\ny = "y{rank}.npy"\n', "--quiet")
    assert outcome.code == 1
    assert [line for line in outcome.err.splitlines() if "differs" in line] == [
        "rank 1: y differs from 7: 1 of 1 elements",
        "rank 2: y differs from 7: 1 of 1 elements",
    ]
    assert not stored()


@pytest.mark.parametrize("options", [(), ("-j", "3")])
def test_a_rank_that_never_arrives(pto_run, options: tuple[str, ...]) -> None:
    text = HEAD + table(next_told="told@0") + '[outputs]\ny = "y{rank}.npy"\n'
    outcome = launch(pto_run, text, *options)
    assert outcome.code == 1
    assert "ring.pto:15:3: error: the ranks cannot continue [sync-deadlock]" in outcome.err
    assert outcome.err.count("note: core of rank ") == 2
    assert not stored()


@pytest.mark.parametrize("options", [(), ("-j", "3")])
def test_a_time_limit_ends_all_ranks(pto_run, options: tuple[str, ...]) -> None:
    head = "    %n = arith.constant true\n    scf.condition(%n)\n"
    spin = f"  scf.while : () -> () {{\n{head}  }} do {{\n    scf.yield\n  }}\n"
    Path("ring.pto").write_text(RING.replace("  %value = ", spin + "  %value = "))
    outcome = launch(pto_run, HEAD + table(), "--timeout", "1", *options)
    assert outcome.code == 1 and "run-timeout" in outcome.err


@pytest.mark.parametrize(
    ("text", "place", "message"),
    [
        (HEAD + table(mine="v@1"), "t.launch.toml:11:1", "arguments.mine: there is no window 'v'"),
        (HEAD + table(mine="w@3"), "t.launch.toml:11:1", "arguments.mine: 'w@3' names rank 3; there are 3 ranks"),
        (HEAD + table(x="split:7"), "t.launch.toml:7:1", "arguments.x: 'split:7' is a number, which ranks cannot"),
        (HEAD + table(x="split:ones:i32:4"), "t.launch.toml:7:1", "has 4 rows, which 3 ranks cannot share evenly"),
        (OTHER + table(), "t.launch.toml:4:1", "windows of all ranks are the same"),
        (HEAD.replace('"zeros:i32:1"', "7", 1) + table(), "t.launch.toml:4:1", "a window is an array"),
        (HEAD.replace("ranks = 3", "ranks = 65") + table(), "t.launch.toml:2:1", "expected at most 64, found 65"),
        (HEAD.replace("ranks = 3\n", "") + table(), "t.launch.toml:2:2", "it belongs to launches of several ranks"),
        (HEAD + table() + '[outputs]\ny = "y.npy"\n', "t.launch.toml:14:1", "y.npy"),
        (HEAD + table() + "[rank.3]\nblocks = 2\n", "t.launch.toml:13:2", "rank.3: there are 3 ranks, from 0"),
    ],
)  # fmt: skip
def test_wrong_files_are_reported_at_their_location(pto_run, text: str, place: str, message: str) -> None:
    outcome = launch(pto_run, text)
    assert outcome.code == 2
    assert outcome.err.startswith(f"{place}: error: "), outcome.err
    assert message in outcome.err


def test_wrong_command_lines(pto_run) -> None:
    given = [f"--arg={name}={value}" for name, value in ARGUMENTS.items() if name != "told"]
    outcome = pto_run.raw("ring.pto", "--ranks", "3", "--window=w=zeros:i32:1", *given)
    assert outcome.code == 2 and "arguments.next_told: there is no window 'told'" in outcome.err
    assert pto_run.raw("ring.pto", "--window=w=zeros:i32:1").code == 2
    assert "has no meaning without --ranks" in pto_run.raw("ring.pto", "--window=w=zeros:i32:1").err
    assert "does not go with --ranks" in pto_run.raw("ring.pto", "--ranks", "2", "--profile").err
    assert pto_run.raw("ring.pto", "--ranks", "65").code == 2
