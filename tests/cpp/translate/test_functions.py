"""What functions of LLVM IR become, without a compiler."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from snapshots import Block, files, read, renewed

import pto_dialect
from pto_dialect.api import check
from pto_dialect.cpp.errors import TranslationError
from pto_dialect.cpp.translate import translate_module
from pto_dialect.diagnostics.diagnostic import Severity
from pto_dialect.nesting import EXECUTED
from pto_dialect.runtime.errors import ProgramError

FILES = files("cpp", "translate", "snapshots")
HEADERS = ("/headers/",)


def outcome(block: Block) -> str:
    """The function of a block as it is translated; or the error."""
    try:
        text = translate_module([("", block.program)], headers=HEADERS)
    except TranslationError as error:
        return f"error: {error}" + (f"\nhelp: {error.help}" if error.help else "")
    return "\n".join(line[2:] for line in text.splitlines()[1:-1])


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_functions_become_the_text_of_the_snapshot(file: Path, compare: Callable[[Path, str], None]) -> None:
    compare(file, renewed(file, outcome))


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_translated_functions_are_correct_programs(file: Path) -> None:
    for block in read(file)[1]:
        if not block.output.startswith("error: "):
            found = check(f"module {{\n{block.output}\n}}").diagnostics
            assert not [str(one) for one in found if one.severity is Severity.ERROR], block.title


@pytest.mark.parametrize(
    ("parameters", "arguments"),
    [("typename T, int N", "float, 128"), ("bool B, class T = float", "true"), ("int W, int... N", "128")],
)
def test_a_kernel_that_is_a_template_is_named(parameters: str, arguments: str) -> None:
    source = f"template <{parameters}>\n__global__ AICORE void scale(__gm__ float *x) {{}}\n"
    with pytest.raises(TranslationError, match="scale is a template") as caught:
        translate_module([("", "")], sources={"k.cpp": source})
    assert caught.value.help.endswith(f"give its arguments, for example --entry 'scale<{arguments}>'")


def switch_of(cases: int) -> str:
    """A function that stores which two numbers its argument is one of, by a switch; -7 where no case has it."""
    labels = " ".join(f"i32 {number}, label %case{number // 2}" for number in range(cases))
    blocks = "".join(
        f"case{number}:\n  store i32 {number + 1}, ptr %out\n  br label %end\n" for number in range((cases + 1) // 2)
    )
    return (
        f"define void @kernel_entry(ptr %out, i32 %n) {{\nentry:\n  switch i32 %n, label %other [ {labels} ]\n{blocks}"
        "other:\n  store i32 -7, ptr %out\n  br label %end\nend:\n  ret void\n}\n"
    )


@pytest.mark.parametrize("cases", [3, 40, 500])
def test_a_switch_of_any_size_executes_the_case_of_its_number(cases: int) -> None:
    program = pto_dialect.compile(pto_dialect.parse(translate_module([("", switch_of(cases))])))
    for number in (-1, 0, 1, cases // 2, cases - 1, cases, cases + 1):
        out = np.zeros(1, np.int32)
        program(out, number)
        assert out[0] == (number // 2 + 1 if 0 <= number < cases else -7)


@pytest.mark.parametrize("levels", [48, 49, 59, 70, 1000])
def test_branches_nest_as_deep_as_an_execution_allows(levels: int) -> None:
    branches = "".join(
        f"b{level}:\n  %p{level} = getelementptr i32, ptr %out, i32 {level + 1}\n  store i32 {level}, ptr %p{level}\n"
        f"  %c{level} = icmp sgt i32 %n, {level}\n  br i1 %c{level}, label %b{level + 1}, label %end\n"
        for level in range(levels)
    )
    last = f"b{levels}:\n  store i32 7, ptr %out\n  br label %end\nend:\n  ret void\n}}\n"
    text = f"define void @kernel_entry(ptr %out, i32 %n) {{\nentry:\n  br label %b0\n{branches}{last}"
    if levels > EXECUTED:
        with pytest.raises(TranslationError, match="nested deeper than 48 levels"):
            translate_module([("", text)])
    else:
        out = np.zeros(levels + 2, np.int32)
        pto_dialect.compile(pto_dialect.parse(translate_module([("", text)])))(out, levels)
        assert out[0] == 7


CHOSEN = """\
define void @kernel_entry(ptr %out, i32 %n) {{
entry:
  %a = alloca [4 x i32]
  %a1 = getelementptr [4 x i32], ptr %a, i32 0, i32 1
  store i32 5, ptr %a1
  %index = {index}
  %place = getelementptr [4 x i32], ptr %a, i32 0, i32 %index
  %old = load i32, ptr %place
  %new = add i32 %old, 1
  store i32 %new, ptr %place
  %last = load i32, ptr %a1
  store i32 %last, ptr %out
  ret void
}}
"""


@pytest.mark.parametrize("number", [-(2**31), -1, 0, 1, 3, 4, 2**31 - 1])
def test_an_index_outside_of_a_small_array_ends_the_execution(number: int) -> None:
    text = translate_module([("", CHOSEN.format(index="add i32 %n, 0"))])
    assert text.count("cf.assert") == 1, "the load asserts it, the store need not"
    program = pto_dialect.compile(pto_dialect.parse(text))
    out = np.zeros(1, np.int32)
    if 0 <= number < 4:
        program(out, number)
        assert out[0] == 5 + (number == 1)
    else:
        with pytest.raises(ProgramError, match="the index is outside of the array a"):
            program(out, number)


@pytest.mark.parametrize(
    ("index", "is_asserted"),
    [
        ("and i32 %n, 3", False), ("and i32 %n, 7", True), ("urem i32 %n, 4", False), ("urem i32 %n, 5", True),
        ("srem i32 %n, 4", True), ("xor i32 %n, 1", True),
    ],
)  # fmt: skip
def test_an_index_is_asserted_where_it_may_be_outside(index: str, is_asserted: bool) -> None:
    assert ("cf.assert" in translate_module([("", CHOSEN.format(index=index))])) == is_asserted


def test_a_pointer_that_is_not_accessed_has_the_type_that_its_parameter_declares() -> None:
    text = "define void @k(ptr %x, ptr %y) {\nentry:\n  store i16 1, ptr %y\n  ret void\n}\n"
    source = 'extern "C" __global__ AICORE void k(__gm__ float *__restrict x, __gm__ half *y) {}\n'
    program = translate_module([("", text)], entry="k", sources={"k.cpp": source})
    assert "@k(%x: !pto.ptr<f32>, %y: !pto.ptr<i16>)" in program
