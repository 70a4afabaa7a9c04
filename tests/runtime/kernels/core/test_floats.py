"""Floats of ``arith`` and ``math``, plain and between work-items, against exact arithmetic."""

from __future__ import annotations

import math
import struct
from fractions import Fraction

import ml_dtypes
import numpy as np
import pytest
from core_operations import DTYPES, FORMATS, MODES, edges, evaluate, rounded, same_floats, signed

NAN, INF = math.nan, math.inf
ELEMENTS = ("f16", "bf16", "f32", "f64")


def samples(element: str) -> np.ndarray:
    """Zeros, limits, subnormals, NaN and ordinary numbers of a format."""
    precision, least, largest = FORMATS[element]
    most = (2.0 - 2.0 ** (1 - precision)) * 2.0**largest
    tiny = math.ldexp(1.0, least - precision + 1)
    special = [0.0, -0.0, 1.0, -1.0, 0.5, 1.5, -2.5, 3.0, NAN, INF, -INF, most, -most, tiny, -tiny]
    plain = np.random.default_rng(5).standard_normal(6) * 4
    return np.array([*special, *plain.tolist()], DTYPES[element])


def pairs(element: str) -> tuple[np.ndarray, np.ndarray]:
    values = samples(element)
    return np.repeat(values, values.size), np.tile(values, values.size)


def exact(name: str, x: float, y: float, element: str) -> float:
    """Sums, products and quotients, rounded once."""
    if not (math.isfinite(x) and math.isfinite(y)) or (name == "divf" and y == 0):
        with np.errstate(all="ignore"):
            a, b = np.float64(x), np.float64(y)
            return float({"addf": a + b, "subf": a - b, "mulf": a * b, "divf": a / b}[name])
    a, b = Fraction(x), Fraction(y)
    value = {"addf": a + b, "subf": a - b, "mulf": a * b}[name] if name != "divf" else a / b
    if value:
        return rounded(value, element)
    sign = math.copysign(1.0, x) * math.copysign(1.0, y)
    if name in ("mulf", "divf"):
        return math.copysign(0.0, sign)
    other = y if name == "addf" else -y
    return -0.0 if x == 0 and math.copysign(1.0, x) < 0 and math.copysign(1.0, other) < 0 else 0.0


