"""Operands that numeric functions refuse, or read in another way, beside the nearest that they take. Source:
docs/reference/numerics.md, "Formats", "Matrix products".
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from groups import in_groups

from pto_dialect.runtime.numerics.decode import decode
from pto_dialect.runtime.numerics.direct import direct
from pto_dialect.runtime.numerics.encode import encode
from pto_dialect.runtime.numerics.fixpipe import convert
from pto_dialect.runtime.numerics.formats import format_of
from pto_dialect.runtime.numerics.integers import pack_nibbles
from pto_dialect.runtime.numerics.matmul import matmul, matmul_int


@pytest.mark.parametrize("types", [("f4", "f8"), ("f8", "f4"), ("f8", "f8"), ("f4", "f4")])
@pytest.mark.parametrize("given", [False, True])
def test_a_product_has_32_bits(types: tuple[str, str], given: bool) -> None:
    a, b = (np.array([[1.0, 0.1], [3.0, 0.7]], type_) for type_ in types)
    out = np.zeros((2, 2), np.float32) if given else None
    found = matmul(a, b, out=out)
    assert found.dtype == np.float32 and (found is out or not given)
    exact = [[sum(float(a[i, k]) * float(b[k, j]) for k in range(2)) for j in range(2)] for i in range(2)]
    np.testing.assert_allclose(found, exact, rtol=1e-6)


@pytest.mark.parametrize(("left", "right"), [((2, 3), (3,)), ((3,), (3, 2)), ((1, 2, 3), (3, 2)), ((2, 3), (1, 3, 2)),
                                             ((2, 3), (2, 3))])  # fmt: skip
def test_products_of_matrices_alone(left: tuple[int, ...], right: tuple[int, ...]) -> None:
    """In order, number after number."""
    a, b = np.full(left, 1e-3, np.float32), np.full(right, 1e30, np.float32)
    with pytest.raises(ValueError, match="cannot multiply"):
        matmul(a, b, exact=True)


GOOD = ("i1", "u1")


@pytest.mark.parametrize("first", [*GOOD, "i2", "u4", "?", "f2", "f4"])
@in_groups("second", [*GOOD, "i2", "u4", "?", "f2", "f4"])
def test_products_of_bytes_alone(first: str, second: str) -> None:
    a, b = np.ones((2, 3), first), np.ones((3, 2), second)
    if first in GOOD and second in GOOD:
        assert matmul_int(a, b).tolist() == [[3, 3], [3, 3]]
    else:
        with pytest.raises(ValueError, match="8-bit integer operands expected"):
            matmul_int(a, b)


@pytest.mark.parametrize(("name", "wanted"), [
    ("i4", [1, 2, -8, -1]), ("si4", [1, 2, -8, -1]), ("ui4", [1, 2, 8, 15]), ("f4E2M1x2", [0.5, 1, -0.0, -6]),
])  # fmt: skip
def test_both_halves_of_a_byte(name: str, wanted: list[float]) -> None:
    assert decode(np.array([0x21, 0xF8], np.uint8), name).tolist() == wanted


@pytest.mark.parametrize("name", ["i4", "ui4", "f4E2M1x2", "f4E1M2x2"])
def test_half_a_byte_alone_is_not_stored(name: str) -> None:
    for shape in ((), (3,), (2, 1)):
        with pytest.raises(ValueError):
            encode(np.ones(shape, np.float32), name, saturate=True)
    for shape in ((), (3,)):
        with pytest.raises(ValueError, match="stored in pairs"):
            pack_nibbles(np.zeros(shape, np.int8))


@pytest.mark.parametrize("letter", ["R", "Z", "F", "C"])
@in_groups("dtype", [np.int8, np.int32, np.int64, np.uint64, np.float32, np.float64])
def test_integers_that_doubles_do_not_hold(letter: str, dtype: Any) -> None:
    values = np.array([3, 7], dtype)
    if letter != "R" and dtype in (np.int64, np.uint64):
        with pytest.raises(ValueError, match="64-bit integers convert to f64 with rounding R only"):
            encode(values, "f64", rounding=letter, saturate=True)
    else:
        found = encode(values, "f64", rounding=letter, saturate=True)
        assert found.dtype == np.float64 and found.tolist() == [3, 7]


def channels(count: int) -> np.ndarray:
    return np.full(count, 0.5, np.float32).view(np.uint32)


@pytest.mark.parametrize(("mode", "payload", "works"), [
    ("scalar_relu", 0.5, True), ("scalar_relu", None, False), ("scalar_relu", np.array([0.5, 0.5]), False),
    ("vector_relu", channels(4), True), ("vector_relu", channels(9), True), ("vector_relu", channels(3), False),
    ("vector_relu", channels(4).view(np.float32), False), ("vector_relu", [0, 0, 0, 0], False),
    ("vector_relu", None, False), ("vector_relu", channels(4).astype(np.uint64), False),
])  # fmt: skip
def test_factors_of_negative_numbers(mode: str, payload: Any, works: bool) -> None:
    values = np.array([[2, -2, 4, -8]], np.float32)
    if works:
        found = convert(values, "f32", "f32", relu=(mode, payload))
        assert found.tolist() == [[2, -1, 4, -4]]
    else:
        with pytest.raises(ValueError, match=f"{mode} needs a"):
            convert(values, "f32", "f32", relu=(mode, payload))


PAIRS = [("i32", "i16"), ("i16", "ui8"), ("f32", "i16"), ("f32", "i32"), ("f32", "ui8"), ("f16", "i16"), ("i32", "f32")]


@pytest.mark.parametrize(("source", "target"), PAIRS)
def test_conversions_follow_their_arrays(source: str, target: str) -> None:
    """One conversion, on arrays that come again, with others instead, and on parts of arrays."""
    formats = format_of(source), format_of(target)

    def rest(values: Any, out: Any) -> None:
        out[...] = encode(decode(values, formats[0]), formats[1], rounding="R", saturate=True)

    take = direct(*formats, "R", True, rest)
    assert take is not None
    rng = np.random.default_rng(3)
    values = [rng.integers(-300, 300, (8, 16)).astype(formats[0].storage) for _ in range(2)]
    values += [values[0].repeat(2, axis=1)[:, ::2], values[1].T.copy().T]
    outs: list[Any] = [np.zeros((8, 16), formats[1].storage) for _ in range(2)]
    outs += [np.zeros((8, 32), formats[1].storage)[:, ::2], np.zeros((16, 8), formats[1].storage).T]
    limits = None if formats[1].is_float else np.iinfo(formats[1].storage)
    for given in (0, 0, 1, 1, 0, 2, 3, 2, 0):
        for place in (0, 0, 1, 2, 3, 0):
            outs[place][...] = 77
            take(values[given], outs[place])
            wanted = values[given].astype(np.float64)
            if limits is not None:
                wanted = np.clip(wanted, limits.min, limits.max)
            assert (outs[place] == wanted).all()


@pytest.mark.parametrize(("source", "target"), [("f32", "f4E2M1x2"), ("i8", "i4"), ("f4E2M1x2", "f32"), ("i1", "f32"),
                                                ("i32", "i1")])  # fmt: skip
def test_pairs_are_not_converted_one_by_one(source: str, target: str) -> None:
    assert direct(format_of(source), format_of(target), "R", True, lambda values, out: None) is None
