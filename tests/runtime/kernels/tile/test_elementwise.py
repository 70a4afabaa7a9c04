"""Elementwise tile arithmetic against formulas on single numbers (docs/reference/tiles.md, "Elementwise")."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from groups import in_groups
from tile_run_helpers import run, tile
from tile_values import edges, elementwise, is_float, pairs, random_values, same

ALL = ("i8", "i16", "i32", "ui8", "ui16", "ui32", "f16", "bf16", "f32")
BASIC = ("i16", "i32", "ui16", "ui32", "f16", "f32")
INTEGERS = ("i8", "i16", "i32", "ui8", "ui16", "ui32")


def nan_max(a: Any, b: Any) -> Any:
    return np.float32(np.nan) if np.isnan(a) or np.isnan(b) else max(a, b)


def nan_min(a: Any, b: Any) -> Any:
    return np.float32(np.nan) if np.isnan(a) or np.isnan(b) else min(a, b)


def divide(a: Any, b: Any) -> Any:
    if isinstance(a, int):
        if b == 0:
            return 0
        quotient = abs(a) // abs(b)
        return quotient if (a < 0) == (b < 0) else -quotient
    return np.divide(a, b)


def floored(a: Any, b: Any) -> Any:
    """a − floor(a / b)·b: Python's ``%`` has the sign of the divisor."""
    if isinstance(a, int):
        return a % b if b else 0
    if not (math.isfinite(a) and math.isfinite(b)) or b == 0:
        return np.remainder(a, b)
    return np.float32(float(a) % float(b))


def truncated(a: Any, b: Any) -> Any:
    """a − trunc(a / b)·b: the sign of the dividend."""
    if isinstance(a, int):
        return a - divide(a, b) * b if b else 0
    if math.isnan(a) or math.isnan(b) or math.isinf(a) or b == 0:
        return np.float32(np.nan)
    return np.float32(math.fmod(a, b))


BINARY: dict[str, tuple[tuple[str, ...], Callable[[Any, Any], Any]]] = {
    "tadd": (ALL, lambda a, b: a + b),
    "tsub": (("i8", *BASIC), lambda a, b: a - b),
    "tmul": (BASIC, lambda a, b: a * b),
    "tdiv": (BASIC, divide),
    "tmax": (("i8", "ui8", *BASIC), nan_max),
    "tmin": (ALL, nan_min),
    "trem": (BASIC, floored),
    "tfmod": (BASIC, truncated),
    "tand": (INTEGERS, lambda a, b: a & b),
    "tor": (INTEGERS, lambda a, b: a | b),
    "txor": (INTEGERS, lambda a, b: a ^ b),
    "tprelu": (("f16", "f32"), lambda a, b: a if a > 0 else a * b),
}


@pytest.mark.parametrize(("op", "element"), [(op, e) for op, (types, _) in BINARY.items() for e in types])
def test_two_tiles(op: str, element: str) -> None:
    a, b = pairs(element)
    before = np.full(a.shape, 77).astype(a.dtype)
    extra = ", %t : {a}, {b}, {t}" if op == "trem" else " : {a}, {b}"
    tiles = [tile("a", element, a), tile("b", element, b), tile("d", element, before)]
    if op == "trem":
        tiles.append(tile("t", element, before))
    found = run(f"pto.{op} ins(%a, %b{extra}) outs(%d : {{d}})", *tiles)
    same(found["d"], elementwise(BINARY[op][1], element, a, b))
    same(found["a"], a)
    same(found["b"], b)


@pytest.mark.parametrize("element", INTEGERS)
@pytest.mark.parametrize("op", ["tshl", "tshr"])
def test_shifts_take_the_count_modulo_32(op: str, element: str) -> None:
    """From the width of the elements on nothing is left but the sign of a right shift."""
    a, b = pairs(element)
    b[::2] = np.arange(32)
    found = run(
        f"pto.{op} ins(%a, %b : {{a}}, {{b}}) outs(%d : {{d}})",
        tile("a", element, a), tile("b", element, b), tile("d", element, a),
    )  # fmt: skip
    shift: Callable[[int, int], int] = (lambda x, n: x << n % 32) if op == "tshl" else (lambda x, n: x >> n % 32)
    same(found["d"], elementwise(shift, element, a, b))


