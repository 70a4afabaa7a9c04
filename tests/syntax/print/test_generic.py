"""Generic form: segment sizes that other tools leave out, text that ``mlir-opt`` accepts and gives back."""

import re
import shutil
import subprocess

import pytest
from parse_helpers import parsed
from xdsl.dialects.builtin import DenseArrayBase, ModuleOp

from pto_dialect.ir.core.base import Shape, op_spec, operand_groups, signature
from pto_dialect.ir.core.registry import all_op_classes, op_class
from pto_dialect.syntax.compare import same_module
from pto_dialect.syntax.generic_form import infer_segments
from pto_dialect.syntax.print.printer import print_module

MLIR_OPT = shutil.which("mlir-opt-19") or shutil.which("mlir-opt")


def read(text: str) -> ModuleOp:
    module, found = parsed(text)
    assert module is not None and [entry for entry in found if entry[0] != "dialect-unregistered"] == [], (
        found,
        text,
    )
    return module


# ---------------------------------------------------------------- segment sizes


@pytest.mark.parametrize(
    ("name", "operands", "results", "sizes"),
    [
        # declared: src, tmp?, dst?
        ("pto.trowsum", 2, 0, (1, 0, 1)),
        ("pto.trowsum", 3, 0, (1, 1, 1)),
        ("pto.trowsum", 1, 1, (1, 0, 0)),
        ("pto.trowsum", 2, 1, (1, 1, 0)),
        ("pto.trowsum", 1, 0, None),
        ("pto.trowsum", 4, 0, None),
        # src0, src1, src0Idx, src1Idx, dst?, dstIdx?
        ("pto.tpartargmax", 6, 0, (1, 1, 1, 1, 1, 1)),
        # src, dst?, exp?, max?, scaling?, exp_zz?: destinations are in order
        ("pto.tquant.mx", 5, 0, (1, 1, 1, 1, 1, 0)),
        ("pto.tquant.mx", 6, 0, (1, 1, 1, 1, 1, 1)),
        # src, dst, fp?, preQuantScalar?
        ("pto.tstore", 2, 0, (1, 1, 0, 0)),
        ("pto.tstore", 3, 0, None),
        ("pto.tstore", 4, 0, (1, 1, 1, 1)),
        # src, dst?, indexes?
        ("pto.tscatter", 2, 0, (1, 1, 0)),
        ("pto.tscatter", 3, 0, (1, 1, 1)),
        # addr?, valid_row?, valid_col?
        ("pto.alloc_tile", 0, 1, (0, 0, 0)),
        ("pto.alloc_tile", 1, 1, None),
        ("pto.alloc_tile", 3, 1, (1, 1, 1)),
        # eleven operands before the optional ones, three lists, three more
        ("pto.mte_gm_ub", 7, 0, (1, 1, 1, 1, 1, 1, 1, 0, 0, 0, 0, 0, 0)),
        ("pto.mte_gm_ub", 10, 0, None),
    ],
)
def test_segments_follow_from_the_number_of_operands(
    name: str, operands: int, results: int, sizes: tuple[int, ...] | None
) -> None:
    assert infer_segments(op_class(name), operands, results) == sizes


def test_segmented_tile_operation_without_sizes() -> None:
    tile = "!pto.tile_buf<vec, 16x16xf32>"
    module = read(
        f"func.func @f(%a: {tile}, %b: {tile}, %c: {tile}) {{\n"
        f'  "pto.trowsum"(%a, %b, %c) : ({tile}, {tile}, {tile}) -> ()\n  return\n}}\n'
    )
    op = next(op for op in module.walk() if op.name == "pto.trowsum")
    groups = operand_groups(op)  # pyright: ignore[reportArgumentType]
    a, b, c = op.operands
    assert groups == {"src": (a,), "tmp": (b,), "dst": (c,)}
    assert f"pto.trowsum ins(%a, %b : {tile}, {tile}) outs(%c : {tile})" in print_module(module)


def test_ambiguous_segments_are_an_error() -> None:
    _, found = parsed(
        'func.func @f(%a: i64) {\n  %0 = "pto.alloc_tile"(%a) : (i64) -> !pto.tile_buf<vec, 16x16xf32>\n  return\n}\n'
    )
    assert [(rule, line) for rule, line, _, _ in found if rule == "op-operand-count"] == [("op-operand-count", 2)]


def test_every_tile_operation_with_all_destinations_is_known_by_the_count() -> None:
    """Operations segmented only because of their destinations need no sizes."""
    for cls in all_op_classes():
        slots, outs = signature(cls).operands, op_spec(cls).outs
        others = [slot for slot in slots if slot.arity != "1" and slot.name not in outs]
        if signature(cls).segmented and op_spec(cls).shape is Shape.DPS and len(others) <= 1:
            full = len(slots)
            assert infer_segments(cls, full, 0) == (1,) * full, cls.name


