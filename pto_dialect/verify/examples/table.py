"""Example programs of rules whose declaration has none: one that breaks the rule, and a similar one that satisfies it.

Written as ``example_programs`` describes: a statement, several lines, a function or a module.
"""

from __future__ import annotations

from typing import Final, NamedTuple

from .types import PART, TILE, WIDE


class Example(NamedTuple):
    """A program that breaks a rule and one that satisfies it, on ``target``."""

    bad: str
    good: str
    target: str = "a5"


_ADD = f"pto.tadd ins(%a, %b : {TILE}, {TILE}) outs(%c : {TILE})"
_LONG = "loc=vec, dtype=f32, rows=8, cols=8, v_row=8, v_col=8, blayout=row_major, slayout=none_box, fractal=512, pad=0"


_LONG_ROW = "!pto.tile_buf<left, 16x4096xf16, valid=1x4096, blayout=col_major, slayout=row_major>"


def _tile(old: str, new: str) -> str:
    """Returns a function with a tile whose spelled-out type differs in one field."""
    return f"func.func @f(%a: !pto.tile_buf<{_LONG.replace(old, new)}>) {{\n  return\n}}"


_GOOD_TILE = _tile("", "")


def _body(*lines: str, arguments: str = "", attributes: str = "") -> str:
    """Returns a function with these lines."""
    text = "".join(f"  {line}\n" for line in lines)
    return f"func.func @f({arguments}){attributes} {{\n{text}  return\n}}"


_STRUCT = "%s = pto.declare_struct -> !pto.struct<i32, f32>"
_STORE = _body(
    "%c0 = arith.constant 0 : index",
    "%v = arith.constant 1.0 : f32",
    "pto.store_scalar %v, %a[%c0] : !pto.ptr<f32>, f32",
    arguments="%a: !pto.ptr<f32>",
)
"""Writes the first element of its argument."""


def _view(layout: str) -> str:
    """Returns a function with a view of consecutive rows."""
    sizes = ("%a = arith.constant 16 : index", "%b = arith.constant 1 : index")
    view = f"%v = pto.make_tensor_view %p, shape = [%a, %a], strides = [%a, %b] {{layout = #pto.layout<{layout}>}}"
    return _body(*sizes, f"{view} : !pto.tensor_view<?x?xf32>", arguments="%p: !G32")


def _queue(core: str, *lines: str, fields: str = "", buffer: str = "c2v_consumer_buf") -> str:
    """Returns a function of one core with a queue."""
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

_RESERVED = 'name = "q", size = {}, location = #pto.address_space<vec>, auto = {}'
_VECTOR = " attributes {pto.kernel_kind = #pto.kernel_kind<vector>}"
_ALL_LANES = '%m = pto.pset_b32 "PAT_ALL" : !pto.mask<b32>'


def _sums(levels: int) -> str:
    """Returns attribute aliases, each ten times the previous one."""
    aliases = [f"#a{level} = [{', '.join([f'#a{level - 1}'] * 10)}]" for level in range(1, levels + 1)]
    return "\n".join(("#a0 = 1000", *aliases, f"module attributes {{numbers = #a{levels}}} {{", "}"))


def _nested(depth: int) -> str:
    """Returns a struct nested in structs."""
    return _body(f"%a = pto.declare_struct -> {'!pto.struct<' * depth}i32{'>' * depth}")


def _transferred(target: str) -> str:
    """Returns a transfer into ub and one out of it, with a flag between MTE2 and another pipe."""
    names = f'["PIPE_MTE2", "PIPE_{target}", "EVENT_ID0"]'
    return _body(
        "%zero = arith.constant 0 : i64",
        "%one = arith.constant 1 : i64",
        "%size = arith.constant 64 : i64",
        "%u = pto.castptr %zero : i64 -> !U32",
        "pto.mte_gm_ub %p, %u, %zero, %size nburst(%one, %size, %size) : !G32, !U32, i64, i64, i64, i64, i64",
        f"pto.set_flag{names}",
        f"pto.wait_flag{names}",
        "pto.mte_ub_gm %u, %p, %size nburst(%one, %size, %size) : !U32, !G32, i64, i64, i64, i64",
        arguments="%p: !G32",
    )


def _reserved(size: int) -> str:
    """Returns a queue with eight slots of 1024 bytes in a reserved buffer."""
    return _body(
        f"%b = pto.reserve_buffer {{{_RESERVED.format(size, 'true')}}} -> i32",
        "pto.aiv_initialize_pipe {id = 0, dir_mask = 1, slot_size = 1024} (c2v_consumer_buf = %b : i32)",
        attributes=_VECTOR,
    )