UNARY: dict[str, tuple[tuple[str, ...], Callable[[Any], Any]]] = {
    "tabs": (("f16", "f32"), lambda a: -a if a < 0 else a),
    "tneg": (ALL, lambda a: -a),
    "tnot": (INTEGERS, lambda a: -a - 1),
    "trelu": (("i32", "f16", "f32"), lambda a: nan_max(a, type(a)(0))),
    "tsqrt": (("f16", "f32"), np.sqrt),
    "trecip": (("f16", "f32"), lambda a: np.float32(1) / a),
}


@pytest.mark.parametrize(("op", "element"), [(op, e) for op, (types, _) in UNARY.items() for e in types])
def test_one_tile(op: str, element: str) -> None:
    a, _ = pairs(element)
    found = run(f"pto.{op} ins(%a : {{a}}) outs(%d : {{d}})", tile("a", element, a), tile("d", element, a))
    same(found["d"], elementwise(UNARY[op][1], element, a))


TRANSCENDENTAL: dict[str, Callable[[float], float]] = {
    "texp": lambda a: math.inf if a > 700 else math.exp(a),
    "tlog": lambda a: math.nan if a < 0 else -math.inf if a == 0 else math.log(a),
    "trsqrt": lambda a: math.nan if a < 0 else math.copysign(math.inf, a) if a == 0 else 1 / math.sqrt(a),
}


@pytest.mark.parametrize("element", ["f16", "f32"])
@pytest.mark.parametrize("op", TRANSCENDENTAL)
def test_transcendental_functions(op: str, element: str) -> None:
    a, _ = pairs(element)
    found = run(f"pto.{op} ins(%a : {{a}}) outs(%d : {{d}})", tile("a", element, a), tile("d", element, a))
    with np.errstate(all="ignore"):
        wanted = np.array([[TRANSCENDENTAL[op](float(x)) for x in row] for row in a]).astype(a.dtype)
    tolerance = 1e-6 if element == "f32" else 1e-3
    np.testing.assert_allclose(found["d"].astype(np.float64), wanted.astype(np.float64), rtol=tolerance)


@pytest.mark.parametrize(
    ("op", "function"),
    [("texp", np.exp), ("tlog", np.log), ("tsqrt", np.sqrt), ("trecip", np.reciprocal), ("tabs", np.abs)],
)
def test_every_f16_value_is_computed_in_f32_and_rounded_once(op: str, function: Callable[..., Any]) -> None:
    a = np.arange(1 << 16, dtype=np.uint16).view(np.float16).reshape(512, 128)
    found = run(f"pto.{op} ins(%a : {{a}}) outs(%a : {{a}})", tile("a", "f16", a))
    with np.errstate(all="ignore"):
        same(found["a"], function(a.astype(np.float32)).astype(np.float16))


@pytest.mark.parametrize("element", ["i16", "i32", "f16", "f32"])
def test_three_tiles_round_once(element: str) -> None:
    a, b = pairs(element)
    c = np.roll(b, 5, axis=1)
    for op, function in (("taddc", lambda x, y, z: x + y + z), ("tsubc", lambda x, y, z: x - y + z)):
        found = run(
            f"pto.{op} ins(%a, %b, %c : {{a}}, {{b}}, {{c}}) outs(%d : {{d}})",
            tile("a", element, a), tile("b", element, b), tile("c", element, c), tile("d", element, a),
        )  # fmt: skip
        same(found["d"], elementwise(function, element, a, b, c))


def test_f16_sum_of_three_rounds_once() -> None:
    """2048 + 1 + 1 = 2050 in float32; rounding after the first addition would give 2048."""
    a, b = np.full((16, 16), 2048), np.ones((16, 16))
    found = run(
        "pto.taddc ins(%a, %b, %c : {a}, {b}, {c}) outs(%d : {d})",
        tile("a", "f16", a), tile("b", "f16", b), tile("c", "f16", b), tile("d", "f16", b),
    )  # fmt: skip
    assert (found["d"] == 2050).all()


@pytest.mark.parametrize("element", ["i16", "f16", "f32"])
def test_add_relu(element: str) -> None:
    a, b = pairs(element)
    found = run(
        "pto.taddrelu ins(%a, %b : {a}, {b}) outs(%d : {d})",
        tile("a", element, a), tile("b", element, b), tile("d", element, a), target="a2a3",
    )  # fmt: skip
    if is_float(element):
        same(found["d"], elementwise(lambda x, y: nan_max(x + y, np.float32(0)), element, a, b))
    else:
        wanted = np.maximum(elementwise(lambda x, y: x + y, element, a, b), 0)
        same(found["d"], wanted)