def remainder(x: float, y: float) -> float:
    if math.isnan(x) or math.isnan(y) or math.isinf(x) or y == 0:
        return NAN
    if math.isinf(y):
        return x
    a, b = abs(Fraction(x)), abs(Fraction(y))
    return math.copysign(float(a - a // b * b), x)


def extreme(name: str, x: float, y: float) -> float:
    largest = name.startswith("max")
    if math.isnan(x) or math.isnan(y):
        if name in ("maximumf", "minimumf"):
            return NAN
        return y if math.isnan(x) else x
    key = [(x, math.copysign(1.0, x)), (y, math.copysign(1.0, y))]
    return (max(key) if largest else min(key))[0]


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("element", ELEMENTS)
def test_operations_of_two_floats(element: str, mode: str) -> None:
    a, b = pairs(element)
    names = ("addf", "subf", "mulf", "divf", "remf", "maximumf", "minimumf", "maxnumf", "minnumf")
    lines = "\n".join(f"%r{n} = arith.{name} %a, %b : {element}" for n, name in enumerate(names))
    inputs = {"a": (element, a), "b": (element, b)}
    made = evaluate(mode, lines, inputs, {f"r{n}": element for n in range(len(names))})
    both = list(zip(a.astype(np.float64).tolist(), b.astype(np.float64).tolist(), strict=True))
    for name, found in zip(names, made, strict=True):
        if name == "remf":
            same_floats(found, [remainder(x, y) for x, y in both])
        elif name.endswith("numf"):
            # Which of two zeros of different signs is left open.
            same_floats(found + 0.0, [extreme(name, x, y) + 0.0 for x, y in both])
        elif name in ("maximumf", "minimumf"):
            same_floats(found, [extreme(name, x, y) for x, y in both])
        else:
            same_floats(found, [exact(name, x, y, element) for x, y in both])


@pytest.mark.parametrize("mode", MODES)
def test_negation_changes_the_sign_of_everything(mode: str) -> None:
    a = samples("f32")
    (found,) = evaluate(mode, "%r = arith.negf %a : f32", {"a": ("f32", a)}, {"r": "f32"})
    same_floats(found, [-x for x in a.astype(np.float64).tolist()])


@pytest.mark.parametrize("mode", MODES)
def test_comparisons(mode: str) -> None:
    """Every predicate by its truth for less, equal, greater, unordered."""
    truth = {
        "false": "", "oeq": "=", "ogt": ">", "oge": ">=", "olt": "<", "ole": "<=", "one": "<>", "ord": "<=>",
        "ueq": "=?", "ugt": ">?", "uge": ">=?", "ult": "<?", "ule": "<=?", "une": "<>?", "uno": "?", "true": "<=>?",
    }  # fmt: skip
    a, b = pairs("f32")
    lines = "\n".join(
        f"%b{n} = arith.cmpf {name}, %a, %b : f32\n%r{n} = arith.extui %b{n} : i1 to i8" for n, name in enumerate(truth)
    )
    made = evaluate(mode, lines, {"a": ("f32", a), "b": ("f32", b)}, {f"r{n}": "i8" for n in range(16)})
    for (name, holds), found in zip(truth.items(), made, strict=True):
        for x, y, bit in zip(a.tolist(), b.tolist(), found.tolist(), strict=True):
            relation = "?" if math.isnan(x) or math.isnan(y) else "<" if x < y else ">" if x > y else "="
            assert bool(bit) == (relation in holds), (name, x, y)


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("element", ELEMENTS)
def test_integers_become_floats_with_one_rounding(element: str, mode: str) -> None:
    ties = [(1 << 24) + 1, (1 << 53) + 1, (1 << 62) + (1 << 38) + 1, 2049, 65519, 65520, -(1 << 40) - 3]
    a = np.array([*edges(64), *ties], np.int64)
    lines = f"%r = arith.sitofp %a : i64 to {element}\n%s = arith.uitofp %a : i64 to {element}"
    of_signed, of_unsigned = evaluate(mode, lines, {"a": ("i64", a)}, {"r": element, "s": element})
    values = a.tolist()
    same_floats(of_signed, [rounded(Fraction(x), element) if x else 0.0 for x in values])
    same_floats(of_unsigned, [rounded(Fraction(x % (1 << 64)), element) if x else 0.0 for x in values])


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("target", ["i8", "i32", "i64"])
def test_floats_become_integers(target: str, mode: str) -> None:
    """Toward zero; all that is in range, and NaN, which gives 0."""
    width = int(target[1:])
    inside = [0.0, -0.0, 0.5, -0.5, 0.99, -1.99, 2.5, -100.7, 126.9, float(2 ** (width - 2)), NAN]
    a = np.array(inside, np.float64)
    (found,) = evaluate(mode, f"%r = arith.fptosi %a : f64 to {target}", {"a": ("f64", a)}, {"r": target})
    assert found.tolist() == [0 if math.isnan(x) else int(Fraction(x).__trunc__()) for x in inside]
    positive = np.array([0.0, 0.7, 127.5, 200.9, float(2 ** (width - 1)), float(2**width - 2 ** (width // 2))])
    (found,) = evaluate(mode, f"%r = arith.fptoui %a : f64 to {target}", {"a": ("f64", positive)}, {"r": target})
    assert found.tolist() == [signed(int(x), width) for x in positive.tolist()]


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize(("wide", "narrow"), [("f64", "f32"), ("f64", "f16"), ("f64", "bf16"), ("f32", "f16")])
def test_narrower_and_wider_floats(wide: str, narrow: str, mode: str) -> None:
    """One rounding, also where a step over f32 would round twice."""
    bits = FORMATS[narrow][0]
    twice = [1 + 2.0**-bits + 2.0**-30, 1 + 2.0**-bits + 2.0**-50, 1 + 2.0**-bits, 1 + 3 * 2.0**-bits, 1e300, 1e-300]
    a = np.concatenate([samples(wide), np.array(twice if wide == "f64" else twice[:4]).astype(DTYPES[wide])])
    lines = f"%r = arith.truncf %a : {wide} to {narrow}\n%s = arith.extf %r : {narrow} to {wide}"
    small, again = evaluate(mode, lines, {"a": (wide, a)}, {"r": narrow, "s": wide})
    values = a.astype(np.float64).tolist()
    wanted = [rounded(Fraction(x), narrow) if math.isfinite(x) and x else x for x in values]
    same_floats(small, wanted)
    same_floats(again, wanted)


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize(("element", "number"), [("f16", "i16"), ("bf16", "i16"), ("f32", "i32"), ("f64", "i64")])
def test_bits_of_floats(element: str, number: str, mode: str) -> None:
    a = samples(element)
    a = a[~np.isnan(a.astype(np.float64))]
    lines = f"%r = arith.bitcast %a : {element} to {number}\n%s = arith.bitcast %r : {number} to {element}"
    bits, again = evaluate(mode, lines, {"a": (element, a)}, {"r": number, "s": element})
    for x, found in zip(a.tolist(), bits.tolist(), strict=True):
        if element == "bf16":
            (wanted,) = struct.unpack("<h", struct.pack("<f", float(x))[2:])
        else:
            codes = {"f16": "<e", "f32": "<f", "f64": "<d"}
            (wanted,) = struct.unpack({2: "<h", 4: "<i", 8: "<q"}[a.itemsize], struct.pack(codes[element], float(x)))
        assert found == wanted
    assert again.tobytes() == a.tobytes()


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("element", ["f16", "f32", "f64"])
def test_fused_multiply_add_rounds_once(element: str, mode: str) -> None:
    bits = FORMATS[element][0]
    e = 2.0 ** (1 - bits)
    rows = [(1 + e, 1 - e, -1.0), (1 + e, 1 + e, -1 - 2 * e), (3.0, 5.0, -15.0), (1.5, 2.0, e / 8), (0.0, -1.0, 0.0),
            (INF, 0.0, 1.0), (1.0, NAN, 1.0), (1 + e, 1 + e, 2.0 ** -20)]  # fmt: skip
    a, b, c = (np.array(column, DTYPES[element]) for column in zip(*rows, strict=True))
    inputs = {"a": (element, a), "b": (element, b), "c": (element, c)}
    (found,) = evaluate(mode, f"%r = math.fma %a, %b, %c : {element}", inputs, {"r": element})
    wanted: list[float] = []
    for x, y, z in zip(*(column.astype(np.float64).tolist() for column in (a, b, c)), strict=True):
        if not all(map(math.isfinite, (x, y, z))):
            wanted.append(NAN)
            continue
        value = Fraction(x) * Fraction(y) + Fraction(z)
        wanted.append(rounded(value, element) if value else 0.0)
    same_floats(found, wanted)


FUNCTIONS = {
    "absf": abs, "acos": math.acos, "acosh": math.acosh, "asin": math.asin, "asinh": math.asinh, "atan": math.atan,
    "atanh": math.atanh, "cbrt": math.cbrt, "ceil": math.ceil, "cos": math.cos, "cosh": math.cosh, "erf": math.erf,
    "exp": math.exp, "exp2": math.exp2, "expm1": math.expm1, "floor": math.floor, "log": math.log,
    "log10": math.log10, "log1p": math.log1p, "log2": math.log2, "sin": math.sin, "sinh": math.sinh,
    "sqrt": math.sqrt, "tan": math.tan, "tanh": math.tanh, "trunc": math.trunc, "roundeven": round,
    "round": lambda x: math.copysign(math.floor(abs(Fraction(x)) + Fraction(1, 2)), x),
    "rsqrt": lambda x: 1 / math.sqrt(x),
}  # fmt: skip


@pytest.mark.parametrize("mode", MODES)
def test_functions(mode: str) -> None:
    """Within one unit in the last place of f32; outside of a function's domain NaN."""
    domain = [0.25, 0.5, 0.75, 1.0, 1.5, 2.5, 3.75, -0.5, -2.5]
    a = np.array(domain, np.float32)
    lines = "\n".join(f"%r{n} = math.{name} %a : f32" for n, name in enumerate(FUNCTIONS))
    made = evaluate(mode, lines, {"a": ("f32", a)}, {f"r{n}": "f32" for n in range(len(FUNCTIONS))})
    for (name, function), found in zip(FUNCTIONS.items(), made, strict=True):
        for x, seen in zip(domain, found.tolist(), strict=True):
            try:
                wanted = float(function(x))
            except ValueError:
                if not (name == "atanh" and x == 1.0):
                    assert math.isnan(seen), (name, x)
                continue
            assert abs(seen - wanted) <= abs(wanted) * 2.0**-23, (name, x)


@pytest.mark.parametrize("mode", MODES)
def test_functions_of_two_numbers(mode: str) -> None:
    rows = [(2.0, 3.0), (-1.5, 2.0), (0.25, -0.5), (-0.0, 1.0), (3.0, -0.0)]
    a, b = (np.array(column, np.float32) for column in zip(*rows, strict=True))
    n = np.array([3, 2, -2, 1, 0], np.int32)
    lines = """
      %r = math.atan2 %a, %b : f32
      %s = math.copysign %a, %b : f32
      %t = math.powf %a, %b : f32
      %u = math.fpowi %a, %n : f32, i32
    """
    inputs = {"a": ("f32", a), "b": ("f32", b), "n": ("i32", n)}
    angles, signs, powers, whole = evaluate(mode, lines, inputs, {"r": "f32", "s": "f32", "t": "f32", "u": "f32"})
    np.testing.assert_allclose(angles, [math.atan2(x, y) for x, y in rows], rtol=2.0**-23)
    same_floats(signs, [math.copysign(x, y) for x, y in rows])
    np.testing.assert_allclose(powers, [x**y for x, y in rows], rtol=2.0**-23)
    np.testing.assert_allclose(whole, [x ** int(k) for (x, _), k in zip(rows, n, strict=True)], rtol=2.0**-23)


def test_the_rounding_of_these_tests_is_that_of_the_formats() -> None:
    """The model rounds random numbers as independent libraries do."""
    values = np.random.default_rng(2).standard_normal(500) * 2.0 ** np.random.default_rng(3).integers(-30, 18, 500)
    for element, dtype in (("f16", np.float16), ("f32", np.float32)):
        with np.errstate(over="ignore"):
            wanted = values.astype(dtype).astype(np.float64).tolist()
        assert [rounded(Fraction(x), element) for x in values.tolist()] == wanted
    narrow = values.astype(np.float32)
    wanted = narrow.astype(ml_dtypes.bfloat16).astype(np.float64).tolist()
    assert [rounded(Fraction(float(x)), "bf16") for x in narrow] == wanted
