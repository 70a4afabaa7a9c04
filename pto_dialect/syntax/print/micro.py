"""Custom forms of cube and transfer micro-instructions: groups and clauses between operands and types.

Source: docs/reference/language.md, "Shapes".
"""

from __future__ import annotations

from xdsl.ir import Operation

from pto_dialect.ir.core.base import Shape
from pto_dialect.ir.cube.clauses import ACC_STORE, MAD
from pto_dialect.ir.cube.transfer_clauses import BURST, FRAC_LOAD, L0_LOAD, L0_PLACES

from .clauses import clause_texts, group_texts
from .pto import Statement, comma, prints
from .writer import Writer, require


@prints(Shape.DMA_BURST)
def print_dma_burst(writer: Writer, op: Operation) -> str:
    """X1: ``name %src, %dst, %len nburst(..) loop(..) pad(..) {dict} : T, .., loop T, T, T, pad T``."""
    s = Statement(writer, op)
    head = s.outside()
    groups, types = group_texts(s)
    text = BURST.separator.join([writer.uses(head), *groups])
    return f"{op.name} {text}{s.dictionary()} : {comma([writer.types(head), *types])}"


@prints(Shape.FRAC_LOAD)
def print_frac_load(writer: Writer, op: Operation) -> str:
    """X2: ``name %src, %dst, nd2nz, shape(..), src_layout(..), dst_group(..), ctrl(..) {dict} : types``."""
    s = Statement(writer, op)
    s.flatten(s.layout.slots)
    mode = s.required_keyword("mode")
    buffers = s.outside()
    groups, types = group_texts(s)
    text = FRAC_LOAD.separator.join([writer.uses(buffers), mode, *groups])
    return f"{op.name} {text}{s.dictionary()} : {comma([writer.types(buffers), mode, *types])}"


# ---------------------------------------------------------------- operations with clauses


@prints(Shape.ACC_STORE)
def print_acc_store(writer: Writer, op: Operation) -> str:
    """X3: fixed operands, then clauses in their fixed order, separated by commas."""
    s = Statement(writer, op)
    require(all([len(values) < 2 for values in s.groups.values()]))
    fixed = s.values(s.layout.required)
    require(len(fixed) == len(s.layout.required))
    text = ACC_STORE.separator.join([writer.uses(fixed), *clause_texts(s)])
    return f"{op.name} {text}{s.dictionary()} : {writer.types(s.typed_values())}"


@prints(Shape.MAD)
def print_mad(writer: Writer, op: Operation) -> str:
    """X4: ``name %l, .., %k unit_flag(..) disable_gemv sat tf32_mode(..) n_dir {dict} : types``."""
    s = Statement(writer, op)
    operands = writer.uses(s.flatten(s.layout.slots))
    text = MAD.separator.join([operands, *clause_texts(s)])
    return f"{op.name} {text}{s.dictionary()} : {writer.types(s.typed_values())}"


# ---------------------------------------------------------------- L1 to L0


@prints(Shape.L0_LOAD)
def print_l0_load(writer: Writer, op: Operation) -> str:
    """X5: controls by position where their number identifies them, by name otherwise."""
    s = Statement(writer, op)
    buffers = s.outside()
    controls = [name for _, (name,), _ in s.layout.clauses]
    given = [name for name in controls if s.expect(name, 0, 1)]
    require(given)
    values = [*buffers, *s.values(given)]
    first, last = L0_PLACES.get(len(given), (0, 0))
    if given == controls[first:last]:
        text = writer.uses(values)
    else:
        text = L0_LOAD.separator.join([writer.uses(buffers), *group_texts(s)[0]])
    return f"{op.name} {text}{s.dictionary()} : {writer.types(values)}"
