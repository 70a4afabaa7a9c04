"""Repeated launches: what they leave in buffers is, bit for bit, what their instructions leave."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from elementwise_programs import TileWriter, matrices
from parse_helpers import parsed
from product_programs import Writer as ProductWriter
from sampling import sampled

from examples.run_all import load
from pto_dialect.accel.replay import batch, keep
from pto_dialect.runtime.errors import ProgramError
from pto_dialect.runtime.run import launch
from pto_dialect.runtime.run.launch import Kernel
from pto_dialect.runtime.run.machine import RunOptions

ROOT = Path(__file__).resolve().parents[3]


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


@pytest.mark.parametrize("part", range(8))
def test_generated_programs_leave_the_same_buffers(part: int, monkeypatch: pytest.MonkeyPatch) -> None:
    if part % 2:
        # Groups of one to a few tiles.
        monkeypatch.setattr(batch, "MOST_BYTES", 3000)
    accepted = 0
    for seed in sampled(range(part * 25, part * 25 + 25), 2):
        accumulate = "exact" if seed % 5 == 0 else "fast"
        accepted += replayed(TileWriter(seed).text(), matrices(seed), 1 + seed % 2, accumulate=accumulate)
    assert accepted >= 2


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


def test_intermediate_values_are_computed_in_the_memory_of_the_result() -> None:
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


def test_launches_with_other_scalars_or_sizes_have_plans_of_their_own() -> None:
    kernel = kernel_of(LOOP)
    for factor in (2.0, 3.0, -0.0, 0.0, 2.0, 3.0, -0.0, 0.0):
        values = [np.ones(2048, np.float32), np.ones(2048, np.float32), factor]
        kernel.run(values)
        assert values[1].tobytes() == (values[0] * np.float32(factor)).tobytes()
    assert len(kernel._replays._plans) == 4
    for _ in range(3):
        with pytest.raises(ProgramError, match="outside"):
            kernel.run([np.ones(1024, np.float32), np.ones(2048, np.float32), 2.0])


def test_overlapping_arguments_are_not_replayed() -> None:
    kernel = kernel_of(LOOP)
    for _ in range(4):
        memory = np.ones(2048 + 256, np.float32)
        expected = np.append(np.ones(256), 2.0 ** np.repeat(np.arange(1, 9), 256)).astype(np.float32)
        kernel.run([memory[:2048], memory[256:], 2.0])
        assert (memory == expected).all()
    assert not kernel._replays._plans


def test_plans_allow_one_array_as_several_arguments() -> None:
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


def test_a_plan_holds_no_reference_to_arguments() -> None:
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


def test_launches_that_are_not_repeated_get_no_plan() -> None:
    kernel = kernel_of(LOOP)
    for number in range(200):
        kernel.run([np.ones(2048, np.float32), np.zeros(2048, np.float32), float(number)])
    assert not kernel._replays._plans and len(kernel._replays._owed) <= keep.MOST_KEYS + 1


def test_a_plan_is_made_when_it_saves_time() -> None:
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


def test_runs_with_filled_memory_are_refused() -> None:
    module, _ = parsed(LOOP)
    assert keep.Replays(Kernel(module, None, "a5", RunOptions(fill="poison")), 0).refused


def test_stores_to_a_loaded_argument_are_ordered_after_the_loads() -> None:
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
        # What is stored to %a comes first in the text, what was loaded from there is used after it.
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
def test_loads_and_stores_of_the_same_memory_keep_their_order(lines: tuple[str, ...]) -> None:
    done = replayed(straight(*lines), four())
    assert done or "tstore u A tstore t B" in " ".join(lines)


def test_copies_between_rows_of_one_argument_are_refused() -> None:
    text = LOOP.replace("%yv, offsets = [%i, %c0]", "%av, offsets = [%c0, %c0]")
    text = text.replace(f"    pto.tmuls ins(%t, %x : {TILE}, f32) outs(%t : {TILE})\n", "")
    assert not replayed(text, [np.arange(2048, dtype=np.float32), np.zeros(2048, np.float32), 2.0])


def test_instrumented_kernels_are_not_replayed() -> None:
    from pto_dialect.sanitize.launch import InstrumentedKernel

    assert Kernel.replayed and not InstrumentedKernel.replayed
