"""``[[launch.group]]``: functions of one file or several that start together, one located error for each mistake."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from group_programs import cube, module, vector
from queue_programs import CubeToVector

LAUNCH = """blocks = 2
[[launch]]
arguments = { arg0 = "zeros:i32:2" }
expect = { "consume.arg1" = "want.npy", arg1 = "want.npy", "produce.arg0" = "between.npy" }
[[launch.group]]
program = "cube.pto"
arguments = { 1 = "per-core:block", arg2 = "per-core:block + 7" }
[[launch.group]]
program = "vector.pto"
arguments = { arg1 = "out.npy:inout" }
"""
ALLOW = ("--allow", "sync-ffts-base")


@pytest.fixture(autouse=True)
def files(pto_run) -> None:
    Path("cube.pto").write_text(module(cube()))
    Path("vector.pto").write_text(module(vector()))
    Path("early.pto").write_text(module(vector(wait=False)))
    Path("both.pto").write_text(module(cube() + vector()))
    np.save("want.npy", np.array([70, 70, 80, 80], np.int32))
    np.save("between.npy", np.array([7, 8], np.int32))
    np.save("out.npy", np.zeros(4, np.int32))


def launch(pto_run, text: str, *options: str):
    Path("t.launch.toml").write_text(text)
    return pto_run.raw("t.launch.toml", *ALLOW, *options)


def test_two_files(pto_run) -> None:
    outcome = launch(pto_run, LAUNCH)
    assert (outcome.code, outcome.err) == (0, "")
    assert outcome.out.startswith("produce.arg0: i32 2 = [7 8]\nconsume.arg1: i32 4 = [70 70 80 80] -> ")
    assert np.load("out.npy").tolist() == [70, 70, 80, 80]


def test_one_file(pto_run) -> None:
    text = LAUNCH.replace('program = "cube.pto"', 'program = "both.pto"\nentry = "produce"\ncore = "cube"')
    text = text.replace('program = "vector.pto"', 'program = "both.pto"\nentry = "consume"\nblocks = 2')
    outcome = launch(pto_run, text)
    assert (outcome.code, outcome.err) == (0, "")


def test_a_group_without_launch_table_and_shared_buffers(pto_run) -> None:
    text = """program = "both.pto"
blocks = 2
[buffers]
middle = "zeros:i32:2"
[[group]]
entry = "produce"
arguments = { arg0 = "middle", arg1 = "per-core:block", arg2 = 4 }
[[group]]
entry = "consume"
arguments = { arg0 = "middle", arg1 = "zeros:i32:4" }
[expect]
"consume.arg1" = 40
"""
    outcome = launch(pto_run, text)
    assert (outcome.code, outcome.err) == (0, "")


def test_queues_between_files(pto_run) -> None:
    text = CubeToVector().text()
    start = text.index("  func.func @vector")
    Path("cube.pto").write_text(text[:start] + "}\n")
    Path("vector.pto").write_text(text[: text.index("  func.func @cube")] + text[start:])
    outcome = launch(
        pto_run,
        """[[launch]]
