"""Launches whose plan cannot be made, for whatever reason, run instruction by instruction; and what of a plan is cut
away because nobody reads it."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from groups import in_groups
from parse_helpers import parsed

from pto_dialect.accel.replay import keep, record
from pto_dialect.accel.replay.demand import demanded
from pto_dialect.accel.replay.steps import Box, Foreign, Step, Style
from pto_dialect.runtime.errors import BindingError, ProgramError
from pto_dialect.runtime.faults import Fault
from pto_dialect.runtime.memory.layout import tile_layout
from pto_dialect.runtime.queues.schedule import Schedule
from pto_dialect.runtime.run import launch
from pto_dialect.runtime.run.launch import Kernel
from pto_dialect.runtime.run.machine import RunOptions
from pto_dialect.runtime.run.profiling import ProfileLog

TILE, VIEW = "!pto.tile_buf<vec, 1x64xf32>", "!pto.partition_tensor_view<1x64xf32>"
DOUBLED = f"""module attributes {{pto.target_arch = "a5"}} {{
func.func @f(%x: {VIEW}, %y: {VIEW}, %v: f32) attributes {{pto.kernel}} {{
  %t = pto.alloc_tile : {TILE}
  pto.tload ins(%x : {VIEW}) outs(%t : {TILE})
  pto.tmuls ins(%t, %v : {TILE}, f32) outs(%t : {TILE})
  pto.tstore ins(%t : {TILE}) outs(%y : {VIEW})
  return
}}
}}"""
REASONS = [Foreign("word"), Fault("rule", "words"), ProgramError("rule", "words"), MemoryError()]


def launches(error: Exception, monkeypatch: pytest.MonkeyPatch) -> tuple[int, bool]:
    """How often four launches ask for a plan that ends with ``error``, and whether the kernel is given up."""
    monkeypatch.setattr(launch, "PATIENCE", -1)
    asked: list[int] = []

    def fail(*_: object) -> None:
        asked.append(1)
        raise error

    monkeypatch.setattr(keep.Replays, "_plan", fail)
    module, found = parsed(DOUBLED)
    assert found == []
    kernel = Kernel(module, None, "a5", RunOptions())
    kernel._replays = keep.Replays(kernel, 0)
    for _ in range(4):
        values: list[Any] = [np.ones((1, 64), np.float32), np.zeros((1, 64), np.float32), 2.0]
        kernel.run(values)
        assert (values[1] == 2).all()
    return len(asked), kernel._replays.refused


@pytest.mark.parametrize("error", REASONS, ids=lambda error: type(error).__name__)
def test_a_kernel_without_a_plan_keeps_its_instructions(error: Exception, monkeypatch: pytest.MonkeyPatch) -> None:
    assert launches(error, monkeypatch) == (1, True)


def test_arguments_that_do_not_fit_are_no_reason_against_later_plans(monkeypatch: pytest.MonkeyPatch) -> None:
    assert launches(BindingError("words"), monkeypatch) == (3, False)


def test_views_as_arguments_have_no_plan() -> None:
    module, found = parsed(DOUBLED)
    assert found == []
    replays = keep.Replays(Kernel(module, None, "a5", RunOptions()), 0)
    for refused in (False, True, True):
        assert not replays.run([np.ones((1, 64), np.float32), np.zeros((1, 64), np.float32), 2.0], 1)
        assert replays.refused is refused


POINTERS = DOUBLED.replace(f"%x: {VIEW}, %y: {VIEW}", "%px: !pto.ptr<f32>, %py: !pto.ptr<f32>").replace(
    "  %t =",
    "  %c0 = arith.constant 0 : index\n  %c1 = arith.constant 1 : index\n  %n = arith.constant 64 : index\n"
    + "".join(
        f"  %v{name} = pto.make_tensor_view %p{name}, shape = [%c1, %n], strides = [%n, %c1]"
        " : !pto.tensor_view<1x64xf32>\n"
        f"  %{name} = pto.partition_view %v{name}, offsets = [%c0, %c0], sizes = [%c1, %n]"
        f" : !pto.tensor_view<1x64xf32> -> {VIEW}\n"
        for name in "xy"
    )
    + "  %t =",
)
"""The same with pointers, whose launches have plans."""


def kept(patience: float = 0) -> keep.Replays:
    module, found = parsed(POINTERS)
    assert found == []
    return keep.Replays(Kernel(module, None, "a5", RunOptions()), patience)


def doubled(replays: keep.Replays, x: Any = None) -> bool:
    """Whether a launch was replayed."""
    x = np.arange(64, dtype=np.float32) if x is None else x
    y = np.zeros(64, np.float32)
    done = replays.run([x, y, 2.0], 1)
    assert y.tolist() == [2.0 * value if done else 0.0 for value in x]
    return done


def test_arrays_that_no_plan_may_take_are_left_to_the_instructions() -> None:
    replays = kept()
    assert [doubled(replays) for _ in range(3)] == [False, True, True]
    fixed = np.arange(64, dtype=np.float32)
    fixed.flags.writeable = False
    assert not doubled(replays, fixed)
    assert not doubled(replays, np.arange(128, dtype=np.float32)[::2])
    assert not replays.run([[0.0] * 64, np.zeros(64, np.float32), 2.0], 1)
    assert doubled(replays) and not replays.refused


def test_the_length_of_a_launch_counts_once() -> None:
    """A launch is left to its instructions until it has taken the seconds that it owes and those of its plan."""
    replays = kept(1.0)
    assert not doubled(replays)
    replays.learn(1.0)
    assert not doubled(replays)
    (owed,) = replays._owed.values()
    assert owed > 0
    for rest in (owed / 2, owed / 4):
        replays.learn(rest)
        assert not doubled(replays)
    replays.learn(owed / 4)
    assert doubled(replays)


RESULT = POINTERS.replace("attributes {pto.kernel}", "-> index attributes {pto.kernel}").replace(
    "return", "return %n : index"
)
ADDED = POINTERS.replace(f"outs(%y : {VIEW})", f"outs(%y : {VIEW}) {{atomicType = #pto<atomic_type atomic_add>}}")


@pytest.mark.parametrize(
    ("text", "log", "options", "refused"),
    [
        (POINTERS, None, RunOptions(), False), (POINTERS, ProfileLog(), RunOptions(), True),
        (POINTERS, None, RunOptions(fill="poison"), True), (POINTERS, None, RunOptions(fill="random"), True),
        (POINTERS, None, RunOptions(schedule=Schedule.parse("oldest")), True), (RESULT, None, RunOptions(), True),
        (ADDED, None, RunOptions(), True),
    ],
)  # fmt: skip
def test_launches_that_leave_more_than_buffers_are_not_looked_at(
    text: str, log: ProfileLog | None, options: RunOptions, refused: bool
) -> None:
    """Times, results, sums of several blocks, an order of somebody's own, and what memories begin with."""
    module, found = parsed(text)
    assert found == []
    assert keep.Replays(Kernel(module, None, "a5", options, log), 0).refused is refused


