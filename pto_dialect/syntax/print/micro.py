"""Custom forms of cube and transfer micro-instructions: groups and clauses between operands and types.

Source: docs/reference/language.md, "Shapes".
"""

from __future__ import annotations

from xdsl.ir import Operation

from pto_dialect.ir.core.base import Shape
from pto_dialect.ir.cube.clauses import ACC_STORE, MAD

from .clauses import clauses_of
from .pto import Statement
from .writer import Leaf, Writer, require

LOOP_OPERANDS = ("loop_counts", "loop_src_strides", "loop_dst_strides")
PAD_OPERANDS = ("pad_value", "left_padding_count", "right_padding_count")


def print_dma_burst(writer: Writer, op: Operation) -> str:
    """X1: ``name %src, %dst, %len nburst(..) loop(..) pad(..) {dict} : T, .., loop T, T, T, pad T``."""
    s = Statement(writer, op)
    names = [slot.name for slot in s.layout.slots]
    burst = names.index("n_burst")
    for name in names:
        s.expect(name, *((1,) if _always(s, name) else range(len(op.operands) + 1)))
    head = s.values(names[:burst])
    triple = s.values(names[burst : burst + 3])
    groups = f" nburst({writer.uses(triple)})"
    types = [writer.types([*head, *triple])]
    if "l2_cache_ctl" in names[burst:] and s.expect("l2_cache_ctl", 0, 1):
        groups += f" l2_cache_ctl({s.single('l2_cache_ctl')})"
        types.append(writer.types(s.group("l2_cache_ctl")))
    if "loop_counts" in names:
        counts, sources, destinations = (s.group(name) for name in LOOP_OPERANDS)
        require(len(counts) == len(sources) == len(destinations))
        for values in zip(counts, sources, destinations, strict=True):
            groups += f" loop({writer.uses(values)})"
            types.append(f"loop {writer.types(values)}")
    if "pad_value" in names and s.present(*PAD_OPERANDS):
        values = s.values(PAD_OPERANDS)
        require(len(values) != 2)
        groups += f" pad({writer.uses(values)})"
        types.append(f"pad {writer.types(values)}")
    return f"{op.name} {writer.uses(head)}{groups}{s.dictionary()} : {', '.join(types)}"


def _always(s: Statement, name: str) -> bool:
    return next(slot.arity for slot in s.layout.slots if slot.name == name) == "1"


def print_frac_load(writer: Writer, op: Operation) -> str:
    """X2: ``name %src, %dst, nd2nz, shape(..), src_layout(..), dst_group(..), ctrl(..) {dict} : types``."""
    s = Statement(writer, op)
    s.flatten(s.layout.slots)
    mode = s.required_word("mode")
    buffers = s.values(("source", "destination"))
    shape = s.values(("n_value", "d_value"))
    source = s.values(("src_inner_stride", "src_outer_stride"))
    group = s.values(("group_count", "dst_loop2_stride", "dst_loop3_stride", "dst_loop4_stride"))
    control = s.values(("l2_cache_ctrl", "smallc0_en"))
    uses, types = writer.uses, writer.types
    values = f"{uses(buffers)}, {mode}, shape({uses(shape)}), src_layout({uses(source)})"
    values += f", dst_group({uses(group)}), ctrl({uses(control)})"
    stated = f"{types(buffers)}, {mode}, shape {types(shape)}, src_layout({types(source)})"
    stated += f", dst_group {types(group)}, ctrl {types(control)}"
    return f"{op.name} {values}{s.dictionary()} : {stated}"


# ---------------------------------------------------------------- operations with clauses


def print_acc_store(writer: Writer, op: Operation) -> str:
    """X3: fixed operands, then clauses in their fixed order, separated by commas."""
    s = Statement(writer, op)
    for slot in s.layout.slots:
        s.expect(slot.name, *((1,) if slot.arity == "1" else (0, 1)))
    fixed = writer.uses(s.values(slot.name for slot in s.layout.slots if slot.arity == "1"))
    text = ACC_STORE.separator.join([fixed, *clauses_of(s, ACC_STORE)])
    return f"{op.name} {text}{s.dictionary()} : {writer.types(s.typed_values())}"


def print_mad(writer: Writer, op: Operation) -> str:
    """X4: ``name %l, .., %k unit_flag(..) disable_gemv sat tf32_mode(..) n_dir {dict} : types``."""
    s = Statement(writer, op)
    operands = writer.uses(s.flatten(s.layout.slots))
    text = MAD.separator.join([operands, *clauses_of(s, MAD)])
    return f"{op.name} {text}{s.dictionary()} : {writer.types(s.typed_values())}"


# ---------------------------------------------------------------- L1 to L0


def print_l0_load(writer: Writer, op: Operation) -> str:
    """X5: controls by position where their number tells which they are, by name otherwise."""
    s = Statement(writer, op)
    names = [slot.name for slot in s.layout.slots]
    buffers, controls = names[:2], names[2:]
    for name in names:
        s.expect(name, *((1,) if name in buffers else (0, 1)))
    given = [name for name in controls if s.group(name)]
    require(given)
    values = s.values([*buffers, *given])
    if given in (controls[:2], controls[:4], controls[4:10]):
        text = writer.uses(values)
    else:
        named = [f"{name}({s.single(name)})" for name in given]
        text = ", ".join([writer.uses(s.values(buffers)), *named])
    return f"{op.name} {text}{s.dictionary()} : {writer.types(values)}"


MICRO: dict[Shape, Leaf] = {
    Shape.DMA_BURST: print_dma_burst,
    Shape.FRAC_LOAD: print_frac_load,
    Shape.ACC_STORE: print_acc_store,
    Shape.MAD: print_mad,
    Shape.L0_LOAD: print_l0_load,
}
"""Printers of the clause shapes."""