# ---------------------------------------------------------------- other tools

PROGRAM = """
module attributes {pto.target_arch = "a5", "pto.device-spec" = "Ascend950"} {
  func.func private @callee(!pto.ptr<f32, gm> {pto.noalias}, i32) -> (i32 {pto.x})
  func.func @kernel(%p: !pto.ptr<f32>, %n: index, %c: i1, %x: i32, %u: !pto.ptr<f32, ub>)
    attributes {pto.kernel} {
    %k = arith.constant 7.5 : f16
    %inf = arith.constant 0x7F800000 : f32
    %d = arith.constant dense<[1.0, 0.5]> : vector<2xf32>
    %s = arith.addi %x, %x overflow<nsw> : i32
    %g = arith.mulf %inf, %inf fastmath<nnan, contract> : f32
    %m = memref.alloc(%n) : memref<4x?xf32, 1>
    %r = scf.for %i = %n to %n step %n iter_args(%a = %x) -> (i32) {
      %b = arith.cmpi slt, %a, %x : i32
      %y = scf.if %b -> (i32) {
        scf.yield %a : i32
      } else {
        scf.yield %x : i32
      }
      scf.yield %y : i32
    }
    scf.if %c { }
    %t = pto.alloc_tile : !pto.tile_buf<vec, 16x16xf32, valid=16x8>
    %t2 = pto.alloc_tile : !pto.tile_buf<vec, 16x16xf32>
    pto.trowsum ins(%t2 : !pto.tile_buf<vec, 16x16xf32>) outs(%t2 : !pto.tile_buf<vec, 16x16xf32>)
    pto.tcmp ins(%t2, %t2 {cmpMode = #pto<cmp gt>} :
                 !pto.tile_buf<vec, 16x16xf32>, !pto.tile_buf<vec, 16x16xf32>)
      outs(%t2 : !pto.tile_buf<vec, 16x16xf32>) {note = "a\\22b\\0A"}
    pto.set_flag[<PIPE_MTE2>, <PIPE_V>, <EVENT_ID0>]
    pto.strict_vecscope(%u, %n) {
    ^bb0(%u: !pto.ptr<f32, ub>, %n: index):
      %v = pto.vlds %u[%n] : !pto.ptr<f32, ub> -> !pto.vreg<64xf32>
    } : (!pto.ptr<f32, ub>, index) -> ()
    pto.section.vector { }
    %e = pto.declare_local_array -> !pto.local_array<4xi32>
    cf.cond_br %c, ^bb1(%x : i32), ^bb2
  ^bb1(%q: i32):
    cf.switch %q : i32, [ default: ^bb2, 4: ^bb2 ]
  ^bb2:
    return
  }
}
"""


@pytest.mark.skipif(MLIR_OPT is None, reason="mlir-opt is not installed")
@pytest.mark.parametrize("options", [[], ["--mlir-print-op-generic"]])
def test_generic_text_passes_through_another_tool(options: list[str]) -> None:
    module = read(PROGRAM)
    assert MLIR_OPT is not None
    command = [MLIR_OPT, "--allow-unregistered-dialect", *options]
    done = subprocess.run(
        command, input=print_module(module, generic=True), capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    again = read(done.stdout)
    assert same_module(again, module) is None
    # Its own spelling of everything that both print in the same way.
    if options:
        ours = print_module(again, generic=True)
        assert sorted(_bare(ours)) == sorted(_bare(done.stdout))


def _bare(text: str) -> list[str]:
    """Lines without value names, which every printer chooses itself."""
    lines = [line.partition("  // ")[0] for line in text.splitlines() if line.strip()]
    return [re.sub(r"%[\w$.\-]+(?:#\d+)?(?::\d+)?", "%", line).strip() for line in lines]


def test_sizes_are_printed_for_segmented_operations() -> None:
    module = read(
        "func.func @f(%a: !pto.tile_buf<vec, 16x16xf32>) {\n"
        "  pto.trowsum ins(%a : !pto.tile_buf<vec, 16x16xf32>) outs(%a : !pto.tile_buf<vec, 16x16xf32>)\n"
        "  return\n}\n"
    )
    op = next(op for op in module.walk() if op.name == "pto.trowsum")
    assert isinstance(op.attributes["operandSegmentSizes"], DenseArrayBase)
    assert '"pto.trowsum"(%a, %a) {operandSegmentSizes = array<i32: 1, 0, 1>}' in print_module(module, generic=True)
