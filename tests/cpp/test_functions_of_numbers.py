"""Functions of numbers on the scalar unit: rounding, fractions and powers of two, checks of the range."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest

import pto_dialect

HEAD = """\
#include <cmath>
#include <pto/pto-inst.hpp>
using namespace pto;
"""
SMALLEST = float(np.finfo(np.float32).smallest_subnormal)
NUMBERS = [0.0, -0.0, 1.0, 0.5, -0.75, 2.5, -2.5, 3.5, 1e30, -1e-30, SMALLEST, 3 * SMALLEST, 2.0**-126, 3.4e38]


def ran(text: str, **arrays: np.ndarray) -> None:
    """Runs a kernel, which changes its arrays."""
    pto_dialect.run(pto_dialect.compile_cpp(HEAD + text).module, arrays)


@pytest.mark.parametrize("function", ["lround", "std::lround", "llroundf"])
def test_rounding_to_an_integer_away_from_zero(function: str) -> None:
    numbers = np.array([0.5, 1.5, -0.5, -2.5, 2.4, -7.6, 1e6], np.float32)
    out = np.zeros(7, np.int64)
    ran(f"__global__ AICORE void k(__gm__ float *x, __gm__ int64_t *out) {{\n"
        f"  for (int i = 0; i < 7; ++i) out[i] = {function}(x[i]);\n}}\n", x=numbers, out=out)  # fmt: skip
    np.testing.assert_array_equal(out, np.sign(numbers) * np.floor(np.abs(numbers) + 0.5))


def test_rounding_to_an_integer_at_ties_to_even() -> None:
    numbers, out = np.array([0.5, 1.5, -0.5, -2.5, 2.4], np.float32), np.zeros(5, np.int64)
    ran("__global__ AICORE void k(__gm__ float *x, __gm__ int64_t *out) {\n"
        "  for (int i = 0; i < 5; ++i) out[i] = lrintf(x[i]);\n}\n", x=numbers, out=out)  # fmt: skip
    np.testing.assert_array_equal(out, np.rint(numbers))


@pytest.mark.parametrize(("type", "call"), [("float", "frexpf"), ("float", "std::frexp"), ("double", "frexp")])
def test_fraction_and_power(type: str, call: str) -> None:
    dtype = np.float32 if type == "float" else np.float64
    numbers = np.array([*NUMBERS, 5e-324, math.inf, -math.inf], dtype)
    count = len(numbers)
    out, powers = np.zeros(count, dtype), np.zeros(count, np.int32)
    ran(f"__global__ AICORE void k(__gm__ {type} *x, __gm__ {type} *out, __gm__ int32_t *powers) {{\n"
        f"  for (int i = 0; i < {count}; ++i) {{\n    int power;\n    out[i] = {call}(x[i], &power);\n"
        "    powers[i] = power;\n  }\n}\n", x=numbers, out=out, powers=powers)  # fmt: skip
    fractions, expected = np.frexp(numbers)
    np.testing.assert_array_equal(out, fractions)
    np.testing.assert_array_equal(powers, np.where(np.isinf(numbers), 0, expected))


@pytest.mark.parametrize(("type", "call"), [("float", "ldexpf"), ("float", "std::scalbn"), ("double", "ldexp")])
def test_number_times_a_power(type: str, call: str) -> None:
    """What leaves the normal numbers is rounded once."""
    dtype = np.float32 if type == "float" else np.float64
    pairs = list(itertools.product(NUMBERS, [0, 1, -1, 127, -126, -130, -149, -150, -1000, 300, 1023, -1074, 2000]))
    numbers, powers = np.array([x for x, _ in pairs], dtype), np.array([n for _, n in pairs], np.int32)
    out = np.zeros(len(pairs), dtype)
    ran(f"__global__ AICORE void k(__gm__ {type} *x, __gm__ int32_t *n, __gm__ {type} *out) {{\n"
        f"  for (int i = 0; i < {len(pairs)}; ++i) out[i] = {call}(x[i], n[i]);\n}}\n",
        x=numbers, n=powers, out=out)  # fmt: skip
    with np.errstate(over="ignore", under="ignore"):
        np.testing.assert_array_equal(out, np.ldexp(numbers, powers))


def test_functions_of_the_mathematical_library() -> None:
    numbers, out = np.array([0.25, 2.0, 9.0], np.float32), np.zeros(9, np.float32)
    ran("__global__ AICORE void k(__gm__ float *x, __gm__ float *out) {\n  for (int i = 0; i < 3; ++i) {\n"
        "    out[i] = std::sqrt(x[i]);\n    out[3 + i] = expf(x[i]);\n    out[6 + i] = std::pow(x[i], 1.5f);\n  }\n}\n",
        x=numbers, out=out)  # fmt: skip
    expected = np.concatenate([np.sqrt(numbers), np.exp(numbers), numbers**1.5])
    np.testing.assert_allclose(out, expected, rtol=1e-6)


ONE_NUMBER = {
    "tan": math.tan, "asin": math.asin, "acos": math.acos, "atan": math.atan, "sinh": math.sinh, "cosh": math.cosh,
    "tanh": math.tanh, "asinh": math.asinh, "atanh": math.atanh, "erf": math.erf, "cbrt": math.cbrt,
    "expm1": math.expm1, "log1p": math.log1p, "__builtin_exp10": lambda x: 10**x,
}  # fmt: skip
TWO_NUMBERS = {"atan2": math.atan2, "hypot": math.hypot, "fdim": lambda x, y: max(x - y, 0)}


@pytest.mark.parametrize("type", ["float", "double"])
def test_other_functions_of_one_number(type: str) -> None:
    """Each is rounded once, within a unit of the last place of what Python computes."""
    dtype, suffix = (np.float32, "f") if type == "float" else (np.float64, "")
    numbers = np.array([-0.9, -0.25, 1e-5, 0.3, 0.75], dtype)
    out, above = np.zeros((len(ONE_NUMBER), 5), dtype), np.zeros(5, dtype)
    calls = [name + suffix if name.startswith("__") else f"std::{name}" for name in ONE_NUMBER]
    lines = "".join(f"    out[{5 * place} + i] = {call}(x[i]);\n" for place, call in enumerate(calls))
    ran(f"__global__ AICORE void k(__gm__ {type} *x, __gm__ {type} *out, __gm__ {type} *above) {{\n"
        f"  for (int i = 0; i < 5; ++i) {{\n{lines}    above[i] = std::acosh(x[i] + 2);\n  }}\n}}\n",
        x=numbers, out=out, above=above)  # fmt: skip
    expected = [[function(float(number)) for number in numbers] for function in ONE_NUMBER.values()]
    np.testing.assert_allclose(out, expected, rtol=2 * float(np.finfo(dtype).eps))
    np.testing.assert_allclose(
        above, [math.acosh(number) for number in (numbers + dtype(2)).tolist()], rtol=2 * float(np.finfo(dtype).eps)
    )


@pytest.mark.parametrize(("type", "large"), [("float", 3e38), ("double", 1.2e308)])
def test_other_functions_of_two_numbers(type: str, large: float) -> None:
    """Lengths of vectors whose squares are out of range are right too."""
    dtype = np.float32 if type == "float" else np.float64
    left = np.array([3, -0.0, 2.5, large / 2, 5e-320 if type == "double" else 1e-42, -math.inf, math.nan, 0], dtype)
    right = np.array([-4, 1, 2.5, large / 3, 2e-320 if type == "double" else 3e-42, math.nan, math.inf, 0], dtype)
    out = np.zeros((len(TWO_NUMBERS), 8), dtype)
    lines = "".join(f"    out[{8 * place} + i] = std::{name}(x[i], y[i]);\n" for place, name in enumerate(TWO_NUMBERS))
    ran(f"__global__ AICORE void k(__gm__ {type} *x, __gm__ {type} *y, __gm__ {type} *out) {{\n"
        f"  for (int i = 0; i < 8; ++i) {{\n{lines}  }}\n}}\n", x=left, y=right, out=out)  # fmt: skip
    pairs = list(zip(left.tolist(), right.tolist(), strict=True))
    for place, (name, function) in enumerate(TWO_NUMBERS.items()):
        expected = [math.nan if name == "fdim" and math.isnan(x + y) else function(x, y) for x, y in pairs]
        smallest = float(np.finfo(dtype).smallest_subnormal)
        np.testing.assert_allclose(out[place], expected, 2 * float(np.finfo(dtype).eps), smallest, err_msg=name)


@pytest.mark.parametrize(("type", "suffix"), [("float", "f"), ("double", "")])
def test_functions_with_two_results(type: str, suffix: str) -> None:
    dtype = np.float32 if type == "float" else np.float64
    numbers = np.array([1.75, -2.5, -0.0, 0.5, -math.inf, 1e10], dtype)
    out = np.zeros((4, 6), dtype)
    ran(f"__global__ AICORE void k(__gm__ {type} *x, __gm__ {type} *out) {{\n  for (int i = 0; i < 6; ++i) {{\n"
        f"    {type} whole, sine, cosine;\n    out[i] = std::modf(x[i], &whole);\n    out[6 + i] = whole;\n"
        f"    sincos{suffix}(i * 0.5, &sine, &cosine);\n    out[12 + i] = sine;\n    out[18 + i] = cosine;\n  }}\n}}\n",
        x=numbers, out=out)  # fmt: skip
    rest, whole = np.modf(numbers)
    np.testing.assert_array_equal(out[:2], [rest, whole])
    np.testing.assert_array_equal(np.signbit(out[:2]), np.signbit([rest, whole]))
    angles = np.arange(6) * 0.5
    np.testing.assert_allclose(out[2:], [np.sin(angles), np.cos(angles)], rtol=2 * float(np.finfo(dtype).eps))


def test_a_function_of_the_kernel_with_the_name_of_one_of_the_library() -> None:
    out = np.zeros(1, np.float32)
    ran('namespace mine { float erf(float x) { return x + 1; } }\n'
        "__global__ AICORE void k(__gm__ float *out) {\n  out[0] = mine::erf(2.0f);\n}\n", out=out)  # fmt: skip
    assert out.tolist() == [3.0]


@pytest.mark.parametrize("operation", ["add", "sub", "mul"])
@pytest.mark.parametrize("type", ["int32_t", "uint32_t", "int64_t", "uint64_t"])
def test_operations_that_say_whether_they_leave_the_range(operation: str, type: str) -> None:
    width, is_signed = int(type.strip("uint_")), not type.startswith("u")
    low, high = (-(1 << width - 1), (1 << width - 1) - 1) if is_signed else (0, (1 << width) - 1)
    middle = (-3, -1, 0, 1, 2, 3, 1 << width // 2, high // 3)
    edges = sorted({low, low + 1, high - 1, high, *(number for number in middle if number >= low)})
    pairs = list(itertools.product(edges, edges))
    dtype = np.dtype(f"{'i' if is_signed else 'u'}{width // 8}")
    left, right = (np.array([pair[side] for pair in pairs], dtype) for side in (0, 1))
    out, left_range = np.zeros(len(pairs), dtype), np.zeros(len(pairs), np.int32)
    ran(f"__global__ AICORE void k(__gm__ {type} *x, __gm__ {type} *y, __gm__ {type} *out, __gm__ int32_t *over) {{\n"
        f"  for (int i = 0; i < {len(pairs)}; ++i) {{\n    {type} result;\n"
        f"    over[i] = __builtin_{operation}_overflow(x[i], y[i], &result);\n    out[i] = result;\n  }}\n}}\n",
        x=left, y=right, out=out, over=left_range)  # fmt: skip
    exact = [{"add": a + b, "sub": a - b, "mul": a * b}[operation] for a, b in pairs]
    np.testing.assert_array_equal(left_range, [not low <= value <= high for value in exact])
    np.testing.assert_array_equal(out, np.array([(value - low) % (1 << width) + low for value in exact], dtype))


RECURSIVE = {
    "one call": ("int f(int n) { return n <= 1 ? 1 : n * f(n - 1); }", "f(6)", 720),
    "two calls": ("int f(int n) { return n < 2 ? n : f(n - 1) + f(n - 2); }", "f(7)", 13),
    "through another": (
        "int g(int n); int f(int n) { return n == 0 ? 3 : 2 * g(n); } int g(int n) { return 1 + f(n - 1); }",
        *("f(4)", 78),
    ),
    "with another argument": (
        "int f(int n, int x) { return n == 0 ? x : f(n - 1, x) * f(n - 1, x + 1); }",
        *("f(2, y[0])", 5 * 36 * 7),
    ),
}


@pytest.mark.parametrize("what", RECURSIVE)
def test_recursion_by_constant_arguments(what: str) -> None:
    above, call, expected = RECURSIVE[what]
    numbers = np.array([5, 0], np.int32)
    ran(f"{above}\n__global__ AICORE void k(__gm__ int32_t *y) {{\n  y[1] = {call};\n}}\n", y=numbers)
    assert numbers.tolist() == [5, expected]


def test_recursion_over_operations() -> None:
    text = """
using Row = Tile<TileType::Vec, float, 1, 64>;
void tree(Row &t, int depth) {
  if (depth == 0) { TADDS(t, t, 1.0f); pipe_barrier(PIPE_V); return; }
  tree(t, depth - 1);
  TMULS(t, t, 2.0f);
  pipe_barrier(PIPE_V);
  tree(t, depth - 1);
}
__global__ AICORE void k(__gm__ float *x) {
  Row t;
  TASSIGN(t, 0);
  GlobalTensor<float, Shape<1, 1, 1, 1, 64>, Stride<64, 64, 64, 64, 1>> g(x);
  TLOAD(t, g);
  set_flag(PIPE_MTE2, PIPE_V, EVENT_ID0);
  wait_flag(PIPE_MTE2, PIPE_V, EVENT_ID0);
  tree(t, 2);
  set_flag(PIPE_V, PIPE_MTE3, EVENT_ID0);
  wait_flag(PIPE_V, PIPE_MTE3, EVENT_ID0);
  TSTORE(g, t);
}
"""
    numbers = np.arange(64, dtype=np.float32)
    expected = ((((numbers + 1) * 2 + 1) * 2) + 1) * 2 + 1
    ran(text, x=numbers)
    np.testing.assert_array_equal(numbers, expected)
