"""Launches in instrumented runs that come again: known ones are not instrumented; none is known that may end
otherwise."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from parse_helpers import parsed

from pto_dialect import PerCore
from pto_dialect.integrations.instrumented import collect
from pto_dialect.runtime.errors import BindingError
from pto_dialect.runtime.run.machine import RunOptions
from pto_dialect.sanitize import repeated
from pto_dialect.sanitize.options import SanitizeOptions, parse_checks
from pto_dialect.sanitize.repeated import RepeatedKernel
from pto_dialect.sanitize.report.timeline import Timeline

ROW = "!pto.tile_buf<vec, 1x64xf32>"
PART = "!pto.partition_tensor_view<1x64xf32>"
COUNTS = "!pto.tile_buf<vec, 1x64xi32>"


def program(*lines: str, before: str = "") -> str:
    """A function of two buffers of rows of 64 numbers and a number %n, with its lines after the declarations."""
    body = "\n    ".join(lines)
    return f"""module attributes {{pto.target_arch = "a2a3"}} {{
  func.func @rows(%a: !pto.ptr<f32>, %b: !pto.ptr<f32>, %n: index)
      attributes {{pto.kernel_kind = #pto.kernel_kind<vector>}} {{
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c4 = arith.constant 4 : index
    %c64 = arith.constant 64 : index
    %p0 = arith.constant 0 : i64
    %p1 = arith.constant 1024 : i64
    %p2 = arith.constant 2048 : i64
    {before}
    %va = pto.make_tensor_view %a, shape = [%c4, %c64], strides = [%c64, %c1] : !pto.tensor_view<?x?xf32>
    %vb = pto.make_tensor_view %b, shape = [%c4, %c64], strides = [%c64, %c1] : !pto.tensor_view<?x?xf32>
    %x = pto.alloc_tile addr = %p0 : {ROW}
    %y = pto.alloc_tile addr = %p1 : {ROW}
    {body}
    return
  }}
}}
"""


def part(name: str, view: str, row: str) -> str:
    return (
        f"%{name} = pto.partition_view %{view}, offsets = [{row}, %c0], sizes = [%c1, %c64]"
        f" : !pto.tensor_view<?x?xf32> -> {PART}"
    )


def load(part: str, tile: str) -> str:
    return f"pto.tload ins(%{part} : {PART}) outs(%{tile} : {ROW})"


def store(tile: str, part: str) -> str:
    return f"pto.tstore ins(%{tile} : {ROW}) outs(%{part} : {PART})"


def add(left: str, right: str, out: str) -> str:
    return f"pto.tadd ins(%{left}, %{right} : {ROW}, {ROW}) outs(%{out} : {ROW})"


SUM = program(
    part("p", "va", "%n"), part("q", "vb", "%n"), load("p", "x"), load("q", "y"), add("x", "y", "y"), store("y", "q")
)
"""Adds row %n of %a to that of %b."""

ORDER = [f'pto.{way}_flag["PIPE_MTE2", "PIPE_MTE3", "EVENT_ID0"]' for way in ("set", "wait")]
COPY = program(part("p", "va", "%n"), part("q", "vb", "%c1"), load("p", "x"), *ORDER, store("x", "q"),
               part("r", "va", "%c1"), load("r", "y"))  # fmt: skip
"""Copies row %n of %a to the second of %b, and loads the second row of %a, which nothing orders after that store."""


def kernel_of(text: str, checks: str = "all") -> RepeatedKernel:
    module, found = parsed(text)
    assert found == []
    kernel = RepeatedKernel(module, None, None, RunOptions(fill="poison"), SanitizeOptions(parse_checks([checks])))
    kernel.patience = 0.0
    return kernel


def launch(kernel: RepeatedKernel, values: Sequence[Any], blocks: int = 1) -> tuple[bool, list[str]]:
    """Whether a launch is instrumented, and the rules of its findings."""
    kernel.run(values, blocks)
    instrumented = len(kernel.observer.log.count) > 1
    return instrumented, list(dict.fromkeys(finding.rule for finding in collect(kernel)[0]))


def rows(count: int, start: int = 0) -> Any:
    return np.arange(start, start + 64 * count, dtype=np.float32)


def test_a_launch_in_order_is_instrumented_once_and_computes_each_time() -> None:
    kernel = kernel_of(SUM)
    for number, instrumented in enumerate((True, False, False)):
        a, b = rows(4, number), rows(4, 1000 * number)
        expected = b.copy()
        expected[128:192] += a[128:192]
        assert launch(kernel, [a, b, 2]) == (instrumented, [])
        assert b.tobytes() == expected.tobytes()


def test_another_number_is_another_launch() -> None:
    kernel = kernel_of(SUM)
    assert launch(kernel, [rows(4), rows(4), 1]) == (True, [])
    assert launch(kernel, [rows(4), rows(4), 4]) == (True, ["mem-oob"])
    assert launch(kernel, [rows(4), rows(4), 1]) == (False, [])
    assert launch(kernel, [rows(4), rows(4), 4]) == (True, ["mem-oob"])


def test_buffers_need_what_was_accessed_and_no_more() -> None:
    kernel = kernel_of(SUM)
    assert launch(kernel, [rows(4), rows(4), 1]) == (True, [])
    assert launch(kernel, [rows(2), rows(3), 1]) == (False, [])
    assert launch(kernel, [rows(9), rows(2), 1]) == (False, [])
    assert launch(kernel, [rows(4), rows(1), 1]) == (True, ["mem-oob"])


def test_buffers_that_overlap_otherwise_are_another_launch() -> None:
    kernel = kernel_of(COPY)
    whole, other = rows(4), rows(4)
    assert launch(kernel, [whole, other, 0]) == (True, [])
    assert launch(kernel, [other, whole, 0]) == (False, [])
    for _ in range(2):
        assert launch(kernel, [whole, whole, 0]) == (True, ["race-raw"])
    # Buffers that have some bytes in common are neither like those without nor like each other.
    large = rows(8)
    assert launch(kernel, [large[:256], large[64:], 0])[0]
    assert launch(kernel, [large[:256], large[128:], 0])[0]
    assert launch(kernel, [large[128:], large[:256], 0])[0]
    assert not launch(kernel, [whole, other, 0])[0]


def test_more_blocks_are_another_launch() -> None:
    kernel = kernel_of(SUM)
    assert launch(kernel, [rows(4), rows(4), 1]) == (True, [])
    assert "race-cross-block" in launch(kernel, [rows(4), rows(4), 1], 2)[1]
    assert "race-cross-block" in launch(kernel, [rows(4), rows(4), 1], 2)[1]


READ = "%f = pto.load_scalar %a[%c0] : !pto.ptr<f32> -> f32\n    %i = arith.fptosi %f : f32 to i64"
ROW_OF_A = f"{READ}\n    %row = arith.index_cast %i : i64 to index"
"""Which row is meant is what %a holds."""


def test_small_buffers_that_numbers_are_loaded_from_are_compared() -> None:
    kernel = kernel_of(program(part("p", "va", "%row"), load("p", "x"), before=ROW_OF_A))
    for first, told in ((1, (True, [])), (1, (False, [])), (4, (True, ["mem-oob"])), (2, (True, [])), (1, (False, []))):
        a = rows(4)
        a[0] = first
        assert launch(kernel, [a, rows(4), 0]) == told


def test_buffers_that_may_change_or_are_large_are_not() -> None:
    given = program(part("p", "va", "%row"), part("q", "vb", "%c0"), load("p", "x"), store("x", "q"), before=ROW_OF_A)
    kernel = kernel_of(given)
    a = rows(4)
    assert [launch(kernel, [a, rows(4), 0])[0] for _ in range(3)] == [True, False, False]
    # %b is stored to, and has some bytes of %a, or all.
    whole = rows(8)
    assert [launch(kernel, [whole[:256], whole[64:], 0])[0] for _ in range(2)] == [True, True]
    assert [launch(kernel, [whole[128:], whole[:256], 0])[0] for _ in range(2)] == [True, True]
    assert [launch(kernel, [a, a, 0])[0] for _ in range(2)] == [True, True]
    large = rows(200_000)
    assert [launch(kernel, [large, rows(4), 0])[0] for _ in range(2)] == [True, True]
    stored = kernel_of(program(part("p", "va", "%row"), part("q", "vb", "%row"), load("q", "x"), store("x", "p"),
                               before=ROW_OF_A))  # fmt: skip
    assert [launch(stored, [rows(4), rows(4), 0])[0] for _ in range(2)] == [True, True]


def test_numbers_of_each_core_are_compared_where_they_are_known() -> None:
    kernel = kernel_of(SUM)

    def shifted(by: int, identity: Any) -> PerCore:
        return PerCore(lambda place: place.block + by, identity=identity)

    assert launch(kernel, [rows(4), rows(4), shifted(0, "0")], 3) == (True, [])
    assert launch(kernel, [rows(4), rows(4), shifted(0, "0")], 3) == (False, [])
    assert launch(kernel, [rows(4), rows(4), shifted(2, "2")], 3) == (True, ["mem-oob"])
    assert launch(kernel, [rows(4), rows(4), shifted(0, None)], 3) == (True, [])
    assert launch(kernel, [rows(4), rows(4), shifted(0, None)], 3) == (True, [])


def test_what_holds_nothing_is_looked_at_each_time() -> None:
    """%y was never written: whether it shows in the sum depends on what is added to it."""
    kernel = kernel_of(program(part("p", "va", "%n"), part("q", "vb", "%n"), load("p", "x"), add("x", "y", "x"),
                               store("x", "q")))  # fmt: skip
    hidden, shown = np.full(256, np.nan, np.float32), rows(4)
    assert launch(kernel, [hidden, rows(4), 0])[0]
    assert "mem-uninit" in launch(kernel, [shown, rows(4), 0])[1]


def test_checks_of_what_tiles_hold_are_made_each_time() -> None:
    divided = f"pto.tdiv ins(%i, %j : {COUNTS}, {COUNTS}) outs(%i : {COUNTS})"
    text = program(
        part("p", "va", "%n"), part("q", "vb", "%n"), load("p", "i"), load("q", "j"), divided, store("i", "q")
    )
    text = text.replace("f32", "i32").replace("%x =", "%i =").replace("%y =", "%j =")
    kernel = kernel_of(text)
    ones = np.ones(256, np.int32)
    some = ones.copy()
    some[70] = 0
    assert launch(kernel, [ones.copy(), ones.copy(), 1]) == (True, [])
    assert launch(kernel, [ones.copy(), some, 1]) == (True, ["zero-divisor"])


def test_infinities_are_looked_for_each_time() -> None:
    kernel = kernel_of(SUM, "numeric")
    large = np.full(256, np.finfo(np.float32).max)
    assert launch(kernel, [rows(4), rows(4), 0]) == (True, [])
    assert launch(kernel, [large, large.copy(), 0]) == (True, ["numeric-nan-inf"])


def test_a_launch_is_instrumented_until_it_is_known(monkeypatch: pytest.MonkeyPatch) -> None:
    kernel = kernel_of(SUM)
    kernel.patience = 3.5
    clock = iter(range(100))
    monkeypatch.setattr(repeated, "perf_counter", lambda: float(next(clock)))
    # Each launch takes one second of this clock.
    assert [launch(kernel, [rows(4), rows(4), n])[0] for n in (1, 1, 1, 0, 0, 1, 1)] == [True] * 4 + [
        False,
        True,
        False,
    ]


def test_few_launches_are_known_at_a_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(repeated, "MOST_KEYS", 2)
    kernel = kernel_of(SUM)
    numbers = (0, 1, 0, 2, 0)
    assert [launch(kernel, [rows(4), rows(4), n])[0] for n in numbers] == [True, True, False, True, True]


class Part(np.ndarray):
    """An array of another class, which may have any meaning of its own."""


def test_arrays_of_another_class_are_instrumented_each_time() -> None:
    kernel = kernel_of(SUM)
    assert [launch(kernel, [rows(4).view(Part), rows(4), 1])[0] for _ in range(3)] == [True, True, True]


def test_arrays_that_no_launch_takes_are_refused_each_time() -> None:
    """Also where a launch with the same numbers is known, and where their content would be compared."""
    for text in (SUM, program(part("p", "va", "%row"), load("p", "x"), before=ROW_OF_A)):
        kernel = kernel_of(text)
        a = rows(8)
        a[::2] = 1
        launch(kernel, [a[:256], rows(4), 1])
        with pytest.raises(BindingError, match="writable, contiguous"):
            launch(kernel, [a[::2], rows(4), 1])


def test_arrays_that_must_not_be_changed() -> None:
    """They are taken where nothing is stored to them, whether the launch is known or not."""
    kernel = kernel_of(SUM)
    fixed, b = rows(4), rows(4)
    fixed.flags.writeable = False
    for instrumented in (True, False):
        expected = b[64:128] + fixed[64:128]
        assert launch(kernel, [fixed, b, 1]) == (instrumented, [])
        assert b[64:128].tobytes() == expected.tobytes()
    for _ in range(2):
        with pytest.raises(BindingError, match="argument b is read-only"):
            launch(kernel, [rows(4), fixed, 1])


def test_elements_after_a_moved_pointer_are_not_compared() -> None:
    """What is loaded may be any element of any buffer."""
    moved = "%u = pto.addptr %a, %c1 : !pto.ptr<f32> -> !pto.ptr<f32>\n    " + READ.replace("%a[%c0]", "%u[%c0]")
    text = program(
        part("p", "va", "%row"), load("p", "x"), before=f"{moved}\n    %row = arith.index_cast %i : i64 to index"
    )
    kernel = kernel_of(text)
    a = rows(4)
    a[1] = 2
    assert [launch(kernel, [a, rows(4), 0])[0] for _ in range(3)] == [True, True, True]


def test_a_random_launch_is_instrumented_each_time() -> None:
    module, _ = parsed(SUM)
    checks = SanitizeOptions(parse_checks(["all"]))
    kernel = RepeatedKernel(module, None, None, RunOptions(fill="poison"), checks, Timeline(costs=False))
    kernel.patience = 0.0
    assert [launch(kernel, [rows(4), rows(4), 1])[0] for _ in range(3)] == [True, True, True]


@pytest.mark.parametrize(("buffers", "instrumented"), [((0, 256), (True, False)), ((255, 256), (True, True))])
def test_buffers_that_meet_at_one_byte_do_not_overlap(
    buffers: tuple[int, int], instrumented: tuple[bool, bool]
) -> None:
    """The second begins where the first ends; one number earlier, both have that number."""
    kernel = kernel_of(SUM)
    whole = rows(9)
    first, second = (0, 256), buffers
    start = second[1] if buffers[0] == 0 else second[0]
    a, b = whole[first[0] : first[1]], whole[start : start + 256]
    assert launch(kernel, [a, b, 0])[0]
    again = [launch(kernel, [rows(4), rows(4), 0])[0]]
    assert [True, *again] == list(instrumented)


def test_how_large_a_buffer_may_be_that_is_compared(monkeypatch: pytest.MonkeyPatch) -> None:
    """The longer a launch is instrumented, the more bytes are worth a comparison."""
    clock = iter(np.arange(0, 100, 0.01))
    monkeypatch.setattr(repeated, "perf_counter", lambda: float(next(clock)))
    kernel = kernel_of(program(part("p", "va", "%row"), load("p", "x"), before=ROW_OF_A))
    most = int(repeated.BYTES_PER_SECOND * 0.01) // 256

    def large(count: int) -> Any:
        a = rows(count)
        a[0] = 1
        return a

    assert launch(kernel, [large(4), rows(4), 0])[0]
    # The launch before this one took a hundredth of a second of this clock.
    for count, known in ((most - 1, True), (most + 2, False)):
        assert [launch(kernel, [large(count), rows(4), 0])[0] for _ in range(2)] == [True, not known]


def test_as_many_bytes_as_are_compared_in_any_case() -> None:
    kernel = kernel_of(program(part("p", "va", "%row"), load("p", "x"), before=ROW_OF_A))
    kernel._most_bytes = repeated.LEAST_BYTES
    for more, known in ((0, True), (1, False)):
        a = np.zeros(repeated.LEAST_BYTES // 4 + more, np.float32)
        kernel._most_bytes = repeated.LEAST_BYTES
        launch(kernel, [a, rows(4), 0])
        kernel._most_bytes = repeated.LEAST_BYTES
        assert launch(kernel, [a, rows(4), 0])[0] == (not known)


def test_the_wait_ends_with_the_requested_second(monkeypatch: pytest.MonkeyPatch) -> None:
    kernel = kernel_of(SUM)
    kernel.patience = 2.0
    clock = iter(range(100))
    monkeypatch.setattr(repeated, "perf_counter", lambda: float(next(clock)))
    assert [launch(kernel, [rows(4), rows(4), 1])[0] for _ in range(3)] == [True, True, False]
