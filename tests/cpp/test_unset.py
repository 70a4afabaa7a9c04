"""Variables without a value: an error where no path sets them, a finding of a run where some path does not."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from pto_dialect.cpp.kernel import CppError, compile_kernel
from pto_dialect.cpp.options import CppOptions
from pto_dialect.cpp.unset import declared_without_value, with_queries
from run_lines import run_command

HEAD = "#include <pto/pto-inst.hpp>\nusing namespace pto;\n"
BEFORE = 'extern "C" __global__ AICORE void k(__gm__ float *x, __gm__ int32_t *y, int32_t n) {\n'
ROW = "  Tile<TileType::Vec, float, 1, 64> t;\n"


def kernel(body: str, above: str = "") -> str:
    return HEAD + above + BEFORE + body + "\n}\n"


# The lines of a body begin with line 4, or 5 below a tile.
NEVER = {
    "a sum": ("  int a;\n  y[0] = a + 1;", "a", (5, 10), (4, 8)),
    "a branch": ("  int a;\n  if (a > 3) y[0] = 1;", "a", (5, 7), (4, 8)),
    "an address": (ROW + "  int a;\n  TASSIGN(t, a);", "a", (6, 14), (5, 8)),
    "a number of an operation": (ROW + "  float f;\n  TASSIGN(t, 0);\n  TADDS(t, t, f);", "f", (7, 15), (5, 10)),
    "an index": ("  int i;\n  y[i] = n;", "i", (5, 5), (4, 8)),
}


@pytest.mark.parametrize("what", NEVER)
def test_variable_that_no_path_sets_is_an_error(what: str) -> None:
    body, name, used, declared = NEVER[what]
    with pytest.raises(CppError) as caught:
        compile_kernel(kernel(body), "kernel.cpp", CppOptions())
    [found] = caught.value.diagnostics
    assert found.message == f"{name} is used here, and nothing has set it"
    assert found.span is not None and found.span.source.line_col(found.span.start) == used
    [note] = found.notes
    assert note.message == f"{name} is declared here"
    assert note.span is not None and note.span.source.line_col(note.span.start) == declared


def test_variables_of_other_errors_are_not_mentioned() -> None:
    with pytest.raises(CppError) as caught:
        compile_kernel(kernel("  int a;\n  y[0] = a;\n  TFLY(x);"), "kernel.cpp", CppOptions())
    assert [(one.message, one.notes) for one in caught.value.diagnostics] == [
        ("use of undeclared identifier 'TFLY'", ())
    ]


# The body, what the message names and where, and for which n there is a finding; other values of n are right twins.
PATHS: dict[str, tuple[str, str, tuple[int, int], set[int]]] = {
    "one branch": ("  int a;\n  if (n > 3) a = 5;\n  y[0] = a;", "a", (6, 8), {0, 3}),
    "a loop": ("  int a;\n  for (int i = 0; i < n; ++i) a = i;\n  y[0] = a + 2;", "a", (6, 8), {0}),
    "the same branch again": ("  int a;\n  if (n > 3) a = 5;\n  if (n > 4) y[0] = a;", "a", (0, 0), set()),
    "a sum in a branch": ("  int a;\n  if (n > 0) a = n;\n  if (n != 0) y[0] = 3 * a + 1;", "a", (0, 0), set()),
    "a condition": ("  bool f;\n  if (n > 3) f = n > 4;\n  if (n < 9 && f) y[0] = 1;", "f", (6, 13), {0, 3}),
    "an enumerator": (
        "  enum Mode { A, B } m;\n  if (n > 3) m = B;\n  if (n != 0 && m == A) y[0] = 1;", "m", (6, 14), {3},
    ),
    "a number of an operation": (
        ROW + "  float f;\n  if (n > 3) f = 2;\n  TASSIGN(t, 0);\n  TEXPANDS(t, f);", "f", (8, 3), {0, 3},
    ),
    "a position": ("  int i;\n  if (n > 3) i = 1;\n  y[i] = 2;", "i", (6, 8), {0, 3}),
    "two in one line": ("  int a = 1, b; if (n > 3) b = a;\n  y[0] = b;", "b", (5, 8), {0, 3}),
    "an array": ("  int a[64];\n  for (int i = 0; i <= n; ++i) a[i] = i;\n  y[0] = a[4];", r"a\[4\]", (6, 8), {0, 3}),
    "a sum of an array": (
        "  int a[64];\n  for (int i = 0; i < n; ++i) a[i] = i;\n  int s = 0;\n"
        "  for (int i = 0; i < 4; ++i) s += a[i] * 3;\n  y[0] = s;",
        r"a\[[03]\]", (8, 8), {0, 3},
    ),
}  # fmt: skip


@pytest.mark.parametrize("what", PATHS)
def test_variable_without_a_value_on_a_path_is_a_finding_of_that_path(what: str, tmp_path: Path) -> None:
    body, name, place, found = PATHS[what]
    path = tmp_path / "kernel.cpp"
    path.write_text(kernel(body), encoding="utf-8")
    for n in (0, 3, 4, 5):
        arguments = [f"--arg={one}" for one in ("x=zeros:f32:64", "y=zeros:i32:64", f"n={n}")]
        result = run_command("pto-run", [str(path), *arguments, "--sanitize", "--quiet", "--output-format=json"])
        reports = json.loads(result.stderr)["diagnostics"]
        if n not in found:
            assert (result.exit_code, reports) == (0, [])
            continue
        assert result.exit_code == 3
        [report] = reports
        start = report["location"]["start"]
        assert (report["rule"], start["line"], start["column"]) == ("mem-uninit", *place)
        assert re.fullmatch(f"{name} is used here, and nothing has set it", report["message"])


def test_plain_run_continues(tmp_path: Path) -> None:
    path = tmp_path / "kernel.cpp"
    path.write_text(kernel(PATHS["one branch"][0]), encoding="utf-8")
    result = run_command("pto-run", [str(path), "--arg=x=zeros:f32:8", "--arg=y=zeros:i32:8", "--arg=n=0"])
    assert (result.exit_code, result.stderr) == (0, b"")


def test_positions_after_a_declaration_stay() -> None:
    text = "int ä = 0; int a; f(a);\nint b;"
    assert with_queries(text, {(1, 18): "a", (2, 1): "b"}).split("\n") == [
        'int ä = 0; int a = __pto_unset{"unset;variable=a"}',
        "#line 1",
        " " * 17 + "; f(a);",
        'int b = __pto_unset{"unset;variable=b"}',
        "#line 2",
        "     ;",
    ]


def test_variables_of_other_files_are_left_alone() -> None:
    output = (
        "own.h:4:8: note: initialize the variable 'a' to silence this warning\n"
        "k.cpp:5:9: note: initialize the variable 'b' to silence this warning\n"
        "k.cpp:6:3: note: variable 'c' is declared here\n"
    )
    assert declared_without_value(output, "k.cpp") == {(5, 9): "b", (6, 3): "c"}


def test_declaration_in_a_macro_is_left_alone() -> None:
    text = kernel("  DECLARE;\n  if (n > 3) a = 5;\n  y[0] = a;", "#define DECLARE int a\n")
    assert "pto.store_scalar" in compile_kernel(text, "kernel.cpp", CppOptions()).text
