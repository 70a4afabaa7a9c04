"""The generic form for tools without the dialect: memrefs as MLIR admits them, calls below a known symbol table."""

from __future__ import annotations

import shutil
import subprocess

import pytest
from parse_helpers import parsed
from xdsl.dialects import builtin
from xdsl.dialects.builtin import ModuleOp

from pto_dialect.ir.core import types as t
from pto_dialect.syntax.compare import same_module
from pto_dialect.syntax.portable import portable
from pto_dialect.syntax.print.printer import print_module
from pto_dialect.syntax.types.parser import parse_type

MLIR_OPT = shutil.which("mlir-opt-19") or shutil.which("mlir-opt")

GM, VEC = "#pto.address_space<gm>", "#pto.address_space<vec>"

SPELLINGS = {
    f"memref<4x?xf32, {GM}>": f"memref<4x?xf32, {{pto.space = {GM}}}>",
    f"memref<4xf32, strided<[2], offset: ?>, {VEC}>": f"memref<4xf32, strided<[2], offset: ?>, {{pto.space = {VEC}}}>",
    f"memref<4xf32, affine_map<(d0) -> (d0)>, {GM}>": f"memref<4xf32, affine_map<(d0) -> (d0)>, {{pto.space = {GM}}}>",
    "memref<16x!pto.hif8>": "memref<16xi8, {pto.element = !pto.hif8}>",
    f"memref<16x!pto.bf16x2, {GM}>": f"memref<16xi32, {{pto.element = !pto.bf16x2, pto.space = {GM}}}>",
    "memref<2x!pto.ptr<f32, gm>>": "memref<2xi64, {pto.element = !pto.ptr<f32, gm>}>",
    f"(memref<4xi8, {GM}>) -> i32": f"(memref<4xi8, {{pto.space = {GM}}}>) -> i32",
    "memref<4xf32>": "memref<4xf32>",
    "memref<4xf32, 3>": "memref<4xf32, 3>",
    'memref<4xf32, "near">': 'memref<4xf32, "near">',
    "!pto.tile_buf<vec, 16x16xf32>": "!pto.tile_buf<vec, 16x16xf32>",
    "vector<2xf32>": "vector<2xf32>",
}

PROGRAM = f"""
module attributes {{pto.target_arch = "a5"}} {{
  func.func private @sink(memref<4x?xf32, strided<[4, 1], offset: ?>, {GM}> {{pto.x}}, i32) -> i32
  func.func private @typed() attributes {{types = [memref<4xf32, {GM}>, f32], one = {{a = memref<2x!pto.hif8>}}}}
  func.func @f(%m: memref<4x?xf32, strided<[4, 1], offset: ?>, {GM}>, %n: index, %x: i32, %h: memref<8x!pto.hif8>) {{
    %a = memref.alloc(%n) : memref<?x4xf32, {VEC}>
    %s = memref.subview %a[0, 0] [2, 2] [1, 1]
      : memref<?x4xf32, {VEC}> to memref<2x2xf32, strided<[4, 1]>, {VEC}>
    %c = memref.memory_space_cast %a : memref<?x4xf32, {VEC}> to memref<?x4xf32, {GM}>
    pto.section.vector {{
      scf.for %i = %n to %n step %n {{
        pto.vecscope {{
          %r = func.call @sink(%m, %x) : (memref<4x?xf32, strided<[4, 1], offset: ?>, {GM}>, i32) -> i32
        }}
      }}
    }}
    pto.section.vector {{
      pto.barrier #pto.pipe<PIPE_ALL>
    }}
    return
  }}
}}
"""


def read(text: str) -> ModuleOp:
    module, found = parsed(text)
    assert module is not None and found == [], found
    return module


@pytest.mark.parametrize(("native", "spelling"), SPELLINGS.items())
def test_types(native: str, spelling: str) -> None:
    type_ = parse_type(native)
    assert t.type_text(portable(type_)) == spelling
    assert parse_type(spelling) == type_
    assert parse_type(native.replace(", ", " ,  ")) == type_


def test_other_dictionaries_stay_memory_spaces() -> None:
    for text in ("{}", "{a = 1}", "{pto.space = #pto.address_space<gm>, b}"):
        space = parse_type(f"memref<4xf32, {text}>").memory_space  # pyright: ignore[reportAttributeAccessIssue]
        assert str(space) == text


def test_open_dimensions_are_those_of_the_core_dialects() -> None:
    type_ = parse_type("memref<?x4xf32>")
    assert isinstance(type_, builtin.MemRefType)
    assert type_.get_shape() == (builtin.DYNAMIC_INDEX, 4)
    assert t.shape_of(type_) == (t.DYNAMIC, 4)


@pytest.mark.parametrize("exact", [False, True])
def test_both_spellings_are_read_back(exact: bool) -> None:
    module = read(PROGRAM)
    text = print_module(module, generic=True, portable=not exact)
    again = read(text)
    assert same_module(module, again) is None
    assert print_module(again, generic=True, portable=not exact) == text
    assert ("pto.space" in text) is not exact
    assert text.count("{})") == (0 if exact else 2)


def test_the_custom_form_is_native() -> None:
    module = read(PROGRAM)
    again = read(print_module(module, generic=True))
    assert print_module(again) == print_module(module)
    assert "pto.space" not in print_module(module)


@pytest.mark.skipif(MLIR_OPT is None, reason="mlir-opt is not installed")
def test_mlir_reads_and_gives_back_the_program() -> None:
    assert MLIR_OPT is not None
    module = read(PROGRAM)
    command = [MLIR_OPT, "--allow-unregistered-dialect"]
    for portable_form in (True, False):
        text = print_module(module, generic=True, portable=portable_form)
        done = subprocess.run(command, input=text, capture_output=True, text=True, check=False)
        assert (done.returncode == 0) is portable_form, done.stderr
        if portable_form:
            assert same_module(read(done.stdout), module) is None
