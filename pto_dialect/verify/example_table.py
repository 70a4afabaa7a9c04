"""Example programs of rules whose declaration has none: what breaks the rule, and the nearest program that keeps it.

Written as ``examples`` says: a statement, some lines, a function or a module.
"""

from __future__ import annotations

from typing import Final, NamedTuple


class Example(NamedTuple):
    """A program that breaks a rule and one that keeps it, on ``target``."""

    bad: str
    good: str
    target: str = "a5"


_T = "!pto.tile_buf<vec, 16x16xf32>"
_W = "!pto.tile_buf<vec, 16x32xf32>"
_ADD = f"pto.tadd ins(%a, %b : {_T}, {_T}) outs(%c : {_T})"
_LONG = "loc=vec, dtype=f32, rows=8, cols=8, v_row=8, v_col=8, blayout=row_major, slayout=none_box, fractal=512, pad=0"


_LONG_ROW = "!pto.tile_buf<left, 16x4096xf16, valid=1x4096, blayout=col_major, slayout=row_major>"


def _tile(old: str, new: str) -> str:
    """A function with a tile whose long type is changed in one place."""
    return f"func.func @f(%a: !pto.tile_buf<{_LONG.replace(old, new)}>) {{\n  return\n}}"


_GOOD_TILE = _tile("", "")


def _body(*lines: str, arguments: str = "", attributes: str = "") -> str:
    """A function with these lines."""
    text = "".join(f"  {line}\n" for line in lines)
    return f"func.func @f({arguments}){attributes} {{\n{text}  return\n}}"


def _view(layout: str) -> str:
    """A function with a view of rows behind each other."""
    sizes = ("%a = arith.constant 16 : index", "%b = arith.constant 1 : index")
    view = f"%v = pto.make_tensor_view %p, shape = [%a, %a], strides = [%a, %b] {{layout = #pto.layout<{layout}>}}"
    return _body(*sizes, f"{view} : !pto.tensor_view<?x?xf32>", arguments="%p: !G32")


def _queue(core: str, *lines: str, fields: str = "", buffer: str = "c2v_consumer_buf") -> str:
    """A function of one core with a queue."""
    side = {"cube": "aic", "vector": "aiv"}[core]
    init = f"pto.{side}_initialize_pipe {{id = 0, dir_mask = 1, slot_size = 1024{fields}}} ({buffer} = %b : i32)"
    return _body(
        init,
        *lines,
        arguments="%b: i32, %t: !C, %n: index",
        attributes=f" attributes {{pto.kernel_kind = #pto.kernel_kind<{core}>}}",
    )


_PUSH = "pto.tpush_to_aiv(%t : !C) {id = 0, split = 0}"
_POP_TYPE = "!pto.tile_buf<vec, 16x16xf32>"
_POP = f"%x = pto.tpop_from_aic {{id = 0, split = 0}} -> {_POP_TYPE}"
_FREE = "pto.tfree_from_aic {id = 0, split = 0}"

