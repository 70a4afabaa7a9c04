"""What is no kernel, or none that can be translated, is one error at its C++ line, with what to write instead."""

from __future__ import annotations

from pathlib import Path

import pytest

from pto_dialect.cpp import limits
from pto_dialect.cpp.kernel import CppError, compile_kernel
from pto_dialect.cpp.options import CppOptions
from run_lines import run_command

HEAD = "#include <pto/pto-inst.hpp>\nusing namespace pto;\n"
BEFORE = 'extern "C" __global__ AICORE void k(__gm__ float *x, __gm__ int32_t *y, int32_t n) {\n'
Told = tuple[int, int, str, str | None]


def told(text: str, entry: str | None = None) -> list[Told]:
    """Line, column, message and help of each error."""
    with pytest.raises(CppError) as caught:
        compile_kernel(text, "kernel.cpp", CppOptions(entry=entry))
    found: list[Told] = []
    for one in caught.value.diagnostics:
        line, column = one.span.source.line_col(one.span.start) if one.span is not None else (0, 0)
        found.append((line, column, one.message, one.help))
    return found


STATEMENTS: dict[str, tuple[str, int, str, str | None]] = {
    "an unknown operation": ("  TFLY(x);", 3, "use of undeclared identifier 'TFLY'", None),
    "an unknown overload": (
        "  Tile<TileType::Vec, float, 1, 64> t;\n  TADD(t, t);",
        3,
        "no matching function for call to 'TADD'",
        None,
    ),
    "an operation with another spelling": (
        "  Tile<TileType::Vec, float, 1, 64> t;\n  TASIGN(t, 0);",
        3,
        "use of undeclared identifier 'TASIGN'; did you mean 'TASSIGN'?",
        None,
    ),
    "an unknown pipe": (
        "  pipe_barrier(PIPE_NONE);",
        16,
        "use of undeclared identifier 'PIPE_NONE'",
        "there are PIPE_S, PIPE_V, PIPE_M, PIPE_MTE1, PIPE_MTE2, PIPE_MTE3, PIPE_ALL, PIPE_FIX",
    ),
    "an unknown mode": (
        "  auto how = AtomicType::Subtract;",
        26,
        "no member named 'Subtract' in 'pto::AtomicType'",
        "AtomicType has AtomicNone, AtomicAdd, AtomicMax, AtomicMin",
    ),
    "the heap": (
        "  int32_t *p = new int32_t[n]; p[n - 1] = n; y[0] = p[0];",
        16,
        "memory of the heap cannot be translated",
        "use local variables of constant size, or tiles",
    ),
    "assembly": (
        '  asm volatile("mov %0, %0" : "+r"(n));\n  y[0] = n;',
        3,
        "inline assembly cannot be translated",
        "use the functions of the instruction set",
    ),
    "an exception": ("  if (n > 2) throw 3;", 14, "cannot use 'throw' with exceptions disabled", None),
    "a loop without end": (
        "  while (true) y[0] = y[0] + 1;",
        3,
        "the loop never ends",
        "change its condition in the loop; memory that others write has to be volatile",
    ),
    "a loop whose condition does not change": (
        "  for (int i = 0; n != 3; ++i) y[0] = i;\n  y[1] = 7;",
        3,
        "the loop never ends",
        "change its condition in the loop; memory that others write has to be volatile",
    ),
    "a wait for memory that is not volatile": (
        "  while (y[0] != 0) {\n  }\n  y[1] = 7;",
        3,
        "the loop never ends",
        "change its condition in the loop; memory that others write has to be volatile",
    ),
    "a computed label": (
        "  static void *l[] = {&&a, &&b};\n  goto *l[n & 1];\na: y[0] = 1; return;\nb: y[0] = 2;",
        0,
        "a jump to a computed label cannot be translated",
        "use branches and loops",
    ),
    "a vector": (
        "  typedef int V __attribute__((ext_vector_type(4)));\n  V v = {1, 2, 3, n};\n  y[0] = v[n & 3];",
        10,
        "vectors of the compiler cannot be translated",
        "use an array, or tiles",
    ),
    "a wide integer": (
        "  __int128 a = (__int128)n << 70;\n  y[0] = (int32_t)(a * 3 / 7 >> 64);",
        26,
        "values of type __int128 cannot be translated",
        "use integers of up to 64 bits, half, float",
    ),
    "an array of variable size": (
        "  int p[n];\n  for (int i = 0; i < n; i++) p[i] = i * y[i];\n  y[0] = p[n - 1];",
        3,
        "the size of a local array is no constant",
        "give it a constant size",
    ),
    "an atomic access": (
        "  __sync_fetch_and_add(y, 1);",
        3,
        "atomic accesses of scalars cannot be translated",
        "use TSTORE with AtomicAdd",
    ),
    "a static variable that starts with an argument": (
        "  static int g = n;\n  y[0] = g++;",
        3,
        "the initial value of the static variable g is not constant",
        "use an argument or a local variable",
    ),
    "a variable that changes": (
        "  extern int g;\n  g += n;\n  y[0] = g;",
        5,
        "the global variable g is changed",
        "use an argument or a local variable",
    ),
}


