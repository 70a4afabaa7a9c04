"""What becomes of functions of tiles as assembly, and what the form does not have."""

from __future__ import annotations

from pathlib import Path

import pytest

from pto_dialect import parse, print_module
from pto_dialect.diagnostics.engine import DiagnosticEngine, DiagnosticOptions
from pto_dialect.diagnostics.render import render_text
from pto_dialect.passes.forms import to_assembly, to_level1, to_level2
from pto_dialect.passes.forms.assembly import ToAssemblyPass
from pto_dialect.passes.registry import make_pass

ROOT = Path(__file__).parents[3]
T = "!pto.tile<16x16xf32>"
M = "!pto.memref<64x32xf32>"
TEXT = f""".arg %a : {T}
.arg %m : {M}
.arg %r : index
.const %x = 2.000000e+00 : f32
%b = tload %m[%r, 16] : ({M}, index, index) -> {T}
%c = tload %m : ({M}) -> !pto.tile<64x32xf32>
%d = tadds %b, %x : ({T}, f32) -> {T}
%e = tcmp %d, %a {{cmpMode = #pto<cmp gt>}} : ({T}, {T}) -> !pto.tile<16x32xui8>
pto.record_event[#pto.sync_op_type<TVEC>, #pto.sync_op_type<TSTORE_VEC>, <EVENT_ID0>]
pto.wait_event[#pto.sync_op_type<TVEC>, #pto.sync_op_type<TSTORE_VEC>, <EVENT_ID0>]
tstore %d, %m[0, 0] {{atomicType = #pto<atomic_type atomic_add>}} : ({T}, {M}, index, index) -> ()
tstore %c, %m : (!pto.tile<64x32xf32>, {M}) -> ()
"""
FUNCTION = f"""func.func @f(%a: {T}, %x: f32) -> {T} attributes {{pto.kernel}} {{
  %b = pto.tadds %a, %x : ({T}, f32) -> {T}
  return %b : {T}
}}
"""


def test_assembly_is_printed_as_it_is_read() -> None:
    module = parse(TEXT)
    found = to_assembly(module)
    assert print_module(found) == TEXT
    assert print_module(to_level1(found)) == print_module(module)


def test_products_and_vector_products_of_the_manual() -> None:
    text = (ROOT / "examples" / "seed_snippets" / "assembly.pto").read_text(encoding="utf-8")
    module = parse(text)
    lines = [line for line in text.splitlines() if line and not line.startswith("//")]
    assert print_module(to_assembly(module)).splitlines() == lines
    buffers = to_level2(module)
    assert print_module(to_assembly(buffers)).splitlines() == lines


def test_numbers_are_literals_as_sizes_and_names_as_indices() -> None:
    view = "!pto.partition_tensor_view<16x16xf32>"
    text = f"""func.func @main(%m: !pto.tensor_view<64x32xf32>) {{
  %k16 = arith.constant 16 : index
  %p = pto.partition_view %m, offsets = [%k16, %k16], sizes = [%k16, %k16] : !pto.tensor_view<64x32xf32> -> {view}
  %a = pto.tload %p : ({view}) -> {T}
  pto.tprint %a : ({T}) -> ()
  return
}}
"""
    assert print_module(to_assembly(parse(text))) == (
        f".arg %m : {M}\n.const %k16 = 16 : index\n"
        f"%a = tload %m[%k16, %k16] : ({M}, index, index) -> {T}\ntprint %a : ({T}) -> ()\n"
    )


def test_attributes_are_left_out_on_demand() -> None:
    text = print_module(to_assembly(parse(FUNCTION), drop_attributes=True))
    assert text == f".arg %a : {T}\n.arg %x : f32\n%b = tadds %a, %x : ({T}, f32) -> {T}\n"
    made = make_pass("to-assembly{attributes=drop}", None)
    assert isinstance(made, ToAssemblyPass)
    module = parse(FUNCTION)
    made.run(module, DiagnosticEngine(DiagnosticOptions()))
    assert print_module(module) == text


_B = f"%b = pto.tadds %a, %x : ({T}, f32) -> {T}"
REFUSED = {
    "an attribute": (
        FUNCTION,
        "the form cannot express pto.kernel; to-assembly{attributes=drop} leaves it out",
    ),
    "two functions": (FUNCTION + FUNCTION.replace("@f", "@g"), "the form has one function"),
    "a region": (
        FUNCTION.replace("attributes {pto.kernel} ", "").replace(
            _B, f"%n = arith.constant 1 : index\n  scf.for %i = %n to %n step %n {{\n  }}\n  {_B}"
        ),
        "scf.for has regions or goes to blocks, and the form has statements only",
    ),
    "an operation on numbers": (
        FUNCTION.replace("attributes {pto.kernel} ", "").replace(_B, f"%y = arith.addf %x, %x : f32\n  {_B}"),
        "the form has no arith.addf",
    ),
    "a result that is read": (
        FUNCTION.replace("attributes {pto.kernel} ", "").replace("return", f"pto.tprint %b : ({T}) -> ()\n  return"),
        "what it returns, or a number in it, reads as something else",
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_the_form_does_not_have(name: str) -> None:
    text, reason = REFUSED[name]
    module = parse(text)
    before = print_module(module)
    engine = DiagnosticEngine(DiagnosticOptions())
    ToAssemblyPass().run(module, engine)
    (found,) = engine.diagnostics
    assert (found.rule, found.message) == ("to-assembly-unsupported", f"assembly cannot say this: {reason}")
    assert "^" in render_text(engine.diagnostics)
    assert print_module(module) == before


def test_an_entry_is_what_the_one_function_is_anyway() -> None:
    text = FUNCTION.replace("pto.kernel", "pto.entry")
    assert print_module(to_assembly(parse(text))) == print_module(
        to_assembly(parse(text.replace(" attributes {pto.entry}", "")))
    )
