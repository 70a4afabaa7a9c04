"""Vector instructions of a2a3 against loops over single lanes: repeats, strides, mask register and counter mode."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from parse_helpers import parsed
from tile_run_helpers import DTYPES
from tile_values import edges, is_float, random_values, same, wrapped

from pto_dialect.runtime.errors import ProgramError
from pto_dialect.runtime.run.launch import Kernel
from pto_dialect.runtime.run.machine import RunOptions

BYTES = 4096
"""Of each of the three regions %d, %a, %b of the unified buffer."""
POINTERS = {"d": 0, "a": BYTES, "b": 2 * BYTES}
FULL = (-1, -1)


def run(statements: str, element: str, content: dict[str, np.ndarray]) -> np.ndarray:
    """What region %d holds after ``statements``; ``content`` is what the regions hold before."""
    words = {word for word in statements.replace(",", " ").split() if word.startswith("%n")}
    numbers = {int(word[2:].replace("m", "-")) for word in words}
    count = content["d"].size
    lines = [f"{n(number)} = arith.constant {number} : i64" for number in sorted(numbers)]
    lines += [f"%c{number} = arith.constant {number} : index" for number in sorted({0, 1, count})]
    view, part = f"!pto.tensor_view<1x{count}x{element}>", f"!pto.partition_tensor_view<1x{count}x{element}>"
    tile, ub = f"!pto.tile_buf<vec, 1x{count}x{element}>", f"!pto.ptr<{element}, ub>"
    row = f"shape = [%c1, %c{count}], strides = [%c{count}, %c1]"
    whole = f"offsets = [%c0, %c0], sizes = [%c1, %c{count}]"
    for name, address in POINTERS.items():
        lines += [
            f"%at_{name} = arith.constant {address} : i64",
            f"%{name} = pto.castptr %at_{name} : i64 -> {ub}",
            f"%t_{name} = pto.alloc_tile addr = %at_{name} : {tile}",
            f"%v_{name} = pto.make_tensor_view %g_{name}, {row} : {view}",
            f"%p_{name} = pto.partition_view %v_{name}, {whole} : {view} -> {part}",
            f"pto.tload ins(%p_{name} : {part}) outs(%t_{name} : {tile})",
        ]
    arguments = ", ".join(f"%g_{name}: !pto.ptr<{element}>" for name in POINTERS)
    body = "\n".join([*lines, statements.replace("UB", ub), f"pto.tstore ins(%t_d : {tile}) outs(%p_d : {part})"])
    text = f"""module attributes {{pto.target_arch = "a3"}} {{
    func.func @k({arguments}) attributes {{pto.kernel}} {{
      {body}
      return
    }}
    }}"""
    module, found = parsed(text)
    assert not found, (text, found)
    buffers = [content[name].copy() for name in POINTERS]
    Kernel(module, "k", None, RunOptions()).run(buffers)
    return buffers[0]


def n(value: int) -> str:
    return f"%n{str(value).replace('-', 'm')}"


def masking(mask: tuple[int, int], counter: bool) -> str:
    mode = "count" if counter else "norm"
    return f"pto.ub.set_mask_{mode}\npto.ub.set_mask {n(mask[0])}, {n(mask[1])} : i64, i64\n"


def lanes_of(mask: tuple[int, int], counter: bool, repeats: int, size: int) -> list[list[int]]:
    """Active lanes of each repeat."""
    lanes = 256 // size
    if counter:
        return [list(range(min(lanes, mask[0] - start))) for start in range(0, mask[0], lanes)]
    bits = [mask[i // 64] >> (i % 64) & 1 for i in range(lanes)]
    return [[i for i in range(lanes) if bits[i]]] * repeats


def model(
    function: Callable[..., Any],
    element: str,
    content: dict[str, np.ndarray],
    names: str,
    strides: list[tuple[int, int]],
    active: list[list[int]],
) -> np.ndarray:
    """The destination after one instruction; ``strides`` are block and repeat strides of %d and of ``names``."""
    data = {name: values.copy() for name, values in content.items()}
    size = data["d"].dtype.itemsize
    block = 32 // size
    for repeat, lanes in enumerate(active):
        results = []
        for lane in lanes:
            places = [(repeat * rs + lane // block * bs) * block + lane % block for bs, rs in strides]
            values = [data[name][place] for name, place in zip(names, places[1:], strict=True)]
            results.append((places[0], number(function, element, *values)))
        for place, value in results:
            data["d"][place] = value
    return data["d"]


def number(function: Callable[..., Any], element: str, *values: Any) -> Any:
    with np.errstate(all="ignore"):
        if is_float(element):
            return np.float32(function(*(np.float32(v) for v in values))).astype(DTYPES[element])
        return np.array(wrapped(int(function(*(int(v) for v in values))), element), DTYPES[element])


def memory(element: str, seed: int = 3) -> dict[str, np.ndarray]:
    rng = np.random.default_rng(seed)
    count = BYTES // np.dtype(DTYPES[element]).itemsize
    content = {name: random_values(element, (count,), rng) for name in POINTERS}
    content["a"][:16] = edges(element)
    content["b"][8:24] = edges(element)
    return content


def nan_max(a: Any, b: Any) -> Any:
    return a if a != a or a > b else b


def nan_min(a: Any, b: Any) -> Any:
    return a if a != a or a < b else b


BINARY: dict[str, tuple[tuple[str, ...], Callable[[Any, Any], Any]]] = {
    "vadd": (("f16", "f32", "i16", "i32"), lambda a, b: a + b),
    "vsub": (("f16", "f32", "i16", "i32"), lambda a, b: a - b),
    "vmul": (("f16", "f32", "i16", "i32"), lambda a, b: a * b),
    "vdiv": (("f16", "f32"), np.divide),
    "vmax": (("f16", "f32", "i16", "i32"), nan_max),
    "vmin": (("f16", "f32", "i16", "i32"), nan_min),
    "vand": (("i16", "ui16", "i32"), lambda a, b: a & b),
    "vor": (("i16", "ui16", "i32"), lambda a, b: a | b),
    "vaddrelu": (("f16", "f32"), lambda a, b: nan_max(a + b, np.float32(0))),
}
UNARY: dict[str, tuple[tuple[str, ...], Callable[[Any], Any]]] = {
    "vabs": (("f16", "f32"), abs),
    "vexp": (("f16", "f32"), lambda a: np.float32(math.exp(min(float(a), 80.0)))),
    "vln": (("f16", "f32"), lambda a: np.log(np.float64(a))),
    "vnot": (("i16", "ui16", "i32"), lambda a: ~a),
    "vrelu": (("f16", "f32", "i32"), lambda a: nan_max(a, a * 0 if a == a and abs(a) < 1e30 else type(a)(0))),
    "vrsqrt": (("f16", "f32"), lambda a: 1 / np.sqrt(np.float64(a))),
    "vsqrt": (("f16", "f32"), lambda a: np.sqrt(np.float64(a))),
}
SCALAR: dict[str, tuple[tuple[str, ...], Callable[[Any, Any], Any]]] = {
    "vadds": (("f16", "f32", "i16", "i32"), lambda a, s: a + s),
    "vmuls": (("f16", "f32", "i16", "i32"), lambda a, s: a * s),
    "vmaxs": (("f16", "f32", "i16", "i32"), nan_max),
    "vmins": (("f16", "f32", "i16", "i32"), nan_min),
}
MASKS = [
    (FULL, False, 3), ((0x8000_0000_0000_F0F1, 0x55), False, 2), ((0, 0), False, 2), (FULL, False, 0),
    ((100, 0), True, 1), ((7, 99), True, 9), ((256, 0), True, 0),
]  # fmt: skip
"""Mask register (low, high), counter mode, repeats."""


def signed(mask: tuple[int, int]) -> tuple[int, int]:
    low, high = ((x + (1 << 63)) % (1 << 64) - (1 << 63) for x in mask)
    return low, high


@pytest.mark.parametrize(("op", "element"), [(op, e) for op, (types, _) in BINARY.items() for e in types])
def test_two_sources(op: str, element: str) -> None:
    content = memory(element)
    ub = ", ".join(["UB"] * 3)
    for mask, counter, repeats in MASKS:
        low, high = signed(mask)
        for strides in ([(1, 8), (1, 8), (1, 8)], [(2, 17), (1, 8), (0, 1)], [(1, 9), (3, 2), (1, 0)]):
            order = [repeats, *(s for s, _ in strides), *(s for _, s in strides)]
            text = f"pto.ub.{op} %d, %a, %b, {', '.join(map(n, order))} : {ub}{', i64' * 7}"
            found = run(masking((low, high), counter) + text, element, content)
            active = lanes_of((mask[0] % 2**64, mask[1] % 2**64), counter, repeats, found.itemsize)
            same(found, model(BINARY[op][1], element, content, "ab", strides, active))


def close(found: np.ndarray, wanted: np.ndarray) -> None:
    x, y = found.astype(np.float64), wanted.astype(np.float64)
    tolerance = 2.0**-10 if found.itemsize == 2 else 1e-6
    np.testing.assert_allclose(x, y, rtol=tolerance, atol=2.0**-24)


@pytest.mark.parametrize(("op", "element"), [(op, e) for op, (types, _) in UNARY.items() for e in types])
def test_one_source(op: str, element: str) -> None:
    content = memory(element)
    if op == "vexp":
        content["a"] = np.clip(np.nan_to_num(content["a"].astype(np.float32)), -8, 8).astype(content["a"].dtype)
    for mask, counter, repeats in MASKS:
        for strides in ([(1, 8), (1, 8)], [(2, 16), (1, 4)]):
            order = [repeats, *(s for s, _ in strides), *(s for _, s in strides)]
            text = f"pto.ub.{op} %d, %a, {', '.join(map(n, order))} : UB, UB{', i64' * 5}"
            found = run(masking(signed(mask), counter) + text, element, content)
            active = lanes_of((mask[0] % 2**64, mask[1] % 2**64), counter, repeats, found.itemsize)
            wanted = model(UNARY[op][1], element, content, "a", strides, active)
            (close if is_float(element) else same)(found, wanted)


@pytest.mark.parametrize(("op", "element"), [(op, e) for op, (types, _) in SCALAR.items() for e in types])
def test_source_and_number(op: str, element: str) -> None:
    """The number is in the low bits of a 64-bit register, floats as their bits."""
    content = memory(element)
    value = np.array(-3.5 if is_float(element) else -3, DTYPES[element])
    word = int(value.view(f"u{value.itemsize}")) if is_float(element) else -3
    text = f"pto.ub.{op} %d, %a, {', '.join(map(n, (word, 2, 1, 1, 8, 8)))} : UB, UB{', i64' * 6}"
    found = run(text, element, content)
    active = lanes_of((2**64 - 1, 2**64 - 1), False, 2, found.itemsize)
    wanted = model(lambda a: SCALAR[op][1](a, type(a)(value)), element, content, "a", [(1, 8), (1, 8)], active)
    same(found, wanted)


@pytest.mark.parametrize("element", ["i16", "ui16", "i32", "ui32"])
@pytest.mark.parametrize("op", ["vshl", "vshr"])
def test_shifts(op: str, element: str) -> None:
    content = memory(element)
    for count in (0, 1, 5, 15):
        text = f"pto.ub.{op} %d, %a, {', '.join(map(n, (count, 2, 1, 1, 8, 8)))} : UB, UB{', i64' * 6}"
        found = run(text, element, content)
        active = lanes_of((2**64 - 1, 2**64 - 1), False, 2, found.itemsize)
        shift: Callable[[Any], Any] = (lambda a, c=count: a << c) if op == "vshl" else (lambda a, c=count: a >> c)
        same(found, model(shift, element, content, "a", [(1, 8), (1, 8)], active))


@pytest.mark.parametrize("element", ["f16", "bf16", "f32", "i16", "ui32"])
def test_duplicate(element: str) -> None:
    content = memory(element)
    value = np.array(2.5 if is_float(element) else 7, DTYPES[element])
    word = int(value.view(f"u{value.itemsize}"))
    for mask, counter, repeats in MASKS:
        text = f"pto.ub.vdup %d, {', '.join(map(n, (word, repeats, 1, 0, 9, 0)))} : UB{', i64' * 6}"
        found = run(masking(signed(mask), counter) + text, element, content)
        active = lanes_of((mask[0] % 2**64, mask[1] % 2**64), counter, repeats, found.itemsize)
        same(found, model(lambda: value, element, content, "", [(1, 9)], active))


def test_repeats_accumulate_in_place() -> None:
    """A destination without repeat stride takes the sum of all repeats."""
    content = memory("f32")
    content["d"][:64] = 0
    text = f"pto.ub.vadd %d, %d, %a, {', '.join(map(n, (5, 1, 1, 1, 0, 0, 8)))} : UB, UB, UB{', i64' * 7}"
    found = run(text, "f32", content)
    total = np.zeros(64, np.float32)
    with np.errstate(all="ignore"):
        for repeat in range(5):
            total = total + content["a"][repeat * 64 : repeat * 64 + 64]
    same(found[:64], total)


def test_bits_of_floats() -> None:
    content = memory("f32")
    text = f"pto.ub.vand %d, %a, %b, {', '.join(map(n, (1, 1, 1, 1, 8, 8, 8)))} : UB, UB, UB{', i64' * 7}"
    found = run(text, "f32", content)
    assert (found[:64].view("u4") == content["a"][:64].view("u4") & content["b"][:64].view("u4")).all()


@pytest.mark.parametrize(
    ("mask", "repeat", "stride", "rule"),
    [
        ("", 256, 8, "ub-repeat"),
        ("", -1, 8, "ub-repeat"),
        (masking((255 * 64 + 64, 0), counter=True), 1, 8, "ub-repeat"),
        ("", 255, 255, "mem-oob"),
    ],
)
def test_faults(mask: str, repeat: int, stride: int, rule: str) -> None:
    order = ", ".join(map(n, (repeat, 1, 1, stride, stride)))
    with pytest.raises(ProgramError) as error:
        run(f"{mask}pto.ub.vabs %d, %a, {order} : UB, UB{', i64' * 5}", "f32", memory("f32"))
    assert error.value.rule == rule


@pytest.mark.parametrize(("op", "element"), [("vadd", "i8"), ("vexp", "i32")])
def test_elements_without_an_instruction(op: str, element: str) -> None:
    sources, numbers = (2, 7) if op == "vadd" else (1, 5)
    operands = ", ".join(["%a", "%b"][:sources] + [n(1)] * numbers)
    with pytest.raises(ProgramError) as error:
        run(
            f"pto.ub.{op} %d, {operands} : {', '.join(['UB'] * (sources + 1))}{', i64' * numbers}",
            element,
            memory(element),
        )
    assert error.value.rule == "unmodelled"