@pytest.mark.parametrize("what", STATEMENTS)
def test_statement_that_cannot_be_translated(what: str) -> None:
    body, column, message, help = STATEMENTS[what]
    text = f"{HEAD}{BEFORE}{body}\n}}\n"
    [(_, found_column, found_message, found_help), *_] = told(text)
    assert (found_message, found_help) == (message, help)
    assert not column or found_column == column


FILES = {
    "recursion": (
        "int fib(int n) { return n < 2 ? n : fib(n - 1) + fib(n - 2); }\n" + BEFORE + "  y[0] = fib(n);\n}\n",
        None,
        [(5, 10, "the call of fib cannot be inlined", "write a loop, or constant arguments, and no noinline")],
    ),
    "a pointer to a function": (
        "int one(int a) { return a; }\nint two(int a) { return a * 2; }\n"
        + BEFORE
        + "  int (*f[])(int) = {one, two};\n  y[0] = f[n & 1](n);\n}\n",
        None,
        [(5, 12, "the table f holds something else than numbers, such as addresses", "choose with a switch instead")],
    ),
    "a function of the host": (
        'extern "C" int aclrtMalloc(void *, int);\n' + BEFORE + "  y[0] = aclrtMalloc(y, n);\n}\n",
        None,
        [
            (
                5,
                10,
                "the kernel calls aclrtMalloc, which has no body here",
                "define it in the file or in what it includes",
            )
        ],
    ),
    "a file of the host": (
        "int main() { return 0; }\n",
        None,
        [(1, 1, "the file has no kernel", "mark a function __global__, or name one with --entry")],
    ),
    "functions that are no kernels": (
        "inline void one(__gm__ float *x) {}\n// void two() {}\nvoid three(); void\nfour() {}\n"
        "template <typename T>\nvoid five(T *x) {\n}\nvoid six(int n)\n{\n}\n",
        None,
        [(1, 1, "the file has no kernel", "mark a function __global__, or name one: --entry one, --entry six")],
    ),
    "a structure by value": (
        "struct Sizes { int rows; float scale; };\n"
        "__global__ AICORE void k(__gm__ float *x, Sizes sizes) {\n  x[0] = sizes.rows * sizes.scale;\n}\n",
        None,
        [
            (
                4,
                1,
                "the argument sizes is a structure of up to 16 bytes that is passed by value",
                "pass a pointer to it, or its fields one by one",
            )
        ],
    ),
    "a missing header": (
        '#include "sizes_of_mine.h"\n' + BEFORE + "}\n",
        None,
        [(3, 10, "'sizes_of_mine.h' file not found", "-I DIR names the folder that has it")],
    ),
    "a template without arguments": (
        "template <typename T>\n__global__ AICORE void k(__gm__ T *x) {}\n",
        "k",
        [
            (
                4,
                1,
                "the kernel k is a template",
                "nothing in the file launches it; give its arguments, for example --entry 'k<float>'",
            )
        ],
    ),
    "assembly outside of functions": (
        'asm("nop");\n' + BEFORE + "}\n",
        None,
        [(3, 1, "assembly outside of functions cannot be translated", "use the functions of the instruction set")],
    ),
    "a static assertion about a tile": (
        BEFORE + "  Tile<TileType::Vec, float, 16, 3> t;\n}\n",
        None,
        [
            (
                4,
                37,
                "a line of a tile (a row of RowMajor, a column of ColMajor) must be a multiple of 32 bytes",
                None,
            )
        ],
    ),
}


