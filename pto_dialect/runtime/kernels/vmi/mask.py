"""Logical predicates. Source: docs/reference/vectors.md, "Predicates", "Logical vectors"."""

from __future__ import annotations

import numpy as np
from xdsl.dialects.builtin import DenseIntOrFPElementsAttr

from pto_dialect.analysis.type_facts import integer_attribute
from pto_dialect.ir.core.base import PtoOp
from pto_dialect.ir.core.operands import named
from pto_dialect.runtime.compile.generator import Generator
from pto_dialect.runtime.vector import logical

from ..registry import kernel
from ..vector.values import define_result, required_enumerator
from .values import group_count, lane_format, lanes_of


@kernel("pto.vmi.pset", "pto.vmi.pge")
def from_pattern(op: PtoOp, g: Generator) -> None:
    """The predicate that a pattern names, in each group."""
    count, groups = lanes_of(op.results[0], g), group_count(op)
    if groups <= 0 or count % groups:
        raise g.error("vmi-group", f"{groups} groups do not divide {count} lanes", op)
    mask = logical.pattern(required_enumerator(op, g, "pattern"), count, groups)
    g.define(op.results[0], g.emitter.constant(mask, "mask"))


@kernel("pto.vmi.plt")
def plt(op: PtoOp, g: Generator) -> None:
    """The first lanes, as many as a number states, and the remaining count."""
    define_result(op, g, logical.below, named(op, "scalar"), lanes_of(op.results[0], g))


@kernel("pto.vmi.create_mask")
def create_mask(op: PtoOp, g: Generator) -> None:
    """The first lanes, as many as a number states."""
    define_result(op, g, logical.prefix, named(op, "active_lanes"), lanes_of(op.results[0], g))


@kernel("pto.vmi.create_group_mask")
def create_group_mask(op: PtoOp, g: Generator) -> None:
    """The first lanes of each group, as many as a number states."""
    define_result(
        op,
        g,
        logical.group_prefix,
        named(op, "active_elems_per_group"),
        integer_attribute(op, "num_groups"),
        integer_attribute(op, "group_size"),
    )


@kernel("pto.vmi.ensure_mask_granularity", "pto.vmi.ensure_mask_layout", "pto.vmi.ensure_layout")
def same(op: PtoOp, g: Generator) -> None:
    """The operand: its layout in registers changes, its lanes do not."""
    # Layout and granularity concern registers: the lanes are unchanged.
    g.define(op.results[0], g.name(named(op, "source")))


@kernel("pto.vmi.active_prefix_index")
def active_prefix_index(op: PtoOp, g: Generator) -> None:
    """Lane i = the number of active lanes before it."""
    define_result(op, g, logical.ranks, named(op, "mask"), lane_format(op.results[0], g).storage)


@kernel("pto.vmi.constant_mask")
def constant_mask(op: PtoOp, g: Generator) -> None:
    """The predicate that the operation states."""
    count = lanes_of(op.results[0], g)
    values = dense_values(op, g, count)
    mask = np.array([bool(value) for value in values], np.bool_)
    g.define(op.results[0], g.emitter.constant(logical.full(count) if mask.all() else mask, "mask"))


def dense_values(op: PtoOp, g: Generator, count: int) -> list[int] | list[float]:
    """Returns the numbers of a constant, one for each of ``count`` lanes."""
    value = op.attributes.get("value")
    if not isinstance(value, DenseIntOrFPElementsAttr):
        raise g.error("unmodelled", f"{op.name} has no list of elements", op)
    numbers = list(value.get_values())
    if len(numbers) not in (1, count):
        raise g.error("unmodelled", f"{op.name} has {len(numbers)} elements for {count} lanes", op)
    return numbers * (count // len(numbers))
