"""Sections and scopes: which core executes a region. Source: execution page, section 1.1."""

from __future__ import annotations

from ...ir.base import PtoOp
from ..generator import Generator
from .registry import kernel


@kernel("pto.section.cube")
def section_cube(op: PtoOp, g: Generator) -> None:
    with g.emitter.block("if core.cube:"):
        g.region(op.regions[0])


@kernel("pto.section.vector")
def section_vector(op: PtoOp, g: Generator) -> None:
    with g.emitter.block("if core.vector:"):
        g.region(op.regions[0])


@kernel("pto.vecscope")
def vecscope(op: PtoOp, g: Generator) -> None:
    g.region(op.regions[0])


@kernel("pto.strict_vecscope")
def strict_vecscope(op: PtoOp, g: Generator) -> None:
    block = op.regions[0].block
    for argument, capture in zip(block.args, op.operands, strict=True):
        g.names[argument] = str(g.name(capture))
    g.region(op.regions[0])