@pytest.mark.parametrize("element", ["i8", "i16", "i32", "ui8", "ui32"])
def test_integer_powers_wrap(element: str) -> None:
    a, _ = pairs(element)
    exponents = np.resize(np.arange(-3 if element[0] == "i" else 0, 12), a.shape)

    def power(x: int, n: int) -> int:
        if n >= 0:
            return x**n
        return 1 if x == 1 else (-1) ** n if x == -1 else 0

    found = run(
        "pto.tpow ins(%a, %b : {a}, {b}) outs(%d : {d})",
        tile("a", element, a), tile("b", element, exponents), tile("d", element, a),
    )  # fmt: skip
    same(found["d"], elementwise(power, element, a, exponents.astype(a.dtype)))


@pytest.mark.parametrize("element", ["f16", "f32"])
def test_float_powers(element: str) -> None:
    rng = np.random.default_rng(3)
    a = rng.uniform(0.1, 4, (16, 32)).astype(edges(element).dtype)
    b = rng.uniform(-2, 3, (16, 32)).astype(a.dtype)
    found = run(
        "pto.tpow ins(%a, %b : {a}, {b}) outs(%d : {d})",
        tile("a", element, a), tile("b", element, b), tile("d", element, a),
    )  # fmt: skip
    wanted = np.array([[float(x) ** float(y) for x, y in zip(r, s, strict=True)] for r, s in zip(a, b, strict=True)])
    np.testing.assert_allclose(found["d"].astype(np.float64), wanted, rtol=1e-5 if element == "f32" else 1e-3)


REGIONS = [(1, 1), (5, 7), (16, 31), (3, 32)]


@pytest.mark.parametrize("valid", REGIONS)
@pytest.mark.parametrize("dynamic", [False, True])
@in_groups("element", ["i8", "f16", "bf16", "f32"])
def test_only_the_valid_region_is_written(valid: tuple[int, int], dynamic: bool, element: str) -> None:
    rng = np.random.default_rng(7)
    a, b, before = (random_values(element, (16, 32), rng) for _ in range(3))
    tiles = [tile(n, element, x, valid, dynamic=dynamic) for n, x in (("a", a), ("b", b), ("d", before))]
    found = run("pto.tadd ins(%a, %b : {a}, {b}) outs(%d : {d})", *tiles)
    wanted = before.copy()
    rows, cols = valid
    part = np.s_[:rows, :cols]
    wanted[part] = elementwise(lambda x, y: x + y, element, a[part], b[part])
    same(found["d"], wanted)


@pytest.mark.parametrize("element", ["i32", "f16", "bf16", "f32"])
@pytest.mark.parametrize("statement", [
    "pto.tadd ins(%a, %b : {a}, {b}) outs(%a : {a})",
    "pto.tadd ins(%a, %b : {a}, {b}) outs(%b : {b})",
    "pto.tadd ins(%a, %a : {a}, {a}) outs(%a : {a})",
])  # fmt: skip
def test_in_place(statement: str, element: str) -> None:
    a, b = pairs(element)
    found = run(statement, tile("a", element, a), tile("b", element, b))
    left, right = (a, a) if "%a, %a" in statement else (a, b)
    target = "b" if "outs(%b" in statement else "a"
    same(found[target], elementwise(lambda x, y: x + y, element, left, right))


@pytest.mark.parametrize("op", ["taddc", "tsubc"])
@pytest.mark.parametrize("target", ["a", "b", "c"])
def test_three_tiles_in_place(op: str, target: str) -> None:
    """The third operand must not be overwritten by the sum of the first two."""
    rng = np.random.default_rng(1)
    a, b, c = (rng.integers(-99, 99, (8, 8)).astype(np.float32) for _ in range(3))
    found = run(
        f"pto.{op} ins(%a, %b, %c : {{a}}, {{b}}, {{c}}) outs(%{target} : {{{target}}})",
        tile("a", "f32", a), tile("b", "f32", b), tile("c", "f32", c),
    )  # fmt: skip
    same(found[target], (a + b + c if op == "taddc" else a - b + c).astype(np.float32))