arguments = { gm_slots = "zeros:f32:4" }
[[launch.group]]
program = "cube.pto"
arguments = { gm_a = "ones:f32:16x16", gm_b = "ones:f32:48x32" }
[[launch.group]]
program = "vector.pto"
arguments = { gm_out = "zeros:f32:48x64" }
""",
    )
    assert (outcome.code, outcome.err) == (0, "")
    assert outcome.out == "vector.gm_out: f32 48x64, min 0, max 16, mean 8\n"


def test_instrumented(pto_run) -> None:
    # Cores share lines of data caches.
    outcome = launch(pto_run, LAUNCH, "--sanitize=race,sync")
    assert (outcome.code, outcome.out.count("\n")) == (0, 2)
    np.save("out.npy", np.zeros(4, np.int32))
    outcome = launch(pto_run, LAUNCH.replace("vector.pto", "early.pto"), "--sanitize")
    assert outcome.code == 3
    assert "early.pto:11:5: error: S of AIV0 reads" in outcome.err
    assert "cube.pto:3:5: note: pto.store_scalar on S of AIC, block 0 writes them" in outcome.err
    assert not np.load("out.npy").any()


def test_suppressions_are_in_every_file(pto_run) -> None:
    text = module(vector(wait=False)).replace(
        "    %value =", "    // pto-sanitize: allow race-cross-core by hand\n    %value ="
    )
    Path("early.pto").write_text(text)
    outcome = launch(pto_run, LAUNCH.replace("vector.pto", "early.pto"), "--sanitize")
    assert "race-cross-core" not in outcome.err


@pytest.mark.parametrize(
    ("old", "new", "place", "message"),
    [
        ('program = "vector.pto"', 'program = "none.pto"', "9:1", "cannot read program 'none.pto': no such file"),
        ('program = "vector.pto"', 'program = "cube.pto"', "8:3", "both run on the cube core"),
        ('program = "vector.pto"', 'program = "vector.pto"\ncore = "cube"', "8:3", "@consume is a vector kernel"),
        ('program = "vector.pto"', 'program = "vector.pto"\ncore = "aiv"', "10:1", "unknown core 'aiv'"),
        ('program = "vector.pto"', 'program = "vector.pto"\nblocks = 4', "10:1", "4 blocks, where the launch has 2"),
        ('program = "vector.pto"', 'program = "vector.pto"\nentry = "k"', "10:1", "has no function @k"),
        ('program = "vector.pto"', 'program = "vector.pto"\ncount = 1', "10:1", "unknown key"),
        ("{ arg1 =", "{ arg7 =", "10:15", "@consume has no argument arg7; did you mean"),
        ("{ arg1 =", '{ arg0 = "zeros:i32:2", arg1 =', "10:15", "argument arg0 of @consume is given twice"),
        ("{ 1 = ", "{ ", None, "this is no TOML"),
        (', arg2 = "per-core:block + 7"', "", "3:1", "no value for argument produce.arg2"),
        (
            '"per-core:block + 7"',
            '"per-core:between.npy"',
            "7:37",
            "it needs one value for each core, 6 for 2 blocks of",
        ),
        ("{ arg0 =", "{ argo =", "3:15", "no function of the group has an argument argo; did you mean arg0?"),
        (
            "{ arg0 =",
            '{ arg1 = "zeros:i32:4", arg0 =',
            "3:15",
            "argument arg1 is a number of @produce and a buffer of @consume",
        ),
        ("[[launch]]\n", '[[launch]]\nentry = "k"\n', "3:1", "the functions are those of the group tables"),
        ("zeros:i32:2", "zeros:f16:2", "3:15", "'zeros:f16:2' makes f16 elements, not i32"),
    ],
)
def test_located_errors(pto_run, old: str, new: str, place: str | None, message: str) -> None:
    assert old in LAUNCH
    outcome = launch(pto_run, LAUNCH.replace(old, new, 1))
    assert (outcome.code, outcome.out) == (2, "")
    first = outcome.err.splitlines()[0]
    assert message in first
    assert place is None or first.startswith(f"t.launch.toml:{place}: error: ")
    assert not np.load("out.npy").any()


def test_arguments_of_unequal_shape(pto_run) -> None:
    view = (
        "func.func @{name}(%x: !pto.tensor_view<{shape}xf32>) attributes {{pto.kernel_kind = #pto.kernel_kind<{kind}>}}"
    )
    Path("cube.pto").write_text(module(view.format(name="a", shape="4x8", kind="cube") + " {\n return\n}\n"))
    Path("vector.pto").write_text(module(view.format(name="b", shape="8x8", kind="vector") + " {\n return\n}\n"))
    text = '[[launch]]\narguments = { x = "zeros:f32:4x8" }\n[[launch.group]]\nprogram = "cube.pto"\n'
    outcome = launch(pto_run, text + '[[launch.group]]\nprogram = "vector.pto"\n')
    assert outcome.code == 2
    assert outcome.err.startswith(
        "t.launch.toml:2:15: error: argument b.x (!pto.tensor_view<8x8xf32>): buffer x has shape"
    )
