"""Flags that become one because that takes no time, and those that stay.

Source: docs/reference/synchronisation.md, "Fewer flags".
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from random import Random

import numpy as np
import pytest
from lowering_programs import TILE, add, disorder, kernel, load, lowered, outline, part, results, store
from xdsl.dialects.builtin import ModuleOp

from pto_dialect import parse
from pto_dialect.passes.insert_sync import fewer
from pto_dialect.passes.insert_sync.insert import sequences
from pto_dialect.passes.insert_sync.timeline import ASSUMED_TRIPS, Costs, Timeline
from pto_dialect.sanitize.times.model import modelled_cycles

LOOP = "scf.for %i = %c0 to %n step %c1 {"
HEAD = (part("p", "a", "c0"), part("q", "b", "c0"))
PRODUCT = """module attributes {{pto.target_arch = "{target}"}} {{
  func.func @f(%a: !pto.ptr<f16>, %b: !pto.ptr<f16>, %c: !pto.ptr<f32>) attributes {{pto.entry}} {{
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c32 = arith.constant 32 : index
    %at0 = arith.constant 0 : i64
    %at1 = arith.constant 2048 : i64
    %va = pto.make_tensor_view %a, shape = [%c32, %c32], strides = [%c32, %c1] : !pto.tensor_view<?x?xf16>
    %vb = pto.make_tensor_view %b, shape = [%c32, %c32], strides = [%c32, %c1] : !pto.tensor_view<?x?xf16>
    %vc = pto.make_tensor_view %c, shape = [%c32, %c32], strides = [%c32, %c1] : !pto.tensor_view<?x?xf32>
    %pa = pto.partition_view %va, offsets = [%c0, %c0], sizes = [%c32, %c32] : {view}
    %pb = pto.partition_view %vb, offsets = [%c0, %c0], sizes = [%c32, %c32] : {view}
    %pc = pto.partition_view %vc, offsets = [%c0, %c0], sizes = [%c32, %c32] : {wide}
    %ma = pto.alloc_tile addr = %at0 : {mat}
    %mb = pto.alloc_tile addr = %at1 : {mat}
    %l = pto.alloc_tile addr = %at0 : {left}
    %r = pto.alloc_tile addr = %at0 : {right}
    %s = pto.alloc_tile addr = %at0 : {acc}
    pto.tload ins(%pa : !pto.partition_tensor_view<32x32xf16>) outs(%ma : {mat})
    pto.tload ins(%pb : !pto.partition_tensor_view<32x32xf16>) outs(%mb : {mat})
    pto.tmov ins(%{first} : {mat}) outs(%l : {left})
    pto.tmov ins(%{second} : {mat}) outs(%r : {right})
    pto.tmatmul ins(%l, %r : {left}, {right}) outs(%s : {acc})
    pto.tstore ins(%s : {acc}) outs(%pc : !pto.partition_tensor_view<32x32xf32>)
    return
  }}
}}
"""
TYPES = {
    "view": "!pto.tensor_view<?x?xf16> -> !pto.partition_tensor_view<32x32xf16>",
    "wide": "!pto.tensor_view<?x?xf32> -> !pto.partition_tensor_view<32x32xf32>",
    "mat": "!pto.tile_buf<mat, 32x32xf16, blayout=col_major, slayout=row_major>",
    "right": "!pto.tile_buf<right, 32x32xf16, blayout=row_major, slayout=col_major>",
    "acc": "!pto.tile_buf<acc, 32x32xf32, blayout=col_major, slayout=row_major, fractal=1024>",
}
LEFT = {"a5": "col_major", "a2a3": "row_major"}


def product(target: str) -> str:
    """A product of 32x32 matrices."""
    left = f"!pto.tile_buf<left, 32x32xf16, blayout={LEFT[target]}, slayout=row_major>"
    return PRODUCT.format(target=target, first="ma", second="mb", left=left, **TYPES)


@pytest.fixture
def alone(monkeypatch: pytest.MonkeyPatch) -> Callable[[str], ModuleOp]:
    """What insert-sync makes of a program whose flags all stay."""

    def lower(text: str) -> ModuleOp:
        with monkeypatch.context() as patch:
            patch.setattr(fewer, "MOST", 0)
            return lowered(text)[0]

    return lower


def sets(module: ModuleOp) -> int:
    """How many flags a program sets."""
    return sum(op.name == "pto.set_flag" for op in module.walk())


@pytest.mark.parametrize("target", ["a5", "a2a3"])
def test_moves_that_run_beside_each_other_wait_for_one_flag(target: str, alone: Callable[[str], ModuleOp]) -> None:
    """The left operand moves while the right one, which is loaded later and takes as long, does."""
    text = product(target)
    words = outline(text)
    assert words == [
        *("tload", "tload", "set MTE2>MTE1 0", "wait MTE2>MTE1 0", "tmov", "tmov"),
        *("set MTE1>M 0", "wait MTE1>M 0", "tmatmul", "set M>FIX 0", "wait M>FIX 0", "tstore"),
    ]
    assert sets(alone(text)) == 4
    generator = np.random.default_rng(1)
    factors = [generator.integers(-4, 4, (32, 32)).astype(np.float16) for _ in range(2)]
    module, _ = lowered(text)
    arrays = [*factors, np.zeros((32, 32), np.float32)]
    assert disorder(module, arrays) == []
    for schedule in ("oldest", "newest"):
        assert results(module, arrays, schedule)[-1] == (factors[0] @ factors[1]).astype(np.float32).tobytes()


def test_a_flag_stays_where_the_work_before_the_second_wait_would_end_later() -> None:
    """The sum of the first tile runs while the second one is loaded, and the store waits for both sums."""
    text = kernel(*HEAD, load("p", "x"), load("p", "y"), add("x", "x", "x"), add("y", "x", "y"), store("y", "q"))
    assert [word for word in outline(text) if word.startswith("set MTE2")] == ["set MTE2>V 0", "set MTE2>V 1"]


def test_flags_between_iterations_become_one_where_the_loads_follow_each_other(
    alone: Callable[[str], ModuleOp],
) -> None:
    """Both loads wait for sums that are over long before the stores, for which the whole iteration waits."""
    rows = ("%r = arith.muli %i, %c16 : index", part("p", "a", "r"), part("q", "b", "r"))
    body = (
        *(load("p", "x"), load("p", "y"), add("x", "y", "z")),
        *(store("z", "q"), add("x", "x", "x"), add("y", "y", "y")),
    )
    text = kernel(LOOP, *rows, *body, "}")
    module, _ = lowered(text)
    assert sets(module) <= sets(alone(text))
    arrays = [np.arange(4096, dtype=np.float32), np.zeros(4096, np.float32), 5]
    assert disorder(module, arrays) == []
    assert results(module, arrays, "newest") == results(lowered(text, "check-memory")[0], arrays)


def test_flags_stay_beside_signals_of_other_cores() -> None:
    """A later set could wait for a core that waits for what the earlier one was for."""
    signal = "pto.sync.set #pto.pipe<PIPE_MTE3>, 0"
    loads = (load("p", "x"), load("p", "y"))
    sums = (add("x", "x", "z"), *[add("y", "y", "y")] * 12, store("y", "q"))
    plain = kernel(*HEAD, *loads, *sums)
    spoken = kernel(*HEAD, *loads, *sums, signal)
    assert not lowered(spoken)[1]
    kept = [op for op in lowered(spoken)[0].walk() if op.name == "pto.set_flag"]
    assert len(kept) >= sets(lowered(plain)[0])


def mixed(seed: int, target: str) -> str:
    """Loads, sums and stores of eight tiles, in a loop and after it."""
    random = Random(seed)
    names = [f"t{number}" for number in range(8)]
    lines = [*HEAD, part("o", "a", "c16")]
    for number, name in enumerate(names):
        lines += [f"%at_{name} = arith.constant {4096 + 1024 * number} : i64"]
        lines += [f"%{name} = pto.alloc_tile addr = %at_{name} : {TILE}", load(random.choice("po"), name)]

    def some(count: int) -> Iterator[str]:
        for _ in range(count):
            one, other, into = random.choices(names, k=3)
            kinds = (load(random.choice("po"), into), add(one, other, into), add(one, one, into), store(one, "q"))
            yield random.choices(kinds, (3, 3, 3, 1))[0]

    return kernel(*lines, *some(6), LOOP, *some(14), "}", *some(6), store("t0", "q"), target=target)


def arguments(count: int) -> list[np.ndarray | int]:
    """Two arrays, and a number of iterations."""
    return [np.arange(4096, dtype=np.float32) % 7, np.zeros(4096, np.float32), count]


@pytest.mark.parametrize("target", ["a2a3", "a5"])
@pytest.mark.parametrize("seed", range(10))
def test_fewer_flags_take_no_more_time(seed: int, target: str, alone: Callable[[str], ModuleOp]) -> None:
    """The run that the model times takes at most 0.5 % longer: how often a loop runs is not in the text."""
    text = mixed(seed, target)
    before, after = alone(text), lowered(text)[0]
    assert sets(after) <= sets(before)
    for count in (1, 8, 30):
        a, b, n = arguments(count)
        times = [modelled_cycles(module, {"a": a, "b": b, "n": n}).total.cycles for module in (before, after)]
        assert times[1] <= 1.005 * times[0]
    for schedule in ("oldest", "newest"):
        assert results(after, arguments(3), schedule) == results(parse(text), arguments(3))
    assert disorder(after, arguments(3)) == []


def test_some_flags_of_random_programs_go(alone: Callable[[str], ModuleOp]) -> None:
    texts = [mixed(seed, "a5") for seed in range(10)]
    assert sum(sets(alone(text)) - sets(lowered(text)[0]) for text in texts) >= 8


@pytest.mark.parametrize("target", ["a2a3", "a5"])
@pytest.mark.parametrize("seed", range(4))
def test_the_time_from_the_text_is_that_of_a_run(seed: int, target: str) -> None:
    """Within 1 %, with as many iterations as are assumed of a loop whose number is not known."""
    text = mixed(seed, target)
    (function,) = (op for op in parse(text).walk() if op.name == "func.func")
    (sequence,) = sequences(function, target)
    a, b, n = arguments(ASSUMED_TRIPS)
    run = modelled_cycles(lowered(text)[0], {"a": a, "b": b, "n": n}).total.cycles
    assert Timeline(Costs(target, 1.0)).time(sequence) == pytest.approx(run, rel=0.01)