@pytest.mark.parametrize(("most", "replayed"), [(3, True), (2, False)])
def test_launches_of_too_many_steps_have_no_plan(most: int, replayed: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """A load, a product and a store."""
    monkeypatch.setattr(record, "MOST", most)
    replays = kept()
    assert [doubled(replays) for _ in range(2)] == [False, replayed] and replays.refused is not replayed


LENGTH = 16


@pytest.mark.parametrize(("first", "last"), [(0, LENGTH), (0, 5), (3, LENGTH), (3, 5), (7, 8)])
@pytest.mark.parametrize("column", [False, True])
@in_groups("scalar", [True, False, 2, 2.5])
def test_what_nobody_reads_of_a_row_is_not_computed(
    first: int, last: int, column: bool, scalar: bool | int | float
) -> None:
    """Numbers stay as they are; operands of the shape of the result are cut with it; the result is the same."""
    shape = (LENGTH, 1) if column else (1, LENGTH)
    part = np.s_[first:last, :] if column else np.s_[:, first:last]
    source, between = np.arange(LENGTH, dtype=np.float32).reshape(shape), np.zeros(shape, np.float32)
    result = np.zeros(between[part].shape, np.float32)
    steps = [
        Step(Style.EACH, np.add, [source, scalar], between),
        Step(Style.SAME, None, [between[part]], result),
    ]
    found = demanded(steps, [result])
    assert [step.target.shape for step in found] == [result.shape, result.shape]
    assert found[0].inputs[1] is scalar and found[0].inputs[0].tolist() == source[part].tolist()
    assert np.shares_memory(found[0].target, between) and np.shares_memory(found[0].inputs[0], source)


def test_operands_of_other_shapes_are_not_cut() -> None:
    source, between = np.ones((4, LENGTH), np.float32)[:1], np.zeros((1, LENGTH), np.float32)
    one, result = np.ones((1, 1), np.float32), np.zeros((1, 4), np.float32)
    steps = [Step(Style.EACH, np.add, [source, one], between), Step(Style.SAME, None, [between[:, :4]], result)]
    assert demanded(steps, [result])[0] is steps[0]


def test_blocks_of_tiles_are_not_cut() -> None:
    between, result = np.zeros((1, LENGTH), np.float32), np.zeros((1, 4), np.float32)
    blocks = Box(1 << 20, tile_layout(16, 16, 4, "col_major", "row_major", 512), 0, 0, 1, LENGTH, np.dtype(np.float32))
    steps = [Step(Style.EACH, np.abs, [blocks], between), Step(Style.SAME, None, [between[:, :4]], result)]
    assert demanded(steps, [result]) == steps


def test_steps_that_nobody_reads_are_left_out() -> None:
    arrays = [np.zeros((1, LENGTH), np.float32) for _ in range(4)]
    used, unused, result, source = arrays
    steps = [
        Step(Style.SAME, None, [source], used),
        Step(Style.SAME, None, [source], unused),
        Step(Style.SAME, None, [used], result),
    ]
    assert demanded(steps, [result]) == [steps[0], steps[2]]
