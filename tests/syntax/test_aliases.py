"""Aliases of types and attributes, inside types and elsewhere."""

from __future__ import annotations

import shutil
import subprocess

import pytest
from parse_helpers import parsed
from xdsl.dialects.builtin import AffineMapAttr, FunctionType, MemRefType, ModuleOp, f32

from pto_dialect.syntax.compare import same_module
from pto_dialect.syntax.print.printer import print_module

MLIR_OPT = shutil.which("mlir-opt-19") or shutil.which("mlir-opt")

ALIASED = """#map = affine_map<(d0, d1) -> (d1, d0)>
#space = #pto.address_space<vec>  // a comment
#number = 3 : i32
!element = f32
!row = memref<4x!element, #space>
!fn = (!element) -> !row
func.func @f(%a: memref<4x4x!element, #map, #space>, %b: !row, %c: tuple<!element, !row>, %d: memref<4xf32, #number>,
             %e: () -> !fn, %f: memref<4xf32, "#map">, %g: !pto.tile_buf<vec, 16x16x!element>)
    attributes {pto.a = #map, pto.b = [#space, memref<4x4xf32, #map>]} {
  return
}
"""
SPELLED_OUT = """func.func @f(
    %a: memref<4x4xf32, affine_map<(d0, d1) -> (d1, d0)>, #pto.address_space<vec>>,
    %b: memref<4xf32, #pto.address_space<vec>>, %c: tuple<f32, memref<4xf32, #pto.address_space<vec>>>,
    %d: memref<4xf32, 3 : i32>, %e: () -> ((f32) -> memref<4xf32, #pto.address_space<vec>>),
    %f: memref<4xf32, "#map">, %g: !pto.tile_buf<vec, 16x16xf32>)
    attributes {pto.a = affine_map<(d0, d1) -> (d1, d0)>,
                pto.b = [#pto.address_space<vec>, memref<4x4xf32, affine_map<(d0, d1) -> (d1, d0)>>]} {
  return
}
"""


def read(text: str) -> ModuleOp:
    module, found = parsed(text)
    assert module is not None and found == [], (found, text)
    return module


def test_an_alias_means_what_it_stands_for() -> None:
    module = read(ALIASED)
    assert same_module(module, read(SPELLED_OUT)) is None
    (function,) = module.body.ops
    types = function.properties["function_type"]
    assert isinstance(types, FunctionType)
    matrix = types.inputs.data[0]
    assert isinstance(matrix, MemRefType)
    assert isinstance(matrix.layout, AffineMapAttr) and str(matrix.memory_space) == "#pto.address_space<vec>"
    assert matrix.element_type == f32


@pytest.mark.skipif(MLIR_OPT is None, reason="needs mlir-opt")
def test_what_mlir_prints_with_aliases_is_read_back() -> None:
    module = read(ALIASED)
    assert MLIR_OPT is not None
    printed = subprocess.run(
        [MLIR_OPT, "--allow-unregistered-dialect", "-"],
        input=print_module(module, generic=True),
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    assert "#map = affine_map<" in printed
    assert same_module(module, read(printed)) is None


def test_aliases_end_with_their_program() -> None:
    def types(alias: str) -> str:
        return print_module(read(f"!t = {alias}\nfunc.func private @f(!t, memref<4x!t>)\n"))

    assert "(f32, memref<4xf32>)" in types("f32")
    assert "(f16, memref<4xf16>)" in types("f16")
    assert [rule for rule, *_ in parsed("func.func private @f(!t)\n")[1]] == ["name-undefined"]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("func.func private @f(memref<4xf32, #nope>)\n", ["name-undefined"]),
        ("func.func private @f(i32) attributes {pto.a = #nope}\n", ["name-undefined"]),
        # The definition is wrong; the uses follow from that.
        ("#s = #pto.address_space<nope>\nfunc.func private @f(memref<4xf32, #s>, memref<8xf32, #s>)\n", ["attr-enum"]),
        ("!t = memref<4xnope>\nfunc.func private @f(!t, tuple<!t>)\n", ["type-syntax"]),
    ],
)
def test_wrong_aliases_are_reported_once(text: str, expected: list[str]) -> None:
    assert [rule for rule, *_ in parsed(text)[1]] == expected


@pytest.mark.parametrize(
    ("kind", "column"),
    [("!b", 18), ("tuple<!b>", 24), ("memref<4x!b>", 27), ("(f32) -> !b", 27), ("tuple<tuple<f32, !b>>", 35)],
)
def test_an_alias_that_nothing_defines_is_an_error_inside_of_types(kind: str, column: int) -> None:
    _, found = parsed(f"func.func @f(%x: {kind}) {{\n  return\n}}\n")
    assert [(rule, line, at, message) for rule, line, at, message in found] == [
        ("name-undefined", 1, column, "undefined type alias !b")
    ]


def test_aliases_of_each_other_are_not_defined() -> None:
    _, found = parsed("!a = tuple<!b>\n!b = tuple<!a>\nfunc.func @f(%x: !a) {\n  return\n}\n")
    assert [(rule, line, message) for rule, line, _, message in found] == [
        ("name-undefined", 1, "undefined type alias !b")
    ]