LAYOUTS = ["blayout=col_major", "blayout=col_major, slayout=row_major"]


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("valid", [(16, 16), (11, 9), (32, 16)])
def test_layouts(layout: str, valid: tuple[int, int]) -> None:
    """Column-major and boxed tiles hold the same matrix; only its bytes lie elsewhere."""
    rng = np.random.default_rng(2)
    a, b, before = (random_values("f16", (32, 16), rng) for _ in range(3))
    tiles = [tile(n, "f16", x, valid, layout) for n, x in (("a", a), ("b", b), ("d", before))]
    found = run("pto.tmul ins(%a, %b : {a}, {b}) outs(%d : {d})", *tiles, verify=False)
    wanted = before.copy()
    part = np.s_[: valid[0], : valid[1]]
    wanted[part] = elementwise(lambda x, y: x * y, "f16", a[part], b[part])
    same(found["d"], wanted)


def test_a_source_that_turns_out_smaller_is_read_beyond_its_valid_region() -> None:
    """The destination says what is computed; what lies there in the source is read as it is."""
    a, b = (np.arange(256, dtype=np.float32).reshape(16, 16) * scale for scale in (1, 100))
    tiles = [
        tile("a", "f32", a, (8, 16), dynamic=True),
        tile("b", "f32", b, (16, 3), dynamic=True),
        tile("d", "f32", np.full((16, 16), -1), (12, 5), dynamic=True),
    ]
    found = run("pto.tadd ins(%a, %b : {a}, {b}) outs(%d : {d})", *tiles)
    wanted = np.full((16, 16), -1, np.float32)
    wanted[:12, :5] = (a + b)[:12, :5]
    same(found["d"], wanted)


def test_a_source_without_the_elements_of_the_destination_is_an_error() -> None:
    from pto_dialect.runtime.errors import ProgramError

    tiles = [
        tile("a", "f32", np.zeros((8, 16)), (8, 16), dynamic=True),
        tile("b", "f32", np.zeros((16, 16)), (16, 16), dynamic=True),
        tile("d", "f32", np.zeros((16, 16)), (16, 16), dynamic=True),
    ]
    with pytest.raises(ProgramError, match="16 rows of a tile with 8 rows") as error:
        run("pto.tadd ins(%a, %b : {a}, {b}) outs(%d : {d})", *tiles)
    assert error.value.rule == "tile-valid-rows"


def test_one_call_on_views() -> None:
    """Static tiles without blocks cost one numpy call and no copies."""
    from parse_helpers import parsed
    from tile_run_helpers import program

    from pto_dialect.runtime.api import compile as compile_kernel

    data = np.zeros((16, 32), np.float32)
    tiles = tuple(tile(n, "f32", data) for n in "abd")
    module, _ = parsed(program("pto.tadd ins(%a, %b : {a}, {b}) outs(%d : {d})", tiles, {}))
    lines = [line.strip() for line in compile_kernel(module).source.splitlines()]
    assert "k_add(a_a, a_b, a_d)" in lines


@pytest.mark.parametrize("element", ["f16", "bf16", "f32"])
def test_queued_instructions(element: str) -> None:
    """A wait that precedes its flag in the text: loads and arithmetic run from queues, and give the same."""
    a, b = pairs(element)
    found = run(
        "pto.wait_flag[<PIPE_V>, <PIPE_MTE2>, <EVENT_ID0>]\n"
        f"pto.tload ins(%part_b : !pto.partition_tensor_view<16x32x{element}>) outs(%a : {{a}})\n"
        "pto.tadd ins(%a, %b : {a}, {b}) outs(%d : {d})\n"
        "pto.trowmax ins(%d, %b : {d}, {b}) outs(%m : {m})\n"
        "pto.trowexpand ins(%m : {m}) outs(%c : {c})\n"
        "pto.set_flag[<PIPE_V>, <PIPE_MTE2>, <EVENT_ID0>]",
        tile("a", element, a), tile("b", element, b), tile("d", element, a), tile("c", element, a),
        tile("m", element, np.zeros((16, 1)), layout="blayout=col_major"), verify=False,
    )  # fmt: skip
    total = elementwise(lambda x, y: x + y, element, a, b)
    same(found["d"], total)
    same(found["a"], b)
    with np.errstate(all="ignore"):
        same(found["c"], np.repeat(total.astype(np.float32).max(axis=1, keepdims=True), 32, axis=1).astype(a.dtype))
