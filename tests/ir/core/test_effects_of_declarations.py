"""Effects that xDSL's passes see, against what the declaration of each operation says."""

from __future__ import annotations

import pytest
from xdsl.traits import MemoryEffectKind, get_effects

from pto_dialect import parse

READ, WRITE, ALLOC = MemoryEffectKind.READ, MemoryEffectKind.WRITE, MemoryEffectKind.ALLOC
TILE = "!pto.tile_buf<vec, 16x16xf32>"

STATEMENTS = [
    (f"pto.tadd ins(%t, %t : {TILE}, {TILE}) outs(%u : {TILE})", {(READ, "t"), (WRITE, "u")}),
    (f"%x = pto.alloc_tile : {TILE}", {(ALLOC, "x")}),
    (f"%x = pto.treshape %t : {TILE} -> !pto.tile_buf<vec, 8x32xf32>", set()),
    ("%x = pto.addptr %p, %i : !pto.ptr<f32, ub> -> !pto.ptr<f32, ub>", set()),
    ("%x = pto.get_block_idx", set()),
    ("%x = pto.get_clock32 : i32", None),
    ("%x = pto.vlds %p[%i] : !pto.ptr<f32, ub> -> !pto.vreg<64xf32>", {(READ, "p")}),
    ("%x = pto.vadd %v, %v, %m : !pto.vreg<64xf32>, !pto.vreg<64xf32>, !pto.mask<b32> -> !pto.vreg<64xf32>", set()),
    ("pto.vsts %v, %p[%i], %m : !pto.vreg<64xf32>, !pto.ptr<f32, ub>, !pto.mask<b32>", {(WRITE, "p")}),
    ("pto.barrier #pto.pipe<PIPE_ALL>", None),
    ('pto.set_flag["PIPE_V", "PIPE_MTE3", "EVENT_ID0"]', None),
    ("pto.trap", None),
    ('pto.mem_bar "VST_VLD"', None),
    ('%x = pto.reserve_buffer {name = "in", size = 8192, location = <mat>, auto = true} -> i32', None),
    ("%x = pto.make_prefetch_async_context(%g : !pto.ptr<i8, gm>) -> !pto.prefetch_async_context", None),
]
ARGUMENTS = (
    f"%t: {TILE}, %u: {TILE}, %p: !pto.ptr<f32, ub>, %i: index, %v: !pto.vreg<64xf32>, %m: !pto.mask<b32>, "
    "%g: !pto.ptr<i8, gm>"
)


@pytest.mark.parametrize(("statement", "wanted"), STATEMENTS, ids=[text for text, _ in STATEMENTS])
def test_effects(statement: str, wanted: set[tuple[MemoryEffectKind, str]] | None) -> None:
    module = parse(f"func.func @f({ARGUMENTS}) {{\n  {statement}\n  return\n}}\n")
    op = next(op for op in module.walk() if op.name.startswith("pto."))
    found = get_effects(op)
    named = found if found is None else {(effect.kind, getattr(effect.value, "name_hint", None)) for effect in found}
    assert named == wanted


def test_value_forms_write_to_nothing_of_the_program() -> None:
    tile = "!pto.tile<16x16xf32>"
    module = parse(f".arg %a : {tile}\n%d = tadd %a, %a : {tile}\n")
    op = next(op for op in module.walk() if op.name == "pto.tadd")
    assert {(effect.kind, effect.value) for effect in get_effects(op) or ()} == {
        (READ, op.operands[0]),
        (ALLOC, op.results[0]),
    }
