"""Launches that come again: what they leave in buffers is, bit for bit, what their instructions leave."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from parse_helpers import parsed
from product_programs import Writer as ProductWriter

from examples.run_all import load
from pto_dialect.accel.replay import batch, keep
from pto_dialect.runtime.errors import ProgramError
from pto_dialect.runtime.run import launch
from pto_dialect.runtime.run.launch import Kernel
from pto_dialect.runtime.run.machine import RunOptions

ROOT = Path(__file__).resolve().parents[3]
SIZE = 4096


def replayed(text: str, arguments: list[Any], blocks: int = 1, target: str = "a5", **options: Any) -> bool:
    """Whether a launch is replayed; all buffers are compared with those of its instructions."""
    module, found = parsed(text)
    assert found == []
    kernel = Kernel(module, None, target, RunOptions(**options))
    return again(kernel, arguments, blocks)


def again(kernel: Kernel, arguments: list[Any], blocks: int) -> bool:
    """The same for a kernel."""

    def copies() -> list[Any]:
        return [value.copy() if isinstance(value, np.ndarray) else value for value in arguments]

    expected = copies()
    kernel.run(expected, blocks)
    replays = keep.Replays(kernel, 0)
    done = False
    # The first launch is only counted, the second makes the plan, the third uses it.
    for number in range(3):
        given = copies()
        done = replays.run(given, blocks)
        assert not (done and number == 0)
        if done:
            for one, other in zip(given, expected, strict=True):
                if isinstance(one, np.ndarray):
                    assert one.tobytes() == other.tobytes()
        else:
            assert all(
                not isinstance(a, np.ndarray) or a.tobytes() == b.tobytes()
                for a, b in zip(given, copies(), strict=True)
            )
    return done


# ------------------------------------------------------------ generated programs


class Writer:
    """A random program of loads, arithmetic and stores on tiles whose bytes may be shared."""

    ROWS, COLS = 8, 32

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.fresh = 0
        self.lines: list[str] = []
        self.head: list[str] = []
        self.tiles: list[tuple[str, str]] = []
        self.columns: list[tuple[str, str, str, str]] = []
        self.halves: list[tuple[str, str]] = []
        self.apart = self.random.random() < 0.7
        self.in_place = self.random.random() < 0.3
        self.valid = self.random.choice(("", "", ", valid=8x24", ", valid=5x32"))
        at = 0
        for number in range(3):
            at = self._allocate(f"t{number}", f"{self.ROWS}x{self.COLS}xf32{self.valid}", "", 1024, at, self.tiles)
        for number in range(2):
            at = self._column(number, at)
        at = self._allocate("h0", f"{self.ROWS}x{self.COLS}xf16{self.valid}", "", 512, at, self.halves)

    def _place(self, size: int, at: int) -> tuple[int, int]:
        start = at if self.apart else self.random.randrange(0, 96) * 32
        return start, at + size

    def _allocate(self, name: str, shape: str, layout: str, size: int, at: int, kept: list[tuple[str, str]]) -> int:
        start, at = self._place(size, at)
        type_ = f"!pto.tile_buf<vec, {shape}{layout}>"
        self.head.append(f"  %at_{name} = arith.constant {start} : i64")
        self.head.append(f"  %{name} = pto.alloc_tile addr = %at_{name} : {type_}")
        kept.append((f"%{name}", type_))
        return at

    def _column(self, number: int, at: int) -> int:
        rows = 5 if "5x" in self.valid else self.ROWS
        valid = f", valid={rows}x1" if rows != self.ROWS else ""
        found: list[tuple[str, str]] = []
        at = self._allocate(f"s{number}", f"{self.ROWS}x1xf32{valid}", ", blayout=col_major", 32, at, found)
        (name, type_), row = found[0], f"!pto.tile_buf<vec, 1x{self.ROWS}xf32>"
        self.head.append(f"  {name}r = pto.treshape {name} : {type_} -> {row}")
        self.columns.append((name, type_, f"{name}r", row))
        return at

    @property
    def shape(self) -> tuple[int, int]:
        """The valid region of tiles."""
        return {", valid=8x24": (8, 24), ", valid=5x32": (5, 32)}.get(self.valid, (self.ROWS, self.COLS))

    def _part(self, pad: str, index: str, buffer: str, element: str = "f32") -> tuple[str, str]:
        self.fresh += 1
        rows, cols = self.shape
        row, col = self.random.choice((index, index, "%c8", "%c16")), self.random.choice(("%c0", "%c0", "%c32"))
        type_ = f"!pto.partition_tensor_view<{rows}x{cols}x{element}>"
        self.lines.append(
            f"{pad}%p{self.fresh} = pto.partition_view %{buffer}v, offsets = [{row}, {col}],"
            f" sizes = [%c{rows}, %c{cols}] : !pto.tensor_view<64x64x{element}> -> {type_}"
        )
        return f"%p{self.fresh}", type_

    def _line(self, pad: str, op: str, given: list[tuple[str, str]], target: tuple[str, str]) -> None:
        names, types = ", ".join(name for name, _ in given), ", ".join(type_ for _, type_ in given)
        self.lines.append(f"{pad}pto.{op} ins({names} : {types}) outs({target[0]} : {target[1]})")

    def statement(self, pad: str, index: str, depth: int) -> None:
        """One statement, which may be a loop or a choice."""
        pick = self.random.choice
        kind = pick(("load", "load", "two", "two", "one", "number", "rows", "row", "expand", "store", "move", "more"))
        one, two, dst = pick(self.tiles), pick(self.tiles), pick(self.tiles)
        column = pick(self.columns)
        if kind == "load":
            buffer = pick(("a", "b", "y")) if self.in_place else pick(("a", "b"))
            part, type_ = self._part(pad, index, buffer)
            self._line(pad, "tload", [(part, type_)], dst)
        elif kind == "two":
            self._line(pad, pick(("tadd", "tsub", "tmul", "tmax", "tmin", "tdiv")), [one, two], dst)
        elif kind == "one":
            self._line(pad, pick(("texp", "tabs", "tneg", "trelu", "tsqrt", "trsqrt")), [one], dst)
        elif kind == "number":
            self._line(pad, pick(("tadds", "tmuls", "tmaxs")), [one, (pick(("%half", "%x")), "f32")], dst)
        elif kind == "rows":
            names = ("trowsum", "trowmax", "trowmin")
            self._line(pad, pick(names), [one, two], (column[0], column[1]))
        elif kind == "row":
            other = pick(self.columns)
            op = pick(("tadd", "tmul", "tmax"))
            self._line(pad, op, [(column[2], column[3]), (other[2], other[3])], (other[2], other[3]))
        elif kind == "expand":
            op = pick(("trowexpandadd", "trowexpandmul", "trowexpandsub", "trowexpandmax"))
            self._line(pad, op, [one, (column[0], column[1])], dst)
        elif kind == "move":
            way = pick((0, 1, 2, 3))
            half = self.halves[0]
            if way == 0:
                self._line(pad, "tmov", [one], dst)
            elif way == 1:
                self._line(pad, "tcvt", [one], half)
                self._line(pad, "tcvt", [half], dst)
            elif way == 2:
                self._line(pad, "tadd", [half, half], half)
            else:
                self._line(pad, "texpands", [("%half", "f32")], dst)
        elif kind == "store":
            part, type_ = self._part(pad, index, "y")
            self._line(pad, "tstore", [one], (part, type_))
        elif depth:
            self._region(pad, index, depth)

    def _region(self, pad: str, index: str, depth: int) -> None:
        self.fresh += 1
        if self.random.random() < 0.7:
            name = f"%i{self.fresh}"
            self.lines.append(f"{pad}scf.for {name} = %c0 to %c32 step %c8 {{")
            self.body(pad + "  ", name, depth - 1, 8)
        else:
            self.lines.append(f"{pad}%is{self.fresh} = arith.cmpi ult, {index}, %c16 : index")
            self.lines.append(f"{pad}scf.if %is{self.fresh} {{")
            self.body(pad + "  ", index, depth - 1, 4)
        self.lines.append(f"{pad}}}")

    def body(self, pad: str, index: str, depth: int, count: int) -> None:
        """Statements one after the other."""
        for _ in range(count):
            self.statement(pad, index, depth)

    def loop(self) -> None:
        """A loop over blocks of rows, as kernels have it."""
        self.fresh += 1
        name = f"%i{self.fresh}"
        self.lines.append(f"  scf.for {name} = %c0 to %c64 step %c8 {{")
        for tile in self.tiles[:2]:
            rows, cols = self.shape
            type_ = f"!pto.partition_tensor_view<{rows}x{cols}xf32>"
            self.fresh += 1
            self.lines.append(
                f"    %p{self.fresh} = pto.partition_view %av, offsets = [{name}, %c0], sizes = [%c{rows}, %c{cols}]"
                f" : !pto.tensor_view<64x64xf32> -> {type_}"
            )
            self._line("    ", "tload", [(f"%p{self.fresh}", type_)], tile)
        self.body("    ", name, 1, 10)
        rows, cols = self.shape
        type_ = f"!pto.partition_tensor_view<{rows}x{cols}xf32>"
        self.lines.append(
            f"    %q{self.fresh} = pto.partition_view %yv, offsets = [{name}, %c32], sizes = [%c{rows}, %c{cols}]"
            f" : !pto.tensor_view<64x64xf32> -> {type_}"
        )
        self._line("    ", "tstore", [self.random.choice(self.tiles)], (f"%q{self.fresh}", type_))
        self.lines.append("  }")

    def text(self) -> str:
        """The program."""
        pick = self.random.choice
        for name, type_ in (*self.tiles, *self.halves):
            element = "f16" if "f16" in type_ else "f32"
            self.lines.append(f"  %z{name[1:]} = arith.constant 0.25 : {element}")
            self._line("  ", "texpands", [(f"%z{name[1:]}", element)], (name, type_))
        for _, _, row, type_ in self.columns:
            self._line("  ", "texpands", [("%half", "f32")], (row, type_))
        for _ in range(2):
            self.loop() if pick((True, True, False)) else self.body("  ", "%c0", 2, 10)
        views = [
            f"  %{name}v = pto.make_tensor_view %{name}, shape = [%c64, %c64], strides = [%c64, %c1]"
            " : !pto.tensor_view<64x64xf32>"
            for name in ("a", "b", "y")
        ]
        constants = [f"  %c{n} = arith.constant {n} : index" for n in (0, 1, 5, 8, 16, 24, 32, 64)]
        constants.append("  %half = arith.constant 0.5 : f32")
        head = "func.func @k(%a: !pto.ptr<f32>, %b: !pto.ptr<f32>, %y: !pto.ptr<f32>, %x: f32) {"
        return "\n".join([head, *constants, *views, *self.head, *self.lines, "  return", "}"])


def matrices(seed: int) -> list[Any]:
    """Arguments of a generated program; some have infinities."""
    rng = np.random.default_rng(seed)
    found: list[Any] = [rng.standard_normal(SIZE).astype(np.float32) for _ in range(3)]
    if seed % 3 == 0:
        found[0][rng.integers(0, SIZE, 20)] = np.inf
    return [*found, 1.5]


@pytest.mark.parametrize("part", range(8))
def test_generated_programs_leave_the_same_buffers(part: int, monkeypatch: pytest.MonkeyPatch) -> None:
    if part % 2:
        # Groups of one to a few tiles.
        monkeypatch.setattr(batch, "MOST_BYTES", 3000)
    accepted = 0
    for seed in range(part * 25, part * 25 + 25):
        accumulate = "exact" if seed % 5 == 0 else "fast"
        accepted += replayed(Writer(seed).text(), matrices(seed), 1 + seed % 2, accumulate=accumulate)
    assert accepted >= 5


@pytest.mark.parametrize("part", range(2))
def test_generated_products_leave_the_same_buffers(part: int) -> None:
    accepted = 0
    for seed in range(part * 20, part * 20 + 20):
        writer = ProductWriter(seed)
        text, accumulate = writer.text(), "exact" if seed % 5 == 0 else "fast"
        try:
            accepted += replayed(text, writer.arguments("nothing"), 1 + seed % 2, accumulate=accumulate)
        except ProgramError as fault:
            # Some of these programs store what does not fit.
            assert fault.rule == "tload-count"
    assert accepted


# ------------------------------------------------------------ known programs


def attention(causal: bool) -> list[Any]:
    """Arguments of the attention example: two heads of 128 queries."""
    rng = np.random.default_rng(0)
    shape = (2, 128, 128)
    q, k, v = (rng.standard_normal(shape).astype(np.float16) for _ in range(3))
    slots = np.zeros(2 * 32_768, np.float32)
    return [q, k, v, np.zeros(shape, np.float32), slots, 2, 128, 0.088, causal]


@pytest.mark.parametrize("target", ["a2a3", "a5"])
@pytest.mark.parametrize("causal", [False, True])
def test_attention_leaves_the_same_buffers(target: str, causal: bool) -> None:
    text = (ROOT / "examples/flash_attention/flash_attention.pto").read_text()
    assert replayed(text, attention(causal), 2, target)


@pytest.mark.parametrize("accumulate", ["fast", "exact"])
@pytest.mark.parametrize("example", ["gemm", "gemv_decode", "rms_norm", "swiglu_mlp"])
def test_examples_leave_the_same_buffers(example: str, accumulate: str) -> None:
    # Micro-instructions are not replayed.
    tiles = [case for case in load(example)[0] if not case.program.endswith("_instructions.pto")]
    assert tiles
    for case in tiles:
        text = (ROOT / "examples" / example / case.program).read_text(encoding="utf-8")
        module, _ = parsed(text)
        for target in case.targets:
            kernel = Kernel(module, case.entry, target, RunOptions(accumulate=accumulate))
            assert again(kernel, list(case.data.values()), case.blocks)


@pytest.mark.parametrize("accumulate", ["fast", "exact"])
def test_a_product_of_matrices_leaves_the_same_buffers(accumulate: str) -> None:
    text = (ROOT / "tests/tools/programs/gemm.pto").read_text()
    module, _ = parsed(text)
    kernel = Kernel(module, None, "a5", RunOptions(accumulate=accumulate))
    rng = np.random.default_rng(1)
    values = [rng.standard_normal(1 << 16).astype(np.float16 if "f16" in str(t) else np.float32) for _, t in
              kernel.arguments]  # fmt: skip
    assert again(kernel, values, 1)


# ------------------------------------------------------------ when launches are replayed

TILE, PART = "!pto.tile_buf<vec, 8x32xf32>", "!pto.partition_tensor_view<8x32xf32>"
LOOP = f"""func.func @k(%a: !pto.ptr<f32>, %y: !pto.ptr<f32>, %x: f32) {{
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %c32 = arith.constant 32 : index
  %c64 = arith.constant 64 : index
  %av = pto.make_tensor_view %a, shape = [%c64, %c32], strides = [%c32, %c1] : !pto.tensor_view<64x32xf32>
  %yv = pto.make_tensor_view %y, shape = [%c64, %c32], strides = [%c32, %c1] : !pto.tensor_view<64x32xf32>
  %t = pto.alloc_tile : {TILE}
  scf.for %i = %c0 to %c64 step %c8 {{
    %ap = pto.partition_view %av, offsets = [%i, %c0], sizes = [%c8, %c32] : !pto.tensor_view<64x32xf32> -> {PART}
    %yp = pto.partition_view %yv, offsets = [%i, %c0], sizes = [%c8, %c32] : !pto.tensor_view<64x32xf32> -> {PART}
    pto.tload ins(%ap : {PART}) outs(%t : {TILE})
    pto.tmuls ins(%t, %x : {TILE}, f32) outs(%t : {TILE})
    pto.tstore ins(%t : {TILE}) outs(%yp : {PART})
  }}
  return
}}"""


def ones() -> list[Any]:
    """Arguments of the loop."""
    return [np.ones(2048, np.float32), np.zeros(2048, np.float32), 2.0]


def kernel_of(text: str) -> Kernel:
    """A kernel that replays as soon as a launch comes again."""
    module, found = parsed(text)
    assert found == []
    kernel = Kernel(module, None, "a5", RunOptions())
    kernel._replays = keep.Replays(kernel, 0)
    return kernel


@pytest.fixture(autouse=True)
def _at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(launch, "PATIENCE", -1)


def test_a_loop_is_one_call() -> None:
    kernel = kernel_of(LOOP)
    for _ in range(3):
        values = ones()
        kernel.run(values)
        assert (values[1] == 2).all()
    (plan,) = kernel._replays._plans.values()
    assert plan.count == 1


def test_values_between_stand_where_the_result_is_stored() -> None:
    kernel = kernel_of(
        LOOP.replace("    pto.tstore", f"    pto.tadds ins(%t, %x : {TILE}, f32) outs(%t : {TILE})\n    pto.tstore")
    )
    for _ in range(3):
        values = ones()
        kernel.run(values)
        assert (values[1] == 4).all()
    (plan,) = kernel._replays._plans.values()
    # Between launches a plan knows no argument.
    assert [operands[-1] for _, operands in plan._calls] == [None, None]


def test_other_numbers_and_sizes_are_other_launches() -> None:
    kernel = kernel_of(LOOP)
    for factor in (2.0, 3.0, -0.0, 0.0, 2.0, 3.0, -0.0, 0.0):
        values = [np.ones(2048, np.float32), np.ones(2048, np.float32), factor]
        kernel.run(values)
        assert values[1].tobytes() == (values[0] * np.float32(factor)).tobytes()
    assert len(kernel._replays._plans) == 4
    for _ in range(3):
        with pytest.raises(ProgramError, match="outside"):
            kernel.run([np.ones(1024, np.float32), np.ones(2048, np.float32), 2.0])


def test_arguments_that_share_memory_take_their_instructions() -> None:
    kernel = kernel_of(LOOP)
    for _ in range(4):
        memory = np.ones(2048 + 256, np.float32)
        expected = np.append(np.ones(256), 2.0 ** np.repeat(np.arange(1, 9), 256)).astype(np.float32)
        kernel.run([memory[:2048], memory[256:], 2.0])
        assert (memory == expected).all()
    assert not kernel._replays._plans


def test_an_argument_that_is_given_twice_belongs_to_no_plan() -> None:
    text = LOOP.replace("%y: !pto", "%b: !pto.ptr<f32>, %y: !pto").replace(
        "    pto.tmuls ins(%t, %x",
        "    %bp = pto.partition_view %bv, offsets = [%i, %c0], sizes = [%c8, %c32] : !pto.tensor_view<64x32xf32>"
        f" -> {PART}\n    pto.tload ins(%bp : {PART}) outs(%u : {TILE})"
        f"\n    pto.tadd ins(%t, %u : {TILE}, {TILE}) outs(%t : {TILE})\n    pto.tmuls ins(%t, %x",
    )
    text = text.replace("  %yv =", "  %bv = pto.make_tensor_view %b, shape = [%c64, %c32], strides = [%c32, %c1]"
                        f" : !pto.tensor_view<64x32xf32>\n  %u = pto.alloc_tile : {TILE}\n  %yv =")  # fmt: skip
    kernel = kernel_of(text)
    one, other = np.ones(2048, np.float32), np.full(2048, 3, np.float32)
    for first, second, expected in [(one, one, 2), (one, one, 2), (one, other, 4), (one, other, 4), (other, one, 4),
                                    (one, one, 2), (other, other, 6)]:  # fmt: skip
        y = np.zeros(2048, np.float32)
        kernel.run([first, second, y, 1.0])
        assert (y == expected).all()
    assert kernel._replays._plans


def test_a_plan_keeps_no_argument() -> None:
    import gc
    import weakref

    kernel = kernel_of(LOOP)
    for _ in range(3):
        values = ones()
        seen = weakref.ref(values[0])
        kernel.run(values)
        del values
        gc.collect()
        assert seen() is None


def test_launches_that_nobody_repeats_are_not_looked_at() -> None:
    kernel = kernel_of(LOOP)
    for number in range(200):
        kernel.run([np.ones(2048, np.float32), np.zeros(2048, np.float32), float(number)])
    assert not kernel._replays._plans and len(kernel._replays._owed) <= keep.MOST_KEYS + 1


def test_time_decides() -> None:
    kernel = kernel_of(LOOP)
    replays = keep.Replays(kernel, 1.0)
    for seconds in (0.4, 0.4, 0.4):
        assert not replays.run(ones(), 1)
        replays.learn(seconds)
    # The length of the launch is known now: 24 steps.
    replays._owed = {key: owed - 0.2 + 1e-9 for key, owed in replays._owed.items()}
    assert replays.run(ones(), 1)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("  return", f"  %n = pto.tgetval ins(%t, %c0 : {TILE}, index) outs : f32\n  return"),
        ("  return", f"  pto.tprint ins(%t : {TILE})\n  return"),
    ],
)
def test_programs_with_other_instructions_are_refused(old: str, new: str) -> None:
    module, _ = parsed(LOOP.replace(old, new))
    assert keep.Replays(Kernel(module, None, "a5", RunOptions()), 0).refused


def test_memory_that_starts_with_something_is_refused() -> None:
    module, _ = parsed(LOOP)
    assert keep.Replays(Kernel(module, None, "a5", RunOptions(fill="poison")), 0).refused


def test_what_is_stored_where_it_was_loaded_comes_last() -> None:
    text = LOOP.replace("%yv, offsets = [%i, %c0]", "%av, offsets = [%i, %c0]")
    assert replayed(text, [np.arange(2048, dtype=np.float32), np.zeros(2048, np.float32), 2.0])


def straight(*lines: str) -> str:
    """A program on three tiles and four arguments of one tile each: letters are tiles, or arguments in capitals."""
    types = {f"%{name}": TILE for name in "tuv"} | {f"%{name}p": PART for name in "abyz"} | {"%x": "f32"}
    body: list[str] = []
    for line in lines:
        op, *given, target = line.split()
        names = [f"%{name.lower()}p" if name.isupper() else f"%{name}" for name in (*given, target)]
        stated = [types[name] for name in names]
        ins = f"{', '.join(names[:-1])} : {', '.join(stated[:-1])}"
        body.append(f"  pto.{op} ins({ins}) outs({names[-1]} : {stated[-1]})")
    views = [
        f"  %{name}v = pto.make_tensor_view %{name}, shape = [%c8, %c32], strides = [%c32, %c1]"
        " : !pto.tensor_view<8x32xf32>\n"
        f"  %{name}p = pto.partition_view %{name}v, offsets = [%c0, %c0], sizes = [%c8, %c32]"
        f" : !pto.tensor_view<8x32xf32> -> {PART}"
        for name in "abyz"
    ]
    head = "func.func @k(%a: !pto.ptr<f32>, %b: !pto.ptr<f32>, %y: !pto.ptr<f32>, %z: !pto.ptr<f32>, %x: f32) {"
    constants = [f"  %c{n} = arith.constant {n} : index" for n in (0, 1, 8, 32)]
    tiles = [f"  %{name} = pto.alloc_tile : {TILE}" for name in "tuv"]
    return "\n".join([head, *constants, *views, *tiles, *body, "  return", "}"])


def four() -> list[Any]:
    """Arguments of such a program."""
    rng = np.random.default_rng(3)
    return [*(rng.standard_normal(256).astype(np.float32) for _ in range(4)), 1.25]


@pytest.mark.parametrize(
    "lines",
    [
        # What is stored to %a comes first in the text, what was loaded from there is used behind it.
        ("tload A t", "tload B u", "tmuls u x u", "tstore u A", "tadds t x t", "tstore t Y"),
        ("tload A t", "tload B u", "tmuls u x u", "tstore u A", "trelu t t", "tstore t Y"),
        ("tload A t", "tload B u", "tstore u A", "tstore t B"),
        # %y is stored while a value that looks like it is still needed.
        ("tload A t", "tload B u", "tmuls t x t", "tstore t Y", "tadds u x v", "tmul v u v", "tstore v Z"),
        ("tload A t", "tadds t x u", "tmul u t v", "tstore v Y", "tsub u t v", "tstore v Z"),
        # A store over a store, and over what was loaded from it.
        ("tload A t", "tstore t Y", "tload Y u", "tadds u x u", "tstore u Y", "tstore t Z"),
        ("tload Y t", "tstore t Y", "tload Y u", "tadd t u u", "tstore u Y"),
    ],
)
def test_the_order_of_loads_and_stores(lines: tuple[str, ...]) -> None:
    done = replayed(straight(*lines), four())
    assert done or "tstore u A tstore t B" in " ".join(lines)


def test_rows_that_are_moved_inside_of_an_argument_are_refused() -> None:
    text = LOOP.replace("%yv, offsets = [%i, %c0]", "%av, offsets = [%c0, %c0]")
    text = text.replace(f"    pto.tmuls ins(%t, %x : {TILE}, f32) outs(%t : {TILE})\n", "")
    assert not replayed(text, [np.arange(2048, dtype=np.float32), np.zeros(2048, np.float32), 2.0])


def test_watched_kernels_are_not_replayed() -> None:
    from pto_dialect.sanitize.launch import InstrumentedKernel

    assert Kernel.replayed and not InstrumentedKernel.replayed