EXAMPLES: Final[dict[str, Example]] = {
    # ------------------------------------------------------------ reading the text
    "parse-syntax": Example(_ADD.replace("ins(", "in("), _ADD),
    "parse-string": Example('%v = pto.vlds %u[%c0] {dist = "NORM} : !U32 -> !pto.vreg<64xf32>',
                            '%v = pto.vlds %u[%c0] {dist = "NORM"} : !U32 -> !pto.vreg<64xf32>'),
    "parse-character": Example("pto.barrier §", "pto.barrier #pto.pipe<PIPE_V>"),
    "parse-missing-types": Example("pto.tadd ins(%a, %b) outs(%c)", _ADD),
    "parse-clause-duplicate": Example(
        "%r = pto.mulhi %x, %y signed signed : i32, i32 -> i32", "%r = pto.mulhi %x, %y signed : i32, i32 -> i32"),
    "parse-type-count": Example(_ADD.replace(f"{_T}, {_T}", _T), _ADD),
    "op-missing-outs": Example(f"pto.tadd ins(%a, %b : {_T}, {_T})", _ADD),
    "op-unknown": Example(_ADD.replace("tadd", "taddd"), _ADD),
    "operand-type": Example(
        _body("%b = arith.constant 1 : i32", "%c = arith.addi %b, %b : i64"),
        _body("%b = arith.constant 1 : i32", "%c = arith.addi %b, %b : i32")),
    "name-undefined": Example(
        _body("%b = arith.addi %a, %a : i32"), _body("%b = arith.addi %a, %a : i32", arguments="%a: i32")),
    "name-redefined": Example(
        _body("%a = arith.constant 1 : i32", "%a = arith.constant 2 : i32"),
        _body("%a = arith.constant 1 : i32", "%b = arith.constant 2 : i32")),
    "type-syntax": Example(
        _body(arguments="%a: !pto.vreg<f32>"), _body(arguments="%a: !pto.vreg<64xf32>")),
    "type-unknown": Example(_body(arguments="%a: !pto.register<64xf32>"), _body(arguments="%a: !pto.vreg<64xf32>")),
    "literal-type": Example(
        _body("%a = arith.constant 1.5 : i32"), _body("%a = arith.constant 1 : i32")),
    "literal-range": Example(_body("%a = arith.constant 300 : i8"), _body("%a = arith.constant 100 : i8")),
    "attr-duplicate": Example(
        "%r = pto.shuffle_idx %v, %i {width = 16 : i32, width = 16 : i32} : i32, i32 -> i32",
        "%r = pto.shuffle_idx %v, %i {width = 16 : i32} : i32, i32 -> i32"),
    "attr-form": Example("pto.barrier #pto<pipe PIPE_V>", "pto.barrier #pto.pipe<PIPE_V>"),
    "ptr-space": Example(_body(arguments="%p: !pto.ptr<f32, zero>"), _body(arguments="%p: !pto.ptr<f32, gm>")),
    "tile-key": Example(_tile(", slayout=none_box", ""), _GOOD_TILE),
    "tile-key-order": Example(_tile("rows=8, cols=8", "cols=8, rows=8"), _GOOD_TILE),
    "tile-layout-keyword": Example(_tile("row_major", "rows_first"), _GOOD_TILE),
    "tile-loc-keyword": Example(_tile("loc=vec", "loc=vector"), _GOOD_TILE),
    "tile-rank2": Example(_tile("rows=8", "rows=0"), _GOOD_TILE),
    "tile-fractal": Example(_tile("fractal=512", "fractal=256"), _GOOD_TILE),
    "tile-valid-le-shape": Example(_tile("v_row=8", "v_row=9"), _GOOD_TILE),
    "vreg-256": Example(_body(arguments="%a: !pto.vreg<32xf32>"), _body(arguments="%a: !pto.vreg<64xf32>")),
    "vmi-lanes": Example(
        _body(arguments="%a: !pto.vmi.vreg<0xf32>"), _body(arguments="%a: !pto.vmi.vreg<64xf32>")),
    "struct-field": Example(
        _body(arguments="%a: !pto.struct<index>"), _body(arguments="%a: !pto.struct<i32, f32>")),
    "vmi-layout": Example(
        _body(arguments="%a: !pto.vmi.vreg<8xf32, #pto.vmi.layout<num_groups = 4, slots = 4>>"),
        _body(arguments="%a: !pto.vmi.vreg<4xf32, #pto.vmi.layout<num_groups = 4, slots = 4>>")),
    "scf-if-else": Example(
        _body("%r = scf.if %c -> (i32) {", "  scf.yield %x : i32", "}", arguments="%c: i1, %x: i32"),
        _body("%r = scf.if %c -> (i32) {", "  scf.yield %x : i32", "} else {", "  scf.yield %x : i32", "}",
              arguments="%c: i1, %x: i32")),
    "op-deprecated": Example(
        "pto.tfillpad_inplace ins(%a : !pto.tile_buf<vec, 16x16xf32, pad=1>) "
        "outs(%b : !pto.tile_buf<vec, 16x16xf32, pad=1>)",
        "pto.tfillpad ins(%a : !pto.tile_buf<vec, 16x16xf32, pad=1>) outs(%b : !pto.tile_buf<vec, 16x16xf32, pad=1>)"),
    "dialect-unregistered": Example('"other.work"() : () -> ()', '"pto.trap"() : () -> ()'),
    "sync-pipe-token": Example(
        'pto.set_flag["PIPE_M", "PIPE_FIXX", "EVENT_ID0"]', 'pto.set_flag["PIPE_M", "PIPE_FIX", "EVENT_ID0"]'),
    "sync-flag-range": Example(
        'pto.set_flag["PIPE_M", "PIPE_FIX", "EVENT_ID8"]', 'pto.set_flag["PIPE_M", "PIPE_FIX", "EVENT_ID7"]'),
    "vmi-cvt": Example(
        "%b = pto.vmi.vcvt %a : !pto.vmi.vreg<64xi32> -> !pto.vmi.vreg<64xf32>",
        "%b = pto.vmi.vcvt %a : !pto.vmi.vreg<64xsi32> -> !pto.vmi.vreg<64xf32>"),
    "matmul-phase": Example(
        "pto.tmatmul ins(%a, %b : !L, !R) outs(%c : !C) {accPhase = #pto<acc_phase last>}",
        "pto.tmatmul ins(%a, %b : !L, !R) outs(%c : !C) {accPhase = #pto<acc_phase final>}"),
    # ------------------------------------------------------------ structure
    "operand-kind": Example("pto.set_mov_pad_val %v : i64", "pto.set_mov_pad_val %v : i32"),
    "operand-count": Example(
        '"pto.tabs"() : () -> ()', f"pto.tabs ins(%a : {_T}) outs(%b : {_T})"),
    "result-kind": Example(
        "%t = pto.declare_tile -> !pto.tensor_view<16x16xf32>", f"%t = pto.declare_tile -> {_T}"),
    "attr-kind": Example(
        "%r = pto.shuffle_idx %v, %i {width = 16 : si8} : i32, i32 -> i32",
        "%r = pto.shuffle_idx %v, %i {width = 16 : i32} : i32, i32 -> i32"),
    "target-unknown": Example(
        'module attributes {pto.target_arch = "a7"} {\n}', 'module attributes {pto.target_arch = "a5"} {\n}'),
    "simt-callee": Example(
        "func.func @body() {\n  return\n}\nfunc.func @f(%n: i32) {\n"
        "  pto.simt_launch @body<<<%n, %n, %n>>>() : () -> ()\n  return\n}",
        "func.func @body() attributes {pto.simt_entry} {\n  return\n}\nfunc.func @f(%n: i32) {\n"
        "  pto.simt_launch @body<<<%n, %n, %n>>>() : () -> ()\n  return\n}"),
    "pipe-dir": Example(_queue("cube").replace("dir_mask = 1", "dir_mask = 4"), _queue("cube")),
    "pipe-split": Example(_queue("cube", _PUSH.replace("split = 0", "split = 5")), _queue("cube", _PUSH)),
    "pipe-kind": Example(_queue("cube", _FREE), _queue("vector", _POP, _FREE)),
    "pipe-id": Example(_queue("cube", _PUSH.replace("id = 0", "id = 1")), _queue("cube", _PUSH)),
    "pipe-free": Example(_queue("vector", _POP), _queue("vector", _POP, _FREE)),
    "pipe-valid-operands": Example(
        _queue("vector", f"%x = pto.tpop_from_aic(%n, %n) {{id = 0, split = 0}} -> {_POP_TYPE}", _FREE),
        _queue("vector", _POP, _FREE)),
    # ------------------------------------------------------------ places, types, sizes
    "matmul-bias-layout": Example(
        "pto.tmatmul.bias ins(%a, %b, %t : !L, !R, !pto.tile_buf<bias, 1x16xf32, slayout=row_major>) outs(%c : !C)",
        "pto.tmatmul.bias ins(%a, %b, %t : !L, !R, !Bi) outs(%c : !C)"),
    "mx-scale-layout": Example(
        "pto.tmatmul.mx ins(%a, %s, %b, %t : !LE, !pto.tile_buf<scaling, 16x2x!pto.f8E8M0, fractal=32>, !RE, !SR) "
        "outs(%c : !C)",
        "pto.tmatmul.mx ins(%a, %s, %b, %t : !LE, !SL, !RE, !SR) outs(%c : !C)"),
    "matmul-mx-bias-f32": Example(
        "pto.tmatmul.mx.bias ins(%a, %s, %b, %t, %z : !LE, !SL, !RE, !SR, !Bi16) outs(%c : !C)",
        "pto.tmatmul.mx.bias ins(%a, %s, %b, %t, %z : !LE, !SL, !RE, !SR, !Bi) outs(%c : !C)"),
    "mx-scale-dtype": Example(
        "pto.tmatmul.mx ins(%a, %s, %b, %t : !LE, "
        "!pto.tile_buf<scaling, 16x2xf16, slayout=row_major, fractal=32>, !RE, !SR) outs(%c : !C)",
        "pto.tmatmul.mx ins(%a, %s, %b, %t : !LE, !SL, !RE, !SR) outs(%c : !C)"),
    "mx-scale-legacy-shape": Example(
        "pto.tmatmul.mx ins(%a, %s, %b, %t : !LE, !pto.tile_buf<scaling, 16x64xf16>, !RE, "
        "!pto.tile_buf<scaling, 64x16xf16>) outs(%c : !C)",
        "pto.tmatmul.mx ins(%a, %s, %b, %t : !LE, !SL, !RE, !SR) outs(%c : !C)"),
    "attr-missing": Example(_queue("cube").replace("dir_mask = 1, ", ""), _queue("cube")),
    "type-schematic": Example("%r = pto.fmax %x, %y : ...", "%r = pto.fmax %x, %y : f32, f32 -> f32"),
    "parse-result-count": Example(
        "%r, %s = pto.fmax %x, %y : f32, f32 -> f32", "%r = pto.fmax %x, %y : f32, f32 -> f32"),
    "attr-enum": Example(
        f"pto.tcvt ins(%a {{rmode = #pto<round_mode UP>}} : {_T}) outs(%b : !pto.tile_buf<vec, 16x16xf16>)",
        f"pto.tcvt ins(%a {{rmode = #pto<round_mode CEIL>}} : {_T}) outs(%b : !pto.tile_buf<vec, 16x16xf16>)"),
    "tile-cmp-mode": Example(
        f"pto.tcmp ins(%a, %b {{cmpMode = #pto<cmp less>}} : {_W}, {_W}) outs(%d : !pto.tile_buf<vec, 16x32xi8>)",
        f"pto.tcmp ins(%a, %b {{cmpMode = #pto<cmp lt>}} : {_W}, {_W}) outs(%d : !pto.tile_buf<vec, 16x32xi8>)"),
    "matmul-bias-cols": Example(
        "pto.tmatmul.bias ins(%a, %b, %t : !L, !R, !pto.tile_buf<bias, 1x8xf32>) outs(%c : !C)",
        "pto.tmatmul.bias ins(%a, %b, %t : !L, !R, !Bi) outs(%c : !C)"),
    "view-layout": Example(_view("dn"), _view("nd")),
    # ------------------------------------------------------------ further ones
    "backend-unknown": Example(
        'module attributes {pto.backend = "llvm", pto.target_arch = "a5"} {\n}',
        'module attributes {pto.backend = "emitc", pto.target_arch = "a5"} {\n}'),
    "tstore-atomic": Example(
        "pto.tstore ins(%a : !pto.tile_buf<vec, 16x16xf32>) outs(%v : !pto.partition_tensor_view<16x16xf32>) "
        "{atomicType = #pto<atomic_type atomic_mul>}",
        "pto.tstore ins(%a : !pto.tile_buf<vec, 16x16xf32>) outs(%v : !pto.partition_tensor_view<16x16xf32>) "
        "{atomicType = #pto<atomic_type atomic_add>}"),
    "sync-membar-kind": Example('pto.mem_bar "VV_SOME"', 'pto.mem_bar "VV_ALL"'),
    "pipe-local-a5": Example(_queue("cube", fields=", local_slot_num = 2"), _queue("cube")),
    "gemv-range": Example(
        f"pto.tgemv ins(%a, %b : {_LONG_ROW}, !Rbig) outs(%c : !C1r)",
        "pto.tgemv ins(%a, %b : !L1r, !R) outs(%c : !C1r)"),
    "sync-ffts-base": Example(
        "pto.sync.set #pto.pipe<PIPE_FIX>, 1",
        "pto.set_ffts %p : !pto.ptr<i64, gm>\npto.sync.set #pto.pipe<PIPE_FIX>, 1", "a2a3"),
    "matmul-native-layout": Example(
        "pto.tmatmul ins(%a, %b : !L, !Rnz) outs(%c : !C)", "pto.tmatmul ins(%a, %b : !L, !R) outs(%c : !C)", "a2a3"),
    "op-operand-count": Example(
        "%r = pto.fmax %x, %y, %z : f32, f32, f32 -> f32", "%r = pto.fmax %x, %y : f32, f32 -> f32"),
    "parse-unbalanced": Example("func.func @f() {\n  return", "func.func @f() {\n  return\n}"),
}  # fmt: skip