def _beside_reserved(base: int) -> str:
    """Returns a tile at address 0 and a reserved buffer."""
    return _body(
        "%zero = arith.constant 0 : i64",
        f"%b = pto.reserve_buffer {{{_RESERVED.format(4096, 'false')}, base = {base}}} -> i32",
        f"%t = pto.alloc_tile addr = %zero : {TILE}",
    )


def _slot_queue(element: str) -> str:
    """Returns an entry of a queue whose slots in gm hold f32."""
    slot = "!pto.tensor_view<16x16xf32>"
    return _body(
        f"pto.aic_initialize_pipe {{id = 0, dir_mask = 1, slot_size = 1024}} (gm_slot_tensor = %s : {slot})",
        f"%e = pto.talloc_to_aiv {{id = 0, split = 0}} -> !pto.tensor_view<16x16x{element}>",
        arguments=f"%s: {slot}",
        attributes=_VECTOR.replace("vector", "cube"),
    )


def _converting(field: str) -> str:
    """Returns both ends of a queue that converts what is pushed."""
    layout = "#pto.acc_push_epilogue<layout = nz2nd, quant = f32_f16, relu = no_relu>"
    fields = f"{{id = 0, dir_mask = 1, slot_size = 512, {field}acc_push_epilogue = {layout}}}"
    vector = (
        f"%b = pto.reserve_buffer {{{_RESERVED.format(8192, 'true')}}} -> i32",
        f"pto.aiv_initialize_pipe {fields} (c2v_consumer_buf = %b : i32)",
        "%x = pto.tpop_from_aic {id = 0, split = 0} -> !pto.tile_buf<vec, 16x16xf16>",
        "pto.tfree_from_aic {id = 0, split = 0}",
    )
    cube = (
        '%b = pto.import_reserved_buffer {name = "q", peer_func = @f} -> i32',
        f"pto.aic_initialize_pipe {fields} (c2v_consumer_buf = %b : i32)",
    )
    other = _body(*cube, attributes=_VECTOR.replace("vector", "cube")).replace("@f(", "@g(")
    return f"{_body(*vector, attributes=_VECTOR)}\n{other}"


def _queues(count: int) -> str:
    """Returns queues of two directions with 4 flags each."""
    buffers = "(c2v_consumer_buf = %b : i32, v2c_consumer_buf = %b : i32)"
    lines = (f"pto.aic_initialize_pipe {{id = {n}, dir_mask = 3, slot_size = 1024}} {buffers}" for n in range(count))
    return _body(*lines, arguments="%b: i32", attributes=_VECTOR.replace("vector", "cube"))


def _caller(core: str) -> str:
    """Returns a function of one core that calls one with a matrix product."""
    product = _body("pto.tmatmul ins(%a, %b : !L, !R) outs(%c : !C)", arguments="%a: !L, %b: !R, %c: !C")
    call = _body(
        "func.call @product(%a, %b, %c) : (!L, !R, !C) -> ()",
        arguments="%a: !L, %b: !R, %c: !C",
        attributes=_VECTOR.replace("vector", core),
    )
    return f"{product.replace('@f(', '@product(')}\n{call}"


def _scoped(arguments: str) -> str:
    """Returns a strict scope with one capture."""
    scope = ("pto.strict_vecscope(%p) {", f"^bb0({arguments}):", f"  {_ALL_LANES}", "} : (!U32) -> ()")
    return _body(*scope, arguments="%p: !U32")


def _expecting(comment: str) -> str:
    """Returns an incorrect statement below an expectation comment."""
    return _body(comment, "%r = pto.fmax %x, %y : f32, f32 -> f32", arguments="%x: f32, %y: f16")


_LOADED = "%v = pto.vlds %u[%zero] : !U32 -> !pto.vreg<64xf32>"
_VIEW = "!pto.partition_tensor_view<{}x128xf32>"
_ASYNC = "%e = pto.comm.tput_async(%a, %b, %s : {0}, {0}, !pto.async_session) -> !pto.async_event"
_EXPECTED = "// expected-error@+1 {{%y has type f16}}"