@pytest.mark.parametrize("what", FILES)
def test_file_that_cannot_be_translated(what: str) -> None:
    text, entry, wanted = FILES[what]
    assert told(HEAD + text, entry) == wanted


def test_kernel_without_the_interface() -> None:
    [first, *_] = told("using namespace pto;\n__global__ AICORE void k(__gm__ float *x) {\n  x[0] = 1;\n}\n")
    assert first == (1, 17, "expected namespace name", "#include <pto/pto-inst.hpp> declares the interface")
    [first, *_] = told("__global__ AICORE void k(__gm__ float *x) {\n  pto::TileAcc<float, 16, 16> t;\n}\n")
    assert first[2:] == ("use of undeclared identifier 'pto'", "#include <pto/pto-inst.hpp> declares the interface")


def test_template_that_never_ends_is_ended_by_the_compiler() -> None:
    text = "template <int N> struct F { static constexpr int v = F<N + 1>::v; };\n"
    found = told(HEAD + text + BEFORE + "  y[0] = F<0>::v;\n}\n")
    assert found[0] == (3, 54, "recursive template instantiation exceeded maximum depth of 1024", None)


@pytest.mark.parametrize(
    ("line", "message"),
    [
        (
            "push(__attribute__((cold)), apply_to = function)",
            "unterminated '#pragma clang attribute push' at end of file",
        ),
        ("pop", "'#pragma clang attribute pop' with no matching '#pragma clang attribute push'"),
    ],
)
def test_attribute_pragma_without_its_counterpart(line: str, message: str) -> None:
    assert told(HEAD + f"#pragma clang attribute {line}\n" + BEFORE + "}\n") == [(3, 15, message, None)]


def test_compiler_is_ended_after_its_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "SECONDS", 1)
    doubled = (
        "template <int N, int P> struct T { static constexpr int v = T<N - 1, 2 * P>::v + T<N - 1, 2 * P + 1>::v; };\n"
    )
    ended = "template <int P> struct T<0, P> { static constexpr int v = P; };\nstatic_assert(T<26, 0>::v != 0);\n"
    [(_, _, message, _)] = told(HEAD + doubled + ended + BEFORE + "}\n")
    assert message == "the compiler did not finish within 1 s and 6000 MB"


def test_crash_of_the_compiler_is_one_line() -> None:
    assert told(HEAD + "#pragma clang __debug parser_crash\n" + BEFORE + "}\n") == [
        (0, 0, "the compiler crashed; another one may not, --cxx names it", None)
    ]


def test_values_of_the_translation_are_not_defined_in_the_kernel(tmp_path: Path) -> None:
    """The view of a tensor has the line of the operation, which is the error's own."""
    kernel = tmp_path / "kernel.cpp"
    kernel.write_text(f"""{HEAD}__global__ AICORE void k(__gm__ half *x) {{
  Tile<TileType::Vec, float, 1, 64> t;
  TASSIGN(t, 0);
  GlobalTensor<half, Shape<1, 1, 1, 1, 64>, Stride<64, 64, 64, 64, 1>> g(x);
  TSTORE(g, t);
}}
""")
    result = run_command("pto-opt", [str(kernel)])
    assert result.exit_code == 1 and b"kernel.cpp:7:3: error: elements of TSTORE" in result.stderr
    assert b"is defined here" not in result.stderr
