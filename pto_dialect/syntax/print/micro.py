"""Custom forms of cube and transfer micro-instructions: groups and clauses between operands and types.

Source: docs/reference/language.md, "Shapes".
"""

from __future__ import annotations

from xdsl.ir import Operation

from pto_dialect.ir.core.base import Shape

from ..builder.clauses import CLAUSE_WORDS, UNSUPPORTED_WORDS
from .pto import Statement
from .writer import Leaf, Writer, checked, require

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


# ---------------------------------------------------------------- accumulator write-back


def print_acc_store(writer: Writer, op: Operation) -> str:
    """X3: fixed operands, then clauses in their fixed order, separated by commas."""
    s = Statement(writer, op)
    for slot in s.layout.slots:
        s.expect(slot.name, *((1,) if slot.arity == "1" else (0, 1)))
    fixed = s.values(slot.name for slot in s.layout.slots if slot.arity == "1")
    clauses = [writer.uses(fixed)]
    if "dst_mode" in s.layout.attributes:
        clauses.append(f"dst_mode({_destination(s)})")
    if (flag := _clause_word(s, "unit_flag")) is not None:
        clauses.append(f"unit_flag({flag})")
    clauses += _payloads(s)
    clauses += _layout(s)
    if s.present("loop3_count", "loop3_src_stride", "loop3_dst_stride"):
        loop = s.values(("loop3_count", "loop3_src_stride", "loop3_dst_stride"))
        require(len(loop) == 3)
        clauses.append(f"loop3({writer.uses(loop)})")
    if (saturation := s.word("sat_mode")) is not None:
        clauses.append({"sat_preserve_nan": "sat(preserve_nan)"}.get(saturation, saturation))
    if op.name == "pto.mte_l0c_gm" and ("atomic_type" in op.attributes or "atomic_op" in op.attributes):
        type_, kind = s.required_word("atomic_type"), s.required_word("atomic_op")
        clauses.append(f"atomic(type = {type_}, op = {kind})")
    return f"{op.name} {', '.join(clauses)}{s.dictionary()} : {writer.types(s.typed_values())}"


def _destination(s: Statement) -> str:
    """Which half of the vector cores is written: by number, or how the result is split."""
    if s.group("sub_blockid"):
        require(s.required_word("dst_mode") == "single")
        return s.single("sub_blockid")
    return checked(_clause_word(s, "dst_mode"), str)


def _clause_word(s: Statement, name: str) -> str | None:
    """The word of a clause that takes only some words of its enumeration."""
    word = s.word(name)
    require(word is None or word in CLAUSE_WORDS[name] or word in UNSUPPORTED_WORDS)
    return word


def _payloads(s: Statement) -> list[str]:
    """The ``pre_quant`` and ``pre_relu`` clauses."""
    clauses: list[str] = []
    quant, relu = s.word("pre_quant_mode"), _clause_word(s, "pre_relu_mode")
    require((quant is not None) == bool(s.group("pre_quant")))
    if quant is not None:
        clauses.append(f"pre_quant({s.single('pre_quant')}, mode = {quant})")
    require(relu is not None or not (s.group("pre_relu") or s.group("clip_value")))
    if relu is not None:
        payload = f"{s.single('pre_relu')}, " if s.group("pre_relu") else ""
        clip = f", clip = {s.single('clip_value')}" if s.group("clip_value") else ""
        clauses.append(f"pre_relu({payload}mode = {relu}{clip})")
    return clauses


def _layout(s: Statement) -> list[str]:
    """The layout clause with the operand it takes."""
    mode = s.word("mode")
    require(not (s.group("loop0_src_stride") and s.group("split")))
    for operand, wanted in (("loop0_src_stride", "nz2dn"), ("split", "nz2nz")):
        if s.group(operand):
            require(mode == wanted)
            return [f"{mode}({s.single(operand)})"]
    return [mode] if mode is not None else []


# ---------------------------------------------------------------- matrix multiply-add, L1 to L0


def print_mad(writer: Writer, op: Operation) -> str:
    """X4: ``name %l, .., %k unit_flag(..) disable_gemv sat tf32_mode(..) n_dir {dict} : types``."""
    s = Statement(writer, op)
    clauses = ""
    for name in s.layout.tokens:
        word = s.word(name)
        if word is not None:
            clause = {"unit_flag_mode": "unit_flag", "tf32_mode": "tf32_mode"}.get(name)
            clauses += f" {clause}({word})" if clause else f" {word}"
    operands = writer.uses(s.flatten(s.layout.slots))
    return f"{op.name} {operands}{clauses}{s.dictionary()} : {writer.types(s.typed_values())}"


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