EXAMPLES: Final[dict[str, Example]] = {
    # ------------------------------------------------------------ reading the text
    "parse-syntax": Example(_ADD.replace("ins(", "in("), _ADD),
    "parse-string": Example('%v = pto.vlds %u[%c0] {dist = "NORM} : !U32 -> !pto.vreg<64xf32>',
                            '%v = pto.vlds %u[%c0] {dist = "NORM"} : !U32 -> !pto.vreg<64xf32>'),
    "parse-character": Example("pto.barrier §", "pto.barrier #pto.pipe<PIPE_V>"),
    "parse-missing-types": Example("pto.tadd ins(%a, %b) outs(%c)", _ADD),
    "parse-clause-duplicate": Example(
        "%r = pto.mulhi %x, %y signed signed : i32, i32 -> i32", "%r = pto.mulhi %x, %y signed : i32, i32 -> i32"),
    "parse-type-count": Example(_ADD.replace(f"{TILE}, {TILE}", TILE), _ADD),
    "op-missing-outs": Example(f"pto.tadd ins(%a, %b : {TILE}, {TILE})", _ADD),
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
        _body("%a = pto.declare_struct -> !pto.struct<index>"),
        _body("%a = pto.declare_struct -> !pto.struct<i32, f32>")),
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
        '"pto.tabs"() : () -> ()', f"pto.tabs ins(%a : {TILE}) outs(%b : {TILE})"),
    "result-kind": Example(
        "%t = pto.declare_tile -> !pto.tensor_view<16x16xf32>", f"%t = pto.declare_tile -> {TILE}"),
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
        f"pto.tcvt ins(%a {{rmode = #pto<round_mode UP>}} : {TILE}) outs(%b : !pto.tile_buf<vec, 16x16xf16>)",
        f"pto.tcvt ins(%a {{rmode = #pto<round_mode CEIL>}} : {TILE}) outs(%b : !pto.tile_buf<vec, 16x16xf16>)"),
    "tile-cmp-mode": Example(
        f"pto.tcmp ins(%a, %b {{cmpMode = #pto<cmp less>}} : {WIDE}, {WIDE}) outs(%d : !pto.tile_buf<vec, 16x32xi8>)",
        f"pto.tcmp ins(%a, %b {{cmpMode = #pto<cmp lt>}} : {WIDE}, {WIDE}) outs(%d : !pto.tile_buf<vec, 16x32xi8>)"),
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
    "parse-missing-token": Example(_ADD.replace("%a, %b", "%a %b"), _ADD),
    "parse-operand-count": Example(
        _body("%b = arith.addi %a : i32", arguments="%a: i32"),
        _body("%b = arith.addi %a, %a : i32", arguments="%a: i32")),
    "parse-clause-order": Example(
        "%r = pto.atomic_add %p, %x signed l2cache(nmfv) : !pto.ptr<i32, gm>, i32 -> i32",
        "%r = pto.atomic_add %p, %x l2cache(nmfv) signed : !pto.ptr<i32, gm>, i32 -> i32"),
    "attr-word": Example(
        'pto.tgather ins(%a, {maskPattern = #pto.mask_pattern<P0101>} : !pto.tile_buf<vec, 1x32xf32>, "rows") '
        "outs(%b : !pto.tile_buf<vec, 1x16xf32>)",
        'pto.tgather ins(%a, {maskPattern = #pto.mask_pattern<P0101>} : !pto.tile_buf<vec, 1x32xf32>, "row") '
        "outs(%b : !pto.tile_buf<vec, 1x16xf32>)"),
    "nesting-limit": Example(_nested(7), _nested(6)),
    "alias-size": Example(_sums(5), _sums(3)),
    "documentation-form": Example(
        "%r = pto.vadd %v, %v : !pto.vreg<64xf32>, !pto.vreg<64xf32> -> !pto.vreg<64xf32>",
        "%r = pto.vadd %v, %v, %m : !pto.vreg<64xf32>, !pto.vreg<64xf32>, !pto.mask<b32> -> !pto.vreg<64xf32>"),
    "vbitcast-bits": Example(
        "%w = pto.vbitcast %v : !pto.vreg<64xf32> -> !pto.vreg<128xf32>",
        "%w = pto.vbitcast %v : !pto.vreg<64xf32> -> !pto.vreg<128xf16>"),
    "vmi-load-modes": Example(
        '%a, %b = pto.vmi.vload %p[%c0], %c8 {dist_mode = "dintlv", group = 4 : i64} '
        ": !U32 -> !pto.vmi.vreg<64xf32>, !pto.vmi.vreg<64xf32>",
        "%a = pto.vmi.vload %p[%c0], %c8 {group = 4 : i64} : !U32 -> !pto.vmi.vreg<64xf32>"),
    "vmi-constant": Example(
        '%a = "pto.vmi.constant"() {value = dense<1.0> : vector<32xf32>} : () -> !pto.vmi.vreg<64xf32>',
        '%a = "pto.vmi.constant"() {value = dense<1.0> : vector<64xf32>} : () -> !pto.vmi.vreg<64xf32>'),
    "comm-async-1d": Example(_ASYNC.format(_VIEW.format(4)), _ASYNC.format(_VIEW.format(1))),
    "fusion-yield": Example(
        _body("%r = pto.fusion_region {", "} : i32", arguments="%x: i32"),
        _body("%r = pto.fusion_region {", "  pto.yield(%x) : (i32) -> ()", "} : i32", arguments="%x: i32")),
    "gemv-mx-needs-a5": Example(
        "pto.tgemv.mx ins(%a, %s, %b, %t : !LE, !SL, !RE, !SR) outs(%c : !C)",
        "pto.tgemv ins(%a, %b : !L1r, !R) outs(%c : !C1r)", "a2a3"),
    "overlap-reserve": Example(_beside_reserved(0), _beside_reserved(4096)),
    "reserve-size": Example(_reserved(4096), _reserved(8192)),
    "pipe-gm-a2a3": Example(
        _queue("cube"),
        _body(
            "pto.aic_initialize_pipe {id = 0, dir_mask = 1, slot_size = 1024} "
            "(gm_slot_buffer = %g : !G32, c2v_consumer_buf = %b : i32)",
            arguments="%g: !G32, %b: i32", attributes=_VECTOR.replace("vector", "cube")), "a2a3"),
    "pipe-entry-type": Example(_slot_queue("f16"), _slot_queue("f32"), "a2a3"),
    "pipe-epilogue": Example(_converting(""), _converting("nosplit = true, ")),
    "pipe-flag-budget": Example(_queues(5), _queues(4)),
    "section-target": Example(_caller("vector"), _caller("cube")),
    "tassign-type": Example(
        _body("%at = arith.constant 1024 : i64",
              f"%m = pto.tassign %t, %at : {TILE} -> !pto.tile_buf<vec, 16x32xf32>", arguments=f"%t: {TILE}"),
        _body("%at = arith.constant 1024 : i64",
              f"%m = pto.tassign %t, %at : {TILE} -> {TILE}", arguments=f"%t: {TILE}")),
    "tload-pad-args": Example(
        f"pto.tload ins(%v : {PART}) outs(%a : {TILE}) pad_mode = #pto.padmode<PadValue>",
        f"pto.tload ins(%v : {PART}) outs(%a : {TILE}) pad_mode = #pto.padmode<PadValue> "
        "pad_value = %x : f32"),
    "vec-scope": Example(
        _body("%zero = arith.constant 0 : index", "pto.vecscope {", f"  {_ALL_LANES}", "}", _LOADED,
              arguments="%u: !U32"),
        _body("%zero = arith.constant 0 : index", "pto.vecscope {", f"  {_ALL_LANES}", f"  {_LOADED}", "}",
              arguments="%u: !U32")),
    "vecscope-form": Example(_scoped("%q: !U32, %i: index"), _scoped("%q: !U32")),
    "struct-path": Example(
        _body(_STRUCT, "%f = pto.struct_get %s[2] : !pto.struct<i32, f32> -> i32"),
        _body(_STRUCT, "%f = pto.struct_get %s[0] : !pto.struct<i32, f32> -> i32")),
    "sync-event-array": Example(
        "%e = pto.eventid_array_get %events[%c2] : !pto.eventid_array<2>",
        "%e = pto.eventid_array_get %events[%c1] : !pto.eventid_array<2>"),
    "sync-static-hazard": Example(_transferred("V"), _transferred("MTE3")),
    "matmul-operand-alias": Example(
        "pto.tmatmul ins(%c, %b : memref<16x16xf32>, memref<16x16xf32>) outs(%c : memref<16x16xf32>)",
        "pto.tmatmul ins(%a, %b : memref<16x16xf32>, memref<16x16xf32>) outs(%c : memref<16x16xf32>)"),
    # ------------------------------------------------------------ with command lines of their own
    "target-override": Example("pto.barrier #pto.pipe<PIPE_V>", "pto.barrier #pto.pipe<PIPE_V>"),
    "unexpected-diagnostic": Example(_expecting("// a mistake"), _expecting(_EXPECTED)),
    "missing-diagnostic": Example(_body(_EXPECTED, "pto.barrier #pto.pipe<PIPE_V>"), _expecting(_EXPECTED)),
    "malformed-expectation": Example(
        _body(_EXPECTED.replace("+1", "1"), "pto.barrier #pto.pipe<PIPE_V>"), _expecting(_EXPECTED)),
    "race-task": Example(_STORE, _STORE),
    "run-timeout": Example(
        _body("scf.while : () -> () {", "  scf.condition(%a)", "} do {", "  scf.yield", "}", arguments="%a: i1"),
        _body("scf.if %a {", "}", arguments="%a: i1")),
}  # fmt: skip
